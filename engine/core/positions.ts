/** How positions open, grow, shrink and close, whatever the reason. */
import type { OrderFilled, OrderPartFilled, PositionSettled } from './events.ts';
import { writeTradeId } from './ids.ts';
import { costCents } from './ledger.ts';
import { linkPosition, unlinkPosition } from './links.ts';
import { closedTradeOf } from './rows.ts';
import { FLAG, type ShardState } from './state.ts';
import { NO_ROW } from './table.ts';
import type { Cents, Contracts } from './units.ts';

export function openPosition(
  state: ShardState,
  order: number,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): number {
  const { positions } = state;
  const from = state.orders.col;
  const row = positions.claim();
  const to = positions.col;
  to.sequence[row] = ++state.sequence;
  to.costCents[row] = costCents(event.priceCents, contracts);
  to.soldCostCents[row] = 0;
  to.soldCents[row] = 0;
  to.soldBeforeCents[row] = 0;
  to.account[row] = from.account[order]!;
  to.market[row] = from.market[order]!;
  to.instrument[row] = from.instrument[order]!;
  to.contracts[row] = contracts;
  to.soldContracts[row] = 0;
  to.entryPriceCents[row] = event.priceCents;
  to.statedProbPct[row] = from.statedProbPct[order]!;
  to.flags[row] = from.flags[order]! & (FLAG.no | FLAG.instrumentNo | FLAG.private);
  to.placedVia[row] = from.placedVia[order]!;
  to.venue[row] = event.venue;
  to.soldVenue[row] = 0;
  to.resting[row] = NO_ROW;
  writeTradeId(to, row, from, order, event.atMs);
  state.positionIds.add(row);
  linkPosition(state, row);
  return row;
}

/** A buy fills in parts: one position, at the average of them, rounded up. */
export function growPosition(
  { positions }: ShardState,
  row: number,
  contracts: Contracts,
  cents: Cents,
): void {
  const { col } = positions;
  col.contracts[row]! += contracts;
  col.costCents[row]! += cents;
  col.entryPriceCents[row] = Math.ceil(col.costCents[row]! / col.contracts[row]!);
  positions.touch(row);
}

/** Some contracts are sold, with their cost and for so many cents; the others stay. */
export function shrinkPosition(
  { positions }: ShardState,
  row: number,
  { contracts, cost, cents }: { contracts: Contracts; cost: Cents; cents: Cents },
): void {
  const { col } = positions;
  col.contracts[row]! -= contracts;
  col.costCents[row]! -= cost;
  col.soldContracts[row]! += contracts;
  col.soldCostCents[row]! += cost;
  col.soldCents[row]! += cents;
  positions.touch(row);
}

export function closePosition(
  state: ShardState,
  position: number,
  event: OrderFilled | OrderPartFilled | PositionSettled,
  proceedsCents: Cents,
): void {
  const outcome = event.kind === 'position_settled' ? event.outcome : null;
  const trade = closedTradeOf(state, position, event.atMs, proceedsCents, outcome);
  state.records.current.addClosedTrade(trade);
  unlinkPosition(state, position);
  state.positionIds.remove(position);
  state.positions.release(position);
}

/** The parts that a new sell will trade are told from those of the sells before it. */
export function startSale({ positions }: ShardState, position: number): void {
  const { soldCents, soldBeforeCents } = positions.col;
  if (soldBeforeCents[position] === soldCents[position]) return;
  soldBeforeCents[position] = soldCents[position]!;
  positions.touch(position);
}
