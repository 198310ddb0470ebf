/** A part of a feed file, and how far a replay is. */
import test from 'ava';
import { progressOn, progressText } from '../../api/cli/progress.ts';
import { runHere } from '../process/run-here.ts';
import { files } from './files.ts';
import { feedLine, HEADER, run } from './harness.ts';
import { at, buy, quote } from './scenario.ts';

const FEED = [
  HEADER,
  feedLine(at(0), quote('A', 40, 43)),
  feedLine(at(1), quote('B', 50, 53)),
  feedLine(at(5), quote('A', 41, 44)),
  feedLine(at(9), quote('A', 45, 48)),
];
const order = (second: number, key: string) => ({
  at: at(second),
  account: 'ann',
  order: { idempotencyKey: key, ...buy('A', 'yes', 10) },
});

test('R40: books begin before --from, orders do not; nothing is after --to', async (t) => {
  const orders = [order(0, 'early'), order(3, 'in'), order(7, 'late')];
  const made = files(t, { feed: FEED, orders });
  const summary = await run({ ...made, fromMs: Date.parse(at(2)), toMs: Date.parse(at(6)) });
  t.like(summary, { frames: 3, trades: 1 });
  // 10 at 43, the ask of second 0: the frame before --from made the book.
  t.like(summary.accounts[0], { balanceDollars: 99_995.7 });
});

test('R40: lines before --from are not held back, and --markets leaves out the others', async (t) => {
  const made = files(t, { feed: FEED });
  const options = { speed: 0.001, orders: null, markets: ['A'], fromMs: Date.parse(at(9)) };
  const startedMs = performance.now();
  t.like(await run({ ...made, ...options }), { frames: 3, ticks: 3 });
  t.true(performance.now() - startedMs < 60_000, 'at this speed nine seconds take hours');
});

test.serial('R40: options that cannot be read, or say nothing there', async (t) => {
  const { feed, catalog } = files(t, {});
  for (const [args, said] of [
    [['--from', 'noon'], /--from.*a date-time with a zone/],
    [['--markets', 'A,,B'], /--markets.*names with commas/],
    [['--fill-model', 'magic'], /--fill-model.*top_of_book, book_depth, queue/],
    [['--close'], /--close is not for an engine of its own/],
  ] as const) {
    const exit = await runHere(['feed', 'replay', feed, '--catalog', catalog, ...args]);
    t.deepEqual([exit.code, exit.stdout], [2, '']);
    t.regex(exit.stderr, said);
  }
});

test('R41: a terminal shows frames, rate, share and time left; a file shows nothing', (t) => {
  t.is(progressText(120_000, 0.25, 10_000), '120,000 frames, 12,000 a second, 25%, 0:30 left');
  t.is(progressText(1, 0.001, 10_000), '1 frames, 0 a second, 0%, 2:46:30 left');
  t.is(progressText(0, 0, 0), '0 frames, 0 a second, 0%');
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  let nowMs = 0;
  const shown = progressOn({ isTTY: true, write } as never, () => nowMs);
  shown.update(5, 0.1);
  nowMs = 1000;
  shown.update(6, 0.5);
  shown.end();
  t.deepEqual(written, ['\r6 frames, 6 a second, 50%, 0:01 left\x1b[K', '\r\x1b[K']);
  const piped = progressOn({ isTTY: false, write } as never, () => nowMs);
  piped.update(7, 1);
  piped.end();
  t.is(written.length, 2);
});
