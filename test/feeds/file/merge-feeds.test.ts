import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  const counts = newCounts();
  const texts = await collect(mergedLines(paths, { skipBad: true }, counts));
  t.deepEqual([texts.length, counts], [5, { lines: 4, skippedLines: 1 }]);
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
