/**
 * The embedded auth server: sign-up, sign-in, refresh, sign-out, password change, guests. A guest
 * is a session without a user: it has no account, plan or keys, and leaves no data when it ends.
 * Rules I30, I33 to I40, I44 (api/RULES.md).
 */
import { type EpochMs, isoOf, type Uuid } from '../../engine/base/units.ts';
import type { Log } from '../base/logger.ts';
import { newUuid } from '../base/uuid.ts';
import {
  ACCESS_TOKEN_SECONDS,
  readOwnToken,
  signAccessToken,
  type TokenClaims,
} from './access-token.ts';
import { Attempts } from './attempts.ts';
import { AuthError } from './auth-errors.ts';
import { OneTimeCodes } from './one-time-codes.ts';
import { PasswordTries, refuseExcess } from './password-tries.ts';
import { hashPassword, matchesPassword, PASSWORD_CHARACTERS_MIN } from './passwords.ts';
import type { Person, SessionSource } from './session-access.ts';
import { familyHashOf, newSession, refreshSession, type Session } from './sessions.ts';
import type { SigningKey } from './signing-key.ts';
import type { ControlStore } from './store.ts';
import { newUser, type Plan } from './users.ts';

type Credentials = { email: string; password: string };
type PasswordChange = { password: string; currentPassword: string | null };
export type SignOutScope = 'global' | 'local' | 'others';

const WINDOW_MS = 5 * 60_000;
/** Each of these per five minutes. */
const SIGN_UPS_OF_ADDRESS_MAX = 60;
const REFRESHES_OF_ADDRESS_MAX = 150;
/** So long after a sign-in the password can be changed without sending the old one. */
const FRESH_SIGN_IN_MS = 24 * 3_600_000;

export class SignIn implements SessionSource {
  readonly #store: ControlStore;
  readonly #key: SigningKey;
  readonly #log: Log;
  readonly #plan: Plan;
  readonly #codes: OneTimeCodes;
  readonly #tries = new PasswordTries();
  readonly #codeTries = new PasswordTries();
  readonly #signUps = new Attempts(SIGN_UPS_OF_ADDRESS_MAX, WINDOW_MS);
  readonly #refreshes = new Attempts(REFRESHES_OF_ADDRESS_MAX, WINDOW_MS);
  /** `iss` of the tokens: the URL of this server's /auth/v1, known once it listens. */
  issuer = '';

  /** `plan`: of new users. */
  constructor(
    store: ControlStore,
    key: SigningKey,
    log: Log,
    plan: Plan,
    codes = new OneTimeCodes(),
  ) {
    this.#store = store;
    this.#key = key;
    this.#log = log;
    this.#plan = plan;
    this.#codes = codes;
  }

