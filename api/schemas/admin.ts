/** Schemas of the admin listener. Only the server and its own command use them. */
import { Type } from '@sinclair/typebox';
import { GAME_STATUSES } from '../../engine/base/units.ts';
import { CONNECTION_STATES } from '../../feeds/connection/connection-status.ts';
import {
  Count,
  Cursor,
  DateTime,
  ExecutionVenueSchema,
  limitOf,
  NextCursor,
  nullable,
  oneOf,
  strict,
  Uuid,
  VenueSchema,
} from '../base/common-schemas.ts';
import {
  PlanSchema,
  RequestLimitsSchema,
  RoleSchema,
  SandboxLimitsSchema,
  ScopeSchema,
  TradeLimitsSchema,
} from './identity.ts';
import { RealismSchema } from './realism.ts';

export const HealthAnswer = strict({
  /** No problem was found. */
  ok: Type.Boolean(),
  /** The problems, one per line. */
  problems: Type.Array(Type.String()),
});

const FEED_STATE = oneOf(CONNECTION_STATES);
export const ReadyAnswer = strict({
  ok: Type.Literal(true),
  state: oneOf(['ready']),
  /** As in `/healthz`. */
  problems: Type.Array(Type.String()),
  /** Connections that are not open now. Accounts can still trade elsewhere. */
  feeds: Type.Array(
    strict({
      venue: VenueSchema,
      adapter: Type.String(),
      host: Type.String(),
      state: FEED_STATE,
      since: DateTime,
      /** False: not once since the start. */
      hasConnected: Type.Boolean(),
      lastProblem: nullable(Type.String()),
    }),
  ),
  /** Markets that are subscribed to and have no quote yet; the first twenty by name. */
  unquoted: strict({ count: Count, markets: Type.Array(Type.String()) }),
});
export const MetricsText = Type.String();

export const AuditAnswer = strict({
  accounts: Count,
  restingOrders: Count,
  openPositions: Count,
  problems: Type.Array(Type.String()),
  following: Type.Array(Count),
});

export const ClockAnswer = strict({ engine: DateTime, machine: DateTime, aheadMs: Type.Integer() });

/** The outcome of an operator's result. */
const MARKET_RESULT = {
  /** `venue_a/TICKER`. */
  market: Type.String(),
  outcome: oneOf(['yes', 'no', 'void', 'scalar']),
  /** Of a contract of each side; null if the cost is paid back. */
  yesPayoutCents: nullable(Count),
  noPayoutCents: nullable(Count),
};

export const SettlementAnswer = strict({
  ...MARKET_RESULT,
  /** False: the market had this result already. */
  isNew: Type.Boolean(),
  settledTrades: Count,
  /** Of a correction: trades that the result before had settled. */
  correctedTrades: Count,
  canceledOrders: Count,
});

export const CorrectionsAnswer = strict({
  /** The market that was corrected last comes first. */
  corrections: Type.Array(
    strict({
      /** With the result that counts now. */
      ...MARKET_RESULT,
      /** When it had its first result. */
      resolvedAt: DateTime,
    }),
  ),
});

export const AdjustmentAnswer = strict({
  userId: Uuid,
  /** The added amount; below 0 it was taken. */
  dollars: Type.Number(),
  /** After it. */
  balanceDollars: Type.Number(),
  /** Of all in the run. */
  adjustmentsInRunDollars: Type.Number(),
});

/** All tags of a trade. */
export const MarkAnswer = strict({
  tradeId: Uuid,
  parlayId: nullable(Uuid),
  combine: Type.Boolean(),
});

/** The outcome of the lines that were sent. */
export const PlayedAnswer = strict({ lines: Count, frames: Count, ticks: Count, skipped: Count });

export const SwitchBody = strict({ on: Type.Boolean() });
export const SwitchAnswer = strict({ on: Type.Boolean() });

export const DiscoveryAnswer = strict({
  /** Instruments that only discovery knows, and retired ones. */
  discovered: Count,
  retired: Count,
  entries: Type.Array(
    strict({
      /** Of PAPERBOOK_DISCOVER. */
      entry: Count,
      venue: VenueSchema,
      adapter: Type.String(),
      url: Type.String(),
      /** Null: all of them. */
      series: nullable(Type.Array(Type.String())),
      leagues: nullable(Type.Array(Type.String())),
      combos: Type.Boolean(),
      everySeconds: Count,
      horizonHours: Count,
      runs: Count,
      isRunning: Type.Boolean(),
      lastRunAt: nullable(DateTime),
      /** The last run that read the whole list. */
      lastCompleteAt: nullable(DateTime),
      /** Counts of the last run: markets of the venue; instruments; listings at another venue. */
      found: Count,
      added: Count,
      changed: Count,
      joined: Count,
      /**
       * Games of one day and the same teams that did not join: their number, and the first pairs.
       */
      apart: Count,
      apartGames: Type.Array(Type.Tuple([Type.String(), Type.String()])),
      /** Markets that make no instrument, by reason. */
      leftOut: Type.Record(Type.String(), Count),
      /** The error in which the list ended after good pages. */
      incomplete: nullable(Type.String()),
      /** Why nothing could be read. */
      problem: nullable(Type.String()),
    }),
  ),
});

