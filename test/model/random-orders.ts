/** Generated placements and cancels: mostly plausible orders, and some that no rule allows. */

import {
  type EpochMs,
  HOME_VENUE,
  oppositeSide,
  type Side,
  type StreamConnection,
  type TradeUse,
  type Uuid,
} from '../../engine/base/units.ts';
import type { CatalogInstrument } from '../../engine/rules/catalog-entries.ts';
import {
  type AmendOrder,
  BLANK_ORDER,
  type CancelAll,
  type CancelOrder,
  type ChangeOrderGroup,
  type Connected,
  type Disconnected,
  type MakeOrderGroup,
  type PlaceOrder,
  type RemoveOrderGroup,
  type TradeCounting,
} from '../../engine/rules/messages.ts';
import { ORDER_TERMS, TRADE_TERM_NAMES, USUAL_TERMS } from '../../engine/rules/order-terms.ts';
import { PRESETS, REALISM_MODELS, type Realism } from '../../engine/rules/realism.ts';
import type { RandomSource } from './random-source.ts';
import { clampPrice, DAY_MS, fairCentsOf, type RandomWorld, someAccount } from './random-world.ts';

const PLACEMENTS_REMEMBERED = 50;
/** Of the stream. */
const CONNECTIONS = 5;
/** Rule T22 (engine/RULES.md). */
const COUNT_MAX = 1_000_000_000;
const UNKNOWN_INSTRUMENT = 'ins_ZZZZZZZZZZZZ';

export function randomPlacement(world: RandomWorld): PlaceOrder {
  const { random, placed } = world;
  if (placed.length > 0 && random.oneIn(12)) return placedAgain(world, random.pick(placed));
  const order = unplacedOrder(world);
  placed.push(order);
  if (placed.length > PLACEMENTS_REMEMBERED) placed.shift();
  // Now and then one is long on its way: others, and its own retry, arrive before it.
  return random.oneIn(25) ? randomPlacement(world) : order;
}

/** An order that no later one repeats. */
export function unplacedOrder(world: RandomWorld): PlaceOrder {
  const blank = blankOrder(world);
  const order = world.random.oneIn(3)
    ? asSell(world, blank)
    : asNetting(world, asBuy(world, blank));
  order.counting = randomCounting(world, order.account);
  order.orderGroupId = someGroup(world, order.account);
  return order;
}

/** Of a third of the orders one of its account's groups, now and then of another's or of none. */
function someGroup({ changes: { random, groups }, nowMs }: RandomWorld, account: Uuid) {
  if (!random.oneIn(3)) return null;
  if (random.oneIn(30)) return random.uuid(nowMs);
  const own = groups.filter((group) => group.account === account || random.oneIn(30));
  return own.length === 0 ? null : random.pick(own).group;
}

/** A change of an order: mostly of one that may rest, to what it could be. */
export function randomAmend(world: RandomWorld): AmendOrder {
  const { nowMs, changes, feedback } = world;
  const { random, made } = changes;
  const again = made.length > 0 && random.oneIn(10) ? random.pick(made) : null;
  if (again !== null) return { ...again, atMs: nowMs, counting: null };
  const account = random.pick(world.accounts);
  const owner = random.oneIn(12) ? random.pick(world.accounts) : account;
  const ids = feedback.orderIds(owner, random.oneIn(12) ? 'market' : 'limit').slice(-6);
  const orderId = ids.length > 0 ? random.pick(ids) : random.uuid(nowMs);
  const before = world.placed.find((order) => order.orderId === orderId);
  const count = before?.contracts ?? 10;
  const cents = before?.limitPriceCents ?? random.int(20, 80);
  changes.count += 1;
  const used = world.keysMade > 0 && random.oneIn(20) ? random.int(1, world.keysMade) : null;
  const contracts = random.oneIn(3) ? random.int(1, count) : random.int(1, 2 * count);
  const limit = random.oneIn(3) ? cents : clampPrice(cents + random.int(-8, 8));
  const asked = random.weighted({ contracts: 3, limit: 3, both: 3 });
  const amend: AmendOrder = {
    kind: 'amend',
    atMs: nowMs,
    ...{ account, orderId },
    idempotencyKey: used === null ? `change-${changes.count}` : `key-${used}`,
    contracts: asked === 'limit' ? null : random.oneIn(20) ? COUNT_MAX : contracts,
    limitPriceCents: asked === 'contracts' ? null : limit,
    mayOpen: !random.oneIn(20),
    mayTrade: !random.oneIn(20),
    counting: randomCounting({ ...world, random }, account),
  };
  made.push(amend);
  if (made.length > PLACEMENTS_REMEMBERED) made.shift();
  return amend;
}

