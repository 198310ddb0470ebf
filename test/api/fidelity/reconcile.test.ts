import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { realOrdersOf } from '../../../api/fidelity/real-orders.ts';
import type { Reconciliation } from '../../../api/fidelity/reconcile.ts';
import { isoOf } from '../../../engine/base/units.ts';
import { runHere } from '../../process/run-here.ts';
import { book, delta, MARKET, print, recording, START_MS } from './recording.ts';

const HEADING =
  'at,ticker,side,action,priceDollars,contracts,feeDollars,orderId,placedAt,limitDollars';
const at = (afterMs: number) => isoOf(START_MS + afterMs);

/** A market with its recording of 130 s, in which the orders of `ORDERS` took part. */
function files(t: ExecutionContext, csv: string) {
  const feed = recording(t, [
    [0, book({ 40: 10, 39: 10 }, { 55: 10, 54: 10 })],
    // The first order joins ten others, and all of them trade.
    [10_000, delta('yes', 40, 5, 10_000)],
    [20_000, delta('yes', 40, -15, 19_990)],
    [20_000, print('yes', 40, 15, 19_990)],
    // The second takes the best ask.
    [30_000, delta('no', 55, -10, 29_990)],
    [30_000, print('no', 55, 10, 29_990)],
    // The third offers three after ten others, yet three trade.
    [40_000, delta('no', 54, 3, 40_000)],
    [50_000, delta('no', 54, -3, 49_990)],
    [50_000, print('no', 54, 3, 49_990)],
    // The fourth trades two where nothing is shown.
    [65_000, print('yes', 40, 2, 64_990)],
    [130_000, delta('yes', 5, 1, 130_000)],
  ]);
  const named = (name: string, text: string) => {
    const file = path.join(path.dirname(feed), name);
    writeFileSync(file, text);
    return file;
  };
  const listing = { venue: 'venue_a', polarity: 1, fungibility: 'exact', reviewed: true };
  const catalog = {
    games: [],
    instruments: [
      {
        ...{ slug: 'm', league: 'other', startsAt: '2020-01-01T00:00:00Z', marketType: 'other' },
        ...{ period: 'game', label: 'm', yesMeans: 'm', pushPossible: false },
        listings: [{ ...listing, venueMarketId: MARKET }],
      },
    ],
    fees: [
      {
        ...{ venue: 'venue_a', series: null, from: '2020-01-01T00:00:00Z', schedule: 'kalshi' },
        ...{ taker: '0.07', maker: '0.0175', multiplier: '1', exponent: 1 },
      },
    ],
  };
  const catalogFile = named('catalog.json', JSON.stringify(catalog));
  return { feed, catalog: catalogFile, fills: named('fills.csv', csv) };
}

async function run(t: ExecutionContext, csv: string, ...more: string[]) {
  const { feed, catalog, fills } = files(t, csv);
  const args = ['reconcile', '--fills', fills, '--feed', feed, '--catalog', catalog];
  return { ...(await runHere([...args, ...more])), fills };
}

const ORDERS = [
  HEADING,
  `${at(19_990)},${MARKET},yes,buy,0.40,5,0.03,first,${at(10_000)},0.40`,
  `${at(30_000)},${MARKET},yes,buy,0.45,10,0.18,,,`,
  `${at(50_000)},${MARKET},yes,sell,0.46,3,0.02,third,${at(40_000)},0.46`,
  `${at(65_000)},${MARKET},no,sell,0.60,2.00,0.0100,fourth,${at(60_000)},0.6`,
  `${at(70_000)},${MARKET},no,sell,0.60,2.00,0.0100,fourth,${at(60_000)},0.6`,
];

/** As a spreadsheet writes it. */
const CSV = `\ufeff${ORDERS.join('\r\n')}\r\n\r\n`;
/** Played once, for the tests that read what the command says of `ORDERS`. */
let played: Promise<Reconciliation> | null = null;
function ofOrders(t: ExecutionContext): Promise<Reconciliation> {
  played ??= found(t, CSV);
  return played;
}

