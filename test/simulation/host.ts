/**
 * Runs one shard on disk the way its thread does, and crashes it. The files of that moment, as a
 * SIGKILL would leave them, are copied, and the next start is made from the copy. All later work of
 * the shard is lost.
 */
import { deepStrictEqual } from 'node:assert';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { digest } from '../../engine/audit/digest.ts';
import type { Message } from '../../engine/format/codec.ts';
import { offsetOf, recordBytesAt, segmentOf } from '../../engine/log/log-format.ts';
import { segmentName } from '../../engine/log/segment-file.ts';
import { liquidityMemory } from '../../engine/memory/market-liquidity.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import {
  openStore,
  type ShardConfig,
  type ShardStore,
} from '../../engine/shard/store/shard-store.ts';
import { Shard } from '../../engine/shard/thread/shard.ts';
import { verifyShard } from '../../engine/verify/verify.ts';
import { messagesThrough, repliesThrough } from '../engine/format/frames.ts';
import type { Tally } from './tally.ts';

/**
 * The moment of a crash: before or after the record of a call, or the nth slice of a checkpoint; or
 * while a record was written, of which any part has reached the disk.
 */
export type CrashPoint =
  | { at: number; when: 'before' | 'after' }
  | { at: number; when: 'within'; tear: (record: Buffer) => void };

type HostOptions = Omit<ShardConfig, 'path'> & { dir: string; tally: Tally; segmentBytes: number };

const CRASHES = {
  before: 'crashes before a commit',
  within: 'crashes within a record',
  after: 'crashes after a commit',
} as const;

/** LMDB's readers and locks: a new process finds nobody there. */
const LOCK_FILE = 'lock.mdb';

/** So little that a checkpoint has several slices. */
const SLICE_BYTES = 20_000;

export class Host {
  readonly #options: HostOptions;
  #shard!: Shard;
  #liquidity = liquidityMemory(1);
  #starts = 0;
  /** Calls of one kind of moment are counted from 0. */
  #moments = 0;
  #planned: CrashPoint | null = null;
  #crashed: CrashPoint | null = null;
  /** Lets a checkpoint continue by one slice; null: none waits. */
  #goOn: (() => void) | null = null;
  /** Slices continue without a wait. */
  #isOpenWay = false;

  private constructor(options: HostOptions) {
    this.#options = options;
  }

  static async start(options: HostOptions): Promise<Host> {
    const host = new Host(options);
    await host.#open();
    return host;
  }

  get shard(): Shard {
    return this.#shard;
  }

  /** Whether orders or trades are left of a market with a result. */
  get isAmidSettlement(): boolean {
    const { markets, orders, positions } = this.#shard.state;
    const left = [
      ...[...orders.rows()].map((row) => orders.col.market.get(row)),
      ...[...positions.rows()].map((row) => positions.col.market.get(row)),
    ];
    return left.some((market) => markets[market]!.outcome !== null);
  }

