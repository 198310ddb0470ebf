/** Runs replays, in this process and as the command, on files in a directory of their own. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ReplayOptions, replay, WHOLE_FILE } from '../../api/cli/replay.ts';
import { accountIdOf } from '../../api/cli/replay-ids.ts';
import type { ReplaySummary } from '../../api/cli/summary.ts';
import { feedClock } from '../../engine/shard/callers/clock.ts';
import { Shards } from '../../engine/shard/callers/shards.ts';
import type { Ending } from '../api/on-feed-clock.ts';
import { commandEntry } from '../process/server.ts';

export const HEADER = '{"format":"paperbook-feed","version":1}';

export function tempDir(t: Ending): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-replay-test-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes a file of lines, each a text or a value to be written as JSON; answers its path. */
export function writeLines(dir: string, name: string, lines: readonly unknown[]): string {
  const file = path.join(dir, name);
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(file, texts.map((text) => `${text}\n`).join(''));
  return file;
}

/** One frame of a feed file. */
export function feedLine(at: string, frame: unknown, place: Record<string, string> = {}) {
  return { at, venue: 'venue_a', adapter: 'native', ...place, frame };
}

/** A replay with the command's own defaults. */
export function run(
  options: Pick<ReplayOptions, 'feed' | 'catalog'> & Partial<ReplayOptions>,
): Promise<ReplaySummary> {
  return replay({ ...WHOLE_FILE, fillModel: 'top_of_book', ...options });
}

/** The part of a replay's output that depends on the input alone. */
export function figures(summary: ReplaySummary) {
  const { elapsedMs: _, ticksPerSecond: __, ...figures } = summary;
  return figures;
}

type Exit = { code: number; stdout: string; stderr: string };

/** `paperbook feed replay ...` in a separate process. */
export function command(...args: readonly string[]): Promise<Exit> {
  return new Promise((resolve) => {
    const argv = [commandEntry(), 'feed', 'replay', ...args];
    execFile(process.execPath, argv, { timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Rows of the CSV that a replay wrote, by column; no cell of these tests is quoted. */
export function tradeRows(file: string): Record<string, string>[] {
  const [header, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const columns = header!.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
  });
}

/** Every limit order of the named accounts that a kept data directory holds, by its id. */
export async function storedOrders(
  dataDir: string,
  shards: number,
  accounts: readonly string[],
): Promise<Map<string, Record<string, unknown>>> {
  const engine = new Shards({
    dataDir,
    shards,
    durability: 'commit',
    checkpointEveryFacts: 100_000,
    queueDepthMax: 100,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    clock: feedClock(),
    log: { info() {}, error() {} },
  });
  try {
    await engine.open();
    await engine.broadcast({ kind: 'switches', atMs: 0, venueData: true, selfReset: false });
    const orders = new Map<string, Record<string, unknown>>();
    for (const name of accounts) {
      for (let before: string | null = null; ; ) {
        const page: { orders: Record<string, unknown>[]; nextCursor: string | null } =
          await ordersPage(engine, name, before);
        for (const order of page.orders) orders.set(order.orderId as string, order);
        if (page.nextCursor === null) break;
        before = page.orders.at(-1)!.orderId as string;
      }
    }
    const { problems } = await engine.audit();
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return orders;
  } finally {
    await engine.close();
  }
}

async function ordersPage(engine: Shards, name: string, before: string | null) {
  const account = accountIdOf(name);
  const page = { limit: 200, before, status: null, organizationSlug: null };
  const reply = await engine.call(account, { kind: 'orders', atMs: 0, account, ...page });
  if (!reply.ok) throw new Error(reply.message);
  return JSON.parse(reply.body);
}