/** Groups of a few contracts and of many. */
export function randomMakeGroup(world: RandomWorld): MakeOrderGroup {
  const { nowMs, accounts, changes } = world;
  const { random, groups } = changes;
  const made: MakeOrderGroup = {
    kind: 'make_order_group',
    atMs: nowMs,
    account: random.oneIn(15) ? random.uuid(nowMs) : random.pick(accounts),
    group: random.uuid(nowMs),
    contractsLimit: random.pick([1, 100, 2000, 20_000]),
    windowSeconds: random.pick([1, 15, 3600]),
    latches: world.groupChanges.oneIn(2),
    counting: null,
  };
  groups.push(made);
  return made;
}

/** Mostly a change of a group; else its end. */
export function randomGroupChange(world: RandomWorld): RemoveOrderGroup | ChangeOrderGroup {
  const { nowMs, accounts, changes } = world;
  const { random, groups } = changes;
  const known = groups.length > 0 && !random.oneIn(5) ? random.pick(groups) : null;
  const account = known === null || random.oneIn(10) ? random.pick(accounts) : known.account;
  const counting = randomCounting({ ...world, random }, account);
  const group = known?.group ?? random.uuid(nowMs);
  const of = { atMs: nowMs, account, group, counting };
  const { groupChanges } = world;
  if (groupChanges.oneIn(4)) return { kind: 'remove_order_group', ...of };
  const contractsLimit = groupChanges.pick([1, 100, 2000, 20_000]);
  const change = groupChanges.pick(['trigger', 'reset', 'reset', { contractsLimit }] as const);
  return { kind: 'change_order_group', ...of, change };
}

export function randomCancel(world: RandomWorld): CancelOrder {
  const { random, nowMs } = world;
  const account = someAccount(world);
  const owner = random.oneIn(8) ? someAccount(world) : account;
  const type = random.oneIn(10) ? 'market' : 'limit';
  const orderIds = world.feedback.orderIds(owner, type).slice(-8);
  const hits = orderIds.length > 0 && !random.oneIn(12);
  const orderId = hits ? random.pick(orderIds) : random.uuid(nowMs);
  return {
    kind: 'cancel',
    atMs: nowMs,
    account,
    orderId,
    counting: randomCounting(world, account),
  };
}

export function randomCancelAll(world: RandomWorld): CancelAll {
  const { random, nowMs } = world;
  const account = random.oneIn(10) ? random.uuid(nowMs) : someAccount(world);
  const { id } = random.pick(world.known.catalog.instruments);
  return {
    kind: 'cancel_all',
    atMs: nowMs,
    account,
    instrumentId: random.oneIn(3) ? null : random.oneIn(10) ? UNKNOWN_INSTRUMENT : id,
    counting: randomCounting(world, account),
  };
}

/** The end of a connection, or now and then the list of open connections. */
export function randomDisconnect(world: RandomWorld): Disconnected | Connected {
  const { random, nowMs } = world;
  const connection = random.int(1, CONNECTIONS);
  if (random.oneIn(8)) return { kind: 'connected', atMs: nowMs, connections: [connection] };
  const account = random.oneIn(10) ? random.uuid(nowMs) : someAccount(world);
  return { kind: 'disconnected', atMs: nowMs, account, connection };
}

function randomConnection(random: RandomWorld['random']): StreamConnection | null {
  return random.oneIn(3) ? random.int(1, CONNECTIONS) : null;
}

/** Mostly outside the limits, so that other rules get their turn; else with small ones. */
function randomCounting(
  { random, countedOneIn, nowMs }: RandomWorld,
  account: Uuid,
): TradeCounting | null {
  if (!random.oneIn(countedOneIn)) return null;
  const keyLimits = { newPerMinute: 3, newPerDay: 12, closingPerMinute: 2 };
  const accountLimits = { newPerMinute: 4, newPerDay: 20, closingPerMinute: 3 };
  const elsewhere = random.oneIn(2) ? null : randomUse(random, nowMs);
  return { keyId: randomKeyOf(random, account), keyLimits, accountLimits, elsewhere };
}

/** An account has two keys, whose ids are no account's. */
export function randomKeyOf(random: RandomWorld['random'], account: Uuid): Uuid {
  return `${random.oneIn(2) ? 'e' : 'f'}${account.slice(1)}`;
}

/** A key's counts in another shard: now, or in a minute or on a day that has passed. */
function randomUse(random: RandomWorld['random'], nowMs: EpochMs): TradeUse {
  const newInMinute = random.int(0, 3);
  return {
    atMs: nowMs - random.pick([0, 0, 60_000, DAY_MS]),
    newInMinute,
    newInDay: newInMinute + random.int(0, 9),
    closingInMinute: random.int(0, 2),
  };
}

