/**
 * Which records of a shard's log have facts of an account. A closed segment of the log never
 * changes, so its places are in a file, which is made once. Those of the open segment are in memory.
 * Everything here is made of the log: a file that is missing, damaged, of another version or of
 * another log is made again. Rule A229 (api/RULES.md).
 *
 * Numbers are little-endian words. A place is the account's id and the record's offset in the
 * segment. Places with the same hash of their account are a bucket, in the order of the log.
 *
 *     header   0 "PAPERACC"  8 CRC-32 of bytes 12 to 43  12 version  16 seed of the segment
 *     (44)    20 seed of the next segment  24 bytes of the segment, f64  32 number of the first
 *             fact of the next segment, f64  40 buckets
 *     buckets  for each, and for the end: the number of its first place, its CRC-32
 *     places   id (16), offset
 */
import { closeSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import type { Uuid } from '../base/units.ts';
import { InPlaceReader } from '../format/bytes.ts';
import { readFactInPlace } from '../format/fact-layouts.ts';
import { type LogPosition, offsetOf, positionOf, segmentOf } from '../log/log-format.ts';
import type { ClosedSegment, PlacedRecord } from '../log/log-reader.ts';
import { uuidWords } from '../memory/uuid-words.ts';
import type { FactSource } from './read-facts.ts';

const MAGIC = Buffer.from('PAPERACC', 'latin1');
/** Change it with every change of the file: earlier files are made again. */
const VERSION = 1;
const HEADER_BYTES = 44;
const CHECKED_FROM = 12;
const BUCKET_BYTES = 8;
/** Four words of the id, and the offset. */
const PLACE_WORDS = 5;
const PLACE_BYTES = 4 * PLACE_WORDS;
/** So many places share a bucket, if accounts have one each. */
const BUCKET_PLACES = 64;

type Log = { closedSegment(segment: number): ClosedSegment | null };

export class AccountPlaces {
  readonly #directory: string;
  readonly #log: Log;
  /** Of the first segments of the log: those before the open one. */
  readonly #files: PlacesFile[] = [];
  #open = new Places();
  #covered = 0;

  /** Takes the files that are there and fit to the log, from its first segment on. */
  constructor({ dataDir, shard }: FactSource, log: Log) {
    this.#directory = path.join(dataDir, `shard-${shard}`, 'accounts');
    this.#log = log;
    for (;;) {
      const closed = log.closedSegment(this.#files.length);
      const file = closed === null ? null : openPlaces(this.#fileOf(this.#files.length), closed);
      if (file === null) return;
      this.#add(file);
    }
  }

  /** All facts up to this number are in it. */
  get covered(): number {
    return this.#covered;
  }

  /**
   * Takes the facts of the next record; an earlier one is left alone. Throws the system's error if a
   * file cannot be written.
   */
  take({ position, firstNumber, count, payload }: PlacedRecord): void {
    if (firstNumber <= this.#covered) return;
    invariant(firstNumber === this.#covered + 1, 'a record is left out of the places of accounts');
    const segment = segmentOf(position);
    if (segment > this.#files.length) this.#close();
    invariant(segment === this.#files.length, 'a segment is left out of the places of accounts');
    this.#open.addAll(payload, offsetOf(position));
    this.#covered = firstNumber + count - 1;
  }

  /** The records up to `covered` that have facts of the account, in the order of the log. */
  of(account: Uuid): LogPosition[] {
    const words = Uint32Array.from(uuidWords(account));
    const found: LogPosition[] = [];
    for (const [segment, file] of this.#files.entries()) {
      const offsets = file.of(words);
      if (offsets === null) {
        this.#makeAgain(segment);
        return found;
      }
      for (const offset of offsets) found.push(positionOf(segment, offset));
    }
    for (const offset of this.#open.of(words)) found.push(positionOf(this.#files.length, offset));
    return found;
  }

  #fileOf(segment: number): string {
    return path.join(this.#directory, `${String(segment).padStart(8, '0')}.accounts`);
  }

  #add(file: PlacesFile): void {
    this.#files.push(file);
    this.#covered = file.closed.nextNumber - 1;
  }

  /** The open segment is closed. */
  #close(): void {
    const segment = this.#files.length;
    const closed = this.#log.closedSegment(segment);
    invariant(closed?.nextNumber === this.#covered + 1, 'a segment is closed before its end');
    this.#add(writePlaces(this.#fileOf(segment), closed, this.#open));
    this.#open = new Places();
  }

  /** The file of a segment is damaged. */
  #makeAgain(segment: number): void {
    rmSync(this.#fileOf(segment), { force: true });
    this.#files.length = segment;
    this.#open = new Places();
    this.#covered = segment === 0 ? 0 : this.#files[segment - 1]!.closed.nextNumber - 1;
  }
}

/** Places in the order of the log. */
class Places {
  #words = new Uint32Array(PLACE_WORDS * 1024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The accounts of a record's facts. An account may be added twice. */
  addAll(payload: Uint8Array, offset: number): void {
    const from = new InPlaceReader(payload);
    const first = this.#count;
    while (!from.isAtEnd) {
      const fact = readFactInPlace(from);
      if (!('account' in fact)) continue;
      const [w0, w1, w2, w3] = from.idWords(fact.account);
      const last = PLACE_WORDS * (this.#count - 1);
      const words = this.#words;
      const isSame =
        this.#count > first &&
        words[last + 3] === w3 &&
        words[last + 2] === w2 &&
        words[last + 1] === w1 &&
        words[last] === w0;
      if (!isSame) this.#add(w0, w1, w2, w3, offset);
    }
  }

  #add(w0: number, w1: number, w2: number, w3: number, offset: number): void {
    const at = PLACE_WORDS * this.#count++;
    if (at + PLACE_WORDS > this.#words.length) {
      const grown = new Uint32Array(2 * this.#words.length);
      grown.set(this.#words);
      this.#words = grown;
    }
    const words = this.#words;
    words[at] = w0;
    words[at + 1] = w1;
    words[at + 2] = w2;
    words[at + 3] = w3;
    words[at + 4] = offset;
  }

  of(account: Uint32Array): number[] {
    return offsetsOf(this.#words.subarray(0, PLACE_WORDS * this.#count), account);
  }

  /** The places by bucket, and the number of the first place of each bucket, and of the end. */
  byBucket(buckets: number): { words: Uint32Array; firsts: Uint32Array } {
    const from = this.#words;
    const firsts = new Uint32Array(buckets + 1);
    const ends = PLACE_WORDS * this.#count;
    for (let at = 0; at < ends; at += PLACE_WORDS) firsts[bucketOf(from, at, buckets) + 1]!++;
    for (let bucket = 0; bucket < buckets; bucket++) firsts[bucket + 1]! += firsts[bucket]!;
    const next = firsts.slice();
    const words = new Uint32Array(ends);
    for (let at = 0; at < ends; at += PLACE_WORDS) {
      const to = PLACE_WORDS * next[bucketOf(from, at, buckets)]!++;
      for (let word = 0; word < PLACE_WORDS; word++) words[to + word] = from[at + word]!;
    }
    return { words, firsts };
  }
}

function bucketOf(words: Uint32Array, at: number, buckets: number): number {
  const mixed =
    Math.imul(words[at]! ^ words[at + 1]! ^ words[at + 2]!, 0x9e3779b1) ^ words[at + 3]!;
  return (Math.imul(mixed, 0x85ebca6b) >>> 0) % buckets;
}

/** Each once, ascending as the places are. */
function offsetsOf(words: Uint32Array, account: Uint32Array): number[] {
  const [w0, w1, w2, w3] = account;
  const found: number[] = [];
  for (let at = 0; at < words.length; at += PLACE_WORDS) {
    if (words[at + 3] !== w3 || words[at + 2] !== w2) continue;
    if (words[at + 1] !== w1 || words[at] !== w0) continue;
    if (found.at(-1) !== words[at + 4]) found.push(words[at + 4]!);
  }
  return found;
}

/** The checksum of a bucket, which also says where it lies. */
function bucketSum(bucket: number, first: number, end: number, places: Uint8Array): number {
  const where = Uint32Array.of(bucket, first, end);
  return crc32(places, crc32(new Uint8Array(where.buffer)));
}

class PlacesFile {
  readonly closed: ClosedSegment;
  readonly #file: string;
  readonly #buckets: number;

  constructor(file: string, closed: ClosedSegment, buckets: number) {
    this.#file = file;
    this.closed = closed;
    this.#buckets = buckets;
  }

  /** The offsets of the records of an account; null: the file is damaged. */
  of(account: Uint32Array): number[] | null {
    const bucket = bucketOf(account, 0, this.#buckets);
    const fd = openOrNull(this.#file);
    if (fd === null) return null;
    try {
      const table = new Uint32Array(4);
      const at = HEADER_BYTES + BUCKET_BYTES * bucket;
      if (!readWhole(fd, table, at)) return null;
      const [first, sum, end] = table as unknown as [number, number, number];
      const start = HEADER_BYTES + BUCKET_BYTES * (this.#buckets + 1) + PLACE_BYTES * first;
      // No segment has more places than bytes.
      if (end < first || end - first > this.closed.bytes) return null;
      const words = new Uint32Array(PLACE_WORDS * (end - first));
      if (!readWhole(fd, words, start)) return null;
      if (bucketSum(bucket, first, end, new Uint8Array(words.buffer)) !== sum) return null;
      return offsetsOf(words, account);
    } finally {
      closeSync(fd);
    }
  }
}

function readWhole(fd: number, words: Uint32Array, at: number): boolean {
  const bytes = new Uint8Array(words.buffer);
  return readSync(fd, bytes, 0, bytes.length, at) === bytes.length;
}

function openOrNull(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/** Null: there is none of this version for this segment. */
function openPlaces(file: string, closed: ClosedSegment): PlacesFile | null {
  const fd = openOrNull(file);
  if (fd === null) return null;
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(fd, header, 0, HEADER_BYTES, 0) !== HEADER_BYTES) return null;
    const buckets = header.readUInt32LE(40);
    const isOurs = buckets > 0 && header.equals(headerOf(closed, buckets));
    return isOurs ? new PlacesFile(file, closed, buckets) : null;
  } finally {
    closeSync(fd);
  }
}

function headerOf({ seed, nextSeed, bytes, nextNumber }: ClosedSegment, buckets: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(VERSION, 12);
  header.writeUInt32LE(seed, 16);
  header.writeUInt32LE(nextSeed, 20);
  header.writeDoubleLE(bytes, 24);
  header.writeDoubleLE(nextNumber, 32);
  header.writeUInt32LE(buckets, 40);
  header.writeUInt32LE(crc32(header.subarray(CHECKED_FROM)), 8);
  return header;
}

/** It is not synced: a file that a crash of the machine has damaged is found, and made again. */
function writePlaces(file: string, closed: ClosedSegment, places: Places): PlacesFile {
  const buckets = Math.max(1, Math.ceil(places.count / BUCKET_PLACES));
  const { words, firsts } = places.byBucket(buckets);
  const bytes = new Uint8Array(words.buffer);
  const table = new Uint32Array(2 * (buckets + 1));
  for (let bucket = 0; bucket < buckets; bucket++) {
    const [first, end] = [firsts[bucket]!, firsts[bucket + 1]!];
    table[2 * bucket] = first;
    const own = bytes.subarray(PLACE_BYTES * first, PLACE_BYTES * end);
    table[2 * bucket + 1] = bucketSum(bucket, first, end, own);
  }
  table[2 * buckets] = places.count;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.new`;
  const fd = openSync(unfinished, 'w', 0o600);
  try {
    for (const part of [headerOf(closed, buckets), new Uint8Array(table.buffer), bytes]) {
      for (let at = 0; at < part.length; ) at += writeSync(fd, part, at);
    }
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, file);
  return new PlacesFile(file, closed, buckets);
}
