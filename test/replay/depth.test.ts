/** `PAPERBOOK_FILL_MODEL=book_depth` in replays. */
import path from 'node:path';
import test from 'ava';
import { createRandomSource, type RandomSource } from '../model/random-source.ts';
import { seedsOfRun, variantsOfRun } from '../model/seeds.ts';
import { files } from './files.ts';
import { commandWith, feedLine, figures, HEADER, run, storedOrders, tradeRows } from './harness.ts';
import { at, buy, sell } from './scenario.ts';

const ACCOUNTS = ['ann', 'bob', 'cat', 'dan', 'eve'];
const SECONDS = 120;
const SHARDS = variantsOfRun([1, 3, 2], 2);

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
    const stored = await storedOrders(path.join(work, 'shards-3'), 3, ACCOUNTS);
    const inPart = [...stored.values()].filter((o) => o.filledContracts && o.remainingContracts);
    t.true(inPart.length >= 5, `seed ${seed}: ${inPart.length} orders filled in part`);
    for (const other of summaries) t.deepEqual(other, summaries[0], `seed ${seed}`);
    const top = figures(await run({ ...input, fillModel: 'top_of_book' }));
    t.not(top.stateHash, summaries[0]!.stateHash);
  }
});

test('R15: PAPERBOOK_FILL_MODEL chooses the fill model of a replay', async (t) => {
  const yesAsks = [
    [43, 100],
    [45, 50],
  ];
  const snapshot = { type: 'snapshot', market: 'A', status: 'open', yesBids: [[40, 5]], yesAsks };
  const { work, feed, catalog, orders } = files(t, {
    feed: [HEADER, feedLine(at(0), snapshot)],
    orders: [
      { at: at(1), account: 'ann', order: { idempotencyKey: 'k', ...buy('A', 'yes', 120) } },
      { at: at(2), account: 'ann', order: { idempotencyKey: 'l', ...buy('A', 'yes', 120) } },
    ],
  });
  const trades = path.join(work, 'trades.csv');
  const args = [feed, '--catalog', catalog, '--orders', orders, '--trades', trades, '--json'];
  const entries = async (env: Record<string, string>) => {
    const exit = await commandWith(env, ...args);
    t.is(exit.code, 0, exit.stderr);
    const { refused } = JSON.parse(exit.stdout).orders;
    return [refused, ...tradeRows(trades).map((trade) => trade.entryCents)];
  };
  t.deepEqual(await entries({}), [{}, '43', '43']);
  // 100 at 43 and 20 at 45: 43.33. Of the 30 that are left a second order for 120 gets none.
  const depth = await entries({ PAPERBOOK_FILL_MODEL: 'book_depth' });
  t.deepEqual(depth, [{ no_liquidity: 1 }, '44']);
  const wrong = await commandWith({ PAPERBOOK_FILL_MODEL: 'deep' }, ...args);
  t.is(wrong.code, 2);
  t.regex(wrong.stderr, /PAPERBOOK_FILL_MODEL must be one of top_of_book, book_depth/);
});

test('R15, W74: PAPERBOOK_SETTLE_ON chooses the word that pays in a replay', async (t) => {
  const place = { adapter: 'kalshi' };
  const said = (ms: number, type: string, msg: object) =>
    feedLine(at(ms), { type, sid: 1, msg: { market_ticker: 'A', ...msg } }, place);
  const sides = { yes_dollars_fp: [['0.4000', '9.00']], no_dollars_fp: [['0.5700', '9.00']] };
  const { work, feed, catalog, orders } = files(t, {
    feed: [
      HEADER,
      said(0, 'orderbook_snapshot', sides),
      said(10, 'market_lifecycle_v2', { event_type: 'determined', result: 'yes' }),
      said(20, 'market_lifecycle_v2', { event_type: 'amended', result: 'no' }),
      said(30, 'market_lifecycle_v2', { event_type: 'settled' }),
    ],
    orders: [{ at: at(1), account: 'ann', order: { idempotencyKey: 'k', ...buy('A', 'yes', 5) } }],
  });
  const trades = path.join(work, 'trades.csv');
  const args = [feed, '--catalog', catalog, '--orders', orders, '--trades', trades, '--json'];
  const paid = async (env: Record<string, string>) => {
    const exit = await commandWith(env, ...args);
    t.is(exit.code, 0, exit.stderr);
    const [trade] = tradeRows(trades);
    return [trade!.pnlDollars, trade!.closedAt];
  };
  t.deepEqual(await paid({}), ['2.85', at(10)]);
  t.deepEqual(await paid({ PAPERBOOK_SETTLE_ON: 'settled' }), ['-2.15', at(30)]);
});
