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

/** An enterprise account's own hard trade limits. CONTRACT.md section 5. */
const Limit = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const LimitsSchema = strict({ newPerMinute: Limit, newPerDay: Limit, closingPerMinute: Limit });
export const TradeLimitsSchema = strict({ key: LimitsSchema, account: LimitsSchema });

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
