/**
 * The units of every other file: whole cents, whole contracts, milliseconds. Once parsed, money is
 * never a floating point number. Rules T1, T2, B2, M40 (engine/RULES.md, feeds/FORMATS.md).
 */

import { invariant } from './invariant.ts';

/** A number or string that the type checker distinguishes from values with another name. */
export type Tagged<T, Name extends string> = T & { readonly __unit?: Name };

/** Money in whole cents, a safe integer. */
export type Cents = Tagged<number, 'Cents'>;
/** Price of one contract in whole cents, 1..99; a winning contract pays 100. */
export type PriceCents = Tagged<number, 'PriceCents'>;
/** A venue's own price in ten-thousandths of a dollar (hundredths of a cent), 0..10000. */
export type PriceE4 = Tagged<number, 'PriceE4'>;
/** A venue's own size in hundredths of a contract. */
export type ContractsE2 = Tagged<number, 'ContractsE2'>;
/** Whole contracts. */
export type Contracts = Tagged<number, 'Contracts'>;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Tagged<number, 'EpochMs'>;
/** A uuid in its lower-case text form, of `UUID_LENGTH` characters. */
export type Uuid = Tagged<string, 'Uuid'>;
export const UUID_LENGTH = 36;
/**
 * The number of a row in its table (memory/table.ts). A plain number is not a row. Rows come from
 * their table or from stored rows, and a row of one table is not a row of another.
 */
type Row<Table extends string> = number & { readonly __unit: Table };
export type AccountRow = Row<'AccountRow'>;
export type OrderRow = Row<'OrderRow'>;
export type PositionRow = Row<'PositionRow'>;
/** Dense number of a venue market; index 0 is the first market ever named. */
export type MarketNumber = Tagged<number, 'MarketNumber'>;
/** Dense number of an instrument. */
export type InstrumentNumber = Tagged<number, 'InstrumentNumber'>;
/** Number of one venue connection; a market's quotes are valid only while it lasts. */
export type SourceNumber = Tagged<number, 'SourceNumber'>;
/** Number of one client's connection of the stream, above 0; no later connection gets it again. */
export type StreamConnection = Tagged<number, 'StreamConnection'>;

export type Side = 'yes' | 'no';
export type Action = 'buy' | 'sell';
export type TimeInForce = 'gtc' | 'ioc' | 'fok';
export type Routing = 'venue_a' | 'best';
export type PlacedVia = (typeof PLACED_VIA)[number];
export type GameStatus = (typeof GAME_STATUSES)[number];
export type MarketStatus = (typeof MARKET_STATUSES)[number];

/**
 * The fill models by name: how much of an order trades at a live price. On disk each is its index in
 * this list: append, never reorder. Rule T60 (engine/RULES.md).
 */
export const FILL_MODELS = ['top_of_book', 'book_depth', 'queue'] as const;
export type FillModelName = (typeof FILL_MODELS)[number];
/**
 * Who shares displayed sizes: the orders of one account, or of all accounts that chose so. On disk
 * each is its index in this list: append, never reorder. Rule T158 (engine/RULES.md).
 */
export const LIQUIDITIES = ['account', 'market'] as const;
export type Liquidity = (typeof LIQUIDITIES)[number];
/** What an order was placed under, beside its fill model. It never changes. */
export type PlacedUnder = {
  /** How long after its acceptance it meets the book. */
  latencyMs: number;
  /** Its fills cost the venue's fees. */
  feesOn: boolean;
  liquidity: Liquidity;
  /** Its account had chosen the preset `realistic`. */
  realistic: boolean;
};

/** Of an order under the preset `simple`. */
export const PLAIN: PlacedUnder = {
  latencyMs: 0,
  feesOn: false,
  liquidity: 'account',
  realistic: false,
};

/**
 * What a netting order was asked for. `opens`: it opens its side once it has closed all that it can
 * of the other side. `closes`: so much of it closes. `asked`: contracts, of which an order that only
 * closes takes no more than can be closed. Rules T190, T191 (engine/RULES.md).
 */
export type PlacedNetting = { opens: boolean; closes: Contracts; asked: Contracts };

/** The venue whose price every paper order trades at; other venues may only improve it. */
export const HOME_VENUE = 'venue_a';
/** Quotes list them in this order. Rule A51 (api/RULES.md). */
export const VENUES = ['venue_a', 'venue_b', 'venue_c', 'venue_c_intl'] as const;
export type Venue = (typeof VENUES)[number];
/**
 * The venues besides venue_a that may price a fill of an order with routing best. Rule T80
 * (engine/RULES.md).
 */
export const ROUTED_VENUES: ReadonlySet<Venue> = new Set<Venue>(['venue_b', 'venue_c']);

/** `venue_a/TICKER`: how a catalog names a market. */
export function marketName(venue: Venue, venueMarketId: string): string {
  return `${venue}/${venueMarketId}`;
}

/** The venue of such a name; undefined: it names none. */
export function venueOf(name: string): Venue | undefined {
  return VENUES.find((venue) => name.startsWith(`${venue}/`));
}

/** Values that catalogs and answers share. Rule K4 (feeds/FORMATS.md). */
export const MARKET_TYPES = [
  'moneyline',
  'spread',
  'total',
  'team_total',
  'player_prop',
  'series',
  'outright',
  'other',
] as const;

