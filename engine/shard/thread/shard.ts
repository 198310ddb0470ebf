/**
 * One shard: its state, its log, its checkpoints. In one synchronous step a batch is decided, its
 * facts are written, and it is answered. Meanwhile the callers' thread gathers the next batch. A
 * checkpoint is written beside the batches. In a cluster it may follow another node's shard first.
 * Rules D1 to D3, D8, D43, D102, S15, N102, N108, N112, N150 (engine/RULES.md).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { invariant } from '../../base/invariant.ts';
import type { Message } from '../../format/codec.ts';
import { RecordIndex } from '../../index/record-index.ts';
import { DiskFull } from '../../log/disk-full.ts';
import type { LogPosition, LogRecord } from '../../log/log-format.ts';
import {
  type LiquidityMemory,
  liquidityMemory,
  MarketLiquidity,
} from '../../memory/market-liquidity.ts';
import type { Reply } from '../../rules/messages.ts';
import { noteMovedPlaces } from '../../rules/queue-fills.ts';
import { continueSettlements } from '../../rules/settle-markets.ts';
import { tablesOf } from '../../rules/state.ts';
import type { Batch } from '../core/batch.ts';
import { createState, type StoredState } from '../core/create-state.ts';
import { ReplyEncoder } from '../core/reply-encoder.ts';
import { ShardRecords } from '../core/shard-records.ts';
import { headOf, referenceDataOf } from '../store/checkpoint-state.ts';
import type { Checkpoints } from '../store/checkpoints.ts';
import { DiskStatus } from '../store/disk-reserve.ts';
import { type OpenReport, openReportOf } from '../store/open-report.ts';
import { type FromDisk, recover } from '../store/recover.ts';
import { replayFacts } from '../store/replay.ts';
import type { RecordStore, ShardLog } from '../store/shard-log.ts';
import { openStore, type ShardConfig, type ShardStore } from '../store/shard-store.ts';
import { CountedFacts } from './order-counts.ts';
import { ShardGauges } from './shard-gauges.ts';

/** The usual facts of a message. Room for more is made once their bytes are known. */
const MESSAGE_BYTES = 1000;
const SETTLED_AT_ONCE = 500;
/** Places in queues that one record of the log notes, and the bytes of each. */
const PLACES_AT_ONCE = 20_000;
const PLACE_BYTES = 64;
/** How often a shard that cannot write retries. */
const PROBE_EVERY_MS = 1000;
/** How often a batch checks whether the checkpoint has caught up. */
const BEHIND_EVERY_MS = 1;

/** What a shard shares with other threads. */
export type SharedByShard = {
  disk: DiskStatus;
  gauges: ShardGauges;
  /** Displayed sizes that fill once over all shards. */
  liquidity: LiquidityMemory;
};

/** The cluster of a shard that leads in it. */
export interface Leadership extends RecordStore {
  /** Returns if the shard leads now. */
  confirm(): void;
  /** The last fact of the log, and the last one that its disk has for certain. */
  notePlace(applied: number, onDisk: number): void;
  /** After the last record: another node may lead. Throws if this one shall follow it. */
  release(): void;
}

export class Shard {
  readonly state: StoredState;
  readonly #recovered: FromDisk;
  readonly #log: ShardLog;
  readonly #checkpoints: Checkpoints;
  readonly #config: ShardConfig;
  readonly #settledAtOnce: number;
  #factsSinceCheckpoint = 0;
  /** `state.catalogEntries` of the last checkpoint. */
  #catalogEntries = 0;
  /** The checkpoint being written. */
  #writing: Promise<void> | null = null;
  /** A checkpoint was cut off because the shard ends; there is no other. */
  #isCutOff = false;
  /** Memory is ahead of the log: a batch is being processed, or has failed. */
  #isAhead = false;
  /** The error of a checkpoint; undefined: there is none. */
  #fault: unknown;
  /** `state.referenceDataVersion` of the last checkpoint; none since the start. */
  #referenceDataVersion = -1;
  readonly #disk: DiskStatus;
  readonly #gauges: ShardGauges;
  readonly #facts: CountedFacts;
  #probedAtMs = 0;
  /** Null: it is in no cluster, or does not lead. */
  #leadership: Leadership | null = null;

