import test from 'ava';
import fc from 'fast-check';
import { rounded } from '../../../engine/rules/exact.ts';
import {
  FEE_SCHEDULES,
  type FeeEntry,
  feeEntryFor,
  kalshiFillFee,
  kalshiTradeFee,
  pnlAfterFeesCents,
  polymarketFee,
  polymarketUsFees,
  RATE,
  takerFeeCents,
  type VenueFill,
} from '../../../engine/rules/fees.ts';
import { publishedFees } from '../../../feeds/venues/shared/published-fees.ts';

const KALSHI = publishedFees('kalshi', 'venue_a')[0]!;
const POLYMARKET_US = publishedFees('polymarket_us', 'venue_b')[0]!;
const POLYMARKET = publishedFees('polymarket', 'venue_c')[0]!;
const JULY = Date.parse('2026-07-20T00:00:00Z');

function fill(priceCents: number, contracts: number, role: VenueFill['role'] = 'taker'): VenueFill {
  return { priceE4: Math.round(priceCents * 100), contractsE2: Math.round(contracts * 100), role };
}

const kalshi = (one: VenueFill) =>
  kalshiFillFee(KALSHI, one, { side: 'buy', carry: { micros: 0 } });

test('F22: up is from the smallest rest on, by numbers as by large integers', (t) => {
  for (const units of [1, 1n]) {
    t.is(rounded({ units, decimals: 6 }, 4, 'up'), 100);
    t.is(rounded({ units, decimals: 6 }, 4, 'down'), 0);
  }
});

test('F22, F23: Kalshi’s own example, one contract at 5.5 cents', (t) => {
  t.is(kalshiTradeFee(KALSHI, fill(5.5, 1)), 3639);
  t.deepEqual(kalshi(fill(5.5, 1)), { trade: 3639, rounding: 1361, rebate: 0, net: 5000 });
  const direct = { side: 'buy', carry: { micros: 0 }, stepMicros: 100 } as const;
  t.deepEqual(kalshiFillFee(KALSHI, fill(5.5, 1), direct), {
    trade: 3639,
    rounding: 61,
    rebate: 0,
    net: 3700,
  });
});

test('F22, F23: the table of Kalshi’s fee schedule, one and a hundred contracts', (t) => {
  const table = [
    [1, 1, 7],
    [5, 1, 34],
    [10, 1, 63],
    [15, 1, 90],
    [20, 2, 112],
    [25, 2, 132],
    [30, 2, 147],
    [35, 2, 160],
    [40, 2, 168],
    [45, 2, 174],
    [50, 2, 175],
  ] as const;
  for (const [price, one, hundred] of table) {
    for (const side of [price, 100 - price]) {
      t.is(kalshi(fill(side, 1)).net, one * 10_000, `1 at ${side}`);
      t.is(kalshi(fill(side, 100)).net, hundred * 10_000, `100 at ${side}`);
    }
  }
});

test('F23: what rounding takes is given back over the fills of an order', (t) => {
  const carry = { micros: 0 };
  const order = { side: 'buy', carry } as const;
  // 0.07 * 0.25 = 0.0175 each: 2 cents, 2 cents less nothing, then the carried cent comes back.
  const nets = [1, 2, 3, 4].map(() => kalshiFillFee(KALSHI, fill(50, 1), order).net);
  t.deepEqual(nets, [20_000, 20_000, 20_000, 10_000]);
  t.is(
    nets.reduce((a, b) => a + b, 0),
    kalshi(fill(50, 4)).net,
  );
});

test('F23: however an order is split, it pays its trade fees and what is still carried', (t) => {
  const split = fc.array(fc.integer({ min: 1, max: 500_00 }), { minLength: 1, maxLength: 30 });
  const side = fc.constantFrom('buy' as const, 'sell' as const);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), split, side, (priceE4, sizes, way) => {
        const carry = { micros: 0 };
        let total = 0;
        let value = 0;
        let trade = 0;
        for (const contractsE2 of sizes) {
          const one = { priceE4, contractsE2, role: 'taker' } as const;
          const fee = kalshiFillFee(KALSHI, one, { side: way, carry });
          total += fee.net;
          trade += fee.trade;
          value += priceE4 * contractsE2;
          if (fee.net < 0) return false;
          // The balance is whole cents after each fill.
          if ((way === 'sell' ? value - total : value + total) % 10_000 !== 0) return false;
        }
        return total === trade + carry.micros;
      }),
    ),
  );
});

