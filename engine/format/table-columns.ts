/**
 * The columns of the tables, in the order and with the types in which pages lie on disk. Derived
 * columns are rebuilt after a load and written nowhere.
 */
import type { ColumnType } from '../memory/columns.ts';
import { ORDER_TERM_COLUMNS, TRADE_TERM_COLUMNS } from '../rules/order-terms.ts';

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
  run: 'u32',
  busts: 'u32',
  /** The last run that was counted as a bust. */
  bustedRun: 'u32',
} as const satisfies Columns;

export const ACCOUNT_DERIVED = {
  /**
   * Contracts that may still be paid out: those of open positions, and the remaining ones of
   * resting buys.
   */
  payableContracts: 'f64',
} as const satisfies Columns;

/** Each term has its place; those that a later version adds stand at the end. */
const { expiresAtMs, limitPriceCents, statedProbPct, placedVia } = ORDER_TERM_COLUMNS;

export const ORDER_COLUMNS = {
  id: 'uuid',
  sequence: 'f64',
  ...{ expiresAtMs },
  /** Where its `order_placed` lies in the log (FactPlace of rules/facts.ts). */
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
  /** Of the contracts still held, as `contracts` is. */
  costCents: 'f64',
  /** Of the contracts that were sold while others stayed: their cost, and what they brought. */
  soldCostCents: 'f64',
  soldCents: 'f64',
  /**
   * `soldCents` before the first fill of the newest sell. The difference is what this sell has
   * brought.
   */
  soldBeforeCents: 'f64',
  account: 'i32',
  market: 'i32',
  instrument: 'i32',
  contracts: 'u32',
  soldContracts: 'u32',
  /** The average of what all its contracts cost, rounded up. */
  entryPriceCents: 'u8',
  ...{ statedProbPct },
  flags: 'u8',
  ...{ placedVia },
  venue: 'u8',
  /** Where the first fill of the newest sell was priced. */
  soldVenue: 'u8',
  ...TRADE_TERM_COLUMNS,
} as const satisfies Columns;

export const POSITION_DERIVED = {
  /** Its one resting order: the sell of it, or the rest of the buy that opened it. */
  resting: 'i32',
} as const satisfies Columns;
