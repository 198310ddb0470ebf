import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { Fidelity } from '../../../api/fidelity/fidelity.ts';
import { fidelityTables } from '../../../api/fidelity/fidelity-tables.ts';
import { feedFileOf, fills } from '../../../bench/suites/fidelity.ts';
import { longTest } from '../../long-test.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { runHere } from '../../process/run-here.ts';
import { book, delta, print, recording, START_MS } from './recording.ts';

const BOOK = book({ 40: 10, 39: 10 }, { 55: 10, 54: 10 });

/** A file of 100 s, so that orders are placed in its first 40; a far level keeps quotes fresh. */
function lasting(frames: [number, object][]): [number, object][] {
  const fresh = Array.from({ length: 20 }, (_, nth): [number, object] => {
    const atMs = (nth + 1) * 5000;
    return [atMs, delta('yes', 5, 1, atMs)];
  });
  return [[0, BOOK] as [number, object], ...fresh, ...frames].sort(([a], [b]) => a - b);
}

async function found(t: ExecutionContext, file: string, ...more: string[]): Promise<Fidelity> {
  const exit = await runHere(['fidelity', file, '--orders', '48', '--json', ...more]);
  t.is(exit.code, 0, exit.stderr);
  return JSON.parse(exit.stdout);
}

const NONE = [0, 0, 0, 0];
/** The best bid goes, and seven contracts are offered at its price for a second; first for yes. */
const MET = (['yes', 'no'] as const).flatMap((side, nth): [number, object][] => {
  const [best, other] = side === 'yes' ? ([40, 'no'] as const) : ([55, 'yes'] as const);
  const atMs = 42_000 + nth * 2000;
  return [
    [atMs, delta(side, best, -10, atMs)],
    [atMs, delta(other, 100 - best, 7, atMs)],
    [atMs + 1000, delta(other, 100 - best, -7, atMs + 1000)],
    [atMs + 1000, delta(side, best, 10, atMs + 1000)],
  ];
});

/** Played once, for the tests that read what the command says of it. */
let met: Promise<Fidelity> | null = null;
function ofMet(t: ExecutionContext): Promise<Fidelity> {
  met ??= found(t, recording(t, lasting(MET)));
  return met;
}

/** By size, of one place within 60 s, or 10. */
function rates({ fillRates }: Fidelity, place: string, withinMs = 60_000) {
  const of = fillRates.filter((rate) => rate.place === place && rate.withinMs === withinMs);
  return {
    orders: of.map(({ orders }) => orders),
    low: of.map(({ low }) => low),
    high: of.map(({ high }) => high),
    topOfBook: of.map(({ top_of_book: { rate } }) => rate),
    topGap: of.map(({ top_of_book: { gap } }) => gap),
    bookDepth: of.map(({ book_depth: { rate } }) => rate),
    queue: of.map(({ queue: { rate } }) => rate),
  };
}

longTest.serial('X13, X14: trades fill by turn, where prices never reach the limit', async (t) => {
  // A taker of fifteen meets each side: ten at the best price, five at the next.
  const traded = (['yes', 'no'] as const).flatMap((side): [number, object][] => {
    const cents = side === 'yes' ? 40 : 55;
    return [
      [42_000, delta(side, cents, -10, 41_990)],
      [42_000, print(side, cents, 10, 41_990)],
      [42_000, delta(side, cents - 1, -5, 41_990)],
      [42_000, print(side, cents - 1, 5, 41_990)],
    ];
  });
  const all = await found(t, recording(t, lasting(traded)));
  t.like(all, { windows: 1, latencyMs: 0, toldApart: 0 });
  // Ten go to those ahead, and five met a worse price: whoever bids more gets all fifteen.
  t.deepEqual(rates(all, 'joined'), {
    ...{ orders: [4, 4, 4, 4], low: [1, 0, 0, 0], high: [1, 0, 0, 0] },
    ...{ topOfBook: NONE, topGap: [-1, 0, 0, 0], bookDepth: NONE },
    queue: [1, 0, 0, 0],
  });
  const improved = [1, 1, 0, 0];
  t.like(rates(all, 'improved'), { low: improved, high: improved, queue: improved });
  t.like(rates(all, 'one_below'), { low: NONE, high: NONE, queue: NONE });
  // A hundred contracts are not there.
  const intervals = { top_of_book: null, book_depth: null, queue: null };
  t.deepEqual(all.takerCosts, [
    { contracts: 1, orders: 4, top_of_book: 0, book_depth: 0, queue: 0, intervals },
    { contracts: 10, orders: 4, top_of_book: 0, book_depth: 0, queue: 0, intervals },
    { contracts: 100, orders: 0, top_of_book: null, book_depth: null, queue: null, intervals },
    { contracts: 1000, orders: 0, top_of_book: null, book_depth: null, queue: null, intervals },
  ]);
  t.true(
    all.fillRates.every(({ top_of_book: { interval } }) => interval === null),
    'one window',
  );
});

