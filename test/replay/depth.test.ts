/** `PAPERBOOK_FILL_MODEL=book_depth` in replays. */
import path from 'node:path';
import test from 'ava';
import { longTest } from '../long-test.ts';
import { createRandomSource, type RandomSource } from '../model/random-source.ts';
import { seedsOfRun, variantsOfRun } from '../model/seeds.ts';
import { runHere } from '../process/run-here.ts';
import type { Env } from '../process/server.ts';
import { files } from './files.ts';
import { feedLine, figures, HEADER, run, storedOrders, tradeRows } from './harness.ts';
import { at, buy, sell } from './scenario.ts';

const ACCOUNTS = ['ann', 'bob', 'cat', 'dan', 'eve'];
const SECONDS = 120;
const SHARDS = variantsOfRun([1, 2, 3], 2);

const replayHere = (env: Env, args: string[]) => runHere(['feed', 'replay', ...args], { env });

/** Levels that move a little, and often stay as they were. */
function feedOf(random: RandomSource): unknown[] {
  const lines: unknown[] = [HEADER];
  const sizes = [20, 60, 200];
  for (let second = 0; second < SECONDS; second++) {
    for (const [venue, market] of [
      ['venue_a', 'A'],
      ['venue_a', 'B'],
      ['venue_b', 'A-HOME'],
    ] as const) {
      if (random.oneIn(3)) continue;
      const bidCents = random.int(44, 49);
      const askCents = bidCents + random.int(1, 3);
      const yesBids = [0, 1, 3].map((behind) => [bidCents - behind, random.pick(sizes)]);
      const yesAsks = [0, 1, 3].map((behind) => [askCents + behind, random.pick(sizes)]);
      const frame = { type: 'snapshot', market, status: 'open', yesBids, yesAsks };
      lines.push(feedLine(at(second), frame, { venue }));
    }
  }
  const result = { type: 'status', market: 'B', status: 'resolved', result: 'yes' };
  lines.push(feedLine(at(SECONDS), result));
  return lines;
}

/** Orders larger than a level, in markets and at venues that share sizes; sells of some of them. */
function ordersOf(random: RandomSource): unknown[] {
  const lines: unknown[] = [];
  for (let second = 1; second < SECONDS; second++) {
    const account = random.pick(ACCOUNTS);
    const key = `k${second}`;
    const limitPriceCents = random.int(44, 53);
    const timeInForce = random.pick(['gtc', 'gtc', 'ioc', 'fok']);
    const routing = random.pick(['best', 'venue_a']);
    const limit = { limitPriceCents, timeInForce, routing };
    const fields = random.oneIn(4) ? { routing } : limit;
    const order = random.oneIn(3)
      ? sell(`k${random.int(1, second)}`, fields)
      : buy(random.pick(['A', 'B']), random.pick(['yes', 'no']), random.int(1, 4000), fields);
    lines.push({ at: at(second), account, order: { idempotencyKey: key, ...order } });
  }
  return lines;
}

test('R9: book_depth gives an equal stateHash on 1, 2 and 3 shards', async (t) => {
  for (const seed of seedsOfRun(3)) {
    const random = createRandomSource(seed);
    const { work, ...input } = files(t, { feed: feedOf(random), orders: ordersOf(random) });
    const summaries = [];
    for (const shards of SHARDS) {
      const dataDir = path.join(work, `shards-${shards}`);
      const options = { ...input, fillModel: 'book_depth', shards, dataDir } as const;
      summaries.push(figures(await run(options)));
    }
    // Equal hashes say that the orders of the others are the same.
    const stored = await storedOrders(path.join(work, 'shards-2'), 2, ACCOUNTS);
    const inPart = [...stored.values()].filter((o) => o.filledContracts && o.remainingContracts);
    t.true(inPart.length >= 5, `seed ${seed}: ${inPart.length} orders filled in part`);
    for (const other of summaries) t.deepEqual(other, summaries[0], `seed ${seed}`);
  }
});

