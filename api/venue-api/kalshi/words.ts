/**
 * The venue's decimal strings, times and query parameters, read and written. Prices are whole
 * cents and counts whole contracts here: anything finer is the venue's own error. Rules A205, A206
 * (api/RULES.md).
 */
import type { TObject, TSchema } from '@sinclair/typebox';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  isoOf,
  PAYOUT_CENTS,
  type PriceCents,
} from '../../../engine/base/units.ts';
import { bodyReader } from '../../base/validation.ts';
import { invalidCount, invalidParameters, invalidPrice } from './refusals.ts';

/** Of the prices: market data have thousands of them a second. */
const PRICES = Array.from({ length: PAYOUT_CENTS + 1 }, (_, cents) => (cents / 100).toFixed(4));

/** `56` as `0.5600`; any amount of cents. */
export function dollars(cents: Cents | PriceCents): string {
  return PRICES[cents] ?? (cents / 100).toFixed(4);
}

/** An amount of an answer of the engine, which has at most two decimals. */
export function centsOf(amountDollars: number): Cents {
  return Math.round(amountDollars * 100);
}

/** `10` as `10.00`. */
export function fp(contracts: number): string {
  return Number.isSafeInteger(contracts) ? `${contracts}.00` : contracts.toFixed(2);
}

const PRICE = /^(?:0|1)?(?:\.\d{1,6})?$/;
const E6 = 1_000_000;
const CENT_E6 = 10_000;

/** A price in dollars as whole cents. Throws `invalid_price`. */
export function priceIn(text: string, field: string): PriceCents {
  const e6 = PRICE.test(text) && text !== '' && text !== '.' ? Math.round(Number(text) * E6) : -1;
  const cents = e6 / CENT_E6;
  if (Number.isInteger(cents) && cents >= 1 && cents <= 99) return cents;
  throw invalidPrice(`${field} must be "0.01" to "0.99" in whole cents`);
}

const COUNT = /^\d{1,10}(?:\.\d{1,2})?$/;
const CONTRACTS_MAX = 1_000_000_000;

/** A count of whole contracts, at least `min`. Throws `invalid_count`. */
export function countIn(text: string, field: string, min = 1): Contracts {
  const count = COUNT.test(text) ? Number(text) : Number.NaN;
  if (Number.isInteger(count) && count >= min && count <= CONTRACTS_MAX) return count;
  throw invalidCount(`${field} must be a whole number of contracts, "${fp(min)}" or more`);
}

/** Seconds, as the venue gives times in numbers. */
export function seconds(atMs: EpochMs): number {
  return Math.floor(atMs / 1000);
}

export const timeText = (atMs: EpochMs) => isoOf(atMs);

/** The parameters of a query. Unknown ones are left alone, as the venue does. */
export class Asked {
  readonly #given: URLSearchParams;

  constructor(query: string) {
    this.#given = new URLSearchParams(query);
  }

  text(name: string): string | null {
    const text = this.#given.get(name);
    return text === null || text === '' ? null : text;
  }

  /** Given once with commas, or several times. Null: not given. */
  list(name: string, max: number): string[] | null {
    const all = this.#given.getAll(name).flatMap((text) => text.split(','));
    const items = [...new Set(all.filter((text) => text !== ''))];
    if (items.length > max) throw invalidParameters(`${name} must have at most ${max} entries`);
    return items.length === 0 ? null : items;
  }

  integer(name: string, { min, max }: { min: number; max: number }): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw invalidParameters(`${name} must be a whole number from ${min} to ${max}`);
  }

  /** A time in seconds, as milliseconds. */
  time(name: string): EpochMs | null {
    const value = this.integer(name, { min: 0, max: 100_000_000_000 });
    return value === null ? null : value * 1000;
  }

  flag(name: string): boolean {
    const text = this.text(name);
    if (text === null || text === 'false') return false;
    if (text === 'true') return true;
    throw invalidParameters(`${name} must be true or false`);
  }

  oneOf<const W extends string>(name: string, words: readonly W[]): W | null {
    const text = this.text(name);
    if (text === null) return null;
    const found = words.find((word) => word === text);
    if (found === undefined) throw invalidParameters(`${name} must be one of ${words.join(', ')}`);
    return found;
  }

  /** The account has one part alone, and the exchange one shard. */
  requirePrimary(): this {
    const subaccount = this.integer('subaccount', { min: 0, max: 63 }) ?? 0;
    if (subaccount !== 0) throw invalidParameters('subaccount must be 0: there are no others');
    const index = this.integer('exchange_index', { min: -1, max: 1000 }) ?? 0;
    if (index > 0) throw invalidParameters('exchange_index must be 0: there are no others');
    return this;
  }
}

/** A body with at least these fields; the others are left alone, as the venue does. */
export function fieldsOf<S extends TObject>(schema: S) {
  return bodyReader(schema as TSchema as S);
}

/** The rows of a page, and the cursor of the next one; empty: no row follows. */
export type Page<T> = { rows: T[]; cursor: string };

/**
 * A page of the wanted rows in memory. A cursor is the key of its last row, which may be wanted no more
 * when the next page is read. Rule A223.
 */
export function pageOf<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  { limit, cursor }: { limit: number; cursor: string | null },
  isWanted: (row: T) => boolean = () => true,
): Page<T> {
  let from = 0;
  if (cursor !== null) {
    const key = Buffer.from(cursor, 'base64url').toString('utf8');
    from = rows.findIndex((row) => keyOf(row) === key) + 1;
    if (from === 0) throw invalidParameters('cursor is malformed, or its row is gone');
  }
  const taken: T[] = [];
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]!;
    if (!isWanted(row)) continue;
    if (taken.length === limit) return { rows: taken, cursor: cursorOf(keyOf(taken.at(-1)!)) };
    taken.push(row);
  }
  return { rows: taken, cursor: '' };
}

export function cursorOf(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url');
}
