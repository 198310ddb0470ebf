/** The events of accounts, on logs of random input: they are what answers show at the end. */
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FILL_MODELS, type FillModelName, type Uuid } from '../../../engine/base/units.ts';
import {
  type AccountEvent,
  AccountEvents,
  EVENT_TYPES,
  eventIdOf,
  numberOfEvent,
} from '../../../engine/readers/account-events.ts';
import { AccountLog, type PageBounds } from '../../../engine/readers/account-log.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { Shard } from '../../../engine/shard/thread/shard.ts';
import { createNaiveEngine } from '../../model/naive-engine.ts';
import { createRandomInput } from '../../model/random-input.ts';
import { shareOf, variantsOfRun } from '../../model/seeds.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';

// biome-ignore lint/suspicious/noExplicitAny: events are read by name, as any client does
type Json = any;

const STEPS = 1000;
const SEEDS: Readonly<Record<FillModelName, readonly number[]>> = {
  top_of_book: [30, 3, 5, 7, 31],
  book_depth: [32, 5, 7, 19],
  queue: [18, 25, 3, 5],
};
/** So many of them reach every kind of event. */
const ENOUGH = { top_of_book: 1, book_depth: 1, queue: 2 };
const BATCH = 5;
/**
 * The rest is asked for from every event in a long run, from some in a check of each change: pages
 * of three events begin at every third one, too.
 */
const EVENTS_APART = shareOf(100) < 100 ? 40 : 1;
const ALL = { after: 0, upTo: Number.POSITIVE_INFINITY, limit: 100_000, bytesMax: 2 ** 30 };

/** A shard that has traded at random, with its accounts. */
async function traded(dataDir: string, seed: number, fillModel: FillModelName) {
  const core = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel };
  const model = createNaiveEngine(core);
  const input = createRandomInput(
    {
      ...{ seed, quoteMaxAgeMs: core.quoteMaxAgeMs, countedOneIn: 10, accounts: 4 },
      ...{ levels: fillModel === 'queue', latency: true },
    },
    model,
  );
  const shard = await Shard.open({
    ...core,
    path: path.join(dataDir, 'shard-0'),
    shard: 0,
    durability: 'commit',
    checkpointEveryFacts: 200,
  });
  for (let step = 0; step < STEPS; step += BATCH) {
    const batch = Array.from({ length: BATCH }, () => {
      const next = input.next();
      if (next.on === 'tick') model.tick(next.tick);
      else if (next.on === 'command') model.command(next.command);
      return next.on === 'tick' ? next.tick : next.on === 'command' ? next.command : next.query;
    });
    shard.run(batch);
  }
  // No order and no cancel is under way any more.
  const nowMs = shard.state.nowMs + 10_000;
  shard.run([{ kind: 'switches', atMs: nowMs, venueData: true, selfReset: false }]);
  return { shard, accounts: input.accounts, nowMs };
}

function pageOf(log: AccountLog, account: Uuid, bounds: PageBounds) {
  const events = new AccountEvents(log);
  const { taken, last } = log.page(account, bounds, (fact) => events.eventOf(fact));
  return { events: taken, last };
}

function eventsOf(log: AccountLog, account: Uuid, bounds = ALL): AccountEvent[] {
  return pageOf(log, account, bounds).events;
}

/**
 * Labels of instruments that the newest catalog has dropped are not known to every reader. A mark of
 * a trade that is over is in no event.
 */
function withoutLabel({ instrumentLabel: _, parlayId: __, ...shown }: Json): Json {
  return shown;
}

