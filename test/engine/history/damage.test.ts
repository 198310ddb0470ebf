/**
 * Histories whose files are changed, cut or removed: each answer is the true one, or lies in a gap
 * `damaged`, and `paperbook verify` finds it before a start and after.
 */
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ROWS } from '../../../engine/history/kinds.ts';
import { Recorder } from '../../../engine/history/recorder.ts';
import { historyProblems } from '../../../engine/history/verify.ts';
import { shareOf } from '../../model/seeds.ts';
import { quoteTick } from '../fixtures.ts';
import { after, asked, BOUND_MS, record, take, temporary } from './support.ts';

const MADE_MS = after(0);
const MARKETS = [0, 1, 2, 5];
const END_MS = after(2_100_000);
const RESTART_MS = END_MS + 60_000;
/** Rows of which a price is asked as of their time. */
const ROWS_APART = shareOf(100) < 100 ? 20 : 5;
const TRIES = Math.max(6, shareOf(40));
/** Seeds beside each other often damage the same file. */
const SEEDS_APART = Math.max(1, Math.floor(40 / TRIES));

/** Numbers from 0 to below `below`, the same for each seed. */
function dice(seed: number) {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Busy and quiet markets, prints, losses, and stops in between; ends closed, or as a crash does. */
function fill(directory: string, seed: number, isClosed: boolean, untilMs = 2_100_000): void {
  const roll = dice(seed);
  let recorder = record(directory, { nowMs: MADE_MS });
  for (let ms = 1000; ms < untilMs; ms += 1000) {
    const atMs = after(ms);
    const market = MARKETS[[0, 0, 0, 1, 1, 2, 0, 3][roll(8)]!]!;
    if (market !== 5 || ms > 1_400_000) {
      const yesBidCents = 30 + roll(20);
      const sizes = { yesBidContracts: 1 + roll(500), yesAskContracts: 1 + roll(500) };
      take(
        recorder,
        quoteTick({ source: 1, market, atMs, yesBidCents, yesAskCents: 52, ...sizes }),
      );
    }
    if (roll(9) === 0) {
      const print = { kind: 'trade', source: 1, market, side: 'yes' } as const;
      take(recorder, { ...print, atMs, yesPriceCents: 40 + roll(9), contracts: 1 + roll(50) });
    }
    if (roll(200) === 0) take(recorder, { kind: 'down', atMs: atMs + 500, source: 1 });
    if (ms % 5000 === 0) recorder.flush();
    if (ms % 20_000 === 0) recorder.sync();
    if (roll(700) === 0) {
      recorder.close();
      recorder = record(directory, { madeAtMs: MADE_MS, nowMs: atMs });
    }
  }
  take(recorder, { kind: 'time', atMs: after(untilMs) });
  recorder.flush();
  recorder.sync();
  if (isClosed) recorder.close();
  else recorder.store.abandon();
}

function restarted(directory: string): Recorder {
  const recorder = record(directory, { madeAtMs: MADE_MS, nowMs: RESTART_MS });
  for (const market of MARKETS) {
    take(recorder, quoteTick({ source: 1, market, atMs: RESTART_MS, yesAskCents: 60 }));
  }
  return recorder;
}

type Answers = ReturnType<typeof answersOf>;

function answersOf(recorder: Recorder, market: number) {
  const { quotes, gaps } = asked(recorder).quotes({ market, limit: 1e9 });
  const prints = asked(recorder).exported({ market, dataset: 'trades', format: 'ndjson' });
  const asOf = (atMs: number) => {
    const instruments = [{ instrumentId: 'i', market, polarity: 1 as const }];
    const { quotedAt, ...shown } = asked(recorder).asOf(atMs, { instruments }).rows[0] ?? {};
    return JSON.stringify(shown);
  };
  const candles = (['1m', '15m', '1d'] as const).map((interval) => {
    return asked(recorder).candles({ market, interval, toMs: RESTART_MS });
  });
  return { quotes, gaps, candles, prints: prints.split('\n').filter((line) => line !== ''), asOf };
}

const damagedOf = (gaps: readonly { from: string; to: string | null; reason: string }[]) =>
  gaps
    .filter(({ reason }) => reason === 'damaged')
    .map(({ from, to }) => [Date.parse(from), Date.parse(to!)] as const);

/** Compares what a damaged history answers with the truth. @returns how much it calls damaged */
function compare(t: ExecutionContext, truth: Answers, told: Answers, what: string): number {
  const damaged = damagedOf(told.gaps);
  const isLost = (atMs: number) => damaged.some(([from, to]) => atMs >= from && atMs <= to);
  for (let at = 0; at < truth.quotes.length; at += ROWS_APART) {
    const rowMs = Date.parse(truth.quotes[at]!.at);
    for (const atMs of [rowMs, rowMs - 1]) {
      if (atMs >= RESTART_MS || isLost(atMs) || told.asOf(atMs) === truth.asOf(atMs)) continue;
      t.fail(`${what}: as of ${new Date(atMs).toISOString()} it was ${truth.asOf(atMs)}`);
    }
  }
  const known = new Set(truth.quotes.map((row) => JSON.stringify(row)));
  for (const row of told.quotes) {
    if (Date.parse(row.at) >= RESTART_MS) continue;
    const isTrue = known.has(JSON.stringify(row)) || isLost(Date.parse(row.at));
    if (!isTrue) t.fail(`${what}: a row that never was, ${JSON.stringify(row)}`);
  }
  for (const [at, row] of told.quotes.entries()) {
    const before = told.quotes[at - 1];
    const isTwice = !row.live && before?.live === false && !isLost(Date.parse(before.at));
    if (isTwice) t.fail(`${what}: two rows that are not live`);
  }
  const unsure = damagedOf(told.candles[0]!.gaps);
  const isUnsure = (atMs: number) => unsure.some(([from, to]) => atMs >= from && atMs <= to);
  const prints = (list: string[]) =>
    list.filter((line) => !isUnsure(Date.parse(JSON.parse(line).at)));
  t.deepEqual(prints(told.prints), prints(truth.prints), `${what}: prints`);
  for (const gap of truth.gaps) {
    const isTold = told.gaps.some((other) => JSON.stringify(other) === JSON.stringify(gap));
    const ends = [Date.parse(gap.from), Date.parse(gap.to ?? gap.from)];
    t.true(isTold || ends.some(isLost), `${what}: without the gap ${JSON.stringify(gap)}`);
  }
  for (const [at, { candles }] of truth.candles.entries()) {
    const lost = damagedOf(told.candles[at]!.gaps);
    const byStart = new Map(told.candles[at]!.candles.map((candle) => [candle.start, candle]));
    for (const candle of candles) {
      const [start, end] = [Date.parse(candle.start), Date.parse(candle.end)];
      if (end > RESTART_MS || lost.some(([from, to]) => from < end && to >= start)) continue;
      const isSame = JSON.stringify(byStart.get(candle.start)) === JSON.stringify(candle);
      if (!isSame) t.fail(`${what}: candle of ${candle.start}`);
    }
  }
  return damaged.reduce((sum, [from, to]) => sum + to - from, 0);
}

const DAMAGES = ['flip', 'flips', 'cut', 'halve', 'delete', 'swap'] as const;

/** Changes one file. @returns what was done; null: nothing that shows */
function damage(directory: string, older: string, roll: (below: number) => number): string | null {
  const names = readdirSync(directory)
    .filter((name) => name !== 'damaged')
    .sort();
  const name = names[roll(names.length)]!;
  const file = path.join(directory, name);
  const bytes = readFileSync(file);
  const kind = DAMAGES[roll(DAMAGES.length)]!;
  if (kind === 'delete') rmSync(file);
  else if (kind === 'halve') truncateSync(file, bytes.length >> 1);
  else if (kind === 'cut') truncateSync(file, roll(bytes.length));
  else if (kind === 'swap') {
    const before = path.join(older, name);
    if (!existsSync(before) || readFileSync(before).equals(bytes)) return null;
    cpSync(before, file);
  } else {
    for (let count = kind === 'flip' ? 1 : 20; count > 0; count--) {
      bytes[roll(bytes.length)]! ^= 1 << roll(8);
    }
    writeFileSync(file, bytes);
  }
  return `${kind} of ${name}`;
}

for (const isClosed of [true, false]) {
  const state = isClosed ? 'after a stop' : 'after a crash';
  test(`H24, D81 to D83: damage ${state} is a gap and a problem, and nothing else changes`, (t) => {
    t.timeout(10 * 60_000);
    const directory = temporary(t);
    const [whole, older] = ['whole', 'older'].map((name) => path.join(directory, name));
    fill(older!, 1, true, 1_500_000);
    fill(whole!, 1, isClosed);
    t.deepEqual(historyProblems(whole!, MADE_MS), []);
    const truth = path.join(directory, 'truth');
    cpSync(whole!, truth, { recursive: true });
    const recorder = restarted(truth);
    const truths = MARKETS.map((market) => answersOf(recorder, market));
    let damagedMs = 0;
    for (let nth = 0; nth < TRIES; nth++) {
      const seed = nth * SEEDS_APART;
      const work = path.join(directory, 'work');
      rmSync(work, { recursive: true, force: true });
      cpSync(whole!, work, { recursive: true });
      const done = damage(work, older!, dice(seed + 1000));
      if (done === null) continue;
      const what = `seed ${seed}, ${done}`;
      const found = historyProblems(work, MADE_MS);
      const isFound = found.length > 0;
      // What a crash has left of the journal makes up for blocks that are younger than it.
      const mayBeWhole = !isClosed && done.endsWith('.blocks');
      t.true(isFound || mayBeWhole, `${what}: not found`);
      const again = restarted(work);
      for (const [at, market] of MARKETS.entries()) {
        const toldMs = compare(
          t,
          truths[at]!,
          answersOf(again, market),
          `${what}, market ${market}`,
        );
        t.true(isFound || toldMs === 0, `${what}: a gap of damage that nobody found`);
        damagedMs += toldMs;
      }
      t.is(again.store.problems.length > 0, isFound, `${what}: as a problem of the server`);
      again.close();
      t.is(historyProblems(work, MADE_MS).length > 0, isFound, `${what}: after a start`);
      // Once an operator has taken note, the gaps are all that is left of it.
      rmSync(path.join(work, 'damaged'), { recursive: true, force: true });
      t.deepEqual(historyProblems(work, MADE_MS), [], what);
      const third = record(work, { madeAtMs: MADE_MS, nowMs: RESTART_MS });
      t.deepEqual(third.store.problems, [], what);
      for (const [at, market] of MARKETS.entries()) {
        // Of one market a try, in a check of each change.
        if (shareOf(100) < 100 && at !== seed % MARKETS.length) continue;
        compare(t, truths[at]!, answersOf(third, market), `${what}, market ${market}, later`);
      }
      third.store.abandon();
    }
    recorder.close();
    t.true(damagedMs > 0);
  });
}

test('D82: a history that is gone as a whole is missing', (t) => {
  const directory = path.join(temporary(t), 'history');
  fill(directory, 3, true);
  renameSync(directory, `${directory}.away`);
  t.deepEqual(historyProblems(directory, MADE_MS), ['the directory is missing']);
  t.deepEqual(historyProblems(directory, null), [], 'one that never was is not');
  const recorder = restarted(directory);
  t.regex(recorder.store.problems.join(), /manifest\.json is missing,journal is missing/);
  const { gaps } = asked(recorder).quotes();
  t.like(gaps[0], {
    from: new Date(MADE_MS).toISOString(),
    to: new Date(RESTART_MS).toISOString(),
    reason: 'damaged',
  });
  recorder.close();
  t.true(historyProblems(directory, MADE_MS).length > 0);
});

test('D81: one changed bit of the journal costs its own piece, not what follows', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  for (let i = 1; i <= 5000; i++) {
    const [market, atMs] = [i % 50, after(i * 100)];
    take(recorder, quoteTick({ source: 1, market, atMs, yesAskContracts: i }));
    if (i % 10 === 0) recorder.flush();
  }
  recorder.sync();
  recorder.store.abandon();
  const file = path.join(directory, 'journal');
  const bytes = readFileSync(file);
  bytes[bytes.length >> 3]! ^= 4;
  writeFileSync(file, bytes);
  const again = record(directory, { madeAtMs: 0, nowMs: after(600_000) });
  let rows = 0;
  let gaps = 0;
  for (const market of again.store.markets(ROWS)) {
    const answer = asked(again).quotes({ market });
    rows += answer.quotes.filter(({ live }) => live).length;
    for (const [fromMs, toMs] of damagedOf(answer.gaps)) {
      gaps++;
      const instruments = [{ instrumentId: 'i', market, polarity: 1 as const }];
      const [then] = asked(again).asOf((fromMs + toMs) / 2, { instruments }).rows;
      t.like(then, { live: false, yesBidCents: null }, 'nobody knows the price of then');
    }
  }
  t.is(rows, 4990, 'ten rows were in that piece');
  t.is(gaps, 10, 'of ten markets');
  again.close();
});

