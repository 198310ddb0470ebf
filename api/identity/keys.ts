/** API keys: shown once, stored hashed. Rules I1, I3 to I5, I9 (api/RULES.md). */
import { hash, randomBytes } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { type EpochMs, isoOf, type Uuid } from '../../engine/base/units.ts';
import { strict } from '../base/common-schemas.ts';
import { SHOWN_TEXT } from '../base/shown-text.ts';
import { newUuid } from '../base/uuid.ts';
import { TRIMMED } from '../base/validation.ts';
import { ScopeSchema } from '../schemas/identity.ts';

export type Scope = Static<typeof ScopeSchema>;

/** The scopes of a key when the request names none. Rule I9 (api/RULES.md). */
export const DEFAULT_SCOPES: readonly Scope[] = ['records:read', 'portfolio:read', 'markets:read'];

export type Key = {
  id: Uuid;
  userId: Uuid;
  label: string;
  /** The first 16 characters of the token, by which people recognize a key. */
  tokenPrefix: string;
  /** SHA-256 of the token in hex. The token has 256 random bits, so no slower hash is needed. */
  hash: string;
  scopes: Scope[];
  createdAtMs: EpochMs;
  /** Accurate to the hour, so that a busy key costs one write an hour. */
  lastUsedAtMs: EpochMs | null;
  expiresAtMs: EpochMs | null;
  revokedAtMs: EpochMs | null;
  createdVia: 'web' | 'cli';
  rotatedFrom: Uuid | null;
  rotatedAtMs: EpochMs | null;
};

/** Rule I9 (api/RULES.md). */
export const KEY_INPUT = {
  label: Type.Optional(
    Type.String({
      [TRIMMED]: true,
      maxLength: 64,
      // Line ends and tabs at its ends are cut off.
      pattern: '^[^\\x00-\\x08\\x0e-\\x1f\\x7f]*$',
      format: SHOWN_TEXT,
      description:
        'a name without control, bidi or zero-width characters. Blanks around it are cut off ' +
        'before it is measured; `Untitled key` when left out or blank.',
    }),
  ),
  scopes: Type.Optional(
    Type.Array(ScopeSchema, {
      minItems: 1,
      description: 'records:read, portfolio:read and markets:read when left out.',
    }),
  ),
  expiresInDays: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Left out: it never expires.' }),
  ),
};
export const KeyInputSchema = strict(KEY_INPUT, { title: 'KeyCreateRequest' });
export type KeyInput = Static<typeof KeyInputSchema>;

const TOKEN_PREFIX = 'svc_sk_';
const SHOWN_CHARACTERS = 16;
const DAY_MS = 86_400_000;
const LAST_USED_REFRESH_MS = 3_600_000;

/** A new key and its token, which is stored nowhere else. */
export function newKey(
  userId: Uuid,
  input: KeyInput,
  createdVia: Key['createdVia'],
  nowMs: EpochMs,
): { key: Key; token: string } {
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url');
  const { label = '' } = input;
  const key: Key = {
    id: newUuid(nowMs),
    userId,
    label: label === '' ? 'Untitled key' : label,
    tokenPrefix: token.slice(0, SHOWN_CHARACTERS),
    hash: hashOfToken(token),
    scopes: [...new Set(input.scopes ?? DEFAULT_SCOPES)],
    createdAtMs: nowMs,
    lastUsedAtMs: null,
    expiresAtMs: input.expiresInDays === undefined ? null : nowMs + input.expiresInDays * DAY_MS,
    revokedAtMs: null,
    createdVia,
    rotatedFrom: null,
    rotatedAtMs: null,
  };
  return { key, token };
}

/** Whether a credential has the form of a key. */
export function isKeyToken(token: string): boolean {
  return token.startsWith(TOKEN_PREFIX);
}

/** SHA-256 in hex. */
export function hashOfToken(token: string): string {
  return hash('sha256', token);
}

export type KeyStatus = 'active' | 'rotating' | 'revoked' | 'expired';

/** Rule I3 (api/RULES.md). */
export function keyStatus(key: Key, nowMs: EpochMs): KeyStatus {
  if (key.revokedAtMs !== null) return 'revoked';
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'expired';
  return key.rotatedAtMs === null ? 'active' : 'rotating';
}

/** Whether requests with it are served now. Rule I3 (api/RULES.md). */
export function isUsable(key: Key, nowMs: EpochMs): boolean {
  const status = keyStatus(key, nowMs);
  return status === 'active' || status === 'rotating';
}

/** Whether a use now must be recorded. Rule I5 (api/RULES.md). */
export function isLastUseStale(key: Key, nowMs: EpochMs): boolean {
  return key.lastUsedAtMs === null || nowMs - key.lastUsedAtMs >= LAST_USED_REFRESH_MS;
}

/** A KeyView of the API, without the request count. Rules I3, I8 (api/RULES.md). */
export function keyView(key: Key, nowMs: EpochMs) {
  return {
    id: key.id,
    label: key.label,
    tokenPrefix: key.tokenPrefix,
    scopes: key.scopes,
    status: keyStatus(key, nowMs),
    createdAt: isoOf(key.createdAtMs),
    lastUsedAt: isoOrNull(key.lastUsedAtMs),
    expiresAt: isoOrNull(key.expiresAtMs),
    revokedAt: isoOrNull(key.revokedAtMs),
    createdVia: key.createdVia,
    rotatedFrom: key.rotatedFrom,
    rotatedAt: isoOrNull(key.rotatedAtMs),
  };
}

const isoOrNull = (atMs: EpochMs | null) => (atMs === null ? null : isoOf(atMs));
