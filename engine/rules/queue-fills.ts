/**
 * Resting orders in the queues of their prices, under the `queue` fill model: how a place moves, and
 * what a venue's print, addition or whole book fills. Rules T145 to T155 (engine/RULES.md).
 *
 * Sizes and places are in hundredths of a contract; whole contracts trade as they complete.
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  askCentsOf,
  BIDS,
  bidNumber,
  type Contracts,
  type ContractsE2,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  oppositeSide,
  PAYOUT_CENTS,
  type PriceE4,
  type Side,
} from '../base/units.ts';
import type { VolumeName } from '../memory/market-liquidity.ts';
import { closingMs } from './closing.ts';
import { fillEvent, type OrderQueued, type QueueMeeting, type QueueMet } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { isShared, type Queues, type Taker, takerOf } from './fill-model.ts';
import { consumedBy, noteTaken, takeFound } from './fill-notes.ts';
import { actionOf, sideOf } from './flags.ts';
import type { ExactBook } from './followed-levels.ts';
import { costCents } from './ledger.ts';
import type { LevelsTick, LevelTick, PrintTick } from './messages.ts';
import { NO_NOTE, waitingNetEvents } from './net-orders.ts';
import { waitingFee } from './order-fees.ts';
import { endReached } from './order-groups.ts';
import { remainingOf } from './partial-fills.ts';
import { restingPlace, venueIndex } from './pricing.ts';
import type { Market } from './reference-data.ts';
import { settleAccount } from './settle-markets.ts';
import type { ShardState } from './state.ts';

/** Ten-thousandths in a cent, hundredths in a contract. */
const CENT: PriceE4 = 100;
const CONTRACT: ContractsE2 = 100;
const ONE: PriceE4 = CENT * PAYOUT_CENTS;
/** Ahead of an order in a book that nobody knows; the next whole book says how much it is. */
export const UNKNOWN_AHEAD: ContractsE2 = Number.MAX_SAFE_INTEGER;

/** What is ahead of an order that joins the queue of its price now. Rule T146. */
export function aheadAtArrival(
  { levels }: Queues,
  market: Market,
  bidsOf: Side,
  cents: number,
): ContractsE2 {
  const book = levels.of(market.number);
  return book?.isKnown ? book.sizeAt(bidsOf, cents) : UNKNOWN_AHEAD;
}

/** Where things happen: the orders of a market that rest among the bids of one side. */
type Place = { market: Market; side: Side };

/** Follows a change, a print or a whole book, and fills the orders that it reaches. */
export function followLevels(
  state: ShardState,
  queues: Queues,
  tick: LevelTick | PrintTick | LevelsTick,
  atMs: EpochMs,
  facts: FactSink,
): void {
  const { levels } = queues;
  const market = state.markets[tick.market];
  const source = state.sources[tick.source];
  invariant(market !== undefined, 'a level is of a market that does not exist');
  invariant(source !== undefined, 'a level is of a connection that nobody heard');
  if (tick.kind === 'levels') {
    const missedFromMs = missedSince(state, levels, tick);
    const wasKnown = levels.replace(tick, source.epoch);
    if (tick.levels === null) return;
    if (missedFromMs !== null && missedFromMs < atMs && state.queue.waits(tick.market)) {
      emit(state, facts, { kind: 'book_missed', atMs, market: tick.market, fromMs: missedFromMs });
    }
    const book = levels.of(tick.market)!;
    // Its changes and prints have told all that it says.
    if (wasKnown && tick.repeats) return;
    return bookCame({ state, queues, atMs, facts }, market, book);
  }
  const { side } = tick;
  if (tick.kind === 'print') {
    if (!levels.isFollowed(tick, source.epoch)) return;
    return printed({ state, queues, atMs, facts }, { market, side }, tick);
  }
  // Most changes reach no order. They read neither the market nor an order.
  if (!levels.show(tick, source.epoch)) return;
  const { queue } = state;
  const { price } = tick;
  if (tick.change === 'add') {
    const bids = oppositeSide(side);
    const least = Math.ceil((ONE - price) / CENT);
    if (queue.best(tick.market, bids) < least) return;
    added({ state, queues, atMs, facts }, { market, side: bids }, tick, least);
  } else if (tick.change === 'cancel' && price % CENT === 0) {
    const block = queue.at(tick.market, side, price / CENT);
    if (block !== 0) canceled({ state, queues, atMs, facts }, block, tick);
  }
}

/** Since when a book is unknown that comes whole now; null: it was known. Rule T188. */
function missedSince(
  { recoveredAtMs }: ShardState,
  levels: Queues['levels'],
  { market, levels: told }: LevelsTick,
): EpochMs | null {
  const book = levels.of(market);
  if (told === null) return null;
  return book === undefined ? recoveredAtMs : book.lostAtMs;
}

