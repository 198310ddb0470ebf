/** The sharded engine as requests use it. `Shards` implements it; tests have other engines. */

import type { EpochMs, InstrumentNumber, StreamConnection, Uuid } from '../../engine/base/units.ts';
import type { LimitUsage } from '../../engine/rules/decision.ts';
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

/** The sharded engine. It rejects with `Unavailable` what it cannot accept now. */
export interface Engine {
  /** Runs a query of one account in that account's shard, and passes the waiter the answer. */
  ask(account: Uuid, query: Query, waiter: ReplyHandler): undefined;
  /** Runs a command in its account's shard, within the limits of a key of `owner`. */
  trade(owner: Uuid, command: TradingCommand, waiter: ReplyHandler): undefined;
  /** What an order of a key of `owner` would do now. */
  preview(owner: Uuid, query: PreviewQuery, waiter: ReplyHandler): undefined;
  /** Passes the waiter the result of `find`, run once for all who ask in one event loop turn. */
  coalesce<T>(question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined;
  /** One Quote as JSON text, or its book, or `instrument_not_found`. */
  quote(instrumentId: string, atMs: EpochMs, kind?: QuoteKind): Promise<Reply>;
  /** What a key and its owner's account have counted towards the hard trade limits. */
  tradeUse(owner: Uuid, keyId: Uuid): Promise<LimitUsage>;
  /** Answers `PricedQuery`: which of these instruments, or of all, have a live price. */
  priced(instruments: readonly InstrumentNumber[] | null, atMs: EpochMs): Promise<Reply>;
  /** Runs a command or query without a key in the account's shard. */
  call(account: Uuid, request: AccountRequest): Promise<Reply>;
  /** Marks a trade, in whatever shard it is. */
  tagTrade(command: TagTrade): Promise<Reply>;
  /** The connections of the stream that orders end with. */
  readonly connections: OrderConnections;
  /** What any shard can answer: `QuoteChangesQuery`, `BidsQuery`. */
  askAny(query: QuoteChangesQuery | BidsQuery): Promise<Reply>;
  /** Why no request can be accepted now; null: requests are accepted. */
  refusal(): Unavailable | null;
  /** Sends every shard the switches that their answers depend on. */
  broadcast(command: SetSwitches): Promise<void>;
  /** Checks every invariant of every shard. */
  audit(): Promise<AuditReport>;
  /** The engine's time: the wall's, or the feed's when PAPERBOOK_CLOCK is `feed`. */
  nowMs(): EpochMs;
  /** The machine's time; the engine's may be ahead of it or behind. */
  machineMs(): EpochMs;
  /** What is wrong with the time, on one line; null: nothing. */
  clockProblem(): string | null;
  /** Makes the machine's time the engine's, on disk on return. Rejects with `Unavailable`. */
  acceptMachineTime(): Promise<void>;
  state(): EngineState;
  /** What is wrong with the data of the shards, a line a shard; not empty when `degraded`. */
  problems(): string[];
  /** How each shard is, by number. */
  statuses(): ShardStatus[];
}

export type AccountRequest = AdjustCash | ResetAccount | SetPrivacy | AccountQuery | SettledQuery;

export type OrderConnections = {
  /** Before any order of it is placed. */
  opened(connection: StreamConnection): void;
  /** Cancels what rests of it in these accounts; it may be called again, for what was under way. */
  ended(connection: StreamConnection, accounts: Iterable<Uuid>): void;
};

export type EngineState = 'starting' | 'ready' | 'degraded' | 'stopping';

export type AuditReport = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  /** Broken rules in words; empty when every rule is met. */
  problems: string[];
};
