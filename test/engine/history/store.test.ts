import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { DAY_MS } from '../../../engine/base/units.ts';
import { FILE_HEADER_BYTES } from '../../../engine/history/block-format.ts';
import {
  BLOCK_RECORDS,
  GAP_MARKS,
  HISTORY_VERSION,
  KINDS,
  ROWS,
  TRADES,
} from '../../../engine/history/kinds.ts';
import type { Recorder } from '../../../engine/history/recorder.ts';
import { Series } from '../../../engine/history/series.ts';
import { historyProblems } from '../../../engine/history/verify.ts';
import type { QuoteTick, Tick } from '../../../engine/rules/messages.ts';
import { quoteTick } from '../fixtures.ts';
import { after, asked, clock, record, take, temporary } from './support.ts';

/** Quotes of a market, a second apart, each with another size. */
function quotes(count: number, fromMs: number, over: Partial<QuoteTick> = {}): Tick[] {
  return Array.from({ length: count }, (_, i) =>
    quoteTick({
      ...{ source: 1, market: 0, ...over },
      atMs: fromMs + i * 1000,
      yesAskContracts: 10 + (i % 7),
    }),
  );
}

const sizes = (recorder: Recorder) =>
  asked(recorder)
    .quotes()
    .quotes.map(({ yesAskContracts }) => yesAskContracts);

test('D52: a stop and a start keep every row, over full blocks and the unfinished one', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  take(first, ...quotes(1300, after(0)));
  const before = sizes(first);
  t.is(before.length, 1300);
  first.close();
  const second = record(directory);
  t.deepEqual(sizes(second).slice(0, 1300), before);
  second.close();
});

test('H5: a start begins with a gap since the stop, until each market is quoted again', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  take(first, ...quotes(2, after(0)), { kind: 'time', atMs: after(9000) });
  first.close();
  const second = record(directory);
  take(second, ...quotes(1, after(60_000)));
  const { quotes: rows, gaps } = asked(second).quotes();
  t.deepEqual(
    rows.map(({ at, live }) => [clock(at), live]),
    [
      ['12:00:00.000', true],
      ['12:00:01.000', true],
      ['12:00:09.000', false],
      ['12:01:00.000', true],
    ],
  );
  t.deepEqual(
    gaps.map(({ from, to, reason }) => [clock(from), clock(to), reason]),
    [['12:00:09.000', '12:01:00.000', 'server_down']],
  );
  second.close();
  const third = record(directory);
  t.is(asked(third).quotes().gaps.length, 2);
  third.close();
});

test('D103: the blocks of a market end with its result, and a later record begins another', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  const at = { atMs: after(5000), source: 1, market: 0 };
  take(first, ...quotes(3, after(0)), { kind: 'result', ...at, ...result });
  const tails = ({ store }: Recorder) =>
    KINDS.map((_, kind) => store.series(kind, 0)?.tailLength ?? 0);
  const none = KINDS.map(() => 0);
  t.deepEqual(tails(first), none);
  const print = { kind: 'trade', ...at, yesPriceCents: 46, contracts: 7, side: 'yes' } as const;
  take(first, print);
  const prints = (recorder: Recorder) => recorder.store.series(TRADES, 0)?.next;
  t.deepEqual([prints(first), tails(first)[TRADES]], [1, 1]);
  const before = asked(first).quotes();
  t.true(before.quotes.length > 3);
  // As a crash leaves it, and after a stop.
  first.flush();
  const copy = path.join(temporary(t), 'copy');
  cpSync(directory, copy, { recursive: true });
  const crashed = record(copy);
  t.deepEqual(asked(crashed).quotes(), before);
  crashed.close();
  first.close();
  const second = record(directory);
  t.deepEqual(asked(second).quotes(), before);
  t.is(prints(second), 1);
  t.deepEqual(
    tails(second).filter((length) => length > 0),
    [1],
  );
  second.close();
  t.deepEqual(historyProblems(directory, null), []);
});