async function found(t: ExecutionContext, csv: string): Promise<Reconciliation> {
  const exit = await run(t, csv, '--json');
  t.is(exit.code, 0, exit.stderr);
  return JSON.parse(exit.stdout);
}

test.serial('X18, X19: real orders are replayed and compared one by one', async (t) => {
  const { orders } = await ofOrders(t);
  const of = { ticker: MARKET, reason: null };
  const nothing = { contracts: 0, priceDollars: null, feeDollars: 0, at: null };
  t.deepEqual(orders, [
    {
      ...{ ...of, line: 2, orderId: 'first', side: 'yes', action: 'buy', limitDollars: 0.4 },
      ...{ placedAt: at(10_000), outcome: 'filled' },
      real: { contracts: 5, priceDollars: 0.4, feeDollars: 0.03, at: at(19_990) },
      // 5 × 0.0175 × 0.24 is 0.021, and the balance falls by 2.03.
      paper: {
        ...{ contracts: 5, priceDollars: 0.4, feeDollars: 0.03, at: at(20_000) },
        ...{ liquidity: 'maker', fillModel: 'queue' },
      },
      gap: { costCents: 0, feeDollars: 0, ms: 10 },
    },
    {
      ...{ ...of, line: 3, orderId: null, side: 'yes', action: 'buy', limitDollars: null },
      ...{ placedAt: at(30_000), outcome: 'filled' },
      real: { contracts: 10, priceDollars: 0.45, feeDollars: 0.18, at: at(30_000) },
      // 10 × 0.07 × 0.2475 is 0.17325. It is placed before the frames of its moment.
      paper: {
        ...{ contracts: 10, priceDollars: 0.45, feeDollars: 0.18, at: at(29_999) },
        ...{ liquidity: 'taker', fillModel: 'queue' },
      },
      gap: { costCents: 0, feeDollars: 0, ms: -1 },
    },
    {
      ...{ ...of, line: 4, orderId: 'third', side: 'yes', action: 'sell', limitDollars: 0.46 },
      ...{ placedAt: at(40_000), outcome: 'missed' },
      real: { contracts: 3, priceDollars: 0.46, feeDollars: 0.02, at: at(50_000) },
      // Three of the ten ahead have traded.
      paper: { ...nothing, liquidity: null, fillModel: 'queue' },
      gap: null,
    },
    {
      ...{ ...of, line: 5, orderId: 'fourth', side: 'no', action: 'sell', limitDollars: 0.6 },
      ...{ placedAt: at(60_000), outcome: 'partly' },
      real: { contracts: 4, priceDollars: 0.6, feeDollars: 0.02, at: at(70_000) },
      // 2 × 0.0175 × 0.24 is 0.0084, and the balance rises by 1.19.
      paper: {
        ...{ contracts: 2, priceDollars: 0.6, feeDollars: 0.01, at: at(65_000) },
        ...{ liquidity: 'maker', fillModel: 'queue' },
      },
      gap: null,
    },
  ]);
});

test.serial(
  'X21: an order that walks levels costs each level, and pays the fee of each',
  async (t) => {
    const [rest, first] = [
      `buy,0.46,5,0.09,walks,${at(5000)},`,
      `buy,0.45,10,0.18,walks,${at(5000)},`,
    ];
    const rows = [HEADING, ...[first, rest].map((row) => `${at(5000)},${MARKET},yes,${row}`)];
    const [order] = (await found(t, rows.join('\n'))).orders;
    // 0.07 × (10 × 0.45 × 0.55 + 5 × 0.46 × 0.54) is 0.26019: the order pays 0.27.
    t.like(order, {
      real: { contracts: 15, priceDollars: 0.453333, feeDollars: 0.27 },
      paper: { contracts: 15, priceDollars: 0.453333, feeDollars: 0.27, liquidity: 'taker' },
      gap: { costCents: 0, feeDollars: 0, ms: -1 },
    });
  },
);

