/**
 * The trading fees of venues: dated tables, and the arithmetic of each venue. order-fees.ts charges
 * orders by them. For trades that pay no fee, the tables give the fee that they would have paid.
 * Rules F20 to F27, F45 (feeds/FORMATS.md).
 *
 * All arithmetic is exact: rates are decimal texts, and products are whole numbers over a power of
 * ten. Each is rounded once, at the step at which the venue rounds. Amounts are in millionths of a
 * dollar.
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  instantOf,
  type PriceCents,
  type Venue,
} from '../base/units.ts';
import { type Exact, type Micros, rounded, sum } from './exact.ts';

/** The venue whose formula and rounding apply. */
export const FEE_SCHEDULES = ['kalshi', 'polymarket_us', 'polymarket'] as const;
export type FeeSchedule = (typeof FEE_SCHEDULES)[number];

/** One line of a fee table. Rates are decimal texts, as `0.0695`; a rebate is below zero. */
export type FeeEntry = {
  venue: Venue;
  /** A series, event or market: that name, and all names that begin with it and `-`. Null: all. */
  series: string | null;
  /** Date-time from which the line is valid. */
  from: string;
  schedule: FeeSchedule;
  taker: string;
  maker: string;
  /** Both rates are multiplied by it. */
  multiplier: string;
  /** Of p(1-p), from 1 to 4. */
  exponent: number;
};

/** A fill as a venue counts it: fractions of a contract and of a cent are possible there. */
export type VenueFill = {
  /** Ten-thousandths of a dollar, 0 to 10000. */
  priceE4: number;
  /** Hundredths of a contract. */
  contractsE2: number;
  role: 'taker' | 'maker';
};

const CENT_MICROS = 10_000;

/** Contracts times rate times (p(1-p))^exponent, in dollars, before any rounding. Rule F21. */
function exactFee(entry: FeeEntry, { priceE4, contractsE2, role }: VenueFill): Exact {
  invariant(
    Number.isInteger(priceE4) && priceE4 >= 0 && priceE4 <= 10_000,
    'the price for a fee is not 0 to 10000',
  );
  invariant(
    Number.isSafeInteger(contractsE2) && contractsE2 >= 0,
    'the size for a fee is not a whole number of 0 or more',
  );
  const rate = parseRate(role === 'taker' ? entry.taker : entry.maker);
  const multiplier = parseRate(entry.multiplier);
  const decimals = 2 + rate.decimals + multiplier.decimals + 8 * entry.exponent;
  const spread = priceE4 * (10_000 - priceE4);
  // Never -0.
  const units = contractsE2 * rate.units * multiplier.units * spread ** entry.exponent + 0;
  // A product that is safe was exact all the way.
  if (Number.isSafeInteger(units)) return { units, decimals };
  const rates = BigInt(rate.units) * BigInt(multiplier.units);
  return {
    units: BigInt(contractsE2) * rates * BigInt(spread) ** BigInt(entry.exponent),
    decimals,
  };
}

/** A rate: at most six digits before the point and eight after it. */
export const RATE = /^(-?)(\d{1,6})(?:\.(\d{1,8}))?$/;

type Rate = { units: number; decimals: number };

/** Whether a rate times the multiplier is from -1 to 1. Rule F45 (feeds/FORMATS.md). */
export function isBoundedRate(rate: string, multiplier: string): boolean {
  const [one, other] = [parseRate(rate), parseRate(multiplier)];
  const product = BigInt(one.units) * BigInt(other.units);
  const whole = 10n ** BigInt(one.decimals + other.decimals);
  return product <= whole && product >= -whole;
}

/** Tables have few texts, and each is read many times. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    if (known.size >= TEXTS_MAX) known.clear();
    known.set(text, value);
    return value;
  };
}

const TEXTS_MAX = 1000;

const parseRate = remembered((text): Rate => {
  const match = RATE.exec(text);
  invariant(match !== null, 'a rate in a fee table is malformed');
  const [, sign, whole, fraction = ''] = match;
  const units = Number(`${whole}${fraction}`);
  return { units: sign === '-' ? 0 - units : units, decimals: fraction.length };
});

const instantOfText = remembered((text) => instantOf(text)!);

/**
 * Kalshi: up to a millionth of a dollar a fill. Rule F22; Kalshi's fee schedule of 2026-07-07 and
 * its page "Fee Rounding" as of 2026-10.
 */
export function kalshiTradeFee(entry: FeeEntry, fill: VenueFill): Micros {
  return rounded(exactFee(entry, fill), 6, 'up');
}

/** The rounding fees of an order so far that are not yet refunded. */
export type KalshiCarry = { micros: Micros };

/** The parts of a fill's fee; `net` is trade fee + rounding fee - rebate and never below zero. */
export type KalshiFee = { trade: Micros; rounding: Micros; rebate: Micros; net: Micros };

/**
 * Kalshi's fee of one fill of an order, whose balance changes in whole steps (a cent; a hundredth
 * of one for direct members). Rounding fees accumulate over the order's fills in `carry`, and are
 * refunded in whole steps. Rule F23; Kalshi's page "Fee Rounding" as of 2026-10.
 *
 * @param side a seller is paid the price, a buyer pays it: both balances are rounded down.
 */
