import test from 'ava';
import { bodyReader } from '../../../api/base/validation.ts';
import { checkBacktest } from '../../../api/operations/backtest-task.ts';
import {
  BACKTEST_EXAMPLE,
  BacktestBody,
  type BacktestBody as Body,
} from '../../../api/schemas/backtest.ts';
import {
  type BacktestErrors,
  type BacktestForm,
  bodyOf,
  FIRST_FORM,
} from '../../../api/web/state/backtest-form.ts';
import {
  coverageText,
  equityText,
  isBacktest,
  retryText,
  risingTimes,
  skippedRows,
} from '../../../api/web/views/backtest/backtest-words.ts';

/** As the route reads it. */
const readBody = bodyReader(BacktestBody, checkBacktest);

function read(form: Partial<BacktestForm>): Body {
  const found = bodyOf({ ...FIRST_FORM, ...form });
  if ('errors' in found) throw new Error(JSON.stringify(found.errors));
  return readBody(JSON.stringify(found.body));
}

function wrong(form: Partial<BacktestForm>): BacktestErrors {
  const found = bodyOf({ ...FIRST_FORM, ...form });
  return 'errors' in found ? found.errors : {};
}

test('the form as it is at first can be run', (t) => {
  t.deepEqual(read({}), {
    markets: {},
    rule: { side: 'favorite', entryMinutesBeforeStart: 0 },
    stake: { dollars: 100 },
    startBalanceDollars: 100_000,
    fees: 'none',
  });
});

test('every field comes into the body, times of the browser’s zone in UTC', (t) => {
  const form: BacktestForm = {
    league: ' mlb ',
    from: '2026-07-01T12:30',
    to: '2026-08-01T00:00',
    instrumentIds: 'ins_0H1J2K3M4N5P,\n ins_ZZZZZZZZZZZZ\n',
    side: 'underdog',
    minPriceCents: '20',
    maxPriceCents: '45',
    entryMinutesBeforeStart: '-5',
    takeProfitCents: '60',
    stopLossCents: '10',
    exitMinutesBeforeStart: '−30',
    stakeIn: 'contracts',
    stake: '25',
    startBalanceDollars: '500.50',
    fees: 'venue_a',
    fillModel: 'book_depth',
  };
  t.deepEqual(read(form), {
    markets: {
      league: 'mlb',
      from: new Date(2026, 6, 1, 12, 30).toISOString(),
      to: new Date(2026, 7, 1).toISOString(),
      instrumentIds: ['ins_0H1J2K3M4N5P', 'ins_ZZZZZZZZZZZZ'],
    },
    rule: {
      side: 'underdog',
      minPriceCents: 20,
      maxPriceCents: 45,
      entryMinutesBeforeStart: -5,
      takeProfitCents: 60,
      stopLossCents: 10,
      exitMinutesBeforeStart: -30,
    },
    stake: { contracts: 25 },
    startBalanceDollars: 500.5,
    fees: 'venue_a',
    fillModel: 'book_depth',
  });
});

