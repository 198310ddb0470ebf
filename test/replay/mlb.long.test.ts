import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { accountIdOf, orderIdOf } from '../../api/cli/replay-ids.ts';
import type { ReplaySummary } from '../../api/cli/summary.ts';
import { type Day, readDay, until } from './day.ts';
import { handOrders } from './hand-orders.ts';
import { command, figures, run, storedOrders, tempDir, tradeRows, writeLines } from './harness.ts';
import { calculate, pnlCents } from './oracle.ts';
import { shownTermsOf } from './order-body.ts';
import { manyOrders, randomOrders } from './orders.ts';
import type { LineResult, Order, OrderLine, Trade } from './outcome.ts';

const dir = new URL('../../../shared/data/mlb-2026-07-12/', import.meta.url);
const present = existsSync(dir);
if (!present) process.stderr.write('skipped: shared/data/mlb-2026-07-12 is not beside the repo\n');
const sharedTest = present ? test.serial : test.skip;

const FEED = fileURLToPath(new URL('feed.jsonl.gz', dir));
const CATALOG = fileURLToPath(new URL('catalog.json', dir));
const SEED_HERE = 20260712;
const SEED = Number(process.env.SEED ?? SEED_HERE);
const day: Day = present ? readDay(dir) : { quotes: [], settlements: [], instruments: [] };

/** Random and hand-placed lines of one day, as an orders file has them. */
function ordersOf(seed: number, count: number): OrderLine[] {
  const hand = handOrders(day).map(({ line }) => line);
  return byTime([...randomOrders(day, seed, count), ...hand]);
}

