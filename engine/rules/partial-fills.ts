/**
 * The traded contracts of an order are read from its position, so a resting order needs no bytes
 * for them. The position of a buy has the contracts that it traded. The position of a sell has the
 * contracts that it did not trade. This works because a position has at most one resting order
 * (`resting` in table-columns.ts). A netting order may have traded in several positions, so its own
 * row has what it traded. Rules T70 to T72, T192 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { Cents, Contracts, OrderRow, PositionRow, PriceCents } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import { isBuy, isSell } from './flags.ts';
import type { ShardState } from './state.ts';

export type FilledSoFar = {
  contracts: Contracts;
  /** The average, rounded against the trader; null: nothing has traded. */
  priceCents: PriceCents | null;
  /** Index into VENUES, of the first fill. */
  venue: number | null;
};

const NOTHING: FilledSoFar = { contracts: 0, priceCents: null, venue: null };

/** The contracts of an unfinished order that have not traded yet. */
export function remainingOf({ orders, positions, nets }: ShardState, order: OrderRow): Contracts {
  if (nets.has(order)) return orders.col.contracts.get(order) - nets.filled(order).contracts;
  const position = orders.col.position.get(order);
  if (position === NO_ROW) return orders.col.contracts.get(order);
  const held = positions.col.contracts.get(position);
  return isSell(orders.col.flags.get(order)) ? held : orders.col.contracts.get(order) - held;
}

/** The fills of an unfinished order. */
export function filledSoFar(state: ShardState, order: OrderRow): FilledSoFar {
  if (state.nets.has(order)) {
    const { contracts, cents, venue } = state.nets.filled(order);
    if (contracts === 0) return NOTHING;
    return { contracts, priceCents: averagePrice('buy', cents, contracts), venue };
  }
  const { col } = state.positions;
  const position = state.orders.col.position.get(order);
  if (position === NO_ROW) return NOTHING;
  if (isBuy(state.orders.col.flags.get(order))) {
    const contracts = col.contracts.get(position);
    return {
      contracts,
      priceCents: col.entryPriceCents.get(position),
      venue: col.venue.get(position),
    };
  }
  const contracts = state.orders.col.contracts.get(order) - col.contracts.get(position);
  invariant(contracts >= 0, 'a position has more contracts than its sell');
  if (contracts === 0) return NOTHING;
  const cents = col.soldCents.get(position) - col.soldBeforeCents.get(position);
  const priceCents = averagePrice('sell', cents, contracts);
  return { contracts, priceCents, venue: col.soldVenue.get(position) };
}

/** The trade that a netting order has opened last, while it is open. */
export function lastOpened({ nets, positions }: ShardState, order: OrderRow): PositionRow {
  const { position, sequence } = nets.opened(order);
  const isOpen = position !== NO_ROW && positions.isLive(position);
  const isIts = isOpen && positions.col.sequence.get(position) === sequence;
  return isIts ? position : (NO_ROW as PositionRow);
}

/** The average price, rounded against the trader. Rules T71, T72, M40 (engine/RULES.md). */
export function averagePrice(
  action: 'buy' | 'sell',
  cents: Cents,
  contracts: Contracts,
): PriceCents {
  invariant(contracts > 0, 'an average of no contracts');
  return (action === 'buy' ? Math.ceil : Math.floor)(cents / contracts);
}

/**
 * The cost of some of a position's contracts, rounded down. The last part gets the cents that
 * rounding has left, so that every cent of cost is released once. Rules T72, M40 (engine/RULES.md).
 */
export function costOfPart(cost: Cents, part: Contracts, contracts: Contracts): Cents {
  invariant(part > 0 && part < contracts, 'a part is nothing, or the whole');
  // The product of a cost and a count can leave the safe integers.
  return Number((BigInt(cost) * BigInt(part)) / BigInt(contracts));
}