test.serial(
  'R15, W74: PAPERBOOK_FILL_MODEL chooses the fill model of a replay, and --fill-model before it; PAPERBOOK_SETTLE_ON chooses the word that pays',
  async (t) => {
    const yesAsks = [
      [43, 100],
      [45, 50],
    ];
    const snapshot = { type: 'snapshot', market: 'A', status: 'open', yesBids: [[40, 5]], yesAsks };
    const said = (second: number, type: string, msg: object) => {
      const frame = { type, sid: 1, msg: { market_ticker: 'B', ...msg } };
      return feedLine(at(second), frame, { adapter: 'kalshi' });
    };
    const sides = { yes_dollars_fp: [['0.4000', '9.00']], no_dollars_fp: [['0.5700', '9.00']] };
    const placed = (second: number, account: string, idempotencyKey: string, order: object) => {
      return { at: at(second), account, order: { idempotencyKey, ...order } };
    };
    const { work, feed, catalog, orders } = files(t, {
      feed: [
        HEADER,
        feedLine(at(0), snapshot),
        said(0, 'orderbook_snapshot', sides),
        said(10, 'market_lifecycle_v2', { event_type: 'determined', result: 'yes' }),
        said(20, 'market_lifecycle_v2', { event_type: 'amended', result: 'no' }),
        said(30, 'market_lifecycle_v2', { event_type: 'settled' }),
      ],
      orders: [
        placed(1, 'ann', 'k', buy('A', 'yes', 120)),
        placed(1, 'bob', 'k', buy('B', 'yes', 5)),
        placed(2, 'ann', 'l', buy('A', 'yes', 120)),
      ],
    });
    const trades = path.join(work, 'trades.csv');
    const args = [feed, '--catalog', catalog, '--orders', orders, '--trades', trades, '--json'];
    const played = async (env: Env, ...more: string[]) => {
      const exit = await replayHere(env, [...args, ...more]);
      t.is(exit.code, 0, exit.stderr);
      const rows = tradeRows(trades);
      const paid = rows.find(({ account }) => account === 'bob')!;
      const entries = rows.filter(({ account }) => account === 'ann').map((row) => row.entryCents);
      const { refused } = JSON.parse(exit.stdout).orders;
      return { refused, entries, paid: [paid.pnlDollars, paid.closedAt] };
    };
    const depth = { PAPERBOOK_FILL_MODEL: 'book_depth' };
    // 100 at 43 and 20 at 45: 43.33. Of the 30 that are left a second order for 120 gets none.
    t.deepEqual(await played({ ...depth, PAPERBOOK_SETTLE_ON: 'settled' }), {
      ...{ refused: { no_liquidity: 1 }, entries: ['44'] },
      paid: ['-2.15', at(30)],
    });
    t.deepEqual(await played(depth, '--fill-model', 'top_of_book'), {
      ...{ refused: {}, entries: ['43', '43'] },
      paid: ['2.85', at(10)],
    });
    const wrong = await replayHere({ PAPERBOOK_FILL_MODEL: 'deep' }, args);
    t.is(wrong.code, 2);
    t.regex(wrong.stderr, /PAPERBOOK_FILL_MODEL must be one of top_of_book, book_depth/);
  },
);

/** Kalshi's frames of the market A: trades, cancels and additions at the best three prices. */
function levelFramesOf(random: RandomSource): unknown[] {
  const kalshi = { venue: 'venue_a', adapter: 'kalshi' };
  const dollars = (cents: number) => (cents / 100).toFixed(4);
  const sizes = new Map([45, 44, 43].map((cents) => [cents, 3000]));
  const levels = (cents: number[]) => cents.map((one) => [dollars(one), '30.00']);
  const book = { yes_dollars_fp: levels([45, 44, 43]), no_dollars_fp: levels([53, 52]) };
  const lines: unknown[] = [HEADER];
  const add = (second: number, type: string, msg: object) =>
    lines.push(feedLine(at(second), { type, sid: 1, msg: { market_ticker: 'A', ...msg } }, kalshi));
  add(0, 'orderbook_snapshot', book);
  for (let tenth = 1; tenth < SECONDS * 10; tenth++) {
    const second = tenth / 10;
    const cents = random.pick([45, 45, 44, 43]);
    const before = sizes.get(cents)!;
    const isAdd = before < 1000 || random.oneIn(3);
    const change = isAdd ? random.int(1, 1500) : -random.int(1, before);
    sizes.set(cents, before + change);
    const fp = (Math.abs(change) / 100).toFixed(2);
    const of = { price_dollars: dollars(cents), side: 'yes', ts_ms: tenth };
    const delta = { ...of, delta_fp: `${isAdd ? '' : '-'}${fp}` };
    const trade = { yes_price_dollars: dollars(cents), count_fp: fp, taker_side: 'no' };
    const isTrade = !isAdd && random.oneIn(2);
    const isPrintFirst = random.oneIn(10);
    if (isTrade && isPrintFirst) add(second, 'trade', { ...trade, ts_ms: tenth });
    add(second, 'orderbook_delta', delta);
    if (isTrade && !isPrintFirst) add(second, 'trade', { ...trade, ts_ms: tenth });
  }
  return lines;
}

longTest('R9, T154, T157: queue gives an equal stateHash on 1, 2 and 3 shards', async (t) => {
  const random = createRandomSource(5);
  const bids = Array.from({ length: 60 }, (_, nth) => {
    const limitPriceCents = random.pick([45, 44, 43]);
    const order = buy('A', 'yes', random.int(1, 90), { limitPriceCents });
    const account = random.pick(ACCOUNTS);
    return { at: at(nth * 2), account, order: { idempotencyKey: `k${nth}`, ...order } };
  });
  const { work, ...input } = files(t, { feed: levelFramesOf(random), orders: bids });
  const summaries = [];
  for (const shards of SHARDS) {
    const dataDir = path.join(work, `shards-${shards}`);
    summaries.push(figures(await run({ ...input, fillModel: 'queue', shards, dataDir })));
  }
  for (const other of summaries) t.deepEqual(other, summaries[0]);
  const stored = [...(await storedOrders(path.join(work, 'shards-2'), 2, ACCOUNTS)).values()];
  t.true(stored.every(({ fillModel }) => fillModel === 'queue'));
  t.true(stored.filter(({ filledContracts }) => filledContracts).length > 20);
  const { orders } = summaries[0]!;
  t.true(orders.resting > 0 && orders.executed > 20, JSON.stringify(orders));
});
