/**
 * Counts every request of the public API and applies its limits. Rules A162, Q4 to Q8, Q10
 * (api/RULES.md).
 *
 * A request is counted before it is answered, so that concurrent requests cannot exceed a limit
 * together. The count is undone when the answer is 429.
 */
import type { Uuid } from '../../engine/base/units.ts';
import { ApiError } from '../base/errors.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import type { HttpContext, QuotaReservation } from '../http/http-context.ts';
import { LatestValues } from '../identity/latest-values.ts';
import type { Plan, RequestLimits, User } from '../identity/users.ts';
import type { Count } from './count.ts';
import { ADDRESS_PER_MINUTE, accountHead, ResetText } from './headers.ts';
import { requestLimitsOf } from './plans.ts';
import type { Counts } from './request-counts.ts';

/** Addresses kept per minute. A flood of others drops entries instead of growing the memory. */
const ADDRESSES_MAX = 10_000;
/** Operators give few accounts limits of their own. */
const HEADS_MAX = 1000;

type MeterOptions = {
  counts: Counts;
  /** Whether a request over a limit is refused: PAPERBOOK_LIMITS_ENFORCED. */
  enforced: boolean;
};

/** The numbers in the headers of an answer. */
export type Usage = {
  minute: { limit: number; remaining: number; resetSeconds: number };
  month: { limit: number; used: number; remaining: number; resetSeconds: number };
};

/** The usage of a key. */
export interface KeyUsage {
  /** Requests counted against the key in this UTC month. Rule I8 (api/RULES.md). */
  requestsThisMonth(keyId: Uuid): number;
}

export class RequestMeter implements KeyUsage {
  readonly enforced: boolean;
  /** For calls without a key. */
  readonly unkeyed: QuotaReservation;
  readonly #state: MeterState;

