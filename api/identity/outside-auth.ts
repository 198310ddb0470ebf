/**
 * An outside auth server in place of the embedded one: its tokens are verified against its JWKS,
 * and a new person's first valid session creates a user. Rules I42, I43 (api/RULES.md).
 */
import {
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from 'jose';
import { parseJson } from '../../engine/base/bounded-json.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import { uuidOfText } from '../base/uuid.ts';
import type { Config } from '../config/settings.ts';
import { readToken, type TokenClaims } from './access-token.ts';
import type { Person, SessionSource } from './session-access.ts';
import type { ControlStore } from './store.ts';
import { isEmail, newUser, type Plan, type User } from './users.ts';

const TIMEOUT_MS = 5000;
/** An unknown key id leads to another fetch of the keys, but at most this often. */
const COOLDOWN_MS = 30_000;
const CACHE_MS = 600_000;
/** Of a JWKS. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** A verified token is not verified again within this time. */
const VERIFIED_MS = 60_000;
const VERIFIED_MAX = 10_000;

/** Algorithms whose verifying key is public; a shared secret must not be in a JWKS. */
const ALGORITHMS = [
  ...['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
];

export class OutsideAuth implements SessionSource {
  readonly #store: ControlStore;
  readonly #issuer: string;
  readonly #keys: JWTVerifyGetKey;
  readonly #log: Log;
  readonly #plan: Plan;
  /** By token; forgotten together. */
  readonly #verified = new Map<string, TokenClaims>();
  #forgetAtMs = 0;

  /** `plan`: of new users. */
  constructor(
    { jwksUrl, issuer }: NonNullable<Config['outsideAuth']>,
    store: ControlStore,
    log: Log,
    plan: Plan,
  ) {
    this.#store = store;
    this.#issuer = issuer;
    this.#log = log;
    this.#plan = plan;
    this.#keys = createRemoteJWKSet(new URL(jwksUrl), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: CACHE_MS,
      [customFetch]: fetchBounded,
    });
  }

  async personOf(accessToken: string): Promise<Person | null> {
    const claims = await this.#read(accessToken);
    if (claims === null) return null;
    if (claims.isGuest) return 'guest';
    const { subject, sessionId, validUntilMs } = claims;
    // Without the claim, all of a person's sessions are one.
    const session = JSON.stringify([this.#issuer, subject, sessionId]);
    return { user: await this.#userOf(claims), sessionId: uuidOfText(session), validUntilMs };
  }

  /** Only its own server knows when a session ends. Here a session lasts as long as its token. */
  isLive(): boolean {
    return true;
  }

  /** Of a token that was verified before within the turn, as `readOwnToken`; it may have ended. */
  async #read(accessToken: string): Promise<TokenClaims | null> {
    const nowMs = Date.now();
    if (nowMs >= this.#forgetAtMs || this.#verified.size >= VERIFIED_MAX) {
      this.#verified.clear();
      this.#forgetAtMs = nowMs + VERIFIED_MS;
    }
    const known = this.#verified.get(accessToken);
    if (known !== undefined) return known;
    const claims = await this.#verify(accessToken);
    if (claims !== null) this.#verified.set(accessToken, claims);
    return claims;
  }

  async #verify(accessToken: string): Promise<TokenClaims | null> {
    try {
      const expected = { algorithms: ALGORITHMS, issuer: this.#issuer };
      return await readToken(accessToken, this.#keys, expected);
    } catch (error) {
      this.#log.warn({ err: error }, 'the keys of the auth server cannot be had');
      throw new ApiError('internal_error', {
        status: 503,
        message: 'The auth server cannot be reached now.',
        retryAfterSeconds: 5,
      });
    }
  }

  async #userOf({ subject, email: claimed, isEmailVerified }: TokenClaims): Promise<User> {
    const { users } = this.#store;
    const email = claimed !== null && isEmail(claimed) ? claimed : null;
    const known = users.get(this.#store.subjects.get(this.#issuer, subject) ?? '');
    if (known !== undefined) return known;
    const holder = email === null ? undefined : this.#store.userByEmail(email);
    // Only a person with a verified address is matched to the user that an operator created for it.
    // Otherwise any person could take that user.
    const user = isEmailVerified ? holder : undefined;
    if (user !== undefined) {
      await this.#store.subjects.put(this.#issuer, subject, user.id);
      return user;
    }
    const own = holder === undefined ? email : null;
    const made = newUser({ email: own, plan: this.#plan }, Date.now());
    await this.#store.addUser(made, { subject: [this.#issuer, subject] });
    this.#log.info({ userId: made.id, plan: made.plan }, 'user came from the auth server');
    return made;
  }
}

/** The library reads an answer of any size. */
const fetchBounded: FetchImplementation = async (url, options) => {
  const { status, headers, body } = await fetch(url, options);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`a JWKS of more than ${ANSWER_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString('utf8');
  if (status === 200) parseJson(text);
  return new Response(text, {
    status,
    headers: { 'content-type': headers.get('content-type') ?? '' },
  });
};
