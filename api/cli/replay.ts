/**
 * `paperbook feed replay` offline: a feed file and an orders file through an engine of its own, on
 * the feed's clock. Equal input gives an equal state hash. Rules R1 to R15 (feeds/FORMATS.md).
 */
import type { Catalog, Reply } from '../../engine/rules/messages.ts';
import type { Query } from '../../engine/rules/queries.ts';
import type { EpochMs, FillModelName, Uuid } from '../../engine/rules/units.ts';
import { feedClock } from '../../engine/shard/clock.ts';
import { Shards } from '../../engine/shard/shards.ts';
import { catalogErrorText, loadCatalog, marketNumbers } from '../../feeds/catalog.ts';
import { FeedFileError, type FeedLine, readFeed } from '../../feeds/feed-file.ts';
import { createIngest, type Ingest } from '../../feeds/ingest.ts';
import { FeedPlayer } from '../../feeds/replay.ts';
import { ApiError, invalidRequest } from '../errors.ts';
import { placeOrderOf, readOrderBody } from '../order-request.ts';
import type { OrderBody } from '../schemas/order-body.ts';
import { nextOf, type OrderLine, readOrdersFile } from './orders-file.ts';
import { paceOf } from './pace.ts';
import { takeDirectory } from './replay-dir.ts';
import { accountIdOf, orderIdOf } from './replay-ids.ts';
import { accountSummary, type ReplayAccount, type ReplaySummary, tradesCsv } from './summary.ts';

export type ReplayOptions = {
  feed: string;
  catalog: string;
  orders: string | null;
  shards: number;
  /** Kept when given; must not hold anything yet. */
  dataDir: string | null;
  /** Feed seconds a second; null as fast as possible. */
  speed: number | null;
  skipBad: boolean;
  /** Where every trade is written as CSV. */
  trades: string | null;
  fillModel: FillModelName;
};

/** How many ticks are sent before waiting for the shards to take them. */
const TICKS_AHEAD_MAX = 5000;
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

async function readCatalog(file: string): Promise<Catalog> {
  const reading = await loadCatalog(file);
  if (!reading.ok) throw new Error(`${file} has errors:\n${catalogErrorText(reading.errors)}`);
  return reading.catalog;
}

class Replay {
  readonly #engine: Shards;
  readonly #catalog: Catalog;
  readonly #options: ReplayOptions;
  readonly #accounts = new Map<string, ReplayAccount>();
  readonly #refused: Record<string, number> = {};
  #marketOrders = 0;
  #skippedLines = 0;
  #ticksAhead = 0;

  constructor(engine: Shards, catalog: Catalog, options: ReplayOptions) {
    this.#engine = engine;
    this.#catalog = catalog;
    this.#options = options;
  }

  async run(): Promise<ReplaySummary> {
    const ingest = await this.#prepare();
    const startedMs = performance.now();
    const pace = paceOf(this.#options.speed);
    const player = new FeedPlayer(ingest, { depth: this.#options.fillModel === 'book_depth' });
    const orders = this.#options.orders === null ? null : readOrdersFile(this.#options.orders);
    let order = await nextOf(orders);
    const { feed, skipBad } = this.#options;
    const onBad = () => {
      this.#skippedLines++;
    };
    for await (const batch of readFeed(feed, { skipBad, onBad })) {
      for (const line of batch) {
        // At one instant frames come before orders.
        for (; order !== null && order.atMs < line.atMs; order = await nextOf(orders)) {
          await this.#step(order);
        }
        await pace(line.atMs);
        await this.#play(player, line);
      }
    }
    for (; order !== null; order = await nextOf(orders)) await this.#step(order);
    await this.#engine.drained();
    return this.#summarize(ingest, performance.now() - startedMs);
  }

  async #prepare(): Promise<Ingest> {
    await this.#engine.setCatalog(this.#catalog);
    await this.#engine.broadcast({ kind: 'switches', atMs: 0, venueData: true, selfReset: false });
    return createIngest({
      marketNumber: marketNumbers(this.#catalog),
      sink: (tick) => {
        this.#ticksAhead++;
        this.#engine.tick(tick);
      },
      log: ({ reason, detail }) => process.stderr.write(`not used: ${reason} (${detail})\n`),
    });
  }

  async #play(player: FeedPlayer, line: FeedLine): Promise<void> {
    try {
      player.play(line);
    } catch (error) {
      if (!this.#options.skipBad || !(error instanceof FeedFileError)) throw error;
      this.#skippedLines++;
    }
    if (this.#ticksAhead < TICKS_AHEAD_MAX) return;
    this.#ticksAhead = 0;
    await this.#engine.drained();
  }

  async #step({ atMs, account: name, step }: OrderLine): Promise<void> {
    // To every shard: what expires, and how old a quote is, must not hang on who shares a shard.
    this.#engine.tick({ kind: 'time', atMs });
    const account = this.#accountOf(name);
    const code =
      'cancel' in step
        ? await this.#cancel(account, atMs, step.cancel)
        : await this.#place(account, atMs, step.order);
    if (code !== null) this.#refused[code] = (this.#refused[code] ?? 0) + 1;
  }

  /** The code of the refusal, or null. */
  async #place(
    account: ReplayAccount,
    atMs: EpochMs,
    order: Record<string, unknown>,
  ): Promise<string | null> {
    const { sellOf, ...rest } = order;
    const tradeId = typeof sellOf === 'string' ? await this.#tradeOf(account, sellOf) : undefined;
    if (typeof sellOf === 'string' && tradeId === undefined) return 'trade_not_found';
    let reply: Reply;
    let key: string;
    try {
      if (tradeId !== undefined && 'tradeId' in rest) {
        throw invalidRequest('sellOf stands in place of tradeId');
      }
      const body = readOrderBody(tradeId === undefined ? order : { ...rest, tradeId });
      refuseExecution(body.execution);
      key = (body.idempotencyKey ?? body.clientOrderId)!;
      const orderId = orderIdOf(account.id, key, atMs);
      const placed = { atMs, account: account.id, orderId, placedVia: 'api' as const };
      const command = placeOrderOf(body, {
        ...placed,
        placedPrivate: true,
        mayOpen: true,
        mayTrade: true,
        counting: null,
      });
      reply = await this.#engine.call(account.id, command);
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
    if (!reply.ok) return reply.code;
    const result = JSON.parse(reply.body);
    if (result.replayed) return null;
    if (result.type === 'market') this.#marketOrders++;
    account.orders.set(key, {
      orderId: result.order?.orderId ?? null,
      tradeId: result.trade?.tradeId ?? null,
    });
    return null;
  }

  async #cancel(account: ReplayAccount, atMs: EpochMs, key: string): Promise<string | null> {
    const orderId = account.orders.get(key)?.orderId ?? null;
    if (orderId === null) return 'order_not_found';
    const reply = await this.#engine.call(account.id, {
      kind: 'cancel',
      atMs,
      account: account.id,
      orderId,
      counting: null,
    });
    return reply.ok ? null : reply.code;
  }

