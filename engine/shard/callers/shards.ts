/**
 * The engine as its callers see it: accounts spread over shards, ticks sent to every shard, quote
 * reads to the shard that the instrument hashes to. Rules D5, D6, D11, D12, S11 (engine/RULES.md).
 */
import path from 'node:path';
import type { EpochMs, InstrumentNumber, Uuid } from '../../base/units.ts';
import type { Packed } from '../../format/codec.ts';
import { type LiquidityMemory, liquidityMemory } from '../../memory/market-liquidity.ts';
import type { Catalog } from '../../rules/catalog-entries.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import type {
  Command,
  Reply,
  ResultTick,
  SetSwitches,
  SettleMarket,
  TagTrade,
  Tick,
  TradingCommand,
} from '../../rules/messages.ts';
import type {
  BidsQuery,
  PreviewQuery,
  Query,
  QuoteChangesQuery,
  QuoteKind,
} from '../../rules/queries.ts';
import type { CoreConfig } from '../../rules/reference-data.ts';
import { FairTurns } from '../../threads/fair-turns.ts';
import type { Log } from '../../threads/logger.ts';
import { NotLeader, Unavailable } from '../../threads/unavailable.ts';
import { isReadOfHolder } from '../core/message-kinds.ts';
import { tradeUseOf } from '../core/trade-use.ts';
import { countsOf, type OpenReport } from '../store/open-report.ts';
import type { ShardConfig } from '../store/shard-store.ts';
import type { RebuildShard } from './checkpoint-repair.ts';
import type { Clock } from './clock.ts';
import { CrossShardLimits } from './cross-shard-limits.ts';
import { FurtherEnds } from './further-ends.ts';
import {
  type AuditOfShards,
  correctionsIn,
  hashOfDigests,
  sumOfAudits,
  unevenCorrections,
  unevenResults,
} from './merge-reports.ts';
import { RequestCoalescer } from './request-coalescer.ts';
import type { ReplyHandler } from './send-queue.ts';
import { type MakeReplicator, ShardClient } from './shard-client.ts';
import { problemsOf, refusalOf, stateOf } from './shard-health.ts';
import { shardOfAccount, shardOfInstrument } from './shard-of.ts';
import type { ShardStatus } from './shard-status.ts';
import { StartupState } from './startup-state.ts';
import { StreamConnections } from './stream-connections.ts';
import { askAll, eachOr, sendToAll, settleInAll, settleInOpen, tagInOne } from './to-all-shards.ts';

type OfShard = Pick<ShardConfig, 'durability' | 'checkpointEveryFacts' | 'settledAtOnce'>;
export type ShardsOptions = CoreConfig &
  OfShard & {
    dataDir: string;
    shards: number;
    /** Whether an earlier start created every shard, so that a missing one was lost. */
    wereMade?: boolean;
    /** By shard, the last fact that it had for certain; null: none is recorded beside them. */
    reached?: readonly number[] | null;
    queueDepthMax: number;
    clock: Clock;
    /** Rebuilds a checkpoint that is damaged; left out: an operator does (D33). */
    rebuild?: RebuildShard;
    /** The ends of further threads; left out: this thread alone calls the shards. */
    further?: FurtherEnds;
    /** Left out: the shards are in no cluster. */
    replicator?: MakeReplicator;
    log: Log;
  };

const READS_MAX = 1024;
/** Enough for batches; a page of each still takes the shard a few milliseconds. */
const READS_OF_ONE_AT_ONCE = 8;
const READS_OF_ONE_MAX = 256;
/** How often shards receive the time when no tick carries it, so that orders expire. */
const TIME_TICK_MS = 250;

/** Of a catalog, for shards with the one before. */
type CatalogNews = ReturnType<StartupState['setCatalog']>;

/** Reads of accounts by their holders. Rules Q18, Q19 (api/RULES.md). */
export function readsInTurns(): FairTurns {
  return new FairTurns({
    of: 'portfolio',
    atOnce: READS_MAX,
    eachAtOnce: READS_OF_ONE_AT_ONCE,
    eachMax: READS_OF_ONE_MAX,
  });
}