test('F22: makers pay where the series is listed', (t) => {
  const table = publishedFees('kalshi', 'venue_a');
  const at = { venue: 'venue_a', atMs: JULY } as const;
  const mlb = feeEntryFor(table, { ...at, venueMarketId: 'KXMLBGAME-26JUL101840MILPIT-MIL' })!;
  t.is(kalshiTradeFee(mlb, fill(50, 100, 'maker')), 437_500);
  const gold = feeEntryFor(table, { ...at, venueMarketId: 'KXGOLD15M-26AUG050000-00' })!;
  t.is(kalshiTradeFee(gold, fill(50, 100, 'maker')), 0);
});

/** Of docs.polymarket.us, 100 contracts at 1 to 50 cents; it is symmetric about 50. */
const US_TAKER =
  '7 14 20 27 33 39 45 51 57 63 68 73 79 84 89 93 98 103 107 111 115 119 123 127 130 134 137 140 ' +
  '143 146 149 151 154 156 158 160 162 164 165 167 168 169 170 171 172 173 173 173 174 174';
const US_MAKER =
  '1 2 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 18 19 20 21 21 22 23 23 24 25 25 26 26 27 27 28 28 ' +
  '28 29 29 29 30 30 30 30 31 31 31 31 31 31 31 31';

test('F24: the published table of Polymarket US, taker and maker', (t) => {
  const taker = US_TAKER.split(' ').map(Number);
  const maker = US_MAKER.split(' ').map(Number);
  for (let price = 1; price <= 99; price++) {
    const at = Math.min(price, 100 - price) - 1;
    t.deepEqual(polymarketUsFees(POLYMARKET_US, [fill(price, 100)]), [taker[at]! * 10_000]);
    const made = polymarketUsFees(POLYMARKET_US, [fill(price, 100, 'maker')]);
    t.deepEqual(made, [maker[at]! * -10_000]);
  }
});

test('F24: the published examples of Polymarket US, half to even', (t) => {
  const examples = [
    [10, 626, 112],
    [65, 1581, 284],
    [30, 1460, 262],
    [90, 626, 112],
    [50, 1738, 312],
  ] as const;
  for (const [price, taker, maker] of examples) {
    t.deepEqual(polymarketUsFees(POLYMARKET_US, [fill(price, 1000)]), [taker * 10_000]);
    t.deepEqual(polymarketUsFees(POLYMARKET_US, [fill(price, 1000, 'maker')]), [maker * -10_000]);
  }
  // 18.765 dollars, half way, goes down to the even cent.
  t.deepEqual(polymarketUsFees(POLYMARKET_US, [fill(10, 3000)]), [18_760_000]);
});

test('F24: what rounds to nothing costs nothing', (t) => {
  t.deepEqual(polymarketUsFees(POLYMARKET_US, [fill(1, 0.01)]), [0]);
});

test('F24: an order pays at most the half-even cent of its exact sum', (t) => {
  // 1 at 50 cents is 1.7375 cents: 2 by itself, and 7 for four.
  const four = polymarketUsFees(
    POLYMARKET_US,
    [1, 2, 3, 4].map(() => fill(50, 1)),
  );
  t.deepEqual(four, [20_000, 10_000, 20_000, 20_000]);
});

