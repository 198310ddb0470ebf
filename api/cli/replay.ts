/**
 * `paperbook feed replay` offline: plays a feed file and an orders file through its own engine, on
 * the feed's clock. Equal input gives an equal state hash. Rules R1 to R15 (feeds/FORMATS.md).
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EpochMs, FillModelName, Uuid } from '../../engine/base/units.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import { feedClock } from '../../engine/shard/callers/clock.ts';
import { Shards } from '../../engine/shard/callers/shards.ts';
import { catalogProblem, loadCatalog } from '../../feeds/catalog/catalog.ts';
import { paceOf } from '../../feeds/file/replay-speed.ts';
import { bookNeedsOf, type SettleOn } from '../../feeds/reading/venue.ts';
import { plain } from '../base/shown-text.ts';
import { openDataDir } from '../data-dir/data-dir.ts';
import { FeedPipeline, type PackedLines, type ReaderCounts } from './feed-pipeline.ts';
import { OrdersInTime } from './orders-file.ts';
import { progressOn } from './progress.ts';
import { ask, ReplayOrders } from './replay-orders.ts';
import type { ReplayRange } from './replay-range.ts';
import { accountSummary, type ReplayAccount, type ReplaySummary, tradesCsv } from './summary.ts';

export type ReplayOptions = ReplayRange & {
  feed: string;
  catalog: string;
  orders: string | null;
  shards: number;
  /** Kept when given; must not hold anything yet. */
  dataDir: string | null;
  /** Feed seconds a second; null as fast as possible. */
  speed: number | null;
  skipBad: boolean;
  /** Takes lines that jump forward. Rule F31 (feeds/FORMATS.md). */
  allowJumps: boolean;
  /** Which word of a venue pays; `determined` when left out. Rule W74 (feeds/FORMATS.md). */
  settleOn: SettleOn;
  /** Where every trade is written as CSV. */
  trades: string | null;
  fillModel: FillModelName;
  /** Every order meets the book so much later. Rule T160 (engine/RULES.md); left out: 0. */
  latencyMs?: number;
  /** Called with the account and the code of each order or cancel that is refused. */
  onRefused?(account: string, code: string): void;
};

/** Of a whole feed file, at full speed, in an engine of its own that is not kept. */
export const WHOLE_FILE = {
  orders: null,
  shards: 1,
  dataDir: null,
  speed: null,
  skipBad: false,
  allowJumps: false,
  settleOn: 'determined',
  trades: null,
  fromMs: null,
  toMs: null,
  markets: null,
} as const satisfies Partial<ReplayOptions>;

/** How many bytes of ticks are sent before waiting for the shards to take them. */
const BYTES_AHEAD_MAX = 4 * 1024 * 1024;
const QUOTE_MAX_AGE_MS = 15_000;
const ROUTING_BAND_CENTS = 10;

/**
 * Runs the whole file. Nothing of a run that fails is kept.
 * @throws FeedFileError at a line of the feed; other errors name their file, and its line.
 */
export async function replay(options: ReplayOptions): Promise<ReplaySummary> {
  const catalog = await readCatalog(options.catalog);
  const directory = await takeDirectory(options.dataDir, options.shards);
  let done = false;
  try {
    const engine = new Shards({
      dataDir: directory.path,
      shards: options.shards,
      durability: 'commit',
      checkpointEveryFacts: 100_000,
      queueDepthMax: 10_000,
      quoteMaxAgeMs: QUOTE_MAX_AGE_MS,
      routingBandCents: ROUTING_BAND_CENTS,
      fillModel: options.fillModel,
      clock: feedClock(),
      log: SILENT,
    });
    let summary: ReplaySummary;
    try {
      await engine.open();
      summary = await new Replay(engine, catalog, options).run();
    } finally {
      await engine.close();
    }
    done = true;
    return summary;
  } finally {
    await directory.release(done);
  }
}

const SILENT = { info() {}, error() {} };

async function readCatalog(file: string): Promise<CatalogRead> {
  const reading = await loadCatalog(file);
  if (!reading.ok) throw new Error(catalogProblem(file, reading.errors));
  return reading;
}

type CatalogRead = { catalog: Catalog; fees: readonly FeeEntry[] };

class Replay {
  readonly #engine: Shards;
  readonly #catalog: Catalog;
  readonly #fees: readonly FeeEntry[];
  readonly #options: ReplayOptions;
  readonly #orders: ReplayOrders;
  readonly #pace: (atMs: EpochMs) => Promise<void> | null;
  #bytesAhead = 0;

  constructor(engine: Shards, { catalog, fees }: CatalogRead, options: ReplayOptions) {
    this.#engine = engine;
    this.#orders = new ReplayOrders(engine, options);
    this.#catalog = catalog;
    this.#fees = fees;
    this.#options = options;
    this.#pace = paceOf(options.speed);
  }

