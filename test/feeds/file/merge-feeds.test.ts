import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readFeed } from '../../../feeds/file/feed-file.ts';
import { inspectFeed } from '../../../feeds/file/inspect.ts';
import { mergedLines, writeMerged } from '../../../feeds/file/merge-feeds.ts';
import { collect } from '../golden.ts';

const HEADER = '{"format":"paperbook-feed","version":1}';
const line = (time: string, frame: object, more: object = {}) =>
  JSON.stringify({
    at: `2026-07-12T${time}Z`,
    venue: 'venue_b',
    adapter: 'native',
    ...more,
    frame,
  });

async function files(t: ExecutionContext, contents: readonly (readonly string[])[]) {
  const folder = await mkdtemp(join(tmpdir(), 'paperbook-merge-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const paths = contents.map((_, index) => join(folder, `${index}.jsonl`));
  for (const [index, texts] of contents.entries()) {
    await writeFile(paths[index]!, [HEADER, ...texts].join('\n'));
  }
  return { folder, paths };
}

const newCounts = () => ({ lines: 0, skippedLines: 0 });

test('F36: several files become one in order of time, each with its connections', async (t) => {
  const { folder, paths } = await files(t, [
    [
      line('04:00:00', { n: 1 }, { connection: 1, seq: 1, event: 'gap' }),
      line('04:00:05', { n: 2 }, { connection: 1, seq: 2 }),
      line('04:00:04.500', { n: 3 }, { connection: 1, seq: 3 }),
    ],
    [line('04:00:00', { n: 4 }), line('04:00:04.700', { n: 5 }, { connection: 1, seq: 1 })],
    [line('04:00:05', { n: 6 }, { connection: 1, seq: 1, venue: 'venue_a' })],
    [],
  ]);
  const out = join(folder, 'merged.jsonl.gz');
  const counts = newCounts();
  await writeMerged(out, mergedLines(paths, {}, counts));
  t.deepEqual(counts, { lines: 6, skippedLines: 0 });
  const read = (await collect(readFeed(out, { refuseJumps: true }))).flat();
  t.deepEqual(
    read.map(({ frame, connection, seq, event }) => [
      (frame as { n: number }).n,
      connection,
      seq,
      event,
    ]),
    [
      [1, 1, 1, 'gap'],
      [4, undefined, undefined, undefined],
      [5, 2, 1, undefined],
      [2, 1, 2, undefined],
      [3, 1, 3, undefined],
      [6, 1, 1, undefined],
    ],
  );
  await t.throwsAsync(writeMerged(out, mergedLines(paths, {}, newCounts())), {
    message: 'the feed file cannot be written (EEXIST)',
  });
});

test('F36: a bad line names its file, and leaves no output', async (t) => {
  const { folder, paths } = await files(t, [
    [line('04:00:00', {}), line('04:00:10', {}), line('04:00:00', {}), line('04:00:11', {})],
    [line('04:00:01', {})],
  ]);
  const out = join(folder, 'merged.jsonl');
  await t.throwsAsync(writeMerged(out, mergedLines(paths, {}, newCounts())), {
    message: /0\.jsonl: line 4: at goes back/,
  });
  t.false(existsSync(out));
  const given: string[] = [];
  await t.throwsAsync(async () => {
    for await (const text of mergedLines(paths, {}, newCounts())) given.push(text);
  });
  t.deepEqual(given, [], 'nothing is given out before it');
  const counts = newCounts();
  const texts = await collect(mergedLines(paths, { skipBad: true }, counts));
  t.deepEqual([texts.length, counts], [5, { lines: 4, skippedLines: 1 }]);
});

test('F36: recordings put one after another in a file are merged as files are', async (t) => {
  const at = (time: string, n: number, more: object = {}) => line(time, { n }, more);
  const one = { connection: 1, seq: 1 };
  const { folder, paths } = await files(t, [
    [
      ...[at('06:00:00', 4, one), at('06:00:01', 5, one), at('06:00:01.500', 6, one)],
      // Times that stay back are another recording, and so is what follows a header.
      ...[at('04:00:00', 1, one), at('04:00:00.500', 2, one)],
      ...[HEADER, at('08:30:00', 9, one), at('08:30:01', 10, one)],
      ...[HEADER, at('06:00:01.700', 7, one), at('06:00:01.800', 8, one)],
      at('04:00:07', 3),
    ],
  ]);
  const refused = readFeed(paths[0]!, { refuseJumps: true });
  await t.throwsAsync(collect(refused), { message: /^line 5: .*feed merge/ });
  const out = join(folder, 'merged.jsonl');
  const counts = newCounts();
  await writeMerged(out, mergedLines(paths, {}, counts));
  t.deepEqual(counts, { lines: 10, skippedLines: 0 });
  const read = (await collect(readFeed(out))).flat();
  const shown = read.map(({ frame, connection }) => [(frame as { n: number }).n, connection]);
  const numbers = [1, 1, undefined, 2, 2, 2, 3, 3, 4, 4];
  t.deepEqual(
    shown,
    numbers.map((connection, index) => [index + 1, connection]),
  );
  t.false((await readFile(out, 'utf8')).includes('recording'));
});

test('F36: recordings beyond the bound, and what can be read once, are refused', async (t) => {
  const recordings = Array.from({ length: 65 }, () => [HEADER, line('04:00:00', {})]).flat();
  const { folder, paths } = await files(t, [recordings.slice(1), recordings.slice(3)]);
  await t.throwsAsync(collect(mergedLines(paths, {}, newCounts())), {
    message: /0\.jsonl: line 130: more than 64 recordings in one file$/,
  });
  t.is((await collect(mergedLines([paths[1]!], {}, newCounts()))).length, 65);
  await t.throwsAsync(collect(mergedLines([folder], {}, newCounts())), {
    message: /: not a plain file, and merge reads it more than once$/,
  });
});

test('X8: inspect counts the lines that a replay refuses for their time', async (t) => {
  const { paths } = await files(t, [
    [
      line('04:00:10', {}),
      line('04:00:00', {}),
      line('04:00:01', {}),
      line('09:00:00', {}),
      JSON.stringify({ ...JSON.parse(line('04:00:10', {})), at: '1970-01-01T00:00:00Z' }),
    ],
  ]);
  const { timeProblems } = await inspectFeed(paths[0]!);
  t.is(timeProblems.lines, 4);
  t.is(timeProblems.firstLine, 3);
  t.deepEqual(Object.values(timeProblems.linesByReason), [2, 1, 1]);
});
