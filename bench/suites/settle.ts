/**
 * A result of one market with very many open trades: how long it takes until all are settled, and
 * the effect on other accounts' orders in the same shard. Rule S15 (engine/RULES.md).
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MarketNumber } from '../../engine/base/units.ts';
import { BLANK_ORDER } from '../../engine/rules/messages.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { benchShards, flowClock } from '../lib/bench-shard.ts';
import { catalogOf, instrumentIdOf, quoteOf } from '../lib/catalog.ts';
import { OrderFlow } from '../lib/order-flow.ts';
import { seededRandom } from '../lib/random.ts';
import { count, mib, ms, type Report, type Suite } from '../lib/report.ts';
import { Latencies, type LatencySummary } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { seededUuid } from '../lib/uuid.ts';

export type SettleSizes = { trades: number; orders: number };

const MARKETS = 100;
/** The market that gets its result; the flow does not trade it. */
const SETTLED = MARKETS as MarketNumber;
const TRADES_AN_ACCOUNT = 500;
const TOGETHER = 1000;
/** Orders are sent at this pace, whatever happens to earlier ones. */
const ORDER_EVERY_MS = 4;

export const settlement: Suite<SettleSizes> = {
  name: 'settle',
  about: 'a result of a market with very many open trades, and orders of others meanwhile',
  full: { trades: 1_000_000, orders: 2000 },
  quick: { trades: 50_000, orders: 300 },
  run,
};

async function run(sizes: SettleSizes, progress: (line: string) => void): Promise<Report> {
  const directory = tempDir();
  const flow = new OrderFlow({
    ...{ seed: 16, accounts: 1000, markets: MARKETS, restingMax: 20_000, positionsMax: 20_000 },
  });
  const engine = benchShards(directory, flowClock(flow));
  try {
    await engine.open();
    await engine.setCatalog(catalogOf(MARKETS + 1));
    for (const quote of flow.quotes()) engine.tick(quote);
    engine.tick(quoteOf(SETTLED, flow.nowMs));
    progress(`settle: opening ${count(sizes.trades)} trades`);
    await openTrades(engine, flow, sizes.trades);
    await place(engine, flow, new Latencies(), forOrders(sizes.orders));
    progress('settle: orders, without and with the settlement');
    const without = new Latencies();
    await place(engine, flow, without, forOrders(sizes.orders));
    const beforeBytes = ownBytes();
    const meanwhile = new Latencies();
    let isSettling = true;
    const settling = settle(engine, flow, sizes.trades).finally(() => {
      isSettling = false;
    });
    const placing = place(engine, flow, meanwhile, () => isSettling);
    const [settled] = await Promise.all([settling, placing]);
    return reportOf({ ...sizes, ...settled, beforeBytes, without, meanwhile });
  } finally {
    await engine.close();
    dropDir(directory);
  }
}

/** How long it took, and the most memory that the process had on the way. */
type Settled = { tookMs: number; mostBytes: number };

/** Gives the market its result. Returns once its trades are settled. */
async function settle(engine: Shards, flow: OrderFlow, trades: number): Promise<Settled> {
  // Facts of orders count too: some thousand to a million.
  const wanted = (await lastFact(engine, flow)) + trades;
  const beganMs = performance.now();
  let mostBytes = 0;
  engine.tick({
    ...{ kind: 'result', atMs: flow.nowMs, source: 0, market: SETTLED },
    ...{ outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 },
  });
  while ((await lastFact(engine, flow)) < wanted) {
    mostBytes = Math.max(mostBytes, ownBytes());
    await sleep(20);
  }
  return { tookMs: performance.now() - beganMs, mostBytes };
}

type Measured = SettleSizes &
  Settled & { beforeBytes: number; without: Latencies; meanwhile: Latencies };

function reportOf({ trades, tookMs, mostBytes, beforeBytes, ...times }: Measured): Report {
  const without = times.without.summary();
  const meanwhile = times.meanwhile.summary();
  const row = (what: string, { p50, p99, max }: LatencySummary) => [
    what,
    ms(p50),
    ms(p99),
    ms(max),
  ];
  return {
    tables: [
      {
        title: 'settle: durable orders of other accounts, milliseconds',
        columns: ['meanwhile', 'p50', 'p99', 'max'],
        rows: [row('nothing', without), row(`${count(trades)} trades settle`, meanwhile)],
        notes: [
          `all settled after ${ms(tookMs)} ms; one order every ${ORDER_EVERY_MS} ms, one shard, no HTTP`,
          `memory without mapped files before, and at most meanwhile: ${mib(beforeBytes)}, ${mib(mostBytes)}`,
        ],
      },
    ],
    figures: {
      'settled after': { unit: 'ms', value: tookMs },
      'orders without/p50': { unit: 'ms', value: without.p50 },
      'orders without/p99': { unit: 'ms', value: without.p99 },
      'orders meanwhile/p50': { unit: 'ms', value: meanwhile.p50 },
      'orders meanwhile/p99': { unit: 'ms', value: meanwhile.p99 },
      'memory before': { unit: 'MiB', value: beforeBytes / 2 ** 20 },
      'memory meanwhile': { unit: 'MiB', value: mostBytes / 2 ** 20 },
    },
  };
}

/** Market buys of one contract each. */
async function openTrades(engine: Shards, flow: OrderFlow, trades: number): Promise<void> {
  const random = seededRandom(17);
  const atMs = flow.nowMs;
  let account = seededUuid(random, atMs);
  for (let opened = 0; opened < trades; opened += TOGETHER) {
    engine.tick({ kind: 'heartbeat', atMs, source: 0 });
    const placed = Array.from({ length: Math.min(TOGETHER, trades - opened) }, (_, at) => {
      if ((opened + at) % TRADES_AN_ACCOUNT === 0) account = seededUuid(random, atMs);
      return engine.call(account, {
        ...BLANK_ORDER,
        ...{ atMs, account, side: 'yes', contracts: 1, instrumentId: instrumentIdOf(SETTLED) },
        ...{ orderId: seededUuid(random, atMs), idempotencyKey: `open-${opened + at}` },
      });
    });
    for (const reply of await Promise.all(placed)) {
      if (!reply.ok) throw new Error(`a trade was not opened: ${reply.code}: ${reply.message}`);
    }
  }
}

/** The number of the shard's last fact. */
async function lastFact(engine: Shards, flow: OrderFlow): Promise<number> {
  const account = flow.accounts[0]!;
  const reply = await engine.call(account, {
    ...{ kind: 'account_snapshot', atMs: flow.nowMs, account, organizationSlug: null },
  });
  if (!reply.ok) throw new Error(`no snapshot: ${reply.code}`);
  return JSON.parse(reply.body).number;
}

/** Memory of the process, without the files that it maps. */
function ownBytes(): number {
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kib![1]) * 1024;
}

function forOrders(orders: number): () => boolean {
  let left = orders;
  return () => left-- > 0;
}

async function place(engine: Shards, flow: OrderFlow, times: Latencies, isOn: () => boolean) {
  const placed: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let at = 0; isOn(); at++) {
    const dueMs = beganMs + at * ORDER_EVERY_MS;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const order = flow.next();
    placed.push(
      engine.call(order.account, order).then((reply) => {
        if (!reply.ok) throw new Error(`the flow placed a bad order: ${reply.code}`);
        times.add(performance.now() - dueMs);
      }),
    );
  }
  await Promise.all(placed);
}
