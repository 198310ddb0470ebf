/**
 * The far end of the ring: a batch with an order in it is appended to a preallocated file and
 * synced, then its fixed answers are published.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { workerData } from 'node:worker_threads';
import { type RingMemory, RingReader, RingWriter } from './ring-buffer.ts';

/** `texts` by kind; orders are the kinds below `orderKinds`. */
export type RingData = {
  dir: string;
  texts: readonly string[];
  orderKinds: number;
  requests: RingMemory;
  answers: RingMemory;
};

const { dir, texts, orderKinds, requests, answers } = workerData as RingData;
/** Overwritten many times, like reused segments: a growing file costs the disk more. */
const FILE_BYTES = 64 * 2 ** 20;
const BATCH_BYTES_MAX = 2 ** 20;

const file = preallocated(path.join(dir, 'log'));
const from = new RingReader(requests);
const to = new RingWriter(answers);
const batch = Buffer.alloc(BATCH_BYTES_MAX);
let batchEnd = 0;
let fileAt = 0;

for (;;) {
  from.wait();
  takeAll();
  if (batchEnd > 0) {
    append();
    // Requests that arrived meanwhile share the wait for the disk.
    takeAll();
    if (batchEnd > 0) append();
    fdatasyncSync(file);
  }
  to.publish();
}

function takeAll(): void {
  from.drain((kind, bytes, start, end) => {
    if (kind < orderKinds) {
      if (batchEnd + end - start > BATCH_BYTES_MAX) append();
      batchEnd += bytes.copy(batch, batchEnd, start, end);
    }
    to.write(kind, texts[kind]!);
  });
}

function append(): void {
  if (fileAt + batchEnd > FILE_BYTES) fileAt = 0;
  writeSync(file, batch, 0, batchEnd, fileAt);
  fileAt += batchEnd;
  batchEnd = 0;
}

function preallocated(name: string): number {
  const filled = openSync(name, 'w');
  const zeros = Buffer.alloc(2 ** 20);
  for (let at = 0; at < FILE_BYTES; at += zeros.length) writeSync(filled, zeros);
  fdatasyncSync(filled);
  closeSync(filled);
  return openSync(name, 'r+');
}
