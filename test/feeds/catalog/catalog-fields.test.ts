import test from 'ava';
import { catalogErrorText, parseCatalog } from '../../../feeds/catalog/catalog.ts';
import type { InstrumentEntry } from '../../../feeds/catalog/catalog-schema.ts';
import { game, instrument, listing } from '../catalog-entries.ts';

function errorsOf(file: unknown): string[] {
  const reading = parseCatalog(JSON.stringify(file));
  return reading.ok ? [] : catalogErrorText(reading.errors).split('\n').sort();
}

test('K4: a close before the opening, and a strike without its bounds', (t) => {
  const times = { opensAt: '2026-07-12T18:00:00Z', closesAt: '2026-07-12T18:00:00Z' };
  const strikes: NonNullable<InstrumentEntry['strike']>[] = [
    { type: 'between', floor: 5, cap: null },
    { type: 'greater', floor: null, cap: 5 },
    { type: 'less_or_equal', floor: null, cap: 5 },
    { type: 'between', floor: 6, cap: 5 },
  ];
  const file = {
    games: [game('g1')],
    instruments: [
      instrument('i0', times),
      ...strikes.map((strike, at) => instrument(`i${at + 1}`, { strike })),
    ],
  };
  t.deepEqual(errorsOf(file), [
    'instruments[0].closesAt: must be after opensAt',
    'instruments[1].strike.cap: is required with between',
    'instruments[2].strike.floor: is required with greater',
    'instruments[4].strike.cap: must not be below floor',
  ]);
});

test('K5: what a listing must have, and what its market may be called', (t) => {
  const whole = listing('venue_a', 'T1');
  const errorsWith = (fields: object) =>
    errorsOf({
      games: [game('g1')],
      instruments: [{ ...instrument('i1'), listings: [{ ...whole, ...fields }] }],
    }).map((error) => error.replace('instruments[0].listings[0].', ''));
  for (const field of ['venue', 'polarity', 'fungibility', 'reviewed', 'venueMarketId']) {
    t.deepEqual(errorsWith({ [field]: undefined }), [`${field}: is required`]);
  }
  for (const venueMarketId of ['~', '!'.repeat(256)]) {
    t.deepEqual(errorsWith({ venueMarketId }), []);
  }
  for (const venueMarketId of ['', 'T 1', 'Té', 'T'.repeat(257)]) {
    t.is(errorsWith({ venueMarketId }).length, 1, venueMarketId);
  }
  t.deepEqual(errorsWith({ buyForYes: 'yes', buyForNo: 'no', note: 'n'.repeat(300) }), []);
  t.is(errorsWith({ buyForYes: 'no' }).length, 1, 'it does not follow from the polarity');
  t.is(errorsWith({ note: 'n'.repeat(301) }).length, 1);
});

test('F20, F21: lines of fees, what is left out of them, and what is wrong with them', (t) => {
  const line = {
    venue: 'venue_a',
    from: '2026-07-07T04:00:00Z',
    schedule: 'kalshi',
    taker: '0.07',
  };
  const fees = [line, { ...line, series: 'KXA', maker: '0.0175', multiplier: '0.5' }];
  const reading = parseCatalog(JSON.stringify({ games: [], instruments: [], fees }));
  const from = '2026-07-07T04:00:00.000Z';
  const whole = { ...line, from, series: null, maker: '0', multiplier: '1', exponent: 1 };
  t.deepEqual(reading.ok && reading.fees, [
    whole,
    { ...whole, series: 'KXA', maker: '0.0175', multiplier: '0.5' },
  ]);
  const wrong = [line, { ...line, from }, { ...line, taker: '7%', exponent: 5, x: 1 }];
  t.deepEqual(errorsOf({ games: [], instruments: [], fees: wrong }), [
    'fees[1]: has the venue, series and time of fees[0]',
    'fees[2].exponent: must be <= 4',
    'fees[2].taker: must be a decimal text like 0.0695, with at most eight decimals',
    'fees[2].x: is not a field of a catalog',
  ]);
  t.deepEqual(errorsOf({ games: [], instruments: [], fees: {} }), ['fees: must be array']);
});

test('F45: no rate takes or gives more than a price', (t) => {
  const line = { venue: 'venue_a', from: '2026-07-07T04:00:00Z', schedule: 'kalshi' };
  const rates = (taker: string, maker: string, multiplier: string) => {
    return errorsOf({ games: [], instruments: [], fees: [{ ...line, taker, maker, multiplier }] });
  };
  t.deepEqual(rates('1', '-1', '1'), []);
  t.deepEqual(rates('0.07', '-0.01', '14.28571428'), []);
  const beyond = 'times the multiplier must be from -1 to 1';
  t.deepEqual(rates('1.00000001', '-1', '1'), [`fees[0].taker: ${beyond}`]);
  t.deepEqual(rates('0.07', '-0.07', '14.28571429'), [
    `fees[0].maker: ${beyond}`,
    `fees[0].taker: ${beyond}`,
  ]);
});
