/**
 * The cost of recording for a server: the same frames into an engine, and the same orders while
 * quotes arrive, with and without a history that follows them, by turns.
 */
import path from 'node:path';
import { History } from '../../engine/history/history.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { createIngest, type IngestSession } from '../../feeds/ingest/ingest.ts';
import { kalshiAdapter } from '../../feeds/venues/kalshi/frames.ts';
import { benchShards, flowClock, SILENT } from './bench-shard.ts';
import { ASK_CENTS, BID_CENTS, catalogOf } from './catalog.ts';
import { CORE_CONFIG } from './core-state.ts';
import { deltaFrame, kalshiBook, snapshotFrame } from './kalshi-frames.ts';
import { OrderFlow } from './order-flow.ts';
import { seededRandom } from './random.ts';
import { type Figures, percent, range, type Table } from './report.ts';
import { type Spread, spreadOf } from './stats.ts';
import { dropDir, tempDir } from './temp.ts';

export type CostSizes = { frames: number; orders: number; markets: number; rounds: number };

const WAITING = 512;
const FRAMES_AHEAD = 500;
/**
 * Frames of a slice. They are made before it is timed, because making one costs half as much as
 * taking it.
 */
const FRAMES_MADE = 20_000;
/** Orders of a slice. */
const ORDERS_MADE = 4000;
/** Ten thousand a second. */
const FRAMES_A_MS = 10;
/** Frames every so many orders: about 2,000 a second if orders follow without a pause. */
const FRAMES_A_BURST = 20;
const ORDERS_A_BURST = 300;

type World = {
  engine: Shards;
  history: History;
  flow: OrderFlow;
  connection: IngestSession;
  /** The next frames of a venue, as texts. */
  frames(count: number): string[];
  /** Whether the history hears ticks. */
  isRecorded: boolean;
};

export async function costTable(sizes: CostSizes, figures: Figures): Promise<Table> {
  const directory = tempDir();
  const world = await open(directory, sizes);
  try {
    const { rounds } = sizes;
    const frames = await byTurns(world, rounds, sizes.frames / FRAMES_MADE, () => feed(world));
    const orders = await byTurns(world, rounds, sizes.orders / ORDERS_MADE, () => trade(world));
    return {
      title: 'history: CPU microseconds with and without recording',
      columns: ['of', 'without', 'with', 'more', 'min .. max'],
      rows: [
        rowOf('a frame, all threads', frames.all, sizes.frames, figures),
        rowOf("a frame, callers' thread", frames.main, sizes.frames, figures),
        rowOf('an order, all threads', orders.all, sizes.orders, figures),
        rowOf("an order, callers' thread", orders.main, sizes.orders, figures),
      ],
      notes: [
        `increments of Kalshi, made before; 10,000 a second of the engine's time; one shard, ${sizes.markets} markets, ${WAITING} orders waiting, sync durability, no HTTP`,
        `${rounds} rounds, in each the same slices with and without; more: the median of the rounds`,
      ],
    };
  } finally {
    await world.history.close();
    await world.engine.close();
    dropDir(directory);
  }
}

type Pairs = { without: number[]; more: number[]; with: number[] };
/** CPU of all threads, and of the callers' alone. */
type Both = { all: Pairs; main: Pairs };

/** Makes the input of some work. @returns the work, which is timed. */
type Slice = () => () => Promise<void>;

/**
 * CPU of the same work, slice by slice with recording and without it, first and second by turns. So
 * other load on the cores affects both.
 */
async function byTurns(world: World, rounds: number, slices: number, slice: Slice): Promise<Both> {
  const newPairs = (): Pairs => ({ without: [], with: [], more: [] });
  const both: Both = { all: newPairs(), main: newPairs() };
  const cpuOf = async (isRecorded: boolean) => {
    world.isRecorded = isRecorded;
    const work = slice();
    const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
    await work();
    return {
      all: millisOf(process.cpuUsage(all)),
      main: millisOf(process.threadCpuUsage(main)),
    };
  };
  for (let round = -1; round < rounds; round++) {
    const recorded = { all: 0, main: 0 };
    const plain = { all: 0, main: 0 };
    for (let turn = 0; turn < slices; turn++) {
      const isFirst = turn % 2 === 0;
      for (const isRecorded of [isFirst, !isFirst]) {
        const { all, main } = await cpuOf(isRecorded);
        const sums = isRecorded ? recorded : plain;
        sums.all += all;
        sums.main += main;
      }
    }
    // The first round warms up.
    if (round < 0) continue;
    for (const part of ['all', 'main'] as const) {
      both[part].with.push(recorded[part]);
      both[part].without.push(plain[part]);
      both[part].more.push(recorded[part] / plain[part] - 1);
    }
  }
  return both;
}

const millisOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

function rowOf(name: string, pairs: Pairs, count: number, figures: Figures): string[] {
  const micros = (cpu: number[]): Spread => spreadOf(cpu.map((each) => (each * 1000) / count));
  const more = spreadOf(pairs.more);
  figures[`${name}/without`] = { unit: 'CPU us', value: micros(pairs.without) };
  figures[`${name}/with`] = { unit: 'CPU us', value: micros(pairs.with) };
  figures[`${name}/more`] = { unit: 'share', value: more };
  return [
    name,
    micros(pairs.without).median.toFixed(2),
    micros(pairs.with).median.toFixed(2),
    percent(more.median),
    range(more, percent),
  ];
}

async function open(directory: string, { markets }: CostSizes): Promise<World> {
  const flow = new OrderFlow({
    ...{ seed: 13, accounts: 1000, markets, restingMax: 20_000, positionsMax: 20_000 },
  });
  const clock = flowClock(flow);
  const engine = benchShards(directory, clock, { queueDepthMax: WAITING * 4 });
  await engine.open();
  await engine.setCatalog(catalogOf(markets));
  for (const quote of flow.quotes()) engine.tick(quote);
  const history = new History({
    directory: path.join(directory, 'history'),
    quoteMaxAgeMs: CORE_CONFIG.quoteMaxAgeMs,
    days: 0,
    nowMs: () => flow.nowMs,
    log: SILENT,
  });
  const world = { engine, history, flow, frames: framesOf(markets), isRecorded: false };
  const sink = (tick: Tick) => {
    engine.tick(tick);
    if (made.isRecorded) history.tick(tick);
  };
  const ingest = createIngest({
    marketNumber: (_, name) => Number(name.slice('BENCH-'.length)),
    sink,
    log() {},
  });
  const connection = ingest.session('venue_a', kalshiAdapter({}, { recorded: true }), 1);
  const made: World = { ...world, connection };
  return made;
}

/** Increments of sizes: prices stay, so that orders trade as they would. */
function framesOf(markets: number): (count: number) => string[] {
  const random = seededRandom(7);
  const books = Array.from({ length: markets }, () => kalshiBook(BID_CENTS, 100 - ASK_CENTS));
  const tickerOf = (market: number) => `BENCH-${market}`;
  let seq = 0;
  return (count) =>
    Array.from({ length: count }, () => {
      seq++;
      if (seq <= markets) return snapshotFrame(tickerOf(seq - 1), seq, books[seq - 1]!);
      const market = random.below(markets);
      return deltaFrame(random, books[market]!, { ticker: tickerOf(market), seq, atMs: seq });
    });
}

function feed(world: World): () => Promise<void> {
  const texts = world.frames(FRAMES_MADE);
  return () => takeFrames(world, texts);
}

/** As a server does, which waits for its shards and never for the history; that is last, to be counted. */
async function takeFrames(
  { engine, history, flow, connection, isRecorded }: World,
  texts: string[],
) {
  for (let at = 0; at < texts.length; at += FRAMES_AHEAD) {
    for (const [i, text] of texts.slice(at, at + FRAMES_AHEAD).entries()) {
      if (i % FRAMES_A_MS === 0) flow.pass(1);
      connection.frame(text, flow.nowMs);
    }
    await engine.drained();
  }
  if (isRecorded) await history.drained();
}

function trade(world: World): () => Promise<void> {
  const bursts = Array.from({ length: Math.ceil(ORDERS_MADE / ORDERS_A_BURST) }, () =>
    world.frames(FRAMES_A_BURST),
  );
  return () => placeOrders(world, ORDERS_MADE, bursts);
}

async function placeOrders(world: World, orders: number, bursts: string[][]): Promise<void> {
  let left = orders;
  const caller = async () => {
    while (left > 0) {
      left--;
      if (left % ORDERS_A_BURST === 0) {
        for (const text of bursts.pop() ?? []) world.connection.frame(text, world.flow.nowMs);
      }
      const order = world.flow.next();
      const reply = await world.engine.call(order.account, order);
      if (!reply.ok) throw new Error(`the flow placed a bad order: ${reply.code}`);
    }
  };
  await Promise.all(Array.from({ length: WAITING }, caller));
  if (world.isRecorded) await world.history.drained();
}
