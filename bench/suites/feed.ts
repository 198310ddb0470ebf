/**
 * Live feeds: a venue in a separate process sends Kalshi's increments at a rate to a real server,
 * while orders arrive over HTTP. It measures how much is taken, how late quotes and fills are, and
 * the cost.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FillModelName } from '../../engine/base/units.ts';
import { FeedProbe } from '../lib/feed-probe.ts';
import { type Flood, feedReport } from '../lib/feed-report.ts';
import { Generator } from '../lib/generator.ts';
import { heapsTo, memoryOf } from '../lib/heaps.ts';
import { catalogOf, type Mix } from '../lib/kalshi-frames.ts';
import { FILL_MARKET, KalshiVenue, LAG_MARKET } from '../lib/kalshi-venue.ts';
import { usageSince } from '../lib/proc.ts';
import { count, type Report, type Suite } from '../lib/report.ts';
import { type Served, startServe } from '../lib/server.ts';
import type { LatencySummary } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { makeUsers } from '../lib/users.ts';

export type FeedSizes = {
  markets: number;
  framesPerSecond: number;
  forMs: number;
  /** Of the same flood, before the measurement. */
  warmUpMs: number;
  ordersPerSecond: number;
  ordersForMs: number;
  probes: number;
};

export const feed: Suite<FeedSizes> = {
  name: 'feed',
  about: 'live feeds: frames taken, how late quotes and fills are, and the effect on orders',
  full: {
    ...{ markets: 5000, framesPerSecond: 50_000, forMs: 60_000, warmUpMs: 30_000 },
    ...{ ordersPerSecond: 1000, ordersForMs: 10_000, probes: 200 },
  },
  quick: {
    ...{ markets: 500, framesPerSecond: 5000, forMs: 5000, warmUpMs: 2000 },
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
/** The sent increments: as a real day has them, and beside them the most expensive ones. */
const MIXES = [
  { mix: 'recorded', name: 'as recorded', share: 1 },
  { mix: 'shown', name: 'all shown', share: 1 / 3 },
] as const;

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
    const floods = await measureBoth(world, sizes, progress);
    progress('feed: orders beside them');
    venue.send(sizes.framesPerSecond, MARKERS_PER_SECOND);
    return { floods, times: { toQuote, toFill, quiet, busy: await orders(world, sizes, 'busy') } };
  });
  const deep = await onServer(sizes, 'book_depth', progress, (world) =>
    measureBoth(world, sizes, progress),
  );
  const floods = MIXES.map(({ mix, name }) => ({
    sent: `, ${name}`,
    top: top.floods[mix],
    deep: deep[mix],
  }));
  return feedReport(floods, top.times, {
    light: LIGHT,
    warmUpSeconds: sizes.warmUpMs / 1000,
  });
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
  heapsFile: string;
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
    const heapsFile = path.join(dir, 'heaps.json');
    const { nodeArgs, variables } = heapsTo(heapsFile);
    const settings = {
      ...variables,
      PAPERBOOK_CATALOG: catalog,
      PAPERBOOK_FEEDS: JSON.stringify([{ venue: 'venue_a', adapter: 'kalshi', url: venue.url }]),
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_FILL_MODEL: fillModel,
      // A flood that is too much shows as lag, and does not end the connection.
      PAPERBOOK_FEED_LAG_MAX_MS: '3600000',
    };
    server = await startServe(path.join(dir, 'data'), settings, nodeArgs);
    const keys = await makeUsers(server, TRADERS, 'trader');
    const probe = await FeedProbe.open(server, keys[0]!);
    const lagId = await probe.instrumentId(`m-${LAG_MARKET}`);
    const fillId = await probe.instrumentId(`m-${FILL_MARKET}`);
    const instruments: string[] = [];
    for (const slug of ORDERED) instruments.push(await probe.instrumentId(slug));
    const ids = { lagId, fillId, instruments };
    return await use({ server, venue, probe, generator, keys, ...ids, heapsFile });
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

type Floods = Record<Mix, Flood>;

async function measureBoth(
  world: World,
  sizes: FeedSizes,
  progress: (line: string) => void,
): Promise<Floods> {
  const floods: Partial<Floods> = {};
  for (const { mix, name, share } of MIXES) {
    progress(`feed: ${count(sizes.framesPerSecond)} frames a second, ${name}`);
    floods[mix] = await measure(world, { ...sizes, forMs: sizes.forMs * share }, mix);
  }
  return floods as Floods;
}

async function measure(world: World, sizes: FeedSizes, mix: Mix): Promise<Flood> {
  const { server, venue, probe, lagId, heapsFile } = world;
  venue.send(sizes.framesPerSecond, MARKERS_PER_SECOND, mix);
  await sleep(sizes.warmUpMs);
  const [taken, sent] = [await framesTaken(server), await venue.count()];
  const usage = usageSince(server.pid);
  const memory = () => memoryOf(server.pid, heapsFile);
  const start = memory();
  const startedMs = performance.now();
  const middle = sleep(sizes.forMs / 2).then(memory);
  const lag = (await probe.lag(lagId, sizes.forMs)).summary();
  const seconds = (performance.now() - startedMs) / 1000;
  const frames = (await framesTaken(server)) - taken;
  const used = usage();
  const end = memory();
  const sentSince = (await venue.count()).frames - sent.frames;
  venue.send(0, 0);
  return {
    framesPerSecond: frames / seconds,
    sentPerSecond: sentSince / seconds,
    lag,
    usage: used,
    frames,
    memory: [start, await middle, end],
  };
}

async function framesTaken({ adminUrl }: Served): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = text.matchAll(/^paperbook_feed_frames_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, frames]) => sum + Number(frames), 0);
}
