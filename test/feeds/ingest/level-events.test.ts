/** What Kalshi's frames do to levels, as fill models with queues take it. */
import test from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';

const AT = 1_783_880_000_000;
const on = { source: 3, market: 7 };
const KINDS: ReadonlySet<Tick['kind']> = new Set(['level', 'print', 'levels'] as const);

/** A connection to Kalshi of the market T, whose frames have the venue's own times. */
function connection({ levels = true } = {}) {
  const ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber: (_, id) => (id === 'T' ? on.market : undefined),
    sink: (tick) => ticks.push(tick),
    levels,
    log() {},
  });
  const adapter = kalshiAdapter({}, { levels, depth: levels, recorded: true });
  const session = ingest.session('venue_a', adapter, on.source);
  let atMs = AT;
  const frame = (type: string, msg: object) => {
    session.frame({ type, sid: 1, msg: { market_ticker: 'T', ...msg } }, atMs);
    return ticks.splice(0).filter(({ kind }) => KINDS.has(kind));
  };
  return {
    session,
    wait(ms: number) {
      atMs += ms;
    },
    taken: () => ticks.splice(0),
    frame,
    snapshot: (yes: string[][], no: string[][], more = {}) =>
      frame('orderbook_snapshot', { yes_dollars_fp: yes, no_dollars_fp: no, ...more }),
    delta: (side: string, price: string, delta: string, ts_ms = 1) =>
      frame('orderbook_delta', { side, price_dollars: price, delta_fp: delta, ts_ms }),
    trade: (taker: string, yesPrice: string, count: string, ts_ms = 1, more = {}) =>
      frame('trade', {
        ...{ taker_side: taker, yes_price_dollars: yesPrice, count_fp: count, ts_ms, ...more },
      }),
  };
}

const BOOK = [
  ['0.4000', '10.00'],
  ['0.3950', '1.25'],
];

test('W95: each change of a level is told in order, unrounded, with what is left', (t) => {
  const venue = connection();
  t.deepEqual(venue.delta('yes', '0.4000', '1.00'), [], 'the book is not known');
  t.deepEqual(venue.snapshot(BOOK, [['0.5700', '3.00']]), [
    {
      ...{ kind: 'levels', atMs: AT, ...on, repeats: false },
      levels: {
        yes: [
          [4000, 1000],
          [3950, 125],
        ],
        no: [[5700, 300]],
      },
    },
  ]);
  const level = { kind: 'level', atMs: AT, ...on } as const;
  t.deepEqual(venue.delta('yes', '0.3950', '0.75'), [
    { ...level, change: 'add', side: 'yes', price: 3950, contracts: 75, size: 200, decrease: 0 },
  ]);
  t.deepEqual(venue.delta('no', '0.5700', '-3.00'), [
    { ...level, change: 'cancel', side: 'no', price: 5700, contracts: 300, size: 0, decrease: 1 },
  ]);
  t.deepEqual(venue.delta('yes', '0.4000', '-0.01'), [
    { ...level, change: 'cancel', side: 'yes', price: 4000, contracts: 1, size: 999, decrease: 2 },
  ]);
});

test('W95: for other fill models nothing is told', (t) => {
  const venue = connection({ levels: false });
  t.deepEqual(venue.snapshot(BOOK, []), []);
  t.deepEqual(venue.delta('yes', '0.4000', '-1.00'), []);
  t.deepEqual(venue.trade('no', '0.4000', '1.00'), []);
});

test('W96: a print after its decrease names it, also at a price of the other side', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, [['0.5700', '3.00']]);
  venue.delta('yes', '0.4000', '-2.00', 5);
  venue.delta('no', '0.5700', '-2.00', 5);
  venue.wait(1000);
  const print = { kind: 'print', atMs: AT + 1000, ...on, contracts: 200 } as const;
  // Whoever bought yes at 43 met a bid of no at 57.
  t.deepEqual(venue.trade('yes', '0.4300', '2.00', 5), [
    { ...print, side: 'no', price: 5700, decrease: 2 },
  ]);
  t.deepEqual(venue.trade('no', '0.4000', '2.00', 5), [
    { ...print, side: 'yes', price: 4000, decrease: 1 },
  ]);
  t.deepEqual(venue.trade('no', '0.4000', '2.00', 5), [
    { ...print, side: 'yes', price: 4000, decrease: 0 },
  ]);
});

