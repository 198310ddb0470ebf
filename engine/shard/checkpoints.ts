/**
 * One shard's LMDB environment: checkpoints and the runs of the index. It is written beside the
 * batches: LMDB's own thread commits and syncs. Rules D3, D8, D24 (engine/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import type { Seal } from '../index/record-index.ts';
import { type PieceKey, type RunStore, runStoreOf } from '../index/run-store.ts';
import { checkLmdbFile, OWNERS_ALONE } from '../lmdb/lmdb-file.ts';
import type { LogIdentity } from '../log/log-format.ts';
import { CHECKPOINTS_KEPT } from '../memory/row-changes.ts';
import { invariant } from '../rules/invariant.ts';
import {
  type CheckpointHead,
  type CheckpointReader,
  checkpointReader,
  type HeadKey,
  headValue,
  nextPage,
  type PageKey,
  type TakenTable,
  type WrittenPages,
} from './checkpoint-values.ts';
import { DiskFull } from './disk-full.ts';
import { DiskReserve } from './disk-reserve.ts';

/** `sync`: on disk; `commit`: survives a crash of the process. Rule D1 (engine/RULES.md). */
export type Durability = 'sync' | 'commit';

/** Everything a checkpoint writes. */
export type Checkpoint = {
  head: Omit<CheckpointHead, 'index' | 'written'>;
  /** Another value, which changes seldom; null: it has not changed since the last checkpoint. */
  referenceData: object | null;
  /** Each has begun the checkpoint `nextNumber`, and gives its rows when they are written. */
  tables: readonly TakenTable[];
  seal: Seal;
};

export type CheckpointsOptions = {
  durability: Durability;
  identity: LogIdentity;
  /** So much is put at once, and is on disk before more is. */
  sliceBytes?: number;
  /** Waited for before each slice and before the head, where a test ends a process or fails. */
  beforeSlice?: () => Promise<void>;
};

const SLICE_BYTES = 2 ** 20;
/** What the removal of a page counts as. */
const REMOVED_BYTES = 256;
/** What a transaction takes beside its values: a page of the tree for each, at the worst. */
const ROOM_FACTOR = 2;
const ROOM_EVERY_MS = 1000;

/** The checkpoint is cut off. */
class Stopped extends Error {}

/** Opens or creates the environment at `path`. Never twice in one process. */
export class Checkpoints {
  readonly runs: RunStore;
  readonly read: CheckpointReader;
  readonly #options: CheckpointsOptions;
  readonly #root: RootDatabase;
  readonly #tables: ReturnType<typeof openTables>;
  /** The checkpoints whose pages count, as the head on disk names them. */
  #written: WrittenPages[] | null = null;
  readonly #room: DiskReserve;
  /** Bytes put since the last settling, and how their transactions end. */
  #slice = 0;
  #puts: Promise<unknown>[] = [];
  /** Of the newest head on disk, as far as this process has written it. */
  #facts = 0;
  #isWriting = false;
  /** What the checkpoint being written waits for; null: it goes on. */
  #lacking: DiskFull | null = null;
  #hurries = false;
  #isStopped = false;

  constructor(path: string, options: CheckpointsOptions) {
    this.#options = options;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    checkLmdbFile(path);
    const noSync = options.durability === 'commit';
    this.#root = open({ path, maxDbs: 8, noSync, encoding: 'binary', ...OWNERS_ALONE });
    this.#tables = openTables(this.#root);
    this.#room = new DiskReserve(path, this.#root);
    const { pages, heads, runs } = this.#tables;
    this.read = checkpointReader({ pages, heads });
    this.runs = runStoreOf(runs, {
      put: (run, piece, bytes) => this.#note(bytes.length, runs.put([run, piece], bufferOf(bytes))),
      remove: (run, piece) => this.#note(0, runs.remove([run, piece])),
    });
  }

  /** Notes whose environment a new one is. Throws `FormatMismatch` on another version's. */
  async settleFormat(): Promise<void> {
    const { identity } = this.#options;
    if (this.read.checkFormat(identity)) return;
    this.#room.ensure(SLICE_BYTES);
    this.#note(0, this.#tables.heads.put('format', headValue(identity)));
    await this.#settle();
  }

