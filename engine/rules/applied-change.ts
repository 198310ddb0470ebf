/**
 * The change that the last event made: the values that its facts and answers show and the event
 * itself lacks. A state has one such object. Each event that ends an order or changes a trade
 * overwrites it. A quote may fill thousands of orders, and an object for each would be slow.
 */

import type {
  AccountRow,
  Cents,
  Contracts,
  PlacedNetting,
  PositionRow,
  PriceCents,
} from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import type { GroupRow } from '../memory/order-groups.ts';
import type { CancelReason, OrderOutcome } from './events.ts';

export class AppliedChange {
  /** The account of the order or trade. The row of an ended order or trade no longer has it. */
  account = NO_ROW as AccountRow;
  /** The trade's position. It may have ended, but its row still has the id. `NO_ROW`: none. */
  position = NO_ROW as PositionRow;
  /** The change of the trade. */
  trade: 'opened' | 'grown' | 'reduced' | 'closed' | null = null;
  /** The contracts and cents of this fill; for a sell, the cost of the sold contracts. */
  contracts: Contracts = 0;
  cents: Cents = 0;
  /** The fees of its order so far, and of its trade; null: they pay none. */
  feesCents: Cents | null = null;
  tradeFeesCents: Cents | null = null;
  costCents: Cents = 0;
  /**
   * The state of the order; the average price of its fills, 0 for none; the venue of the first one.
   */
  status: OrderOutcome['status'] = 'executed';
  reason: CancelReason | null = null;
  /** The order met the book later than it was accepted. */
  hadLatency = false;
  /** Of the order that has just ended; null: it netted nothing. Rule T190 (engine/RULES.md). */
  netting: PlacedNetting | null = null;
  /** Whether it was post-only, and its group. */
  postOnly = false;
  group = NO_ROW as GroupRow;
  fillPriceCents: PriceCents = 0;
  fillVenue: number | null = null;
  /**
   * The filled contracts of an order that ended partly filled; 0: it was filled fully or not at
   * all.
   */
  filledContracts: Contracts = 0;
}
