/**
 * Sessions of the embedded auth server and their refresh tokens, which rotate: each is used once.
 * A token is a family secret, the same for the whole session, and a secret of its own; both are
 * kept hashed. Whoever shows the family secret with a token that is not in use any more has a copy,
 * so the session ends, for the thief and for its owner, who signs in again. GoTrue's rule.
 */
import { randomBytes } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import { newUuid } from '../uuid.ts';
import { hashOfToken } from './keys.ts';

export type Session = {
  id: Uuid;
  /** A guest's is an id that no user has. */
  userId: Uuid;
  isGuest: boolean;
  familyHash: string;
  /** Of the tokens that can be used: more than one only after answers that may have been lost. */
  liveHashes: string[];
  /** Of the token that was used last. */
  usedHash: string | null;
  createdAtMs: EpochMs;
  refreshedAtMs: EpochMs;
};

/** In which a token may be used again: the answer was lost, or two tabs refreshed at once. */
export const REUSE_GRACE_MS = 10_000;
/** A session that is not refreshed for so long has ended. */
const IDLE_MS = 30 * 86_400_000;
const GUEST_IDLE_MS = 7 * 86_400_000;

const SECRET_BYTES = 24;
const SECRET_CHARACTERS = 32;
const REFRESH_TOKEN = /^[\w-]{64}$/;
/** Each reuse within the grace adds one. */
const LIVE_TOKENS_MAX = 4;

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
    usedHash: null,
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

/** The session after its token was used, and the next token; null when the token is a copy. */
export function refreshSession(
  session: Session,
  refreshToken: string,
  nowMs: EpochMs,
): { session: Session; refreshToken: string } | null {
  const hash = hashOfToken(refreshToken);
  const next = refreshToken.slice(0, SECRET_CHARACTERS) + secret();
  const nextHash = hashOfToken(next);
  if (session.liveHashes.includes(hash)) {
    const refreshed = { liveHashes: [nextHash], usedHash: hash, refreshedAtMs: nowMs };
    return { session: { ...session, ...refreshed }, refreshToken: next };
  }
  const isInGrace = hash === session.usedHash && nowMs - session.refreshedAtMs < REUSE_GRACE_MS;
  if (!isInGrace) return null;
  const liveHashes = [...session.liveHashes, nextHash].slice(-LIVE_TOKENS_MAX);
  return { session: { ...session, liveHashes }, refreshToken: next };
}

/** Whether a session was left alone for too long. */
export function isIdle({ isGuest, refreshedAtMs }: Session, nowMs: EpochMs): boolean {
  return nowMs - refreshedAtMs >= (isGuest ? GUEST_IDLE_MS : IDLE_MS);
}

const secret = () => randomBytes(SECRET_BYTES).toString('base64url');
