/**
 * The hard trade limits as further entries of the fields `RateLimit-Policy` and `RateLimit`. They
 * are in separate lines: a field of several lines is one list (RFC 9110, 5.3). Rule Q14
 * (api/RULES.md).
 */

import { DAY_MS, type EpochMs } from '../../engine/base/units.ts';
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import { type HeaderLines, headerLines } from '../http/header-lines.ts';

const MINUTE_MS = 60_000;

/** The policies of the last limits, which most orders share. */
const last = { new: policiesOf(null), closing: policiesOf(null) };

type Policies = { of: TradeLimitsLeft | null; lines: HeaderLines };

/** The lines of an answer to an order or a cancel. */
export function tradeLimitLines(limits: TradeLimitsLeft): HeaderLines {
  const kind = limits.closing ? 'closing' : 'new';
  if (!hasSamePolicies(limits, last[kind].of)) last[kind] = policiesOf(limits);
  return `${last[kind].lines}\r\nRateLimit: ${leftText(limits)}` as HeaderLines;
}

/**
 * The constant part of all answers of a second. Every order has it, so it is joined from pieces.
 */
class ResetPieces {
  #second = -1;
  keyDay = '';
  accountMinute = '';
  accountDay = '';
  accountClosing = '';
  inMinute = '';
  inDay = '';

  set(atMs: EpochMs): void {
    const second = Math.floor(atMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.inMinute = `;t=${secondsLeft(atMs, MINUTE_MS)}`;
    this.inDay = `;t=${secondsLeft(atMs, DAY_MS)}`;
    this.keyDay = `${this.inMinute}, "key-day";r=`;
    this.accountMinute = `${this.inDay}, "account-minute";r=`;
    this.accountDay = `${this.inMinute}, "account-day";r=`;
    this.accountClosing = `${this.inMinute}, "account-closing-minute";r=`;
  }
}

const resets = new ResetPieces();

function leftText(limits: TradeLimitsLeft): string {
  const { atMs, keyLeftInMinute, accountLeftInMinute } = limits;
  resets.set(atMs);
  if (limits.closing) {
    const { accountClosing, inMinute } = resets;
    return `"key-closing-minute";r=${keyLeftInMinute}${accountClosing}${accountLeftInMinute}${inMinute}`;
  }
  const { keyLeftInDay, accountLeftInDay } = limits;
  const { keyDay, accountMinute, accountDay, inDay } = resets;
  const ofKey = `"key-minute";r=${keyLeftInMinute}${keyDay}${keyLeftInDay}`;
  return `${ofKey}${accountMinute}${accountLeftInMinute}${accountDay}${accountLeftInDay}${inDay}`;
}

const secondsLeft = (atMs: EpochMs, windowMs: number) =>
  Math.ceil((windowMs - (atMs % windowMs)) / 1000);

function policiesOf(limits: TradeLimitsLeft | null): Policies {
  if (limits === null) return { of: null, lines: headerLines([]) };
  const { closing, keyPerMinute, keyPerDay, accountPerMinute, accountPerDay } = limits;
  const text = closing
    ? `"key-closing-minute";q=${keyPerMinute};w=60, ` +
      `"account-closing-minute";q=${accountPerMinute};w=60`
    : `"key-minute";q=${keyPerMinute};w=60, "key-day";q=${keyPerDay};w=86400, ` +
      `"account-minute";q=${accountPerMinute};w=60, "account-day";q=${accountPerDay};w=86400`;
  return { of: limits, lines: headerLines(['RateLimit-Policy', text]) };
}

function hasSamePolicies(limits: TradeLimitsLeft, other: TradeLimitsLeft | null): boolean {
  return (
    limits.keyPerMinute === other?.keyPerMinute &&
    limits.keyPerDay === other.keyPerDay &&
    limits.accountPerMinute === other.accountPerMinute &&
    limits.accountPerDay === other.accountPerDay
  );
}