/** The same key once more: the same order three times out of four. */
function placedAgain(world: RandomWorld, earlier: PlaceOrder): PlaceOrder {
  const { random, nowMs } = world;
  const order: PlaceOrder = {
    ...earlier,
    atMs: nowMs,
    orderId: random.uuid(nowMs),
    placedVia: random.pick(['api', 'web', 'cli']),
    placedPrivate: random.oneIn(2),
    connection: randomConnection(random),
    mayTrade: random.oneIn(2),
    // The key's counts elsewhere are asked again, because the time may have been set back since.
    counting: earlier.counting && { ...earlier.counting, elsewhere: null },
  };
  if (!random.oneIn(4)) return order;
  return random.oneIn(2)
    ? { ...order, routing: order.routing === 'best' ? 'venue_a' : 'best' }
    : { ...order, account: someAccount(world) };
}

/** Mostly the preset `simple`, or what the account has chosen. */
function someRealism(world: RandomWorld, account: Uuid): Realism | null {
  const late = someLatency(world.realism);
  const own = chosenBy(world, account);
  const chosen = own === null ? late : { ...own, ...(late && { latencyMs: late.latencyMs }) };
  return world.fees.oneIn(2) ? { ...(chosen ?? PRESETS.simple), fees: 'venue' } : chosen;
}

/** Most share sizes, so that they meet each other. It counts for orders placed afterwards. */
function chosenBy({ chosen }: RandomWorld, account: Uuid): Realism | null {
  if (chosen === null) return null;
  const { random, of } = chosen;
  const known = of.get(account);
  if (known !== undefined && !random.oneIn(20)) return known;
  const liquidity = random.oneIn(3) ? 'account' : 'market';
  const realism: Realism = { ...PRESETS.simple, model: random.pick(REALISM_MODELS), liquidity };
  of.set(account, realism);
  return realism;
}

function someLatency(random: RandomSource | null): Realism | null {
  if (random === null || !random.oneIn(3)) return null;
  const min = random.oneIn(3) ? 0 : random.int(1, 300);
  const max = random.oneIn(4) ? min + random.int(0, 2000) : min;
  return { ...PRESETS.simple, latencyMs: { min, max } };
}

function blankOrder(world: RandomWorld): PlaceOrder {
  const { random, nowMs } = world;
  world.keysMade += 1;
  const account = someAccount(world);
  return {
    ...BLANK_ORDER,
    atMs: nowMs,
    account,
    orderId: random.uuid(nowMs),
    idempotencyKey: `key-${world.keysMade}`,
    // Of the type that it becomes.
    timeInForce: random.oneIn(2) ? null : 'gtc',
    routing: random.oneIn(3) ? 'best' : 'venue_a',
    placedVia: random.pick(['api', 'web', 'cli']),
    placedPrivate: random.oneIn(4),
    connection: randomConnection(random),
    mayOpen: !random.oneIn(40),
    mayTrade: !random.oneIn(40),
    rejectIfLaterThanMs: random.oneIn(20) ? nowMs + random.int(-500, 500) : null,
    realism: someRealism(world, account),
  };
}

function asBuy(world: RandomWorld, blank: PlaceOrder): PlaceOrder {
  const { random, known } = world;
  const side: Side = random.pick(['yes', 'no']);
  const instrument = someInstrument(world);
  const home = instrument.listings.filter((listing) => listing.venue === HOME_VENUE);
  const useful = home.length > 0 && !random.oneIn(20) ? home : instrument.listings;
  const listing = random.pick(useful);
  const market = known.markets.find((one) => one.venueMarketId === listing.venueMarketId)!;
  const byTicker = random.oneIn(4);
  const isYesOfMarket = (side === 'yes') === (byTicker || listing.polarity === 1);
  const fairCents = fairCentsOf(world, market);
  const priceCents = isYesOfMarket ? fairCents : 100 - fairCents;
  return priced(world, priceCents, {
    ...blank,
    instrumentId: byTicker ? null : random.oneIn(40) ? UNKNOWN_INSTRUMENT : instrument.id,
    ticker: byTicker ? (random.oneIn(20) ? 'NOWHERE' : market.venueMarketId) : null,
    side,
    contracts: contractsFor(world, blank.account, priceCents),
    ...statedTerms(random),
  });
}

