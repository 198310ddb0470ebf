/** Which points are chosen, of facts made by hand. */
import test from 'ava';
import { EquityFold } from '../../../engine/equity/fold.ts';
import { worthAtBids } from '../../../engine/equity/marks.ts';
import { equityPoints, POINTS_MAX } from '../../../engine/equity/points.ts';
import type { MarketTops, TopsQuestion } from '../../../engine/history/questions.ts';
import type { TradeOpenedFact } from '../../../engine/rules/facts.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';

const ALICE = uuidOf(1);
const MINUTE_MS = 60_000;
const at = (minute: number) => NOON_MS + minute * MINUTE_MS;

/** Opened at noon, and a cent more each minute from then on. */
function grown(minutes: number): EquityFold {
  const fold = new EquityFold();
  fold.take({ kind: 'account_opened', atMs: NOON_MS, account: ALICE });
  for (let minute = 1; minute <= minutes; minute++) {
    fold.take({ kind: 'cash_adjusted', atMs: at(minute), account: ALICE, amountCents: 1 });
  }
  return fold;
}

const opened = (atMs: number, market: number, contracts: number, number: number) =>
  ({
    ...{ kind: 'trade_opened', atMs, account: ALICE, trade: uuidOf(number), order: uuidOf(number) },
    ...{ market, instrument: 0, side: 'yes', instrumentSide: 'yes', contracts, priceCents: 40 },
    ...{ cents: 40 * contracts, feeCents: null },
  }) as TradeOpenedFact;

const all = (nowMs: number, isMarked = false) => ({ fromMs: 0, nowMs, isMarked });

test('A94: as many changes as fit are all points, and of more each so many', (t) => {
  for (const minutes of [0, 1, 497, 498, 499, 500, 1000, 12_345]) {
    const { atMs, money } = equityPoints(grown(minutes), all(at(minutes + 1)));
    t.is(atMs.length, Math.min(minutes + 1, POINTS_MAX - 1), `${minutes} minutes`);
    t.is(atMs[0], NOON_MS);
    for (const [index, ms] of atMs.entries()) {
      t.is(money.balance[index], 10_000_000 + (ms - NOON_MS) / MINUTE_MS);
    }
    const steps = [...atMs.slice(1), at(minutes + 1)].map((ms, index) => ms - atMs[index]!);
    t.true(Math.max(...steps) - Math.min(...steps) <= MINUTE_MS, 'evenly');
  }
});

test('A94: a window begins with what was there, and has nothing of now or later', (t) => {
  const fold = grown(100);
  const window = { fromMs: at(10) + 1, nowMs: at(20), isMarked: false };
  const { atMs, money } = equityPoints(fold, window);
  t.deepEqual(atMs, [at(10) + 1, ...Array.from({ length: 9 }, (_, index) => at(11 + index))]);
  t.deepEqual(money.balance.slice(0, 2), [10_000_010, 10_000_011]);
  const exact = equityPoints(fold, { ...window, fromMs: at(10) });
  t.is(exact.atMs[0], at(10));
  t.is(exact.atMs.length, 10);
  t.deepEqual(equityPoints(fold, { ...window, fromMs: at(20) }).atMs, []);
  t.deepEqual(equityPoints(fold, { ...window, nowMs: NOON_MS }).atMs, []);
  t.deepEqual(equityPoints(new EquityFold(), all(at(1), true)).atMs, []);
});

test('A93: facts that were made earlier than the last ones count from these on', (t) => {
  const fold = grown(2);
  fold.take({ kind: 'cash_adjusted', atMs: NOON_MS, account: ALICE, amountCents: 500 });
  const { atMs, money } = equityPoints(fold, all(at(9)));
  t.deepEqual(atMs, [NOON_MS, at(1), at(2)]);
  t.deepEqual(money.balance, [10_000_000, 10_000_001, 10_000_502]);
});

test('A94: between changes there are points a minute apart at least, while something is held', (t) => {
  const fold = grown(0);
  fold.take(opened(at(10), 3, 5, 1));
  t.deepEqual(equityPoints(fold, all(at(14))).atMs, [NOON_MS, at(10)], 'unmarked');
  const { atMs, held } = equityPoints(fold, all(at(14), true));
  t.deepEqual(atMs, [NOON_MS, ...[10, 11, 12, 13].map(at)]);
  t.deepEqual(held, [
    {
      ...{ market: 3, side: 'yes', point: [1, 2, 3, 4] },
      ...{ contracts: [5, 5, 5, 5], cents: [200, 200, 200, 200] },
    },
  ]);
  t.is(equityPoints(fold, all(at(100_000), true)).atMs.length, POINTS_MAX - 1);
});

test('A95: the more markets are held, the fewer points; a question names few moments', async (t) => {
  const fold = grown(0);
  for (let market = 0; market < 1000; market++) fold.take(opened(at(1), market, 1, market + 1));
  const points = equityPoints(fold, all(at(1000), true));
  t.is(points.atMs.length, 100);
  const asked: number[] = [];
  const ask = async ({ markets }: TopsQuestion): Promise<MarketTops[]> => {
    asked.push(markets.reduce((sum, { atMs }) => sum + atMs.length, 0));
    return markets.map(({ atMs }) => {
      return { yesBidCents: atMs.map(() => 45), yesAskCents: atMs.map(() => 50) };
    });
  };
  const worth = await worthAtBids(points, ask, at(1000));
  t.is(worth.at(-1), 10_000_000 + 1000 * 5);
  t.true(Math.max(...asked) <= 2000 && asked.length > 1);
});
