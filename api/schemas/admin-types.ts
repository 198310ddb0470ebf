/** The answers of the admin listener, as types for the operator's page. */
import type { Static } from '@sinclair/typebox';
import type {
  AdjustmentAnswer,
  AdminKeysAnswer,
  AdminMarketsAnswer,
  AdminUserAnswer,
  AdminUsersAnswer,
  DiscoveryAnswer,
  FeedsAnswer,
  ProblemsAnswer,
  ReadyAnswer,
  SettlementAnswer,
  ShardsAnswer,
  SwitchAnswer,
} from './admin.ts';
import type { PortfolioAnswer, TradesAnswer } from './trading.ts';

export type Discovery = Static<typeof DiscoveryAnswer>;
export type DiscoveryEntry = Discovery['entries'][number];
export type Feeds = Static<typeof FeedsAnswer>;
export type Feed = Feeds['feeds'][number];
export type Shards = Static<typeof ShardsAnswer>;
export type Shard = Shards['shards'][number];
export type Problems = Static<typeof ProblemsAnswer>;
export type LogLine = Problems['log'][number];
export type Ready = Static<typeof ReadyAnswer>;
export type Switched = Static<typeof SwitchAnswer>;
export type UsersPage = Static<typeof AdminUsersAnswer>;
export type Changed = Static<typeof AdminUserAnswer>;
export type User = Changed['user'];
export type Plan = User['plan'];
export type KeysPage = Static<typeof AdminKeysAnswer>;
export type Key = KeysPage['keys'][number];
export type Markets = Static<typeof AdminMarketsAnswer>;
export type Portfolio = Static<typeof PortfolioAnswer>;
export type Position = Portfolio['positions'][number];
export type TradesPage = Static<typeof TradesAnswer>;
export type Trade = TradesPage['trades'][number];
export type Settlement = Static<typeof SettlementAnswer>;
export type Adjustment = Static<typeof AdjustmentAnswer>;
