/**
 * Quotes to many subscribers of `GET /v1/stream`: CPU a message, and memory, while venues quote at a
 * rate.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { catalogOf } from '../lib/catalog.ts';
import { heapsTo, type Memory, memoryOf } from '../lib/heaps.ts';
import { loadNow } from '../lib/machine.ts';
import { usageSince } from '../lib/proc.ts';
import { QuoteFeed } from '../lib/quote-feed.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, type Report, type Suite } from '../lib/report.ts';
import { type Served, startServe } from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';
import { makeUsers } from '../lib/users.ts';
import { bearer } from '../lib/websocket-frames.ts';
import type { FromSubscribers, SubscribersJob } from '../processes/subscribers.ts';

export type StreamSizes = {
  subscribers: number;
  instrumentsEach: number;
  instruments: number;
  quotesPerSecond: number;
  warmupMs: number;
  measureMs: number;
};

export const stream: Suite<StreamSizes> = {
  name: 'stream',
  about: 'quotes to many subscribers over WebSockets: CPU a message, memory',
  full: {
    subscribers: 5000,
    instrumentsEach: 100,
    instruments: 20_000,
    quotesPerSecond: 2000,
    warmupMs: 10_000,
    measureMs: 60_000,
  },
  quick: {
    subscribers: 1000,
    instrumentsEach: 100,
    instruments: 4000,
    quotesPerSecond: 2000,
    warmupMs: 5000,
    measureMs: 10_000,
  },
  run,
};

/** Rule J5 (api/RULES.md). */
const SOCKETS_A_KEY = 20;
const SUBSCRIBERS = fileURLToPath(new URL('../processes/subscribers.ts', import.meta.url));
const MIB = 2 ** 20;

async function run(sizes: StreamSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const child = fork(SUBSCRIBERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let server: Served | null = null;
  let feed: QuoteFeed | null = null;
  try {
    progress('stream: starting');
    const catalog = catalogOf(sizes.instruments);
    const file = path.join(dir, 'catalog.json');
    writeFileSync(file, JSON.stringify({ games: [], instruments: catalog.instruments }));
    const heapsFile = path.join(dir, 'heaps.json');
    const { nodeArgs, variables } = heapsTo(heapsFile);
    const settings = {
      ...variables,
      PAPERBOOK_CATALOG: file,
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_QUOTE_MAX_AGE_MS: '600000',
    };
    server = await startServe(path.join(dir, 'data'), settings, nodeArgs);
    const { pid } = server;
    const memory = () => memoryOf(pid, heapsFile);
    const keys = await makeUsers(server, Math.ceil(sizes.subscribers / SOCKETS_A_KEY), 'reader');
    feed = new QuoteFeed(server, sizes);
    await feed.quoteAll();
    const idle = memory();
    progress('stream: subscribing');
    await ask(child, { ...jobOf(sizes, server, keys) });
    return await measure({ sizes, server, child, feed, memory, idle }, progress);
  } finally {
    await feed?.stop();
    child.disconnect();
    await server?.stop();
    dropDir(dir);
  }
}

function jobOf(sizes: StreamSizes, { port, basePath }: Served, keys: string[]): SubscribersJob {
  const random = seededRandom(5);
  const ids = catalogOf(sizes.instruments).instrumentIds;
  const channels = Array.from({ length: sizes.subscribers }, () => {
    const names = new Set<string>();
    while (names.size < sizes.instrumentsEach) {
      names.add(`quotes:${ids[random.below(ids.length)]!}`);
    }
    return [...names];
  });
  return {
    ...{ port, path: `${basePath}/stream`, credentials: keys.map(bearer) },
    commands: channels.map((names) => JSON.stringify({ op: 'subscribe', channels: names })),
    ...{ counted: '{"channel', snapshots: sizes.subscribers * sizes.instrumentsEach },
  };
}

type World = {
  sizes: StreamSizes;
  server: Served;
  child: ChildProcess;
  feed: QuoteFeed;
  memory(): Memory;
  /** Before a client subscribes. */
  idle: Memory;
};

async function measure(world: World, progress: (line: string) => void): Promise<Report> {
  const { sizes, server, child, feed, memory, idle } = world;
  const { pid } = server;
  // The work of the server without a quote: heartbeats, and looking for changes.
  progress('stream: without quotes');
  const quiet = await during(pid, child, sizes.warmupMs);
  feed.start();
  progress('stream: warming up');
  await during(pid, child, sizes.warmupMs);
  const first = memory();
  progress('stream: measuring');
  const middle = sleep(sizes.measureMs / 2).then(memory);
  const busy = await during(pid, child, sizes.measureMs);
  const last = memory();
  const perMessage =
    ((busy.mainMs - quiet.mainMs * (busy.seconds / quiet.seconds)) * 1000) / busy.messages;
  const figures: Figures = {
    'stream/messages': { unit: 'messages/s', value: busy.messages / busy.seconds },
    'stream/cpu': { unit: 'CPU us/message, main thread', value: perMessage },
    'stream/gaps': { unit: 'gaps', value: busy.gaps },
    'stream/memory at first': { unit: 'MiB', value: first.resident / MIB },
    'stream/memory at last': { unit: 'MiB', value: last.resident / MIB },
  };
  const row = [
    `${sizes.subscribers} x ${sizes.instrumentsEach} of ${sizes.instruments}`,
    count(feed.sent / feed.seconds),
    count(busy.messages / busy.seconds),
    perMessage.toFixed(1),
    (quiet.mainMs / quiet.seconds / 10).toFixed(0),
    (busy.mainMs / busy.seconds / 10).toFixed(0),
    String(busy.gaps),
  ];
  const cpus = ['CPU us', 'main, quiet', 'main'];
  return {
    tables: [
      {
        title:
          'stream: quotes to subscribers; CPU of the main thread a message; shares of a core in %',
        columns: ['subscribers', 'quotes/s', 'messages/s', ...cpus, 'gaps'],
        rows: [row],
        notes: [`subscribers and server share the cores; load at the end: ${loadNow()}`],
      },
      threadTable(
        'stream',
        'message',
        [{ label: 'quotes', rounds: [{ threads: busy.threads, units: busy.messages }] }],
        figures,
      ),
      {
        title: 'stream: memory of the server, MiB',
        columns: ['moment', 'resident', 'heaps', 'in use', 'buffers'],
        rows: [
          memoryRow('without subscribers', idle),
          memoryRow('start', first),
          memoryRow('middle', await middle),
          memoryRow('end', last),
        ],
        notes: ['heaps of all threads, their used part, and the buffers outside of them'],
      },
    ],
    figures,
  };
}

function memoryRow(moment: string, { resident, heaps, used, external }: Memory): string[] {
  return [moment, ...[resident, heaps, used, external].map((bytes) => (bytes / MIB).toFixed(0))];
}

async function during(pid: number, child: ChildProcess, ms: number) {
  const before = await ask(child, 'count');
  const usage = usageSince(pid);
  const startedMs = performance.now();
  await sleep(ms);
  const { threads } = usage();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = await ask(child, 'count');
  return {
    seconds,
    mainMs: threads[0]?.cpuMs ?? 0,
    threads,
    messages: after.messages - before.messages,
    gaps: after.gaps - before.gaps,
  };
}

type Counted = Extract<FromSubscribers, { kind: 'counted' }>;

function ask(child: ChildProcess, question: SubscribersJob | 'count'): Promise<Counted> {
  return new Promise((resolve, reject) => {
    child.once('message', (answer: FromSubscribers) => {
      if (answer.kind === 'failed') reject(new Error(answer.message));
      else resolve(answer as Counted);
    });
    child.send(question);
  });
}
