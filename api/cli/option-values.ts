/** Whole numbers of options and arguments. Rule U1 (api/RULES.md). */
import { InvalidArgumentError } from 'commander';

/** From 0 on. */
export function wholeNumber(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('It is not a whole number.');
  return value;
}

export function numberAboveZero(text: string): number {
  const value = wholeNumber(text);
  if (value === 0) throw new InvalidArgumentError('It is not a whole number above 0.');
  return value;
}