  async run(): Promise<ReplaySummary> {
    const { feed, skipBad, allowJumps, fillModel, settleOn, toMs, markets } = this.#options;
    await this.#engine.setFees(this.#fees);
    await this.#engine.setCatalog(this.#catalog);
    await this.#engine.broadcast({ kind: 'switches', atMs: 0, venueData: true, selfReset: false });
    const startedMs = performance.now();
    const { marketNames } = this.#catalog;
    const needs = bookNeedsOf(fillModel);
    const pipeline = new FeedPipeline(
      { feed, skipBad, refuseJumps: !allowJumps, ...needs, settleOn, toMs, markets, marketNames },
      (reason, detail) => process.stderr.write(`not used: ${plain(`${reason} (${detail})`)}\n`),
    );
    const progress = progressOn();
    try {
      const orders = new OrdersInTime(this.#options);
      await orders.begin();
      for await (const batch of pipeline.batches()) {
        await this.#play(batch, orders);
        progress.update(batch.frames, batch.share);
      }
      await this.#place(orders, Number.POSITIVE_INFINITY);
      await this.#engine.drained();
    } finally {
      progress.end();
      await pipeline.close();
    }
    return this.#summarize(pipeline.counts, performance.now() - startedMs);
  }

  /** Sends the lines in their order, each after the orders that are due before it. */
  async #play({ times, ends, bytes }: PackedLines, orders: OrdersInTime): Promise<void> {
    const { fromMs, speed } = this.#options;
    let sent = 0;
    const sendUpTo = (line: number) => {
      if (line === sent) return;
      const newestMs = times.subarray(sent, line).reduce((a, b) => Math.max(a, b));
      const from = sent === 0 ? 0 : ends[sent - 1]!;
      this.#engine.packedTicks(bytes.subarray(from, ends[line - 1]!), newestMs);
      sent = line;
    };
    const isPaced = speed !== null;
    for (let line = 0; line < times.length; line++) {
      const atMs = times[line]!;
      const isHeldBack = isPaced && (fromMs === null || atMs >= fromMs);
      // At one instant frames precede orders.
      if (orders.nextMs >= atMs && !isHeldBack) continue;
      sendUpTo(line);
      await this.#place(orders, atMs);
      if (isHeldBack) await this.#pace(atMs);
    }
    sendUpTo(times.length);
    this.#bytesAhead += bytes.length;
    if (this.#bytesAhead < BYTES_AHEAD_MAX) return;
    this.#bytesAhead = 0;
    await this.#engine.drained();
  }

  /** Places the orders that are due before this time. */
  async #place(orders: OrdersInTime, atMs: EpochMs): Promise<void> {
    for await (const order of orders.before(atMs)) await this.#orders.step(order);
  }

  async #summarize(counts: ReaderCounts, elapsedMs: number): Promise<ReplaySummary> {
    const orders = { executed: this.#orders.marketOrders, resting: 0, canceled: 0, expired: 0 };
    const csv = tradesCsv(this.#options.trades);
    const accounts: ReplaySummary['accounts'] = [];
    let trades = 0;
    for (const account of this.#orders.accounts()) {
      for await (const order of this.#rows('orders', account)) {
        orders[order.status as keyof typeof orders]++;
      }
      for await (const trade of this.#rows('trades', account)) {
        trades++;
        csv.add(account.name, trade);
      }
      const query = { kind: 'portfolio', account: account.id, organizationSlug: null } as const;
      accounts.push(accountSummary(account.name, (await ask(this.#engine, query)).account));
    }
    csv.write();
    return {
      frames: counts.frames,
      ticks: counts.ticks,
      skipped: counts.skipped,
      orders: { ...orders, refused: this.#orders.refused },
      trades,
      accounts,
      stateHash: await this.#engine.stateHash({ quotes: true }),
      elapsedMs: Math.round(elapsedMs),
      ticksPerSecond: Math.round((counts.ticks / Math.max(elapsedMs, 1)) * 1000),
    };
  }

  async *#rows(kind: 'orders' | 'trades', account: ReplayAccount) {
    const page = { limit: 200, status: null, organizationSlug: null, account: account.id };
    let before: Uuid | null = null;
    for (;;) {
      const answer = await ask(this.#engine, { kind, ...page, before });
      yield* answer[kind];
      if (answer.nextCursor === null) return;
      before = answer[kind].at(-1)[kind === 'orders' ? 'orderId' : 'tradeId'];
    }
  }
}

/** `release` is called with whether the replay was completed. */
type Directory = { path: string; release(done: boolean): Promise<void> };

/** The data directory of one replay: removed at its end, or kept if the user asked for one. */
async function takeDirectory(dataDir: string | null, shards: number): Promise<Directory> {
  if (dataDir === null) {
    const temporary = mkdtempSync(path.join(tmpdir(), 'paperbook-replay-'));
    const remove = async () => rmSync(temporary, { recursive: true, force: true });
    return { path: temporary, release: remove };
  }
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new Error(`--data-dir ${dataDir} is not empty: a replay starts from nothing`);
  }
  // A server may continue on this directory, and needs the shard count.
  const opened = await openDataDir(dataDir, {
    wanted: shards,
    byDefault: shards,
    fromReplay: true,
  });
  return {
    path: opened.path,
    async release(done) {
      // Half a replay is useless, and would block the next one.
      const left = done ? [] : readdirSync(opened.path);
      for (const name of left) rmSync(path.join(opened.path, name), { recursive: true });
      await opened.release();
    },
  };
}
