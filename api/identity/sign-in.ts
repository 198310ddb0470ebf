/**
 * The embedded auth server: sign-up, sign-in, refresh, sign-out, guests. CONTRACT.md section 7.
 * Guests are sessions without a user: they have no account, no plan and no keys, and are gone with
 * their session.
 */
import { type EpochMs, isoOf, type Uuid } from '../../engine/core/units.ts';
import type { Log } from '../deps.ts';
import { newUuid } from '../uuid.ts';
import {
  ACCESS_TOKEN_SECONDS,
  readOwnToken,
  signAccessToken,
  type TokenClaims,
} from './access-token.ts';
import { Attempts } from './attempts.ts';
import { AuthError } from './auth-errors.ts';
import { hashPassword, matchesPassword, PASSWORD_CHARACTERS_MIN } from './passwords.ts';
import type { Person, SessionSource } from './session-access.ts';
import { familyHashOf, newSession, refreshSession, type Session } from './sessions.ts';
import type { SigningKey } from './signing-key.ts';
import type { ControlStore } from './store.ts';
import { newUser } from './users.ts';

type Credentials = { email: string; password: string };
export type SignOutScope = 'global' | 'local' | 'others';

const WINDOW_MS = 5 * 60_000;
/** Each of these in five minutes. Guessing at one account is what has to be slow. */
const ATTEMPTS_OF_ACCOUNT_MAX = 10;
const ATTEMPTS_OF_ADDRESS_MAX = 60;
const SIGN_UPS_OF_ADDRESS_MAX = 60;
const REFRESHES_OF_ADDRESS_MAX = 150;

export class SignIn implements SessionSource {
  readonly #store: ControlStore;
  readonly #key: SigningKey;
  readonly #log: Log;
  readonly #ofAccount = new Attempts(ATTEMPTS_OF_ACCOUNT_MAX, WINDOW_MS);
  readonly #ofAddress = new Attempts(ATTEMPTS_OF_ADDRESS_MAX, WINDOW_MS);
  readonly #signUps = new Attempts(SIGN_UPS_OF_ADDRESS_MAX, WINDOW_MS);
  readonly #refreshes = new Attempts(REFRESHES_OF_ADDRESS_MAX, WINDOW_MS);
  /** `iss` of the tokens: the URL of this server's /auth/v1, known once it listens. */
  issuer = '';

  constructor(store: ControlStore, key: SigningKey, log: Log) {
    this.#store = store;
    this.#key = key;
    this.#log = log;
  }

