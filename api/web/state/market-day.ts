/**
 * The last 24 hours of a market: its line, its change and its volume. Rule U37 (api/RULES.md).
 */
import type { Candle, Instrument } from '../../client/generated.js';

export type MarketDay = {
  /** The middle of each hour, in cents of yes; null: there was no price. */
  hours: readonly (number | null)[];
  /** Contracts that the venue has traded. */
  volume: number;
};

/** What days are kept by: both winners of a game are often the two sides of one market. */
export type DayOf = { key: string; isOpposite: boolean };

export const DAY_HOURS = 24;
const DAY_MS = DAY_HOURS * 3_600_000;
const EDGE = 1.5;

export function dayStart(nowMs: number): string {
  return new Date(nowMs - DAY_MS).toISOString();
}

/** Null: it has not exactly one market at Venue A, and so no price. */
export function dayOfInstrument({ listings }: Pick<Instrument, 'listings'>): DayOf | null {
  const homes = listings.filter(({ venue }) => venue === 'venue_a');
  const [home] = homes;
  if (home?.venueMarketId === undefined || homes.length !== 1) return null;
  return { key: home.venueMarketId, isOpposite: home.polarity === -1 };
}

export function dayOfCandles(candles: readonly Candle[]): MarketDay {
  return {
    hours: candles.slice(-DAY_HOURS).map(({ mid }) => mid?.close ?? null),
    volume: candles.reduce((sum, { trades }) => sum + (trades?.contracts ?? 0), 0),
  };
}

/** The day in the terms of the other side. */
export function oppositeDay({ hours, volume }: MarketDay): MarketDay {
  return { hours: hours.map((price) => (price === null ? null : 100 - price)), volume };
}

/** From the first known price of the day to now, in whole cents; null: one of both is missing. */
export function changeOf({ hours }: MarketDay, nowCents: number | null): number | null {
  const first = hours.find((price) => price !== null) ?? null;
  return first === null || nowCents === null ? null : Math.round(nowCents - first);
}

/** Points of a polyline; of less than two prices none. The lowest price is at the bottom. */
export function sparkPoints(
  { hours }: MarketDay,
  nowCents: number | null,
  { width, height }: { width: number; height: number },
): string {
  const values = [...hours, nowCents];
  const known = values.filter((price) => price !== null);
  if (known.length < 2) return '';
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const step = (width - 2 * EDGE) / (values.length - 1);
  const yOf = (price: number) => {
    const share = range === 0 ? 0.5 : (price - low) / range;
    return height - EDGE - share * (height - 2 * EDGE);
  };
  return values
    .flatMap((price, at) =>
      price === null ? [] : [`${tenth(EDGE + at * step)},${tenth(yOf(price))}`],
    )
    .join(' ');
}

function tenth(value: number): number {
  return Math.round(10 * value) / 10;
}

/** The probability that a price means, in percent: the middle, or the one known side. */
export function chanceOf({ bidCents, askCents }: Sides): number | null {
  const middle = middleOf({ bidCents, askCents });
  // Between its ends nothing is certain yet.
  return middle === null ? null : Math.min(99, Math.max(1, Math.round(middle)));
}

type Sides = { bidCents: number | null; askCents: number | null };

export function middleOf({ bidCents, askCents }: Sides): number | null {
  if (bidCents === null || askCents === null) return bidCents ?? askCents;
  return (bidCents + askCents) / 2;
}

/** What buying a side costs: the ask of yes, or a dollar less the bid. Null: there is no price. */
export function askOfSide(side: 'yes' | 'no', { bidCents, askCents }: Sides): number | null {
  if (side === 'yes') return askCents;
  return bidCents === null ? null : 100 - bidCents;
}
