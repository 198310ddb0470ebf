/**
 * Queries to a shard, as plain data; each carries the time at which it is answered. Rules A40 to
 * A44 (api/RULES.md), D12 (engine/RULES.md).
 */

import type { QueryTag } from '../base/cursors.ts';
import type { EpochMs, InstrumentNumber, MarketNumber, Uuid } from '../base/units.ts';
import type { MarketResult, PlaceOrder } from './messages.ts';

/**
 * Newest first. `before` is the id of the last row of the previous page. `tag` begins the cursors
 * of this query; left out: no tag. Rule P8 (api/RULES.md).
 */
export type Page = { limit: number; before: Uuid | null; only?: RowFilter; tag?: QueryTag };

/** The filter of a list's rows; null: any value. Rule A79 (api/RULES.md). */
export type RowFilter = {
  instrumentId: string | null;
  /** For orders. */
  idempotencyKey: string | null;
  /** When the order was placed, or the trade opened: at `fromMs` or later, and before `toMs`. */
  fromMs: EpochMs | null;
  toMs: EpochMs | null;
};

export type PortfolioQuery = {
  kind: 'portfolio';
  atMs: EpochMs;
  account: Uuid;
  organizationSlug: string | null;
};
/** Answers `{points, account, asOf}`. */
export type AccountQuery = { kind: 'account'; atMs: EpochMs; account: Uuid };
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
/** Answers `{orderGroups}`, the oldest first. Rule A191 (api/RULES.md). */
export type OrderGroupsQuery = { kind: 'order_groups'; atMs: EpochMs; account: Uuid };
/** The effect that the order would have; its key is not looked up. Rule T133 (engine/RULES.md). */
export type PreviewQuery = { kind: 'preview'; atMs: EpochMs; order: PlaceOrder };
/** Answers with one Quote, or `instrument_not_found`. */
export type QuoteQuery = { kind: 'instrument_quote'; atMs: EpochMs; instrumentId: string };
/** Answers with the displayed levels, or `instrument_not_found`. Rule A84 (api/RULES.md). */
export type BookQuery = { kind: 'book'; atMs: EpochMs; instrumentId: string };
export type QuoteKind = (QuoteQuery | BookQuery)['kind'];
/**
 * Answers `{priced}`: for each of these instruments, or for all by number, a bit whether the catalog
 * lists it and venue_a has a live price of it. In base64, the lowest bit of a byte first. Rule A45
 * (api/RULES.md).
 */
export type PricedQuery = {
  kind: 'priced';
  atMs: EpochMs;
  instruments: readonly InstrumentNumber[] | null;
};
/**
 * Answers `{bids}`: for each of these markets, or for all by number, the live bids of yes and of no
 * in cents, two bytes in base64; 0: there is none. Rule M21 (engine/RULES.md).
 */
export type BidsQuery = { kind: 'bids'; atMs: EpochMs; markets: readonly MarketNumber[] | null };
/**
 * Answers `{held}`: for each market by number, a bit whether any account holds a trade of it or has
 * an order that depends on it; in base64, the lowest bit of a byte first. Rule S17
 * (engine/RULES.md).
 */
export type HeldQuery = { kind: 'held_markets'; atMs: EpochMs };
/**
 * Answers `{changes: [[place, version, Quote | null], …]}` with the places whose quote differs from
 * the asker's version (0: none). Null: no catalog lists the instrument. Equal versions are equal
 * quotes, from any shard; `asOf` is no part of a version.
 */
export type QuoteChangesQuery = {
  kind: 'quote_changes';
  atMs: EpochMs;
  instruments: readonly string[];
  versions: readonly number[];
};
/**
 * Answers `{number, portfolio}`: the account's portfolio, and the number of the last fact before
 * it. The effects of later facts are not in it.
 */
export type AccountSnapshotQuery = Omit<PortfolioQuery, 'kind'> & { kind: 'account_snapshot' };
/** Answers `{}` once nothing of the account is left to settle. Rule S15 (engine/RULES.md). */
export type SettledQuery = { kind: 'settled'; atMs: EpochMs; account: Uuid };
/** Answers `{results}`: for each market its `MarketResult`; null: it has none. */
export type ResultsQuery = {
  kind: 'market_results';
  atMs: EpochMs;
  markets: readonly MarketNumber[];
};
/**
 * Answers `{corrected}`: each market whose result was replaced, as a `CorrectedMarket`. Rule S20
 * (engine/RULES.md).
 */
export type CorrectedQuery = { kind: 'corrected_markets'; atMs: EpochMs };
/** `resolvedAtMs` is of the first result. A later `correction` has a higher number. Rule S25. */
export type CorrectedMarket = {
  market: string;
  result: MarketResult;
  correction: number;
  resolvedAtMs: EpochMs;
};
/** Answers with the `TradeUse` of a key in this shard. */
export type KeyUseQuery = { kind: 'key_use'; atMs: EpochMs; keyId: Uuid };
/** Answers `{accounts, restingOrders, openPositions, problems: string[]}`. */
export type AuditQuery = { kind: 'audit'; atMs: EpochMs };
/**
 * Answers `{accounts: [{account, line}], referenceData}`, canonical and independent of shard and
 * slot. With `quotes` it includes the last data of the venues.
 */
export type DigestQuery = { kind: 'digest'; atMs: EpochMs; quotes: boolean };

export type Query =
  | PortfolioQuery
  | AccountQuery
  | OrderQuery
  | OrderGroupsQuery
  | OrdersQuery
  | TradesQuery
  | PreviewQuery
  | QuoteQuery
  | BookQuery
  | PricedQuery
  | BidsQuery
  | HeldQuery
  | QuoteChangesQuery
  | AccountSnapshotQuery
  | SettledQuery
  | ResultsQuery
  | CorrectedQuery
  | KeyUseQuery
  | AuditQuery
  | DigestQuery;