/** Now and then it nets: mostly against what its account holds, about as many contracts. */
function asNetting({ nets: random, feedback }: RandomWorld, buy: PlaceOrder): PlaceOrder {
  if (!random.oneIn(3)) return buy;
  const netting = random.pick(['net', 'net', 'close'] as const);
  const routing = random.oneIn(20) ? buy.routing : 'venue_a';
  const held = feedback.openSides(buy.account);
  if (held.length === 0 || random.oneIn(4)) return { ...buy, netting, routing };
  const { instrumentId, side, contracts } = random.pick(held);
  const count = Math.max(1, contracts + random.int(-5, 5) * Math.ceil(contracts / 4));
  const of = { instrumentId, ticker: null, contracts: asCount(count) };
  return { ...buy, netting, routing, ...of, side: random.oneIn(8) ? side : oppositeSide(side) };
}

/** The terms that a caller states, and that change no fill: a trade keeps them as they are. */
function statedTerms(random: RandomSource): Partial<PlaceOrder> {
  const stated = TRADE_TERM_NAMES.filter((name) => {
    const { asked, is } = ORDER_TERMS[name];
    return asked && is.form === 'small or null';
  });
  return Object.fromEntries(
    stated.map((name) => [name, random.oneIn(3) ? random.int(1, 99) : USUAL_TERMS[name]]),
  );
}

/** Mostly one that can be bought: a single venue_a market, without a result. */
function someInstrument({ random, known, resolved }: RandomWorld): CatalogInstrument {
  const { instruments } = known.catalog;
  const buyable = instruments.filter((instrument) => {
    const home = instrument.listings.filter((listing) => listing.venue === HOME_VENUE);
    return home.length === 1 && !resolved.has(`${HOME_VENUE}/${home[0]!.venueMarketId}`);
  });
  return random.pick(buyable.length > 0 && !random.oneIn(8) ? buyable : instruments);
}

/** A sell of an open position mostly; else of a past one, another account's, or none at all. */
function asSell(world: RandomWorld, blank: PlaceOrder): PlaceOrder {
  const { random, feedback, placed } = world;
  const owner = random.oneIn(10) ? someAccount(world) : blank.account;
  const open = feedback.openTradeIds(owner);
  const past = placed.flatMap((order) => order.tradeId ?? []);
  const known = open.length > 0 && !random.oneIn(10) ? open : past;
  const hits = known.length > 0 && !random.oneIn(20);
  const tradeId = hits ? random.pick(known) : random.uuid(world.nowMs);
  return priced(world, random.int(20, 80), { ...blank, action: 'sell', tradeId });
}

function priced(world: RandomWorld, fairCents: number, order: PlaceOrder): PlaceOrder {
  const { random } = world;
  const priceCents = random.oneIn(8)
    ? random.int(1, 99)
    : clampPrice(fairCents + random.int(-6, 6));
  if (order.timeInForce === null) {
    return { ...order, boundPriceCents: random.oneIn(3) ? priceCents : null };
  }
  const timeInForce = random.weighted({ gtc: 6, ioc: 1, fok: 1 });
  const expires = timeInForce === 'gtc' && random.oneIn(3);
  const expiresAtMs = expires ? expiry(world) : null;
  const postOnly = timeInForce === 'gtc' && world.changes.random.oneIn(5);
  return { ...order, limitPriceCents: priceCents, timeInForce, expiresAtMs, postOnly };
}

function contractsFor(world: RandomWorld, account: Uuid, priceCents: number): number {
  const { random, feedback } = world;
  switch (random.weighted({ usual: 12, one: 2, allIn: 2, huge: 1, brink: 1 })) {
    case 'usual':
      return random.int(2, 4000);
    case 'one':
      return 1;
    case 'allIn': {
      const eachCents = clampPrice(priceCents + random.int(-2, 2));
      return asCount(Math.floor(feedback.spendableCents(account) / eachCents));
    }
    case 'brink':
      // The last count whose payout can be counted, or the first that is too large.
      return asCount(Math.floor(feedback.roomCents(account) / 100) + random.int(0, 1));
    case 'huge':
      return random.pick([200_000, 10_000_000, COUNT_MAX]);
  }
}

function asCount(contracts: number): number {
  return Math.min(COUNT_MAX, Math.max(1, contracts));
}

function expiry({ random, nowMs }: RandomWorld): EpochMs {
  switch (random.weighted({ soon: 8, later: 3, last: 1, tooLate: 1, now: 1, past: 1 })) {
    case 'soon':
      return nowMs + random.int(1, 30_000);
    case 'later':
      return nowMs + random.int(1, 48) * 3_600_000;
    case 'last':
      return nowMs + 365 * DAY_MS;
    case 'tooLate':
      return nowMs + 365 * DAY_MS + random.int(1, 1000);
    case 'now':
      return nowMs;
    case 'past':
      return nowMs - random.int(1, 1000);
  }
}
