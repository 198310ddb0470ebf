/**
 * Keys by the token that a request carries. Hashing it costs more than everything else that is
 * looked up of the key, so it is remembered of a minute's tokens whose they are.
 */
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import { hashOfToken, type Key } from './keys.ts';
import type { ControlStore } from './store.ts';

type Store = Pick<ControlStore, 'keys' | 'keyByHash'>;

const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;

/**
 * Tokens stay in memory, and nowhere else, until a later minute's first request; those of no key
 * are not kept. The key itself is looked up each time, so that one that ended is found ended.
 */
export class RecentTokens {
  readonly #store: Store;
  readonly #ids = new Map<string, Uuid>();
  #minute = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** How many are kept now. */
  get size(): number {
    return this.#ids.size;
  }

  /** Whatever its status; undefined where no key has this token. */
  keyOf(token: string, nowMs: EpochMs): Key | undefined {
    const minute = Math.floor(nowMs / KEPT_MS);
    if (minute !== this.#minute) this.#ids.clear();
    this.#minute = minute;
    const known = this.#ids.get(token);
    if (known !== undefined) return this.#store.keys.get(known);
    const key = this.#store.keyByHash(hashOfToken(token));
    if (key !== undefined && this.#ids.size < KEPT_MAX) this.#ids.set(token, key.id);
    return key;
  }
}
