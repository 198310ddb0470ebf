/**
 * Reads and writes the values of checkpoints in LMDB: heads, and the current pages. Rules D3, D24,
 * D42 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { headCodec } from '../../format/codec.ts';
import { FormatMismatch } from '../../format/version.ts';
import type { IndexHead } from '../../index/record-index.ts';
import type { LogIdentity, LogPosition } from '../../log/log-format.ts';
import type { ReferenceData, StateHead } from './checkpoint-state.ts';
import { seal, sealed, unsealed, ValueDamage } from './checksummed.ts';
import type { Readable } from './readable.ts';

export type CheckpointHead = StateHead & {
  /** The number of the last fact that the checkpoint covers, and where the next record begins. */
  facts: number;
  tail: LogPosition;
  index: IndexHead;
  /** The checkpoints whose pages together make up the state, the newest last. */
  written: WrittenPages[];
};

/** How many pages a checkpoint has of each table, by name. */
export type WrittenPages = { checkpoint: number; pages: Record<string, number> };

/** On disk, the key of reference data is `world`. */
export type HeadKey = 'format' | 'head' | 'world';
export type PageKey = [table: string, checkpoint: number, page: number];

export type CheckpointTables = { pages: Readable<PageKey>; heads: Readable<HeadKey> };

export function headValue(value: object): Buffer {
  return sealed(headCodec.pack(value));
}

/** With its header a page fills four pages of LMDB, like a piece of a run (index/pieces.ts). */
const PAGE_WORDS = 4 * 1024 - 4;
/** The checksum of everything after it, then the checkpoint and the page. */
const HEADER_WORDS = 3;

/** A table as a checkpoint reads its rows (memory/table.ts). */
export type TakenTable = { readonly name: string; takeRows(page: Uint32Array, at: number): number };

/** The next page of a table; null: all its rows are written. */
export function nextPage(table: TakenTable, checkpoint: number, page: number): Buffer | null {
  invariant(checkpoint > 0, 'a page belongs to no checkpoint');
  const words = new Uint32Array(PAGE_WORDS);
  const end = table.takeRows(words, HEADER_WORDS);
  if (end === HEADER_WORDS) return null;
  words[1] = checkpoint;
  words[2] = page;
  return seal(Buffer.from(words.buffer, 0, end * Uint32Array.BYTES_PER_ELEMENT));
}

/** The rows of a page, in words that the next call overwrites. Throws `ValueDamage`. */
export function rowsOfPage(key: PageKey, value: Buffer | undefined, words: Uint32Array) {
  const what = `pages [${key.join(', ')}]`;
  if (value === undefined) throw new ValueDamage(`${what} is missing`);
  unsealed(value, what);
  const isLong = value.length % Uint32Array.BYTES_PER_ELEMENT === 0;
  if (!isLong || value.length > words.byteLength || value.length < HEADER_BYTES) {
    throw new ValueDamage(`${what} has ${value.length} bytes`);
  }
  new Uint8Array(words.buffer).set(value);
  if (words[1] !== key[1] || words[2] !== key[2]) {
    throw new ValueDamage(`another page is in the place of ${what}`);
  }
  return words.subarray(HEADER_WORDS, value.length / Uint32Array.BYTES_PER_ELEMENT);
}

const HEADER_BYTES = HEADER_WORDS * Uint32Array.BYTES_PER_ELEMENT;
export const pageWords = () => new Uint32Array(PAGE_WORDS);

/** Reads everything that a start needs. */
export function checkpointReader({ pages, heads }: CheckpointTables) {
  const read = (key: HeadKey) => {
    const value = heads.get(key);
    return value === undefined ? null : headCodec.unpack(unsealed(value, `heads [${key}]`));
  };
  return {
    /**
     * Throws `FormatMismatch` if another version has written it. False: it is new, or an earlier
     * program of this version has written it (D87).
     */
    checkFormat({
      formatVersion,
      fingerprint,
      earlierFingerprints = [],
      shard,
    }: LogIdentity): boolean {
      const found = read('format') as Partial<LogIdentity> | null;
      if (found === null) {
        if (heads.get('head') !== undefined) throw new FormatMismatch('data.mdb', 1);
        return false;
      }
      const isEarlier = earlierFingerprints.includes(found.fingerprint!);
      if (found.formatVersion !== formatVersion) {
        throw new FormatMismatch('data.mdb', found.formatVersion ?? 'unknown');
      }
      if (found.fingerprint !== fingerprint && !isEarlier) {
        throw new Error(`data.mdb has other layouts than version ${formatVersion} here`);
      }
      if (found.shard !== shard) {
        throw new Error(`data.mdb is of shard ${found.shard}, and this is shard ${shard}`);
      }
      return !isEarlier;
    },

    /** Head and reference data of the newest finished checkpoint, or null. */
    readHead(): (CheckpointHead & ReferenceData) | null {
      const head = read('head');
      if (head === null) return null;
      const referenceData = read('world');
      if (referenceData === null) {
        throw new Error('the head is there and the world beside it is not');
      }
      return { ...referenceData, ...head } as CheckpointHead & ReferenceData;
    },

    /** The checkpoints whose pages make up the state; empty before the first checkpoint. */
    readWritten(): WrittenPages[] {
      return (read('head') as CheckpointHead | null)?.written ?? [];
    },

    /** A table's rows in these checkpoints, the oldest first: later rows replace earlier ones. */
    *readRows(table: string, written: readonly WrittenPages[]): Generator<Uint32Array> {
      const words = pageWords();
      for (const { checkpoint, pages: counts } of written) {
        for (let page = 0; page < (counts[table] ?? 0); page++) {
          const key: PageKey = [table, checkpoint, page];
          yield rowsOfPage(key, pages.get(key), words);
        }
      }
    },
  };
}

export type CheckpointReader = ReturnType<typeof checkpointReader>;
