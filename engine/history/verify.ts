/**
 * Checks the files of a history, while a server runs or not: they are read as a start reads them, and
 * nothing is written. Rules D35, D51, D81 to D83 (engine/RULES.md).
 */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EpochMs, MarketNumber } from '../rules/units.ts';
import { KINDS } from './kinds.ts';
import { HistoryLoad, type LoadTarget } from './load.ts';
import {
  readSegment,
  readStoredBlock,
  type StoredBlock,
  segmentName,
  segmentsIn,
} from './segments.ts';
import { Series } from './series.ts';
import { setAsideLines } from './set-aside.ts';

/** A server may write its journal anew, or drop a file, between two reads. */
const TRIES = 3;

/** What is wrong, a line each. `madeAtMs`: when it was made; null: it was not, so that none is missing. */
export function historyProblems(directory: string, madeAtMs: EpochMs | null): string[] {
  if (!existsSync(directory)) return madeAtMs === null ? [] : ['the directory is missing'];
  const kept = setAsideLines(directory).map((line) => `set aside: ${line}`);
  let found: string[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    found = problemsNow(directory, madeAtMs);
    if (found.length === 0) break;
  }
  return [...kept, ...found];
}

function problemsNow(directory: string, madeAtMs: EpochMs | null): string[] {
  try {
    const load = new HistoryLoad(readOnly(directory), { directory, madeAtMs });
    load.run();
    return load.damaged.flatMap(({ lines }) => lines);
  } catch (error) {
    return [(error as Error).message];
  }
}

function readOnly(directory: string): LoadTarget {
  const series = new Map<number, Series>();
  const opened = (kind: number, market: MarketNumber): Series => {
    const key = market * KINDS.length + kind;
    const known = series.get(key) ?? new Series(kind, market, (block) => blockOf(directory, block));
    series.set(key, known);
    return known;
  };
  return {
    opened,
    all: () => series.values(),
    readBlocks(found, damaged) {
      const numbers = segmentsIn(directory);
      for (const number of numbers) {
        const name = segmentName(number);
        const bytes = readFileSync(path.join(directory, name));
        const { blocks, damage } = readSegment(bytes, number, number === numbers.at(-1));
        for (const block of blocks) found(block);
        if (damage.length > 0) damaged(name, damage);
      }
    },
    pack: (of) => (of.isFull ? of.forgetTail() : of.pack()),
    seal: (of) => of.forgetTail(),
    insert() {},
  };
}

function blockOf(directory: string, block: StoredBlock): Float64Array[] {
  const fd = openSync(path.join(directory, segmentName(block.segment)), 'r');
  try {
    return readStoredBlock(fd, block);
  } finally {
    closeSync(fd);
  }
}
