/**
 * How long a server with many accounts takes until it answers again after `kill -9`. It is killed
 * after loads of several lengths, so that the log after the last checkpoint differs.
 */
import path from 'node:path';
import { Generator } from '../lib/generator.ts';
import { startPrepared } from '../lib/prepared-server.ts';
import { type Usage, usageOf } from '../lib/proc.ts';
import { count, type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { type Paperbook, startPaperbook } from '../lib/server.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';
import { askJson } from '../lib/users.ts';

export type RecoverySizes = { accounts: number; loadsMs: readonly number[] };

export const recovery: Suite<RecoverySizes> = {
  name: 'recovery',
  about: 'from kill -9 to the first answer, with a million accounts and resting orders',
  full: { accounts: 1_000_000, loadsMs: [1000, 3000, 6000, 9000, 12_000] },
  quick: { accounts: 20_000, loadsMs: [1000, 3000] },
  run,
};

const CONNECTIONS = 256;

/** `orders`: accepted since the start before. */
type Round = { orders: number; readyMs: number; usage: Usage };

async function run(sizes: RecoverySizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const dataDir = path.join(dir, 'data');
  progress(`recovery: making ${count(sizes.accounts)} accounts`);
  const { server: first, keys, instruments } = await startPrepared(dataDir, sizes.accounts);
  let server: Paperbook = first;
  try {
    const rounds: Round[] = [];
    for (const measureMs of sizes.loadsMs) {
      progress(`recovery: orders for ${measureMs / 1000} s`);
      const { port, basePath } = server;
      const name = `before-${rounds.length}`;
      // Another one for each load: the last one loses its connections with the server.
      const generator = new Generator();
      const { statuses } = await generator.run(server, {
        load: { kind: 'orders', port, basePath, keys, instruments, name },
        connections: CONNECTIONS,
        warmupMs: 0,
        measureMs,
        ratePerSecond: null,
      });
      generator.close();
      await server.kill();
      const startedMs = performance.now();
      server = await startPaperbook(dataDir);
      await askJson(`http://127.0.0.1:${server.port}${server.basePath}/portfolio`, keys[0]!);
      const readyMs = performance.now() - startedMs;
      rounds.push({ orders: statuses[200] ?? 0, readyMs, usage: usageOf(server.pid) });
    }
    return reportOf(sizes, rounds);
  } finally {
    await server.stop();
    dropDir(dir);
  }
}

function reportOf({ accounts }: RecoverySizes, rounds: readonly Round[]): Report {
  const figures: Figures = {
    ready: { unit: 'ms', value: spreadOf(rounds.map(({ readyMs }) => readyMs)) },
    cpu: { unit: 'ms', value: spreadOf(rounds.map(({ usage }) => usage.serverCpuMs)) },
  };
  const table = {
    title: `recovery: from a start after kill -9 to a portfolio, ${count(accounts)} accounts with a resting order each`,
    columns: ['orders and cancels before', 'ms', 'CPU ms'],
    rows: rounds.map(({ orders, readyMs, usage }) => [
      count(orders),
      ms(readyMs),
      ms(usage.serverCpuMs),
    ]),
  };
  const starts = [
    { label: 'start', rounds: rounds.map(({ usage }) => ({ threads: usage.threads, units: 1 })) },
  ];
  return { tables: [table, threadTable('recovery', 'start', starts, figures)], figures };
}