  /** `{keys}`: the keys that verify access tokens. */
  jwks(): object {
    return { keys: [this.#key.publicJwk] };
  }

  /** Creates a user and signs in. */
  async signUp({ email, password }: Credentials, address: string): Promise<object> {
    const nowMs = Date.now();
    refuseExcess(this.#signUps.take(address, nowMs));
    if (password.length < PASSWORD_CHARACTERS_MIN) throw new AuthError('weak_password');
    if (this.#store.userByEmail(email) !== undefined) throw new AuthError('user_already_exists');
    const hash = await hashPassword(password);
    // Another request may have created the user meanwhile.
    if (this.#store.userByEmail(email) !== undefined) throw new AuthError('user_already_exists');
    const user = newUser({ email, plan: this.#plan }, nowMs);
    await this.#store.addUser(user, { passwordHash: hash });
    this.#tries.welcome(accountOf(email), address);
    this.#log.info({ userId: user.id, plan: user.plan }, 'user signed up');
    return this.#begin({ userId: user.id, isGuest: false }, nowMs);
  }

  /** A guest: a session without a user. */
  async guest(address: string): Promise<object> {
    const nowMs = Date.now();
    refuseExcess(this.#signUps.take(address, nowMs));
    return this.#begin({ userId: newUuid(nowMs), isGuest: true }, nowMs);
  }

  /** A session for the correct password. */
  async withPassword({ email, password }: Credentials, address: string): Promise<object> {
    const isRight = await this.#tries.run(accountOf(email), address, () => {
      return this.#isPassword(this.#store.userByEmail(email)?.id ?? null, password);
    });
    const user = this.#store.userByEmail(email);
    if (!isRight || user === undefined) throw new AuthError('invalid_credentials');
    return this.#begin({ userId: user.id, isGuest: false }, Date.now());
  }

  /**
   * A session for a one-time code. A code has no account name, so wrong codes count against the
   * caller's address.
   */
  async withCode(code: string, address: string): Promise<object> {
    await this.#codeTries.run(address, address, async () => this.#codes.has(code, Date.now()));
    // If two callers send it at once, only the first succeeds.
    const user = this.#store.users.get(this.#codes.take(code, Date.now()) ?? '');
    if (user === undefined) throw new AuthError('otp_expired');
    return this.#begin({ userId: user.id, isGuest: false }, Date.now());
  }

  /**
   * Changes the password of an access token's user. After some time since the sign-in the current
   * password is required; a refresh is not a sign-in. The user's other sessions end.
   */
  async changePassword(
    accessToken: string,
    { password, currentPassword }: PasswordChange,
    address: string,
  ): Promise<object> {
    const session = await this.#sessionOf(accessToken);
    const user = this.#store.users.get(session.userId);
    if (user === undefined) throw guestPassword();
    if (password.length < PASSWORD_CHARACTERS_MIN) throw new AuthError('weak_password');
    if (currentPassword !== null) {
      const account = accountOf(user.email ?? user.id);
      const isRight = await this.#tries.run(account, address, () => {
        return this.#isPassword(user.id, currentPassword);
      });
      if (!isRight) throw new AuthError('current_password_invalid');
    } else if (Date.now() - session.createdAtMs >= FRESH_SIGN_IN_MS) {
      throw new AuthError('current_password_required');
    }
    if (await this.#isPassword(user.id, password)) throw new AuthError('same_password');
    const hash = await hashPassword(password);
    // The session ended meanwhile, perhaps by a password change elsewhere, which then stays.
    if (!this.isLive(session.id)) throw new AuthError('session_not_found');
    await this.#store.changePassword(user.id, hash, session.id);
    this.#log.info({ userId: user.id, sessionId: session.id }, 'password changed');
    return this.#view(session);
  }

  /** The next tokens for a refresh token. A second use of one ends its session. */
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

  /** The user of an access token, in GoTrue's form. */
  async user(accessToken: string): Promise<object> {
    return this.#view(await this.#sessionOf(accessToken));
  }

  /** Ends this session, all of the user's, or all but this one. */
  async signOut(accessToken: string, scope: SignOutScope): Promise<void> {
    const { id, userId, isGuest } = await this.#sessionOf(accessToken);
    const { sessions } = this.#store;
    const own = isGuest ? [id] : sessions.ofUser(userId);
    if (scope === 'local') await sessions.end([id]);
    else if (scope === 'global') await sessions.end(own);
    else await sessions.end(own.filter((other) => other !== id));
  }

  async personOf(accessToken: string): Promise<Person | null> {
    const claims = readOwnToken(this.#key, accessToken, Date.now());
    if (claims === null) return null;
    const session = this.#live(claims);
    if (session === undefined) return null;
    if (session.isGuest) return 'guest';
    const user = this.#store.users.get(session.userId);
    if (user === undefined) return null;
    return { user, sessionId: session.id, validUntilMs: claims.validUntilMs };
  }

  isLive(sessionId: Uuid): boolean {
    return this.#store.sessions.get(sessionId, Date.now()) !== undefined;
  }

  /** Whether it is the stored password, and was not changed during the check. */
  async #isPassword(userId: Uuid | null, password: string): Promise<boolean> {
    const keptNow = () => (userId === null ? null : this.#store.passwords.get(userId));
    const kept = keptNow();
    return (await matchesPassword(password, kept)) && keptNow() === kept;
  }

  async #sessionOf(accessToken: string): Promise<Session> {
    const claims = readOwnToken(this.#key, accessToken, Date.now());
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
      // No mail is sent, so an address counts as confirmed from the start.
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

/** The account name that attempts count under: addresses ignore case. */
const accountOf = (email: string) => email.toLowerCase();

function guestPassword(): AuthError {
  return new AuthError('validation_failed', {
    status: 422,
    message: 'Updating password of an anonymous user without an email or phone is not allowed',
  });
}
