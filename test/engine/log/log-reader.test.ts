import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs, { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import {
  LogDamage,
  type LogPosition,
  positionOf,
  segmentOf,
} from '../../../engine/log/log-format.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { shareOf } from '../../model/seeds.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  copyLog,
  fileOf,
  fill,
  IDENTITY,
  nextRecord,
  OPTIONS,
  plain,
  randomOf,
  readAll,
} from './log-files.ts';
import { callsOf, withBefore } from './traced-files.ts';

const syncsOf = (work: () => void) =>
  callsOf(work).filter((call) => call.startsWith('fdatasync')).length;

test('D22: records after any number begin with the record that has the next one', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const written = fill(log, 100, randomOf(1));
  const reader = LogReader.open(dir, IDENTITY);
  for (const after of [...Array(log.nextNumber + 3).keys()]) {
    const expected = written.filter(({ firstNumber, count }) => firstNumber + count - 1 > after);
    const found = [...reader.records(after)];
    const numbersOf = (records: typeof expected) => records.map((one) => one.firstNumber).join();
    t.is(numbersOf(found), numbersOf(expected));
    const first = found[0];
    if (first === undefined) continue;
    t.deepEqual(plain(reader.record(first.position)), plain(first));
    t.is([...reader.records(after, first.position)].length, found.length);
  }
  reader.close();
  log.close();
});

test('D22: a record that is larger than the cache is read once, while no other such one is', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, { ...OPTIONS, segmentBytes: 2 ** 26 });
  const places = [1, 2].map((number) => {
    const { tail } = log;
    const payload = Buffer.alloc(5 * 2 ** 20, number);
    log.append({ firstNumber: number, count: 1, atMs: 1, payload });
    log.sync();
    return tail;
  });
  const reader = LogReader.open(dir, IDENTITY);
  const [first, second] = places.map((place) => reader.record(place));
  t.is(reader.record(places[1]!), second!);
  const again = reader.record(places[0]!);
  t.not(again, first!);
  t.is(reader.record(places[0]!), again);
  t.deepEqual([again.firstNumber, again.payload[7]], [1, 1]);
  reader.close();
  log.close();
});

test('D22: a log of many segments is read by one reader from first to last', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, { ...OPTIONS, segmentBytes: 200 });
  const written = fill(log, 200, randomOf(2));
  t.true(segmentOf(log.tail) > 70);
  const reader = LogReader.open(dir, IDENTITY);
  t.deepEqual([...reader.records(0)].map(plain), written.map(plain));
  t.deepEqual([...reader.records(0)].map(plain), written.map(plain));
  t.deepEqual(reader.problems(), []);
  reader.close();
  log.close();
});

test('D22: a log that is not there yet is empty, and then it is not', (t) => {
  const dir = path.join(tempDir(t), 'later');
  const reader = LogReader.open(dir, IDENTITY);
  t.deepEqual([...reader.records(0)], []);
  t.deepEqual(reader.durableFiles(), []);
  t.deepEqual(reader.problems(), []);
  const log = LogWriter.open(dir, OPTIONS);
  t.deepEqual([...reader.records(0)], []);
  const written = fill(log, 30, randomOf(3));
  t.deepEqual([...reader.records(0)].map(plain), written.map(plain));
  reader.close();
  log.close();
});

test('D22: a record of which a part is written is not shown, and is shown once it is whole', (t) => {
  const dir = tempDir(t);
  const whole = path.join(dir, 'whole');
  const log = LogWriter.open(whole, { ...OPTIONS, segmentBytes: 2 ** 20 });
  const random = randomOf(4);
  const before = fill(log, 3, random);
  const part = copyLog(whole, path.join(dir, 'part'));
  const start = log.tail;
  const last = fill(log, 1, random)[0]!;
  log.close();
  const bytes = fs.readFileSync(fileOf(whole, 0)).subarray(start, start + 32 + last.payload.length);
  // Room for the record, and less to read for each of its bytes.
  truncateSync(fileOf(part, 0), start + bytes.length + 1000);
  const reader = LogReader.open(part, IDENTITY);
  const fd = openSync(fileOf(part, 0), 'r+');
  for (let at = 0; at < bytes.length; at++) {
    t.is([...reader.records(0)].length, before.length, `with ${at} bytes`);
    writeSync(fd, bytes, at, 1, start + at);
  }
  closeSync(fd);
  t.deepEqual([...reader.records(0)].map(plain), [...before, last].map(plain));
  reader.close();
});

