/**
 * How positions open, grow, shrink and close, for any reason. Rules T20, T71 to T73
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type {
  AccountRow,
  Cents,
  Contracts,
  EpochMs,
  MarketNumber,
  OrderRow,
  PositionRow,
  Side,
} from '../base/units.ts';
import { NO_ROW, VENUES } from '../base/units.ts';
import type { OrderFilled, OrderPartFilled } from './events.ts';
import { positionFlagsOf, sideOf } from './flags.ts';
import { placeOfTrade, writeTradeId } from './ids.ts';
import { averagePrice } from './partial-fills.ts';
import { copyTradeTerms } from './row-terms.ts';
import type { PositionTable, ShardState } from './state.ts';

export function openPosition(
  state: ShardState,
  order: OrderRow,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): PositionRow {
  const { positions } = state;
  const from = state.orders.col;
  invariant(state.markets[from.market.get(order)]?.outcome === null, 'bought in a settled market');
  invariant(contracts > 0, 'a position was opened with no contracts');
  invariant(VENUES[event.venue] !== undefined, 'a position was opened at no venue');
  const row = positions.claim();
  const to = positions.change(row);
  to.sequence.set(row, ++state.sequence);
  to.costCents.set(row, event.cents);
  to.soldCostCents.set(row, 0);
  to.soldCents.set(row, 0);
  to.soldBeforeCents.set(row, 0);
  to.account.set(row, from.account.get(order));
  to.market.set(row, from.market.get(order));
  to.instrument.set(row, from.instrument.get(order));
  to.contracts.set(row, contracts);
  to.soldContracts.set(row, 0);
  to.entryPriceCents.set(row, event.priceCents);
  to.flags.set(row, positionFlagsOf(from.flags.get(order), state.realism.isRealistic(order)));
  copyTradeTerms(to, row, from, order);
  to.venue.set(row, event.venue);
  to.soldVenue.set(row, 0);
  positions.derived.resting.set(row, NO_ROW);
  writeTradeId(to.id, row, from.id, order, nextPlace(state, order, event.atMs));
  state.positionIds.add(row);
  state.positionsOfAccount.add(to.account.get(row), row);
  state.positionsOfMarket.add(to.market.get(row), row);
  state.heldSides.add(row);
  return row;
}

/** The place among `heldSides` of an account's open trades of one side of a market. */
export function hashOfHeld(account: AccountRow, market: MarketNumber, side: Side): number {
  const held = 2 * market + (side === 'yes' ? 1 : 0);
  return Math.imul(Math.imul(account, 0x9e37_79b1) ^ held, 0x85eb_ca6b);
}

export function hashOfTrade({ col }: PositionTable, row: PositionRow): number {
  return hashOfHeld(col.account.get(row), col.market.get(row), sideOf(col.flags.get(row)));
}

/** Takes the next place of a moment for a trade of the order's account. Rule T7 (engine/RULES.md). */
function nextPlace({ accounts, orders }: ShardState, order: OrderRow, openedAtMs: EpochMs) {
  const account = orders.col.account.get(order);
  const col = accounts.change(account);
  const last = col.tradeOpenedAtMs.get(account) === openedAtMs ? col.tradePlace.get(account) : null;
  const place = placeOfTrade(orders.col.id, order, last);
  col.tradeOpenedAtMs.set(account, openedAtMs);
  col.tradePlace.set(account, place);
  return { openedAtMs, place };
}

/**
 * A buy fills in parts: one position, at the average of them, rounded up. Rules T71, M40
 * (engine/RULES.md).
 */
export function growPosition(
  { positions }: ShardState,
  row: PositionRow,
  contracts: Contracts,
  cents: Cents,
): void {
  const col = positions.change(row);
  invariant(contracts > 0, 'a position grew by no contracts');
  invariant(cents >= 0, 'a part of a position cost less than nothing');
  col.contracts.add(row, contracts);
  col.costCents.add(row, cents);
  const entryPriceCents = averagePrice('buy', col.costCents.get(row), col.contracts.get(row));
  col.entryPriceCents.set(row, entryPriceCents);
}

/**
 * Some contracts are sold: their cost leaves the position, and the proceeds are counted. The others
 * stay.
 */
export function shrinkPosition(
  { positions }: ShardState,
  row: PositionRow,
  { contracts, cost, cents }: { contracts: Contracts; cost: Cents; cents: Cents },
): void {
  const col = positions.change(row);
  invariant(contracts > 0, 'a partial sell has no contracts');
  invariant(cents >= 0, 'the proceeds of a partial sell are below zero');
  invariant(cost >= 0, 'the cost of a partial sell is below zero');
  invariant(contracts < col.contracts.get(row), 'a partial sell leaves no contracts');
  invariant(cost <= col.costCents.get(row), 'a part cost more than the whole');
  col.contracts.add(row, -contracts);
  col.costCents.add(row, -cost);
  col.soldContracts.add(row, contracts);
  col.soldCostCents.add(row, cost);
  col.soldCents.add(row, cents);
}

export function closePosition(state: ShardState, position: PositionRow): void {
  invariant(state.positions.isLive(position), 'a position was closed twice');
  state.applied.trade = 'closed';
  const { account, market } = state.positions.col;
  state.positionsOfAccount.remove(account.get(position));
  state.positionsOfMarket.remove(market.get(position));
  state.heldSides.remove(position);
  state.positionIds.remove(position);
  state.tradeFees.end(position);
  state.positions.release(position);
}

/**
 * A new sell trades for the first time, at a venue (an index into VENUES). From here on its parts
 * are counted separately from the parts of earlier sells.
 */
export function startSale({ positions }: ShardState, position: PositionRow, venue: number): void {
  invariant(VENUES[venue] !== undefined, 'a position is sold at no venue');
  const { soldCents, soldBeforeCents, soldVenue } = positions.change(position);
  soldBeforeCents.set(position, soldCents.get(position));
  soldVenue.set(position, venue);
}