test('W96: size, price, side, time and a second tell whether they are one trade', (t) => {
  const others = [
    (venue: ReturnType<typeof connection>) => venue.trade('no', '0.4000', '1.99', 5),
    (venue: ReturnType<typeof connection>) => venue.trade('no', '0.3950', '2.00', 5),
    (venue: ReturnType<typeof connection>) => venue.trade('yes', '0.6000', '2.00', 5),
    (venue: ReturnType<typeof connection>) => venue.trade('no', '0.4000', '2.00', 6),
    (venue: ReturnType<typeof connection>) => {
      venue.wait(1001);
      return venue.trade('no', '0.4000', '2.00', 5);
    },
  ];
  for (const [nth, other] of others.entries()) {
    const venue = connection();
    venue.snapshot(BOOK, []);
    venue.delta('yes', '0.4000', '-2.00', 5);
    t.like(other(venue), [{ kind: 'print', decrease: 0 }], `case ${nth}`);
  }
});

test('W96: of equal decreases the first one that waits is a trade', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  for (const _ of [1, 2, 3]) venue.delta('yes', '0.4000', '-1.00', 5);
  for (const decrease of [1, 2, 3, 0]) {
    t.like(venue.trade('no', '0.4000', '1.00', 5), [{ decrease }]);
  }
});

test('W96: a decrease after its print changes the display alone', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  t.like(venue.trade('no', '0.4000', '2.00', 5), [{ kind: 'print', decrease: 0 }]);
  t.like(venue.delta('yes', '0.4000', '-2.00', 5), [{ change: 'traded', size: 800, decrease: 0 }]);
  t.like(venue.delta('yes', '0.4000', '-2.00', 5), [{ change: 'cancel', size: 600, decrease: 1 }]);
});

test('W96: without a time of the venue the others decide', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  venue.frame('orderbook_delta', { side: 'yes', price_dollars: '0.4000', delta_fp: '-2.00' });
  t.like(venue.trade('no', '0.4000', '2.00', 5), [{ decrease: 1 }]);
});

test('W82, W96: a block trade is no print', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  t.deepEqual(venue.trade('no', '0.4000', '2.00', 5, { is_block_trade: true }), []);
});

test('W97: a book that cannot be read is unknown, until it comes whole', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  const unknown = { kind: 'levels', atMs: AT, ...on, levels: null, repeats: false };
  t.deepEqual(venue.delta('yes', 'nothing', '1.00'), [unknown]);
  t.deepEqual(venue.delta('yes', '0.4000', '1.00'), []);
  t.like(venue.trade('no', '0.4000', '2.00'), [{ kind: 'print' }], 'prints are not missed');
  t.like(venue.snapshot(BOOK, []), [{ kind: 'levels', repeats: false }]);
  venue.session.lost(AT);
  t.deepEqual(venue.trade('no', '0.4000', '2.00'), [], 'the connection starts over');
});

test('W97: after ten seconds all levels are told with the next change', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, [['0.5700', '3.00']]);
  venue.wait(9999);
  t.is(venue.delta('yes', '0.4000', '1.00').length, 1);
  venue.wait(1);
  const [change, whole] = venue.delta('yes', '0.4000', '1.00');
  t.like(change, { kind: 'level', size: 1200 });
  t.like(whole, { kind: 'levels', repeats: true });
  if (whole?.kind !== 'levels' || whole.levels === null) return t.fail();
  t.deepEqual(new Map(whole.levels.yes), new Map([...[[4000, 1200]], [3950, 125]] as never));
  t.deepEqual(whole.levels.no, [[5700, 300]]);
  t.is(venue.delta('yes', '0.4000', '1.00').length, 1);
});

test('B16, W95: a new grid is told as a whole book', (t) => {
  const venue = connection();
  venue.snapshot(BOOK, []);
  const told = venue.frame('market_lifecycle_v2', {
    ...{ event_type: 'price_level_structure_updated', price_level_structure: 'linear_cent' },
  });
  t.like(told, [{ kind: 'levels', levels: { yes: [[4000, 1000]], no: [] }, repeats: false }]);
});