test.serial('D22: a writer that begins the next segment under a reader is no damage', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(10);
  const written = fill(log, 3, random);
  const reader = LogReader.open(dir, IDENTITY);
  const records = withBefore(
    'openSync',
    (file) => file === fileOf(dir, 1),
    () => written.push(...fill(log, 30, random)),
    () => [...reader.records(0)],
  );
  t.true(segmentOf(log.tail) > 1);
  t.deepEqual(records.map(plain), written.map(plain));
  reader.close();
  log.close();
});

test.serial('D22: a segment that begins while a reader looks for it is no damage', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(10);
  const written = fill(log, 3, random);
  while (segmentOf(log.tail) === 0) written.push(...fill(log, 1, random));
  const next = segmentOf(log.tail) + 1;
  const reader = LogReader.open(dir, IDENTITY);
  let looks = 0;
  const records = withBefore(
    'readdirSync',
    // The first look is for all segments, the next for one that the reader could not open.
    () => ++looks > 1 && segmentOf(log.tail) < next,
    () => {
      while (segmentOf(log.tail) < next) written.push(...fill(log, 1, random));
    },
    () => [...reader.records(0)],
  );
  t.is(segmentOf(log.tail), next);
  t.deepEqual(records.map(plain), written.map(plain));
  reader.close();
  log.close();
});

test.serial('D22: a writer that finishes a record under a reader is no damage', (t) => {
  const dir = tempDir(t);
  const whole = path.join(dir, 'whole');
  const log = LogWriter.open(whole, { ...OPTIONS, segmentBytes: 2 ** 20 });
  const random = randomOf(11);
  fill(log, 3, random);
  const part = copyLog(whole, path.join(dir, 'part'));
  const start = log.tail;
  fill(log, 2, random);
  const bytes = fs.readFileSync(fileOf(whole, 0)).subarray(start, log.tail);
  log.close();
  const fd = openSync(fileOf(part, 0), 'r+');
  writeSync(fd, bytes, 0, 40, start);
  const reader = LogReader.open(part, IDENTITY);
  t.is([...reader.records(0)].length, 3);
  const finish = () => writeSync(fd, bytes, 0, bytes.length, start);
  const isAny = () => true;
  t.notThrows(() => withBefore('fstatSync', isAny, finish, () => [...reader.records(2 ** 40)]));
  t.is([...reader.records(0)].length, 5);
  closeSync(fd);
  reader.close();
});

test.serial('D22: a reader syncs what it shows, once a group, and what is settled never', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, { ...OPTIONS, durability: 'commit', segmentBytes: 2 ** 26 });
  const random = randomOf(5);
  const append = (records: number) => {
    const places: LogPosition[] = [];
    for (let at = 0; at < records; at++) {
      places.push(log.tail);
      log.append(nextRecord(log.nextNumber, random));
    }
    return places;
  };
  const places = append(50);
  const reader = LogReader.open(dir, IDENTITY);
  t.is(
    syncsOf(() => t.is([...reader.records(0)].length, 50)),
    1,
  );
  t.is(
    syncsOf(() => t.is([...reader.records(0)].length, 50)),
    0,
  );
  t.is(
    syncsOf(() => reader.record(places[7]!)),
    0,
  );
  const later = append(2);
  t.is(
    syncsOf(() => reader.record(later[1]!)),
    1,
  );
  t.is(
    syncsOf(() => reader.record(later[0]!)),
    0,
  );
  const own = LogReader.open(dir, { ...IDENTITY, settledTail: () => log.tail });
  t.is(
    syncsOf(() => own.record(later[1]!)),
    0,
  );
  t.is(
    syncsOf(() => [...own.records(0)]),
    0,
  );
  own.close();
  reader.close();
  log.close();
});