/** The markets whose newest records a start reads. */
function readAtStart(t: ExecutionContext, directory: string): Set<number> {
  const { newest } = Series.prototype;
  const read = new Set<number>();
  Series.prototype.newest = function () {
    read.add(this.market);
    return newest.call(this);
  };
  t.teardown(() => {
    Series.prototype.newest = newest;
  });
  record(directory).close();
  Series.prototype.newest = newest;
  return read;
}

test('D108: a start reads no record of a market that is over', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  take(first, ...quotes(3, after(0)), ...quotes(3, after(3000), { market: 1 }));
  take(first, { kind: 'result', atMs: after(6000), source: 1, market: 0, ...result });
  first.close();
  t.deepEqual([...readAtStart(t, directory)], [1]);
  const next = record(directory);
  take(next, ...quotes(2, after(9000)), ...quotes(2, after(9000), { market: 1 }));
  const lives = (market: number) =>
    asked(next)
      .quotes({ market })
      .quotes.map(({ live }) => live);
  t.deepEqual(lives(0), [true, true, true, false]);
  t.deepEqual(lives(1), [true, true, true, false, true, true]);
  next.close();
});

test('D108: a start reads a market whose marks fill a block, since its result may be missing', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  for (let pair = 0; pair < BLOCK_RECORDS / 2; pair++) {
    take(first, ...quotes(1, after(pair * 5000)));
    take(first, { kind: 'down', atMs: after(pair * 5000 + 2000), source: 1 });
  }
  take(first, ...quotes(1, after(BLOCK_RECORDS * 5000)));
  t.is(first.store.series(GAP_MARKS, 0)!.next, BLOCK_RECORDS);
  first.close();
  t.deepEqual([...readAtStart(t, directory)], [0]);
});

test('H5: a market that had its result before a stop has no gap after it', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  const result = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  const at = { atMs: after(5000), source: 1, market: 0 };
  take(first, ...quotes(2, after(0)), { kind: 'result', ...at, ...result });
  first.close();
  const second = record(directory);
  take(second, ...quotes(1, after(60_000)));
  t.deepEqual(asked(second).quotes().gaps, []);
  t.is(asked(second).quotes().quotes.length, 3);
  second.close();
});

test('D53: a crash keeps what was flushed, and nothing of a piece that is not whole', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  take(first, ...quotes(600, after(0)));
  first.flush();
  take(first, ...quotes(5, after(600_000)));
  first.store.abandon();
  const journal = path.join(directory, 'journal');
  appendFileSync(journal, Buffer.from('torn'));
  const second = record(directory);
  t.is(sizes(second).filter((size) => size !== null).length, 600);
  second.close();
});

test('D52: a block that was sealed after the last flush is not kept twice', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  take(first, ...quotes(500, after(0)));
  first.flush();
  // The block of 512 rows is on disk, the journal has 500 of them.
  take(first, ...quotes(30, after(500_000)));
  const before = asked(first).quotes().quotes;
  first.store.abandon();
  const second = record(directory);
  const rows = asked(second).quotes().quotes;
  t.deepEqual(rows.slice(0, 512), before.slice(0, 512));
  t.is(rows.length, 513, 'and one row for the time that nobody recorded');
  take(second, ...quotes(700, after(900_000)));
  second.close();
  const third = record(directory);
  t.is(sizes(third).filter((size) => size !== null).length, 1212);
  third.close();
});

test('D52: markets do not mix, whatever the order of their rows', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  for (let i = 0; i < 700; i++) {
    for (const market of [0, 3, 7]) {
      const atMs = after(i * 1000 + market);
      take(first, quoteTick({ source: 1, market, atMs, yesAskContracts: market * 1000 + i + 1 }));
    }
  }
  first.close();
  const second = record(directory);
  for (const market of [0, 3, 7]) {
    const rows = asked(second).quotes({ market }).quotes.slice(0, 700);
    t.deepEqual(
      rows.map(({ yesAskContracts }) => yesAskContracts),
      Array.from({ length: 700 }, (_, i) => market * 1000 + i + 1),
    );
  }
  second.close();
});