  static async open(config: ShardConfig, shared?: Partial<SharedByShard>): Promise<Shard> {
    const store = await openStore(config);
    try {
      return new Shard(config, store, shared);
    } catch (error) {
      // Closed, because the next try opens it again, and no process may open it twice.
      store.log.close();
      await store.checkpoints.close();
      throw error;
    }
  }

  /**
   * Loads the state from the store: a checkpoint, then the facts after it. `shared`: left out, it
   * shares nothing.
   */
  constructor(
    config: ShardConfig,
    { log, checkpoints }: ShardStore,
    shared: Partial<SharedByShard> = {},
  ) {
    const { disk = new DiskStatus(), gauges = new ShardGauges() } = shared;
    const { liquidity = liquidityMemory(config.shard + 1) } = shared;
    this.#config = config;
    this.#settledAtOnce = config.settledAtOnce ?? SETTLED_AT_ONCE;
    invariant(this.#settledAtOnce > 0, 'a slice of a settlement settles nothing');
    this.#log = log;
    this.#checkpoints = checkpoints;
    this.#disk = disk;
    this.#gauges = gauges;
    this.#facts = new CountedFacts(log.facts, gauges.orders);
    const seed = new Uint32Array(Uint8Array.from(randomBytes(16)).buffer);
    const records = new ShardRecords(new RecordIndex(checkpoints.runs, seed), log);
    this.state = createState(config, records, new MarketLiquidity(liquidity, config.shard));
    this.#recovered = recover(this.state, checkpoints.read, log, log.facts);
    log.begin();
    this.state.liquidity.rejoin(this.state.taken.all());
    this.#factsSinceCheckpoint = this.#recovered.facts;
    gauges.opened(log, this.#recovered.head);
  }

  /** As the shard is now: before its first batch, the report of its start. */
  get report(): OpenReport {
    return openReportOf(this.state, this.#recovered.records);
  }

  /** The number of the last fact in the log, and the payload of its record; null: there is none. */
  get lastRecord(): { number: number; payload: Uint8Array | null } {
    return { number: this.#log.lastNumber, payload: this.#log.lastPayload() };
  }

  /**
   * Applies the next record of the node that leads: the same facts at the same position. False: the
   * disk has no room now. Throws as `answer`.
   */
  fold({ position, firstNumber, count, atMs, payload }: LogRecord & { position: LogPosition }) {
    const startedMs = performance.now();
    this.#throwFault();
    invariant(this.#leadership === null, 'a shard follows while it leads');
    invariant(!this.#isAhead, 'a record is applied after one has failed');
    if (!this.#mayWrite(payload.length)) return false;
    const { facts, tail, lastNumber } = this.#log;
    if (position !== tail || firstNumber !== lastNumber + 1) {
      throw new Error(
        `fact ${firstNumber} of the cluster is at ${position} of its log, and this log continues ` +
          `with fact ${lastNumber + 1} at ${tail}`,
      );
    }
    this.#isAhead = true;
    this.#log.begin();
    replayFacts(this.state, facts, payload);
    invariant(facts.count === count, 'a record was played to more facts, or fewer');
    this.#commit(startedMs, atMs);
    return true;
  }

  /** It has followed to the end, and decides from here on, as after a start. */
  lead(leadership: Leadership): void {
    invariant(this.#leadership === null, 'a shard begins to lead twice');
    invariant(!this.#isAhead, 'a shard leads after a record has failed');
    this.#leadership = leadership;
    this.#log.store = leadership;
    this.state.recoveredAtMs = this.state.nowMs;
    this.state.liquidity.rejoin(this.state.taken.all());
  }

  /**
   * Runs a batch and writes its answers in the order of its commands and queries. If the disk has
   * no room, commands are answered as not taken. On return all that the answers show is durable.
   * Throws on a fault of ours or of the disk. Memory is then ahead of the log, and the shard must
   * start again.
   */
  answer(messages: Batch, answers: ReplyEncoder): void {
    const startedMs = performance.now();
    this.#throwFault();
    invariant(!this.#isAhead, 'a batch is taken while another is, or after one has failed');
    const { lastNumber } = this.#log;
    if (!this.#mayWrite(messages.length * MESSAGE_BYTES)) {
      for (const message of messages) answers.withoutFacts(this.state, message, lastNumber);
      this.#leadership?.confirm();
      return;
    }
    this.#inOneRecord(startedMs, () => {
      for (const message of messages) {
        answers.message(this.state, message, this.#facts, lastNumber);
      }
      this.#gauges.orders.refused(answers.takeRefusedOrders());
    });
  }

  /**
   * Settles some remaining trades of markets with results. False: none are left, or not now. Throws
   * as `answer`.
   */
  settleSlice(): boolean {
    const startedMs = performance.now();
    this.#throwFault();
    invariant(!this.#isAhead, 'trades settle while a batch is taken, or after one has failed');
    if (this.state.pendingSettlements.isEmpty || this.isSettlingPaused) return false;
    if (!this.#mayWrite(this.#settledAtOnce * MESSAGE_BYTES)) return false;
    this.#inOneRecord(startedMs, () => continueSettlements(this.state, this.#facts));
    return true;
  }

  /**
   * A checkpoint is being written, and the next one is half due. The rest of a settlement waits, so
   * that it does not make batches wait (`isBehind`).
   */
  get isSettlingPaused(): boolean {
    const isHalfDue = this.#replayedByStart * 2 >= this.#config.checkpointEveryFacts;
    return !this.state.pendingSettlements.isEmpty && this.isWriting && isHalfDue;
  }

  /** The last fact that is in the log. */
  get lastNumber(): number {
    return this.#log.lastNumber;
  }

  /** The last fact that the log's disk has for certain. */
  get durableNumber(): number {
    return this.#log.durableNumber;
  }

  /** A checkpoint is being written. It continues while the event loop of this thread turns. */
  get isWriting(): boolean {
    return this.#writing !== null;
  }

  /**
   * A checkpoint is being written, and the next one is due. No batch is taken, because a start
   * could not replay it in time. If the checkpoint waits for space, `take` takes nothing (D8).
   */
  get isBehind(): boolean {
    return this.#isOverdue && !this.#checkpoints.isLackingSpace;
  }

  /** It takes batches again, or a checkpoint has failed, which `take` reports. */
  async caughtUp(): Promise<void> {
    while (this.isBehind) await sleep(BEHIND_EVERY_MS);
  }

  /** Why it cannot write now; 0: it can. */
  get diskErrno(): number {
    return this.#disk.errno;
  }

  /** `answer`, with the answers read back; null: the command was not taken. */
  take(messages: Batch): (Reply | null)[] {
    const answers = new ReplyEncoder();
    this.answer(messages, answers);
    return answers.replies();
  }

  /** `take` while the disk has room. Throws `DiskFull`. */
  run(messages: Message[]): Reply[] {
    return this.take(messages).map((reply) => {
      if (reply === null) throw new DiskFull(this.#disk.errno, 0);
      return reply;
    });
  }

  /** Writes a checkpoint of everything in the log so far. Waits for space on a full disk. */
  async checkpoint(): Promise<void> {
    await this.#settled();
    if (this.#factsSinceCheckpoint === 0 || this.#isCutOff) return;
    this.#beginCheckpoint();
    await this.#settled();
  }

  /**
   * Ends with a checkpoint if there is space, so that the next start replays nothing. In a cluster
   * another node may lead meanwhile. Rejects with `Deposed` if this one shall follow it at once.
   */
  async close(): Promise<void> {
    this.#checkpoints.hurry();
    this.#notePlaces();
    this.#leadership?.release();
    await this.checkpoint();
    await this.abandon();
  }

  /** Ends as `close` does, without a fact of its own: its log is the leader's. */
  async closeFollower(): Promise<void> {
    invariant(this.#leadership === null, 'a leader closes as a follower does');
    this.#checkpoints.hurry();
    await this.checkpoint().finally(() => this.abandon());
  }

  /** The next start knows how far each order has come in its queue. Rule T154 (engine/RULES.md). */
  #notePlaces(): void {
    for (let isMore = true; isMore && this.#mayWrite(PLACES_AT_ONCE * PLACE_BYTES); ) {
      this.#inOneRecord(performance.now(), () => {
        isMore = noteMovedPlaces(this.state, this.#facts, PLACES_AT_ONCE);
      });
    }
  }

  /** Ends without a checkpoint: only the data on disk counts. */
  async abandon(): Promise<void> {
    this.#checkpoints.stop();
    this.#log.close();
    await this.#writing;
    await this.#checkpoints.close();
  }

  /** Whether a batch has space. After a failure the disk is tried only every second. */
  #mayWrite(bytes: number): boolean {
    const disk = this.#disk;
    if (disk.errno !== 0) {
      const nowMs = Date.now();
      if (Math.abs(nowMs - this.#probedAtMs) < PROBE_EVERY_MS) return false;
      this.#probedAtMs = nowMs;
    }
    try {
      this.#log.ensureRoom(Math.max(bytes, disk.neededBytes));
      if (this.#isOverdue) this.#checkpoints.checkSpace();
    } catch (error) {
      if (!(error instanceof DiskFull)) throw error;
      this.#probedAtMs = Date.now();
      // Until all of that space is free: a small batch that fits would make the shard alternate
      // between writing and not.
      disk.set(error.errno, disk.errno === 0 ? error.bytes : disk.neededBytes);
      return false;
    }
    if (disk.errno !== 0) disk.set(0);
    return true;
  }

  /** The facts of `run` are on disk on return. It settles no more than a batch may. */
  #inOneRecord(startedMs: number, run: () => void): void {
    this.#isAhead = true;
    this.#log.begin();
    this.state.pendingSettlements.left = this.#settledAtOnce;
    run();
    // A record that the cluster has stored shows that this shard led then.
    if (this.#log.facts.count > 0) this.#commit(startedMs);
    else this.#leadership?.confirm();
    this.#gauges.orders.committed();
    this.#isAhead = false;
  }

  /** Memory is ahead of the log here, so a full disk is now a fault. */
  #commit(startedMs: number, atMs = this.state.nowMs): void {
    const { count } = this.#log.facts;
    try {
      this.#log.commit(atMs);
    } catch (error) {
      // The next start waits for that much space, and so does not end here again.
      if (error instanceof DiskFull) this.#disk.set(error.errno, error.bytes);
      throw error;
    }
    this.#leadership?.notePlace(this.#log.lastNumber, this.#log.durableNumber);
    this.#isAhead = false;
    this.#factsSinceCheckpoint += count;
    this.#gauges.committed(this.#log, performance.now() - startedMs);
    if (this.#isDue && this.#writing === null) this.#beginCheckpoint();
  }

  get #isDue(): boolean {
    return this.#replayedByStart >= this.#config.checkpointEveryFacts;
  }

  /** The facts that a start would replay. A catalog is the work of one for each instrument. Rule D102. */
  get #replayedByStart(): number {
    return this.#factsSinceCheckpoint + this.state.catalogEntries - this.#catalogEntries;
  }

  get #isOverdue(): boolean {
    return this.#writing !== null && this.#isDue;
  }

  /** Begins a checkpoint in one synchronous step, so that it shows one moment. */
  #beginCheckpoint(): void {
    const { state } = this;
    invariant(!this.#isAhead, 'a checkpoint began with facts that are not in the log');
    invariant(this.#writing === null, 'a checkpoint began while another is being written');
    const tables = tablesOf(state);
    for (const table of tables) table.beginCheckpoint(this.#checkpoints.nextNumber);
    const isReferenceDataNew = state.referenceDataVersion !== this.#referenceDataVersion;
    this.#referenceDataVersion = state.referenceDataVersion;
    this.#factsSinceCheckpoint = 0;
    this.#catalogEntries = state.catalogEntries;
    const { lastNumber: facts, tail } = this.#log;
    const head = { ...headOf(state), facts, tail };
    const written = this.#checkpoints.write({
      head,
      referenceData: isReferenceDataNew ? referenceDataOf(state) : null,
      tables,
      seal: state.records.index.beginSeal(),
    });
    this.#writing = written.then(
      (isWhole) => {
        this.#writing = null;
        if (isWhole) {
          state.records.index.endSeal();
          this.#gauges.checkpointed(this.#log, head);
        } else this.#isCutOff = true;
      },
      (error: unknown) => {
        this.#writing = null;
        this.#fault = error;
      },
    );
  }

  /** No checkpoint is being written on return. */
  async #settled(): Promise<void> {
    await this.#writing;
    this.#throwFault();
  }

  #throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }
}
