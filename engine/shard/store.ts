/**
 * One shard's LMDB environment: the journal, the pages of its tables, and the archive of what left
 * memory. Everything is written from one thread, synchronously: one transaction a batch, which the
 * batch's journal record shares with the next step of a checkpoint while one is being written.
 * Rules D1, D2 (engine/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { open, type RootDatabase } from 'lmdb';
import { headCodec } from '../format/codec.ts';
import { checkLmdbFile, OWNERS_ALONE } from '../lmdb/lmdb-file.ts';
import { invariant } from '../rules/invariant.ts';
import { archiveOf, openArchive, recordWrites } from './archive.ts';
import { DiskReserve } from './disk-reserve.ts';
import type { Readable } from './readable.ts';
import type { UnarchivedRecords } from './unarchived-records.ts';

/** `sync`: on disk; `commit`: survives a crash of the process. Rule D1 (engine/RULES.md). */
export type Durability = 'sync' | 'commit';

/** Everything a checkpoint writes. */
export type Checkpoint = {
  /** The journal sequence that the pages and records cover. */
  sequence: number;
  /** Small state, one msgpack value. */
  head: object;
  /** Another value, which changes seldom; null: it has not changed since the last checkpoint. */
  referenceData: object | null;
  /** Each is read once, when it is written. */
  pages: (PageName & { take(): Uint8Array })[];
  records: UnarchivedRecords;
};
type PageName = { table: string; page: number };
type Page = PageName & { bytes: Uint8Array };

/** On disk, reference data is under `world`. */
type HeadKey = 'head' | 'world';

/** A page is kept twice: the copy of the newest finished checkpoint, and the one being written. */
type PageKey = [table: string, page: number, copy: 0 | 1];

const PAGES_A_STEP = 2;
const ROWS_A_STEP = 16;

/** How many pages, or rows, one step writes. */
const STEP_BYTES_MAX = 300_000;
const STEPS_BYTES_MAX = 64_000_000;

export type ShardStore = ReturnType<typeof openStore>;

/** Opens or creates the environment at `path`. Never twice in one process. */
export function openStore(path: string, durability: Durability) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  checkLmdbFile(path);
  const noSync = durability === 'commit';
  const root = open({ path, maxDbs: 8, noSync, encoding: 'binary', ...OWNERS_ALONE });
  const tables = openTables(root);
  const copies = new PageCopies();
  const room = new DiskReserve(path, root);
  const writer = new CheckpointWriter(tables, copies, room);
  /** The sequence of the last batch; 0: none since the start. */
  let appended = 0;

  return {
    ...readerOf(tables, (copy, page) => copies.found(copy, page)),
    archive: archiveOf(tables.archive),

    /**
     * Makes sure that the file has space for a batch of so many bytes and so many steps of a
     * checkpoint. Throws `DiskFull`, and then nothing may be committed.
     */
    ensureRoom(bytes: number, steps: number): void {
      room.ensure(bytes + Math.min(Math.ceil(steps) * STEP_BYTES_MAX, STEPS_BYTES_MAX));
    },

    /**
     * Runs the writes of `work` in one transaction; safe on return, as the durability promises.
     * Throws `DiskFull` on a record that is larger than the reserve; nothing is written then.
     */
    commit(work: () => void): void {
      root.transactionSync(() => {
        work();
      });
    },

    /** Inside `commit`: one batch's facts. */
    append(sequence: number, facts: Uint8Array): void {
      invariant(facts.length > 0, 'a batch without events is no batch');
      const isNext = appended === 0 || sequence === appended + 1;
      invariant(isNext, 'a batch does not follow the last one');
      appended = sequence;
      room.ensureLarge(facts.length);
      tables.journal.put(sequence, Buffer.from(facts));
    },

    /** A checkpoint as steps to take inside `commit`, and about how many they are. */
    checkpoint(what: Checkpoint) {
      const isCovered = appended === 0 || what.sequence <= appended;
      invariant(isCovered, 'a checkpoint is ahead of the journal');
      return writer.checkpoint(what);
    },

    async close(): Promise<void> {
      room.close();
      await root.flushed;
      await root.close();
    },
  };
}

function openTables(root: RootDatabase) {
  return {
    journal: root.openDB<Buffer, number>({ name: 'journal', encoding: 'binary' }),
    pages: root.openDB<Buffer, PageKey>({ name: 'pages', encoding: 'binary' }),
    heads: root.openDB<Buffer, string>({ name: 'heads', encoding: 'binary' }),
    archive: openArchive(root),
  };
}

/** Writes a checkpoint a step at a time. */
class CheckpointWriter {
  readonly #tables: ReturnType<typeof openTables>;
  readonly #copies: PageCopies;
  readonly #room: DiskReserve;

  constructor(tables: ReturnType<typeof openTables>, copies: PageCopies, room: DiskReserve) {
    this.#tables = tables;
    this.#copies = copies;
    this.#room = room;
  }

