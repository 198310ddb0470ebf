/**
 * Keys by the token that a request carries. Hashing it costs more than everything else that is
 * looked up of the key, so the hashes of a minute's tokens are remembered.
 */
import type { EpochMs } from '../../engine/core/units.ts';
import { hashOfToken, type Key } from './keys.ts';
import type { ControlStore } from './store.ts';

const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;

/**
 * Tokens stay in memory, and nowhere else, until a later minute's first request; those of no key
 * are not kept. The key itself is looked up each time, so that one that ended is found ended.
 */
export class RecentTokens {
  readonly #store: Pick<ControlStore, 'keyByHash'>;
  readonly #hashes = new Map<string, string>();
  #minute = 0;

  constructor(store: Pick<ControlStore, 'keyByHash'>) {
    this.#store = store;
  }

  /** How many are kept now. */
  get size(): number {
    return this.#hashes.size;
  }

  /** Whatever its status; undefined where no key has this token. */
  keyOf(token: string, nowMs: EpochMs): Key | undefined {
    const minute = Math.floor(nowMs / KEPT_MS);
    if (minute !== this.#minute) this.#hashes.clear();
    this.#minute = minute;
    const known = this.#hashes.get(token);
    if (known !== undefined) return this.#store.keyByHash(known);
    const hash = hashOfToken(token);
    const key = this.#store.keyByHash(hash);
    if (key !== undefined && this.#hashes.size < KEPT_MAX) this.#hashes.set(token, hash);
    return key;
  }
}
