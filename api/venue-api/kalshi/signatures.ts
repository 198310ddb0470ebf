/**
 * Who signed a request: RSA-PSS with SHA-256 over milliseconds, method and path. Signatures are
 * verified by other threads. Rules A202, A203 (api/RULES.md).
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Uuid } from '../../../engine/base/units.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { ApiError } from '../../base/errors.ts';
import type { HttpContext } from '../../http/http-context.ts';
import type { KeyCaller } from '../../identity/key-access.ts';
import type { Key, Scope } from '../../identity/keys.ts';
import type { ControlStore } from '../../identity/store.ts';
import type { VenueApiKey } from '../../identity/venue-api-keys.ts';

/** Rule A201 (api/RULES.md). */
const SCOPES: readonly Scope[] = ['portfolio:read', 'markets:read', 'trade:write'];
const CLOCK_DIFFERENCE_MAX_MS = 5000;
/** Of one key, and of all: more wait nowhere. */
const VERIFYING_EACH_MAX = 256;
const VERIFYING_MAX = 2048;
/** A client that sends a request again, and the keys of busy clients. */
const VERIFIED_MAX = 4096;
const PUBLIC_KEYS_MAX = 1024;
/** Far more than any signature of ours. */
const SIGNATURE_CHARACTERS_MAX = 1024;
const BUSY = new Unavailable('too many signatures are being verified');

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};

export class Signatures {
  readonly #store: Pick<ControlStore, 'venueApiKeys' | 'users'>;
  readonly #publicKeys = new Map<Uuid, { of: VenueApiKey; publicKey: KeyObject }>();
  /** Of requests that were signed well: key, text and signature. */
  readonly #verified = new Set<string>();
  readonly #verifyingOf = new Map<Uuid, number>();
  #verifying = 0;

  constructor(store: Pick<ControlStore, 'venueApiKeys' | 'users'>) {
    this.#store = store;
  }

  /** Null: the request is not signed. Throws and rejects with the 401. */
  callerOf(http: HttpContext): Promise<KeyCaller> | null {
    const id = http.header('kalshi-access-key').toLowerCase();
    const signature = http.header('kalshi-access-signature');
    const timestamp = http.header('kalshi-access-timestamp');
    if (id === '' && signature === '' && timestamp === '') return null;
    if (id === '' || signature === '' || timestamp === '') {
      throw refused('KALSHI-ACCESS-KEY, -SIGNATURE and -TIMESTAMP go together');
    }
    const atMs = /^\d{13}$/.test(timestamp) ? Number(timestamp) : null;
    if (atMs === null || Math.abs(Date.now() - atMs) > CLOCK_DIFFERENCE_MAX_MS) {
      throw refused('HEADER_TIMESTAMP_EXPIRED');
    }
    const key = isUuid(id) ? this.#store.venueApiKeys.get(id) : undefined;
    if (key === undefined) throw refused('NOT_FOUND');
    if (signature.length > SIGNATURE_CHARACTERS_MAX) throw refused('INCORRECT_API_KEY_SIGNATURE');
    return this.#caller(key, `${timestamp}${http.method}${http.path}`, signature);
  }

  /** The same caller with the present key and owner. Throws the 401. */
  again({ key: { id } }: KeyCaller): KeyCaller {
    const key = this.#store.venueApiKeys.get(id);
    if (key === undefined) throw refused('NOT_FOUND');
    return this.#callerWith(key);
  }

  /** A key as the checks of every route know keys; undefined: it has been revoked. */
  keyOf(id: Uuid): Key | undefined {
    const key = this.#store.venueApiKeys.get(id);
    return key === undefined ? undefined : asKey(key);
  }

  async #caller(key: VenueApiKey, text: string, signature: string): Promise<KeyCaller> {
    const { id } = key;
    const name = `${id} ${text} ${signature}`;
    if (!this.#verified.has(name)) {
      if (!(await this.#isSigned(key, text, signature))) {
        throw refused('INCORRECT_API_KEY_SIGNATURE');
      }
      keepNewest(this.#verified, VERIFIED_MAX);
      this.#verified.add(name);
    }
    const present = this.#store.venueApiKeys.get(id);
    if (present === undefined) throw refused('NOT_FOUND');
    return this.#callerWith(present);
  }

  #callerWith(key: VenueApiKey): KeyCaller {
    const user = this.#store.users.get(key.userId);
    if (user === undefined) throw new ApiError('account_not_found');
    const base = { user, key: asKey(key), credentialId: key.id, scopes: SCOPES } as const;
    return { ...base, placedVia: 'api', token: '' };
  }

  async #isSigned(key: VenueApiKey, text: string, signature: string): Promise<boolean> {
    const { id } = key;
    const ofKey = this.#verifyingOf.get(id) ?? 0;
    if (this.#verifying >= VERIFYING_MAX || ofKey >= VERIFYING_EACH_MAX) throw BUSY;
    this.#verifying++;
    this.#verifyingOf.set(id, ofKey + 1);
    try {
      return await verified(
        this.#publicKey(key),
        Buffer.from(text),
        Buffer.from(signature, 'base64'),
      );
    } finally {
      this.#verifying--;
      const left = this.#verifyingOf.get(id)! - 1;
      if (left === 0) this.#verifyingOf.delete(id);
      else this.#verifyingOf.set(id, left);
    }
  }

  #publicKey(key: VenueApiKey): KeyObject {
    const known = this.#publicKeys.get(key.id);
    if (known?.of === key) return known.publicKey;
    const publicKey = createPublicKey(key.publicKeyPem);
    keepNewest(this.#publicKeys, PUBLIC_KEYS_MAX);
    this.#publicKeys.set(key.id, { of: key, publicKey });
    return publicKey;
  }
}

/** With a callback the work is done by the thread pool of Node. */
function verified(key: KeyObject, text: Buffer, signature: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    verify('sha256', text, { key, ...PSS }, signature, (error, isGood) => {
      resolve(error === null && isGood);
    });
  });
}

/** Drops the oldest entry of a full one. */
function keepNewest(kept: Map<string, unknown> | Set<string>, max: number): void {
  if (kept.size < max) return;
  const [oldest] = kept.keys();
  kept.delete(oldest!);
}

function asKey({ id, userId, label, createdAtMs }: VenueApiKey): Key {
  return {
    ...{ id, userId, label, tokenPrefix: '', hash: '', scopes: [...SCOPES], createdAtMs },
    ...{ lastUsedAtMs: null, expiresAtMs: null, revokedAtMs: null, createdVia: 'web' },
    ...{ rotatedFrom: null, rotatedAtMs: null },
  };
}

export const AUTHENTICATE = ['WWW-Authenticate', 'KALSHI-ACCESS-SIGNATURE'];

function refused(message: string): ApiError {
  return new ApiError('unauthorized', { message, headers: AUTHENTICATE });
}