  /** One batch, through the codecs that the callers' thread and the shard's use. */
  run(messages: Message[], crash: CrashPoint | null): { replies: Reply[] } | { crash: CrashPoint } {
    const sent = messagesThrough(messages);
    this.#plan(crash);
    // A shard with room takes every command.
    const result = repliesThrough(this.#shard.run(sent)) as Reply[];
    const crashed = this.#done();
    return crashed === null ? { replies: result } : { crash: crashed };
  }

  /** A slice of a checkpoint, as between batches. True: it crashed. */
  async idle(crash: CrashPoint | null): Promise<boolean> {
    this.#plan(crash);
    await this.#slice();
    return this.#done() !== null;
  }

  /** Settles some trades of markets with results, as between batches. True: it crashed. */
  settleSlice(crash: CrashPoint | null): boolean {
    this.#plan(crash);
    const before = this.#shard.lastNumber;
    this.#shard.settleSlice();
    if (this.#shard.lastNumber > before) this.#options.tally.count('slices of settlements');
    return this.#done() !== null;
  }

  async checkpoint(crash: CrashPoint | null): Promise<boolean> {
    this.#plan(crash);
    let isDone = false;
    const written = this.#shard.checkpoint().finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await until(() => this.#shard.isWriting || isDone);
      await this.#slice();
    }
    await written;
    return this.#done() !== null;
  }

  /** Crashes here and now. */
  crash(): void {
    cpSync(this.#dir(0), this.#dir(1), {
      recursive: true,
      filter: (file) => path.basename(file) !== LOCK_FILE,
    });
    if (this.#shard.isWriting) this.#options.tally.count('crashes between checkpoint steps');
  }

  /** Starts from the files of the last crash. */
  async restart(): Promise<void> {
    await this.#end((shard) => shard.abandon());
    rmSync(this.#dir(0), { recursive: true });
    this.#starts++;
    await this.#verify();
    await this.#open();
  }

  /** Ends in order, and starts again. */
  async stopAndStart(): Promise<void> {
    await this.#end((shard) => shard.close());
    await this.#verify();
    await this.#open();
  }

  async end(): Promise<void> {
    await this.#end((shard) => shard.abandon());
  }

  async #end(how: (shard: Shard) => Promise<void>): Promise<void> {
    this.#isOpenWay = true;
    this.#goOn?.();
    await how(this.#shard);
  }

  /** The files of the next start hold every invariant. */
  async #verify(): Promise<void> {
    deepStrictEqual((await verifyShard(this.#dir(0), 0, 1))?.problems, []);
  }

  /** The directory in use, or the one of the next start. LMDB never opens a path twice. */
  #dir(ahead: 0 | 1): string {
    return path.join(this.#options.dir, `start-${this.#starts + ahead}`);
  }

  async #open(): Promise<void> {
    this.#isOpenWay = false;
    const { dir: _dir, tally: _tally, segmentBytes, ...rest } = this.#options;
    const config = { ...rest, path: this.#dir(0) };
    const store = await openStore(config, {
      segmentBytes,
      sliceBytes: SLICE_BYTES,
      beforeSlice: () => this.#mayWrite(),
    });
    this.#watch(store);
    // The thread of the shard starts again, or the whole process does.
    if (this.#starts % 2 === 0) this.#liquidity = liquidityMemory(1);
    this.#shard = new Shard(config, store, { liquidity: this.#liquidity });
  }

  #plan(crash: CrashPoint | null): void {
    this.#moments = 0;
    this.#planned = crash;
    this.#crashed = null;
  }

  #done(): CrashPoint | null {
    this.#planned = null;
    return this.#crashed;
  }

  /**
   * While a checkpoint waits here, none of it is on its way to the disk. So a copy of the files
   * equals the files after a crash.
   */
  #mayWrite(): Promise<void> {
    if (this.#isOpenWay) return Promise.resolve();
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.#goOn = null;
        resolve();
      };
    });
  }

  /** Lets the present checkpoint continue until it waits again, or is done. */
  async #slice(): Promise<void> {
    if (!this.#shard.isWriting) return;
    await until(() => this.#goOn !== null);
    this.#moment('before');
    this.#goOn?.();
    await until(() => this.#goOn !== null || !this.#shard.isWriting);
    this.#moment('after');
    if (!this.#shard.isWriting) this.#options.tally.count('checkpoints');
    this.#moments++;
  }

  /** The log, with a moment before and one after every record. */
  #watch({ log }: ShardStore): void {
    const commit = log.commit.bind(log);
    log.commit = (atMs) => {
      this.#moment('before');
      const begun = log.tail;
      commit(atMs);
      this.#moment('within', begun);
      this.#moment('after');
      this.#moments++;
    };
  }

  /** `begun`: where the record lies that was being written. */
  #moment(when: CrashPoint['when'], begun = 0): void {
    const planned = this.#planned;
    if (planned?.when !== when || planned.at !== this.#moments) return;
    this.#crashed = planned;
    this.#options.tally.count(CRASHES[when]);
    this.crash();
    if (planned.when !== 'within') return;
    const file = path.join(logIn(this.#dir(1)), segmentName(segmentOf(begun)));
    const bytes = readFileSync(file);
    const at = offsetOf(begun);
    planned.tear(bytes.subarray(at, at + recordBytesAt(bytes, at)));
    writeFileSync(file, bytes);
  }

  /** The state of a start on a copy of the log, without a checkpoint. */
  async fromLogAlone(): Promise<string> {
    const { dir, tally: _tally, segmentBytes: _segmentBytes, ...rest } = this.#options;
    const alone = path.join(dir, 'alone');
    cpSync(logIn(this.#dir(0)), logIn(alone), { recursive: true });
    const shard = await Shard.open({ ...rest, path: alone });
    const found = JSON.stringify(digest(shard.state));
    await shard.abandon();
    rmSync(alone, { recursive: true });
    return found;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