/** Only shows the change: a shard that cannot write fills nothing. Rule D8 (engine/RULES.md). */
export function showLevels(
  { sources }: ShardState,
  { levels }: Queues,
  tick: LevelTick | PrintTick | LevelsTick,
): void {
  const epoch = sources[tick.source]?.epoch ?? 0;
  if (tick.kind === 'levels') levels.replace(tick, epoch);
  else if (tick.kind === 'level') levels.show(tick, epoch);
}

type In = { state: ShardState; queues: Queues; atMs: EpochMs; facts: FactSink };

/**
 * A decrease that no print has explained: everybody ahead may have left. `block`: those who wait at
 * its price. Rule T148.
 */
function canceled(on: In, block: number, tick: LevelTick): void {
  const { state, queues, atMs } = on;
  const { contracts, size, source, decrease } = tick;
  const { queue } = state;
  const before = size + contracts;
  const taken = queues.levels.takenBy(source);
  let moved: OrderRow[] | null = null;
  const end = queue.endOf(block);
  for (let slot = block + 1; slot < end; slot++) {
    const order = queue.orderAt(slot);
    const aheadE2 = queue.aheadAt(slot);
    if (order === NO_ROW || aheadE2 === 0) continue;
    const left = Math.min(aheadE2 - share(aheadE2, contracts, before), size);
    queue.setAheadAt(slot, left);
    taken.note(decrease, atMs, order, queue.turnAt(slot), aheadE2 - left);
    if (queue.isFarAt(slot)) {
      moved ??= [];
      moved.push(order);
    }
  }
  if (moved !== null) for (const order of moved) notePlace(on, order);
}

/** `of` × `part` ÷ `whole`, rounded down. */
function share(of: ContractsE2, part: ContractsE2, whole: ContractsE2): ContractsE2 {
  const product = of * part;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / whole);
  return Number((BigInt(of) * BigInt(part)) / BigInt(whole));
}

/** An increase of the other side's bids meets ours from the price `least` on. Rules T147, T151. */
function added(on: In, at: Place, tick: LevelTick, least: number): void {
  const { state } = on;
  const { price, contracts, size } = tick;
  if (!mayFill(at.market, state)) return;
  const volume = nameOf(tick, false, size);
  const fill = new Fill(on, at, 'addition', contracts, volume);
  const askCents = askCentsOf(ONE - price);
  for (const order of state.queue.ordersFrom(at.market.number, at.side, least)) {
    // A fill before it may have ended its group. Rule T220.
    if (state.queue.has(order)) fill.meet(order, askCents);
  }
}

/** Rules T149 to T151. */
function printed(on: In, at: Place, tick: PrintTick): void {
  const { state, queues } = on;
  const { market, side } = at;
  const { price, contracts, decrease } = tick;
  const { queue } = state;
  if (decrease > 0) {
    queues.levels.takenBy(tick.source).giveBack(decrease, on.atMs, (order, turn, takenE2) => {
      if (!queue.has(order) || queue.turnOf(order) !== turn) return;
      queue.setAheadE2(order, queue.aheadE2(order) + takenE2);
    });
  }
  const least = Math.ceil(price / CENT);
  if (queue.best(market.number, side) < least) return;
  const isOpen = mayFill(market, state);
  const volume = nameOf(tick, true, decrease);
  const fill = new Fill(on, at, 'print', isOpen ? contracts : 0, volume);
  const atItsPrice = price % CENT === 0 ? least : 0;
  for (const order of queue.ordersFrom(market.number, side, least)) {
    // A fill before it may have ended its group. Rule T220.
    if (!queue.has(order)) continue;
    if (levelOf(state, order) === atItsPrice) fill.eat(order, contracts);
    else if (isOpen) fill.meet(order, null);
  }
}

/** A volume as every shard knows it. `detail`: what the venue's feed says of it alone. */
function nameOf(
  { market, atMs, side, price, contracts }: LevelTick | PrintTick,
  isPrint: boolean,
  detail: number,
): VolumeName {
  return { market, atMs, side, price, contracts, isPrint, detail };
}

/** All levels are known again, after something was missed. Rule T153. */
function bookCame(on: In, market: Market, book: ExactBook): void {
  const { state } = on;
  for (const side of ['yes', 'no'] as const) {
    const at = { market, side };
    const orders = state.queue.ordersFrom(market.number, side, 1);
    for (const order of orders) {
      const shown = book.sizeAt(side, levelOf(state, order));
      if (state.queue.aheadE2(order) <= shown) continue;
      state.queue.setAheadE2(order, shown);
      if (state.queue.isFarFromNoted(order)) notePlace(on, order);
    }
    if (!mayFill(market, state)) continue;
    for (const order of orders) if (state.queue.has(order)) meetCrossing(on, at, order);
  }
}