test.serial(
  'X13, X14: an order that meets the limit fills its size, and mids move after',
  async (t) => {
    const all = await ofMet(t);
    t.is(all.toldApart, 1);
    t.deepEqual(rates(all, 'joined'), {
      ...{ orders: [4, 4, 4, 4], low: [1, 0, 0, 0], high: [1, 0, 0, 0] },
      ...{ topOfBook: [1, 1, 1, 1], topGap: [0, 1, 1, 1], bookDepth: [1, 0, 0, 0] },
      queue: [1, 0, 0, 0],
    });
    t.like(rates(all, 'one_below'), { low: NONE, topOfBook: NONE, bookDepth: NONE });
    // Who was placed ten seconds before fills in both at the same moment, who was earlier in none.
    const soon = rates(all, 'joined', 10_000);
    t.deepEqual([soon.topOfBook[0], soon.bookDepth[0]], [soon.low[0], soon.low[0]]);
    t.true(soon.low[0]! < 1);
    // The mid is half a cent worse while the seven are there, and 2.5 better once they are gone.
    t.deepEqual(
      all.markouts,
      [100, 1000, 5000, 30_000].map((afterMs) => {
        const cents = afterMs === 100 ? -0.5 : 2.5;
        const same = { market: cents, top_of_book: cents, book_depth: cents, queue: cents };
        const none = { market: null, top_of_book: null, book_depth: null, queue: null };
        return { afterMs, ...same, intervals: none };
      }),
    );
  },
);

longTest.serial('X12, X14: between the two readings there is no gap', async (t) => {
  // Six come after the orders, and five go: of these six, or of the ten before. A trade takes ten.
  const unclear = (['yes', 'no'] as const).flatMap((side, nth): [number, object][] => {
    const [best, other] = side === 'yes' ? ([40, 'no'] as const) : ([55, 'yes'] as const);
    const atMs = 42_000 + nth * 2000;
    return [
      [atMs, delta(side, best, 6, atMs)],
      [atMs, delta(side, best, -5, atMs)],
      [atMs, delta(side, best, -10, atMs)],
      [atMs, print(side, best, 10, atMs)],
      [atMs, delta(side, best, -1, atMs + 1)],
      [atMs, delta(other, 100 - best, 7, atMs)],
      [atMs + 1000, delta(other, 100 - best, -7, atMs + 1000)],
      [atMs + 1000, delta(side, best, 10, atMs + 1000)],
    ];
  });
  const all = await found(t, recording(t, lasting(unclear)));
  // Seven are offered to all, and by one reading five were filled before.
  t.deepEqual(rates(all, 'joined'), {
    ...{ orders: [4, 4, 4, 4], low: [1, 0, 0, 0], high: [1, 1, 0, 0] },
    ...{ topOfBook: [1, 1, 1, 1], topGap: [0, 0, 1, 1], bookDepth: [1, 0, 0, 0] },
    // Five of sixteen take 3.12 of the ten ahead: 3.12 trade, and then seven.
    queue: [1, 1, 0, 0],
  });
  const gaps = all.fillRates.map(({ book_depth: { gap } }) => gap);
  t.deepEqual(new Set(gaps.slice(4, 8)), new Set([0]), 'nor below');
});

