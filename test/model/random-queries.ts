/** Generated queries, paging included. */

import type { Uuid } from '../../engine/base/units.ts';
import type { RowFilter } from '../../engine/rules/queries.ts';
import { randomKeyOf, unplacedOrder } from './random-orders.ts';
import type { RandomWorld } from './random-world.ts';
import type { UserQuery } from './trading-engine.ts';

const UNKNOWN_INSTRUMENT = 'ins_ZZZZZZZZZZZZ';
const SEEN_MAX = 200;

export function randomQuery(world: RandomWorld): UserQuery {
  const { random, nowMs } = world;
  const account = random.oneIn(20) ? random.uuid(nowMs) : random.pick(world.accounts);
  const to = { atMs: nowMs + (random.oneIn(5) ? random.int(1, 20_000) : 0), account };
  const organizationSlug = random.oneIn(4) ? 'acme' : null;
  const limit = random.pick([1, 3, 50, 200]);
  const weights = {
    portfolio: 4,
    order: 2,
    orders: 3,
    trades: 3,
    quote: 4,
    priced: 1,
    results: 1,
    bids: 1,
    keyUse: 1,
    preview: 1,
    account: 1,
  };
  switch (random.weighted(weights)) {
    case 'portfolio':
      return { kind: 'portfolio', ...to, organizationSlug };
    case 'account':
      return { kind: 'account', ...to };
    case 'order': {
      const ids = world.feedback.orderIds(account);
      const orderId = ids.length > 0 ? random.pick(ids) : account;
      return { kind: 'order', ...to, organizationSlug, orderId };
    }
    case 'orders': {
      const status = random.pick(['resting', 'executed', 'canceled', 'expired', null] as const);
      const before = rowToContinueAfter(world, 'orders', account);
      return { kind: 'orders', ...to, organizationSlug, status, limit, before, ...filter(world) };
    }
    case 'trades': {
      const status = random.pick(['open', 'closed', 'settled', 'void', null] as const);
      const before = rowToContinueAfter(world, 'trades', account);
      return { kind: 'trades', ...to, organizationSlug, status, limit, before, ...filter(world) };
    }
    case 'quote': {
      const { instrumentIds } = world.known.catalog;
      const instrumentId = random.oneIn(30) ? UNKNOWN_INSTRUMENT : random.pick(instrumentIds);
      const kind = random.oneIn(3) ? 'book' : 'instrument_quote';
      return { kind, atMs: to.atMs, instrumentId };
    }
    case 'preview':
      return { kind: 'preview', atMs: to.atMs, order: unplacedOrder(world) };
    case 'priced': {
      const { instrumentIds } = world.known.catalog;
      const some = [...instrumentIds.keys()].filter(() => random.oneIn(3));
      const instruments = random.oneIn(2) ? null : [...some, instrumentIds.length];
      return { kind: 'priced', atMs: to.atMs, instruments };
    }
    case 'results': {
      const markets = [...world.known.catalog.marketNames.keys()];
      return { kind: 'market_results', atMs: to.atMs, markets };
    }
    case 'bids': {
      const { marketNames } = world.known.catalog;
      const some = [...marketNames.keys()].filter(() => random.oneIn(3));
      const markets = random.oneIn(2) ? null : [...some, marketNames.length];
      return { kind: 'bids', atMs: to.atMs, markets };
    }
    case 'keyUse':
      return { kind: 'key_use', atMs: to.atMs, keyId: randomKeyOf(random, account) };
  }
}

/** Mostly none. */
function filter({ random, nowMs, known, placed }: RandomWorld): { only?: RowFilter } {
  if (!random.oneIn(3)) return {};
  const { instrumentIds } = known.catalog;
  const instrumentId = random.oneIn(10) ? UNKNOWN_INSTRUMENT : random.pick(instrumentIds);
  const key = placed.length > 0 ? random.pick(placed).idempotencyKey : 'none';
  const time = () => (random.oneIn(2) ? nowMs - random.int(0, 5000) : null);
  return {
    only: {
      instrumentId: random.oneIn(2) ? instrumentId : null,
      idempotencyKey: random.oneIn(4) ? key : null,
      fromMs: time(),
      toMs: time(),
    },
  };
}

/** A row that the list has shown or would have shown, or none. */
function rowToContinueAfter(
  world: RandomWorld,
  list: 'orders' | 'trades',
  account: Uuid,
): Uuid | null {
  const { random, feedback, seen } = world;
  const ids =
    list === 'trades' ? feedback.openTradeIds(account) : feedback.orderIds(account, 'limit');
  if (ids.length > 0) seen.push({ list, account, id: random.pick(ids) });
  if (seen.length > SEEN_MAX) seen.shift();
  const usable = seen.filter((row) => row.list === list && row.account === account);
  return usable.length > 0 && random.oneIn(2) ? random.pick(usable).id : null;
}
