/**
 * Sessions of the embedded auth server and their refresh tokens, which rotate: each is used once. A
 * token is a family secret, the same for the whole session, and a secret of its own; both are kept
 * hashed. Whoever shows the family secret with a token that is not in use any more has a copy, so
 * the session ends, for the thief and for its owner, who signs in again. GoTrue's rule. A token
 * that was used just now is answered with its child once more: the answer was lost, or two tabs
 * refreshed at once. Rule I35 (api/RULES.md).
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/rules/units.ts';
import { newUuid } from '../uuid.ts';
import { hashOfToken } from './keys.ts';

export type Session = {
  id: Uuid;
  /** A guest's is an id that no user has. */
  userId: Uuid;
  isGuest: boolean;
  familyHash: string;
  /** Of the token that can be used; of several in a session that an older version refreshed. */
  liveHashes: string[];
  /** The tokens that were used of late, the latest at the end. */
  used: UsedToken[];
  createdAtMs: EpochMs;
  refreshedAtMs: EpochMs;
};

/** A token makes its child with this salt, which is worth nothing without the token. */
type UsedToken = { hash: string; childSalt: string; atMs: EpochMs };

/** In which a used token answers its child again. */
export const REUSE_GRACE_MS = 10_000;
/** A session that is not refreshed for so long has ended. */
const IDLE_MS = 30 * 86_400_000;
const GUEST_IDLE_MS = 7 * 86_400_000;

const SECRET_BYTES = 24;
const SECRET_CHARACTERS = 32;
const REFRESH_TOKEN = /^[\w-]{64}$/;
/** Of one session within the grace; those before count as copies. */
const USED_TOKENS_MAX = 32;

/** A session and its first refresh token, which exists nowhere else. */
export function newSession(
  { userId, isGuest }: Pick<Session, 'userId' | 'isGuest'>,
  nowMs: EpochMs,
): { session: Session; refreshToken: string } {
  const refreshToken = secret() + secret();
  const session: Session = {
    id: newUuid(nowMs),
    userId,
    isGuest,
    familyHash: familyHashOf(refreshToken)!,
    liveHashes: [hashOfToken(refreshToken)],
    used: [],
    createdAtMs: nowMs,
    refreshedAtMs: nowMs,
  };
  return { session, refreshToken };
}

/** By which the session of a refresh token is found; null for what cannot be one. */
export function familyHashOf(refreshToken: string): string | null {
  if (!REFRESH_TOKEN.test(refreshToken)) return null;
  return hashOfToken(refreshToken.slice(0, SECRET_CHARACTERS));
}

/** The session after its token was used, and the token's child; null when the token is a copy. */
export function refreshSession(
  session: Session,
  refreshToken: string,
  nowMs: EpochMs,
): { session: Session; refreshToken: string } | null {
  const hash = hashOfToken(refreshToken);
  const inGrace = session.used.filter(({ atMs }) => nowMs - atMs < REUSE_GRACE_MS);
  const known = inGrace.find((used) => used.hash === hash);
  if (known !== undefined) {
    return { session, refreshToken: childOf(refreshToken, known.childSalt) };
  }
  if (!session.liveHashes.includes(hash)) return null;
  const childSalt = secret();
  const child = childOf(refreshToken, childSalt);
  const used = [...inGrace, { hash, childSalt, atMs: nowMs }].slice(-USED_TOKENS_MAX);
  const refreshed = { liveHashes: [hashOfToken(child)], used, refreshedAtMs: nowMs };
  return { session: { ...session, ...refreshed }, refreshToken: child };
}

/** The same for the same token and salt; of one without the other nobody learns it. */
function childOf(refreshToken: string, salt: string): string {
  const digest = createHmac('sha256', salt).update(refreshToken).digest();
  const own = digest.subarray(0, SECRET_BYTES).toString('base64url');
  return refreshToken.slice(0, SECRET_CHARACTERS) + own;
}

/** Whether a session was left alone for too long. */
export function isIdle({ isGuest, refreshedAtMs }: Session, nowMs: EpochMs): boolean {
  return nowMs - refreshedAtMs >= (isGuest ? GUEST_IDLE_MS : IDLE_MS);
}

const secret = () => randomBytes(SECRET_BYTES).toString('base64url');
