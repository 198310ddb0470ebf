/**
 * Access tokens: signed, an hour long, with the claims GoTrue gives them. Rule I31 (api/RULES.md).
 */
import { verify } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose';
import type { EpochMs } from '../../engine/base/units.ts';
import type { Session } from './sessions.ts';
import { SIGNING_ALGORITHM, type SigningKey } from './signing-key.ts';

export const ACCESS_TOKEN_SECONDS = 3600;
export const AUDIENCE = 'authenticated';
/** By how many seconds the clocks of two machines may differ. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** The claims that this server reads. */
export type TokenClaims = {
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  isGuest: boolean;
  sessionId: string | null;
  /** When the token ends, on the slowest clock that is tolerated. */
  validUntilMs: EpochMs;
};

/** A signed token for a session. */
export function signAccessToken(
  key: SigningKey,
  issuer: string,
  session: Session,
  email: string | null,
  nowMs: EpochMs,
): Promise<string> {
  const iat = Math.floor(nowMs / 1000);
  const provider = session.isGuest ? 'anonymous' : 'email';
  const method = session.isGuest ? 'anonymous' : 'password';
  return new SignJWT({
    email: email ?? '',
    phone: '',
    app_metadata: { provider, providers: [provider] },
    user_metadata: {},
    role: AUDIENCE,
    aal: 'aal1',
    amr: [{ method, timestamp: Math.floor(session.createdAtMs / 1000) }],
    session_id: session.id,
    is_anonymous: session.isGuest,
  })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: key.kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(session.userId)
    .setAudience(AUDIENCE)
    .setIssuedAt(iat)
    .setExpirationTime(iat + ACCESS_TOKEN_SECONDS)
    .sign(key.privateKey);
}

/**
 * The claims of a token that this server signed; null when it is not valid or has expired. Known
 * within the call: a handshake that is accepted later costs more (`HttpContext.upgrade`).
 */
export function readOwnToken(
  { publicKey }: SigningKey,
  token: string,
  nowMs: EpochMs,
): TokenClaims | null {
  const [header, payload, signature, ...more] = token.split('.');
  if (signature === undefined || more.length > 0) return null;
  const { alg, crit } = partOf(header!);
  if (alg !== SIGNING_ALGORITHM || crit !== undefined) return null;
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64url'))) return null;
  const claims = claimsOf(partOf(payload!));
  return claims === null || claims.validUntilMs <= nowMs ? null : claims;
}

/** An empty object if it holds none. */
function partOf(text: string): Record<string, unknown> {
  try {
    const part: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof part === 'object' && part !== null ? { ...part } : {};
  } catch {
    return {};
  }
}

type Expected = { algorithms: string[]; issuer: string };

/** The claims of a token; null when it is not valid. Rejects when the keys cannot be fetched. */
export async function readToken(
  token: string,
  keys: JWTVerifyGetKey,
  expected: Expected,
): Promise<TokenClaims | null> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      ...expected,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    return claimsOf(payload);
  } catch (error) {
    if (INVALID.some((kind) => error instanceof kind)) return null;
    throw error;
  }
}

/** Errors of the token itself, as opposed to errors of fetching the keys. */
const INVALID = [
  errors.JWTInvalid,
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
];

function claimsOf(payload: JWTPayload): TokenClaims | null {
  const { sub, aud, exp, email, email_verified, is_anonymous, session_id } = payload;
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') return null;
  // A token for another audience is refused; one without an audience is not. RFC 7519, 4.1.3.
  if (aud !== undefined && ![aud].flat().includes(AUDIENCE)) return null;
  return {
    subject: sub,
    email: typeof email === 'string' && email !== '' ? email : null,
    isEmailVerified: email_verified === true,
    isGuest: is_anonymous === true,
    sessionId: typeof session_id === 'string' ? session_id : null,
    validUntilMs: (exp + CLOCK_TOLERANCE_SECONDS) * 1000,
  };
}
