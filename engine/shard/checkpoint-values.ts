/**
 * What a checkpoint keeps in LMDB, read back: heads, and of each page the copy that counts. Rules
 * D3, D24 (engine/RULES.md).
 */
import { headCodec } from '../format/codec.ts';
import { FormatMismatch } from '../format/version.ts';
import type { IndexHead } from '../index/record-index.ts';
import type { LogIdentity, LogPosition } from '../log/log-format.ts';
import { invariant } from '../rules/invariant.ts';
import type { ReferenceData, StateHead } from './checkpoint-state.ts';
import type { Readable } from './readable.ts';
import { sealed, unsealed } from './sealed.ts';

export type CheckpointHead = StateHead & {
  /** The number of the last fact that the checkpoint covers, and where the next record begins. */
  facts: number;
  tail: LogPosition;
  index: IndexHead;
};

/** On disk, reference data is under `world`. */
export type HeadKey = 'format' | 'head' | 'world';
/** A page is kept twice: the copy of the newest finished checkpoint, and the one being written. */
export type PageKey = [table: string, page: number, copy: 0 | 1];
export type PageName = { table: string; page: number };
type Page = PageName & { bytes: Uint8Array };

export type CheckpointTables = { pages: Readable<PageKey>; heads: Readable<HeadKey> };

export function headValue(value: object): Buffer {
  return sealed(headCodec.pack(value));
}

const STAMP_BYTES = 8;

/** A page behind the number of the last fact that its checkpoint covers. */
export function pageValue(stamp: number, page: Uint8Array): Buffer {
  invariant(Number.isSafeInteger(stamp) && stamp > 0, 'a page is stamped with no fact');
  const bytes = Buffer.alloc(STAMP_BYTES);
  bytes.writeDoubleLE(stamp, 0);
  return sealed(bytes, page);
}

/** Throws `ValueDamage`. */
export function pageOf([table, page, copy]: PageKey, value: Buffer) {
  const bytes = unsealed(value, `pages [${table}, ${page}, ${copy}]`);
  return { stamp: bytes.readDoubleLE(0), bytes: bytes.subarray(STAMP_BYTES) };
}

/** What a start reads. `onPage` gets the copy of a page that counts. */
export function checkpointReader(
  { pages, heads }: CheckpointTables,
  onPage: (copy: 0 | 1, page: PageName) => void = () => undefined,
) {
  const read = (key: HeadKey) => {
    const value = heads.get(key);
    return value === undefined ? null : headCodec.unpack(unsealed(value, `heads [${key}]`));
  };
  return {
    /** Throws `FormatMismatch` where another version has written it. False: nobody has. */
    checkFormat({ formatVersion, fingerprint, shard }: LogIdentity): boolean {
      const found = read('format') as Partial<LogIdentity> | null;
      if (found === null) {
        if (heads.get('head') !== undefined) throw new FormatMismatch('data.mdb', 1);
        return false;
      }
      if (found.formatVersion !== formatVersion) {
        throw new FormatMismatch('data.mdb', found.formatVersion ?? 'unknown');
      }
      if (found.fingerprint !== fingerprint) {
        throw new Error(`data.mdb has other layouts than version ${formatVersion} here`);
      }
      if (found.shard !== shard) {
        throw new Error(`data.mdb is of shard ${found.shard}, and this is shard ${shard}`);
      }
      return true;
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

    /** The pages of a table as the checkpoint left them that covers so many facts. */
    *readPages(table: string, facts: number): Generator<Page> {
      let best: { stamp: number; copy: 0 | 1; page: Page } | null = null;
      const range = { start: [table, 0, 0] as PageKey, end: [table, Infinity, 0] as PageKey };
      for (const { key, value } of pages.getRange(range)) {
        const [, page, copy] = key;
        const { stamp, bytes } = pageOf(key, value);
        if (stamp > facts) continue;
        if (best !== null && best.page.page !== page) {
          onPage(best.copy, best.page);
          yield best.page;
        }
        if (best !== null && best.page.page === page && best.stamp > stamp) continue;
        best = { stamp, copy, page: { table, page, bytes } };
      }
      if (best === null) return;
      onPage(best.copy, best.page);
      yield best.page;
    },
  };
}

export type CheckpointReader = ReturnType<typeof checkpointReader>;
