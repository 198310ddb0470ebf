/** The sharded engine as requests use it. `Shards` implements it; tests have other engines. */

import type { EpochMs, InstrumentNumber, StreamConnection, Uuid } from '../../engine/base/units.ts';
import type { TradeUses } from '../../engine/rules/decision.ts';
import type {
  AdjustCash,
  Reply,
  ResetAccount,
  SetPrivacy,
  SetSwitches,
  TagTrade,
  TradingCommand,
} from '../../engine/rules/messages.ts';
import type {
  AccountQuery,
  BidsQuery,
  PreviewQuery,
  Query,
  QuoteChangesQuery,
  QuoteKind,
  SettledQuery,
} from '../../engine/rules/queries.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import type { ShardStatus } from '../../engine/shard/callers/shard-status.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';

/** The sharded engine. It rejects requests that it cannot accept now with `Unavailable`. */
export interface Engine {
  /** Runs a query of one account in that account's shard, and passes the waiter the answer. */
  ask(account: Uuid, query: Query, waiter: ReplyHandler): undefined;
  /** Runs a command in its account's shard, within the limits of a key of `owner`. */
  trade(owner: Uuid, command: TradingCommand, waiter: ReplyHandler): undefined;
  /** The effect that an order of a key of `owner` would have now. */
  preview(owner: Uuid, query: PreviewQuery, waiter: ReplyHandler): undefined;
  /**
   * Passes the waiter the result of `find`, which runs once for all equal questions in one event
   * loop turn.
   */
  coalesce<T>(question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined;
  /** By shard, the answer to `CorrectedQuery`; null: it cannot answer now. */
  corrected(): Promise<(string | null)[]>;
  /** One Quote as JSON text, or its book, or `instrument_not_found`. */
  quote(instrumentId: string, atMs: EpochMs, kind?: QuoteKind): Promise<Reply>;
  /** The counts of a key and its owner's account towards the hard trade limits. */
  tradeUse(owner: Uuid, keyId: Uuid): Promise<TradeUses>;
  /** Answers `PricedQuery`: which of these instruments, or of all, have a live price. */
  priced(instruments: readonly InstrumentNumber[] | null, atMs: EpochMs): Promise<Reply>;
  /** Runs a command or query without a key in the account's shard. */
  call(account: Uuid, request: AccountRequest): Promise<Reply>;
  /** Tags a trade, in whatever shard it is. */
  tagTrade(command: TagTrade): Promise<Reply>;
  /** The connections of the stream that orders end with. */
  readonly connections: OrderConnections;
  /** A question that any shard can answer: `QuoteChangesQuery`, `BidsQuery`. */
  askAny(query: QuoteChangesQuery | BidsQuery): Promise<Reply>;
  /** Why no request can be accepted now; null: requests are accepted. */
  refusal(): Unavailable | null;
  /** Sends every shard the switches that their answers depend on. */
  broadcast(command: SetSwitches): Promise<void>;
  /** Checks every invariant of every shard. */
  audit(): Promise<AuditReport>;
  /** The engine's time: the wall's, or the feed's when PAPERBOOK_CLOCK is `feed`. */
  nowMs(): EpochMs;
  /** The machine's time. The engine's may be ahead of it, or earlier. */
  machineMs(): EpochMs;
  /** The problem of the time on one line; null: there is none. */
  clockProblem(): string | null;
  /** Makes the machine's time the engine's, on disk on return. Rejects with `Unavailable`. */
  acceptMachineTime(): Promise<void>;
  state(): EngineState;
  /** The problems of the shards' data, one line per shard; not empty when `degraded`. */
  problems(): string[];
  /** The status of each shard, by number. */
  statuses(): ShardStatus[];
}

export type AccountRequest =
  | AdjustCash
  | ResetAccount
  | SetPrivacy
  | TagTrade
  | AccountQuery
  | SettledQuery;

export type OrderConnections = {
  /** Called before any order of the connection is placed. */
  opened(connection: StreamConnection): void;
  /**
   * Cancels the connection's resting orders in these accounts. A second call cancels orders that
   * were under way.
   */
  ended(connection: StreamConnection, accounts: Iterable<Uuid>): void;
};

export type EngineState = 'starting' | 'ready' | 'degraded' | 'stopping';

export type AuditReport = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  /** Broken rules in words; empty when every rule is met. */
  problems: string[];
  /** Shards that another node leads: they were checked as this node has them. */
  following: number[];
};
