/**
 * Queries to a shard, as plain data; each carries the time at which it is answered. Rules A40 to
 * A44 (api/RULES.md), D12 (engine/RULES.md).
 */

import type { EpochMs, InstrumentNumber, Uuid } from './units.ts';

/** Newest first; `before` is the id of the last row of the previous page. */
type Page = { limit: number; before: Uuid | null };

export type PortfolioQuery = {
  kind: 'portfolio';
  atMs: EpochMs;
  account: Uuid;
  organizationSlug: string | null;
};
export type OrderQuery = {
  kind: 'order';
  atMs: EpochMs;
  account: Uuid;
  organizationSlug: string | null;
  orderId: Uuid;
};
export type OrdersQuery = Page & {
  kind: 'orders';
  atMs: EpochMs;
  account: Uuid;
  organizationSlug: string | null;
  status: 'resting' | 'executed' | 'canceled' | 'expired' | null;
};
export type TradesQuery = Page & {
  kind: 'trades';
  atMs: EpochMs;
  account: Uuid;
  organizationSlug: string | null;
  status: 'open' | 'closed' | 'settled' | 'void' | null;
};
/** Answers with one Quote, or `instrument_not_found`. */
export type QuoteQuery = { kind: 'instrument_quote'; atMs: EpochMs; instrumentId: string };
/**
 * Answers `{priced}`: of each of these instruments, or of all by number, a bit whether venue_a has a
 * live price of it; in base64, the lowest bit of a byte first. Rule A45 (api/RULES.md).
 */
export type PricedQuery = {
  kind: 'priced';
  atMs: EpochMs;
  instruments: readonly InstrumentNumber[] | null;
};
/** Answers with the `TradeUse` of a key in this shard. */
export type KeyUseQuery = { kind: 'key_use'; atMs: EpochMs; keyId: Uuid };
/** Answers `{accounts, restingOrders, openPositions, problems: string[]}`. */
export type AuditQuery = { kind: 'audit'; atMs: EpochMs };
/**
 * Answers `{accounts: [{account, line}], referenceData}`, canonical and independent of shard and
 * slot; with `quotes` what venues last said is part of it.
 */
export type DigestQuery = { kind: 'digest'; atMs: EpochMs; quotes: boolean };

export type Query =
  | PortfolioQuery
  | OrderQuery
  | OrdersQuery
  | TradesQuery
  | QuoteQuery
  | PricedQuery
  | KeyUseQuery
  | AuditQuery
  | DigestQuery;