/** A whole book that crosses an order meets it, up to what its account has not taken of it. */
function meetCrossing(on: In, { market, side }: Place, order: OrderRow): void {
  const { state, queues } = on;
  const upToCents = levelOf(state, order);
  const contracts = remainingOf(state, order);
  const want = {
    taker: takerAt(state, order),
    side,
    upToCents,
    contracts,
    model: 'queue',
  } as const;
  const { found: crossing, taken } = takeFound(
    state,
    on.atMs,
    () => queues.crossing(market, want),
    consumedBy,
  );
  if (crossing === null) return;
  const before = { aheadE2: state.queue.aheadE2(order), partE2: state.queue.partE2(order) };
  const volumeE2 = crossing.contracts * CONTRACT;
  met(on, order, { by: 'book', volumeE2, ...before });
  trade(on, order, crossing.contracts);
  noteTaken(state, on.facts, on.atMs, taken);
}

/** Where an order waits, by its columns: its market and its bid, as one number. Rule T145. */
export function queueOf({ col }: ShardState['orders'], order: OrderRow): number {
  const flags = col.flags.get(order);
  const limit = col.limitPriceCents.get(order);
  const { waitsForAskOf, priceLevel } = restingPlace(actionOf(flags), sideOf(flags), limit);
  return col.market.get(order) * BIDS + bidNumber(waitsForAskOf, priceLevel);
}

/** The bid price that an order rests at. */
function levelOf({ orders: { col } }: ShardState, order: OrderRow): number {
  const limit = col.limitPriceCents.get(order);
  return actionOf(col.flags.get(order)) === 'buy' ? limit : PAYOUT_CENTS - limit;
}

/** A pause, a closing and a result fill nothing. Rule T155. */
function mayFill(market: Market, { nowMs }: ShardState): boolean {
  return market.outcome === null && market.status === 'open' && nowMs < closingMs(market);
}

/**
 * One volume that meets orders: it counts once for an account, or once for all that share it. Rules
 * T150 to T152, T234.
 */
class Fill {
  readonly #on: In;
  readonly #at: Place;
  readonly #by: QueueMeeting;
  readonly #volumeE2: ContractsE2;
  readonly #name: VolumeName;
  /** How many equal ones came before it; null: no order has shared it yet. */
  #nth: number | null = null;
  /** Null: of one account at most. */
  #usedBy: Map<AccountRow, ContractsE2> | null = null;
  #first: { account: AccountRow; usedE2: ContractsE2 } | null = null;

  constructor(on: In, at: Place, by: QueueMeeting, volumeE2: ContractsE2, name: VolumeName) {
    this.#on = on;
    this.#at = at;
    this.#by = by;
    this.#volumeE2 = volumeE2;
    this.#name = name;
  }

