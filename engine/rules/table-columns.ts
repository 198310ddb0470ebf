/**
 * The columns of the tables, with their order and types on disk. Derived columns are rebuilt after
 * a load and never written.
 */
import type { ColumnType } from '../memory/columns.ts';
import { ORDER_TERM_COLUMNS, TRADE_TERM_COLUMNS } from './order-terms.ts';

type Columns = Readonly<Record<string, ColumnType>>;

export const ACCOUNT_COLUMNS = {
  id: 'uuid',
  balanceCents: 'f64',
  heldCents: 'f64',
  openStakeCents: 'f64',
  realizedCents: 'f64',
  adjustedCents: 'f64',
  lifetimeRealizedCents: 'f64',
  runStartedAtMs: 'f64',
  lastResetAtMs: 'f64',
  /** When its newest trade opened, and at which place of that moment (T7). */
  tradeOpenedAtMs: 'f64',
  tradePlace: 'u32',
  run: 'u32',
  busts: 'u32',
  /** The last run that was counted as a bust. */
  bustedRun: 'u32',
  /** Whether the public sees it: 1 or 0. */
  isPublic: 'u8',
} as const satisfies Columns;

export const ACCOUNT_DERIVED = {
  /**
   * Contracts that may still be paid out: the contracts of open positions, and the unfilled ones of
   * resting buys.
   */
  payableContracts: 'f64',
} as const satisfies Columns;

/** The order of terms never changes; terms of later versions are added at the end. */
const { expiresAtMs, limitPriceCents, statedProbPct, placedVia } = ORDER_TERM_COLUMNS;

export const ORDER_COLUMNS = {
  id: 'uuid',
  sequence: 'f64',
  ...{ expiresAtMs },
  /** The place of its `order_placed` in the log (FactPlace of rules/facts.ts). */
  placedRecord: 'f64',
  placedOffset: 'u32',
  account: 'i32',
  market: 'i32',
  instrument: 'i32',
  /** The position that a sell sells, or that the filled part of a buy has opened. */
  position: 'i32',
  contracts: 'u32',
  ...{ limitPriceCents, statedProbPct },
  flags: 'u8',
  ...ORDER_TERM_COLUMNS,
} as const satisfies Columns;

export const ORDER_DERIVED = {} as const satisfies Columns;

export const POSITION_COLUMNS = {
  id: 'uuid',
  sequence: 'f64',
  /** The cost of the contracts still held; `contracts` counts them too. */
  costCents: 'f64',
  /** The contracts sold in parts: how many, their cost, and their proceeds. */
  soldCostCents: 'f64',
  soldCents: 'f64',
  /**
   * `soldCents` before the first fill of the newest sell. The difference is the proceeds of this
   * sell so far.
   */
  soldBeforeCents: 'f64',
  account: 'i32',
  market: 'i32',
  instrument: 'i32',
  contracts: 'u32',
  soldContracts: 'u32',
  /** The average cost of all its contracts, rounded up. */
  entryPriceCents: 'u8',
  ...{ statedProbPct },
  flags: 'u8',
  ...{ placedVia },
  venue: 'u8',
  /** The venue of the first fill of the newest sell. */
  soldVenue: 'u8',
  ...TRADE_TERM_COLUMNS,
} as const satisfies Columns;

export const POSITION_DERIVED = {
  /** Its only resting order: a sell, or the rest of the buy that opened it. */
  resting: 'i32',
} as const satisfies Columns;
