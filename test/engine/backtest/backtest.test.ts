/** Backtests of rows made by hand: the edges of limits, sizes and moments. */
import test from 'ava';
import { runBacktest } from '../../../engine/backtest/backtest.ts';
import { answerOf, InputHash } from '../../../engine/backtest/summary.ts';
import type {
  BacktestMarket,
  BacktestRule,
  BacktestTask,
  BacktestTerms,
} from '../../../engine/backtest/task.ts';
import type { Columns } from '../../../engine/history/record-columns.ts';
import type { FeeEntry } from '../../../engine/rules/fees.ts';
import type { MarketResult } from '../../../engine/rules/messages.ts';
import { NOON_MS } from '../fixtures.ts';

const YES: MarketResult = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 };
const VOID: MarketResult = { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 };
/** In minutes after noon. */
const START = 60;
const RESULT = 200;
const at = (minute: number) => NOON_MS + minute * 60_000;

/** Bid and ask in cents at a minute, and the contracts of both, 0 as for a venue that states none. */
type Row = [minute: number, bid: number, ask: number, bids?: number, asks?: number];
type Made = { market: BacktestMarket; parts: Columns[] };

/** A market with its rows, in one part. `resultAt`: null without a mark of the end. */
function made(
  name: string,
  rows: readonly Row[],
  { resultAt = RESULT, ...over }: Partial<BacktestMarket> & { resultAt?: number | null } = {},
): Made {
  const columns = [
    rows.map(([minute]) => at(minute)),
    ...[1, 2, 3, 4].map((column) => rows.map((row) => row[column] ?? 0)),
  ];
  const market: BacktestMarket = {
    ...{ instrumentId: name, label: name, polarity: 1, ticker: name, startsAtMs: at(START) },
    ...{ opensAtMs: null, closesAtMs: null, team: 'home', result: YES },
    rows: {
      blocks: [],
      tail: { records: rows.length } as never,
      resolvedAtMs: resultAt === null ? null : at(resultAt),
      gapMs: 0,
    },
    ...over,
  };
  return { market, parts: [columns] };
}

type Over = Partial<BacktestRule> & Partial<Omit<BacktestTerms, 'rule'>>;

function taskOf(all: readonly Made[], over: Over = {}): BacktestTask {
  const { stake, startBalanceCents, fees, fillModel, ...rule } = over;
  return {
    terms: {
      rule: {
        ...{ side: 'yes', minPriceCents: 1, maxPriceCents: 99, entryMinutesBeforeStart: 0 },
        ...{ takeProfitCents: null, stopLossCents: null, exitMinutesBeforeStart: null },
        ...rule,
      },
      stake: stake ?? { contracts: 10 },
      startBalanceCents: startBalanceCents ?? 10_000_000,
      fees: fees ?? 'none',
      fillModel: fillModel ?? 'top_of_book',
    },
    markets: all.map(({ market }) => market),
    feeTable: [],
    directory: '',
    nowMs: at(1000),
  };
}

function played(all: readonly Made[], over: Over = {}) {
  const parts = new Map(all.map((one) => [one.market, one.parts]));
  return runBacktest(taskOf(all, over), (market) => parts.get(market)!);
}

/** The minute and the cents at which the only trade ended, or why there is none. */
function endOf(one: Made, over: Over = {}) {
  const { trades, skipped } = played([one], over);
  const [trade] = trades;
  if (trade === undefined) return Object.keys(skipped)[0];
  return [trade.result, (trade.closedAtMs - NOON_MS) / 60_000, trade.exitCents];
}

const quiet = (name: string, over?: Parameters<typeof made>[2]) => made(name, [[0, 48, 50]], over);

test('Z3: an ask at the least or the highest price of a rule is bought, and one beyond is not', (t) => {
  const held = ['won', RESULT, 100];
  t.deepEqual(endOf(quiet('A'), { minPriceCents: 50, maxPriceCents: 50 }), held);
  t.is(endOf(quiet('A'), { minPriceCents: 51 }), 'out_of_band');
  t.is(endOf(quiet('A'), { maxPriceCents: 49 }), 'out_of_band');
});

test('Z3: of the rows of one time the last counts', (t) => {
  const rows: Row[] = [
    [START, 30, 32],
    [START, 48, 50],
  ];
  t.is(played([made('A', rows)]).trades[0]?.entryCents, 50);
});

