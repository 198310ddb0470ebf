/**
 * Caches keys by the credential headers of a request. Extracting the token and hashing it costs
 * more than all other lookups of the key. So a minute's headers are mapped to their keys, once they
 * come again. Rule A242 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { hashOfToken } from './keys.ts';
import { Repeats } from './latest-values.ts';
import type { ControlStore } from './store.ts';

const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;
const CHARACTERS_MAX = 256;

/** A token and its key, of any status. `caller` is for the reader of the key, and null at first. */
export type Credential<C = unknown> = {
  readonly token: string;
  readonly keyId: Uuid;
  caller: C | null;
};

/**
 * Tokens stay in memory only, and until the first request of a later minute. Tokens without a key
 * are not cached. Whether a key has ended is asked each time, so that its end takes effect at once.
 */
export class RecentTokens<C = unknown> {
  readonly #store: Pick<ControlStore, 'keyByHash'>;
  readonly #tokenOf: (authorization: string, ownHeader: string) => string | null;
  readonly #known = new Map<string, Credential<C>>();
  readonly #repeats = new Repeats();
  #minute = 0;

  /**
   * @param tokenOf the key that the headers Authorization and x-service-key carry; null: they carry
   *   none; may throw
   */
  constructor(
    store: Pick<ControlStore, 'keyByHash'>,
    tokenOf: (authorization: string, ownHeader: string) => string | null,
  ) {
    this.#store = store;
    this.#tokenOf = tokenOf;
  }

  /** How many tokens are cached now. */
  get size(): number {
    return this.#known.size;
  }

  /** Undefined if no key has this token, null without a token. Throws the errors of `tokenOf`. */
  find(authorization: string, ownHeader: string, nowMs: EpochMs): Credential<C> | null | undefined {
    const minute = Math.floor(nowMs / KEPT_MS);
    if (minute !== this.#minute) this.#known.clear();
    this.#minute = minute;
    const sent = ownHeader === '' ? authorization : `${authorization}\n${ownHeader}`;
    const known = this.#known.get(sent);
    if (known !== undefined) return known;
    const token = this.#tokenOf(authorization, ownHeader);
    if (token === null) return null;
    const key = this.#store.keyByHash(hashOfToken(token));
    if (key === undefined) return undefined;
    const credential = { token, keyId: key.id, caller: null };
    const isShort = sent.length <= CHARACTERS_MAX;
    if (this.#known.size < KEPT_MAX && isShort && this.#repeats.again(sent)) {
      this.#known.set(sent, credential);
    }
    return credential;
  }
}
