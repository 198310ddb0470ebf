import test from 'ava';
import type { GameStatus } from '../../../engine/base/units.ts';
import type { GameTick, ResultTick, StatusTick } from '../../../engine/rules/messages.ts';
import { ChangedStates } from '../../../feeds/ingest/changed-states.ts';

const AT = 1_783_880_000_000;

function world() {
  const passed: (GameTick | StatusTick | ResultTick)[] = [];
  let steadyMs = 0;
  const states = new ChangedStates({
    sink: (tick) => passed.push(tick),
    nowMs: () => AT + steadyMs,
    steadyMs: () => steadyMs,
  });
  return {
    states,
    game: (status: GameStatus, game = 'g') =>
      states.take({ kind: 'game', atMs: AT + steadyMs, source: 2, game, status }),
    after(ms: number) {
      steadyMs += ms;
      states.advance();
    },
    pass(ms: number) {
      steadyMs += ms;
    },
    said: () => passed.splice(0).map((tick) => ('status' in tick ? tick.status : tick.outcome)),
    ticks: passed,
  };
}

test('W61: fifty thousand changes of a game in a second are passed on as a few', (t) => {
  const { game, after, said } = world();
  for (let frame = 0; frame < 50_000; frame++) {
    game(frame % 2 === 0 ? 'inprogress' : 'postponed');
    if (frame % 50 === 0) after(1);
  }
  const first = said();
  t.true(first.length <= 8, `${first.length} were passed on`);
  after(1000);
  t.deepEqual(said(), ['postponed'], 'the newest is not lost');
  after(5000);
  t.deepEqual(said(), []);
});

test('W61: what an honest venue says is passed on at once, each game for itself', (t) => {
  const { game, said } = world();
  t.true(game('scheduled'));
  t.true(game('inprogress'));
  t.true(game('inprogress', 'h'));
  t.true(game('final'));
  t.deepEqual(said(), ['scheduled', 'inprogress', 'inprogress', 'final']);
});

test('W61: what repeats the last within a second says nothing new; later it is passed on again', (t) => {
  const { game, after, said } = world();
  t.true(game('inprogress'));
  t.false(game('inprogress'));
  after(1000);
  t.true(game('inprogress'));
  t.deepEqual(said(), ['inprogress', 'inprogress']);
});

test('W61: a cancellation among changes that wait is not lost', (t) => {
  const { game, after, said, ticks } = world();
  for (const status of ['inprogress', 'postponed', 'inprogress', 'postponed'] as const)
    game(status);
  said();
  for (const status of ['cancelled', 'inprogress', 'postponed', 'scheduled'] as const) game(status);
  t.deepEqual(said(), []);
  after(1000);
  t.is(ticks[0]!.atMs, AT + 1000, 'nothing is passed on after its time');
  t.deepEqual(said(), ['cancelled', 'scheduled']);
});

test('W61: results and statuses of a market are bounded in the same way', (t) => {
  const { states, said } = world();
  const place = { atMs: AT, source: 2, market: 7 };
  const result = { kind: 'result', ...place, outcome: 'yes' } as const;
  for (let frame = 0; frame < 1000; frame++) {
    states.take({ ...result, yesPayoutCents: 100, noPayoutCents: 0 });
    states.take({ kind: 'status', ...place, status: frame % 2 === 0 ? 'open' : 'paused' });
  }
  t.deepEqual(said(), ['yes', 'open', 'paused', 'open', 'paused']);
  // Another catalog: what is in it may have another status.
  states.forget();
  t.true(states.take({ kind: 'status', ...place, status: 'paused' }));
});

test('W103: a stop of an open market does not wait; what opens it again does', (t) => {
  const { states, after, pass, said } = world();
  const say = (status: 'open' | 'paused' | 'closed') =>
    states.take({ kind: 'status', atMs: AT, source: 2, market: 7, status });
  for (const status of ['open', 'paused', 'closed', 'open'] as const) say(status);
  said();
  t.true(say('closed'));
  t.false(say('open'));
  t.false(say('closed'), 'it is closed');
  t.false(say('open'));
  t.deepEqual(said(), ['closed'], 'one in a second, whatever the venue says');
  after(1000);
  t.deepEqual(said(), ['open']);
  t.true(say('paused'));
  t.deepEqual(said(), ['paused']);
  for (const status of ['open', 'closed', 'open'] as const) say(status);
  said();
  pass(1000);
  t.true(say('closed'));
  t.deepEqual(said(), ['closed'], 'what opens it is not passed on once it is closed again');
});

test('W108: a venue that repeats its result after an operator has given another is heard', (t) => {
  const { states, said } = world();
  const say = (market: number) =>
    states.take({
      ...{ kind: 'result', atMs: AT, source: 2, market, outcome: 'yes' },
      ...{ yesPayoutCents: 100, noPayoutCents: 0 },
    });
  say(7);
  states.resultGiven(8);
  t.false(say(7));
  states.resultGiven(7);
  t.true(say(7));
  t.false(say(7));
  t.deepEqual(said(), ['yes', 'yes']);
});