test('Z3, Z7: a look at the moment of the result finds no price', (t) => {
  t.deepEqual(endOf(quiet('A', { resultAt: START + 1 })), ['won', START + 1, 100]);
  t.is(endOf(quiet('A', { resultAt: START })), 'no_price');
});

test('Z5: a bid at the profit level or at the stop sells, and one short of it does not', (t) => {
  const fell = made('A', [
    [0, 48, 50],
    [70, 41, 43],
    [80, 40, 42],
  ]);
  t.deepEqual(endOf(fell, { stopLossCents: 40 }), ['sold', 80, 40]);
  t.deepEqual(endOf(fell, { stopLossCents: 39 }), ['won', RESULT, 100]);
  const rose = made('A', [
    [0, 48, 50],
    [70, 59, 61],
    [80, 60, 62],
  ]);
  t.deepEqual(endOf(rose, { takeProfitCents: 60 }), ['sold', 80, 60]);
  t.deepEqual(endOf(rose, { takeProfitCents: 61 }), ['won', RESULT, 100]);
});

test('Z5: without another row a position is sold at its moment, unless the result comes first', (t) => {
  const exit = (resultAt: number) =>
    endOf(quiet('A', { resultAt }), { exitMinutesBeforeStart: -30 });
  t.deepEqual(exit(91), ['sold', 90, 48]);
  t.deepEqual(exit(90), ['won', 90, 100]);
});

test('Z5, Z6: a row of the last millisecond before the result counts, and one at the result does not', (t) => {
  const last = (minute: number): Row[] => [
    [0, 48, 50],
    [minute, 60, 62],
  ];
  const justBefore = RESULT - 1 / 60_000;
  const over = { takeProfitCents: 60 };
  t.deepEqual(endOf(made('A', last(justBefore)), over), ['sold', justBefore, 60]);
  t.deepEqual(endOf(made('A', last(RESULT)), over), ['won', RESULT, 100]);
});

test('Z5: if nothing is bid at the moment of a sale, the next live bid is taken', (t) => {
  const rows: Row[] = [
    [0, 48, 50],
    [80, 0, 50],
    [100, 45, 47],
  ];
  t.deepEqual(endOf(made('A', rows), { exitMinutesBeforeStart: -30 }), ['sold', 100, 45]);
});

test('Z5, T156: a bid for as many contracts as are held is taken, and one for fewer is not', (t) => {
  const bids = (contracts: number) =>
    made('A', [
      [0, 48, 50, 90, 90],
      // The size of the ask says nothing of a sale.
      [70, 60, 62, contracts, 19 - contracts],
    ]);
  for (const fillModel of ['book_depth', 'queue'] as const) {
    const over = { takeProfitCents: 60, fillModel };
    t.deepEqual(endOf(bids(10), over), ['sold', 70, 60], fillModel);
    t.deepEqual(endOf(bids(9), over), ['won', RESULT, 100], fillModel);
  }
  t.deepEqual(endOf(bids(9), { takeProfitCents: 60 }), ['sold', 70, 60]);
  const unsized = made('A', [
    [0, 48, 50],
    [70, 60, 62],
  ]);
  t.deepEqual(endOf(unsized, { takeProfitCents: 60, fillModel: 'queue' }), ['sold', 70, 60]);
});

test('Z6: if the history has no mark of the end, a position ends after its last row', (t) => {
  const rows: Row[] = [
    [0, 48, 50],
    [150, 60, 62],
  ];
  const [trade] = played([made('A', rows, { resultAt: null })]).trades;
  t.is(trade?.closedAtMs, at(150) + 1);
});

test('Z7: at one instant a result and a sale pay for the buys of that instant', (t) => {
  // Each costs 5 dollars, and so much is there.
  const second = quiet('B', { startsAtMs: at(RESULT), resultAt: 300 });
  const poor = { startBalanceCents: 500 };
  t.is(played([second, quiet('A')], poor).trades.length, 2);
  const sold = made('A', [
    [0, 48, 50],
    [RESULT, 70, 72],
  ]);
  const later = { ...sold.market, rows: { ...sold.market.rows!, resolvedAtMs: at(400) } };
  const both = [second, { ...sold, market: later }];
  t.is(played(both, { ...poor, takeProfitCents: 70 }).trades.length, 2);
  const { trades, skipped } = played([quiet('C'), quiet('D')], poor);
  t.deepEqual([trades.map(({ label }) => label), skipped], [['C'], { no_cash: 1 }]);
});

