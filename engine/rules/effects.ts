/**
 * What the event applied last has led to. Its facts and answers show it, and its event alone does
 * not say it. One object of a state, written anew by each event that ends an order or changes a
 * trade: a quote may fill thousands of orders, and each object of its own would cost.
 */
import type { CancelReason, OrderOutcome } from './events.ts';
import type { AccountRow, Cents, Contracts, PositionRow, PriceCents } from './units.ts';
import { NO_ROW } from './units.ts';

export class Effects {
  /** Whose order or trade it is. The row of what has ended has lost it. */
  account = NO_ROW as AccountRow;
  /** The trade's position; it may have ended, but its row still has the id. `NO_ROW`: none. */
  position = NO_ROW as PositionRow;
  /** What became of the trade. */
  trade: 'opened' | 'grown' | 'reduced' | 'closed' | null = null;
  /** What changed hands just now, and what contracts that were sold had cost. */
  contracts: Contracts = 0;
  cents: Cents = 0;
  costCents: Cents = 0;
  /** How the order stands: its fills' average price, 0 for none; where the first one was priced. */
  status: OrderOutcome['status'] = 'executed';
  reason: CancelReason | null = null;
  fillPriceCents: PriceCents = 0;
  fillVenue: number | null = null;
  /** Where it ended traded in part; 0: all of it did, or nothing. */
  filledContracts: Contracts = 0;
}