export class Shards {
  readonly #options: ShardsOptions;
  readonly #clients: ShardClient[];
  readonly #timer: NodeJS.Timeout;
  readonly #coalescer = new RequestCoalescer();
  readonly #reads = readsInTurns();
  readonly #startup = new StartupState();
  readonly #further: FurtherEnds;
  readonly #liquidity: LiquidityMemory;
  readonly #crossShardLimits: CrossShardLimits;
  readonly connections: StreamConnections;
  /** Shards that may lack the last catalog. */
  readonly #lackCatalog = new Set<ShardClient>();
  /** Results that some shards have and others lack. All shards get them after the catalog. */
  #lackedResults: ResultTick[] = [];
  #lackedCorrections: SettleMarket[] = [];
  /** By market: the number of its last correction. */
  #corrections: number[] = [];
  #stopping = false;

  constructor(options: ShardsOptions) {
    this.#options = options;
    const further = options.further ?? new FurtherEnds();
    this.#further = further;
    this.#liquidity = liquidityMemory(options.shards);
    this.#crossShardLimits = new CrossShardLimits(
      () => this.nowMs(),
      () => (further.count === 0 ? null : further.callers),
    );
    this.#clients = Array.from({ length: options.shards }, (_, shard) => this.#createClient(shard));
    this.#timer = setInterval(() => {
      this.#tickAll({ kind: 'time', atMs: this.nowMs() });
    }, TIME_TICK_MS);
    this.#timer.unref();
    this.connections = new StreamConnections({
      open: this.#startup.connections,
      deliver: (command) => this.#clientOf(command.account).deliver(command),
      nowMs: () => this.nowMs(),
      log: options.log,
    });
  }

  /**
   * Starts every shard's thread. Returns a report per shard, or null if its file is damaged: then
   * its accounts are unavailable, and the others are served. Rejects if a shard cannot start for
   * another reason.
   */
  async open(): Promise<(OpenReport | null)[]> {
    const reports = await Promise.all(this.#clients.map((client) => client.openOrLater()));
    this.#options.clock.startFrom(Math.max(0, ...reports.map((report) => report?.nowMs ?? 0)));
    for (const [shard, report] of reports.entries()) {
      if (report !== null) this.#options.log.info({ shard, ...countsOf(report) }, 'shard ready');
    }
    this.#lackedResults = unevenResults(reports, this.nowMs());
    this.#lackedCorrections = unevenCorrections(reports, this.nowMs());
    this.#corrections = correctionsIn(reports);
    return reports;
  }

  nowMs(): EpochMs {
    return this.#options.clock.nowMs();
  }

  /** The machine's time. The engine's may be ahead of it, or earlier. */
  machineMs(): EpochMs {
    return this.#options.clock.machineMs();
  }

  /** The problem of the time on one line; null: there is none. */
  clockProblem(): string | null {
    return this.#options.clock.problem();
  }

  /**
   * Makes the machine's time the engine's (C6). It is on disk in every shard on return, so that no
   * later start continues from the old time. Throws `Unavailable` if a shard cannot accept it now.
   */
  async acceptMachineTime(): Promise<void> {
    this.#requireAll();
    const goOn = await this.#further.callers?.pause();
    try {
      const backMs = this.#options.clock.acceptMachine();
      // Every later message carries the new time and arrives after this one.
      if (backMs > 0) this.#startup.setBack(backMs);
      const nowMs = this.nowMs();
      const isTaken = await this.#sendToAll({ kind: 'clock', atMs: nowMs, toMs: nowMs });
      if (!isTaken) throw new Unavailable('a shard did not take the time: ask again');
      this.#crossShardLimits.timeWasSet();
    } finally {
      goOn?.();
    }
  }

  /** Keys whose orders only this thread may send. Rule D75 (engine/RULES.md). */
  roamingKeys(): Uuid[] {
    return this.#crossShardLimits.keys;
  }

  /**
   * The further thread `at` is gone. Resolves once all that it had sent is decided or dropped, so
   * that another thread may use its ends. Rule D74 (engine/RULES.md).
   */
  async renewEnds(at: number): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.renewEnd(at)));
  }

  /** An operator's result (T140, S20), on disk in every shard on return. Throws `Unavailable`. */
  async settle(result: ResultTick, { isCorrection } = { isCorrection: false }): Promise<Reply> {
    this.#requireAll();
    const { source: _, kind: __, ...rest } = result;
    const correction = isCorrection ? (this.#corrections[result.market] ?? 0) + 1 : null;
    const command: SettleMarket = { kind: 'settle', ...rest, correction };
    this.#coalescer.end();
    // A shard that starts again meanwhile gets it too.
    if (correction === null) {
      this.#startup.keep(result);
      return await settleInAll(this.#clients, command);
    }
    this.#corrections[result.market] = correction;
    const takeBack = this.#startup.keepCorrection(command);
    const reply = await settleInAll(this.#clients, command);
    if (!reply.ok) takeBack();
    return reply;
  }

  /**
   * The result of a market as a cluster has it, on disk on return in each shard that this node leads
   * then. Another shard gets it when this node leads that. Rule N140 (engine/RULES.md). `correction`:
   * its number; null: it is the first one.
   */
  async settleLed(result: ResultTick, correction: number | null): Promise<Reply> {
    const { source: _, kind: __, ...rest } = result;
    const command: SettleMarket = { kind: 'settle', ...rest, correction };
    this.#coalescer.end();
    if (correction === null) this.#startup.keep(result);
    else this.#startup.keepCorrection(command);
    return await settleInOpen(this.#clients, command);
  }

  /** A correction that a crash kept from some shards. Rule S25 (engine/RULES.md). */
  async #correctAgain(command: SettleMarket): Promise<void> {
    this.#startup.keepCorrection(command);
    const replies = await Promise.all(this.#clients.map((client) => client.deliver(command)));
    for (const [shard, reply] of replies.entries()) {
      if (reply?.ok !== false) continue;
      const { market } = command;
      this.#options.log.error(
        { shard, market, why: reply.message },
        'a shard refuses a correction',
      );
    }
  }

  /**
   * Tags a trade in the shard that has it. Throws `Unavailable` if a shard cannot accept it now.
   */
  tagTrade(command: TagTrade): Promise<Reply> {
    return tagInOne(this.#clients, command);
  }

  #requireAll(): void {
    const refusals = this.#clients.map((client) => client.refusal());
    const elsewhere = refusals.find((refusal) => refusal instanceof NotLeader);
    if (elsewhere !== undefined) throw elsewhere;
    const state = this.state();
    if (state !== 'ready') throw new Unavailable(`${state}. ${this.problems().join(' ')}`);
  }

  /** The problems of the shards, one line per shard: damaged data, or repeated failures. */
  problems(): string[] {
    return problemsOf(this.statuses());
  }

  state(): 'starting' | 'ready' | 'stopping' | 'degraded' {
    return this.#stopping ? 'stopping' : stateOf(this.statuses());
  }

  /** By shard. */
  statuses(): ShardStatus[] {
    return this.#clients.map(({ status }) => status);
  }

  /** Why no shard accepts a request now; null: at least one does. */
  refusal(): Unavailable | null {
    return refusalOf(this.#clients);
  }

  /**
   * Runs a command or query on the account's shard. The waiter gets the reply or `Unavailable`.
   * Commands that count towards the limits of a key go through `trade`. Reads by the account's
   * holder wait for their turn, because one answer may take as long as hundreds of orders: Q18
   * (api/RULES.md).
   */
  ask(account: Uuid, request: Command | Query, waiter: ReplyHandler): undefined {
    if (!isReadOfHolder(request)) return this.#askNow(account, request, waiter);
    const ask = () =>
      new Promise<Reply>((resolve, reject) => this.#askNow(account, request, { resolve, reject }));
    this.#reads.take(account, ask).then(
      (reply) => waiter.resolve(reply),
      (error: Error) => waiter.reject(error),
    );
  }

  #askNow(account: Uuid, request: Command | Query, waiter: ReplyHandler): undefined {
    if (this.#stopping) waiter.reject(new Unavailable('the engine is stopping'));
    else this.#clientOf(account).ask(request, waiter);
  }

  /**
   * `ask` for commands that count towards the hard trade limits of a key, which apply across all
   * accounts it trades on. `owner`: the personal account of the key's owner, where most keys trade.
   */
  trade(owner: Uuid, command: TradingCommand, waiter: ReplyHandler): undefined {
    const { account, counting } = command;
    if (this.#stopping || counting === null) return this.ask(account, command, waiter);
    const [home, to] = [this.#clientOf(owner), this.#clientOf(account)];
    return this.#crossShardLimits.send({ command, counting, home, to, waiter });
  }

  /** `ask` for a preview: its order is decided as `trade` would decide it. */
  preview(owner: Uuid, query: PreviewQuery, waiter: ReplyHandler): undefined {
    const { account, counting } = query.order;
    if (this.#stopping || counting === null) return this.ask(account, query, waiter);
    const [home, to] = [this.#clientOf(owner), this.#clientOf(account)];
    return this.#crossShardLimits.preview({ query, counting, home, to, waiter });
  }

  #clientOf(account: Uuid): ShardClient {
    return this.#clients[shardOfAccount(account, this.#clients.length)]!;
  }

  call(account: Uuid, request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask(account, request, { resolve, reject }));
  }

  /** Passes the waiter the result of `find`. Equal questions of one event loop turn share it. */
  coalesce<T>(question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined {
    return this.#coalescer.ask(question, find, waiter);
  }

  /** Every shard receives every tick, so any of them can answer. */
  quote(instrumentId: string, atMs: EpochMs, kind: QuoteKind = 'instrument_quote') {
    const find = () => this.#clientOfQuote(instrumentId).call({ kind, atMs, instrumentId });
    return new Promise<Reply>((resolve, reject) => {
      this.coalesce(`${kind} ${instrumentId}`, find, { resolve, reject });
    });
  }

  tradeUse(owner: Uuid, keyId: Uuid): ReturnType<typeof tradeUseOf> {
    return tradeUseOf(this.#clients, this.#clientOf(owner), { owner, keyId, atMs: this.nowMs() });
  }

  /** `PricedQuery`, from any shard. For all instruments it is asked once a turn. */
  priced(instruments: readonly InstrumentNumber[] | null, atMs: EpochMs): Promise<Reply> {
    const by = this.#clientOfQuote(String(instruments?.[0]));
    const find = () => by.call({ kind: 'priced', atMs, instruments });
    if (instruments !== null) return find();
    return new Promise((resolve, reject) => this.coalesce('priced', find, { resolve, reject }));
  }

  /** By shard, the answer to `HeldQuery`; null: it cannot answer now. */
  held(): Promise<(string | null)[]> {
    return eachOr(this.#clients, { kind: 'held_markets', atMs: this.nowMs() });
  }

  /** By shard, the answer to `CorrectedQuery`; null: it cannot answer now. */
  corrected(): Promise<(string | null)[]> {
    return eachOr(this.#clients, { kind: 'corrected_markets', atMs: this.nowMs() });
  }

  /** A question that any shard can answer. */
  askAny(query: QuoteChangesQuery | BidsQuery): Promise<Reply> {
    return this.#clientOfQuote('instruments' in query ? query.instruments[0]! : '').call(query);
  }

  #clientOfQuote(instrumentId: string): ShardClient {
    const open = this.#clients.filter(({ isOpen }) => isOpen);
    const among = open.length > 0 ? open : this.#clients;
    return among[shardOfInstrument(instrumentId, among.length)]!;
  }

  /** Sends every shard a venue's tick. */
  tick(tick: Tick): void {
    this.#options.clock.heartbeat(tick.atMs);
    this.#startup.keep(tick);
    this.#tickAll(tick);
  }

  /**
   * `tick` for many, packed by `writeMessage`. Without `ticks`, a shard that starts again lacks
   * them.
   */
  packedTicks(bytes: Uint8Array, newestMs: EpochMs, ticks: readonly Tick[] | null = null): void {
    this.#options.clock.heartbeat(newestMs);
    for (const tick of ticks ?? []) this.#startup.keep(tick);
    this.#tickAll({ kind: 'packed', bytes, ticks: ticks?.length ?? null });
  }

  /**
   * Gives every shard the catalog, durably on return. A shard that is down gets it at its start.
   */
  async setCatalog(catalog: Catalog): Promise<void> {
    const news = this.#startup.setCatalog(catalog);
    await Promise.all(this.#clients.map((client) => this.#sendCatalog(client, { catalog }, news)));
    for (const tick of this.#lackedResults.splice(0)) this.tick(tick);
    for (const command of this.#lackedCorrections.splice(0)) await this.#correctAgain(command);
  }

  /** A shard that did not take the catalog before gets the whole. Rule K62 (feeds/FORMATS.md). */
  async #sendCatalog(client: ShardClient, whole: { catalog: Catalog }, news: CatalogNews) {
    const sent = this.#lackCatalog.has(client) ? whole : news;
    if (sent === null) return;
    this.#lackCatalog.add(client);
    this.#coalescer.end();
    const isTaken = await sendToAll([client], { kind: 'catalog', atMs: this.nowMs(), ...sent });
    if (isTaken) this.#lackCatalog.delete(client);
  }

  /** Gives every shard the fee table. Rule F20 (feeds/FORMATS.md). */
  async setFees(lines: readonly FeeEntry[]): Promise<void> {
    this.#startup.setFees(lines);
    await this.#sendToAll({ kind: 'fees', atMs: this.nowMs(), lines });
  }

  /** Sends every shard the operator's switches; resolves when all apply them. */
  async broadcast(switches: SetSwitches): Promise<void> {
    this.#startup.setSwitches(switches);
    await this.#sendToAll(switches);
  }

  /** Resolves when the shards have processed everything sent so far. */
  async drained(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.drained()));
  }

  /** Checks every invariant of every shard; `problems` is empty when all are met. */
  async audit(): Promise<AuditOfShards> {
    const atMs = this.nowMs();
    return sumOfAudits(await Promise.all(this.#clients.map((client) => client.audit(atMs))));
  }

  /** Equal for equal histories; with `quotes` for equal quotes too. Rule D12 (engine/RULES.md). */
  async stateHash({ quotes } = { quotes: false }): Promise<string> {
    const asked = { kind: 'digest', atMs: this.nowMs(), quotes } as const;
    return hashOfDigests(await askAll(this.#clients, asked));
  }

  /** Answers the queued requests, writes checkpoints, ends the threads. */
  async close(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  #createClient(shard: number): ShardClient {
    const {
      dataDir,
      queueDepthMax,
      wereMade = false,
      rebuild,
      replicator = null,
      log,
      ...rest
    } = this.#options;
    const { shards: _, clock: __, reached: facts, further: ___, ...config } = rest;
    const reached = facts?.[shard] ?? 0;
    const client: ShardClient = new ShardClient({
      config: { ...config, path: path.join(dataDir, `shard-${shard}`), shard, reached },
      liquidity: this.#liquidity,
      wasMade: wereMade,
      queueDepthMax,
      rebuild,
      startupMessages: (report) => {
        // A full disk may refuse them.
        this.#lackCatalog.add(client);
        return this.#startup.messages(this.nowMs(), report);
      },
      opened: (report) => {
        // Another node may have led it meanwhile, with a clock of its own.
        if (replicator !== null) this.#options.clock.startFrom(report.nowMs);
        this.#crossShardLimits.found(client, report);
      },
      replicator,
      further: this.#further,
      log,
    });
    return client;
  }

  #tickAll(tick: Tick | Packed): void {
    this.#coalescer.end();
    for (const client of this.#clients) client.tick(tick);
  }

  /** Whether every shard has the command. A shard that is not up gets it at its next start. */
  #sendToAll(command: Command): Promise<boolean> {
    this.#coalescer.end();
    return sendToAll(this.#clients, command);
  }
}