export const FeedsAnswer = strict({
  feeds: Type.Array(
    strict({
      /** Of PAPERBOOK_FEEDS. */
      entry: Count,
      venue: VenueSchema,
      adapter: Type.String(),
      url: Type.String(),
      state: FEED_STATE,
      since: DateTime,
      /** False: not once since the start. */
      hasConnected: Type.Boolean(),
      reconnects: Count,
      attempts: Count,
      frames: Count,
      gaps: Count,
      /** Frames that could not be used, by reason. */
      rejected: Type.Record(Type.String(), Count),
      /** The delay of its last price after the venue; null: it is not known. */
      lagMs: nullable(Count),
      books: Count,
      subscribed: Count,
      /** Markets without a quote yet, and the first twenty of them. */
      unquoted: Count,
      unquotedMarkets: Type.Array(Type.String()),
      lastHeardAt: nullable(DateTime),
      /** Why the last connection ended; it is over if `state` is open. */
      lastProblem: nullable(Type.String()),
      lastProblemAt: nullable(DateTime),
      missedStatesProblem: nullable(Type.String()),
    }),
  ),
});

const Ms = Type.Number({ minimum: 0 });
export const ShardsAnswer = strict({
  shards: Type.Array(
    strict({
      shard: Count,
      state: oneOf(['opening', 'catching_up', 'following', 'open', 'restarting', 'closed']),
      /** Why it places no orders now, or its repeated failure. */
      problem: nullable(Type.String()),
      /** Number of the last fact in its log; null: the shard was not open since the start. */
      lastFact: nullable(Count),
      logBytes: nullable(Count),
      /** That a start would replay. */
      factsSinceCheckpoint: nullable(Count),
      /** On the engine's clock; null: there is no checkpoint yet. */
      checkpointAt: nullable(DateTime),
      checkpointAgeMs: nullable(Count),
      /** Batches that wrote to the log within the last minutes, and their time until they were on disk. */
      batches: strict({
        minutes: Count,
        count: Count,
        p50Ms: nullable(Ms),
        p99Ms: nullable(Ms),
      }),
      /** Requests that wait or are in flight, and how many may. */
      queued: Count,
      queuedMax: Count,
      lastFailure: nullable(strict({ at: DateTime, reason: Type.String() })),
    }),
  ),
});

export const ProblemsAnswer = strict({
  /** As in `/healthz`. */
  problems: Type.Array(Type.String()),
  /** The last warnings and errors of the log since the start, the latest first. */
  log: Type.Array(
    strict({
      at: DateTime,
      /** Equal lines count as one. */
      times: Count,
      firstAt: DateTime,
      level: oneOf(['warn', 'error']),
      message: Type.String(),
      details: Type.Record(Type.String(), Type.String()),
    }),
  ),
});

/** Rule O20 (api/RULES.md). */
const PAGE = {
  limit: limitOf(500, 50),
  cursor: Type.Optional(Cursor),
};
export const UsersQuery = strict({
  ...PAGE,
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 254, description: '1 to 254 characters' }),
  ),
});
export const KeysQuery = strict({ ...PAGE, userId: Type.Optional(Uuid) });

export const MarketsQuery = strict({
  limit: limitOf(50, 20),
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: '1 to 100 characters' }),
  ),
});
export const AdminMarketsAnswer = strict({
  markets: Type.Array(
    strict({
      /** `venue_a/TICKER` */
      market: Type.String(),
      /** What its yes means. An instrument may have it as its no. */
      yesLabel: Type.String(),
      league: Type.String(),
      startsAt: DateTime,
      gameStatus: nullable(oneOf(GAME_STATUSES)),
    }),
  ),
});

const AdminUser = strict({
  id: Uuid,
  displayName: nullable(Type.String()),
  email: nullable(Type.String()),
  private: Type.Boolean(),
  showEarlierTrades: Type.Boolean(),
  plan: PlanSchema,
  tradeLimits: nullable(TradeLimitsSchema),
  requestLimits: nullable(RequestLimitsSchema),
  createdAt: DateTime,
});
export const AdminUserAnswer = strict({ user: AdminUser });
export const AdminUsersAnswer = strict({ users: Type.Array(AdminUser), nextCursor: NextCursor });

const AdminKey = strict({
  id: Uuid,
  userId: Uuid,
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
});
export const AdminKeyAnswer = strict({ key: AdminKey });
export const AdminKeysAnswer = strict({ keys: Type.Array(AdminKey), nextCursor: NextCursor });
export const AdminNewKeyAnswer = strict({
  key: AdminKey,
  token: Type.String({ pattern: '^svc_sk_[A-Za-z0-9_-]{43}$' }),
});

const ADMIN_ORGANIZATION = {
  id: Uuid,
  slug: Type.String(),
  name: Type.String(),
  tradeLimits: nullable(SandboxLimitsSchema),
  createdAt: DateTime,
};
const AdminMember = strict({ userId: Uuid, role: RoleSchema, createdAt: DateTime });
export const AdminOrganizationAnswer = strict({ organization: strict(ADMIN_ORGANIZATION) });
export const AdminOrganizationsAnswer = strict({
  organizations: Type.Array(strict({ ...ADMIN_ORGANIZATION, members: Type.Array(AdminMember) })),
});
export const AdminRealismAnswer = strict({ accountId: Uuid, realism: RealismSchema });
export const AdminMembershipAnswer = strict({ organizationId: Uuid, member: AdminMember });

const AdminVenueKey = strict({
  userId: Uuid,
  venue: ExecutionVenueSchema,
  venueKeyId: Type.String(),
  createdAt: DateTime,
});
export const AdminVenueKeyAnswer = strict({ venueKey: AdminVenueKey });
export const AdminVenueKeysAnswer = strict({ venueKeys: Type.Array(AdminVenueKey) });
