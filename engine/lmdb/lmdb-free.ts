/**
 * Which pages of an LMDB file are free. LMDB stores them in a tree. It is read from the file, not
 * from mapped memory, where a missing page would end the process. The format is the one of
 * liblmdb/mdb.c and midl.c in lmdb 3.5.6.
 */
import { readSync } from 'node:fs';
import { invariant } from '../base/invariant.ts';

export const PAGE_BYTES_MIN = 256;
export const PAGE_BYTES_MAX = 65_536;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const HEADER_BYTES = 24;
const AT = { flags: 18, lower: 20 } as const;
const FLAG = { branch: 1, leaf: 2 } as const;
const NODE = { bytes: 8, flags: 4, keyBytes: 6, isBig: 1 } as const;
const DEPTH_MAX = 32;

/** Whether a page is free; null when the tree itself cannot be read. */
export function freePagesOf(
  fd: number,
  root: bigint,
  pageBytes: number,
): ((page: number) => boolean) | null {
  invariant(
    pageBytes >= PAGE_BYTES_MIN && pageBytes <= PAGE_BYTES_MAX,
    'a page size is out of range',
  );
  const ranges: [first: number, count: number][] = [];
  try {
    if (root !== NO_PAGE) walk(new Pages(fd, pageBytes), Number(root), ranges, DEPTH_MAX);
  } catch (error) {
    if (error instanceof UnreadablePage || error instanceof RangeError) return null;
    throw error;
  }
  return (page) => {
    invariant(Number.isSafeInteger(page) && page >= 0, 'a page number is not valid');
    return ranges.some(([first, count]) => page >= first && page < first + count);
  };
}

class UnreadablePage extends Error {}

class Pages {
  readonly #fd: number;
  readonly bytes: number;

  constructor(fd: number, bytes: number) {
    this.#fd = fd;
    this.bytes = bytes;
  }

  read(page: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    if (readSync(this.#fd, buffer, 0, length, page * this.bytes) < length) {
      throw new UnreadablePage(`page ${page}`);
    }
    return buffer;
  }
}

function walk(pages: Pages, at: number, ranges: [number, number][], depth: number): void {
  const page = pages.read(at, pages.bytes);
  const flags = page.readUInt16LE(AT.flags);
  const isBranch = (flags & FLAG.branch) !== 0;
  if (depth === 0 || (!isBranch && (flags & FLAG.leaf) === 0)) throw new UnreadablePage(`${at}`);
  const nodes = page.readUInt16LE(AT.lower) >> 1;
  for (let n = 0; n < nodes; n++) {
    const node = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + 2 * n);
    const low = page.readUInt32LE(node);
    const high = page.readUInt16LE(node + NODE.flags);
    // A branch has a page number in the field that a leaf uses for the length and flags of its
    // data.
    if (isBranch) walk(pages, low + high * 2 ** 32, ranges, depth - 1);
    else readList(dataOf(pages, page, node, { length: low, flags: high }), ranges);
  }
}

function dataOf(
  pages: Pages,
  page: Buffer,
  node: number,
  { length, flags }: { length: number; flags: number },
): Buffer {
  const at = node + NODE.bytes + page.readUInt16LE(node + NODE.keyBytes);
  if ((flags & NODE.isBig) === 0) return page.subarray(at, at + length);
  const first = Number(page.readBigUInt64LE(at));
  return pages.read(first, HEADER_BYTES + length).subarray(HEADER_BYTES);
}

/** A count, then pages: one alone, 0 for a gap, or minus a length before the first of a run. */
function readList(list: Buffer, ranges: [number, number][]): void {
  const count = Number(list.readBigUInt64LE(0));
  for (let n = 1; n <= count; n++) {
    const entry = Number(list.readBigInt64LE(8 * n));
    if (entry > 0) ranges.push([entry, 1]);
    if (entry < 0) ranges.push([Number(list.readBigInt64LE(8 * ++n)), -entry]);
  }
}
