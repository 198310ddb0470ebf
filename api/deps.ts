/** What the HTTP layer is handed: the composition root builds these, tests fake them. */
import type {
  CancelOrder,
  PlaceOrder,
  Query,
  Reply,
  SetSwitches,
} from '../engine/rules/messages.ts';
import type { EpochMs, Uuid, Venue } from '../engine/rules/units.ts';
import type { EngineBusy } from '../engine/shard/busy.ts';
import type { Waiter } from '../engine/shard/outbox.ts';
import type { CatalogView } from './catalog-view.ts';
import type { Config } from './config.ts';
import type { ControlStore } from './identity/store.ts';
import type { RequestMeter } from './limits/request-meter.ts';
import type { Organizations } from './organizations.ts';
import type { Switches } from './switches.ts';

/** The sharded engine. It rejects with `EngineBusy` what it cannot take now. */
export interface Engine {
  /** Runs a query of one account in that account's shard. The waiter gets the answer. */
  ask(account: Uuid, query: Query, waiter: Waiter): undefined;
  /** Runs a command in its account's shard, within the limits of a key of `owner`. */
  trade(owner: Uuid, command: PlaceOrder | CancelOrder, waiter: Waiter): undefined;
  /**
   * Gives the waiter what `find` finds. Equal questions of one turn of the event loop share an
   * answer.
   */
  coalesce<T>(question: string, find: () => Promise<T>, waiter: Waiter<T>): undefined;
  /** One Quote as JSON text, or `instrument_not_found`. */
  quote(instrumentId: string, atMs: EpochMs): Promise<Reply>;
  /** Why no request can be taken now; null: one may be. */
  refusal(): EngineBusy | null;
  /** Sends every shard the switches that its answers depend on. */
  broadcast(command: SetSwitches): Promise<void>;
  /** Checks every invariant of every shard. */
  audit(): Promise<AuditReport>;
  /** The engine's time: the wall's, or the feed's when PAPERBOOK_CLOCK is `feed`. */
  nowMs(): EpochMs;
  /** The machine's time, which the engine's may be ahead of, or behind. */
  machineMs(): EpochMs;
  /** Makes the machine's time the engine's, on disk on return. Rejects with `EngineBusy`. */
  acceptMachineTime(): Promise<void>;
  state(): EngineState;
  /** What is wrong with the data of the shards, a line a shard; `degraded` says that there is. */
  troubles(): string[];
}

export type EngineState = 'starting' | 'ready' | 'degraded' | 'stopping';

export type AuditReport = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  /** Broken rules in words; empty when all hold. */
  problems: string[];
};

/** One venue connection as an operator sees it; nothing secret in it. */
export type FeedStatus = {
  venue: Venue;
  adapter: string;
  /** Without user, password, query and fragment, which may hold secrets. */
  url: string;
  host: string;
  state: 'connecting' | 'open' | 'waiting' | 'closed';
  sinceMs: EpochMs;
  /** Attempts since the last connection that stayed healthy. */
  attempts: number;
  frames: number;
  lastHeardMs: EpochMs | null;
  /** Markets whose book is kept. */
  books: number;
  /** Markets asked for that no quote came of, and since when. */
  unquoted: ReadonlyMap<string, EpochMs>;
  lastProblem: string | null;
};

/** The part of a pino logger that is used here. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type Deps = {
  engine: Engine;
  catalog: CatalogView;
  feeds: () => FeedStatus[];
  log: Log;
  config: Config;
  identity: ControlStore;
  organizations: Organizations;
  switches: Switches;
  meter: RequestMeter;
  /** What is wrong with any part of the server, a line each; empty: nothing. */
  problems: () => readonly string[];
  /** Accounts that nobody may trade on, in words; empty: every account is somebody's. */
  ownerless: readonly string[];
  /** The bearer token of the admin listener: `admin-token.ts`. */
  adminToken: string;
};
