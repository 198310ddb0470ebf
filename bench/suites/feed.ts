/**
 * Live feeds: a venue in a process of its own sends Kalshi's increments at a rate to a real server,
 * while orders come over HTTP. How much is taken, how late quotes and fills are, and what it costs.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FillModelName } from '../../engine/rules/units.ts';
import { FeedProbe } from '../lib/feed-probe.ts';
import { Generator } from '../lib/generator.ts';
import { catalogOf } from '../lib/kalshi-frames.ts';
import { FILL_MARKET, KalshiVenue, LAG_MARKET } from '../lib/kalshi-venue.ts';
import { residentBytes, threadCpuMs, threadCpuSince } from '../lib/proc.ts';
import { count, type Figures, mib, ms, type Report, ratio, type Suite } from '../lib/report.ts';
import { type Served, startServe } from '../lib/server.ts';
import type { LatencySummary } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { makeUsers } from '../lib/users.ts';

export type FeedSizes = {
  markets: number;
  framesPerSecond: number;
  forMs: number;
  ordersPerSecond: number;
  ordersForMs: number;
  probes: number;
};

export const feed: Suite<FeedSizes> = {
  name: 'feed',
  about: 'live feeds: frames taken, how late quotes and fills are, and what orders feel of it',
  full: {
    ...{ markets: 5000, framesPerSecond: 50_000, forMs: 60_000 },
    ...{ ordersPerSecond: 1000, ordersForMs: 10_000, probes: 200 },
  },
  quick: {
    ...{ markets: 500, framesPerSecond: 5000, forMs: 5000 },
    ...{ ordersPerSecond: 300, ordersForMs: 3000, probes: 40 },
  },
  run,
};

const TRADERS = 32;
/** Instruments of the orders: none of them is a probe's. */
const ORDERED = Array.from({ length: 8 }, (_, at) => `m-${at + 2}`);
const MARKERS_PER_SECOND = 100;
/** Frames a second while single frames are followed. */
const LIGHT = 500;
const SETTLING_MS = 1500;

/** What one server was measured at. */
type Measured = {
  framesPerSecond: number;
  sentPerSecond: number;
  lag: LatencySummary;
  cpuMicros: { all: number; main: number; others: number[] };
  memory: { before: number; after: number };
};

async function run(sizes: FeedSizes, progress: (line: string) => void): Promise<Report> {
  const top = await onServer(sizes, 'top_of_book', progress, async (world) => {
    progress('feed: single frames');
    world.venue.send(LIGHT, 0);
    const { probe, venue } = world;
    const toQuote = (await probe.frameToQuote(venue, world.lagId, sizes.probes)).summary();
    const toFill = (await probe.frameToFill(venue, world.fillId, sizes.probes)).summary();
    venue.send(0, 0);
    progress('feed: orders without frames');
    const quiet = await orders(world, sizes, 'quiet');
    progress(`feed: ${count(sizes.framesPerSecond)} frames a second`);
    const flood = await measure(world, sizes);
    progress('feed: orders beside them');
    venue.send(sizes.framesPerSecond, MARKERS_PER_SECOND);
    return { toQuote, toFill, quiet, flood, busy: await orders(world, sizes, 'busy') };
  });
  const deep = await onServer(sizes, 'book_depth', progress, async (world) => {
    progress('feed: the same with book_depth');
    return await measure(world, sizes);
  });
  const figures: Figures = {};
  const figure = (name: string, unit: string, value: number) => {
    figures[name] = { unit, value };
    return value;
  };
  const share = deep.cpuMicros.all / top.flood.cpuMicros.all;
  const floods = floodTable({ top_of_book: top.flood, book_depth: deep }, figure);
  floods.notes = [
    `CPU of book_depth: ${ratio(figure('book_depth to top_of_book', 'times', share))}`,
    'CPU of the main thread, and of the busiest others: the feed thread and the shard',
  ];
  return { tables: [floods, latencyTable(top, figure)], figures };
}

type Figure = (name: string, unit: string, value: number) => number;

function latencyTable(
  times: Record<'toQuote' | 'toFill' | 'quiet' | 'busy', LatencySummary>,
  figure: Figure,
): Report['tables'][number] {
  const row = (name: string, { p50, p99 }: LatencySummary) => [
    name,
    ms(figure(`${name}/p50`, 'ms', p50)),
    ms(figure(`${name}/p99`, 'ms', p99)),
  ];
  const { toQuote, toFill, quiet, busy } = times;
  return {
    title: `feed: single frames among ${LIGHT} a second, and orders, times in ms`,
    columns: ['what', 'p50', 'p99'],
    rows: [
      row('frame to quote', toQuote),
      row('frame to fill', toFill),
      row('orders without frames', quiet),
      row('orders beside frames', busy),
    ],
    notes: [
      `p99 of orders: ${ratio(figure('orders/p99', 'times', busy.p99 / quiet.p99))}`,
      'quotes and orders are asked for over HTTP, one request after another',
    ],
  };
}

