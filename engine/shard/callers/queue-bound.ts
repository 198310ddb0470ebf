/**
 * How many requests may wait for a shard. A request that would wait too long is better refused at
 * once, so the bound is a time. The shard answers so many in that time, at the rate that was
 * measured while requests waited. Rules D6, D7 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';

/**
 * How long the last accepted request waits for the shard. In a flood it has waited before that too.
 */
const WAIT_MAX_MS = 75;
/**
 * At least this many may wait, even in a slow moment: callers who each wait for their answer, two
 * thousand at a time, are never refused.
 */
const REQUESTS_MIN = 2048;
/**
 * A rate is measured over at least so long. A rate that is measured over less than the second
 * counts less.
 */
const SAMPLE_MS = 20;
const SETTLED_MS = 200;
/** One sample of a moment in which the disk was blocked is no rate. */
const SHARE_MAX = 0.5;

export class QueueBound {
  readonly #requestsMax: number;
  /** In milliseconds of a clock that never goes back. */
  readonly #now: () => number;
  #waiting = 0;
  /** Answers per millisecond; until one is measured, the rate that gives the highest bound. */
  #rate: number;
  /** Since when requests have always waited, or since the last sample. */
  #sinceMs = 0;
  #answers = 0;

  constructor(requestsMax: number, now: () => number = () => performance.now()) {
    this.#requestsMax = requestsMax;
    this.#now = now;
    this.#rate = requestsMax / WAIT_MAX_MS;
  }

  /** Requests that wait for their answer. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Requests that may wait now. */
  get requests(): number {
    return Math.min(this.#requestsMax, Math.max(REQUESTS_MIN, this.#rate * WAIT_MAX_MS));
  }

  came(): void {
    if (this.#waiting++ === 0) this.#begin();
  }

  answered(): void {
    invariant(this.#waiting > 0, 'more requests were answered than arrived');
    this.#waiting--;
    this.#answers++;
  }

  /** These get no answer. */
  lost(requests: number): void {
    invariant(requests >= 0 && requests <= this.#waiting, 'more requests were lost than arrived');
    this.#waiting -= requests;
  }

  /** Measures the rate, if requests have waited all the time. */
  measure(): void {
    if (this.#waiting === 0) return;
    const tookMs = this.#now() - this.#sinceMs;
    invariant(tookMs >= 0, 'a clock that never goes back has gone back');
    if (tookMs < SAMPLE_MS) return;
    const share = Math.min(SHARE_MAX, tookMs / SETTLED_MS);
    this.#rate += (this.#answers / tookMs - this.#rate) * share;
    this.#begin();
  }

  #begin(): void {
    this.#sinceMs = this.#now();
    this.#answers = 0;
  }
}
