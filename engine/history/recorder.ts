/**
 * Keeps the records that ticks lead to: rows, prints, gaps and candles. Rules H1 to H5
 * (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { DAY_MS, type EpochMs, type MarketNumber } from '../base/units.ts';
import type { TradeTick } from '../rules/messages.ts';
import { Candles } from './candles.ts';
import { GAP_MARKS, MARKS, type Mark, markNumber, ROWS, TRADES } from './kinds.ts';
import { type Closings, type Ended, MarketWatch, type RowSink } from './market-watch.ts';
import type { BlockDamage } from './segments.ts';
import type { Series } from './series.ts';
import { HistoryStore } from './store.ts';
import { TickReader } from './tick-batch.ts';
import { NOT_LIVE, type Top } from './top.ts';

export type RecorderConfig = {
  directory: string;
  quoteMaxAgeMs: number;
  /** How long whole blocks are kept; 0: always. */
  days: number;
  /** When the history of the directory was made, as recorded beside it; null: it has none yet. */
  madeAtMs?: EpochMs | null;
  /** The engine's time. */
  nowMs?: EpochMs;
};

/** A larger size is shown as this one. No venue has it. */
const CONTRACTS_MAX = 2 ** 36;
/** How often old blocks are looked for, on the engine's clock. */
const DROP_EVERY_MS = 3_600_000;

export class Recorder implements RowSink {
  readonly store: HistoryStore;
  readonly candles: Candles;
  readonly #watch: MarketWatch;
  readonly #reader = new TickReader();
  readonly #days: number;
  #dropAtMs: EpochMs = 0;
  readonly #kept: (Kept | undefined)[] = [];
  /** The record that is written, in place. */
  readonly #row: Five = [0, 0, 0, 0, 0];

  /** Opens the history of a directory. Since its last end no price was live: `server_down`. */
  constructor({ quoteMaxAgeMs, days, ...options }: RecorderConfig) {
    this.store = new HistoryStore(options);
    this.candles = new Candles(this.store);
    this.#days = days;
    this.#watch = new MarketWatch(quoteMaxAgeMs, this);
    this.#watch.restore(this.#ended(), this.store.stoppedAtMs ?? 0);
  }

  /** The last records of each series. Those of a market that is over are not read. Rule D108. */
  *#ended(): Generator<Ended> {
    for (const market of this.store.markets(ROWS)) {
      const marks = this.store.series(GAP_MARKS, market);
      if (marks?.isAtRest === true) {
        yield { market, shown: NOT_LIVE, mark: 'resolved' };
        continue;
      }
      const row = this.store.series(ROWS, market)?.newest() ?? null;
      if (row === null) continue;
      const [, yesBidCents, yesAskCents, yesBidContracts, yesAskContracts] = row as Five;
      const mark = marks?.newest()?.[1];
      yield {
        market,
        shown: { yesBidCents, yesAskCents, yesBidContracts, yesAskContracts },
        mark: mark === undefined ? null : MARKS[mark]!,
      };
    }
  }

  get nowMs(): EpochMs {
    return this.#watch.nowMs;
  }

  /** Ticks as a `TickBatch` has them. */
  takePacked(batch: ArrayBuffer): void {
    this.#reader.read(batch, (tick) => this.#watch.take(tick));
  }

  /** Ticks are missing from here on, so no price is known until a new quote. */
  missed(): void {
    this.#watch.endAll('server_down');
  }

  setClosings(closings: Closings): void {
    this.#watch.setClosings(closings);
  }

  /** Markets that had their result before this start. */
  resolved(markets: readonly MarketNumber[]): void {
    for (const market of markets) this.#watch.resolved(market);
  }

  /** Time has reached `atMs`. Silent sources have grown stale. */
  advance(nowMs: EpochMs): void {
    this.#watch.advance(nowMs);
  }

  /** Writes new records, and drops old blocks. */
  flush(): void {
    const { nowMs } = this;
    this.store.flush(nowMs);
    if (this.#days === 0 || nowMs < this.#dropAtMs) return;
    this.#dropAtMs = nowMs + DROP_EVERY_MS;
    this.store.dropBefore(nowMs - this.#days * DAY_MS, nowMs);
    this.candles.forget();
  }

  /** Goes on without a block that cannot be read. */
  lose(damage: BlockDamage): void {
    this.store.lose(damage, this.nowMs);
    this.candles.forget();
  }

  /** From here on flushed records also survive a crash of the machine. */
  sync(): void {
    this.store.sync(this.nowMs);
  }

  close(): void {
    this.store.close(this.nowMs);
  }

  row(market: MarketNumber, atMs: EpochMs, top: Top): void {
    const { nowMs } = this;
    const kept = this.#keptOf(market);
    const at = newest(kept, atMs);
    const { yesBidCents, yesAskCents } = top;
    this.candles.row(market, at, yesBidCents, yesAskCents, nowMs);
    const row = this.#row;
    row[0] = at;
    row[1] = yesBidCents;
    row[2] = yesAskCents;
    row[3] = sizeOf(top.yesBidContracts);
    row[4] = sizeOf(top.yesAskContracts);
    this.store.append(kept.rows, row, nowMs);
  }

  trade({ market, yesPriceCents, contracts, side }: TradeTick, atMs: EpochMs): void {
    const { nowMs } = this;
    const kept = this.#keptOf(market);
    const at = newest(kept, atMs);
    invariant(yesPriceCents > 0 && yesPriceCents < 100, 'a print is not at 1 to 99 cents');
    const size = sizeOf(contracts);
    this.candles.trade(market, at, yesPriceCents, size, nowMs);
    this.store.append(kept.trades, [at, yesPriceCents, size, side === 'yes' ? 1 : 0], nowMs);
  }

  mark(market: MarketNumber, atMs: EpochMs, mark: Mark): void {
    const series = this.store.opened(GAP_MARKS, market);
    const at = Math.max(atMs, series.lastMs);
    this.store.append(series, [at, markNumber(mark)], this.nowMs);
    if (mark !== 'resolved') return;
    // Nothing follows, or next to nothing. What a question needs is made of the records again.
    this.candles.rest(market);
    this.store.rest(market, this.nowMs);
    this.#kept[market] = undefined;
  }

  /** Looked up once, because most ticks lead to a row. */
  #keptOf(market: MarketNumber): Kept {
    const known = this.#kept[market];
    if (known !== undefined) return known;
    const rows = this.store.opened(ROWS, market);
    const trades = this.store.opened(TRADES, market);
    const kept = { rows, trades, lastMs: Math.max(rows.lastMs, trades.lastMs) };
    this.#kept[market] = kept;
    return kept;
  }
}

/** `lastMs`: of both series. */
type Kept = { rows: Series; trades: Series; lastMs: EpochMs };
type Five = [number, number, number, number, number];

/** A series never goes back in time, even if the clock does. */
function newest(kept: Kept, atMs: EpochMs): EpochMs {
  if (atMs > kept.lastMs) kept.lastMs = atMs;
  return kept.lastMs;
}

const sizeOf = (contracts: number) => Math.min(contracts, CONTRACTS_MAX);
