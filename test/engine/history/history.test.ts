import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { History, type HistoryOptions } from '../../../engine/history/history.ts';
import type { QuotesQuestion } from '../../../engine/history/questions.ts';
import { historyProblems } from '../../../engine/history/verify.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { QUESTIONS_OF_ONE_MAX } from '../../../engine/threads/fair-turns.ts';
import { quoteTick } from '../fixtures.ts';
import { after, temporary } from './support.ts';

type Opened = { history: History; errors: string[]; directory: string };

function open(t: ExecutionContext, over: Partial<HistoryOptions> = {}): Opened {
  const directory = over.directory ?? temporary(t);
  const errors: string[] = [];
  const history = new History({
    directory,
    quoteMaxAgeMs: 15_000,
    days: 0,
    nowMs: () => after(0),
    log: { info() {}, error: (_, message) => errors.push(message) },
    ...over,
  });
  t.teardown(() => history.close());
  return { history, errors, directory };
}

const QUESTION: QuotesQuestion = {
  kind: 'quotes',
  ...{ market: 0, polarity: 1, instrumentId: null, venue: 'venue_a' },
  ...{ fromMs: 0, toMs: Number.POSITIVE_INFINITY, nowMs: after(0) },
  ...{ order: 'asc', limit: 5000, cursor: null, tag: '' },
};

const listed = async (history: History) => JSON.parse((await history.ask('server', QUESTION)).text);
const sized = (ms: number, size: number): Tick =>
  quoteTick({ atMs: after(ms), yesAskContracts: size });

