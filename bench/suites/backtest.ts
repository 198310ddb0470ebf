/**
 * Backtests of settled games with a quote a minute: how long one takes, and how ten at once affect
 * the times of orders in the same process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKTESTS_MAX, BacktestPool } from '../../engine/backtest/pool.ts';
import type { BacktestTask } from '../../engine/backtest/task.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { recordGames } from '../lib/backtest-history.ts';
import { benchShards, flowClock, SILENT } from '../lib/bench-shard.ts';
import { catalogOf } from '../lib/catalog.ts';
import { OrderFlow } from '../lib/order-flow.ts';
import { type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { Latencies, spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type BacktestSizes = { games: number; runs: number; orders: number; rounds: number };

const MARKETS = 100;
/** Orders are sent at this pace, whatever happens to earlier ones. */
const ORDER_EVERY_MS = 4;

export const backtest: Suite<BacktestSizes> = {
  name: 'backtest',
  about: 'a rule replayed on settled games, and orders beside ten of them',
  full: { games: 1000, runs: 5, orders: 2000, rounds: 3 },
  quick: { games: 100, runs: 2, orders: 300, rounds: 1 },
  run,
};

async function run(sizes: BacktestSizes, progress: (line: string) => void): Promise<Report> {
  const directory = tempDir();
  const pool = new BacktestPool({ log: SILENT });
  const figures: Figures = {};
  try {
    progress(`backtest: recording ${sizes.games} games`);
    const task = recordGames(directory, sizes.games);
    progress('backtest: one at a time');
    const alone: number[] = [];
    for (let at = 0; at < sizes.runs; at++) alone.push(await timed(pool, task));
    const one = spreadOf(alone);
    figures['one backtest'] = { unit: 'ms', value: one };
    progress('backtest: orders, with and without ten');
    const { without, beside } = await ordersBeside(pool, task, sizes);
    for (const [name, times] of Object.entries({ without, beside })) {
      figures[`orders ${name}/p50`] = { unit: 'ms', value: times.p50 };
      figures[`orders ${name}/p99`] = { unit: 'ms', value: times.p99 };
    }
    const games = `${sizes.games} games of 600 one-minute quotes`;
    return {
      tables: [
        {
          title: `backtest: ${games}, milliseconds`,
          columns: ['what', 'median', 'min', 'max'],
          rows: [['one, from task to answer', ms(one.median), ms(one.min), ms(one.max)]],
          notes: ['every quote looked at; the first thread starts within the first run'],
        },
        {
          title: 'backtest: durable orders in the same process, milliseconds',
          columns: ['beside', 'p50', 'p99', 'max'],
          rows: [
            ['nothing', ms(without.p50), ms(without.p99), ms(without.max)],
            ['ten backtests', ms(beside.p50), ms(beside.p99), ms(beside.max)],
          ],
          notes: [`one every ${ORDER_EVERY_MS} ms, one shard, no HTTP; rounds by turns`],
        },
      ],
      figures,
    };
  } finally {
    await pool.close();
    dropDir(directory);
  }
}

async function timed(pool: BacktestPool, task: BacktestTask, asker = 'server'): Promise<number> {
  const startedMs = performance.now();
  await pool.run(asker, async () => ({ ...task, withPrices: true }));
  return performance.now() - startedMs;
}

async function ordersBeside(pool: BacktestPool, task: BacktestTask, sizes: BacktestSizes) {
  const directory = tempDir();
  const flow = new OrderFlow({
    ...{ seed: 13, accounts: 1000, markets: MARKETS, restingMax: 20_000, positionsMax: 20_000 },
  });
  const engine = benchShards(directory, flowClock(flow));
  const [without, beside] = [new Latencies(), new Latencies()];
  try {
    await engine.open();
    await engine.setCatalog(catalogOf(MARKETS));
    for (const quote of flow.quotes()) engine.tick(quote);
    await place(engine, flow, sizes.orders, new Latencies());
    for (let round = 0; round < sizes.rounds; round++) {
      await place(engine, flow, sizes.orders, without);
      let isOn = true;
      const running = Array.from({ length: BACKTESTS_MAX }, async (_, number) => {
        while (isOn) await timed(pool, task, `account ${number}`);
      });
      await place(engine, flow, sizes.orders, beside);
      isOn = false;
      await Promise.all(running);
    }
  } finally {
    await engine.close();
    dropDir(directory);
  }
  return { without: without.summary(), beside: beside.summary() };
}

async function place(engine: Shards, flow: OrderFlow, orders: number, times: Latencies) {
  const placed: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let at = 0; at < orders; at++) {
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
