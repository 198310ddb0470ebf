/** Wire shapes of the service itself and of the caller. SPEC.md section 2, Status and Me. */
import { Type } from '@sinclair/typebox';
import { Count, DateTime, Mode, nullable, oneOf, strict, Uuid } from './common.ts';

export const StatusAnswer = strict({
  ok: Type.Literal(true),
  version: Type.Literal('v1'),
  mode: Mode,
  time: DateTime,
});

export const ScopeSchema = oneOf([
  'records:read',
  'portfolio:read',
  'markets:read',
  'trade:write',
  'trade:write:venue_a',
  'trade:write:venue_c_intl',
]);

export const PlanSchema = oneOf(['none', 'basic', 'builder', 'desk', 'enterprise']);

/** What somebody is in an organization. CONTRACT.md section 3. */
export const RoleSchema = oneOf(['owner', 'member']);

const Limit = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });

/** An enterprise account's own hard trade limits. CONTRACT.md section 5. */
const LimitsSchema = strict({ newPerMinute: Limit, newPerDay: Limit, closingPerMinute: Limit });
export const TradeLimitsSchema = strict({ key: LimitsSchema, account: LimitsSchema });

/** An account's own request limits. SPEC.md section 8, Request limits by plan. */
export const RequestLimitsSchema = strict({ perMinute: Limit, perMonth: Limit });
const KeySchema = strict({
  id: Uuid,
  label: Type.String({ maxLength: 64 }),
  tokenPrefix: Type.String({ minLength: 16, maxLength: 16 }),
  scopes: Type.Array(ScopeSchema),
  status: oneOf(['active', 'rotating', 'revoked', 'expired']),
  createdAt: DateTime,
  lastUsedAt: nullable(DateTime),
  expiresAt: nullable(DateTime),
  revokedAt: nullable(DateTime),
  createdVia: oneOf(['web', 'cli']),
  rotatedFrom: nullable(Uuid),
  rotatedAt: nullable(DateTime),
  requestsThisMonth: Count,
});

export const KeyListAnswer = strict({
  keys: Type.Array(KeySchema),
  count: Count,
  tradeWriteAvailable: Type.Boolean(),
});

const NEW_KEY = {
  key: KeySchema,
  token: Type.String({ pattern: '^svc_sk_[A-Za-z0-9_-]{43}$' }),
  warning: Type.String(),
};
export const NewKeyAnswer = strict(NEW_KEY);
export const RotatedKeyAnswer = strict({ ...NEW_KEY, rotated: KeySchema });
export const KeyAnswer = strict({ key: KeySchema });

/** CONTRACT.md section 3: how long the old key works on, and how long the new one. */
export const RotateSchema = strict({
  graceHours: Type.Optional(Type.Integer({ minimum: 0, maximum: 168 })),
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
});

const Limits = strict({
  minute: strict({ limit: Count, remaining: Count }),
  month: strict({ limit: Count, used: Count }),
  enforced: Type.Boolean(),
});

export const MeAnswer = strict({
  user: strict({
    id: Uuid,
    displayName: nullable(Type.String()),
    private: nullable(Type.Boolean()),
  }),
  key: strict({ prefix: Type.String(), scopes: Type.Array(ScopeSchema) }),
  mode: Mode,
  paperOnly: Type.Literal(true),
  limits: nullable(Limits),
});

export const OrganizationsAnswer = strict({
  organizations: Type.Array(
    strict({ id: Uuid, slug: Type.String(), name: Type.String(), role: RoleSchema }),
  ),
  count: Count,
  mode: Mode,
});
/** SPEC.md section 2, usage; CONTRACT.md section 3. */
export const UsageAnswer = strict({
  plan: PlanSchema,
  minute: strict({ limit: Count, remaining: Count, resetSeconds: Count }),
  month: strict({ limit: Count, used: Count, remaining: Count, resetSeconds: Count }),
  key: strict({ prefix: Type.String(), requestsThisMonth: Count }),
  enforced: Type.Boolean(),
  mode: Mode,
});

/** PATCH /me. */
export const ProfileAnswer = strict({
  user: strict({
    id: Uuid,
    displayName: nullable(Type.String()),
    private: Type.Boolean(),
    showEarlierTrades: Type.Boolean(),
  }),
});