  /** `{keys}`: what access tokens are verified with. */
  jwks(): object {
    return { keys: [this.#key.publicJwk] };
  }

  /** A new user, signed in. */
  async signUp({ email, password }: Credentials, address: string): Promise<object> {
    const nowMs = Date.now();
    refuseExcess(this.#signUps.take(address, nowMs));
    if (password.length < PASSWORD_CHARACTERS_MIN) throw new AuthError('weak_password');
    if (this.#store.userByEmail(email) !== undefined) throw new AuthError('user_already_exists');
    const hash = await hashPassword(password);
    // Somebody may have been quicker.
    if (this.#store.userByEmail(email) !== undefined) throw new AuthError('user_already_exists');
    const user = newUser({ email }, nowMs);
    await Promise.all([this.#store.addUser(user), this.#store.passwords.put(user.id, hash)]);
    this.#log.info({ userId: user.id }, 'user signed up');
    return this.#begin({ userId: user.id, isGuest: false }, nowMs);
  }

  /** A guest: a session, and nothing more. */
  async guest(address: string): Promise<object> {
    const nowMs = Date.now();
    refuseExcess(this.#signUps.take(address, nowMs));
    return this.#begin({ userId: newUuid(nowMs), isGuest: true }, nowMs);
  }

  /** A session for who knows the password. */
  async withPassword({ email, password }: Credentials, address: string): Promise<object> {
    const nowMs = Date.now();
    const account = email.toLowerCase();
    refuseExcess(this.#ofAddress.take(address, nowMs));
    refuseExcess(this.#ofAccount.take(account, nowMs));
    const user = this.#store.userByEmail(email);
    const kept = user === undefined ? null : this.#store.passwords.get(user.id);
    if (!(await matchesPassword(password, kept)) || user === undefined) {
      throw new AuthError('invalid_credentials');
    }
    // Changed meanwhile: what was right is wrong now.
    if (this.#store.passwords.get(user.id) !== kept) throw new AuthError('invalid_credentials');
    this.#ofAccount.forget(account);
    return this.#begin({ userId: user.id, isGuest: false }, nowMs);
  }

  /** The next tokens for a refresh token. One that was used already ends its session. */
  async refresh(refreshToken: string, address: string): Promise<object> {
    const nowMs = Date.now();
    refuseExcess(this.#refreshes.take(address, nowMs));
    const { sessions } = this.#store;
    const family = sessions.byFamily(familyHashOf(refreshToken) ?? '');
    const session = family === undefined ? undefined : sessions.get(family.id, nowMs);
    if (session === undefined) throw new AuthError('refresh_token_not_found');
    const refreshed = refreshSession(session, refreshToken, nowMs);
    if (refreshed === null) {
      await sessions.end([session.id]);
      this.#log.warn({ userId: session.userId, sessionId: session.id }, 'refresh token reused');
      throw new AuthError('refresh_token_already_used');
    }
    await sessions.put(refreshed.session);
    return this.#answer(refreshed.session, refreshed.refreshToken, nowMs);
  }

  /** The user of an access token, as GoTrue shows one. */
  async user(accessToken: string): Promise<object> {
    return this.#view(await this.#sessionOf(accessToken));
  }

  /** Ends this session, all of the user's, or all but this one. */
  async signOut(accessToken: string, scope: SignOutScope): Promise<void> {
    const { id, userId } = await this.#sessionOf(accessToken);
    const { sessions } = this.#store;
    if (scope === 'local') await sessions.end([id]);
    else if (scope === 'global') await sessions.end(sessions.ofUser(userId));
    else await sessions.end(sessions.ofUser(userId).filter((other) => other !== id));
  }

  async personOf(accessToken: string): Promise<Person | null> {
    const claims = await readOwnToken(this.#key, accessToken);
    const session = claims === null ? undefined : this.#live(claims);
    if (session === undefined) return null;
    if (session.isGuest) return 'guest';
    const user = this.#store.users.get(session.userId);
    return user === undefined ? null : { user, sessionId: session.id };
  }

  isLive(sessionId: Uuid): boolean {
    return this.#store.sessions.get(sessionId, Date.now()) !== undefined;
  }

  async #sessionOf(accessToken: string): Promise<Session> {
    const claims = await readOwnToken(this.#key, accessToken);
    if (claims === null) throw new AuthError('bad_jwt');
    const session = this.#live(claims);
    if (session === undefined) throw new AuthError('session_not_found');
    return session;
  }

  #live({ sessionId }: TokenClaims): Session | undefined {
    return this.#store.sessions.get(sessionId ?? '', Date.now());
  }

  async #begin(whose: Pick<Session, 'userId' | 'isGuest'>, nowMs: EpochMs): Promise<object> {
    const { session, refreshToken } = newSession(whose, nowMs);
    await this.#store.sessions.add(session);
    return this.#answer(session, refreshToken, nowMs);
  }

  async #answer(session: Session, refreshToken: string, nowMs: EpochMs): Promise<object> {
    const email = this.#store.users.get(session.userId)?.email ?? null;
    return {
      access_token: await signAccessToken(this.#key, this.issuer, session, email, nowMs),
      token_type: 'bearer',
      expires_in: ACCESS_TOKEN_SECONDS,
      expires_at: Math.floor(nowMs / 1000) + ACCESS_TOKEN_SECONDS,
      refresh_token: refreshToken,
      user: this.#view(session),
    };
  }

  #view({ userId, isGuest, createdAtMs }: Session): object {
    const user = this.#store.users.get(userId);
    const signedInAt = isoOf(createdAtMs);
    const createdAt = user === undefined ? signedInAt : isoOf(user.createdAtMs);
    const provider = isGuest ? 'anonymous' : 'email';
    return {
      id: userId,
      aud: 'authenticated',
      role: 'authenticated',
      email: user?.email ?? '',
      phone: '',
      // Nothing is mailed, so an address counts as confirmed from the start.
      ...(isGuest ? {} : { email_confirmed_at: createdAt, confirmed_at: createdAt }),
      last_sign_in_at: signedInAt,
      app_metadata: { provider, providers: [provider] },
      user_metadata: {},
      identities: [],
      created_at: createdAt,
      updated_at: createdAt,
      is_anonymous: isGuest,
    };
  }
}

function refuseExcess(retryAfterSeconds: number): void {
  if (retryAfterSeconds === 0) return;
  throw new AuthError('over_request_rate_limit', { retryAfterSeconds });
}
