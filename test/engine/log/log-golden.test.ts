import { readFileSync } from 'node:fs';
import test from 'ava';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { tempDir } from '../shard/engine-process.ts';
import { fileOf, IDENTITY, OPTIONS, plain } from './log-files.ts';

type Golden = {
  header: string;
  records: { firstNumber: number; count: number; atMs: number; payload: string; hex: string }[];
};

const golden: Golden = JSON.parse(
  readFileSync(new URL('../../golden/format/log.json', import.meta.url), 'utf8'),
);
const records = golden.records.map(({ hex: _, payload, ...record }) => {
  return { ...record, payload: Buffer.from(payload, 'hex') };
});

test('D19, D20: the bytes of a segment stay as they were first written', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  for (const record of records) {
    log.append(record);
    log.sync();
  }
  const end = log.tail;
  log.close();
  const bytes = readFileSync(fileOf(dir, 0));
  t.is(bytes.subarray(0, 64).toString('hex'), golden.header);
  const stored = golden.records.map(({ hex }) => hex).join('');
  t.is(bytes.subarray(64, end).toString('hex'), stored);
  t.true(bytes.subarray(end).every((byte) => byte === 0));
  const reader = LogReader.open(dir, IDENTITY);
  const read = [...reader.records(0)].map((record) => plain(record));
  t.deepEqual(read, records.map(plain));
  reader.close();
});