function byTime(lines: OrderLine[]): OrderLine[] {
  return lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** The feed's lines of a stretch of time, as a feed file of their own. */
function shortened(into: string, from: string, to: string): string {
  const [header, ...lines] = gunzipSync(readFileSync(FEED)).toString().trimEnd().split('\n');
  const at = (line: string) => Date.parse(JSON.parse(line).at);
  const kept = lines.filter((line) => at(line) >= Date.parse(from) && at(line) <= Date.parse(to));
  return writeLines(into, 'short.jsonl', [header, ...kept]);
}

sharedTest('7,560 frames, 15 markets settled as labelled', async (t) => {
  const work = tempDir(t);
  const first = day.quotes[0]!.atMs;
  const lines = day.settlements.map(({ market }) => ({
    at: new Date(first).toISOString(),
    account: 'believer',
    order: {
      action: 'buy',
      type: 'limit',
      idempotencyKey: market,
      ticker: market,
      side: 'yes',
      count: 1,
      limitPriceCents: 99,
    },
  }));
  const trades = path.join(work, 'trades.csv');
  const orders = writeLines(work, 'orders.jsonl', lines);
  const summary = await run({ feed: FEED, catalog: CATALOG, orders, trades });
  t.like(summary, { frames: 7560, ticks: 7560, skipped: 0, trades: 15 });
  const rows = tradeRows(trades).map((row) => [
    row.marketTicker,
    row.resolvedOutcome,
    row.status,
    row.closedAt,
  ]);
  const labels = day.settlements.map(({ market, winner, atMs }) => {
    return [market, winner, 'settled', new Date(atMs).toISOString()];
  });
  t.is(labels.length, 15);
  t.deepEqual(rows.sort(), labels.sort());
});

sharedTest('R14: trades, refusals, orders, money as calculated', async (t) => {
  t.log(`SEED=${SEED}`);
  const lines = byTime([...ordersOf(SEED, 1100), ...manyOrders(day, 205)]);
  const { expected } = await compare(t, { feed: FEED, day, lines, shards: 2 });
  if (SEED === SEED_HERE) expectBreadth(t, expected);
});

sharedTest('T30 to T57: what was placed by hand ends as written beside it', async (t) => {
  const placed = handOrders(day);
  const lines = placed.map(({ line }) => line);
  const { expected } = await compare(t, { feed: FEED, day, lines, shards: 1 });
  for (const [index, { line, expected: outcome, why }] of placed.entries()) {
    t.is(outcomeOf(expected.results[index]!), outcome, `${JSON.stringify(line)}: ${why}`);
  }
});

// Mid-day the books are full: resting orders, open positions, prices to mark them at.
for (const [cut, lastOrder, marks] of [
  ['2026-07-12T16:43:00Z', '2026-07-12T16:43:00Z', 'at live bids'],
  ['2026-07-12T20:15:31Z', '2026-07-12T20:15:45Z', 'at live bids, some one-sided'],
  ['2026-07-12T20:28:00Z', '2026-07-12T20:28:00Z', 'at cost, a native frame came last'],
  ['2026-07-12T19:30:33Z', '2026-07-12T19:31:33Z', 'at cost, an order came last'],
] as const) {
  sharedTest(`M21: at ${cut} positions are marked ${marks}`, async (t) => {
    const cutDay = until(day, Date.parse(cut));
    const feed = shortened(tempDir(t), '2026-07-12T00:00:00Z', cut);
    const kept = ordersOf(SEED + 1, 700).filter(({ at }) => Date.parse(at) < Date.parse(lastOrder));
    const last = { at: lastOrder, account: 'alice', cancel: 'the-last-line' };
    const { expected } = await compare(t, {
      feed,
      day: cutDay,
      lines: [...kept, last],
      shards: 2,
    });
    t.true(expected.resting > 3);
    t.true(expected.accounts.some(({ openPositions }) => openPositions > 3));
  });
}

sharedTest('R9: equal input, equal stateHash and figures', async (t) => {
  const work = tempDir(t);
  const orders = writeLines(work, 'orders.jsonl', ordersOf(SEED + 2, 500));
  const options = { feed: FEED, catalog: CATALOG, orders };
  const one = figures(await run(options));
  t.regex(one.stateHash, /^[0-9a-f]{64}$/);
  t.deepEqual(figures(await run(options)), one);
  for (const shards of [2, 4]) t.deepEqual(figures(await run({ ...options, shards })), one);
  const other = writeLines(work, 'other.jsonl', ordersOf(SEED + 3, 500));
  t.not((await run({ ...options, orders: other })).stateHash, one.stateHash);
  const none = figures(await run({ feed: FEED, catalog: CATALOG }));
  t.deepEqual(figures(await run({ feed: FEED, catalog: CATALOG, shards: 4 })), none);
  t.not(none.stateHash, one.stateHash);
});

sharedTest('R9, R13: the speed changes nothing but the time', async (t) => {
  const work = tempDir(t);
  const [from, to] = ['2026-07-12T19:15:00Z', '2026-07-12T19:35:00Z'];
  const feed = shortened(work, from, to);
  const within = (atMs: number) => atMs >= Date.parse(from) && atMs <= Date.parse(to);
  const quotes = day.quotes.filter(({ atMs }) => within(atMs));
  const lines = randomOrders({ ...day, quotes }, SEED, 150).filter(({ at }) =>
    within(Date.parse(at)),
  );
  t.true(lines.length > 100);
  const orders = writeLines(work, 'orders.jsonl', lines);
  const options = { feed, catalog: CATALOG, orders, shards: 2 };
  const fast = await run(options);
  const paced = await run({ ...options, speed: 2000 });
  t.deepEqual(figures(paced), figures(fast));
  const spanMs = quotes.at(-1)!.atMs - quotes[0]!.atMs;
  t.true(spanMs > 1_000_000);
  t.true(paced.elapsedMs >= spanMs / 2000 - 2, `${paced.elapsedMs} ms for ${spanMs} ms of feed`);
});

sharedTest('R1, R10: the command prints what the function says', async (t) => {
  const work = tempDir(t);
  const orders = writeLines(work, 'orders.jsonl', ordersOf(SEED + 4, 500));
  const trades = path.join(work, 'trades.csv');
  const expectedTrades = path.join(work, 'expected.csv');
  const args = [FEED, '--catalog', CATALOG, '--orders', orders, '--trades', trades];
  const exit = await command(...args, '--shards', '4', '--speed', 'max', '--json');
  t.deepEqual([exit.code, exit.stderr], [0, '']);
  const printed: ReplaySummary = JSON.parse(exit.stdout);
  const options = { feed: FEED, catalog: CATALOG, orders, trades: expectedTrades };
  t.deepEqual(figures(printed), figures(await run(options)));
  t.is(readFileSync(trades, 'utf8'), readFileSync(expectedTrades, 'utf8'));
  t.true(Number.isInteger(printed.elapsedMs) && Number.isInteger(printed.ticksPerSecond));
});

type Case = { feed: string; day: Day; lines: readonly OrderLine[]; shards: number };
type Expected = ReturnType<typeof calculate>;

/** Replays the lines and calculates them, and holds everything that is said against each other. */
async function compare(t: ExecutionContext, { feed, day: oneDay, lines, shards }: Case) {
  const work = tempDir(t);
  const orders = writeLines(work, 'orders.jsonl', lines);
  const trades = path.join(work, 'trades.csv');
  const dataDir = path.join(work, 'data');
  const summary = await run({ feed, catalog: CATALOG, orders, shards, dataDir, trades });
  const expected = calculate(oneDay, lines);

  const { executed, resting, canceled, expired, refused, accounts } = expected;
  t.deepEqual(summary.orders, { executed, resting, canceled, expired, refused });
  t.deepEqual(summary.accounts, accounts.map(inDollars));
  t.is(summary.trades, expected.trades.length);

  const rows = tradeRows(trades);
  const withoutId = rows.map(({ tradeId: _, ...row }) => row);
  t.deepEqual(sorted(withoutId), sorted(expected.trades.map(tradeRow)));

  const names = accounts.map(({ account }) => account);
  const stored = await storedOrders(dataDir, shards, names);
  const limitOrders = expected.orders.filter(({ limitCents }) => limitCents !== null);
  t.is(stored.size, limitOrders.length);
  const tradesById = new Map(rows.map(({ tradeId, ...row }) => [tradeId, row]));
  for (const order of limitOrders) {
    const found = stored.get(orderIdOf(accountIdOf(order.account), order.key, order.placedAtMs));
    t.like(found, orderFields(order), `${order.account} ${order.key}`);
    const trade = order.trade === null ? undefined : tradeRow(order.trade);
    t.deepEqual(tradesById.get(found!.tradeId as string), trade);
  }
  return { summary, expected };
}

function inDollars({ account, openPositions, restingOrders, ...c }: Expected['accounts'][number]) {
  return {
    account,
    balanceDollars: c.balanceCents / 100,
    heldDollars: c.heldCents / 100,
    openStakeDollars: c.openStakeCents / 100,
    netWorthDollars: c.netWorthCents / 100,
    realizedPnlDollars: c.realizedPnlCents / 100,
    openPositions,
    restingOrders,
  };
}

/** A trade as the CSV has it, without its id. */
function tradeRow(trade: Trade): Record<string, string> {
  const pnl = pnlCents(trade);
  return {
    account: trade.account,
    instrumentId: trade.instrumentId,
    marketTicker: trade.market,
    instrumentSide: trade.instrumentSide,
    boughtSide: trade.boughtSide,
    contracts: String(trade.contracts),
    entryCents: String(trade.entryCents),
    costDollars: String((trade.entryCents * trade.contracts) / 100),
    fillVenue: 'venue_a',
    openedAt: isoOf(trade.openedAtMs)!,
    status: trade.status,
    closedAt: isoOf(trade.closedAtMs) ?? '',
    closeReason: { open: '', closed: 'sold', settled: 'settled' }[trade.status],
    pnlDollars: pnl === null ? '' : String(pnl / 100),
    resolvedOutcome: trade.resolvedOutcome ?? '',
  };
}

/** A limit order as an answer shows it. */
function orderFields(order: Order) {
  const { body, contracts, status } = order;
  const filledContracts = status === 'executed' ? contracts : 0;
  const holds = status === 'resting' && body.action === 'buy';
  return {
    action: body.action,
    type: 'limit',
    instrumentId: order.instrumentId,
    marketTicker: order.market,
    instrumentSide: order.instrumentSide,
    orderSide: order.side,
    contracts,
    filledContracts,
    remainingContracts: contracts - filledContracts,
    limitCents: order.limitCents,
    holdDollars: holds ? (order.limitCents! * contracts) / 100 : 0,
    timeInForce: order.timeInForce,
    expiresAt: isoOf(order.expiresAtMs),
    createdAt: isoOf(order.placedAtMs),
    ...shownTermsOf(body),
    status,
    cancelReason: order.cancelReason,
    fillPriceCents: order.fillCents,
  };
}

/** A result in the words of hand-orders.ts. */
function outcomeOf(result: LineResult): string {
  if (result.kind === 'refused') return result.code;
  if (result.kind === 'cancel') return 'done';
  if (result.kind === 'replayed') return result.kind;
  const { status, cancelReason, fillCents } = result.order;
  if (status === 'executed') return `executed ${fillCents}`;
  return status === 'canceled' ? `canceled ${cancelReason}` : status;
}

/** The random lines would prove little if they no longer met every rule. */
function expectBreadth(t: ExecutionContext, { refused, orders, results }: Expected): void {
  t.true(results.filter(({ kind }) => kind === 'replayed').length > 5);
  t.deepEqual(Object.keys(refused).sort(), [
    'already_closed',
    'idempotency_key_reused',
    'instrument_not_found',
    'insufficient_balance',
    'invalid_request',
    'market_resolved',
    'no_liquidity',
    'no_tradable_listing',
    'order_not_found',
    'price_moved',
    'trade_not_found',
  ]);
  const seen = new Set(
    orders.map(({ body, timeInForce, status, cancelReason }) => {
      return [body.action, timeInForce ?? 'market', cancelReason ?? status].join(' ');
    }),
  );
  for (const action of ['buy', 'sell']) {
    for (const end of ['market executed', 'gtc executed', 'ioc executed', 'fok executed']) {
      t.true(seen.has(`${action} ${end}`), `${action} ${end}`);
    }
    for (const end of ['ioc ioc_not_filled', 'fok fok_not_filled', 'gtc expired']) {
      t.true(seen.has(`${action} ${end}`), `${action} ${end}`);
    }
    t.true(seen.has(`${action} gtc market_resolved`), `${action} gtc market_resolved`);
    t.true(seen.has(`${action} gtc canceled_by_owner`), `${action} gtc canceled_by_owner`);
  }
  t.true(seen.has('sell gtc position_closed'));
}

function sorted(rows: Record<string, string>[]): Record<string, string>[] {
  const text = (row: Record<string, string>) => Object.values(row).join(',');
  return rows.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function isoOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
