/** The thread that reads a feed file, and the queue after it. */
import test from 'ava';
import { BATCHES_AHEAD, FeedPipeline } from '../../api/cli/feed-pipeline.ts';
import { FeedFileError } from '../../feeds/file/feed-line.ts';
import { files, ORDER } from './files.ts';
import { feedLine, figures, HEADER, run } from './harness.ts';
import { at, quote } from './scenario.ts';

const LINES = 60_000;
const many = Array.from({ length: LINES }, (_, n) =>
  feedLine(at(n / 100), quote(n % 3 === 0 ? 'B' : 'A', 40, 41 + (n % 50))),
);
const input = {
  skipBad: false,
  refuseJumps: true,
  depth: false,
  levels: false,
  settleOn: 'determined' as const,
  toMs: null,
  markets: null,
  marketNames: ['venue_a/A', 'venue_a/B'],
};

test('R42: the reader waits for who takes its batches, and loses no line', async (t) => {
  const { feed } = files(t, { feed: [HEADER, ...many] });
  const pipeline = new FeedPipeline({ ...input, feed }, () => {});
  t.teardown(() => pipeline.close());
  const batches = pipeline.batches();
  const first = (await batches.next()).value!;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const second = (await batches.next()).value!;
  t.true(second.frames < LINES, 'the whole file is more than the queue holds');
  let lines = first.times.length + second.times.length;
  let waited = 0;
  for await (const batch of batches) {
    lines += batch.times.length;
    t.is(batch.ends.at(-1), batch.bytes.length);
    waited++;
  }
  t.is(lines, LINES);
  t.true(waited > BATCHES_AHEAD, `${waited} batches`);
  t.like(pipeline.counts, { frames: LINES, ticks: LINES, skipped: 0 });
});

test('R42: a bad line comes after the lines before it', async (t) => {
  const { feed } = files(t, { feed: [HEADER, many[0], many[1], 'bad', many[2]] });
  const pipeline = new FeedPipeline({ ...input, feed }, () => {});
  t.teardown(() => pipeline.close());
  let lines = 0;
  const reading = async () => {
    for await (const batch of pipeline.batches()) lines += batch.times.length;
  };
  await t.throwsAsync(reading(), { instanceOf: FeedFileError, message: 'line 4: not JSON' });
  t.is(lines, 2);
});

test('R9, R13, R42: the speed is feed seconds a second; it and shards change nothing else', async (t) => {
  const orders = [0, 10, 20].flatMap((seconds) =>
    ['ann', 'bob', 'cat', 'dan'].map((account) => {
      const order = { ...ORDER.order, idempotencyKey: `${seconds}` };
      return { at: at(seconds + 0.07), account, order };
    }),
  );
  const made = files(t, { feed: [HEADER, ...many.slice(0, 3000)], orders });
  // Longer than the start of a replay on a busy machine.
  const paced = await run({ ...made, speed: 12, shards: 2 });
  t.true(paced.elapsedMs >= 2400, `${paced.elapsedMs} ms for half a minute of feed`);
  t.deepEqual(figures(paced), figures(await run(made)));
});