test.serial('X20: what paper filled and what it missed moved differently afterwards', async (t) => {
  const { summary } = await ofOrders(t);
  // Mids: 42.5, from 20 s on 42, from 30 s on 42.5. Filled are 5, 10 and 2, missed 3 and 2.
  const [soon, late] = [(5 * 2 - 10 * 2.5 + 2 * 2.5) / 17, (5 * 2.5 - 10 * 2.5 + 2 * 2.5) / 17];
  const missed = (3 * 3.5 + 2 * 2.5) / 5;
  const fourDecimals = (value: number) => Number(value.toFixed(4));
  const moved = (afterMs: number, filled: number) => ({
    ...{ afterMs, filled: fourDecimals(filled), missed },
    gap: fourDecimals(fourDecimals(filled) - missed),
  });
  t.deepEqual(summary, {
    ...{ orders: 4, filled: 2, partly: 1, missed: 1, notPlayed: {} },
    contracts: { real: 22, paper: 17 },
    feeDollars: { real: 0.25, paper: 0.22 },
    gap: { costCents: 0, feeCents: 0, ms: 4.5 },
    markouts: [moved(100, soon), moved(1000, soon), moved(5000, soon), moved(30_000, late)],
  });
  const { stdout } = await run(t, CSV);
  t.regex(stdout, /^third +KXTEST-1 +sell 3 yes at 0\.46 +3 at 0\.46 +- +0\.0200 +0\.0000 /m);
  t.regex(stdout, /^Filled by paper +2, in part 1, missed 1$/m);
});

test.serial('X18, X19: an order that paper cannot have is said, and not compared', async (t) => {
  const rows = [
    `${at(30_000)},${MARKET},yes,buy,0.405,10,0.17325,a,${at(20_000)},0.405`,
    `${at(30_000)},${MARKET},yes,buy,0.40,0.5,0,b,${at(20_000)},0.4`,
    `${at(30_000)},${MARKET},yes,buy,0.40,1,0,c,${at(0)},0.4`,
    `${at(30_000)},"KX,2",yes,buy,0.40,1,0,d,${at(20_000)},0.4`,
    `${at(30_000)},${MARKET},no,buy,0.60,1,0.0168,"say ""e""",,`,
  ];
  const { orders, summary } = await found(t, [HEADING, ...rows].join('\n'));
  t.deepEqual(
    orders.map(({ orderId, outcome, reason }) => [orderId, outcome, reason]),
    [
      ['a', 'not_played', 'part_of_a_cent'],
      ['b', 'not_played', 'part_of_a_contract'],
      ['c', 'not_played', 'outside_recording'],
      ['d', 'not_played', 'no_tradable_listing'],
      ['say "e"', 'filled', null],
    ],
  );
  t.deepEqual(summary.notPlayed, {
    ...{ part_of_a_cent: 1, part_of_a_contract: 1, outside_recording: 1 },
    no_tradable_listing: 1,
  });
  // This account's balance moved by parts of a cent: 0.61 × 0.39 × 0.07 is 0.016653.
  t.like(orders[4], { paper: { feeDollars: 0.0167 }, gap: { costCents: 1, feeDollars: -0.0001 } });
});

