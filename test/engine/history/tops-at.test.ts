import test from 'ava';
import { NO_PRICE } from '../../../engine/base/units.ts';
import { topsAt } from '../../../engine/history/tops-at.ts';
import { NOON_MS, quoteTick } from '../fixtures.ts';
import { BOUND_MS, record, take, temporary } from './support.ts';

const at = (second: number) => NOON_MS + second * 1000;

test('H23: of each moment the newest row by then, of many moments and markets at once', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  // More than a block of them.
  for (let second = 0; second < 1500; second++) {
    take(recorder, quoteTick({ atMs: at(second), market: 0, yesBidCents: 10 + (second % 30) }));
  }
  const silentMs = at(1499) + BOUND_MS;
  const atMs = [NOON_MS - 1, at(0), at(1) - 1, at(700), at(1499), silentMs - 1, silentMs];
  const markets = [0, 1].map((market) => ({ market, atMs }));
  const [tops, none] = topsAt(recorder, { nowMs: silentMs + 5000, markets });
  t.deepEqual(tops!.yesBidCents, [NO_PRICE, 10, 10, 20, 39, 39, NO_PRICE]);
  t.deepEqual(tops!.yesAskCents, [NO_PRICE, 43, 43, 43, 43, 43, NO_PRICE]);
  t.deepEqual(new Set(none!.yesBidCents), new Set([NO_PRICE]));
});

test('H23: many moments in one question are answered as each of them alone', (t) => {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  // Several rows of one moment, and moments before, between and after all of them.
  for (let row = 0; row < 1300; row++) {
    const atMs = at(Math.floor(row / 3));
    take(recorder, quoteTick({ atMs, market: 0, yesBidCents: 10 + (row % 30) }));
  }
  const atMs = Array.from({ length: 900 }, (_, half) => NOON_MS - 5000 + half * 500);
  const nowMs = atMs.at(-1)!;
  const [together] = topsAt(recorder, { nowMs, markets: [{ market: 0, atMs }] });
  const alone = atMs.map((one) => {
    return topsAt(recorder, { nowMs, markets: [{ market: 0, atMs: [one] }] })[0]!.yesBidCents[0];
  });
  t.deepEqual<(number | undefined)[], (number | undefined)[]>(together!.yesBidCents, alone);
  t.true(new Set(alone).size > 9);
});
