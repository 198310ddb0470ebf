/**
 * Checks the files of a history, whether or not a server runs. They are read as a start reads them,
 * and nothing is written. Rules D35, D51, D81 to D83 (engine/RULES.md).
 */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { KINDS } from './kinds.ts';
import { HistoryLoad, type LoadTarget } from './load.ts';
import type { Columns } from './record-columns.ts';
import {
  readSegment,
  readStoredBlock,
  type StoredBlock,
  segmentName,
  segmentsIn,
} from './segments.ts';
import { Series } from './series.ts';
import { setAsideLines } from './set-aside.ts';

/** A server may rewrite its journal, or drop a file, between two reads. */
const TRIES = 3;

/**
 * The problems, one per line. `madeAtMs`: when the history was made; null: it was not, so none is
 * missing.
 */
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
  const inserted = new Map<StoredBlock, Float64Array[]>();
  const read = (block: StoredBlock) => inserted.get(block) ?? blockOf(directory, block);
  const opened = (kind: number, market: MarketNumber): Series => {
    const key = market * KINDS.length + kind;
    const known = series.get(key) ?? new Series(kind, market, read);
    series.set(key, known);
    return known;
  };
  /** Counts as written, although nothing is. */
  const blockOfColumns = ({ kind, market }: Series, first: number, columns: Columns) => {
    const [times] = columns;
    const place = { firstMs: times![0]!, lastMs: times!.at(-1)!, records: times!.length };
    const block = { kind, market, first, ...place, segment: 0, offset: 0, bytes: 0 };
    inserted.set(
      block,
      columns.map((values) => Float64Array.from(values)),
    );
    return block;
  };
  const seal = (of: Series) => of.sealed(blockOfColumns(of, of.tailFirst, of.tail));
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
    pack: (of) => (of.isFull ? seal(of) : of.pack()),
    seal,
    insert: (of, first, columns) => of.insert(blockOfColumns(of, first, columns)),
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
