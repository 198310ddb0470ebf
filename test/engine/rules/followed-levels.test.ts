import test from 'ava';
import { FollowedLevels, TakenPlaces } from '../../../engine/rules/followed-levels.ts';
import type { LevelsTick, LevelTick } from '../../../engine/rules/messages.ts';
import { orderRow } from '../fixtures.ts';

const EPOCH = 1;

function whole(market: number, size: number): LevelsTick {
  const levels = { yes: [[4_000, size] as const, [4_050, size] as const], no: [] };
  return { kind: 'levels', atMs: 1, source: 0, market, levels, repeats: false };
}

function change(market: number, price: number, size: number): LevelTick {
  const of = { change: 'add', side: 'yes', price, contracts: 1, size, decrease: 0 } as const;
  return { kind: 'level', atMs: 2, source: 0, market, ...of };
}

test('T145: many books keep their own levels, in cents and between them', (t) => {
  const followed = new FollowedLevels();
  const markets = Array.from({ length: 300 }, (_, nth) => nth * 7);
  for (const market of markets) followed.replace(whole(market, 1 + market), EPOCH);
  for (const market of markets) t.true(followed.show(change(market, 4_100, 5), EPOCH));
  t.true(followed.show(change(7, 4_050, 0), EPOCH));
  for (const market of markets) {
    const size = 1 + market;
    const between = market === 7 ? [] : [[4_050, size]];
    t.deepEqual(followed.of(market)!.levels().yes, [
      [4_000, size],
      ...between,
      [4_100, 5],
    ] as never);
  }
  t.is(followed.of(1), undefined);
  t.false(followed.show(change(1, 4_000, 5), EPOCH));
  t.false(followed.show(change(7, 4_000, 5), EPOCH + 1));
  t.false(followed.isFollowed({ market: 7, source: 1 }, EPOCH));
  t.is(followed.of(7)!.sizeAt('yes', 40), 8);
});

test('T153: an unknown book shows no change until it comes whole', (t) => {
  const followed = new FollowedLevels();
  followed.replace(whole(3, 8), EPOCH);
  t.true(followed.replace({ ...whole(3, 0), levels: null }, EPOCH));
  t.false(followed.show(change(3, 4_000, 5), EPOCH));
  t.deepEqual([followed.of(3)!.isKnown, followed.of(3)!.lostAtMs], [false, 1]);
  t.false(followed.replace(whole(3, 9), EPOCH));
  t.deepEqual([followed.of(3)!.isKnown, followed.of(3)!.lostAtMs], [true, null]);
  t.true(followed.show(change(3, 4_100, 5), EPOCH));
});

test('a past market has no book, and its place is empty for the next', (t) => {
  const followed = new FollowedLevels();
  followed.replace(whole(3, 8), EPOCH);
  followed.show(change(3, 4_200, 5), EPOCH);
  followed.drop(3);
  followed.drop(3);
  t.is(followed.of(3), undefined);
  t.false(followed.show(change(3, 4_000, 5), EPOCH));
  followed.replace(whole(4, 9), EPOCH);
  followed.replace(whole(5, 7), EPOCH);
  t.deepEqual(followed.of(4)!.levels().yes, [
    [4_000, 9],
    [4_050, 9],
  ] as never);
  t.deepEqual(followed.of(5)!.levels().yes, [
    [4_000, 7],
    [4_050, 7],
  ] as never);
});

/** What a print of a decrease gives back at a time: order, turn and hundredths. */
function givenBack(taken: TakenPlaces, decrease: number, atMs: number): number[][] {
  const given: number[][] = [];
  taken.giveBack(decrease, atMs, (...of) => given.push(of));
  return given;
}

test('T149: each of many decreases gives back what it took, once, for a second', (t) => {
  const taken = new TakenPlaces();
  for (let decrease = 1; decrease <= 9; decrease++) {
    for (const order of [1, 2]) {
      taken.note(decrease, 10 * decrease, orderRow(order), 7, decrease * order);
    }
  }
  for (const decrease of [9, 1, 5, 4, 8]) {
    t.deepEqual(givenBack(taken, decrease, 100), [
      [1, 7, decrease],
      [2, 7, decrease * 2],
    ]);
    t.deepEqual(givenBack(taken, decrease, 100).flat().at(-1), 0, 'once');
  }
  t.deepEqual(givenBack(taken, 10, 100), []);
  t.deepEqual(givenBack(taken, 7, 1_071), [], 'a second later');
  t.deepEqual(givenBack(taken, 6, 1_060).length, 2, 'not a second later');
});

test('T149: decreases of the last second are remembered, however many came before', (t) => {
  const taken = new TakenPlaces();
  const noteAll = (from: number, end: number, atMs: number) => {
    for (let decrease = from; decrease < end; decrease++) {
      taken.note(decrease, atMs, orderRow(3), 0, decrease);
    }
  };
  const has = (from: number, end: number, atMs: number) => {
    for (let decrease = from; decrease < end; decrease++) {
      t.deepEqual(givenBack(taken, decrease, atMs), [[3, 0, decrease]]);
    }
  };
  noteAll(0, 50, 0);
  noteAll(50, 70, 2_000);
  has(50, 70, 2_000);
  noteAll(70, 300, 2_500);
  has(70, 300, 3_500);
});
