/**
 * Queries to a shard, as plain data; each carries the time at which it is answered. Rules A40 to
 * A44 (api/RULES.md), D12 (engine/RULES.md).
 */

import type { EpochMs, Uuid } from './units.ts';

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
 * Answers `{changes: [[place, version, Quote | null], …]}` with those whose quote does not have the
 * version that the asker knows (0: none); null: no catalog lists the instrument. Equal versions are
 * equal quotes, whatever shard answers; `asOf` is no part of it.
 */
export type QuoteChangesQuery = {
  kind: 'quote_changes';
  atMs: EpochMs;
  instruments: readonly string[];
  versions: readonly number[];
};
/**
 * Answers `{number, portfolio}`: the account's portfolio, and the number of the last fact before it.
 * What follows from later facts is not in it.
 */
export type AccountSnapshotQuery = Omit<PortfolioQuery, 'kind'> & { kind: 'account_snapshot' };
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
  | QuoteChangesQuery
  | AccountSnapshotQuery
  | KeyUseQuery
  | AuditQuery
  | DigestQuery;
