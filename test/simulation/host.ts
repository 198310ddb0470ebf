/**
 * Runs one shard on disk the way its thread does, and crashes it: what a SIGKILL would leave on
 * disk at that moment is copied away, and the next start is made from the copy. Whatever the shard
 * does after the moment of its crash is lost.
 */
import { deepStrictEqual } from 'node:assert';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../engine/format/codec.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import { Shard, type ShardConfig } from '../../engine/shard/shard.ts';
import { openStore, type ShardStore } from '../../engine/shard/store.ts';
import { verifyShard } from '../../engine/shard/verify.ts';
import { messagesThrough, repliesThrough } from '../engine/format/frames.ts';
import type { Tally } from './tally.ts';

/** The moment of a crash: the commits of one call are counted from 0. */
export type CrashPoint = { commit: number; when: 'before' | 'after' };

type HostOptions = Omit<ShardConfig, 'path'> & { dir: string; tally: Tally };

/** LMDB's readers and locks: a new process finds nobody there. */
const LOCK_FILE = 'lock.mdb';

export class Host {
  readonly #options: HostOptions;
  #shard: Shard;
  #starts = 0;
  #commits = 0;
  #planned: CrashPoint | null = null;
  #crashed: CrashPoint | null = null;
  #isCheckpointing = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#shard = this.#open();
  }

  get shard(): Shard {
    return this.#shard;
  }

  /** One batch, through the codecs that the callers' thread and the shard's use. */
  run(messages: Message[], crash: CrashPoint | null): { replies: Reply[] } | { crash: CrashPoint } {
    const sent = messagesThrough(messages);
    const { result, crashed } = this.#do(crash, () => repliesThrough(this.#shard.run(sent)));
    return crashed === null ? { replies: result } : { crash: crashed };
  }

  /** A step of a checkpoint, as between batches. True: it crashed. */
  idle(crash: CrashPoint | null): boolean {
    return this.#do(crash, () => this.#shard.idle()).crashed !== null;
  }

  checkpoint(crash: CrashPoint | null): boolean {
    return this.#do(crash, () => this.#shard.checkpoint()).crashed !== null;
  }

  /** Crashes here and now. */
  crash(): void {
    cpSync(this.#dir(0), this.#dir(1), {
      recursive: true,
      filter: (file) => path.basename(file) !== LOCK_FILE,
    });
    if (this.#isCheckpointing) this.#options.tally.count('crashes between checkpoint steps');
  }

  /** Starts from what the last crash left. */
  async restart(): Promise<void> {
    await this.#shard.abandon();
    rmSync(this.#dir(0), { recursive: true });
    this.#starts++;
    await this.#verify();
    this.#shard = this.#open();
  }

  /** Ends in order, and starts again. */
  async stopAndStart(): Promise<void> {
    await this.#shard.close();
    await this.#verify();
    this.#shard = this.#open();
  }

  async end(): Promise<void> {
    await this.#shard.abandon();
  }

  /** What the next start finds holds every invariant. */
  async #verify(): Promise<void> {
    deepStrictEqual((await verifyShard(this.#dir(0), 0, 1))?.problems, []);
  }

  /** The directory in use, or the one of the next start. LMDB never opens a path twice. */
  #dir(ahead: 0 | 1): string {
    return path.join(this.#options.dir, `start-${this.#starts + ahead}`);
  }

  #open(): Shard {
    this.#isCheckpointing = false;
    const { dir: _dir, tally: _tally, ...config } = this.#options;
    const dir = this.#dir(0);
    const store = openStore(dir, config.durability);
    return new Shard({ ...config, path: dir }, this.#watched(store));
  }

  #do<T>(crash: CrashPoint | null, work: () => T): { result: T; crashed: CrashPoint | null } {
    this.#commits = 0;
    this.#planned = crash;
    this.#crashed = null;
    const result = work();
    this.#planned = null;
    return { result, crashed: this.#crashed };
  }

  /** The store, with a moment before and one after every commit. */
  #watched(store: ShardStore): ShardStore {
    const host = this;
    return {
      ...store,
      commit(work) {
        store.commit(() => {
          work();
          host.#moment('before');
        });
        host.#moment('after');
        host.#commits++;
      },
      checkpoint(what) {
        const { steps, write } = store.checkpoint(what);
        return { steps, write: host.#countCheckpoint(write) };
      },
    };
  }

  *#countCheckpoint(write: Generator<void>): Generator<void> {
    this.#isCheckpointing = true;
    yield* write;
    this.#isCheckpointing = false;
    this.#options.tally.count('checkpoints');
  }

  #moment(when: CrashPoint['when']): void {
    const planned = this.#planned;
    if (planned?.when !== when || planned.commit !== this.#commits) return;
    this.#crashed = planned;
    this.#options.tally.count(
      when === 'before' ? 'crashes before a commit' : 'crashes after a commit',
    );
    this.crash();
  }
}