/** A thread that fails is away for a moment. */
async function untilListed(history: History) {
  for (let tries = 0; ; tries++) {
    try {
      return await listed(history);
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
}

test('H4: a question is answered after all ticks that came before it', async (t) => {
  const { history } = open(t);
  for (let i = 1; i <= 2000; i++) history.tick(sized(i, i));
  for (const last of [2001, 2002]) history.tick(sized(last, last));
  const { quotes } = await listed(history);
  t.is(quotes.length, 2002);
  t.is(quotes.at(-1).yesAskContracts, 2002);
});

test('H4: levels after the top cost nothing', async (t) => {
  const { history } = open(t);
  history.tick({ ...quoteTick({ atMs: after(1) }), depth: { yesBids: [[40, 1]], yesAsks: [] } });
  t.is((await listed(history)).quotes.length, 1);
});

test('H4: what it cannot take in time is left out, and shows as a gap', async (t) => {
  const { history, errors } = open(t, { queueBytesMax: 100_000 });
  // In one turn of the event loop, so that nothing is taken meanwhile.
  for (let i = 1; i <= 20_000; i++) history.tick(sized(i, Math.min(i, 15_000)));
  await history.drained();
  // As the last that was left out.
  history.tick(sized(30_000, 15_000));
  const { quotes, gaps } = await listed(history);
  t.true(quotes.length < 15_000);
  t.is(quotes.at(-1).yesAskContracts, 15_000);
  t.is(gaps.length, 1);
  const lost = quotes.findIndex(({ live }: { live: boolean }) => !live);
  t.is(quotes[lost - 1].at, quotes[lost].at, 'at the last tick that it has');
  t.deepEqual(gaps, [{ from: quotes[lost].at, to: quotes[lost + 1].at, reason: 'server_down' }]);
  t.deepEqual(errors, ['the history has fallen behind']);
});

test('H4, Q19: the questions of an account are bounded, and another has its turn among them', async (t) => {
  const { history } = open(t);
  let answered = 0;
  const ask = (asker: string) => history.ask(asker, QUESTION).finally(() => answered++);
  const asked = Promise.allSettled(
    Array.from({ length: QUESTIONS_OF_ONE_MAX + 6 }, () => ask('a')),
  );
  await ask('b');
  // Six were refused at once, and the first two were under way.
  t.true(answered <= 6 + 3, `${answered} were answered first`);
  const fulfilled = (await asked).filter(({ status }) => status === 'fulfilled');
  t.is(fulfilled.length, QUESTIONS_OF_ONE_MAX);
});

test('D53: closed, it keeps everything; started again, it goes on with a gap', async (t) => {
  const { history, directory } = open(t);
  history.tick(sized(1, 5));
  await history.close();
  const again = open(t, { directory }).history;
  again.tick(sized(60_000, 5));
  const { quotes, gaps } = await listed(again);
  t.deepEqual(
    quotes.map(({ live }: { live: boolean }) => live),
    [true, false, true],
  );
  t.like(gaps, { length: 1, 0: { reason: 'server_down' } });
});

test('H4: a thread that fails is started again, and what it missed is a gap', async (t) => {
  const { history, errors, directory } = open(t);
  history.tick(sized(1, 5));
  const journalBytes = () => statSync(path.join(directory, 'journal'), { throwIfNoEntry: false });
  // Flushed within a second, and once more.
  while ((journalBytes()?.size ?? 0) < 170) await sleep(50);
  // No print is at 0 cents: its thread stops at it.
  const bad = { yesPriceCents: 0, contracts: 1, side: 'yes' } as const;
  history.tick({ kind: 'trade', atMs: after(2), source: 0, market: 0, ...bad });
  await t.throwsAsync(listed(history));
  t.regex(history.problems()[0] ?? '', /^history: invariant/);
  await untilListed(history);
  // As before.
  history.tick(sized(3000, 5));
  const { quotes, gaps } = await listed(history);
  t.like(quotes.at(-1), { yesAskContracts: 5, live: true });
  t.is(gaps.filter(({ reason }: { reason: string }) => reason === 'server_down').length, 1);
  t.deepEqual(history.problems(), []);
  t.deepEqual(errors, ['the history has failed, and starts again']);
});

test('D81, D83: a damaged file is kept and named, and what is whole in it is answered', async (t) => {
  const { history, directory } = open(t);
  for (let i = 1; i <= 600; i++) history.tick(sized(i, i));
  await history.close();
  const file = path.join(directory, '00000001.blocks');
  const bytes = readFileSync(file);
  bytes[0]! ^= 1;
  writeFileSync(file, bytes);
  const { history: again, errors } = open(t, { directory });
  t.is((await listed(again)).quotes.length, 601, 'and one for the time that nobody recorded');
  t.regex(
    again.problems().join(),
    /^history: 00000001\.blocks is damaged at byte 0: .*; kept as damaged\/0001-00000001\.blocks$/,
  );
  t.deepEqual(errors, ['the history is damaged']);
  t.deepEqual(readFileSync(path.join(directory, 'damaged', '0001-00000001.blocks')), bytes);
});

test('D84: a block that changes under a running server is a gap, and in no answer', async (t) => {
  const { history, directory, errors } = open(t);
  for (let i = 1; i <= 600; i++) history.tick(sized(i, i));
  await history.drained();
  const file = path.join(directory, '00000001.blocks');
  const bytes = readFileSync(file);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(file, bytes);
  const { quotes, gaps } = await listed(history);
  t.deepEqual(
    quotes.map(({ live }: { live: boolean }) => live),
    [false, ...Array.from({ length: 88 }, () => true)],
  );
  t.deepEqual(gaps, [
    {
      from: new Date(after(1)).toISOString(),
      to: new Date(after(513)).toISOString(),
      reason: 'damaged',
    },
  ]);
  t.regex(history.problems().join(), /^history: 00000001\.blocks is damaged at byte 20/);
  t.deepEqual(errors, ['the history is damaged']);
  await history.close();
  const again = open(t, { directory }).history;
  t.deepEqual((await listed(again)).gaps.slice(0, 1), gaps, 'and the gap stays');
  t.true(historyProblems(directory, null).length > 0);
});