for (const fillModel of FILL_MODELS) {
  test(`J22, J23, J24: ${fillModel}: the last event of an order or trade is what it came to, and from any event on the rest are the same`, async (t) => {
    const kinds = new Set<string>();
    for (const seed of variantsOfRun(SEEDS[fillModel], ENOUGH[fillModel])) {
      const dataDir = tempDir(t);
      const { shard, accounts, nowMs } = await traded(dataDir, seed, fillModel);
      t.teardown(() => shard.abandon());
      const log = new AccountLog({ dataDir, shard: 0 });
      t.teardown(() => log.close());
      const ask = (query: Json): Json => {
        const [reply] = shard.run([{ atMs: nowMs, organizationSlug: null, ...query }]);
        return JSON.parse((reply as Json).body);
      };
      for (const account of accounts) {
        const all = eventsOf(log, account);
        checkLater(t, log, account, all);
        const events = all.map(({ on }) => JSON.parse(on));
        for (const { type } of events) kinds.add(type);
        const page = { account, before: null, limit: 100_000, status: null };
        const orders: Json[] = ask({ kind: 'orders', ...page }).orders;
        const trades: Json[] = ask({ kind: 'trades', ...page }).trades;
        checkOrders(t, events, orders);
        checkTrades(t, events, trades);
        const orderIds = new Set(orders.map(({ orderId }) => orderId));
        const tradeIds = new Set(trades.map(({ tradeId }) => tradeId));
        const others = events.filter(({ order, trade, run, tradeId }) => {
          return (
            run === undefined &&
            !orderIds.has(order?.orderId) &&
            !tradeIds.has(trade?.tradeId ?? tradeId)
          );
        });
        t.deepEqual(others, [], 'no event is of anything else');
      }
    }
    t.deepEqual([...kinds].sort(), [...EVENT_TYPES].sort());
  });
}

/** In one page or in many. */
function checkLater(
  t: ExecutionContext,
  log: AccountLog,
  account: Uuid,
  all: readonly AccountEvent[],
): void {
  for (const [at, { number: after }] of all.entries()) {
    t.true(at === 0 || after > all[at - 1]!.number);
    if (at % EVENTS_APART > 0) continue;
    t.deepEqual(eventsOf(log, account, { ...ALL, after }), all.slice(at + 1));
  }
  t.deepEqual(inPages(log, account), all);
}

function checkOrders(t: ExecutionContext, events: Json[], orders: Json[]): void {
  for (const order of orders) {
    const own = events.filter((event) => event.order?.orderId === order.orderId);
    t.is(own[0].type, 'order_placed');
    t.deepEqual(withoutLabel(own.at(-1).order), withoutLabel(order));
    const ends = own.filter((event) => event.order.status !== 'resting');
    t.is(ends.length, order.status === 'resting' ? 0 : 1);
  }
}

function checkTrades(t: ExecutionContext, events: Json[], trades: Json[]): void {
  const runs = events.some(({ run }) => run !== undefined);
  for (const trade of trades) {
    const own = events.filter((event) => event.trade?.tradeId === trade.tradeId);
    t.is(own[0].type, 'trade_opened');
    t.is(own.length, trade.status === 'open' ? 1 : 2);
    if (own.length < 2) continue;
    // A correction has no trade, but says what has changed of it (J44).
    const corrected = events.filter(({ tradeId }) => tradeId === trade.tradeId);
    const { status, closeReason, resolvedOutcome, pnlDollars, exitCents, ...same } = trade;
    const settled = own[1].trade;
    if (corrected.length === 0) {
      t.deepEqual(withoutLabel(settled), withoutLabel(trade));
      continue;
    }
    t.like(withoutLabel(settled), withoutLabel(same));
    t.is(own[1].type, 'trade_settled');
    const { to } = corrected.at(-1);
    t.is(to === 'yes' || to === 'no' ? to : null, resolvedOutcome);
    t.is(to === 'void' ? 'void voided' : 'settled settled', `${status} ${closeReason}`);
    const moved = corrected.reduce(
      (sum, { cashDollars }) => sum + Math.round(100 * cashDollars),
      0,
    );
    const changed = Math.round(100 * (pnlDollars - settled.pnlDollars));
    t.true(moved === changed || moved === 0 || runs, 'its cash, except for runs that are over');
  }
}

/** Few events a page, and few bytes of the log. */
function inPages(log: AccountLog, account: Uuid): AccountEvent[] {
  const paged: AccountEvent[] = [];
  for (let after = 0; ; ) {
    const { events, last } = pageOf(log, account, { ...ALL, after, limit: 3, bytesMax: 2000 });
    if (last === after) return paged;
    paged.push(...events);
    after = last;
  }
}

