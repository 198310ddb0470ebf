import test from 'ava';
import { ConflatedTicks } from '../../../api/market-data/conflated-ticks.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { quoteTick } from '../../engine/fixtures.ts';

const result = (atMs: number, outcome: 'yes' | 'no'): Tick => ({
  ...{ kind: 'result', atMs, source: 0, market: 0, outcome },
  ...{ yesPayoutCents: 0, noPayoutCents: 0 },
});
const heartbeat = (atMs: number, source = 0): Tick => ({ kind: 'heartbeat', atMs, source });
const down = (atMs: number, source = 0): Tick => ({ kind: 'down', atMs, source });
const status = (atMs: number, now: 'open' | 'paused'): Tick => ({
  ...{ kind: 'status', atMs, source: 0, market: 0, status: now },
});
const game = (atMs: number, now: 'inprogress' | 'final'): Tick => ({
  ...{ kind: 'game', atMs, source: 0, game: 'a-b', status: now },
});

function passedOn(...ticks: Tick[]): Tick[] {
  const passed: Tick[] = [];
  const held = new ConflatedTicks((tick) => passed.push(tick));
  held.hold();
  for (const tick of ticks) held.take(tick);
  if (passed.length > 0) throw new Error('nothing is passed on before the release');
  held.release();
  return passed;
}

test('R40: of what is held the last state is passed on, by its times', (t) => {
  const before = [quoteTick({ atMs: 1 }), heartbeat(1), status(2, 'paused'), game(3, 'inprogress')];
  const last = [status(4, 'open'), game(5, 'final'), quoteTick({ atMs: 6 }), heartbeat(7)];
  const trade = { kind: 'trade', atMs: 6, source: 0, market: 0, yesPriceCents: 40 } as const;
  const time: Tick = { kind: 'time', atMs: 6 };
  t.deepEqual(passedOn(...before, { ...trade, contracts: 1, side: 'yes' }, time, ...last), last);
});

test('R40, S6: the first result counts', (t) => {
  t.deepEqual(passedOn(result(1, 'yes'), result(2, 'no')), [result(1, 'yes')]);
});

test('R40, T14: the prices of a lost connection are not passed on, those after it are', (t) => {
  const other = quoteTick({ atMs: 1, market: 1, source: 1 });
  const again = quoteTick({ atMs: 3, market: 2 });
  const ticks = [quoteTick({ atMs: 1 }), other, heartbeat(1), heartbeat(1, 1), down(2), again];
  t.deepEqual(passedOn(...ticks), [other, heartbeat(1, 1), down(2), again]);
});

test('R40: what comes after the release passes', (t) => {
  const passed: Tick[] = [];
  const held = new ConflatedTicks((tick) => passed.push(tick));
  held.take(quoteTick());
  held.release();
  held.take(heartbeat(9));
  t.deepEqual(passed, [quoteTick(), heartbeat(9)]);
});

test('R40, W97: of held levels the last book is passed on, and no print', (t) => {
  const on = { source: 0, market: 0 };
  const levels = { yes: [[4000, 150] as const], no: [] };
  const whole: Tick = { kind: 'levels', atMs: 1, ...on, levels, repeats: true };
  const change: Tick = {
    ...{ kind: 'level', atMs: 2, ...on, change: 'cancel', side: 'yes', price: 4000 },
    ...{ contracts: 50, size: 100, decrease: 1 },
  };
  const print: Tick = {
    ...{ kind: 'print', atMs: 2, ...on, side: 'yes', price: 4000, contracts: 50, decrease: 1 },
  };
  const last = { ...whole, levels: { yes: [[4000, 100]], no: [] }, repeats: false };
  t.deepEqual(passedOn(whole, change, print), [last] as never);
  t.deepEqual(passedOn(whole, down(3)), [down(3)], 'a lost connection has no book');
});