  /** The trade that the buy of this key opened; undefined while there is none. */
  async #tradeOf(account: ReplayAccount, key: string): Promise<Uuid | undefined> {
    const known = account.orders.get(key);
    if (known === undefined) return undefined;
    if (known.tradeId === null && known.orderId !== null) {
      const { orderId } = known;
      const query = { kind: 'order', account: account.id, organizationSlug: null } as const;
      const { order } = await this.#ask({ ...query, orderId });
      known.tradeId = order.tradeId;
    }
    return known.tradeId ?? undefined;
  }

  async #summarize(ingest: Ingest, elapsedMs: number): Promise<ReplaySummary> {
    const counts = ingest.counts();
    const orders = { executed: this.#marketOrders, resting: 0, canceled: 0, expired: 0 };
    const csv = tradesCsv(this.#options.trades);
    const accounts: ReplaySummary['accounts'] = [];
    let trades = 0;
    const byName = [...this.#accounts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const account of byName) {
      for await (const order of this.#rows('orders', account)) {
        orders[order.status as keyof typeof orders]++;
      }
      for await (const trade of this.#rows('trades', account)) {
        trades++;
        csv.add(account.name, trade);
      }
      const query = { kind: 'portfolio', account: account.id, organizationSlug: null } as const;
      accounts.push(accountSummary(account.name, (await this.#ask(query)).account));
    }
    csv.write();
    return {
      frames: counts.frames,
      ticks: counts.ticks,
      skipped: counts.skipped + this.#skippedLines,
      orders: { ...orders, refused: this.#refused },
      trades,
      accounts,
      stateHash: await this.#engine.stateHash(),
      elapsedMs: Math.round(elapsedMs),
      ticksPerSecond: Math.round((counts.ticks / Math.max(elapsedMs, 1)) * 1000),
    };
  }

  async *#rows(kind: 'orders' | 'trades', account: ReplayAccount) {
    const page = { limit: 200, status: null, organizationSlug: null, account: account.id };
    let before: Uuid | null = null;
    for (;;) {
      const answer = await this.#ask({ kind, ...page, before });
      yield* answer[kind];
      if (answer.nextCursor === null) return;
      before = answer[kind].at(-1)[kind === 'orders' ? 'orderId' : 'tradeId'];
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: wire JSON of the engine's own answers.
  async #ask(query: DistributiveOmit<Query, 'atMs'> & { account: Uuid }): Promise<any> {
    const timed = { ...query, atMs: this.#engine.nowMs() } as Query;
    const reply = await this.#engine.call(query.account, timed);
    if (!reply.ok) throw new Error(`${query.kind}: ${reply.message}`);
    return JSON.parse(reply.body);
  }

  #accountOf(name: string): ReplayAccount {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = { name, id: accountIdOf(name), orders: new Map() };
    this.#accounts.set(name, account);
    return account;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An account of an orders file holds no scope for an execution. Rule R6 (feeds/FORMATS.md). */
function refuseExecution(execution: OrderBody['execution']): void {
  if (execution === undefined || execution === 'paper') return;
  throw new ApiError(execution === 'venue_c' ? 'us_not_eligible' : 'insufficient_scope');
}
