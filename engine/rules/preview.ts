/**
 * What an order would do now. The decision is that of placing; nothing of it is applied. Rule T133
 * (engine/RULES.md).
 */
import type { OrderFilled, OrderPartFilled } from './events.ts';
import { invariant } from './invariant.ts';
import { costCents } from './ledger.ts';
import type { PlaceOrder } from './messages.ts';
import { subjectOf } from './order-subject.ts';
import { decideUnderNewKey } from './orders.ts';
import type { Market } from './reference-data.ts';
import type { RejectionCode } from './rejections.ts';
import type { ShardState } from './state.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  type PriceCents,
  VENUES,
  type Venue,
} from './units.ts';

export type Preview = {
  would: 'execute' | 'rest' | 'cancel' | 'refuse';
  /** Why it would be refused; null: it would not. */
  code: RejectionCode | null;
  fill: { priceCents: PriceCents; contracts: Contracts; venue: Venue } | null;
  /** What a buy would take from the balance: for the part that trades, and for the part that rests. */
  costCents: Cents;
  holdCents: Cents;
  /** The home market; null: the order names none. */
  market: Market | null;
};

/** Reads the state as it is at `nowMs`, which may be ahead of it, and changes nothing. */
export function preview(current: ShardState, order: PlaceOrder, nowMs: EpochMs): Preview {
  const state: ShardState = { ...current, nowMs };
  const account = state.accountIds.find(order.account);
  const decision = decideUnderNewKey(state, order, account);
  const subject = subjectOf(state, order, account);
  const market = 'kind' in subject ? null : subject.market;
  const nothing = { code: null, fill: null, costCents: 0, holdCents: 0, market };
  invariant(decision.kind !== 'replay', 'an order under a new key was placed before');
  if (decision.kind === 'reject') {
    return { ...nothing, would: 'refuse', code: decision.rejection.code };
  }
  const { events } = decision;
  const placed = events.find((event) => event.kind === 'order_placed');
  invariant(placed !== undefined, 'a placement was accepted and left no order');
  const fill = events.find(isFill) ?? null;
  const filled =
    fill === null ? 0 : fill.kind === 'order_filled' ? placed.contracts : fill.contracts;
  const isBuy = order.action === 'buy';
  const { rests } = placed;
  return {
    ...nothing,
    would: rests ? 'rest' : fill === null ? 'cancel' : 'execute',
    fill: fill && { priceCents: fill.priceCents, contracts: filled, venue: VENUES[fill.venue]! },
    costCents: isBuy && fill !== null ? costCents(fill.priceCents, filled) : 0,
    holdCents: isBuy && rests ? costCents(order.limitPriceCents!, placed.contracts - filled) : 0,
  };
}

function isFill(event: { kind: string }): event is OrderFilled | OrderPartFilled {
  return event.kind === 'order_filled' || event.kind === 'order_part_filled';
}