test('X16, X17: a file as a spreadsheet writes it is read as a plain one', (t) => {
  const heading = 'at,ticker,side,action,priceDollars,contracts,feeDollars';
  const fill = `${at(30_000)},${MARKET},yes,buy,0.40,3,0.05`;
  const plain = realOrdersOf(`${heading},orderId,placedAt,limitDollars\n${fill},,,\n`);
  t.like(plain, [{ orderId: null, limit: null, fills: [{ priceE4: 4000, fee: 50_000 }] }]);
  const variants = {
    'the last columns are left out': `${heading}\n${fill}\n`,
    'a mark of the bytes, CRLF, and no line end': `\ufeff${heading}\r\n${fill}`,
    quotes: `"${heading.replaceAll(',', '","')}"\n"${fill.replaceAll(',', '","')}"\n`,
    spaces: `${heading.replaceAll(',', ' , ')}\n${fill.replaceAll(',', ' , ')}\n`,
    'no digit before the point': `${heading}\n${fill.replaceAll(',0.', ',.')}\n`,
    'rows of empty cells': `${heading}\n${fill}\n,,,,,,\n\n`,
  };
  for (const [name, csv] of Object.entries(variants)) t.deepEqual(realOrdersOf(csv), plain, name);
  for (const bare of ['', '.', '-', '-.']) {
    const csv = `${heading}\n${fill.replace('0.05', bare)}\n`;
    t.throws(() => realOrdersOf(csv), { message: /^line 2, feeDollars: must be a number/ }, bare);
  }
});

test.serial('X16, X17: a file that cannot be read is refused by line and column', async (t) => {
  const [, first] = ORDERS;
  const changed = (nth: number, value: string) => {
    const cells = first!.split(',');
    cells[nth] = value;
    return `${HEADING}\n${first}\n${cells.join(',')}\n`;
  };
  const cases: [csv: string, problem: string][] = [
    ['', 'it is empty'],
    [`${HEADING}\n`, 'no fill is in it'],
    [HEADING.replace('contracts,', ''), 'line 1, contracts: is missing'],
    [`${HEADING},at`, 'line 1, at: is there twice'],
    [`${HEADING},mood`, 'line 1, mood: is no column of fills'],
    [`${HEADING}\n${first},x`, 'line 2, column 11: the row has 11 cells, not 10'],
    [`${HEADING}\n\n2026`, 'line 3, ticker: the row has 1 cells, not 10'],
    [`${HEADING}\n"2026`, 'line 2: a quote is not closed, or not alone'],
    [changed(0, '2026-07-12 04:00'), 'line 3, at: must be a date-time with a zone'],
    [changed(1, ''), 'line 3, ticker: is empty'],
    [changed(2, 'Yes'), 'line 3, side: must be yes or no'],
    [changed(3, 'bid'), 'line 3, action: must be buy or sell'],
    [
      changed(4, '1'),
      'line 3, priceDollars: must be dollars between 0 and 1, as 0.40, with at most 4 decimals',
    ],
    [
      changed(4, '40c'),
      'line 3, priceDollars: must be dollars between 0 and 1, as 0.40, with at most 4 decimals',
    ],
    [changed(4, '0.41'), 'line 3, priceDollars: is beyond limitDollars'],
    [changed(5, '0'), 'line 3, contracts: must be a number above 0, with at most 2 decimals'],
    [changed(5, '1.005'), 'line 3, contracts: must be a number above 0, with at most 2 decimals'],
    [changed(6, ''), 'line 3, feeDollars: must be a number, with at most 6 decimals'],
    [changed(8, at(20_000)), 'line 3, placedAt: is later than at'],
    [changed(8, at(9000)), 'line 3, placedAt: is not that of line 2, the same order'],
    [changed(9, ''), 'line 3, limitDollars: is not that of line 2, the same order'],
  ];
  for (const [csv, problem] of cases) {
    const { code, stdout, stderr, fills } = await run(t, csv);
    t.like({ code, stdout }, { code: 1, stdout: '' }, problem);
    t.true(stderr.includes(`${fills}: ${problem}`), `${stderr}, not ${problem}`);
  }
  const { feed, catalog, fills } = files(t, ORDERS.join('\n'));
  const missing = async (args: string[]) => (await runHere(['reconcile', ...args])).stderr;
  const all = ['--fills', fills, '--feed', feed, '--catalog', catalog];
  for (const nth of [1, 3, 5]) {
    const args = all.map((arg, place) => (place === nth ? `${arg}.none` : arg));
    t.true((await missing(args)).includes(`${args[nth]}`), args[nth]);
  }
});
