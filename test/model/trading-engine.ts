/** The engine of a scenario or a random run: the naive model, or the engine itself. */

import type { Cents, FillModelName, Uuid } from '../../engine/base/units.ts';
import type { CancelReason } from '../../engine/rules/events.ts';
import type { Command, Reply, Tick } from '../../engine/rules/messages.ts';
import type { Query } from '../../engine/rules/queries.ts';

export type TradingOptions = {
  quoteMaxAgeMs: number;
  routingBandCents: number;
  fillModel?: FillModelName;
  /** Shards that accounts are spread over; a tick reaches one after the other. Left out: one. */
  shards?: number;
};

/** Users' questions; `audit` and `digest` look inside. */
export type UserQuery = Exclude<
  Query,
  {
    kind:
      | 'audit'
      | 'digest'
      | 'quote_changes'
      | 'account_snapshot'
      | 'settled'
      | 'held_markets'
      | 'corrected_markets';
  }
>;

/** How an order ended; `reason` is null when all of it traded. */
export type Ending = {
  orderId: Uuid;
  status: 'executed' | 'canceled' | 'expired';
  reason: CancelReason | null;
};

export type TradingEngine = {
  tick(tick: Tick): void;
  command(command: Command): Reply;
  query(query: UserQuery): Reply;
  /** One line for every broken rule of the ledger; empty when all is well. */
  conservation(): string[];
  /** How orders ended so far, in the order in which they ended. */
  endings(): Ending[];
  /** Everything that belongs to accounts, as plain data: equal where nothing has changed. */
  digest(): unknown;
  /** How much more an account could be paid before one of its sums could not be counted. */
  roomCents(account: Uuid): Cents;
};