test('D54: whole blocks are dropped once they are too old, with their files', (t) => {
  const directory = temporary(t);
  const recorder = record(directory, { days: 2 });
  for (let day = 0; day < 6; day++) {
    take(recorder, ...quotes(1024, after(day * DAY_MS)));
    recorder.flush();
  }
  const days = new Set(
    asked(recorder)
      .quotes()
      .quotes.map(({ at }) => at.slice(0, 10)),
  );
  t.false(days.has('2026-11-21'));
  t.true(days.has('2026-11-26'));
  const files = readdirSync(directory).filter((name) => name.endsWith('.blocks'));
  t.true(files.length <= 4, `${files}`);
  recorder.close();
  const all = record(temporary(t), { days: 0 });
  for (let day = 0; day < 6; day++) take(all, ...quotes(10, after(day * 100 * DAY_MS)));
  all.flush();
  t.is(
    asked(all)
      .quotes()
      .quotes.filter(({ live }) => live).length,
    60,
  );
  all.close();
});

test('D52, D103: once a market has its result, its records are in blocks, and in no journal', (t) => {
  const directory = temporary(t);
  const first = record(directory);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  take(first, ...quotes(90, after(0)), ...quotes(90, after(90_000), { market: 1 }));
  take(first, { kind: 'result', atMs: after(181_000), source: 1, market: 0, ...pays });
  const inMemory = (recorder: Recorder, market: number) =>
    KINDS.map((_, kind) => recorder.store.series(kind, market)?.tailLength ?? 0);
  t.deepEqual(new Set(inMemory(first, 0)), new Set([0]));
  t.true(inMemory(first, 1)[ROWS]! > 80);
  const before = [asked(first).quotes(), asked(first).candles()];
  first.flush();
  first.store.abandon();
  t.deepEqual(historyProblems(directory, null), []);
  const second = record(directory);
  t.deepEqual(new Set(inMemory(second, 0)), new Set([0]));
  t.deepEqual([asked(second).quotes(), asked(second).candles()], before);
  second.close();
});

test('D51: files of another version are refused, both named', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  take(recorder, ...quotes(600, after(0)));
  recorder.close();
  const file = path.join(directory, '00000001.blocks');
  const bytes = readFileSync(file);
  bytes.writeUInt32BE(HISTORY_VERSION + 1, 12);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, FILE_HEADER_BYTES)), 8);
  writeFileSync(file, bytes);
  t.throws(() => record(directory), { message: /has version 3 .* and this is version 2$/ });
});

test('D35, D51: every changed byte of the files is found', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  take(recorder, ...quotes(1100, after(0)));
  recorder.close();
  t.deepEqual(historyProblems(directory, null), []);
  const unseen: string[] = [];
  for (const name of readdirSync(directory)) {
    const file = path.join(directory, name);
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at++) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 0x10;
      writeFileSync(file, flipped);
      if (historyProblems(directory, null).length === 0) unseen.push(`${name} byte ${at}`);
    }
    writeFileSync(file, whole);
  }
  t.deepEqual(unseen, []);
});

test('D50: a quote costs less than 4 bytes, one of a quiet market at most 16', (t) => {
  const directory = temporary(t);
  const recorder = record(directory);
  let [bid, size] = [40, 900];
  for (let i = 0; i < 20_480; i++) {
    const roll = (i * 2_654_435_761) % 97;
    if (roll < 12) bid = 30 + ((bid + (roll % 3) - 1 + 60) % 40);
    size = 300 + ((size + roll * 7) % 1200);
    const over = { yesBidCents: bid, yesAskCents: bid + 2, yesBidContracts: size };
    take(recorder, quoteTick({ source: 1, market: 0, atMs: after(i * 90 + roll), ...over }));
  }
  recorder.close();
  const bytes = statSync(path.join(directory, '00000001.blocks')).size;
  t.log(`${(bytes / 20_480).toFixed(2)} bytes a quote`);
  t.true(bytes / 20_480 < 4);
});