longTest.serial(
  'X14: intervals are by window, a quarter of an hour of one of the files',
  async (t) => {
    const still = Array.from({ length: 240 }, (_, nth): [number, object] => {
      const atMs = nth * 10_000;
      return [atMs, nth === 0 ? BOOK : delta('yes', 5, 1, atMs)];
    });
    const files = [recording(t, lasting([])), recording(t, still)];
    const { code, stdout, stderr } = await runHere(['fidelity', ...files, '--orders', '60']);
    t.is(code, 0, stderr);
    t.regex(stdout, /^Resting orders filled whole, in percent \(4 windows; /);
    // Of five orders a file none is filled, in no window.
    t.regex(stdout, /^at the best price +1 +10 +10 +0\.0( +0\.0 \(0\.0 ±0\.0\)){3}$/m);
    t.regex(stdout, /^ *0\.1( +-){4}$/m, 'nothing was filled');
    t.regex(
      stdout,
      /^ *1 +10( +0\.00 ±0\.00){3}$/m,
      'a market order costs its level in each window',
    );
  },
);

test.serial('X14, X15: the bench prints the tables of the command, of raw frames', async (t) => {
  const frames = lasting(MET);
  const feed = recording(t, frames);
  const raw = `${feed}.ndjson.gz`;
  const lines = frames.map(([atMs, event]) => {
    return `${JSON.stringify({ recv_ms: START_MS + atMs, event })}\n`;
  });
  writeFileSync(raw, gzipSync(lines.join('')));
  const { tables, figures } = await fills.run({ files: [raw], orders: 48 }, () => {});
  const ofCommand = fidelityTables(await ofMet(t)).map(({ title, columns, rows }) => {
    return { title: `fidelity: ${title}`, columns, rows: rows.map((row) => row.map(String)) };
  });
  t.deepEqual(tables, ofCommand);
  const [rates, markouts] = tables.map(({ rows }) => rows.map((row) => row.join('  ')));
  t.true(
    rates!.includes('at the best price  10  60  4  0.0  100.0 (+100.0)  0.0 (0.0)  0.0 (0.0)'),
  );
  t.true(markouts!.includes('0.1  -0.50  -0.50  -0.50  -0.50'));
  t.is(figures['joined/1/10 s/queue']!.value, 0);
  t.is(await feedFileOf(feed, `${feed}.copy`), feed, 'a feed file is taken as it is');
});

test.serial('X10: a file that cannot be used is named', async (t) => {
  const empty = recording(t, []);
  const one = recording(t, [[0, book({ 40: 10 }, {})]]);
  for (const file of [empty, one]) {
    const { code, stdout, stderr } = await runHere(['fidelity', file]);
    t.like({ code, stdout }, { code: 1, stdout: '' });
    t.true(stderr.includes(`${file}: no book of increments has both sides`), stderr);
  }
  const missing = await runHere(['fidelity', `${empty}.gz`]);
  t.true(missing.stderr.includes(`${empty}.gz: the feed file cannot be read`), missing.stderr);
});

/** The first moments, and more in a long run. */
const [ORDERS] = variantsOfRun(['72', '180']).slice(-1) as [string];

longTest.serial(
  'X22: with a latency, orders of both sides of the comparison meet the later book',
  async (t) => {
    // For a second the best ask of yes is a cent higher, and for a second it is back.
    const moving = Array.from({ length: 49 }, (_, nth): [number, object] => {
      const atMs = 1000 + nth * 1000;
      return [atMs, delta('no', 55, nth % 2 === 0 ? -10 : 10, atMs)];
    });
    const file = recording(t, lasting(moving));
    const all = await found(t, file, '--latency', '1000', '--orders', ORDERS);
    t.is(all.latencyMs, 1000);
    for (const contracts of [1, 10]) {
      const cost = all.takerCosts.find((one) => one.contracts === contracts)!;
      t.true(cost.orders > 0);
      t.deepEqual([cost.book_depth, cost.queue], [0, 0], `${contracts}`);
    }
    for (const { low, high, queue } of all.fillRates)
      t.deepEqual([low, high], [queue.rate, queue.rate]);
    const late = await runHere(['fidelity', file, '--latency', '5001']);
    t.is(late.code, 2);
    t.regex(late.stderr, /--latency is at most 5000 ms/);
  },
);