  checkpoint(what: Checkpoint): { steps: number; write: Generator<void> } {
    const { pages: changed, records } = what;
    // A refused order leaves no row, but its batch stands in the journal all the same.
    const { entryCount: batches } = this.#tables.journal.getStats() as { entryCount: number };
    const steps = changed.length / PAGES_A_STEP + (records.rowsMax + batches) / ROWS_A_STEP;
    return { steps, write: this.#write(what) };
  }

  /**
   * Pages and records first, then the head that makes them count, then the journal that they cover
   * goes. A crash between steps loses nothing.
   */
  *#write({ sequence, head, referenceData, pages: changed, records }: Checkpoint): Generator<void> {
    const { journal, pages, archive } = this.#tables;
    const copies = this.#copies;
    for (const step of inSteps(changed, PAGES_A_STEP)) {
      for (const page of step) pages.put(copies.toWrite(page), stamped(sequence, page.take()));
      yield;
    }
    for (const step of inSteps(recordWrites(records), ROWS_A_STEP)) {
      for (const { table, key, value } of step) archive[table].put(key, value);
      yield;
    }
    // In one step: neither is good without the other.
    if (referenceData !== null) this.#putHead('world', referenceData);
    this.#putHead('head', { ...head, journalSequence: sequence });
    yield;
    copies.finish(changed);
    // A new cursor for every step: one that stays open skips what follows a removed key.
    for (let left = ROWS_A_STEP; left === ROWS_A_STEP; ) {
      const covered = [...journal.getKeys({ end: sequence + 1, limit: ROWS_A_STEP })];
      for (const key of covered) journal.remove(key);
      left = covered.length;
      yield;
    }
  }

  #putHead(key: HeadKey, value: object): void {
    const packed = bufferOf(headCodec.pack(value));
    this.#room.ensureLarge(packed.length);
    this.#tables.heads.put(key, packed);
  }
}

export type StoreReader = ReturnType<typeof readerOf>;
type ReaderTables = {
  journal: Readable<number>;
  pages: Readable<PageKey>;
  heads: Readable<string>;
};

/** What a start reads. `onPage` gets the copy of a page that counts. */
export function readerOf(
  { journal, pages, heads }: ReaderTables,
  onPage: (copy: 0 | 1, page: Page) => void = () => undefined,
) {
  return {
    /** Journal batches after a sequence, in order. */
    *journalAfter(sequence: number): Generator<{ sequence: number; facts: Buffer }> {
      for (const { key, value } of journal.getRange({ start: sequence + 1 })) {
        yield { sequence: key, facts: value };
      }
    },

    /** Head and reference data of the newest finished checkpoint, or null in a new environment. */
    readHead(): ({ journalSequence: number } & Record<string, unknown>) | null {
      const read = (key: HeadKey) => {
        const bytes = heads.get(key);
        return bytes === undefined ? null : headCodec.unpack(bytes);
      };
      const head = read('head');
      if (head === null) return null;
      const referenceData = read('world');
      if (referenceData === null)
        throw new Error('the head is there and the world beside it is not');
      return { ...referenceData, ...head } as never;
    },

    /** The pages of a table as the checkpoint left them that covers `sequence`. */
    *readPages(table: string, sequence: number): Generator<Page> {
      let best: { stamp: number; copy: 0 | 1; page: Page } | null = null;
      const range = { start: [table, 0, 0] as PageKey, end: [table, Infinity, 0] as PageKey };
      for (const { key, value } of pages.getRange(range)) {
        const [, page, copy] = key;
        const stamp = stampOf(value);
        if (stamp > sequence) continue;
        if (best !== null && best.page.page !== page) {
          onPage(best.copy, best.page);
          yield best.page;
        }
        if (best !== null && best.page.page === page && best.stamp > stamp) continue;
        best = { stamp, copy, page: { table, page, bytes: value.subarray(STAMP_BYTES) } };
      }
      if (best === null) return;
      onPage(best.copy, best.page);
      yield best.page;
    },
  };
}

export const STAMP_BYTES = 8;

/** The sequence of the checkpoint that wrote a page. */
export function stampOf(page: Buffer): number {
  return page.readDoubleLE(0);
}

/** A page behind the sequence of the checkpoint that wrote it. */
function stamped(sequence: number, bytes: Uint8Array): Buffer {
  const buffer = Buffer.allocUnsafe(STAMP_BYTES + bytes.length);
  buffer.writeDoubleLE(sequence, 0);
  buffer.set(bytes, STAMP_BYTES);
  return buffer;
}

function bufferOf(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer);
}

function* inSteps<T>(rows: Iterable<T>, size: number): Generator<T[]> {
  let step: T[] = [];
  for (const row of rows) {
    step.push(row);
    if (step.length < size) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}

/** Which of a page's two copies the newest finished checkpoint wrote. */
class PageCopies {
  readonly #finished = new Map<string, 0 | 1>();

  toWrite({ table, page }: PageName): PageKey {
    return [table, page, this.#finished.get(`${table}/${page}`) === 0 ? 1 : 0];
  }

  finish(pages: readonly PageName[]): void {
    for (const page of pages)
      this.#finished.set(`${page.table}/${page.page}`, this.toWrite(page)[2]);
  }

  found(copy: 0 | 1, { table, page }: PageName): void {
    this.#finished.set(`${table}/${page}`, copy);
  }
}
