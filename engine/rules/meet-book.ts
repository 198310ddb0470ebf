/**
 * How an order meets the book, when it is placed or later: the fill that is possible, its place in a
 * queue, and why it ends if it neither fills nor rests. Rules T30, T31, T40, T42, T43, T68, T69, T146
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type {
  AccountRow,
  Action,
  Contracts,
  EpochMs,
  FillModelName,
  OrderRow,
  PriceCents,
  Side,
  TimeInForce,
} from '../base/units.ts';
import type { CancelReason, OrderQueued } from './events.ts';
import type { Fill, Taker } from './fill-model.ts';
import { type PricedBook, priceBook, restingPlace } from './pricing.ts';
import { aheadAtArrival } from './queue-fills.ts';
import type { Market } from './reference-data.ts';
import type { ShardState } from './state.ts';

/** What an order wants of the book. `limitPriceCents` and `timeInForce` null: a market order. */
type Wanted = {
  taker: Taker;
  action: Action;
  side: Side;
  limitPriceCents: PriceCents | null;
  timeInForce: TimeInForce | null;
  contracts: Contracts;
  model: FillModelName;
};

/** The fill that is possible now. A market order or a fok trades completely or not at all. */
export function possibleFill(
  state: ShardState,
  book: PricedBook,
  { taker, action, side, limitPriceCents, timeInForce, contracts, model }: Wanted,
  atMs: EpochMs,
): Fill | null {
  // Without a limit: one that every price reaches.
  const limit = limitPriceCents ?? (action === 'buy' ? 99 : 1);
  const { waitsForAskOf, priceLevel } = restingPlace(action, side, limit);
  const want = { taker, side: waitsForAskOf, upToCents: priceLevel, contracts, model };
  const price = priceBook(state, book, atMs);
  const fill = state.fillModel.orderArrives(state, book, price, want, atMs);
  const takesPart = timeInForce === 'gtc' || timeInForce === 'ioc';
  return fill === null || fill.contracts === contracts || takesPart ? fill : null;
}

/** It joins the queue of its price, after all that is displayed there. Rule T146. */
export function joinsQueue(
  { fillModel: { queues } }: ShardState,
  market: Market,
  { action, side, limitPriceCents }: { action: Action; side: Side; limitPriceCents: PriceCents },
  of: { atMs: EpochMs; order: OrderRow; account: AccountRow },
): OrderQueued {
  invariant(queues !== null, 'an order joins a queue under a model that has none');
  const { waitsForAskOf, priceLevel } = restingPlace(action, side, limitPriceCents);
  const aheadE2 = aheadAtArrival(queues, market, waitsForAskOf, priceLevel);
  return { kind: 'order_queued', ...of, aheadE2, partE2: 0 };
}

/** Why a limit order that does not rest ends with contracts left. Rules T43, T69. */
export function reasonUnfilled(timeInForce: TimeInForce | null): CancelReason {
  return timeInForce === 'fok' ? 'fok_not_filled' : 'ioc_not_filled';
}
