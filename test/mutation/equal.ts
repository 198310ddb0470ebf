/**
 * Faults that change nothing observable, each with the reason. The key is the file, the line's
 * text, and the changed text.
 */
export const EQUAL: ReadonlyMap<string, string> = new Map([
  [
    'engine/rules/fill-resting.ts | let read = 0; | 0 -> 1',
    'what is prefetched is read for no other use',
  ],
  [
    "engine/rules/apply-tick.ts | case 'heartbeat': | 'heartbeat' -> 'mutant'",
    'nothing follows from the case, nor after it',
  ],
  [
    'engine/rules/accounts.ts | accounts.derived.payableContracts.set(row, 0); | accounts.derived.payableContracts.set(row, 0); -> ;',
    'an account always keeps its row, so a new row has never been used',
  ],
  [
    'engine/rules/accounts.ts | const worthCents = col.balanceCents.get(account) + col.heldCents.get(account); | + -> -',
    'an account that is idle holds nothing',
  ],
  [
    'engine/rules/book-depth.ts | return priceCents === NO_PRICE || contracts === 0 ? [] : [[priceCents, contracts]]; | || -> &&',
    'a level of no contracts fills nothing',
  ],
  [
    'engine/rules/catalog.ts | listed: false, | false -> true',
    'set for every instrument before anything reads it',
  ],
  [
    'engine/rules/catalog.ts | opensAtMs: 0, | 0 -> 1',
    'read only once the catalog has described the instrument',
  ],
  [
    'engine/rules/evolve.ts | state.referenceDataVersion++; | ++ -> -- (2)',
    'read only for whether it has changed',
  ],
  [
    'engine/rules/evolve.ts | state.referenceDataVersion++; | ++ -> -- (3)',
    'read only for whether it has changed',
  ],
  [
    "engine/rules/ledger.ts | invariant(cents >= 0, 'a position cost less than nothing'); | 0 -> 1",
    'a contract costs a cent at least',
  ],
  [
    'engine/rules/fill-resting.ts | read += balanceCents.get(owner) + adjustedCents.get(owner); | + -> -',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/fill-resting.ts | prefetchOwners(state, reached.orders); | prefetchOwners(state, reached.orders); -> ;',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/fill-resting.ts | prefetched(read); | prefetched(read); -> ;',
    'what is prefetched is read for no other use',
  ],
  [
    "engine/rules/fill-resting.ts | if (side !== b.reached.side) return side === 'yes' ? -1 : 1; | 1 -> 2",
    'a comparison says its sign alone',
  ],
  [
    "engine/rules/fill-resting.ts | if (side !== b.reached.side) return side === 'yes' ? -1 : 1; | 1 -> 2 (2)",
    'a comparison says its sign alone',
  ],
  [
    "engine/rules/partial-fills.ts | invariant(part > 0 && part < contracts, 'a part is nothing, or the whole'); | && -> ||",
    'an invariant that no caller breaks',
  ],
  [
    'engine/rules/positions.ts | to.soldBeforeCents.set(row, 0); | to.soldBeforeCents.set(row, 0); -> ;',
    'startSale sets it before anything reads it',
  ],
  [
    "engine/rules/positions.ts | invariant(cents >= 0, 'a part of a position cost less than nothing'); | >= -> >",
    'a part costs a cent at least',
  ],
  [
    "engine/rules/positions.ts | invariant(cost <= col.costCents.get(row), 'a part cost more than the whole'); | <= -> <",
    'a part of the contracts costs less than all of them',
  ],
  [
    "engine/rules/pricing.ts | return book.number * 2 + (waitsForAskOf === 'yes' ? 0 : 1); | === -> !==",
    'numbers of ladders are made here alone',
  ],
  [
    'engine/rules/resting.ts | ladders.ensureLadders(count * 2); | 2 -> 3',
    'room for more ladders than there are',
  ],
  [
    "engine/base/units.ts | day <= '28' || new Date(Date.parse(text.slice(0, 10))).getUTCDate() === Number(day); | <= -> <",
    'the longer way says the same of the 28th',
  ],
  [
    'engine/rules/evolve.ts | state.referenceDataVersion++; | ++ -> --',
    'read only for whether it has changed',
  ],
  [
    'engine/rules/fill-resting.ts | read += balanceCents.get(owner) + adjustedCents.get(owner); | read += balanceCents.get(owner) + adjustedCents.get(owner); -> ;',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/fill-resting.ts | read += state.ordersOfAccount.count(owner) + state.positionsOfAccount.prefetch(owner); | += -> -=',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/fill-resting.ts | read += balanceCents.get(owner) + adjustedCents.get(owner); | += -> -=',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/fill-resting.ts | read += state.ordersOfAccount.count(owner) + state.positionsOfAccount.prefetch(owner); | + -> -',
    'what is prefetched is read for no other use',
  ],
  [
    'engine/rules/accounts.ts | col[name].set(row, 0); | col[name].set(row, 0); -> ;',
    'an account always keeps its row, so a new row has never been used',
  ],
  [
    "engine/rules/evolve.ts | invariant(event.atMs <= event.fromMs, 'the clock was set forward'); | <= -> <",
    'decide lets no clock be set to the time that it has',
  ],
  [
    "engine/rules/ledger.ts | invariant(cost >= 0, 'the cost of closed contracts is below zero'); | >= -> >",
    'a position costs a cent at least',
  ],
  [
    "engine/rules/apply-tick.ts | case 'result': | 'result' -> 'mutant' (2)",
    'nothing follows from the case, nor after it',
  ],
  [
    'engine/rules/apply-tick.ts | const source: Source = { lastHeardMs: 0, epoch: 0 }; | 0 -> 1',
    'as old as can be, either way',
  ],
  [
    'engine/rules/apply-tick.ts | const source: Source = { lastHeardMs: 0, epoch: 0 }; | 0 -> 1 (2)',
    'as old as can be, either way',
  ],
  [
    "engine/rules/partial-fills.ts | invariant(part > 0 && part < contracts, 'a part is nothing, or the whole'); | > -> >=",
    'an invariant that no caller breaks',
  ],
  [
    'engine/rules/positions.ts | to.soldVenue.set(row, 0); | 0 -> 1',
    'startSale sets it before anything reads it',
  ],
  [
    'engine/rules/fill-resting.ts | read += state.ordersOfAccount.count(owner) + state.positionsOfAccount.prefetch(owner); | read += state.ordersOfAccount.count(owner) + state.positionsOfAccount.prefetch(owner); -> ;',
    'what is prefetched is read for no other use',
  ],
  [
    "engine/rules/partial-fills.ts | invariant(part > 0 && part < contracts, 'a part is nothing, or the whole'); | < -> <=",
    'an invariant that no caller breaks',
  ],
  [
    "engine/rules/positions.ts | invariant(cents >= 0, 'a part of a position cost less than nothing'); | 0 -> 1",
    'a part costs a cent at least',
  ],
  [
    'engine/rules/positions.ts | to.soldVenue.set(row, 0); | to.soldVenue.set(row, 0); -> ;',
    'startSale sets it before anything reads it',
  ],
  [
    'engine/rules/apply-tick.ts | if (revived.length > 0) fillMarkets(state, revived, atMs, facts); | > -> >=',
    'nothing fills in no market',
  ],
  [
    "engine/rules/exact.ts | if (typeof given === 'number' && from - decimals <= SAFE_DECIMALS) { | 'number' -> 'mutant'",
    'the longer way says the same',
  ],
  [
    'engine/rules/catalog.ts | if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++; | !== -> ===',
    'it says only for how many books there is room at once',
  ],
  [
    'engine/rules/exact.ts | const SAFE_DECIMALS = 15; | 15 -> 16',
    'what is not exact there is far from the half',
  ],
  [
    'engine/rules/order-fees.ts | return fee.cents <= most ? fee : { ...fee, cents: most }; | <= -> <',
    'the two are equal there',
  ],
  [
    'engine/rules/followed-levels.ts | for (let cents = 1; cents < PAYOUT_CENTS; cents++) { | < -> <=',
    'nobody bids a whole dollar',
  ],
  [
    'engine/rules/past-reference.ts | #described = new Float64Array(0); | 0 -> 1',
    'it has room for an instrument before it keeps it',
  ],
  [
    'engine/rules/queue-fills.ts | if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / whole); | <= -> <',
    'the longer way says the same',
  ],
  [
    'engine/rules/queue-fills.ts | if (state.queue.aheadE2(order) <= shown) continue; | <= -> <',
    'a place that stays was noted when it changed',
  ],
  [
    'engine/rules/apply-tick.ts | if (atMs > state.nowMs) state.nowMs = atMs; | > -> >=',
    'equal times change nothing',
  ],
  [
    "engine/rules/fill-resting.ts | const noLadder = ladderOf(book, 'no'); | 'no' -> 'mutant'",
    'ladderOf takes every word but yes for no',
  ],
  [
    "engine/rules/resting.ts | for (const side of ['yes', 'no'] as const) { | 'no' -> 'mutant'",
    'ladderOf takes every word but yes for no',
  ],
  [
    'engine/rules/ledger.ts | const realizedCents = Math.max( | max -> min',
    'the two are equal: no account has been reset',
  ],
  [
    'engine/rules/ledger.ts | col.balanceCents.get(account) + col.heldCents.get(account) + col.openStakeCents.get(account); | + -> -',
    'without a reset the start balance and the adjustments say the same bound',
  ],
  [
    'engine/rules/ledger.ts | col.balanceCents.get(account) + col.heldCents.get(account) + col.openStakeCents.get(account); | + -> - (2)',
    'without a reset the start balance and the adjustments say the same bound',
  ],
  [
    'engine/rules/resting.ts | if (market.routedBooks.includes(book)) continue; | continue; -> ;',
    'a book that occurs twice has nothing left to fill the second time',
  ],
  [
    'engine/rules/apply-tick.ts | source.epoch++; | ++ -> --',
    'read only for whether it has changed',
  ],
  [
    'engine/rules/fees.ts | let exact: Exact = { units: 0n, decimals: 0 }; | 0 -> 1',
    'nothing is nothing to any number of decimals',
  ],
  ['engine/rules/fees.ts | let bestFromMs = 0; | 0 -> 1', 'read only once a line was found'],
  [
    "engine/rules/fees.ts | const own = rounded(fee, 2, 'half_even'); | 'half_even' -> 'mutant'",
    'rounded takes every word but up and down for half_even',
  ],
  [
    "engine/rules/fees.ts | const charged = Math.max(0, Math.min(own, rounded(exact, 2, 'half_even') - taken)); | 'half_even' -> 'mutant'",
    'rounded takes every word but up and down for half_even',
  ],
  [
    'engine/rules/book-depth.ts | return a.contracts !== b.contracts ? a.contracts > b.contracts : a.paidCents < b.paidCents; | > -> >=',
    'the two differ there',
  ],
  [
    'engine/rules/fill-resting.ts | if (books.size > 1) orders.sort((a, b) => byPriceAndTime(state, a, b)); | > -> >=',
    'the orders of one book stand in that order already',
  ],
  [
    'engine/rules/fees.ts | if (best !== null && (closer < 0 || (closer === 0 && fromMs < bestFromMs))) continue; | < -> <= (2)',
    'a catalog with two lines of one moment is refused (F20)',
  ],
  ["engine/rules/fees.ts | venue: 'venue_a', | 'venue_a' -> 'mutant'", 'a fee reads no venue'],
  [
    "engine/rules/fees.ts | return kalshiFillFee(entry, fill, { side: 'buy', carry: { micros: 0 } }).net; | 'buy' -> 'mutant'",
    'whoever does not sell pays',
  ],
  [
    "engine/rules/apply-tick.ts | case 'heartbeat': | 'heartbeat' -> 'mutant' (2)",
    'nothing follows from the case, nor after it',
  ],
  ['engine/rules/apply-tick.ts | break; | break; -> ; (4)', 'nothing comes after it'],
  [
    'engine/rules/corrections.ts | return reset.record === place.record ? reset.offset > place.offset : reset.record > place.record; | > -> >=',
    'two facts of one record have two places in it',
  ],
  [
    'engine/rules/corrections.ts | return reset.record === place.record ? reset.offset > place.offset : reset.record > place.record; | > -> >= (2)',
    'the two records are not the same here',
  ],
  [
    "engine/rules/corrections.ts | const isPlain = outcome === 'yes' || outcome === 'no'; | === -> !==",
    'the log says the same of a trade whose result is looked up there',
  ],
  [
    "engine/rules/corrections.ts | const isPlain = outcome === 'yes' || outcome === 'no'; | === -> !== (2)",
    'the log says the same of a trade whose result is looked up there',
  ],
  [
    "engine/rules/ledger.ts | invariant(cost >= 0, 'the cost of closed contracts is below zero'); | 0 -> 1",
    'a position costs a cent at least',
  ],
  [
    "engine/rules/postponements.ts | invariant(state.referenceDataVersion > before, 'a window has ended and nothing was voided'); | > -> >=",
    'an invariant that no caller breaks',
  ],
  [
    "engine/rules/pricing.ts | for (const { market, askCents } of rivalsOf(context, book, 'no', nowMs)) { | 'no' -> 'mutant'",
    'whatever is not yes is no',
  ],
  [
    'engine/rules/applied-change.ts | hadLatency = false; | false -> true',
    'the end of an order sets it before anything reads it',
  ],
  ['engine/rules/fill-model.ts | const MARKET = -2 as Taker; | 2 -> 3', 'no row has it, either'],
  [
    'engine/rules/followed-levels.ts | #sizes = new Float64Array(0); | 0 -> 1',
    'the first book needs more, either way',
  ],
  [
    'engine/rules/followed-levels.ts | if (words[middle * WORDS + DECREASE]! < decrease) low = middle + 1; | + -> -',
    'the place of a decrease is 0',
  ],
  [
    'engine/rules/catalog.ts | if (closesAtMs !== Number.POSITIVE_INFINITY && open.length > 0) { | > -> >=',
    'a time that closes no market closes nothing',
  ],
  [
    'engine/rules/corrections.ts | let firstRecord = 0; | 0 -> 1',
    'the first trade sets it before anything reads it',
  ],
  [
    'engine/rules/corrections.ts | const fromMs = sinceMs <= state.setBackFromMs ? 0 : sinceMs; | 0 -> 1',
    'no order is of that moment',
  ],
  [
    'engine/rules/followed-levels.ts | this.#freePages.push(this.#markets[at + PAGE]!); | + -> -',
    'the place of a page is 0',
  ],
  [
    'engine/rules/followed-levels.ts | this.#freePages.push(this.#markets[at + PAGE]!); | this.#freePages.push(this.#markets[at + PAGE]!); -> ;',
    'a page that no later book takes costs memory alone',
  ],
  [
    'engine/rules/order-fees.ts | heldCentsAt(state, order, after, after === 0 ? 0 : fee.carryMicros); | 0 -> 1 (2)',
    'no contracts hold nothing, whatever was charged before',
  ],
  [
    'engine/rules/past-reference.ts | this.#polarities[number] = home?.polarity ?? 1; | 1 -> 2',
    'read only where there is a home market',
  ],
  [
    'engine/rules/positions.ts | return Math.imul(Math.imul(account, 0x9e37_79b1) ^ held, 0x85eb_ca6b); | 0x9e37_79b1 -> 2654435762',
    'a hash only spreads, and what is found is compared',
  ],
  [
    'engine/rules/positions.ts | return Math.imul(Math.imul(account, 0x9e37_79b1) ^ held, 0x85eb_ca6b); | 0x85eb_ca6b -> 2246822508',
    'a hash only spreads, and what is found is compared',
  ],
  [
    'engine/rules/settle-markets.ts | settledAccounts.add(account); | settledAccounts.add(account); -> ;',
    'whoever is looked at again has nothing left',
  ],
  [
    'engine/rules/catalog.ts | if (isAsBefore(entry)) continue; | continue; -> ;',
    'what the last catalog lists is not of the past, nor are its markets',
  ],
  [
    'engine/rules/catalog.ts | if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++; | shownBy !== null && venue === HOME_VENUE && book === null -> !(shownBy !== null && venue === HOME_VENUE && book === null)',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++; | && -> ||',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++; | && -> || (2)',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | if (shownBy !== null && venue === HOME_VENUE && book === null) bookless++; | bookless++; -> ;',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | reserveBooks(state, state.booksByKey.size + state.freeBooks.length + bookless); | reserveBooks(state, state.booksByKey.size + state.freeBooks.length + bookless); -> ;',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | reserveBooks(state, state.booksByKey.size + state.freeBooks.length + bookless); | + -> - (2)',
    'a ladder that is missing is made with the book of its first order',
  ],
  [
    'engine/rules/catalog.ts | if (closesAtMs !== Number.POSITIVE_INFINITY && open.length > 0) { | && -> ||',
    'a time that closes no market closes nothing',
  ],
  [
    'engine/rules/catalog.ts | for (const { market } of state.booksByKey.values()) used[market.number] = 1; | used[market.number] = 1; -> ;',
    'a market with a book is kept for its book, too',
  ],
  [
    'engine/rules/catalog.ts | state.fillModel.forget(number); | state.fillModel.forget(number); -> ;',
    'what a market with a result displayed fills nothing, and costs memory alone',
  ],
  [
    'engine/rules/catalog.ts | listedGames.delete(game.slug); | listedGames.delete(game.slug); -> ;',
    'the key is the same text, and costs memory alone',
  ],
  ['engine/rules/catalog.ts | quotes: 0, | 0 -> 1', 'read only for whether it has changed'],
  [
    'engine/rules/corrections.ts | const left = settledTrades(state, market, false); | false -> true',
    'the log is asked for corrections that it does not have',
  ],
  [
    'engine/rules/corrections.ts | correction.left = left; | correction.left = left; -> ;',
    'the same trades are read of the log again',
  ],
  [
    'engine/rules/corrections.ts | correction.left ??= settledTrades(state, state.markets[correction.market]!, true); | ??= -> =',
    'the same trades are read of the log again, which tells the corrected ones',
  ],
  [
    'engine/rules/corrections.ts | left.sold.delete(account); | left.sold.delete(account); -> ;',
    'nobody asks again about an account that is done',
  ],
  [
    'engine/rules/corrections.ts | if (byAccount.size === 0) firstRecord = one.place.record; | firstRecord = one.place.record; -> ;',
    'the whole log has the same resets',
  ],
  [
    'engine/rules/corrections.ts | const mostCents = settled.reduce((sum, { fact }) => sum + PAYOUT_CENTS * fact.contracts, 0); | 0 -> 1',
    'where the estimate is too high, the exact sum decides',
  ],
  [
    "engine/rules/corrections.ts | const isPlain = outcome === 'yes' || outcome === 'no'; | 'yes' -> 'mutant'",
    'the log says the same of a trade whose result is looked up there',
  ],
  [
    'engine/rules/corrections.ts | const wholeCents = outcome === side ? PAYOUT_CENTS * contracts : 0; | === -> !==',
    'the log says the same of a trade whose result is looked up there',
  ],
  [
    'engine/rules/corrections.ts | left.resets ??= records.resetsFrom(left.firstRecord); | ??= -> =',
    'the same resets are read of the log again',
  ],
]);
