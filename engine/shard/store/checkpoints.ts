/**
 * One shard's LMDB environment: checkpoints and the runs of the index. It is written in parallel to
 * the batches: LMDB's own thread commits and syncs. Rules D3, D8, D24 (engine/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { invariant } from '../../base/invariant.ts';
import { bufferOf } from '../../format/bytes.ts';
import type { Seal } from '../../index/record-index.ts';
import { type PieceKey, type RunStore, runStoreOf } from '../../index/run-store.ts';
import { checkLmdbForWriting, OWNERS_ALONE } from '../../lmdb/lmdb-file.ts';
import { DiskFull } from '../../log/disk-full.ts';
import type { LogIdentity } from '../../log/log-format.ts';
import { CHECKPOINTS_KEPT } from '../../memory/row-changes.ts';
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
import { DiskReserve } from './disk-reserve.ts';

/** `sync`: on disk; `commit`: survives a crash of the process. Rule D1 (engine/RULES.md). */
export type Durability = 'sync' | 'commit';

/** Everything that a checkpoint writes. */
export type Checkpoint = {
  head: Omit<CheckpointHead, 'index' | 'written'>;
  /** A separate value that seldom changes; null: unchanged since the last checkpoint. */
  referenceData: object | null;
  /** Each has begun the checkpoint `nextNumber`, and returns its rows when they are written. */
  tables: readonly TakenTable[];
  seal: Seal;
};

export type CheckpointsOptions = {
  durability: Durability;
  identity: LogIdentity;
  /** So many bytes are written at once, and are on disk before the next. */
  sliceBytes?: number;
  /** Awaited before each slice and before the head; tests end the process or fail there. */
  beforeSlice?: () => Promise<void>;
};

const SLICE_BYTES = 2 ** 20;
/** The bytes that the removal of a page counts as. */
const REMOVED_BYTES = 256;
/** Space of a transaction per byte of its values: at worst each needs a page of the tree too. */
const ROOM_FACTOR = 2;
const ROOM_EVERY_MS = 1000;

/** The checkpoint was cut off. */
class Stopped extends Error {}

/** Opens or creates the environment at `path`. Never open it twice in one process. */
export class Checkpoints {
  readonly runs: RunStore;
  readonly read: CheckpointReader;
  readonly #options: CheckpointsOptions;
  readonly #root: RootDatabase;
  readonly #tables: ReturnType<typeof openTables>;
  /** The checkpoints whose pages make up the state, as in the head on disk. */
  #written: WrittenPages[] | null = null;
  readonly #room: DiskReserve;
  /** Bytes written since the last settling, and how their transactions end. */
  #slice = 0;
  #puts: Promise<unknown>[] = [];
  /** Facts covered by the newest head on disk, as far as this process has written it. */
  #facts = 0;
  #isWriting = false;
  /** The space that the current checkpoint waits for; null: it is not waiting. */
  #lacking: DiskFull | null = null;
  #hurries = false;
  #isStopped = false;

  constructor(path: string, options: CheckpointsOptions) {
    this.#options = options;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    checkLmdbForWriting(path);
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

  /**
   * Records the identity in a new environment. Also does so in one of an earlier program, which
   * then refuses it. Throws `FormatMismatch` on another version's.
   */
  async settleFormat(): Promise<void> {
    const { identity } = this.#options;
    if (this.read.checkFormat(identity)) return;
    this.#room.ensure(SLICE_BYTES);
    const { earlierFingerprints: _, ...written } = identity;
    this.#note(0, this.#tables.heads.put('format', headValue(written)));
    await this.#settle();
  }

  /** The number of the next checkpoint. */
  get nextNumber(): number {
    return (this.#before.at(-1)?.checkpoint ?? 0) + 1;
  }

  /**
   * Writes a checkpoint: pages and runs first. Once all of them are on disk, it writes the head
   * that makes them valid. A crash before the head leaves the previous checkpoint. Waits for space
   * on a full disk. False: `hurry` or `stop` cut it off.
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

  /** Throws `DiskFull` while a checkpoint waits for space. */
  checkSpace(): void {
    if (this.#lacking !== null) throw this.#lacking;
  }

  /** From now on a checkpoint ends instead of waiting for space. */
  hurry(): void {
    this.#hurries = true;
  }

  /** Ends a checkpoint before its next slice. */
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

  /** Writes all rows of a table for this checkpoint, and returns the number of pages. */
  async #putPages(table: TakenTable, checkpoint: number): Promise<number> {
    const { pages } = this.#tables;
    for (let page = 0; ; page++) {
      const value = nextPage(table, checkpoint, page);
      if (value === null) return page;
      this.#note(value.length, pages.put([table.name, checkpoint, page], value));
      await this.#endSlice();
    }
  }

  /** Removes pages that the head on disk does not name: old ones, and leftovers of a crash. */
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

  /** In one transaction: neither is valid without the other. */
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
    // Without a listener a rejection would end the process before `#settle` handles it.
    put.catch(() => undefined);
    this.#puts.push(put);
  }

  async #endSlice(): Promise<void> {
    if (this.#slice < (this.#options.sliceBytes ?? SLICE_BYTES)) return;
    await this.#settle();
    await this.#beginSlice();
  }

  /**
   * No write is pending here, so the reserve may grow the file: LMDB and the reserve never write to
   * its end at the same time.
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

  /** Waits until everything written is as safe as the durability promises. */
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
