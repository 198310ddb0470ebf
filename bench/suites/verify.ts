/**
 * What a check of a whole data directory costs for an order: everything, then again with nothing
 * new, and after some more orders. The orders ran through the shard of a server that was stopped.
 */
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Verification } from '../../api/ops/verify.ts';
import { prepareOrders } from '../lib/prepared-orders.ts';
import { startPrepared } from '../lib/prepared-server.ts';
import { endedChildrenCpuMs } from '../lib/proc.ts';
import { count, type Figures, mib, ms, type Report, type Suite } from '../lib/report.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type VerifySizes = {
  accounts: number;
  /** Orders and cancels before the first check, and before the last one. */
  orders: number;
  more: number;
};

export const verify: Suite<VerifySizes> = {
  name: 'verify',
  about: 'paperbook verify of a directory with many orders: whole, again, and after some more',
  full: { accounts: 1000, orders: 2_700_000, more: 100_000 },
  quick: { accounts: 100, orders: 100_000, more: 5000 },
  run,
};

const COMMAND = fileURLToPath(new URL('../../api/cli/paperbook.js', import.meta.url));

type Check = { orders: number; wallMs: number; cpuMs: number; verifiedBefore: number };

async function run(sizes: VerifySizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const dataDir = path.join(dir, 'data');
  try {
    progress(`verify: making ${count(sizes.accounts)} accounts`);
    const { server, instruments } = await startPrepared(dataDir, sizes.accounts);
    await server.stop();
    const trade = async (orders: number, seed: number) => {
      progress(`verify: ${count(orders)} orders and cancels`);
      await prepareOrders(dataDir, { instruments, orders, seed });
      await paperbook(['records', 'rebuild', dataDir]);
    };
    const check = async (...options: string[]) => {
      progress(`verify: ${['verify', ...options].join(' ')}`);
      return await checked(['verify', '--json', '--data-dir', dataDir, ...options]);
    };
    await trade(sizes.orders, 1);
    const whole = await check('--whole');
    const again = await check();
    await trade(sizes.more, 2);
    const later = await check();
    return reportOf(sizes, dataDir, { whole, again, later });
  } finally {
    dropDir(dir);
  }
}

/** Runs the command to its end. Throws, with what it printed, unless it ends well. */
async function paperbook(args: readonly string[]): Promise<string> {
  const ended = promisify(execFile)(process.execPath, [COMMAND, ...args]);
  const { stdout } = await ended.catch(
    (error: { code: unknown; stdout: string; stderr: string }) => {
      const { code, stdout: out, stderr } = error;
      throw new Error(`paperbook ${args[0]} ended with ${code}: ${out}${stderr}`);
    },
  );
  return stdout;
}

async function checked(args: readonly string[]): Promise<Check> {
  const [startedMs, cpuBefore] = [performance.now(), endedChildrenCpuMs()];
  const { shards } = JSON.parse(await paperbook(args)) as Verification;
  const sumOf = (of: (shard: (typeof shards)[number]) => number) =>
    shards.reduce((sum, shard) => sum + of(shard), 0);
  return {
    orders: sumOf(({ limitOrders, marketOrders }) => limitOrders + marketOrders),
    wallMs: performance.now() - startedMs,
    cpuMs: endedChildrenCpuMs() - cpuBefore,
    verifiedBefore: sumOf(({ verifiedBefore }) => verifiedBefore),
  };
}

type Checks = { whole: Check; again: Check; later: Check };

function reportOf(
  { accounts }: VerifySizes,
  dataDir: string,
  { whole, again, later }: Checks,
): Report {
  if (whole.verifiedBefore !== 0 || again.verifiedBefore === 0) {
    throw new Error('the first check was not whole, or the second one was');
  }
  const figures: Figures = {};
  const rows = Object.entries({
    'everything (--whole)': whole,
    'again, with nothing new': again,
    [`after ${count(later.orders - again.orders)} more orders`]: later,
  }).map(([what, { orders, wallMs, cpuMs }]) => {
    const micros = (1000 * cpuMs) / orders;
    return [what, count(orders), ms(wallMs), ms(cpuMs), micros.toFixed(1)];
  });
  for (const [name, { orders, cpuMs }] of Object.entries({ whole, again, later })) {
    figures[`${name}/cpu`] = { unit: 'us an order', value: (1000 * cpuMs) / orders };
  }
  const table = {
    title: `verify: ${count(accounts)} accounts, CPU of all its processes`,
    columns: ['check', 'orders', 'ms', 'CPU ms', 'CPU us an order'],
    rows,
    notes: [
      `the directory has ${mib(bytesIn(dataDir))}, of which verified/ ` +
        mib(bytesIn(path.join(dataDir, 'verified'))),
    ],
  };
  return { tables: [table], figures };
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
}
