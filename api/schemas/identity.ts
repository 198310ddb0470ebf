/**
 * Wire schemas of the service itself and of the caller. Rules A56 to A59, I4, I8 to I12
 * (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import {
  Count,
  DateTime,
  described,
  Mode,
  nullable,
  oneOf,
  strict,
  Uuid,
} from '../base/common-schemas.ts';
import { PLANS } from '../base/plan-names.ts';
import { RealismSchema } from './realism.ts';

export const StatusAnswer = strict(
  {
    ok: Type.Literal(true),
    version: Type.Literal('v1'),
    mode: Mode,
    time: described(DateTime, 'Time of the server.'),
  },
  { title: 'Status' },
);

export const ScopeSchema = oneOf(
  [
    'records:read',
    'portfolio:read',
    'markets:read',
    'trade:write',
    'trade:write:venue_a',
    'trade:write:venue_c_intl',
  ],
  { title: 'Scope', description: 'A permission of a key.' },
);

export const PlanSchema = oneOf([...PLANS], {
  title: 'Plan',
});

/** A person's role in an organization. Rule A59 (api/RULES.md). */
export const RoleSchema = oneOf(['owner', 'member'], { title: 'Role' });

const Limit = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });

/** An enterprise account's own hard trade limits. Rule L9 (engine/RULES.md). */
const LimitsSchema = strict({ newPerMinute: Limit, newPerDay: Limit, closingPerMinute: Limit });
export const TradeLimitsSchema = strict({ key: LimitsSchema, account: LimitsSchema });
/** The limits to change; omitted ones stay unchanged. */
export const TradeLimitsChangeSchema = Type.Partial(
  strict({ key: Type.Partial(LimitsSchema), account: Type.Partial(LimitsSchema) }),
);

/** An organization has no key limits of its own: a key has its owner's. */
export const SandboxLimitsSchema = strict({ account: LimitsSchema });
export const SandboxLimitsChangeSchema = Type.Partial(
  strict({ account: Type.Partial(LimitsSchema) }),
);

/** An account's own request limits. Rule Q1 (api/RULES.md). */
export const RequestLimitsSchema = strict({ perMinute: Limit, perMonth: Limit });
/** The limits to change; omitted ones stay unchanged. */
export const RequestLimitsChangeSchema = Type.Partial(RequestLimitsSchema);

const KeySchema = strict(
  {
    id: Uuid,
    label: Type.String({ maxLength: 64 }),
    tokenPrefix: Type.String({
      minLength: 16,
      maxLength: 16,
      description: 'The first 16 characters of the key, never the whole key.',
    }),
    scopes: Type.Array(ScopeSchema),
    status: oneOf(['active', 'rotating', 'revoked', 'expired'], {
      title: 'KeyStatus',
      description: 'rotating: replaced, and valid until it expires.',
    }),
    createdAt: DateTime,
    lastUsedAt: nullable(DateTime, { description: 'Updated at most once an hour.' }),
    expiresAt: nullable(DateTime),
    revokedAt: nullable(DateTime),
    createdVia: oneOf(['web', 'cli']),
    rotatedFrom: nullable(Uuid, { description: 'Id of the key that this key replaced.' }),
    rotatedAt: nullable(DateTime, { description: 'Time when this key was replaced.' }),
    requestsThisMonth: described(Count, 'Requests counted against it in this UTC month.'),
  },
  { title: 'KeyView' },
);

/** The `{id}` of a path. */
export const KeyId = described(Uuid, 'Id of the key, in either case.');

export const KeyListAnswer = strict(
  {
    keys: Type.Array(KeySchema),
    count: Count,
    tradeWriteAvailable: Type.Boolean({
      description:
        'Whether a new key may carry trade:write now. Rotation keeps the scopes that a key has.',
    }),
  },
  { title: 'KeyList' },
);

const NEW_KEY = {
  key: KeySchema,
  token: Type.String({
    pattern: '^svc_sk_[A-Za-z0-9_-]{43}$',
    description: 'The key itself, shown once: svc_sk_ and 43 base64url characters.',
  }),
  warning: Type.String(),
};
export const NewKeyAnswer = strict(NEW_KEY, { title: 'KeyCreateResponse' });
export const RotatedKeyAnswer = strict(
  { ...NEW_KEY, rotated: described(KeySchema, 'The old key.') },
  { title: 'KeyRotateResponse' },
);
export const KeyAnswer = strict({ key: KeySchema }, { title: 'KeyAnswer' });

const VENUE_KEY = {
  keyId: described(Uuid, 'KALSHI-ACCESS-KEY of the requests that it signs.'),
  label: Type.String({ maxLength: 64 }),
  createdAt: DateTime,
};
const VenueKeySchema = strict(VENUE_KEY, { title: 'VenueKeyView' });
export const VenueKeyListAnswer = strict(
  { venueKeys: Type.Array(VenueKeySchema), count: Count },
  { title: 'VenueKeyList' },
);
export const NewVenueKeyAnswer = strict(
  {
    ...VENUE_KEY,
    privateKeyPem: Type.String({
      pattern: '^-----BEGIN RSA PRIVATE KEY-----',
      description: 'The private key in PEM, shown once. The server does not keep it.',
    }),
  },
  { title: 'VenueKeyCreateResponse' },
);
export const VenueKeyAnswer = strict({ venueKey: VenueKeySchema }, { title: 'VenueKeyAnswer' });

