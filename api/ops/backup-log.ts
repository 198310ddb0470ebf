/**
 * Copies a shard's log for a backup: the bytes that the copy lacks, up to the last fact that is on
 * disk. Segments only grow, so a copy interrupted at any point is an older state of the log. Rules
 * D17, D22, D32 (engine/RULES.md).
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { positionOf, SEGMENT_HEADER_BYTES } from '../../engine/log/log-format.ts';
import { LogReader } from '../../engine/log/log-reader.ts';
import { segmentName, segmentsIn } from '../../engine/log/segment-file.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { syncPath } from '../data-dir/directory-files.ts';

/** Bytes of a segment that the copy lacks: `from` (the size of the copy) up to `to`. */
type Part = { name: string; from: number; to: number };
export type LogCopy = { from: string; to: string; parts: Part[] };

const PIECE_BYTES = 2 ** 20;

/**
 * Compares a log with its copy, and changes nothing. `covered`: the last fact that the checkpoint
 * beside the log covers. Throws `LogDamage`. Throws an error if the log does not contain that fact,
 * or if the copy is not an older state of the log.
 */
export function planLogCopy(from: string, to: string, shard: number, covered: number): LogCopy {
  const log = LogReader.open(from, identityOf(shard));
  try {
    const files = log.durableFiles();
    const copied = segmentsIn(to);
    if (copied.length > files.length) throw notOlder(to, segmentName(copied.at(-1)!));
    const parts = files.map(({ name, bytes }, segment) => {
      const there = copied.includes(segment) ? statSync(path.join(to, name)).size : 0;
      return { name, from: there, to: bytes };
    });
    const ahead = parts.find((part) => part.from > part.to);
    if (ahead !== undefined) throw notOlder(to, ahead.name);
    const last = parts[copied.length - 1];
    if (last !== undefined && !startsAlike(from, to, last)) throw notOlder(to, last.name);
    if (covered > 0 && log.records(covered - 1).next().done === true) {
      throw new Error(`${from} ends before fact ${covered}, which its checkpoint covers`);
    }
    // Damage must not reach a copy.
    const first = positionOf(Math.max(0, copied.length - 1), SEGMENT_HEADER_BYTES);
    for (const _ of log.records(Number.MAX_SAFE_INTEGER, first));
    return { from, to, parts: parts.filter((part) => part.to > part.from) };
  } finally {
    log.close();
  }
}

/** On disk on return. Segments are copied one after another, in the order they were written. */
export function copyLog({ from, to, parts }: LogCopy): void {
  if (parts.length === 0) return;
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const part of parts) {
    const file = path.join(to, part.name);
    // A segment gets its name once it is complete, so all segments before it are complete too.
    const target = part.from === 0 ? `${file}.new` : file;
    copyBytes(path.join(from, part.name), target, part);
    if (part.from === 0) renameSync(target, file);
  }
  syncPath(to);
  syncPath(path.dirname(to));
}

function notOlder(copy: string, name: string): Error {
  return new Error(
    `${path.join(copy, name)} is no earlier state of the log: a server has run on the copy, or ` +
      'the directory was restored from an older one',
  );
}

function startsAlike(from: string, to: string, { name, from: bytes }: Part): boolean {
  const [one, other] = [path.join(from, name), path.join(to, name)].map((f) => openSync(f, 'r'));
  try {
    const pieces = [Buffer.alloc(PIECE_BYTES), Buffer.alloc(PIECE_BYTES)] as const;
    for (let at = 0; at < bytes; at += PIECE_BYTES) {
      const size = Math.min(PIECE_BYTES, bytes - at);
      readWhole(one!, pieces[0], at, size);
      readWhole(other!, pieces[1], at, size);
      if (pieces[0].compare(pieces[1], 0, size, 0, size) !== 0) return false;
    }
    return true;
  } finally {
    closeSync(one!);
    closeSync(other!);
  }
}

function copyBytes(from: string, to: string, part: Part): void {
  const source = openSync(from, 'r');
  const target = openSync(to, part.from === 0 ? 'w' : 'r+', 0o600);
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = part.from; at < part.to; at += PIECE_BYTES) {
      const size = Math.min(PIECE_BYTES, part.to - at);
      readWhole(source, piece, at, size);
      for (let done = 0; done < size; )
        done += writeSync(target, piece, done, size - done, at + done);
    }
    ftruncateSync(target, part.to);
    fdatasyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

function readWhole(fd: number, piece: Buffer, at: number, size: number): void {
  for (let done = 0; done < size; ) {
    const read = readSync(fd, piece, done, size - done, at + done);
    if (read === 0) throw new Error('a segment became shorter while it was copied');
    done += read;
  }
}
