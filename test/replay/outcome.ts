/** The input of the oracle, and the outcome that it computes. */
import type { Side } from './day.ts';
import type { Body } from './order-body.ts';

export type OrderLine = { at: string; account: string; order?: Body; cancel?: string };

export type Trade = {
  account: string;
  instrumentId: string;
  market: string;
  instrumentSide: Side;
  boughtSide: Side;
  contracts: number;
  entryCents: number;
  openedAtMs: number;
  status: 'open' | 'closed' | 'settled';
  closedAtMs: number | null;
  proceedsCents: number | null;
  /** In the instrument's terms. */
  resolvedOutcome: Side | null;
};

export type Order = {
  account: string;
  key: string;
  placedAtMs: number;
  body: Body;
  instrumentId: string;
  market: string;
  side: Side;
  instrumentSide: Side;
  contracts: number;
  /** Null for a market order. */
  limitCents: number | null;
  timeInForce: 'gtc' | 'ioc' | 'fok' | null;
  expiresAtMs: number | null;
  status: 'resting' | 'executed' | 'canceled' | 'expired';
  cancelReason: string | null;
  fillCents: number | null;
  /** Bought or sold; null while a buy has not filled. */
  trade: Trade | null;
};

/** The outcome of one line of the file. */
export type LineResult =
  | { kind: 'refused'; code: string }
  | { kind: 'replayed' }
  | { kind: 'cancel' }
  | { kind: 'placed'; order: Order };
