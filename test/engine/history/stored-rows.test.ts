import test from 'ava';
import { BLOCK_RECORDS } from '../../../engine/history/kinds.ts';
import type { Recorder } from '../../../engine/history/recorder.ts';
import { StoredReader, storedRows } from '../../../engine/history/stored-rows.ts';
import { NOON_MS, quoteTick } from '../fixtures.ts';
import { record, take, temporary } from './support.ts';

const ROWS = 3 * BLOCK_RECORDS + 7;
const at = (row: number) => NOON_MS + row * 1000;

function filled(recorder: Recorder) {
  for (let row = 0; row < ROWS; row++) {
    take(recorder, quoteTick({ atMs: at(row), market: 0, yesBidCents: 20 + (row % 2) }));
  }
}

function timesOf(directory: string, recorder: Recorder, fromMs: number, toMs: number): number[] {
  const asked = { nowMs: recorder.nowMs, markets: [{ market: 0, fromMs, toMs }] };
  const [rows] = storedRows(recorder, asked);
  const reader = new StoredReader(directory);
  const times = [...reader.parts(rows!)].flatMap((columns) => [...columns[0]!]);
  reader.close();
  return times;
}

test('H22: blocks of a window and the tail, from the one with the row before it', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  t.teardown(() => recorder.close());
  filled(recorder);
  const all = Array.from({ length: ROWS }, (_, row) => at(row));
  t.deepEqual(timesOf(directory, recorder, 0, Number.POSITIVE_INFINITY), all);
  // The first row of a block: the one before it lies in the block before.
  const later = timesOf(directory, recorder, at(2 * BLOCK_RECORDS), at(ROWS));
  t.deepEqual(later, all.slice(BLOCK_RECORDS));
  const inBlock = timesOf(directory, recorder, at(BLOCK_RECORDS + 5), at(BLOCK_RECORDS + 6));
  t.deepEqual(inBlock.slice(0, BLOCK_RECORDS), all.slice(BLOCK_RECORDS, 2 * BLOCK_RECORDS));
  t.deepEqual(inBlock.slice(BLOCK_RECORDS), all.slice(3 * BLOCK_RECORDS), 'and the tail');
});

test('H22: a market without rows has none; gaps and the result are counted', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  t.teardown(() => recorder.close());
  take(recorder, quoteTick({ atMs: at(0), market: 0 }));
  take(recorder, { kind: 'down', atMs: at(10), source: quoteTick().source });
  take(recorder, quoteTick({ atMs: at(40), market: 0 }));
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  take(recorder, { kind: 'result', atMs: at(50), source: 0, market: 0, ...result });
  const window = { fromMs: at(20), toMs: at(60) };
  const [rows, none] = storedRows(recorder, {
    nowMs: at(60),
    markets: [
      { market: 0, ...window },
      { market: 1, ...window },
    ],
  });
  t.is(rows!.gapMs, 20_000);
  t.is(rows!.resolvedAtMs, at(50));
  t.like(none, { blocks: [], resolvedAtMs: null, gapMs: 0 });
  t.is(none!.tail.records, 0);
  // One memory for all: a message does not copy it.
  t.is(none!.tail.memory, rows!.tail.memory);
});
