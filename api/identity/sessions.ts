/**
 * Sessions of the embedded auth server and their refresh tokens, which rotate: each is used once. A
 * token consists of a family secret, the same for the whole session, and its own secret; both are
 * stored hashed. A caller who presents the family secret with a token no longer in use has a copy.
 * By GoTrue's rule the session then ends for the thief and for its owner, who signs in again. A
 * token that is used again within the grace time gets the same next token: the answer was lost, or
 * two tabs refreshed at once. Rule I35 (api/RULES.md).
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { newUuid } from '../base/uuid.ts';
import { hashOfToken } from './keys.ts';

export type Session = {
  id: Uuid;
  /** A guest's id belongs to no user. */
  userId: Uuid;
  isGuest: boolean;
  familyHash: string;
  /** The hash of the usable token; several if an older version refreshed the session. */
  liveHashes: string[];
  /** Recently used tokens, the latest at the end. */
  used: UsedToken[];
  createdAtMs: EpochMs;
  refreshedAtMs: EpochMs;
};

/** The next token derives from this token and this salt; the salt alone is worthless. */
type UsedToken = { hash: string; childSalt: string; atMs: EpochMs };

/** For how long a used token gets the same next token again. */
export const REUSE_GRACE_MS = 10_000;
/** A session without a refresh for so long has ended. */
const IDLE_MS = 30 * 86_400_000;
const GUEST_IDLE_MS = 7 * 86_400_000;

const SECRET_BYTES = 24;
const SECRET_CHARACTERS = 32;
const REFRESH_TOKEN = /^[\w-]{64}$/;
/** Used tokens of a session kept for the grace time; older ones count as copies. */
const USED_TOKENS_MAX = 32;

/** A session and its first refresh token, which is stored nowhere else. */
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

/** The hash by which the session of a refresh token is found; null for a malformed token. */
export function familyHashOf(refreshToken: string): string | null {
  if (!REFRESH_TOKEN.test(refreshToken)) return null;
  return hashOfToken(refreshToken.slice(0, SECRET_CHARACTERS));
}

/** The session after a use of its token, and the next token; null when the token is a copy. */
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

/** Always the same for the same token and salt; neither alone is enough to derive it. */
function childOf(refreshToken: string, salt: string): string {
  const digest = createHmac('sha256', salt).update(refreshToken).digest();
  const own = digest.subarray(0, SECRET_BYTES).toString('base64url');
  return refreshToken.slice(0, SECRET_CHARACTERS) + own;
}

/** Whether a session was not refreshed for too long. */
export function isIdle({ isGuest, refreshedAtMs }: Session, nowMs: EpochMs): boolean {
  return nowMs - refreshedAtMs >= (isGuest ? GUEST_IDLE_MS : IDLE_MS);
}

const secret = () => randomBytes(SECRET_BYTES).toString('base64url');