  /**
   * A print at the price of an order takes what is ahead of it, then the order. Earlier orders of its
   * account are ahead too: what they took does not reach it. Rule T238.
   */
  eat(order: OrderRow, printedE2: ContractsE2): void {
    const { orders, queue } = this.#on.state;
    const aheadE2 = queue.aheadE2(order);
    const reachesE2 = printedE2 - this.#used(orders.col.account.get(order));
    const eatenE2 = Math.min(aheadE2, reachesE2);
    if (aheadE2 !== UNKNOWN_AHEAD) queue.setAheadE2(order, aheadE2 - eatenE2);
    this.#credit(order, this.#volumeE2 - eatenE2, aheadE2);
    if (queue.has(order) && queue.isFarFromNoted(order)) notePlace(this.#on, order);
  }

  /** Whoever trades at a worse price would have met the order first. `askCents`: displayed there. */
  meet(order: OrderRow, askCents: number | null): void {
    const { state, queues, atMs, facts } = this.#on;
    const aheadE2 = state.queue.aheadE2(order);
    state.queue.setAheadE2(order, 0);
    const taker = takerAt(state, order);
    const contracts = this.#credit(order, this.#volumeE2, aheadE2);
    if (contracts > 0 && askCents !== null && askCents > 0) {
      const { market, side } = this.#at;
      const of = { taker, market: market.number, side, contracts };
      const taken = queues.consumeAt(of, askCents, atMs);
      noteTaken(state, facts, atMs, taken);
    }
    if (state.queue.has(order) && state.queue.isFarFromNoted(order)) notePlace(this.#on, order);
  }

  /** `aheadE2`: of it before. @returns the whole contracts that traded */
  #credit(order: OrderRow, availableE2: ContractsE2, aheadE2: ContractsE2): Contracts {
    const { state } = this.#on;
    const before = state.queue.partE2(order);
    const leftE2 = remainingOf(state, order) * CONTRACT - before;
    const filledE2 = this.#take(order, availableE2, leftE2);
    if (filledE2 <= 0) return 0;
    const partE2 = (before + filledE2) % CONTRACT;
    const contracts = (before + filledE2 - partE2) / CONTRACT;
    met(this.#on, order, { by: this.#by, volumeE2: this.#volumeE2, aheadE2, partE2 });
    if (contracts > 0) trade(this.#on, order, contracts);
    return contracts;
  }

  /** Of what is left for an order; not above 0: nothing is. */
  #take(order: OrderRow, availableE2: ContractsE2, wantedE2: ContractsE2): ContractsE2 {
    const { state, queues } = this.#on;
    const account = state.orders.col.account.get(order);
    const mostE2 = Math.min(availableE2 - this.#used(account), wantedE2);
    if (mostE2 <= 0) return 0;
    let takenE2 = mostE2;
    if (isShared(takerAt(state, order))) {
      this.#nth ??= queues.nextVolume(this.#name);
      takenE2 = queues.takeVolume(this.#name, this.#nth, availableE2, mostE2);
    }
    this.#use(account, takenE2);
    return takenE2;
  }

  #used(account: AccountRow): ContractsE2 {
    if (this.#usedBy !== null) return this.#usedBy.get(account) ?? 0;
    return this.#first?.account === account ? this.#first.usedE2 : 0;
  }

  #use(account: AccountRow, filledE2: ContractsE2): void {
    const usedE2 = this.#used(account) + filledE2;
    if (this.#usedBy === null && (this.#first === null || this.#first.account === account)) {
      this.#first = { account, usedE2 };
      return;
    }
    this.#usedBy ??= new Map([[this.#first!.account, this.#first!.usedE2]]);
    this.#usedBy.set(account, usedE2);
  }
}

function takerAt({ orders, realism }: ShardState, order: OrderRow): Taker {
  return takerOf(orders.col.account.get(order), realism.liquidity(order));
}

type Meeting = Pick<QueueMet, 'by' | 'volumeE2' | 'aheadE2' | 'partE2'>;

/** A part of an order or more trades in its queue. Rule T186. */
function met({ state, queues, atMs, facts }: In, order: OrderRow, meeting: Meeting): void {
  const { account, market } = state.orders.col;
  const book = queues.levels.of(market.get(order));
  if (book != null && book.lostAtMs !== null && book.lostAtMs < atMs) {
    const missed = { market: market.get(order), fromMs: book.lostAtMs };
    emit(state, facts, { kind: 'book_missed', atMs, ...missed });
    book.lostAtMs = atMs;
  }
  emit(state, facts, { kind: 'queue_met', atMs, order, account: account.get(order), ...meeting });
}

/** Contracts of an order trade at its limit. Rule T152. */
function trade(on: In, order: OrderRow, contracts: Contracts): void {
  const { state, atMs, facts } = on;
  const { col } = state.orders;
  settleAccount(state, col.account.get(order), facts);
  const market = state.markets[col.market.get(order)]!;
  const priceCents = col.limitPriceCents.get(order);
  const cents = costCents(priceCents, contracts);
  const traded = { contracts, priceCents, venue: venueIndex(market.venue), cents };
  const levels = [[priceCents, contracts]] as const;
  if (state.nets.has(order)) {
    const taken = { market, levels, role: 'maker', atMs } as const;
    const events = waitingNetEvents(state, order, taken, NO_NOTE);
    for (const event of events) emit(state, facts, event);
  } else {
    const fee = waitingFee(state, order, { market, levels, role: 'maker', traded }, atMs);
    emit(state, facts, fillEvent(atMs, order, remainingOf(state, order), traded, fee));
  }
  if (state.queue.has(order) && !state.queue.isNoted(order)) notePlace(on, order);
  endReached(state, atMs, facts);
}

/** Rule T154. */
function notePlace({ state, atMs, facts }: In, order: OrderRow): void {
  emit(state, facts, queuedEvent(state, order, atMs));
}

function queuedEvent({ queue, orders }: ShardState, order: OrderRow, atMs: EpochMs): OrderQueued {
  return {
    kind: 'order_queued',
    atMs,
    order,
    account: orders.col.account.get(order),
    aheadE2: queue.aheadE2(order),
    partE2: queue.partE2(order),
  };
}

/**
 * Notes the places that have moved, at most so many: before a shard ends, so that its next start
 * knows them. @returns whether more are left
 */
export function noteMovedPlaces(state: ShardState, facts: FactSink, atMost: number): boolean {
  const moved: OrderRow[] = [];
  for (const order of state.queue.orders()) {
    if (state.queue.isNoted(order)) continue;
    if (moved.length === atMost) break;
    moved.push(order);
  }
  for (const order of moved) emit(state, facts, queuedEvent(state, order, state.nowMs));
  return moved.length === atMost;
}
