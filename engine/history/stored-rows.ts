/**
 * Rows for long calculations in other threads. The history's thread only says where they lie. Whole
 * blocks never change, so the caller reads them from the files during recording. Rule H22
 * (api/RULES.md).
 */
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { gapsOf } from './gaps.ts';
import { GAP_MARKS, markNumber, ROWS, widthOf } from './kinds.ts';
import type { StoredQuestion, StoredRows, StoredTail } from './questions.ts';
import type { Columns } from './record-columns.ts';
import type { Recorder } from './recorder.ts';
import { readStoredBlock, segmentName } from './segments.ts';

/** Where the rows of each market lie, in the order asked. */
export function storedRows(recorder: Recorder, question: StoredQuestion): StoredRows[] {
  recorder.advance(question.nowMs);
  const found = question.markets.map(({ market, fromMs, toMs }) => {
    invariant(fromMs <= toMs, 'rows are asked for a window that ends before it begins');
    return recorder.store.series(ROWS, market)?.stored(fromMs, toMs) ?? { blocks: [], tail: [] };
  });
  const tails = sharedTails(found.map(({ tail }) => tail));
  return question.markets.map(({ market, fromMs, toMs }, at) => {
    return {
      blocks: found[at]!.blocks,
      tail: tails[at]!,
      resolvedAtMs: resolvedAtMs(recorder, market),
      gapMs: gapMs(recorder, market, fromMs, Math.min(toMs, question.nowMs)),
    };
  });
}

/** Copies all parts into one memory. */
function sharedTails(tails: readonly Columns[]): StoredTail[] {
  const recordsOf = (tail: Columns) => tail[0]?.length ?? 0;
  const total = tails.reduce((sum, tail) => sum + tail.length * recordsOf(tail), 0);
  const memory = new SharedArrayBuffer(total * Float64Array.BYTES_PER_ELEMENT);
  const values = new Float64Array(memory);
  let next = 0;
  return tails.map((tail) => {
    const firstValue = next;
    for (const column of tail) {
      values.set(column, next);
      next += column.length;
    }
    return { memory, firstValue, records: recordsOf(tail) };
  });
}

function columnsOf({ memory, firstValue, records }: StoredTail): Columns {
  const bytes = Float64Array.BYTES_PER_ELEMENT;
  return Array.from({ length: widthOf(ROWS) }, (_, column) => {
    return new Float64Array(memory, (firstValue + column * records) * bytes, records);
  });
}

function resolvedAtMs({ store }: Recorder, market: MarketNumber): EpochMs | null {
  const mark = store.series(GAP_MARKS, market)?.newest() ?? null;
  return mark?.[1] === markNumber('resolved') ? mark[0]! : null;
}

function gapMs({ store }: Recorder, market: MarketNumber, fromMs: EpochMs, toMs: EpochMs): number {
  let sum = 0;
  // A lost stretch may lie within another gap.
  let countedMs = fromMs;
  for (const gap of gapsOf(store, market, { fromMs, toMs })) {
    const endMs = Math.min(gap.toMs ?? toMs, toMs);
    sum += Math.max(0, endMs - Math.max(gap.fromMs, countedMs));
    countedMs = Math.max(countedMs, endMs);
  }
  return sum;
}

/** Reads blocks of a history's directory. Close it. */
export class StoredReader {
  readonly #directory: string;
  readonly #files = new Map<number, number>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The columns of each block, and of the tail, oldest first. Throws `HistoryDamage`. */
  *parts({ blocks, tail }: Pick<StoredRows, 'blocks' | 'tail'>): Generator<Columns> {
    for (const block of blocks) yield readStoredBlock(this.#file(block.segment), block);
    if (tail.records > 0) yield columnsOf(tail);
  }

  #file(segment: number): number {
    const known = this.#files.get(segment);
    if (known !== undefined) return known;
    const fd = openSync(path.join(this.#directory, segmentName(segment)), 'r');
    this.#files.set(segment, fd);
    return fd;
  }

  close(): void {
    for (const fd of this.#files.values()) closeSync(fd);
    this.#files.clear();
  }
}