  /** Of the checkpoint that comes next. */
  get nextNumber(): number {
    return (this.#before.at(-1)?.checkpoint ?? 0) + 1;
  }

  /**
   * Writes a checkpoint: pages and runs first, then, once all of them are on disk, the head that
   * makes them count. A crash between two slices leaves the checkpoint before. Waits for space on a
   * full disk. False: it was cut off by `hurry` or `stop`.
   */
  async write({ head, referenceData, tables, seal }: Checkpoint): Promise<boolean> {
    invariant(!this.#isWriting, 'a checkpoint is written while another one is');
    invariant(head.facts >= this.#facts, 'a checkpoint covers fewer facts than the last one');
    this.#isWriting = true;
    const before = this.#before.slice(-(CHECKPOINTS_KEPT - 1));
    const number = this.nextNumber;
    try {
      await this.#beginSlice();
      await this.#removeOthers(tables);
      const pages: Record<string, number> = {};
      for (const table of tables) pages[table.name] = await this.#putPages(table, number);
      for (const _ of seal.write) await this.#endSlice();
      await this.#settle();
      const written = [...before, { checkpoint: number, pages }];
      await this.#putHead({ ...head, index: seal.head, written }, referenceData);
      this.#written = written;
    } catch (error) {
      if (error instanceof Stopped || (error instanceof DiskFull && this.#hurries)) return false;
      throw error;
    } finally {
      this.#isWriting = false;
    }
    this.#facts = head.facts;
    return true;
  }

  get isLackingSpace(): boolean {
    return this.#lacking !== null;
  }

  /** Throws `DiskFull` where a checkpoint waits for space. */
  checkSpace(): void {
    if (this.#lacking !== null) throw this.#lacking;
  }

  /** A checkpoint waits for no space from now on. */
  hurry(): void {
    this.#hurries = true;
  }

  /** A checkpoint ends before its next slice. */
  stop(): void {
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    this.#room.close();
    await this.#root.flushed;
    await this.#root.close();
  }

  get #before(): WrittenPages[] {
    this.#written ??= this.read.readWritten();
    return this.#written;
  }

  /** Writes all that a table has for this checkpoint, and returns how many pages that is. */
  async #putPages(table: TakenTable, checkpoint: number): Promise<number> {
    const { pages } = this.#tables;
    for (let page = 0; ; page++) {
      const value = nextPage(table, checkpoint, page);
      if (value === null) return page;
      this.#note(value.length, pages.put([table.name, checkpoint, page], value));
      await this.#endSlice();
    }
  }

  /** Pages that the head on disk does not name: older ones, and what a crash has left. */
  async #removeOthers(tables: readonly TakenTable[]): Promise<void> {
    const { pages } = this.#tables;
    const oldest = this.#before[0]?.checkpoint ?? 0;
    for (const { name } of tables) {
      const older = { start: [name, 0, 0] as PageKey, end: [name, oldest, 0] as PageKey };
      const newer = {
        start: [name, this.nextNumber, 0] as PageKey,
        end: [name, Infinity, 0] as PageKey,
      };
      for (const key of [...pages.getKeys(older), ...pages.getKeys(newer)]) {
        this.#note(REMOVED_BYTES, pages.remove(key));
        await this.#endSlice();
      }
    }
  }

  /** In one transaction: neither is good without the other. */
  async #putHead(head: CheckpointHead, referenceData: object | null): Promise<void> {
    const { heads } = this.#tables;
    const world = referenceData === null ? null : headValue(referenceData);
    const value = headValue(head);
    await this.#beginSlice(value.length + (world?.length ?? 0));
    const put = this.#root.transaction(() => {
      if (world !== null) heads.put('world', world);
      heads.put('head', value);
    });
    this.#note(value.length, put);
    await this.#settle();
  }

  #note(bytes: number, put: Promise<unknown>): void {
    this.#slice += bytes;
    // Without a listener a rejection would end the process before `#settle` meets it.
    put.catch(() => undefined);
    this.#puts.push(put);
  }

  async #endSlice(): Promise<void> {
    if (this.#slice < (this.#options.sliceBytes ?? SLICE_BYTES)) return;
    await this.#settle();
    await this.#beginSlice();
  }

  /**
   * Nothing is being written here, so the file can grow: LMDB and the reserve never write to its
   * end at the same time.
   */
  async #beginSlice(bytes = 0): Promise<void> {
    for (;;) {
      try {
        await this.#options.beforeSlice?.();
        if (this.#isStopped) throw new Stopped();
        this.#room.ensure((SLICE_BYTES + bytes) * ROOM_FACTOR);
        this.#lacking = null;
        return;
      } catch (error) {
        if (!(error instanceof DiskFull) || this.#hurries) throw error;
        this.#lacking = error;
        await sleep(ROOM_EVERY_MS, undefined, { ref: false });
        if (this.#isStopped) throw new Stopped();
      }
    }
  }

  /** Everything that was put is on disk, as the durability promises. */
  async #settle(): Promise<void> {
    await Promise.all(this.#puts);
    await this.#root.flushed;
    this.#puts = [];
    this.#slice = 0;
  }
}

function openTables(root: RootDatabase) {
  return {
    pages: root.openDB<Buffer, PageKey>({ name: 'pages', encoding: 'binary' }),
    heads: root.openDB<Buffer, HeadKey>({ name: 'heads', encoding: 'binary' }),
    runs: root.openDB<Buffer, PieceKey>({ name: 'runs', encoding: 'binary' }),
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