test('what the server would refuse is beside its field, and nothing else is', (t) => {
  const cases: [keyof BacktestForm, string, Partial<BacktestForm>?][] = [
    ...['0', '100', '50.5', 'x', '1e1'].flatMap((price): [keyof BacktestForm, string][] => [
      ['minPriceCents', price],
      ['maxPriceCents', price],
      ['takeProfitCents', price],
      ['stopLossCents', price],
    ]),
    ['entryMinutesBeforeStart', '43201'],
    ['entryMinutesBeforeStart', '1.5'],
    ['exitMinutesBeforeStart', '-43201'],
    ['exitMinutesBeforeStart', '0'],
    ['exitMinutesBeforeStart', '10', { entryMinutesBeforeStart: '10' }],
    ['maxPriceCents', '40', { minPriceCents: '41' }],
    ['stopLossCents', '60', { takeProfitCents: '60' }],
    ['to', '2026-07-01T00:00', { from: '2026-07-01T00:01' }],
    ['from', 'yesterday'],
    ['instrumentIds', 'ins_0H1J2K3M4N5P ins_0'],
    ['instrumentIds', 'ins_0H1J2K3M4N5P '.repeat(20_001)],
    ['league', 'x'.repeat(65)],
    ...['', '0', '0.001', '1.234', '-1', '1000000001'].map((stake): ['stake', string] => [
      'stake',
      stake,
    ]),
    ...['', '0', '1.5', '1000000001'].map((stake): ['stake', string, Partial<BacktestForm>] => [
      'stake',
      stake,
      { stakeIn: 'contracts' },
    ]),
    ['startBalanceDollars', '0'],
    ['startBalanceDollars', '10.001'],
  ];
  for (const [name, text, others] of cases) {
    const form = { ...others, [name]: text };
    t.deepEqual(Object.keys(wrong(form)), [name], JSON.stringify(form).slice(0, 200));
  }
  t.deepEqual(
    wrong({ minPriceCents: '41', maxPriceCents: '41', exitMinutesBeforeStart: '-1' }),
    {},
  );
});

test('reasons, gaps and falls are said in words', (t) => {
  t.deepEqual(
    skippedRows({ no_price: 1, not_settled: 3, some_new_reason: 2 } as never).map(
      ({ count, why }) => `${count}: ${why}`,
    ),
    ['3: no result yet', '2: some_new_reason', '1: no live price on both sides at entry time'],
  );
  t.is(
    coverageText({ markets: 3, withQuotes: 2, gapSeconds: 130 }),
    'The history has prices of 2 of 3 settled markets, with gaps of 2 min in all from the look on.',
  );
  t.regex(coverageText({ markets: 1, withQuotes: 1, gapSeconds: 0 }), /1 settled market, without/);
  t.regex(coverageText({ markets: 0, withQuotes: 0, gapSeconds: 0 }), /^None of these markets/);
  t.is(
    equityText(BACKTEST_EXAMPLE),
    'From $100,000.00 to $100,063.61; the max drawdown was $2.79.',
  );
  t.is(retryText(5), 'Try again in 5 seconds.');
  t.is(retryText(1), 'Try again in 1 second.');
  t.is(retryText(null), null);
});

test('times of a chart rise where several things happen at once', (t) => {
  const at = (iso: string) => ({ at: iso, netWorthDollars: 1 });
  const first = Date.parse('2026-07-12T17:25:00.000Z');
  t.deepEqual(
    risingTimes([
      at('2026-07-12T17:25:00.000Z'),
      at('2026-07-12T17:25:00.000Z'),
      at('2026-07-12T17:25:00.000Z'),
      at('2026-07-12T17:25:00.010Z'),
    ]),
    [first, first + 1, first + 2, first + 10],
  );
});

test('an answer of this server is told from one of another service', (t) => {
  t.true(isBacktest(BACKTEST_EXAMPLE));
  // While venue data is off.
  const { entryCents, exitCents, ...trade } = BACKTEST_EXAMPLE.trades[0]!;
  t.true(isBacktest({ ...BACKTEST_EXAMPLE, trades: [trade] }));
  const { summary } = BACKTEST_EXAMPLE;
  for (const other of [
    null,
    'done',
    [BACKTEST_EXAMPLE],
    { mode: 'paper', pnl: 3 },
    { ...BACKTEST_EXAMPLE, summary: { ...summary, pnlDollars: '3' } },
    { ...BACKTEST_EXAMPLE, summary: { ...summary, roiPct: undefined } },
    { ...BACKTEST_EXAMPLE, trades: [{ ...trade, label: 7 }] },
    { ...BACKTEST_EXAMPLE, equity: [{ at: '2026-07-12T17:25:00.000Z' }] },
    { ...BACKTEST_EXAMPLE, skipped: { no_price: 'some' } },
    { ...BACKTEST_EXAMPLE, coverage: undefined },
    { ...BACKTEST_EXAMPLE, inputHash: null },
  ]) {
    t.false(isBacktest(other), JSON.stringify(other)?.slice(0, 80));
  }
});
