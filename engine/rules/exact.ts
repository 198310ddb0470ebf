/**
 * Exact amounts of dollars before they are rounded: whole numbers over a power of ten. Rule F21
 * (feeds/FORMATS.md).
 */
import { invariant } from '../base/invariant.ts';
import type { Tagged } from '../base/units.ts';

/** Money in millionths of a dollar, a safe integer; a negative amount is paid to the trader. */
export type Micros = Tagged<number, 'Micros'>;

/**
 * A whole number over a power of ten. It is a number if it is a safe integer, which is far faster.
 */
export type Exact = { units: bigint | number; decimals: number };

const MICRO_DECIMALS = 6;

type Rounding = 'up' | 'down' | 'half_even';

/**
 * Rounds to a multiple of 10^-`decimals` dollars, which is coarser than the exact value; `down` is
 * towards minus infinity.
 */
export function rounded(exact: Exact, decimals: number, rounding: Rounding): Micros {
  const { units: given, decimals: from } = exact;
  if (typeof given === 'number' && from - decimals <= SAFE_DECIMALS) {
    return roundedNumber(given, { from, decimals, rounding });
  }
  const units = BigInt(given);
  const toMicros = 10n ** BigInt(MICRO_DECIMALS - decimals);
  const step = 10n ** BigInt(from - decimals);
  const rest = ((units % step) + step) % step;
  const floor = (units - rest) / step;
  const twice = rest * 2n;
  const isUp =
    rounding === 'up' ? rest > 0n : twice > step || (twice === step && floor % 2n !== 0n);
  return safe((rounding !== 'down' && isUp ? floor + 1n : floor) * toMicros);
}

/** A power of ten up to here, and twice its remainder, are safe integers. */
const SAFE_DECIMALS = 15;
const POWERS = Array.from({ length: SAFE_DECIMALS + 1 }, (_, decimals) => 10 ** decimals);

/** The same steps with numbers. */
function roundedNumber(
  units: number,
  { from, decimals, rounding }: { from: number; decimals: number; rounding: Rounding },
): Micros {
  invariant(from >= decimals, 'an amount is rounded to more than it has');
  const step = POWERS[from - decimals]!;
  // A quotient of safe integers is off by less than 1/step, so its whole part is right.
  const floor = Math.floor(units / step);
  const rest = units - floor * step;
  const isUp =
    rounding === 'up' ? rest > 0 : 2 * rest > step || (2 * rest === step && floor % 2 !== 0);
  const micros =
    (rounding !== 'down' && isUp ? floor + 1 : floor) * POWERS[MICRO_DECIMALS - decimals]!;
  invariant(Number.isSafeInteger(micros), 'a fee too large to count');
  return micros;
}

function safe(micros: bigint): Micros {
  const value = Number(micros);
  invariant(Number.isSafeInteger(value), 'a fee too large to count');
  return value;
}

export function sum(a: Exact, b: Exact): Exact {
  const decimals = Math.max(a.decimals, b.decimals);
  const scaled = (one: Exact) => BigInt(one.units) * 10n ** BigInt(decimals - one.decimals);
  return { units: scaled(a) + scaled(b), decimals };
}
