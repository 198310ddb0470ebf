/**
 * Venue numbers, read from their text. A price or size never becomes a floating point number on the
 * way: `0.555` is 5550 ten-thousandths, `46.02` is 4602 hundredths. Rule B1 (feeds/FORMATS.md).
 */
import type { ContractsE2, PriceE4 } from '../../engine/base/units.ts';

/** 13 digits of whole contracts stay a safe integer in hundredths. */
const WHOLE_MAX = 9_999_999_999_999;
/** The largest size that can be read, in hundredths of a contract. */
export const CONTRACTS_E2_MAX: ContractsE2 = WHOLE_MAX * 100 + 99;

const PRICE = /^([01])(?:\.(\d{1,4}))?$/;
const VALUE = /^([01])(?:\.(\d{1,40}))?$/;
const SIZE = /^(\d{1,13})(?:\.(\d{1,6}))?$/;
const DELTA = /^([+-]?)(\d{1,13})(?:\.(\d{1,2})0{0,4})?$/;

/** A price text of at most four decimals between `0` and `1`, as `0.555`; anything else is null. */
export function parsePriceE4(value: unknown): PriceE4 | null {
  const match = typeof value === 'string' ? PRICE.exec(value) : null;
  if (match === null) return null;
  const price = Number(match[1]) * 10_000 + Number((match[2] ?? '').padEnd(4, '0'));
  return price <= 10_000 ? price : null;
}

/**
 * A settlement value between `0` and `1` of any number of digits, to the nearest ten-thousandth:
 * venues state thirds. It is a text or a JSON number. Rules W72, W117 (feeds/FORMATS.md).
 */
export function parseValueE4(value: unknown): PriceE4 | null {
  const text = typeof value === 'number' ? textOfNumber(value) : value;
  const match = typeof text === 'string' ? VALUE.exec(text) : null;
  if (match === null) return null;
  const digits = (match[2] ?? '').padEnd(5, '0');
  const price =
    Number(match[1]) * 10_000 + Number(digits.slice(0, 4)) + (digits[4]! >= '5' ? 1 : 0);
  // A number beyond 1 is no value, however small the excess is.
  const isAbove = match[1] === '1' && /[1-9]/.test(digits);
  return isAbove ? null : price;
}

const NUMBER_DECIMALS = 20;

/** A JSON number as a text without an exponent: 1e-7 is `0.00000010…`. */
export function textOfNumber(value: number): string {
  return value.toFixed(NUMBER_DECIMALS);
}

/** A price in whole cents, 0 to 100, as frames had it before 2026. Rule W30 (feeds/FORMATS.md). */
export function priceE4OfCents(value: unknown): PriceE4 | null {
  return isWhole(value) && value <= 100 ? value * 100 : null;
}

/**
 * A size of at most six decimals, as `2130.00`, or a whole JSON number of contracts. Rounded down
 * to hundredths: a book never shows more than is there.
 */
export function parseContractsE2(value: unknown): ContractsE2 | null {
  if (isWhole(value)) return value <= WHOLE_MAX ? value * 100 : null;
  const match = typeof value === 'string' ? SIZE.exec(value) : null;
  if (match === null) return null;
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0').slice(0, 2));
}

/**
 * A signed change of a size: a text as `-46.02`, or a whole JSON number. Digits past hundredths are
 * refused, not rounded: rounded increments would let the book drift away from the venue's.
 */
export function parseDeltaE2(value: unknown): ContractsE2 | null {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && Math.abs(value) <= WHOLE_MAX ? value * 100 : null;
  }
  const match = typeof value === 'string' ? DELTA.exec(value) : null;
  if (match === null) return null;
  const size = Number(match[2]) * 100 + Number((match[3] ?? '').padEnd(2, '0'));
  return match[1] === '-' ? 0 - size : size;
}

/** `2130.00` or, with no decimals, `2130`. */
export function contractsText(size: ContractsE2, decimals: 0 | 2): string {
  const whole = String(Math.floor(size / 100));
  return decimals === 0 ? whole : `${whole}.${String(size % 100).padStart(2, '0')}`;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** With four decimals, as venues write prices: 5550 is `0.5550`. */
export function priceText(price: PriceE4): string {
  return `${Math.floor(price / 10_000)}.${String(price % 10_000).padStart(4, '0')}`;
}