/** How long the old key works on, and how long the new one. Rule I12 (api/RULES.md). */
export const RotateSchema = strict(
  {
    graceHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        description: 'Hours that the old key keeps working; default 24.',
      }),
    ),
    expiresInDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        description: 'Lifetime of the new key; default: the lifetime of the old key.',
      }),
    ),
  },
  { title: 'KeyRotateRequest' },
);

const IN_MINUTE = {
  limit: described(Count, 'Requests per UTC minute.'),
  remaining: described(Count, 'Requests left in this minute.'),
};
const IN_MONTH = {
  limit: described(Count, 'Requests per UTC month.'),
  used: described(Count, 'Requests of this month so far.'),
};
const Enforced = Type.Boolean({
  description: 'False: a request over the limit is still answered, and only counted.',
});
const Limits = strict(
  { minute: strict(IN_MINUTE), month: strict(IN_MONTH), enforced: Enforced },
  { title: 'RequestLimits' },
);

export const MeAnswer = strict(
  {
    user: strict({
      id: Uuid,
      displayName: nullable(Type.String()),
      private: nullable(Type.Boolean(), {
        description: 'Whether the account is private; null if it could not be read.',
      }),
      showEarlierTrades: Type.Boolean({
        description: 'Whether trades placed while private are shown once public.',
      }),
    }),
    realism: described(RealismSchema, 'Of the personal account.'),
    key: nullable(
      strict({
        prefix: Type.String({ description: 'The first 16 characters of the key.' }),
        scopes: Type.Array(ScopeSchema),
      }),
      { description: 'Null for a session.' },
    ),
    mode: Mode,
    paperOnly: Type.Literal(true),
    limits: nullable(Limits, { description: 'Null if the server could not read them.' }),
  },
  { title: 'Me' },
);

const OrganizationSchema = strict(
  {
    id: described(Uuid, 'What X-Service-Org takes.'),
    slug: Type.String(),
    name: Type.String(),
    role: RoleSchema,
    realism: RealismSchema,
  },
  { title: 'Organization' },
);

/** The `{organizationId}` of a path. */
export const OrganizationId = described(Uuid, 'Id of the organization, in either case.');

export const OrganizationAnswer = strict(
  { organization: OrganizationSchema },
  { title: 'OrganizationAnswer' },
);

export const OrganizationsAnswer = strict(
  {
    organizations: Type.Array(OrganizationSchema),
    count: Count,
    mode: Mode,
  },
  { title: 'OrganizationsAnswer' },
);

const TradeWindow = strict({
  limit: Count,
  remaining: Count,
  resetSeconds: described(Count, 'Seconds to the end of the window, on the time of the engine.'),
});
const TradeWindows = strict({
  newPerMinute: described(TradeWindow, 'New orders in the UTC minute.'),
  newPerDay: described(TradeWindow, 'New orders on the UTC day.'),
  closingPerMinute: described(TradeWindow, 'Sells and cancels in the UTC minute.'),
});

/** Rules A58, A83 (api/RULES.md). */
export const UsageAnswer = strict(
  {
    plan: PlanSchema,
    minute: strict({
      ...IN_MINUTE,
      resetSeconds: described(Count, 'Seconds to the next UTC minute.'),
    }),
    month: strict({
      ...IN_MONTH,
      remaining: described(Count, 'Requests left in this month.'),
      resetSeconds: described(Count, 'Seconds to the next UTC month.'),
    }),
    key: nullable(
      strict({
        prefix: Type.String({ description: 'The first 16 characters of the key.' }),
        requestsThisMonth: described(Count, 'Requests counted against this key this month.'),
      }),
      { description: 'Null for a session, whose requests count for the account alone.' },
    ),
    trading: nullable(
      strict({
        key: described(TradeWindows, 'Usage of this key or session, over all its accounts.'),
        account: described(TradeWindows, "Usage of the owner's personal account, over all keys."),
      }),
      { description: 'The hard trade limits; null while the engine cannot say.' },
    ),
    enforced: Enforced,
    mode: Mode,
  },
  { title: 'Usage' },
);

/** The `{id}` of a path. */
export const SessionId = described(Uuid, 'Id of the session, in either case.');

/** Rule I45 (api/RULES.md). */
export const SessionsAnswer = strict(
  {
    sessions: Type.Array(
      strict(
        {
          id: Uuid,
          createdAt: described(DateTime, 'The sign-in.'),
          lastUsedAt: described(
            DateTime,
            'Time of the last token renewal. A client in use renews every hour.',
          ),
          current: Type.Boolean({ description: 'Whether this session sent the request.' }),
        },
        { title: 'Session' },
      ),
    ),
    count: Count,
    mode: Mode,
  },
  { title: 'Sessions' },
);

/** PATCH /me. */
export const ProfileAnswer = strict(
  {
    realism: described(RealismSchema, 'Of the personal account.'),
    user: strict({
      id: Uuid,
      displayName: nullable(Type.String()),
      private: Type.Boolean(),
      showEarlierTrades: Type.Boolean({
        description: 'Whether trades placed while private are shown once public.',
      }),
    }),
  },
  { title: 'Profile' },
);