  constructor({ enforced, counts }: MeterOptions) {
    this.enforced = enforced;
    this.#state = new MeterState(counts);
    this.unkeyed = new AddressReservation(this.#state);
  }

  /** A reservation for a request of a visitor without an account. Rule A162 (api/RULES.md). */
  guest(network: string): GuestReservation {
    return new GuestReservation(this.#state, this.enforced, network);
  }

  /**
   * A reservation for a request with this key; null: with a session, which counts for the account
   * alone. Nothing is counted before `count`.
   */
  keyed(user: User, keyId: Uuid | null): AccountReservation {
    return new AccountReservation(this.#state, this.enforced, user, keyId);
  }

  usage(user: User): Usage {
    this.#state.advance();
    const { counts } = this.#state;
    const { minute, minuteResetSeconds, monthResetSeconds } = counts.windows;
    const { perMinute, perMonth } = requestLimitsOf(user);
    const count = counts.of(user.id);
    return {
      minute: {
        limit: perMinute,
        remaining: Math.max(0, perMinute - count.within(minute)),
        resetSeconds: minuteResetSeconds,
      },
      month: {
        limit: perMonth,
        used: count.inMonth,
        remaining: Math.max(0, perMonth - count.inMonth),
        resetSeconds: monthResetSeconds,
      },
    };
  }

  requestsThisMonth(keyId: Uuid): number {
    this.#state.advance();
    return this.#state.counts.inMonth(keyId);
  }

  /** Writes the counts for the last time; call it before the control store is closed. */
  async close(): Promise<void> {
    await this.#state.counts.close();
  }
}

/** The counts, and the texts of headers that many answers share. */
class MeterState {
  readonly counts: Counts;
  readonly guests = new AddressCounts();
  readonly resetText: ResetText;
  /** By the id of the key, or of a session's account. */
  #latest = new LatestValues<Used>();
  /** By plan and limits, which most accounts share. */
  readonly #heads = new Map<string, string>();
  #month: string;

  constructor(counts: Counts) {
    this.counts = counts;
    this.resetText = new ResetText(this.counts.windows);
    this.#month = this.counts.windows.month;
  }

  advance(): void {
    if (!this.counts.advance()) return;
    const { windows } = this.counts;
    this.resetText.set(windows);
    if (windows.month === this.#month) return;
    this.#month = windows.month;
    this.#heads.clear();
    this.#latest = new LatestValues();
  }

  used(user: User, keyId: Uuid | null): Used {
    const id = keyId ?? user.id;
    const known = this.#latest.get(id);
    if (known?.user === user) return known;
    const limits = requestLimitsOf(user);
    const used = {
      user,
      limits,
      head: this.#headOf(user.plan, limits),
      account: this.counts.of(user.id),
      key: keyId === null ? null : this.counts.of(keyId),
    };
    this.#latest.set(id, used);
    return used;
  }

  #headOf(plan: Plan, limits: RequestLimits): string {
    const name = `${plan} ${limits.perMinute} ${limits.perMonth}`;
    let head = this.#heads.get(name);
    if (head !== undefined) return head;
    head = accountHead(plan, limits, this.counts.windows.monthSeconds);
    if (this.#heads.size >= HEADS_MAX) this.#heads.clear();
    this.#heads.set(name, head);
    return head;
  }
}

/**
 * The usage of a key, or of sessions, in a month: limits, counts, the fixed part of the headers.
 */
type Used = {
  user: User;
  limits: RequestLimits;
  head: string;
  account: Count;
  key: Count | null;
};

/** A request with a key, from its credential to its answer. */
export class AccountReservation implements QuotaReservation {
  readonly isByAddress = false;
  readonly #state: MeterState;
  readonly #enforced: boolean;
  readonly #used: Used;
  readonly #minute: number;
  #counted = 0;

  constructor(state: MeterState, enforced: boolean, user: User, keyId: Uuid | null) {
    state.advance();
    this.#state = state;
    this.#enforced = enforced;
    this.#used = state.used(user, keyId);
    this.#minute = state.counts.windows.minute;
  }

  count(requests: number): void {
    const { account, key } = this.#used;
    this.#add(account, requests);
    if (key !== null) this.#add(key, requests);
    this.#counted += requests;
  }

  /**
   * Throws `quota_exceeded` or `rate_limited` when limits are enforced and the count exceeds them;
   * the month first, since waiting a minute would not help.
   */
  refuseOver(): void {
    if (!this.#enforced) return;
    const { minuteResetSeconds, monthResetSeconds } = this.#state.counts.windows;
    const { limits } = this.#used;
    // As it was after this request: what others add meanwhile refuses them, and not this one.
    const { monthAfter: inMonth, minuteAfter: inMinute } = this.#used.account;
    if (inMonth > limits.perMonth) {
      throw new ApiError('quota_exceeded', {
        message: this.#messageOf(inMonth, limits.perMonth, 'month'),
        retryAfterSeconds: monthResetSeconds,
      });
    }
    if (inMinute > limits.perMinute) {
      throw new ApiError('rate_limited', {
        message: this.#messageOf(inMinute, limits.perMinute, 'minute'),
        retryAfterSeconds: minuteResetSeconds,
      });
    }
  }

  /** Undoes the count of a 429; a hard trade limit is one too. Rule Q4 (api/RULES.md). */
  commit(status: number): void {
    if (status !== 429 || this.#counted === 0) return;
    const { account, key } = this.#used;
    this.#takeBack(account);
    if (key !== null) this.#takeBack(key);
    this.#counted = 0;
  }

  #add(count: Count, requests: number): void {
    count.add(requests, this.#minute);
    this.#state.counts.changed(count);
  }

  #takeBack(count: Count): void {
    count.takeBack(this.#counted, this.#minute);
    this.#state.counts.changed(count);
  }

  headers(): HeaderLines {
    this.#state.advance();
    const { counts, resetText } = this.#state;
    const { month, minute } = counts.windows;
    // The month can end before the answer.
    const isCurrent = this.#used.account.month === month;
    const { head, limits, account } = isCurrent
      ? this.#used
      : this.#state.used(this.#used.user, this.#used.key?.id ?? null);
    return resetText.account(
      head,
      Math.max(0, limits.perMinute - account.within(minute)),
      Math.max(0, limits.perMonth - account.inMonth),
    );
  }

  #messageOf(used: number, limit: number, window: string): string {
    const counted = this.#counted;
    if (counted === 1) return `The account is at its limit of ${limit} requests a ${window}.`;
    const left = limit - (used - counted);
    return (
      `The request counts as ${counted}, ` +
      `and the account has ${left} left of its ${limit} requests a ${window}.`
    );
  }
}

/** The calls of each address in the present minute. */
class AddressCounts {
  readonly #calls = new Map<string, number>();
  #minute = 0;

  /** @returns the calls of the address in this minute, after these */
  add(address: string, calls: number, minute: number): number {
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#calls.clear();
    }
    const known = this.#calls.get(address);
    if (known === undefined && this.#calls.size >= ADDRESSES_MAX) {
      const [oldest] = this.#calls.keys();
      this.#calls.delete(oldest!);
    }
    const after = (known ?? 0) + calls;
    this.#calls.set(address, after);
    return after;
  }
}

/** A visitor's request: counted by network, and refused over its minute if limits are enforced. */
class GuestReservation implements QuotaReservation {
  readonly isByAddress = false;
  readonly #state: MeterState;
  readonly #enforced: boolean;
  readonly #network: string;
  #counted = 0;
  #inMinute = 0;

  constructor(state: MeterState, enforced: boolean, network: string) {
    state.advance();
    this.#state = state;
    this.#enforced = enforced;
    this.#network = network;
  }

  count(requests: number): void {
    this.#counted += requests;
    this.#add(requests);
  }

  refuseOver(): void {
    if (!this.#enforced || this.#inMinute <= ADDRESS_PER_MINUTE) return;
    throw new ApiError('rate_limited', {
      message: `The address is at its limit of ${ADDRESS_PER_MINUTE} requests a minute. Sign in for an own limit.`,
      retryAfterSeconds: this.#state.counts.windows.minuteResetSeconds,
    });
  }

  commit(status: number): void {
    if (status !== 429 || this.#counted === 0) return;
    this.#add(-this.#counted);
    this.#counted = 0;
  }

  headers(): HeaderLines {
    this.#state.advance();
    this.#add(0);
    return this.#state.resetText.address(Math.max(0, ADDRESS_PER_MINUTE - this.#inMinute));
  }

  #add(requests: number): void {
    const { minute } = this.#state.counts.windows;
    this.#inMinute = Math.max(0, this.#state.guests.add(this.#network, requests, minute));
  }
}

/** Calls without a key: counted by address, never refused. Rule Q10 (api/RULES.md). */
class AddressReservation implements QuotaReservation {
  readonly isByAddress = true;
  readonly #state: MeterState;
  readonly #calls = new AddressCounts();

  constructor(state: MeterState) {
    this.#state = state;
  }

  commit(): void {}

  headers(http: HttpContext): HeaderLines {
    this.#state.advance();
    const { resetText, counts } = this.#state;
    // This call too.
    const calls = this.#calls.add(http.remoteAddress(), 1, counts.windows.minute);
    return resetText.address(Math.max(0, ADDRESS_PER_MINUTE - calls));
  }
}