type World = {
  server: Served;
  venue: KalshiVenue;
  probe: FeedProbe;
  generator: Generator;
  keys: string[];
  lagId: string;
  fillId: string;
  instruments: string[];
};

async function onServer<T>(
  { markets }: FeedSizes,
  fillModel: FillModelName,
  progress: (line: string) => void,
  use: (world: World) => Promise<T>,
): Promise<T> {
  progress(`feed: starting, ${fillModel}`);
  const dir = tempDir();
  const catalog = path.join(dir, 'catalog.json');
  writeFileSync(catalog, JSON.stringify(catalogOf(markets)));
  const venue = await KalshiVenue.start(markets);
  const generator = new Generator();
  let server: Served | undefined;
  try {
    server = await startServe(path.join(dir, 'data'), {
      PAPERBOOK_CATALOG: catalog,
      PAPERBOOK_FEEDS: JSON.stringify([{ venue: 'venue_a', adapter: 'kalshi', url: venue.url }]),
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_FILL_MODEL: fillModel,
      // A flood that is too much shows as lag, and does not end the connection.
      PAPERBOOK_FEED_LAG_MAX_MS: '3600000',
    });
    const keys = await makeUsers(server, TRADERS, 'trader');
    const probe = await FeedProbe.open(server, keys[0]!);
    const lagId = await probe.instrumentId(`m-${LAG_MARKET}`);
    const fillId = await probe.instrumentId(`m-${FILL_MARKET}`);
    const instruments: string[] = [];
    for (const slug of ORDERED) instruments.push(await probe.instrumentId(slug));
    const world = { server, venue, probe, generator, keys, lagId, fillId, instruments };
    return await use(world);
  } finally {
    generator.close();
    await server?.stop();
    venue.close();
    dropDir(dir);
  }
}

async function orders(world: World, sizes: FeedSizes, name: string): Promise<LatencySummary> {
  const { server, generator, keys, instruments } = world;
  const { port, basePath } = server;
  const measured = await generator.run(server, {
    load: { kind: 'orders', port, basePath, keys, instruments, name },
    connections: TRADERS,
    warmupMs: 1000,
    measureMs: sizes.ordersForMs,
    ratePerSecond: sizes.ordersPerSecond,
  });
  return measured.latency;
}

async function measure(world: World, sizes: FeedSizes): Promise<Measured> {
  const { server, venue, probe, lagId } = world;
  venue.send(sizes.framesPerSecond, MARKERS_PER_SECOND);
  await sleep(SETTLING_MS);
  const [taken, sent] = [await framesTaken(server), await venue.count()];
  const cpu = threadCpuMs(server.pid);
  const before = residentBytes(server.pid).all;
  const startedMs = performance.now();
  const lag = (await probe.lag(lagId, sizes.forMs)).summary();
  const seconds = (performance.now() - startedMs) / 1000;
  const frames = (await framesTaken(server)) - taken;
  const { main, others } = threadCpuSince(server.pid, cpu);
  const after = residentBytes(server.pid).all;
  const sentSince = (await venue.count()).frames - sent.frames;
  venue.send(0, 0);
  const micros = (cpuMs: number) => (cpuMs * 1000) / frames;
  const all = micros(others.reduce((sum, each) => sum + each, main));
  return {
    framesPerSecond: frames / seconds,
    sentPerSecond: sentSince / seconds,
    lag,
    cpuMicros: { all, main: micros(main), others: others.slice(0, 2).map(micros) },
    memory: { before, after },
  };
}

async function framesTaken({ adminUrl }: Served): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = text.matchAll(/^paperbook_feed_frames_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, frames]) => sum + Number(frames), 0);
}

function floodTable(floods: Record<string, Measured>, figure: Figure): Report['tables'][number] {
  const rows = Object.entries(floods).map(([name, flood]) => {
    const { framesPerSecond, sentPerSecond, lag, cpuMicros, memory } = flood;
    const micros = (thread: string, cpu: number) =>
      figure(`${name}/CPU ${thread}`, 'us/frame', cpu).toFixed(1);
    return [
      ...[name, count(sentPerSecond), count(figure(`${name}/taken`, '1/s', framesPerSecond))],
      ...[ms(lag.p50), ms(figure(`${name}/lag p99`, 'ms', lag.p99))],
      ...[micros('all', cpuMicros.all), micros('main', cpuMicros.main)],
      cpuMicros.others.map((each) => each.toFixed(1)).join(' '),
      ...[mib(memory.before), mib(figure(`${name}/memory`, 'bytes', memory.after))],
    ];
  });
  return {
    title: 'feed: a flood of increments, CPU microseconds a frame, lag in ms',
    columns: [
      ...['fill model', 'sent/s', 'taken/s', 'lag p50', 'lag p99', 'CPU', 'main', 'others'],
      ...['memory', 'at the end'],
    ],
    rows,
  };
}