test('A241: an order under latency that rests has an event when it has met the book', async (t) => {
  const dataDir = tempDir(t);
  const core = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' } as const;
  const at = { ...core, path: path.join(dataDir, 'shard-0'), shard: 0 };
  const shard = await Shard.open({ ...at, durability: 'commit', checkpointEveryFacts: 200 });
  t.teardown(() => shard.abandon());
  const later = (ms: number) => quoteTick({ atMs: NOON_MS + ms, yesAskContracts: 3 });
  shard.run([
    { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG },
    { kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false },
    later(0),
  ]);
  const realism = { ...PRESETS.simple, latencyMs: { min: 500, max: 500 } };
  const [bid, crossing, once] = [
    { limitPriceCents: 40 },
    { limitPriceCents: 43, contracts: 5 },
    { limitPriceCents: 40, timeInForce: 'ioc' as const },
  ].map((fields, nth) =>
    placeOrder({ account: uuidOf(nth + 1), orderId: uuidOf(nth + 1, NOON_MS), realism, ...fields }),
  );
  shard.run([bid!, crossing!, once!]);
  // The cancel of the first meets the book at 0.9 s, and the order at 0.5 s.
  const { account, orderId } = bid!;
  shard.run([{ kind: 'cancel', atMs: NOON_MS + 400, account, orderId, counting: null }]);
  shard.run([later(1000)]);
  const log = new AccountLog({ dataDir, shard: 0 });
  t.teardown(() => log.close());
  const isoAfter = (ms: number) => new Date(NOON_MS + ms).toISOString();
  const told = (order: typeof bid, after = 0) => {
    const events = eventsOf(log, order!.account, { ...ALL, after });
    return events.map(({ on }) => JSON.parse(on)).filter((event) => event.order !== undefined);
  };
  const seen = (order: typeof bid) =>
    told(order).map(({ type, at: when, order: { pendingUntil, filledContracts } }) => {
      return [type, when, pendingUntil, filledContracts];
    });
  t.deepEqual(seen(bid), [
    ['order_placed', isoAfter(0), isoAfter(500), 0],
    ['order_arrived', isoAfter(500), isoAfter(900), 0],
    ['order_canceled', isoAfter(900), null, 0],
  ]);
  t.deepEqual(seen(crossing), [
    ['order_placed', isoAfter(0), isoAfter(500), 0],
    ['order_arrived', isoAfter(500), null, 0],
    ['order_part_filled', isoAfter(500), null, 3],
  ]);
  t.deepEqual(seen(once), [
    ['order_placed', isoAfter(0), isoAfter(500), 0],
    ['order_canceled', isoAfter(500), null, 0],
  ]);
  // A reader that begins later says the same.
  for (const order of [bid, crossing]) {
    const all = told(order);
    for (const [nth, { eventId }] of all.entries()) {
      t.deepEqual(told(order, numberOfEvent(eventId)!), all.slice(nth + 1));
    }
  }
});

test('J23: ids of events are in their order as text, and no other text is one', (t) => {
  t.true(eventIdOf(9) < eventIdOf(10));
  t.is(numberOfEvent(eventIdOf(417)), 417);
  for (const id of ['', '417', '-000000000000417', '99999999999999999', '9999999999999999']) {
    t.is(numberOfEvent(id), null, id);
  }
});

test('T121: events before a restart keep the labels of what a later catalog drops', async (t) => {
  const dataDir = tempDir(t);
  const core = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
  const at = { ...core, path: path.join(dataDir, 'shard-0'), shard: 0 };
  const shard = await Shard.open({ ...at, durability: 'commit', checkpointEveryFacts: 200 });
  const order = placeOrder();
  const times = { atMs: NOON_MS };
  shard.run([
    { kind: 'catalog', ...times, catalog: CATALOG },
    { kind: 'switches', ...times, venueData: true, selfReset: false },
    quoteTick(),
    order,
  ]);
  const catalog = { ...CATALOG, games: [], instruments: [] };
  shard.run([{ kind: 'catalog', ...times, catalog }]);
  const label = CATALOG.instruments.find(({ id }) => id === order.instrumentId)!.label;
  const log = new AccountLog({ dataDir, shard: 0 });
  t.teardown(() => log.close());
  const { events } = pageOf(log, order.account, ALL);
  t.deepEqual(
    events.map(({ on }) => JSON.parse(on).trade?.instrumentLabel),
    [label],
  );
  await shard.close();
});
