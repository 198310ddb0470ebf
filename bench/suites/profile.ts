/** Where the server spends its time while it accepts orders: a processor profile of each thread. */
import path from 'node:path';
import { type FunctionTime, readProfiles, type ThreadProfile } from '../lib/cpu-profile.ts';
import { Generator } from '../lib/generator.ts';
import { openMarket } from '../lib/http-market.ts';
import type { LoadKind } from '../lib/load.ts';
import { count, percent, type Report, type Suite, type Table } from '../lib/report.ts';
import { startPaperbook } from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type ProfileSizes = {
  kind: LoadKind;
  connections: number;
  measureMs: number;
  accounts: number;
  /** Lines of each table. */
  top: number;
};

export const profile: Suite<ProfileSizes> = {
  name: 'profile',
  about: 'where the time of orders over HTTP goes, by function',
  full: { kind: 'orders', connections: 256, measureMs: 15_000, accounts: 100, top: 20 },
  quick: { kind: 'orders', connections: 256, measureMs: 3000, accounts: 20, top: 10 },
  run,
};

const WARMUP_MS = 2000;

async function run(sizes: ProfileSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const profiles = path.join(dir, 'profiles');
  const generator = new Generator();
  try {
    progress('profile: measuring');
    const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const server = await startPaperbook(path.join(dir, 'data'), { nodeArgs });
    const { port, basePath } = server;
    let loadedMs = 0;
    try {
      const { traders, instruments } = await openMarket(server, sizes.accounts);
      const name = `profile-${process.pid}`;
      await generator.run(server, {
        load: { kind: sizes.kind, port, basePath, keys: traders, instruments, name },
        connections: sizes.connections,
        warmupMs: WARMUP_MS,
        measureMs: sizes.measureMs,
        ratePerSecond: null,
      });
      loadedMs = performance.now();
    } finally {
      await server.stop();
    }
    // Excludes the start; includes the end, which is short.
    const lastMs = sizes.measureMs + performance.now() - loadedMs;
    return { tables: tablesOf(readProfiles(profiles, lastMs), sizes), figures: {} };
  } finally {
    generator.close();
    dropDir(dir);
  }
}

function tablesOf(threads: ThreadProfile[], { kind, connections, top }: ProfileSizes): Table[] {
  if (threads.length < 2) throw new Error('a thread left no profile');
  return threads.flatMap((thread) => {
    const { name } = thread;
    const busy = `${count(thread.busyMs)} ms busy of ${count(thread.totalMs)} ms`;
    const title = `profile: ${kind}, ${connections} connections, ${name}, ${busy}`;
    return [
      { title, columns: ['function', 'self time', 'where'], rows: rowsOf(thread.functions, top) },
      {
        title: `${title}, by file`,
        columns: ['file or package', 'self time'],
        rows: thread.places.slice(0, top).map(({ place, share }) => [place, percent(share)]),
      },
    ];
  });
}

function rowsOf(functions: readonly FunctionTime[], top: number): string[][] {
  return functions.slice(0, top).map(({ name, place, share }) => [name, percent(share), place]);
}
