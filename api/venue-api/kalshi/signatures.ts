/**
 * Who signed a request: RSA-PSS with SHA-256 over milliseconds, method and path. Signatures are
 * verified by other threads, except of a handshake. Rules A202, A203 (api/RULES.md).
 */
import type { Uuid } from '../../../engine/base/units.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { ApiError } from '../../base/errors.ts';
import type { HttpContext } from '../../http/http-context.ts';
import type { KeyCaller } from '../../identity/key-access.ts';
import type { Key, Scope } from '../../identity/keys.ts';
import type { ControlStore } from '../../identity/store.ts';
import type { User } from '../../identity/users.ts';
import type { VenueApiKey } from '../../identity/venue-api-keys.ts';
import { isSigned } from './signed-text.ts';
import type { Verifiers } from './verifiers.ts';

/** Rule A201 (api/RULES.md). */
const SCOPES: readonly Scope[] = ['portfolio:read', 'markets:read', 'trade:write'];
const CLOCK_DIFFERENCE_MAX_MS = 5000;
/** Of one key, and of all: more wait nowhere. */
const VERIFYING_EACH_MAX = 256;
const VERIFYING_MAX = 2048;
/** Far more than any signature of ours. */
const SIGNATURE_CHARACTERS_MAX = 1024;
const BUSY = new Unavailable('too many signatures are being verified');

export class Signatures {
  readonly #store: Pick<ControlStore, 'venueApiKeys' | 'users'>;
  readonly #verifiers: Pick<Verifiers, 'verify'>;
  readonly #verified = new VerifiedRequests();
  readonly #verifyingOf = new Map<Uuid, number>();
  #verifying = 0;
  /** As long as neither key nor owner changes. */
  readonly #callers = new WeakMap<VenueApiKey, { of: User; caller: KeyCaller }>();

  constructor(
    store: Pick<ControlStore, 'venueApiKeys' | 'users'>,
    verifiers: Pick<Verifiers, 'verify'>,
  ) {
    this.#store = store;
    this.#verifiers = verifiers;
  }

  /**
   * Null: the request is not signed. Throws and rejects with the 401. Of a handshake it is known
   * within the turn, in which the handshake is accepted best.
   */
  callerOf(http: HttpContext): KeyCaller | Promise<KeyCaller> | null {
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
    const text = `${timestamp}${http.method}${http.path}`;
    if (http.handshake === null) return this.#caller(key, text, signature);
    if (!isSigned(key.publicKeyPem, text, signature)) throw refused('INCORRECT_API_KEY_SIGNATURE');
    return this.#callerWith(key);
  }

  /** The same caller with the present key and owner. Throws the 401. */
  again({ key: { id } }: KeyCaller): KeyCaller {
    return this.#presentCaller(id);
  }

  /** A key as the checks of every route know keys; undefined: it has been revoked. */
  keyOf(id: Uuid): Key | undefined {
    const key = this.#store.venueApiKeys.get(id);
    return key === undefined ? undefined : this.#callerWith(key).key;
  }

  #caller(key: VenueApiKey, text: string, signature: string): Promise<KeyCaller> {
    const name = `${signature} ${text} ${key.id}`;
    if (this.#verified.has(name)) return Promise.resolve(this.#callerWith(key));
    const { id } = key;
    const ofKey = this.#verifyingOf.get(id) ?? 0;
    if (this.#verifying >= VERIFYING_MAX || ofKey >= VERIFYING_EACH_MAX) throw BUSY;
    this.#verifying++;
    this.#verifyingOf.set(id, ofKey + 1);
    return new Promise((resolve, reject) => {
      this.#verifiers.verify({
        ...{ publicKeyPem: key.publicKeyPem, text, signature },
        resolve: (isGood) => {
          this.#verifiedOne(id);
          try {
            if (!isGood) throw refused('INCORRECT_API_KEY_SIGNATURE');
            this.#verified.add(name);
            resolve(this.#presentCaller(id));
          } catch (error) {
            reject(error);
          }
        },
        reject: (error) => {
          this.#verifiedOne(id);
          reject(error);
        },
      });
    });
  }

  /** The key may have been revoked meanwhile. */
  #presentCaller(id: Uuid): KeyCaller {
    const present = this.#store.venueApiKeys.get(id);
    if (present === undefined) throw refused('NOT_FOUND');
    return this.#callerWith(present);
  }

  #verifiedOne(id: Uuid): void {
    this.#verifying--;
    const left = this.#verifyingOf.get(id)! - 1;
    if (left === 0) this.#verifyingOf.delete(id);
    else this.#verifyingOf.set(id, left);
  }

  #callerWith(key: VenueApiKey): KeyCaller {
    const user = this.#store.users.get(key.userId);
    if (user === undefined) throw new ApiError('account_not_found');
    const known = this.#callers.get(key);
    if (known?.of === user) return known.caller;
    const base = { user, key: asKey(key), credentialId: key.id, scopes: SCOPES } as const;
    const caller: KeyCaller = { ...base, placedVia: 'api', token: '', seen: null };
    this.#callers.set(key, { of: user, caller });
    return caller;
  }
}

/** A power of two. */
const PLACES = 4096;
/** Longer ones are not kept: a signature of ours with the longest path has 500. */
const PLACE_BYTES = 640;
const COMPARED_FIRST = 16;

/**
 * The requests that were signed well, for a client that sends one again: signature, text and key.
 * They are bytes in places that their signatures choose, so that no garbage is made; one takes the
 * place of another.
 */
class VerifiedRequests {
  readonly #bytes = Buffer.alloc(PLACES * PLACE_BYTES);
  readonly #lengths = new Uint16Array(PLACES);

  has(name: string): boolean {
    const place = placeOf(name);
    const start = place * PLACE_BYTES;
    const length = this.#lengths[place]!;
    if (
      this.#bytes.toString('utf8', start, start + COMPARED_FIRST) !== name.slice(0, COMPARED_FIRST)
    )
      return false;
    return this.#bytes.toString('utf8', start, start + length) === name;
  }

  add(name: string): void {
    const length = Buffer.byteLength(name);
    if (length > PLACE_BYTES) return;
    const place = placeOf(name);
    this.#lengths[place] = this.#bytes.write(name, place * PLACE_BYTES);
  }
}

/** Of the first characters of a signature, which are random. */
function placeOf(name: string): number {
  const [a, b, c] = [name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)];
  return ((a * 61 + b) * 61 + c) % PLACES;
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