test('Z7, M11: a buy that is refused tells why', (t) => {
  t.is(endOf(quiet('A', { opensAtMs: at(START) + 1 })), 'no_price');
  t.deepEqual(endOf(quiet('A', { opensAtMs: at(START) })), ['won', RESULT, 100]);
  const shallow = made('A', [[0, 48, 50, 90, 9]]);
  t.is(endOf(shallow, { fillModel: 'book_depth' }), 'no_price');
  t.is(endOf(quiet('A'), { startBalanceCents: Number.MAX_SAFE_INTEGER }), 'no_cash');
  t.is(endOf(quiet('A'), { stake: { cents: 49 } }), 'no_cash');
});

test('Z3, T143: a price that is live after the planned closing is bought and sold at', (t) => {
  const rows: Row[] = [
    [0, 48, 50],
    [80, 60, 62],
  ];
  const over = { takeProfitCents: 60 };
  t.deepEqual(endOf(made('A', rows, { closesAtMs: at(30) }), over), ['sold', 80, 60]);
  t.deepEqual(endOf(made('A', rows, { closesAtMs: at(70) }), over), ['sold', 80, 60]);
});

test('Z8: a buy and a sale pay by the line of the fee table that was valid that day', (t) => {
  const line: Omit<FeeEntry, 'from' | 'taker'> = {
    ...({ venue: 'venue_a', series: null, schedule: 'kalshi' } as const),
    ...{ maker: '0', multiplier: '1', exponent: 1 },
  };
  const one = made('A', [
    [0, 48, 50],
    [70, 60, 62],
  ]);
  const task = {
    ...taskOf([one], { takeProfitCents: 60, fees: 'venue_a' }),
    feeTable: [
      { ...line, from: new Date(at(-1000)).toISOString(), taker: '0.1' },
      { ...line, from: new Date(at(START + 5)).toISOString(), taker: '0.2' },
    ],
  };
  const [trade] = runBacktest(task, () => one.parts).trades;
  // 0.1 and 0.2 of 10 contracts times p(1-p).
  t.like(trade, { entryFeeCents: 25, exitFeeCents: 48, pnlCents: 100 });
});

test('Z8, Z9: equity has one point an instant, and the fall is from any earlier point', (t) => {
  const no: MarketResult = { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 };
  const all = [
    quiet('A', { resultAt: 100 }),
    quiet('B', { resultAt: 100 }),
    quiet('C', { resultAt: 120, result: VOID }),
    quiet('D', { resultAt: 150, result: no }),
  ];
  const task = taskOf(all);
  const run = runBacktest(task, (market) => all.find((one) => one.market === market)!.parts);
  const { summary, equity } = answerOf(task, run, '', true);
  t.deepEqual(
    equity.map(({ at: moment, netWorthDollars }) => [moment, netWorthDollars]),
    [
      [new Date(at(START)).toISOString(), 100_000],
      [new Date(at(START)).toISOString(), 100_000],
      [new Date(at(100)).toISOString(), 100_010],
      [new Date(at(120)).toISOString(), 100_010],
      [new Date(at(150)).toISOString(), 100_005],
    ],
  );
  // Two forecasts of 50 were right, and one was wrong. The void one does not count.
  t.like(summary, { maxDrawdownDollars: 5, brier: 0.25, void: 1, won: 2, lost: 1 });
});

test('Z11: another row, gap, result or moment of the result has another hash', (t) => {
  const hash = ({ market, parts }: Made) => {
    const input = new InputHash(taskOf([{ market, parts }]));
    input.market(market, parts);
    return input.hex();
  };
  const one = quiet('A');
  const { rows } = one.market;
  const all = [
    one,
    made('A', [[0, 48, 51]]),
    quiet('A', { resultAt: RESULT + 1 }),
    quiet('A', { result: VOID }),
    quiet('A', { rows: { ...rows!, gapMs: 1 } }),
  ];
  t.is(new Set(all.map(hash)).size, all.length);
  t.is(hash(one), hash(quiet('A')));
});
