/**
 * The rate-limit headers. They are joined from cached pieces, since every answer has them and only
 * their numbers differ. Rules Q9, Q10 (api/RULES.md).
 */
import type { HeaderLines } from '../http/header-lines.ts';
import type { Plan, RequestLimits } from '../identity/users.ts';
import type { Windows } from './windows.ts';

/** The advised calls per minute for an address without a key. Rule Q10 (api/RULES.md). */
export const ADDRESS_PER_MINUTE = 60;

const ADDRESS_HEAD = [
  '',
  `RateLimit-Limit: ${ADDRESS_PER_MINUTE}`,
  `RateLimit-Policy: "address";q=${ADDRESS_PER_MINUTE};w=60`,
  'RateLimit-Remaining: ',
].join('\r\n');

/** The part that is the same in every answer to an account within a month. */
export function accountHead(
  plan: Plan,
  { perMinute, perMonth }: RequestLimits,
  monthSeconds: number,
): string {
  return [
    '',
    `Service-Plan: ${plan}`,
    `RateLimit-Limit: ${perMinute}`,
    `Service-Quota-Limit: ${perMonth}`,
    `RateLimit-Policy: "minute";q=${perMinute};w=60, "month";q=${perMonth};w=${monthSeconds}`,
    'RateLimit-Remaining: ',
  ].join('\r\n');
}

/** The part that is the same in all answers of a second. */
export class ResetText {
  #minute = '';
  #month = '';
  #address = '';

  constructor(windows: Windows) {
    this.set(windows);
  }

  set({ minuteResetSeconds, monthResetSeconds }: Windows): void {
    const minuteReset = `\r\nRateLimit-Reset: ${minuteResetSeconds}`;
    const monthReset = `\r\nService-Quota-Reset: ${monthResetSeconds}`;
    this.#minute = `;t=${minuteResetSeconds}, "month";r=`;
    this.#month = `;t=${monthResetSeconds}${minuteReset}${monthReset}`;
    this.#address = `;t=${minuteResetSeconds}${minuteReset}`;
  }

  /** For an account whose header lines begin with `head`. */
  account(head: string, inMinute: number, inMonth: number): HeaderLines {
    const remaining = `${head}${inMinute}\r\nService-Quota-Remaining: ${inMonth}`;
    const field = `\r\nRateLimit: "minute";r=${inMinute}${this.#minute}${inMonth}${this.#month}`;
    // Our own numbers and texts contain no line ends but the intended ones.
    return (remaining + field) as HeaderLines;
  }

  /** For a call without a key. */
  address(remaining: number): HeaderLines {
    const field = `\r\nRateLimit: "address";r=${remaining}${this.#address}`;
    return `${ADDRESS_HEAD}${remaining}${field}` as HeaderLines;
  }
}
