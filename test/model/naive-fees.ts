/**
 * The fees of the naive model: fractions of whole numbers, rounded as the rules say. Rules F20 to
 * F26, F45 (feeds/FORMATS.md), M14 to M18 (engine/RULES.md).
 */

import { HOME_VENUE, type MarketNumber, type PriceCents } from '../../engine/base/units.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import {
  dearestCentsOf,
  type ModelOrder,
  type ModelState,
  routableMarkets,
} from './naive-state.ts';

type Role = 'taker' | 'maker';
type Part = { priceCents: PriceCents; contracts: number };
/** Dollars: a numerator and a denominator. */
type Fraction = readonly [over: bigint, under: bigint];

const CENT = 10_000;
const USUAL: FeeEntry = {
  venue: HOME_VENUE,
  series: null,
  from: '1970-01-01T00:00:00Z',
  schedule: 'kalshi',
  taker: '0.07',
  maker: '0',
  multiplier: '1',
  exponent: 1,
};

/** What a fill is charged: F22, F24, F25, M16. Notes what the venue itself has charged. */
export function feeOf(
  state: ModelState,
  order: ModelOrder,
  fill: { market: MarketNumber; parts: readonly Part[] },
  role: Role,
): number {
  const line = lineOf(state, fill.market);
  const exact = fill.parts.map((part) => feeOfPart(line, part, role));
  if (line.schedule === 'polymarket_us') return wholeCents(exact, role);
  for (const fee of exact) {
    if (line.schedule === 'kalshi') order.owedMicros += up(fee, 1_000_000);
    else if (role === 'taker') order.owedMicros += 10 * down(fee, 100_000);
  }
  const charged = Math.ceil(order.owedMicros / CENT) - order.chargedCents + 0;
  order.chargedCents += charged;
  return charged;
}

/** F24: each fill to the cent; a taker pays the rounded sum at most. */
function wholeCents(exact: readonly Fraction[], role: Role): number {
  let paid = 0;
  let sum: Fraction = [0n, 1n];
  for (const fee of exact) {
    const own = halfEven(fee, 100);
    sum = plus(sum, fee);
    paid += role === 'maker' ? own : Math.max(0, Math.min(own, halfEven(sum, 100) - paid));
  }
  return paid;
}

/** M15: for each contract, at the dearest price up to the limit, at any venue, as either. */
export function worstMicros(state: ModelState, order: ModelOrder): number {
  const markets = [
    order.market,
    ...(order.routing === 'best' ? routableMarkets(state, order) : []),
  ];
  let worst = 0;
  for (const market of markets) {
    for (let priceCents = 1; priceCents <= dearestCentsOf(order); priceCents++) {
      for (const role of ['taker', 'maker'] as const) {
        const fee = feeOfPart(lineOf(state, market), { priceCents, contracts: 1 }, role);
        worst = Math.max(worst, up(fee, 1_000_000));
      }
    }
  }
  return worst;
}

/** M15: what is held for the fees of so many contracts. */
export function heldFees({ eachMicros, owedMicros, chargedCents }: ModelOrder, left: number) {
  const owed = BigInt(eachMicros) * BigInt(left) + BigInt(owedMicros - chargedCents * CENT);
  return Math.max(0, up([owed, 1_000_000n], 100));
}

/** F20: the most specific name, then the newest that is valid. */
function lineOf({ fees, marketNames, nowMs }: ModelState, market: MarketNumber): FeeEntry {
  const name = marketNames[market]!;
  const matching = fees.filter(({ venue, series, from }) => {
    const full = `${venue}/${series ?? ''}`;
    const isNamed = series === null ? name.startsWith(full) : `${name}-`.startsWith(`${full}-`);
    return isNamed && Date.parse(from) <= nowMs;
  });
  matching.sort((a, b) => {
    const [near, far] = [a.series?.length ?? 0, b.series?.length ?? 0];
    return near - far || Date.parse(a.from) - Date.parse(b.from);
  });
  return matching.at(-1) ?? USUAL;
}

/** F21. */
function feeOfPart(line: FeeEntry, { priceCents, contracts }: Part, role: Role): Fraction {
  const price: Fraction = [BigInt(priceCents), 100n];
  const other: Fraction = [BigInt(100 - priceCents), 100n];
  let fee: Fraction = [BigInt(contracts), 1n];
  fee = times(times(fee, read(line.multiplier)), read(line[role]));
  for (let n = 0; n < line.exponent; n++) fee = times(fee, times(price, other));
  return fee;
}

function read(text: string): Fraction {
  const [whole = '', part = ''] = text.split('.');
  return [BigInt(`${whole}${part}`), 10n ** BigInt(part.length)];
}

const times = (a: Fraction, b: Fraction): Fraction => [a[0] * b[0], a[1] * b[1]];
const plus = (a: Fraction, b: Fraction): Fraction => [a[0] * b[1] + b[0] * a[1], a[1] * b[1]];

/** In parts of a dollar, rounded down, up, or to the nearer one. */
function down([over, under]: Fraction, parts: number): number {
  const scaled = over * BigInt(parts);
  const cut = scaled / under;
  return Number(cut * under > scaled ? cut - 1n : cut);
}

function up([over, under]: Fraction, parts: number): number {
  return -down([-over, under], parts) + 0;
}

function halfEven(fee: Fraction, parts: number): number {
  const below = down(fee, parts);
  const beyond = plus(fee, [BigInt(-below), BigInt(parts)]);
  const twice = 2n * beyond[0] * BigInt(parts);
  if (twice === beyond[1]) return below % 2 === 0 ? below : below + 1;
  return twice > beyond[1] ? below + 1 : below;
}
