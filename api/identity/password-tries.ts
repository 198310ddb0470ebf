/**
 * Limits how often passwords may be tried: by account and address together, and by account over all
 * addresses that never signed in to it. An account is identified by its sign-in name, so a name
 * without an account behaves the same. The counts are in memory, bounded, and lost at a restart.
 * Rules I37, I38 (api/RULES.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import { Attempts } from './attempts.ts';
import { AuthError } from './auth-errors.ts';
import { tooManySignIns } from './passwords.ts';

const MINUTE_MS = 60_000;
/** Failures of an account from one address. */
const FAILURES_MAX = 10;
const FAILURES_WITHIN_MS = 5 * MINUTE_MS;
/** Failures of an account from all strangers together; each further one lengthens their wait. */
const STRANGERS_FAILURES_MAX = 50;
const STRANGERS_WITHIN_MS = 60 * MINUTE_MS;
const STRANGERS_WAIT_MAX_MS = MINUTE_MS;
/** With so many the wait, which starts at a second and doubles, is at its longest. */
const STRANGERS_FAILURES_KEPT = STRANGERS_FAILURES_MAX + 6;
/** Attempts of a stranger's address on any accounts, in five minutes. */
const TRIES_OF_ADDRESS_MAX = 60;

const WELCOME_MS = 30 * 86_400_000;
const WELCOME_ADDRESSES_MAX = 10;
const WELCOME_ACCOUNTS_MAX = 20_000;

export class PasswordTries {
  readonly #nowMs: () => EpochMs;
  /** By account and address together. */
  readonly #ofPair = new Failures(FAILURES_MAX, FAILURES_WITHIN_MS);
  readonly #ofStrangers = new Failures(STRANGERS_FAILURES_KEPT, STRANGERS_WITHIN_MS);
  readonly #ofAddress = new Attempts(TRIES_OF_ADDRESS_MAX, FAILURES_WITHIN_MS);
  /** By account: when each address last signed in to it. The latest are at the end. */
  readonly #welcome = new Map<string, Map<string, EpochMs>>();
  readonly #turns = new Turns();

  constructor(nowMs: () => EpochMs = Date.now) {
    this.#nowMs = nowMs;
  }

  /**
   * Resolves to the result of `isRight`. Rejects with `over_request_rate_limit` when the password
   * must not be tried now, and with 503 when too many wait. Attempts on one account run in turn. So
   * only as many attempts as the limit allows can fail at once, and no correct one is refused.
   */
  async run(account: string, address: string, isRight: () => Promise<boolean>): Promise<boolean> {
    const isStranger = !this.#isWelcome(account, address);
    const pair = `${address}\n${account}`;
    return await this.#turns.take(isStranger ? `\n${account}` : pair, async () => {
      refuseExcess(this.#secondsToWait(account, pair, isStranger));
      if (isStranger) refuseExcess(this.#ofAddress.take(address, this.#nowMs()));
      const found = await isRight();
      if (found) {
        this.#ofPair.forget(pair);
        this.welcome(account, address);
      } else {
        this.#ofPair.add(pair, this.#nowMs());
        if (isStranger) this.#ofStrangers.add(account, this.#nowMs());
      }
      return found;
    });
  }

  /** Records a sign-in from an address: failures of others do not block it for 30 days. */
  welcome(account: string, address: string): void {
    const addresses = this.#welcome.get(account) ?? new Map<string, EpochMs>();
    putLast(addresses, address, this.#nowMs(), WELCOME_ADDRESSES_MAX);
    putLast(this.#welcome, account, addresses, WELCOME_ACCOUNTS_MAX);
  }

  #isWelcome(account: string, address: string): boolean {
    const atMs = this.#welcome.get(account)?.get(address);
    return atMs !== undefined && this.#nowMs() - atMs < WELCOME_MS;
  }

  #secondsToWait(account: string, pair: string, isStranger: boolean): number {
    const nowMs = this.#nowMs();
    const own = this.#ofPair.of(pair, nowMs);
    const ownEndMs = own.length < FAILURES_MAX ? 0 : own[0]! + FAILURES_WITHIN_MS;
    const others = isStranger ? this.#ofStrangers.of(account, nowMs) : [];
    const excess = others.length - STRANGERS_FAILURES_MAX;
    const waitMs = excess < 0 ? 0 : Math.min(1000 * 2 ** excess, STRANGERS_WAIT_MAX_MS);
    const othersEndMs = waitMs === 0 ? 0 : others.at(-1)! + waitMs;
    return Math.max(0, Math.ceil((Math.max(ownEndMs, othersEndMs) - nowMs) / 1000));
  }
}

/** Adds an entry at the end; drops the oldest entry when there are too many. */
function putLast<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}

/** Throws the 429 when there are seconds to wait. */
export function refuseExcess(retryAfterSeconds: number): void {
  if (retryAfterSeconds === 0) return;
  throw new AuthError('over_request_rate_limit', { retryAfterSeconds });
}

/** Enough for a crowd. Beyond it the oldest failures are dropped. */
const TRIERS_MAX = 50_000;

/** The recent failures of each caller, in memory and bounded. */
export class Failures {
  /** Ordered by the newest failure of each. */
  readonly #times = new Map<string, EpochMs[]>();
  readonly #kept: number;
  readonly #withinMs: number;

  /** Keeps the latest `kept` failures of each caller. */
  constructor(kept: number, withinMs: number) {
    this.#kept = kept;
    this.#withinMs = withinMs;
  }

  /** The failures within the period, the latest at the end. */
  of(who: string, nowMs: EpochMs): EpochMs[] {
    const times = this.#times.get(who) ?? [];
    return times.filter((atMs) => nowMs - atMs < this.#withinMs);
  }

  add(who: string, nowMs: EpochMs): void {
    const times = [...this.of(who, nowMs), nowMs].slice(-this.#kept);
    this.#times.delete(who);
    this.#times.set(who, times);
    for (const [oldest, itsTimes] of this.#times) {
      const isOver = nowMs - itsTimes.at(-1)! >= this.#withinMs;
      if (!isOver && this.#times.size <= TRIERS_MAX) return;
      this.#times.delete(oldest);
    }
  }

  /** Drops the failures of a caller who has succeeded. */
  forget(who: string): void {
    this.#times.delete(who);
  }
}

/** Tasks of one key that may wait for the running one. */
const WAITING_TASKS_MAX = 32;

type Line = { length: number; end: Promise<unknown> };

/** Runs tasks with the same key one after another, in memory and bounded. */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /** Runs once all earlier tasks with this key are done. Rejects with 503 when too many wait. */
  async take<T>(key: string, run: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { length: 0, end: Promise.resolve() };
    if (line.length > WAITING_TASKS_MAX) throw tooManySignIns();
    this.#lines.set(key, line);
    line.length++;
    const result = line.end.then(run);
    // The next one runs, whether this one failed or not.
    line.end = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      if (--line.length === 0) this.#lines.delete(key);
    }
  }
}