test('H24: damage to what a journal begins with costs the markets of one part of it', (t) => {
  const directory = temporary(t);
  const recorder = record(directory, { nowMs: MADE_MS });
  const roll = dice(9);
  const markets = Array.from({ length: 300 }, (_, market) => market);
  for (let i = 0; i < 100; i++) {
    for (const market of markets) {
      const sizes = { yesBidContracts: 1 + roll(90_000), yesAskContracts: 1 + roll(90_000) };
      take(
        recorder,
        quoteTick({ source: 1, market, atMs: after(1000 + i * 1000 + market), ...sizes }),
      );
    }
  }
  recorder.close();
  const file = path.join(directory, 'journal');
  const bytes = readFileSync(file);
  t.true(bytes.length > 3 * 2 ** 16, 'it begins with some pieces');
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
  const again = record(directory, { madeAtMs: MADE_MS, nowMs: RESTART_MS });
  let lost = 0;
  for (const market of markets) {
    const { quotes, gaps } = asked(again).quotes({ market });
    const damaged = damagedOf(gaps);
    if (damaged.length === 0) t.is(quotes.filter(({ live }) => live).length, 100);
    else t.deepEqual(damaged, [[MADE_MS, RESTART_MS]], `market ${market}`);
    lost += damaged.length;
  }
  t.true(lost > 0 && lost < 150, `${lost} markets`);
  again.close();
});

test('D81: an end that a crash has torn is cut, and is no damage', (t) => {
  const directory = temporary(t);
  const recorder = new Recorder({ directory, quoteMaxAgeMs: BOUND_MS, days: 0 });
  for (let i = 1; i <= 700; i++) {
    take(recorder, quoteTick({ source: 1, market: 0, atMs: after(i * 100), yesAskContracts: i }));
    if (i === 600) recorder.flush();
    if (i === 600) recorder.sync();
  }
  recorder.flush();
  recorder.store.abandon();
  for (const [name, rows] of [
    ['journal', 600],
    ['00000001.blocks', 700],
  ] as const) {
    const work = path.join(temporary(t), 'work');
    cpSync(directory, work, { recursive: true });
    const file = path.join(work, name);
    truncateSync(file, statSync(file).size - 7);
    t.deepEqual(historyProblems(work, null), [], name);
    const again = record(work);
    const { quotes, gaps } = asked(again).quotes();
    t.is(quotes.filter(({ live }) => live).length, rows, name);
    t.deepEqual(
      gaps.map(({ reason }) => reason),
      ['server_down'],
    );
    t.deepEqual(again.store.problems, []);
    again.close();
  }
});