test('F25: Polymarket’s curve, takers alone', (t) => {
  t.is(polymarketFee(POLYMARKET, fill(50, 100)), 1_250_000);
  t.is(polymarketFee(POLYMARKET, fill(50, 100, 'maker')), 0);
  t.is(polymarketFee({ ...POLYMARKET, maker: '0.01' }, fill(50, 100, 'maker')), 0);
  t.is(polymarketFee({ ...POLYMARKET, taker: '0.03' }, fill(50, 100)), 750_000);
  const crypto: FeeEntry = { ...POLYMARKET, taker: '0.25', exponent: 2 };
  t.is(polymarketFee(crypto, fill(50, 100)), 1_562_500);
  // 10.695 hundred-thousandths of a dollar.
  t.is(polymarketFee(POLYMARKET, fill(31, 0.01)), 100);
  t.is(polymarketFee(POLYMARKET, { priceE4: 1, contractsE2: 1, role: 'taker' }), 0);
});

test('F20: the closest name wins, then the newest line that holds', (t) => {
  const line = (series: string | null, from: string, taker: string) => {
    return { ...KALSHI, series, from: `${from}T00:00:00.000Z`, taker };
  };
  const table = [
    line('KXA', '2026-01-01', '0.02'),
    line(null, '2026-07-01', '0.05'),
    line(null, '2026-01-01', '0.04'),
    line('KXA', '2026-06-01', '0.03'),
    line('KXA-26JUL20', '2026-01-01', '0.01'),
  ];
  const rateOf = (venueMarketId: string, at: string) =>
    feeEntryFor(table, { venue: 'venue_a', venueMarketId, atMs: Date.parse(at) })?.taker ?? null;
  t.is(rateOf('KXA-26JUL20-X', '2026-07-20'), '0.01');
  t.is(rateOf('KXA-26JUL21-X', '2026-07-20'), '0.03');
  t.is(rateOf('KXA-26JUL21-X', '2026-05-01'), '0.02');
  t.is(rateOf('KXAB-26JUL21-X', '2026-07-20'), '0.05');
  t.is(rateOf('KXAB-26JUL21-X', '2026-05-01'), '0.04');
  t.is(rateOf('KXAB-26JUL21-X', '2025-12-31'), null);
  t.is(rateOf('KXAB-26JUL21-X', '2026-07-01'), '0.05', 'from that very moment');
});

test('F26, F27: P&L after the fee at entry, and 0.07·C·P·(1-P) without a table', (t) => {
  const trade = { venue: 'venue_a', venueMarketId: 'T', atMs: JULY, priceCents: 55 } as const;
  t.is(takerFeeCents([], { ...trade, contracts: 10 }), 18); // 17.325 cents
  t.is(pnlAfterFeesCents([], { ...trade, contracts: 10, pnlCents: 450 }), 432);
  t.is(pnlAfterFeesCents([], { ...trade, contracts: 10, pnlCents: 0 }), -18);
  const half = [{ ...KALSHI, multiplier: '0.5' }];
  t.is(takerFeeCents(half, { ...trade, contracts: 10 }), 9);
  const us = { ...POLYMARKET_US, venue: 'venue_a', from: '2026-01-01T00:00:00Z' } as const;
  t.is(takerFeeCents([us], { ...trade, contracts: 10 }), 17); // 17.20125 cents
  const fine = { ...POLYMARKET, venue: 'venue_a', from: '2026-01-01T00:00:00Z' } as const;
  t.is(takerFeeCents([fine], { ...trade, priceCents: 50, contracts: 1 }), 2); // 1.25 cents
});

test('F26: the fee of a trade is the fee of one fill, to which no earlier one has left anything', (t) => {
  // 693 micros a contract: one above a whole cent, so that rounding takes all but one of a cent.
  const trade = { venue: 'venue_a', venueMarketId: 'T', atMs: JULY, priceCents: 1 } as const;
  t.is(takerFeeCents([], { ...trade, contracts: 8_557 }), 594);
});

test('F23: a balance moves in steps of a micro at least', (t) => {
  const order = { side: 'buy', carry: { micros: 0 } } as const;
  t.is(kalshiFillFee(KALSHI, fill(5.5, 1), { ...order, stepMicros: 1 }).rounding, 0);
  t.throws(() => kalshiFillFee(KALSHI, fill(5.5, 1), { ...order, stepMicros: 0 }), {
    message: /step of a balance is not above zero/,
  });
});