test('D22: followers in this process see each record once, in order, over segments', async (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(6);
  const written = fill(log, 10, random);
  const reader = LogReader.open(dir, IDENTITY);
  const stop = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const { firstNumber } of reader.follow(0, { signal: stop.signal, pollMs: 1 })) {
      seen.push(firstNumber);
      if (seen.length === 100) stop.abort();
    }
  })();
  while (written.length < 100) {
    await sleep(1);
    written.push(...fill(log, 5, random));
  }
  await following;
  t.deepEqual(
    seen,
    written.map(({ firstNumber }) => firstNumber),
  );
  const idle = reader.follow(log.nextNumber - 1, { signal: AbortSignal.timeout(30) });
  t.deepEqual(await idle.next(), { done: true, value: undefined });
  reader.close();
  log.close();
});

// Not beside other tests, since the process writes for as long as it lives.
test.serial('D22: a reader beside a writing process sees whole records in order', async (t) => {
  const dir = tempDir(t);
  const writer = fork(path.join(import.meta.dirname, 'writing-process.ts'), [dir]);
  t.teardown(() => writer.kill('SIGKILL'));
  await once(writer, 'message');
  const reader = LogReader.open(dir, IDENTITY);
  let number = 1;
  const enough = shareOf(500);
  const signal = AbortSignal.timeout(60_000);
  for await (const record of reader.follow(0, { signal })) {
    t.is(record.firstNumber, number);
    const again = nextRecord(number, randomOf(number), 20_000);
    if (!again.payload.every((byte, at) => byte === record.payload[at])) t.fail(`at ${number}`);
    t.is(record.payload.length, again.payload.length);
    number += record.count;
    if (number > enough) break;
  }
  t.true(number > enough);
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  const found = [...reader.records(0)].length;
  const log = LogWriter.open(dir, OPTIONS);
  t.is(readAll(dir).length, found);
  log.close();
  reader.close();
});

test('D22: a place where no record begins is damage, with its file and byte', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const at = log.tail;
  fill(log, 1, randomOf(8));
  const reader = LogReader.open(dir, IDENTITY);
  for (const place of [at + 1, at - 1, log.tail, positionOf(0, 1e6), positionOf(9, 64)]) {
    const { offset } = t.throws(() => reader.record(place), { instanceOf: LogDamage });
    t.is(offset, place % 2 ** 32);
  }
  t.throws(() => reader.record(-1), { message: /whole number/ });
  t.is(reader.record(at).firstNumber, 1);
  reader.close();
  log.close();
});

test('D17: what a backup copies is a log, and a later copy takes only what is new', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(path.join(dir, 'log'), OPTIONS);
  const reader = LogReader.open(path.join(dir, 'log'), IDENTITY);
  const copy = path.join(dir, 'copy');
  fs.mkdirSync(copy);
  const random = randomOf(9);
  const written = [];
  for (let round = 0; round < 8; round++) {
    written.push(...fill(log, 7, random));
    const files = reader.durableFiles();
    t.deepEqual(
      files.map(({ isClosed }) => isClosed),
      files.map((_, at) => at < files.length - 1),
    );
    for (const { name, bytes, isClosed } of files) {
      const from = fs.readFileSync(path.join(dir, 'log', name)).subarray(0, bytes);
      if (isClosed) t.is(from.length, statSync(path.join(dir, 'log', name)).size);
      const to = path.join(copy, name);
      const had = fs.existsSync(to) ? statSync(to).size : 0;
      fs.appendFileSync(to, from.subarray(had));
    }
    t.deepEqual(readAll(copy), written.map(plain));
  }
  const restored = LogWriter.open(copyLog(copy, path.join(dir, 'restored')), OPTIONS);
  t.is(restored.nextNumber, log.nextNumber);
  restored.close();
  reader.close();
  log.close();
});
