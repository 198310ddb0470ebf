/**
 * Orders and cancels as rows: the values of their fields in an order that both ends know. msgpack
 * takes half as long to write a list as a record of as many fields.
 */

import type { CancelOrder, PlaceOrder, TradeCounting } from '../rules/messages.ts';
import type { TradeUse } from '../rules/units.ts';

export type Row = PlaceRow | CancelRow;

export function rowOf(command: PlaceOrder | CancelOrder): Row {
  return command.kind === 'place' ? placeRow(command) : cancelRow(command);
}

export function commandOf(row: Row): PlaceOrder | CancelOrder {
  return row[0] === 'place' ? placeOf(row) : cancelOf(row);
}

type Field<K extends keyof PlaceOrder> = PlaceOrder[K];
type PlaceRow = readonly [
  'place',
  Field<'atMs'>,
  Field<'account'>,
  Field<'orderId'>,
  Field<'idempotencyKey'>,
  Field<'action'>,
  Field<'type'>,
  Field<'instrumentId'>,
  Field<'ticker'>,
  Field<'side'>,
  Field<'contracts'>,
  Field<'tradeId'>,
  Field<'limitPriceCents'>,
  Field<'boundPriceCents'>,
  Field<'timeInForce'>,
  Field<'expiresAtMs'>,
  Field<'routing'>,
  Field<'statedProbPct'>,
  Field<'placedVia'>,
  Field<'placedPrivate'>,
  Field<'mayOpen'>,
  Field<'mayTrade'>,
  CountingRow | null,
];

function placeRow(order: PlaceOrder): PlaceRow {
  return [
    'place',
    order.atMs,
    order.account,
    order.orderId,
    order.idempotencyKey,
    order.action,
    order.type,
    order.instrumentId,
    order.ticker,
    order.side,
    order.contracts,
    order.tradeId,
    order.limitPriceCents,
    order.boundPriceCents,
    order.timeInForce,
    order.expiresAtMs,
    order.routing,
    order.statedProbPct,
    order.placedVia,
    order.placedPrivate,
    order.mayOpen,
    order.mayTrade,
    countingRow(order.counting),
  ];
}

function placeOf(row: PlaceRow): PlaceOrder {
  return {
    kind: 'place',
    atMs: row[1],
    account: row[2],
    orderId: row[3],
    idempotencyKey: row[4],
    action: row[5],
    type: row[6],
    instrumentId: row[7],
    ticker: row[8],
    side: row[9],
    contracts: row[10],
    tradeId: row[11],
    limitPriceCents: row[12],
    boundPriceCents: row[13],
    timeInForce: row[14],
    expiresAtMs: row[15],
    routing: row[16],
    statedProbPct: row[17],
    placedVia: row[18],
    placedPrivate: row[19],
    mayOpen: row[20],
    mayTrade: row[21],
    counting: countingOf(row[22]),
  };
}

type CancelRow = readonly [
  'cancel',
  CancelOrder['atMs'],
  CancelOrder['account'],
  CancelOrder['orderId'],
  CountingRow | null,
];

function cancelRow({ atMs, account, orderId, counting }: CancelOrder): CancelRow {
  return ['cancel', atMs, account, orderId, countingRow(counting)];
}

function cancelOf([, atMs, account, orderId, counting]: CancelRow): CancelOrder {
  return { kind: 'cancel', atMs, account, orderId, counting: countingOf(counting) };
}

/** The id of the key, the limits of the key and of the account, what the key did elsewhere. */
type CountingRow = readonly [string, number, number, number, number, number, number, UseRow | null];
type UseRow = readonly [atMs: number, newInMinute: number, newInDay: number, closing: number];

function countingRow(counting: TradeCounting | null): CountingRow | null {
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits, elsewhere } = counting;
  return [
    keyId,
    keyLimits.newPerMinute,
    keyLimits.newPerDay,
    keyLimits.closingPerMinute,
    accountLimits.newPerMinute,
    accountLimits.newPerDay,
    accountLimits.closingPerMinute,
    elsewhere === null ? null : useRow(elsewhere),
  ];
}

function useRow({ atMs, newInMinute, newInDay, closingInMinute }: TradeUse): UseRow {
  return [atMs, newInMinute, newInDay, closingInMinute];
}

function useOf(row: UseRow | null): TradeUse | null {
  if (row === null) return null;
  return { atMs: row[0], newInMinute: row[1], newInDay: row[2], closingInMinute: row[3] };
}

function countingOf(row: CountingRow | null): TradeCounting | null {
  if (row === null) return null;
  return {
    keyId: row[0],
    keyLimits: { newPerMinute: row[1], newPerDay: row[2], closingPerMinute: row[3] },
    accountLimits: { newPerMinute: row[4], newPerDay: row[5], closingPerMinute: row[6] },
    elsewhere: useOf(row[7]),
  };
}