test('F21: the schedules have the names of their venues', (t) => {
  t.deepEqual(FEE_SCHEDULES, ['kalshi', 'polymarket_us', 'polymarket']);
});

test('F21: rates are decimal texts, and fees stay exact for a billion contracts', (t) => {
  t.deepEqual(
    ['0.07', '-0.0125', '1', '0.0695'].map((text) => RATE.test(text)),
    [true, true, true, true],
  );
  t.deepEqual(
    ['', '.07', '7e-2', '0.123456789', '1234567', ' 1', '+1'].map((text) => RATE.test(text)),
    [false, false, false, false, false, false, false],
  );
  t.is(kalshiTradeFee(KALSHI, fill(50, 1_000_000_000)), 17_500_000_000_000);
  t.throws(() => kalshiTradeFee({ ...KALSHI, taker: 'x' }, fill(50, 1)), { message: /a rate/ });
  for (const priceE4 of [-1, 10_001, 0.5]) {
    const wrong = { ...fill(50, 1), priceE4 };
    t.throws(() => kalshiTradeFee(KALSHI, wrong), { message: /price for a fee/ });
  }
  for (const contractsE2 of [-1, 0.5]) {
    const wrong = { ...fill(50, 1), contractsE2 };
    t.throws(() => kalshiTradeFee(KALSHI, wrong), { message: /size for a fee/ });
  }
  for (const free of [fill(50, 0), fill(0, 1), fill(100, 1)]) {
    t.is(kalshiTradeFee(KALSHI, free), 0);
  }
});

/** The exact fee in dollars as a fraction, by whole numbers of any size. */
function exactly(entry: FeeEntry, { priceE4, contractsE2 }: VenueFill) {
  const [rate, multiplier] = [entry.taker, entry.multiplier].map((text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return { units: BigInt(whole + fraction), decimals: fraction.length };
  });
  const spread = BigInt(priceE4) * BigInt(10_000 - priceE4);
  const units =
    BigInt(contractsE2) * rate!.units * multiplier!.units * spread ** BigInt(entry.exponent);
  return {
    units,
    per: 10n ** BigInt(2 + rate!.decimals + multiplier!.decimals + 8 * entry.exponent),
  };
}

const floorOf = (a: bigint, b: bigint) => a / b - (a % b < 0n ? 1n : 0n);

test('F21, F22, F24, F25: a fee is rounded from its exact value, however large its numbers are', (t) => {
  const digits = (most: number) => fc.integer({ min: 1, max: most }).map(String);
  const rate = fc
    .tuple(fc.constantFrom('', '-'), digits(9), digits(99_999_999))
    .map(([sign, whole, fraction]) => `${sign}${whole.slice(0, 1)}.${fraction}`);
  const terms = fc.record({
    taker: fc.oneof(rate, fc.constantFrom('0', '-0', '0.07', '0.0695', '-0.0125')),
    multiplier: fc.oneof(digits(99), fc.constantFrom('1', '0.5')),
    exponent: fc.integer({ min: 1, max: 4 }),
    priceE4: fc.integer({ min: 0, max: 10_000 }),
    contractsE2: fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 1e8 })),
  });
  fc.assert(
    fc.property(terms, ({ priceE4, contractsE2, ...over }) => {
      const entry = { ...KALSHI, ...over };
      const one: VenueFill = { priceE4, contractsE2, role: 'taker' };
      const { units, per } = exactly(entry, one);
      t.is(kalshiTradeFee(entry, one), Number(-floorOf(-units * 1_000_000n, per)));
      t.is(polymarketFee(entry, one), 10 * Number(floorOf(units * 100_000n, per)));
      // Half to even: twice the cents, rounded down, tell which half it is in.
      const cents = floorOf(units * 100n, per);
      const rest = units * 100n - cents * per;
      const isUp = 2n * rest > per || (2n * rest === per && cents % 2n !== 0n);
      const half = Number(isUp ? cents + 1n : cents) * 10_000;
      t.is(
        polymarketUsFees({ ...entry, maker: entry.taker }, [{ ...one, role: 'maker' }])[0],
        half,
      );
    }),
    { numRuns: 500 },
  );
});