export function kalshiFillFee(
  entry: FeeEntry,
  fill: VenueFill,
  { side, carry, stepMicros = CENT_MICROS }: KalshiOrder,
): KalshiFee {
  invariant(stepMicros > 0, 'the step of a balance is not above zero');
  invariant(carry.micros >= 0, 'the rounding fees of an order are below zero');
  const trade = kalshiTradeFee(entry, fill);
  const value = fill.priceE4 * fill.contractsE2;
  invariant(Number.isSafeInteger(value), 'a fill too large to count');
  const change = (side === 'sell' ? value : -value) - trade;
  const rounding = ((change % stepMicros) + stepMicros) % stepMicros;
  carry.micros += rounding;
  const charged = trade + rounding;
  const steps = Math.min(Math.floor(carry.micros / stepMicros), Math.floor(charged / stepMicros));
  const rebate = steps * stepMicros;
  carry.micros -= rebate;
  return { trade, rounding, rebate, net: charged - rebate };
}

export type KalshiOrder = { side: 'buy' | 'sell'; carry: KalshiCarry; stepMicros?: number };

/**
 * Polymarket US, all fills of one order. Each is rounded half to even to the cent. A taker's fee
 * may then be lowered, so that the order pays at most its exact sum, rounded half to even to the
 * cent. Rule F24; the page "Fee Schedule" of docs.polymarket.us, in effect since 2026-09-25.
 */
export function polymarketUsFees(entry: FeeEntry, fills: readonly VenueFill[]): Micros[] {
  let exact: Exact = { units: 0n, decimals: 0 };
  let taken = 0;
  return fills.map((fill) => {
    const fee = exactFee(entry, fill);
    const own = rounded(fee, 2, 'half_even');
    if (fill.role === 'maker') return own;
    exact = sum(exact, fee);
    const charged = Math.max(0, Math.min(own, rounded(exact, 2, 'half_even') - taken));
    taken += charged;
    return charged;
  });
}

/**
 * Polymarket: takers alone, down to a hundred-thousandth of a dollar. Rule F25; the page "Fees" of
 * docs.polymarket.com as of 2026-09: five decimals, and less than 0.00001 is nothing.
 */
export function polymarketFee(entry: FeeEntry, fill: VenueFill): Micros {
  return fill.role === 'maker' ? 0 : rounded(exactFee(entry, fill), 5, 'down');
}

/**
 * The line of a table for a market at a moment. Among the lines that match the market, the most
 * specific name counts. Among lines of that name, the newest that is already valid counts. Null:
 * the table has none. Rule F20.
 */
export function feeEntryFor(
  table: readonly FeeEntry[],
  { venue, venueMarketId, atMs }: FeeQuestion,
): FeeEntry | null {
  let best: FeeEntry | null = null;
  let bestFromMs = 0;
  for (const entry of table) {
    const fromMs = instantOfText(entry.from);
    if (entry.venue !== venue || fromMs > atMs || !names(entry.series, venueMarketId)) continue;
    const closer = (entry.series ?? '').length - (best?.series ?? '').length;
    if (best !== null && (closer < 0 || (closer === 0 && fromMs < bestFromMs))) continue;
    best = entry;
    bestFromMs = fromMs;
  }
  return best;
}

/** The lines of a table that name a market, at any moment: all that `feeEntryFor` reads. */
export function feeEntriesOf(
  table: readonly FeeEntry[],
  { venue, venueMarketId }: Omit<FeeQuestion, 'atMs'>,
): FeeEntry[] {
  return table.filter((entry) => entry.venue === venue && names(entry.series, venueMarketId));
}

export type FeeQuestion = { venue: Venue; venueMarketId: string; atMs: EpochMs };

function names(series: string | null, market: string): boolean {
  return series === null || market === series || market.startsWith(`${series}-`);
}

/** Used if no table has a line. Rule F26. */
export const NO_TABLE: FeeEntry = {
  venue: 'venue_a',
  series: null,
  from: '1970-01-01T00:00:00.000Z',
  schedule: 'kalshi',
  taker: '0.07',
  maker: '0',
  multiplier: '1',
  exponent: 1,
};

/**
 * The taker's fee of a paper trade at its entry, in whole cents, rounded up if the venue counts
 * finer. Without a line in the table: 0.07·C·P·(1-P), rounded up to the cent. Rule F26.
 */
export function takerFeeCents(
  table: readonly FeeEntry[],
  trade: FeeQuestion & { priceCents: PriceCents; contracts: Contracts },
): Cents {
  const entry = feeEntryFor(table, trade) ?? NO_TABLE;
  const fill: VenueFill = {
    priceE4: trade.priceCents * 100,
    contractsE2: trade.contracts * 100,
    role: 'taker',
  };
  return Math.ceil(takerMicros(entry, fill) / CENT_MICROS);
}

function takerMicros(entry: FeeEntry, fill: VenueFill): Micros {
  if (entry.schedule === 'kalshi') {
    return kalshiFillFee(entry, fill, { side: 'buy', carry: { micros: 0 } }).net;
  }
  if (entry.schedule === 'polymarket') return polymarketFee(entry, fill);
  return polymarketUsFees(entry, [fill])[0]!;
}

/** P&L less the taker's fee at entry, in whole cents: `pnlAfterFeesDollars`. Rule F27. */
export function pnlAfterFeesCents(
  table: readonly FeeEntry[],
  trade: Parameters<typeof takerFeeCents>[1] & { pnlCents: Cents },
): Cents {
  return trade.pnlCents - takerFeeCents(table, trade);
}
