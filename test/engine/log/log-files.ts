/** Logs for tests: seeded records, and files changed as a crash or a bad disk changes them. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LogIdentity, LogRecord } from '../../../engine/log/log-format.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import type { LogWriter, LogWriterOptions } from '../../../engine/log/log-writer.ts';

export const IDENTITY: LogIdentity = { shard: 3, formatVersion: 2, fingerprint: 0xfeedbeef };
export const OPTIONS: LogWriterOptions = { ...IDENTITY, durability: 'sync', segmentBytes: 2000 };
const AT_MS = Date.UTC(2026, 10, 21);

/** Numbers from 0 up to 1, the same for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The content of a record: the next number, up to four facts, up to `bytesMax` bytes. */
export function nextRecord(firstNumber: number, random: () => number, bytesMax = 400): LogRecord {
  const payload = Buffer.alloc(Math.floor(random() * bytesMax));
  for (let at = 0; at < payload.length; at++) payload[at] = Math.floor(random() * 256);
  const count = 1 + Math.floor(random() * 4);
  return { firstNumber, count, atMs: AT_MS + firstNumber, payload };
}

/** Appends seeded records, each synced, and returns them. */
export function fill(log: LogWriter, records: number, random: () => number, bytesMax?: number) {
  return Array.from({ length: records }, () => {
    const record = nextRecord(log.nextNumber, random, bytesMax);
    log.append(record);
    log.sync();
    return record;
  });
}

export function readAll(directory: string, afterNumber = 0): ReturnType<typeof plain>[] {
  const reader = LogReader.open(directory, IDENTITY);
  try {
    return [...reader.records(afterNumber)].map(plain);
  } finally {
    reader.close();
  }
}

/** To be compared; ava walks a Buffer byte by byte. */
export function plain({ firstNumber, count, atMs, payload }: LogRecord) {
  return { firstNumber, count, atMs, payload: Buffer.from(payload).toString('latin1') };
}

/** A copy of the present files, as a SIGKILL leaves them. */
export function copyLog(from: string, to: string): string {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) copyFileSync(path.join(from, name), path.join(to, name));
  return to;
}

export const fileOf = (directory: string, segment: number) =>
  path.join(directory, `${String(segment).padStart(8, '0')}.log`);

/** Turns the bits of `mask` in one byte of a file. */
export function flip(file: string, offset: number, mask: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = bytes[offset]! ^ mask;
  writeFileSync(file, bytes);
}
