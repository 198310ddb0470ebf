/**
 * Orders and trades as bytes: what the archive is made of. Part of the data directory's format:
 * append words, never change or reorder one.
 */

import {
  CANCEL_REASONS,
  type ClosedTrade,
  type OrderOutcome,
  type OrderPlaced,
} from '../rules/events.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import type { AccountRow, OrderRow, PositionRow, Uuid } from '../rules/units.ts';
import { PLACED_VIA, type Side } from '../rules/units.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import {
  always,
  compile,
  f64,
  flag,
  type Layout,
  nullable,
  packed,
  record,
  text,
  u8,
  u32,
  uuid,
  word,
} from './layout.ts';

/** An order, and how it ended if it has. */
export type RecentOrder = { placed: OrderPlaced; outcome: OrderOutcome | null };

/** What an idempotency key was used for: a limit order's id, or the whole of a market order. */
export type KeyRow = {
  limit: Uuid | null;
  market: { placed: OrderPlaced; outcome: OrderOutcome } | null;
};

/** Rows of tables, as they are numbered. */
const accountRow = u32 as unknown as Layout<AccountRow>;
const orderRowNumber = u32 as unknown as Layout<OrderRow>;
const positionRow = u32 as unknown as Layout<PositionRow>;

const side = word<Side>('yes', 'no');
const outcome = word<MarketOutcome>('yes', 'no', 'void', 'scalar');
const via = word(...PLACED_VIA);
const reason = word(...CANCEL_REASONS);

/** A placement as the journal and the archive keep it. `PlacedBytes` knows how it begins. */
const placed = record<OrderPlaced>({
  kind: always('order_placed'),
  atMs: f64,
  order: orderRowNumber,
  account: accountRow,
  orderId: uuid,
  idempotencyKey: text,
  action: word('buy', 'sell'),
  type: word('market', 'limit'),
  market: u32,
  instrument: u32,
  side,
  instrumentSide: side,
  byTicker: flag,
  contracts: u32,
  position: nullable(positionRow),
  tradeId: nullable(uuid),
  limitPriceCents: nullable(u8),
  boundPriceCents: nullable(u8),
  timeInForce: nullable(word('gtc', 'ioc', 'fok')),
  expiresAtMs: nullable(f64),
  routing: word('venue_a', 'best'),
  statedProbPct: nullable(u8),
  placedVia: via,
  placedPrivate: flag,
  rests: flag,
});

const ended = record<OrderOutcome>({
  atMs: f64,
  status: word('executed', 'canceled', 'expired'),
  reason: nullable(reason),
  fillPriceCents: nullable(u8),
  venue: nullable(u8),
  tradeId: nullable(uuid),
  filledContracts: nullable(u32),
});

const trade = record<ClosedTrade>({
  tradeId: uuid,
  account: accountRow,
  market: u32,
  instrument: u32,
  side,
  instrumentSide: side,
  contracts: u32,
  costCents: f64,
  entryPriceCents: u8,
  statedProbPct: nullable(u8),
  placedVia: via,
  placedPrivate: flag,
  venue: u8,
  openedAtMs: f64,
  closedAtMs: f64,
  status: word('closed', 'settled', 'void', 'reset'),
  closeReason: word('sold', 'settled', 'voided', 'account_reset'),
  proceedsCents: f64,
  outcome: nullable(outcome),
});

const writer = new ByteWriter();

/** The bytes of the values of one archive table. */
export type RowFormat<T> = { pack(value: T): Buffer; unpack(bytes: Uint8Array): T };

function row<T>(layout: Layout<T>): RowFormat<T> {
  const { write, read } = compile(layout);
  return {
    pack(value) {
      writer.begin();
      write(writer, value);
      return writer.copy();
    },
    unpack: (bytes) => read(new ByteReader(bytes)),
  };
}

const keyRowOf = <I, P>(orderId: Layout<I>, placement: Layout<P>) =>
  record({
    limit: nullable(orderId),
    market: nullable(record({ placed: placement, outcome: ended })),
  });
const orderRowOf = <P>(placement: Layout<P>) =>
  record({ placed: placement, outcome: nullable(ended) });

export const keyRow = row<KeyRow>(keyRowOf(uuid, placed));
export const orderRow = row<RecentOrder>(orderRowOf(placed));
export const outcomeRow = row(ended);
export const tradeRow = row(trade);

/** The same rows, of a placement that is in bytes already. */
export const packedKeyRow = row(keyRowOf(packed, packed));
export const packedOrderRow = row(orderRowOf(packed));

/** What waits in memory for the archive. */
export const placedRecord = compile(placed);
export const tradeRecord = compile(trade);
