/**
 * The tables of the records, and the version of their form. A change of either is a new version,
 * and the file is made again from the facts. Rules Y1, Y4, Y87 (engine/RULES.md).
 */

/** 'PBRC': the application id in SQLite's own header. */
export const APPLICATION_ID = 0x50425243;
export const RECORDS_VERSION = 7;

/** The state of a trade. On disk each is its index here: append, never reorder. */
export const TRADE_STATES = ['open', 'won', 'lost', 'void', 'sold', 'reset'] as const;
export const WON = 1;
export const LOST = 2;
export const VOID = 3;
export const SOLD = 4;
export const RESET = 5;

/**
 * Whether the public may see a trade as a pick, once it has a result. Every public figure uses this
 * one condition. Rules Y14, Y15, Y87 (engine/RULES.md).
 */
export const LISTED = 'combine = 0 AND held = 0';

/**
 * The `starts_at_ms` of an instrument of which only the day is known: before every moment. Rule
 * Y92.
 */
export const UNKNOWN_START_MS = Number.MIN_SAFE_INTEGER;

/** The outcome of a settled trade, in the market's terms. On disk each is its index here. */
export const OUTCOMES = ['yes', 'no', 'void', 'scalar'] as const;

/**
 * `trader`, `trade` and `block` are numbers: the n-th of a shard, times the number of shards, plus
 * the shard. So they do not depend on the order in which the shards were read, and they order a
 * trader's trades by their opening. `over_place` is a trade's place among the ended trades of its
 * shard.
 *
 * What changes with nearly every order is no row: open trades are in chunks (open-chunks.ts), trades
 * that are over in blocks (closed-trade-blocks.ts). A trade that was sold or reset is in a block
 * alone, as it is no pick. Rules Y9, Y94 (engine/RULES.md).
 */
export const TABLES = `
CREATE TABLE positions (
  shard INTEGER PRIMARY KEY,
  fact INTEGER NOT NULL,
  fact_at_ms INTEGER NOT NULL,
  traders INTEGER NOT NULL,
  trades INTEGER NOT NULL,
  over_trades INTEGER NOT NULL
) STRICT;

CREATE TABLE traders (
  trader INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  worth_cents INTEGER NOT NULL,
  run INTEGER NOT NULL,
  busts INTEGER NOT NULL,
  busted_run INTEGER NOT NULL,
  open_trades INTEGER NOT NULL,
  resting INTEGER NOT NULL,
  private_trades INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  pnl_cents INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL,
  won INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  void INTEGER NOT NULL
) STRICT;

CREATE TABLE resets (
  trader INTEGER NOT NULL,
  run INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (trader, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE open_chunks (
  chunk INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE open_gone (
  chunk INTEGER PRIMARY KEY,
  bits BLOB NOT NULL
) STRICT;

CREATE TABLE open_marks (
  trade INTEGER PRIMARY KEY,
  parlay BLOB,
  combine INTEGER NOT NULL
) STRICT;

CREATE TABLE settled (
  trader INTEGER NOT NULL,
  trade INTEGER NOT NULL,
  id BLOB NOT NULL,
  market INTEGER NOT NULL,
  instrument INTEGER NOT NULL,
  market_yes INTEGER NOT NULL,
  instrument_yes INTEGER NOT NULL,
  contracts INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL,
  entry_cents INTEGER NOT NULL,
  stated_pct INTEGER,
  placed_private INTEGER NOT NULL,
  opened_at_ms INTEGER NOT NULL,
  state INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  closed_at_ms INTEGER NOT NULL,
  pnl_cents INTEGER NOT NULL,
  charged INTEGER NOT NULL,
  parlay BLOB,
  combine INTEGER NOT NULL,
  held INTEGER NOT NULL,
  over_place INTEGER NOT NULL,
  realistic INTEGER NOT NULL,
  PRIMARY KEY (trader, trade)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX settled_ids ON settled (id);
CREATE INDEX settled_parlay ON settled (parlay) WHERE parlay IS NOT NULL;

CREATE TABLE over_blocks (
  block INTEGER PRIMARY KEY,
  least_ms INTEGER NOT NULL,
  most_ms INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX over_blocks_times ON over_blocks (most_ms, least_ms);

CREATE TABLE instruments (
  instrument INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL,
  game_slug TEXT,
  game_id TEXT,
  starts_at_ms INTEGER NOT NULL,
  market INTEGER,
  polarity INTEGER
) STRICT;

CREATE TABLE markets (
  market INTEGER PRIMARY KEY,
  ticker TEXT NOT NULL,
  source TEXT,
  resolved_at_ms INTEGER
) STRICT;
`;

/**
 * The tables in the order in which they are compared, each with what its rows are ordered by. Open
 * trades are compared by themselves: where they lie depends on when they were written.
 */
export const TABLE_ORDER = {
  positions: 'shard',
  traders: 'trader',
  resets: 'trader, run',
  open_marks: 'trade',
  settled: 'trader, trade',
  over_blocks: 'block',
  instruments: 'instrument',
  markets: 'market',
} as const;
