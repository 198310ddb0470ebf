/**
 * The remaining trade limits, after the JSON of an answer. Every order has them, so they are read
 * and written without a layout. Rule L13 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { TradeLimitsLeft } from '../rules/limits-left.ts';
import type { ByteWriter } from './bytes.ts';

export const LIMITS_BYTES = 9 * 8 + 1;

export function writeLimits(to: ByteWriter, limits: TradeLimitsLeft): void {
  const start = to.length;
  to.f64(limits.atMs);
  to.f64(limits.keyPerMinute);
  to.f64(limits.keyLeftInMinute);
  to.f64(limits.keyPerDay);
  to.f64(limits.keyLeftInDay);
  to.f64(limits.accountPerMinute);
  to.f64(limits.accountLeftInMinute);
  to.f64(limits.accountPerDay);
  to.f64(limits.accountLeftInDay);
  to.u8(limits.closing ? 1 : 0);
  invariant(to.length === start + LIMITS_BYTES, 'limits are longer or shorter than they are read');
}

/** The limits that begin at `at`. */
export function readLimits(bytes: Buffer, at: number): TradeLimitsLeft {
  invariant(at >= 0 && at + LIMITS_BYTES <= bytes.length, 'limits lie outside of their answer');
  return {
    atMs: bytes.readDoubleBE(at),
    closing: bytes[at + 72] === 1,
    keyPerMinute: bytes.readDoubleBE(at + 8),
    keyLeftInMinute: bytes.readDoubleBE(at + 16),
    keyPerDay: bytes.readDoubleBE(at + 24),
    keyLeftInDay: bytes.readDoubleBE(at + 32),
    accountPerMinute: bytes.readDoubleBE(at + 40),
    accountLeftInMinute: bytes.readDoubleBE(at + 48),
    accountPerDay: bytes.readDoubleBE(at + 56),
    accountLeftInDay: bytes.readDoubleBE(at + 64),
  };
}
