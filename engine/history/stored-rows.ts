/**
 * Rows for long calculations in other threads. The history's thread only says where they lie: whole
 * blocks never change, so who asked reads them from the files, beside recording. Rule H22
 * (api/RULES.md).
 */
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, MarketNumber } from '../rules/units.ts';
import { gapsIn } from './gaps.ts';
import { GAP_MARKS, markNumber, ROWS } from './kinds.ts';
import type { StoredQuestion, StoredRows } from './questions.ts';
import type { Columns } from './record-columns.ts';
import type { Recorder } from './recorder.ts';
import { readStoredBlock, segmentName } from './segments.ts';

/** Where the rows of each market lie, in the order asked. */
export function storedRows(recorder: Recorder, question: StoredQuestion): StoredRows[] {
  recorder.advance(question.nowMs);
  return question.markets.map(({ market, fromMs, toMs }) => {
    invariant(fromMs <= toMs, 'rows are asked for a window that ends before it begins');
    const stored = recorder.store.series(ROWS, market)?.stored(fromMs, toMs);
    return {
      ...(stored ?? { blocks: [], tail: [] }),
      resolvedAtMs: resolvedAtMs(recorder, market),
      gapMs: gapMs(recorder, market, fromMs, Math.min(toMs, question.nowMs)),
    };
  });
}

function resolvedAtMs({ store }: Recorder, market: MarketNumber): EpochMs | null {
  const mark = store.series(GAP_MARKS, market)?.newest() ?? null;
  return mark?.[1] === markNumber('resolved') ? mark[0]! : null;
}

function gapMs({ store }: Recorder, market: MarketNumber, fromMs: EpochMs, toMs: EpochMs): number {
  let sum = 0;
  for (const gap of gapsIn(store.series(GAP_MARKS, market), { fromMs, toMs })) {
    sum += Math.max(0, Math.min(gap.toMs ?? toMs, toMs) - Math.max(gap.fromMs, fromMs));
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
    if ((tail[0]?.length ?? 0) > 0) yield tail;
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