export const PERIODS = [
  'game',
  'h1',
  'h2',
  'q1',
  'q2',
  'q3',
  'q4',
  'p1',
  'p2',
  'p3',
  'inning_1',
  'set_1',
  'regulation',
  'season',
] as const;

/**
 * The source of a start, the best first: a hand-written catalog, the ticker's own time, the venue's
 * milestone or event time, the expected end less the league's usual length, or the day alone. Rules
 * K32 (feeds/FORMATS.md), Y92 (engine/RULES.md).
 */
export const START_SOURCES = [
  'catalog',
  'ticker',
  'milestone',
  'venue',
  'estimate',
  'day',
] as const;
export type StartSource = (typeof START_SOURCES)[number];

export const GAME_STATUSES = [
  'scheduled',
  'inprogress',
  'final',
  'postponed',
  'cancelled',
] as const;
export const MARKET_STATUSES = ['open', 'paused', 'closed'] as const;
/** On disk each is its index in this list: append, never reorder. */
export const PLACED_VIA = ['api', 'web', 'cli'] as const;
export const STRIKE_TYPES = [
  'greater',
  'greater_or_equal',
  'less',
  'less_or_equal',
  'between',
] as const;
export const FUNGIBILITIES = ['exact', 'near', 'none'] as const;

/** No price: the value of an empty or unusable side of a book. */
export const NO_PRICE = 0;
/** The payout of one winning contract. */
export const PAYOUT_CENTS = 100;
/** Rules M30 to M32 (engine/RULES.md). */
export const START_BALANCE_CENTS = 10_000_000;

/** The other side of a binary market. */
export function oppositeSide(side: Side): Side {
  return side === 'yes' ? 'no' : 'yes';
}

/** A price in 1..99 or `NO_PRICE`. */
function priceOrNone(cents: number): PriceCents {
  return cents >= 1 && cents <= 99 ? cents : NO_PRICE;
}

/**
 * Whole-cent bid of a finer venue bid: rounded down, against the seller. Rule B2
 * (feeds/FORMATS.md).
 */
export function bidCentsOf(price: PriceE4): PriceCents {
  return priceOrNone(Math.floor(price / 100));
}

/**
 * Whole-cent ask of a finer venue ask: rounded up, against the buyer. Rule B2 (feeds/FORMATS.md).
 */
export function askCentsOf(price: PriceE4): PriceCents {
  return priceOrNone(Math.ceil(price / 100));
}

/** The whole-cent bids of both sides of a market, each with a number: yes from 0, then no. */
export const BIDS = 2 * PAYOUT_CENTS;

export function bidNumber(side: Side, cents: PriceCents): number {
  return side === 'yes' ? cents : PAYOUT_CENTS + cents;
}

/** Cents as a JSON number of dollars with at most two decimals; 123456 gives 1234.56. */
export function dollarsOf(cents: Cents): number {
  invariant(Number.isSafeInteger(cents), 'money to be shown is not in whole cents');
  return cents / 100;
}

/** `2026-11-21T05:00:00.000Z`. Rule A4 (api/RULES.md). */
export function isoOf(at: EpochMs): string {
  const day = Math.floor(at / DAY_MS);
  if (day !== lastDay.day) {
    lastDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length) };
  }
  const ms = at - day * DAY_MS;
  const hours = TWO_DIGITS[Math.floor(ms / 3_600_000)]!;
  const minutes = TWO_DIGITS[Math.floor(ms / 60_000) % 60]!;
  const seconds = TWO_DIGITS[Math.floor(ms / 1000) % 60]!;
  return `${lastDay.text}${hours}:${minutes}:${seconds}.${String(ms % 1000).padStart(3, '0')}Z`;
}

const INSTANT =
  /^\d{4}-\d\d-(\d\d)[Tt]([01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * The instant of an RFC 3339 date-time, whose seconds may be left out. Null for any other text,
 * also for leap seconds. A fraction finer than milliseconds is cut off.
 */
export function instantOf(text: string): EpochMs | null {
  const match = INSTANT.exec(text);
  const atMs = match === null ? Number.NaN : Date.parse(text);
  if (match === null || Number.isNaN(atMs)) return null;
  const day = match[1]!;
  // Date.parse reads 30 February as 2 March.
  const isThere =
    day <= '28' || new Date(Date.parse(text.slice(0, 10))).getUTCDate() === Number(day);
  return isThere ? atMs : null;
}

export const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
// Nearly all times of consecutive answers are of the same day.
let lastDay = { day: 0, text: '1970-01-01T' };

/** No row, of any table. */
export const NO_ROW = -1 as number & { readonly __unit: never };

const MINUTE_MS = 60_000;

/** The UTC day of a moment, in days since 1970: a window of the limits. */
export const utcDayOf = (atMs: EpochMs): number => Math.floor(atMs / DAY_MS);
/** The UTC minute of a moment, in minutes since 1970. */
export const utcMinuteOf = (atMs: EpochMs): number => Math.floor(atMs / MINUTE_MS);

/** The counts of a key or an account in the UTC minute and the UTC day of `atMs`. */
export type TradeUse = {
  atMs: EpochMs;
  newInMinute: number;
  newInDay: number;
  closingInMinute: number;
};
