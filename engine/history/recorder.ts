/**
 * Keeps what ticks come to: rows, prints, gaps and candles. Rules H1 to H5 (api/RULES.md).
 */
import { FrameDecoder } from '../format/codec.ts';
import { framesIn } from '../format/frame.ts';
import { invariant } from '../rules/invariant.ts';
import type { Tick, TradeTick } from '../rules/messages.ts';
import { DAY_MS, type EpochMs, type MarketNumber } from '../rules/units.ts';
import { Candles } from './candles.ts';
import { GAP_MARKS, MARKS, type Mark, markNumber, ROWS, TRADES } from './kinds.ts';
import { type Closings, type Ended, MarketWatch, type RowSink } from './market-watch.ts';
import type { Series } from './series.ts';
import { HistoryStore } from './store.ts';
import type { Top } from './top.ts';

export type RecorderConfig = {
  directory: string;
  quoteMaxAgeMs: number;
  /** How long whole blocks are kept; 0: for good. */
  days: number;
};

/** A larger size is shown as this one: no venue has it. */
const CONTRACTS_MAX = 2 ** 36;
/** How often what is too old is looked for, on the engine's clock. */
const DROP_EVERY_MS = 3_600_000;

export class Recorder implements RowSink {
  readonly store: HistoryStore;
  readonly candles: Candles;
  readonly #watch: MarketWatch;
  readonly #decoder = new FrameDecoder();
  readonly #days: number;
  #dropAtMs: EpochMs = 0;
  readonly #kept: (Kept | undefined)[] = [];

  /** Opens the history of a directory. Since it ended no price was live: `server_down`. */
  constructor({ directory, quoteMaxAgeMs, days }: RecorderConfig) {
    this.store = new HistoryStore(directory);
    this.candles = new Candles(this.store);
    this.#days = days;
    this.#watch = new MarketWatch(quoteMaxAgeMs, this);
    this.#watch.restore(this.#ended(), this.store.stoppedAtMs ?? 0);
  }

  /** What each series ended with. */
  *#ended(): Generator<Ended> {
    for (const market of this.store.markets(ROWS)) {
      const row = this.store.series(ROWS, market)?.newest() ?? null;
      if (row === null) continue;
      const [, yesBidCents, yesAskCents, yesBidContracts, yesAskContracts] = row as Five;
      const mark = this.store.series(GAP_MARKS, market)?.newest()?.[1];
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

  /** Ticks as `writeMessage` packs them, one behind the other. */
  takePacked(bytes: Buffer): void {
    for (const frame of framesIn(bytes)) this.#watch.take(this.#decoder.message(frame) as Tick);
  }

  /** Ticks are missing from here on: no price is known until it is quoted again. */
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

  /** Time has come this far: what is silent has grown stale. */
  advance(nowMs: EpochMs): void {
    this.#watch.advance(nowMs);
  }

  /** Writes what is new, and drops what is too old. */
  flush(): void {
    const { nowMs } = this;
    this.store.flush(nowMs);
    if (this.#days === 0 || nowMs < this.#dropAtMs) return;
    this.#dropAtMs = nowMs + DROP_EVERY_MS;
    this.store.dropBefore(nowMs - this.#days * DAY_MS, nowMs);
  }

  close(): void {
    this.store.close(this.nowMs);
  }

  row(market: MarketNumber, atMs: EpochMs, top: Top): void {
    const { rows } = this.#keptOf(market);
    const at = this.#newest(market, atMs);
    const { yesBidCents, yesAskCents, yesBidContracts, yesAskContracts } = top;
    const sizes = [sizeOf(yesBidContracts), sizeOf(yesAskContracts)] as const;
    this.candles.advance(market, at, this.nowMs);
    this.store.append(rows, [at, yesBidCents, yesAskCents, ...sizes], this.nowMs);
  }

  trade({ market, yesPriceCents, contracts, side }: TradeTick, atMs: EpochMs): void {
    const { trades } = this.#keptOf(market);
    const at = this.#newest(market, atMs);
    invariant(yesPriceCents > 0 && yesPriceCents < 100, 'a print is not at 1 to 99 cents');
    this.candles.advance(market, at, this.nowMs);
    const isYes = side === 'yes' ? 1 : 0;
    this.store.append(trades, [at, yesPriceCents, sizeOf(contracts), isYes], this.nowMs);
  }

  mark(market: MarketNumber, atMs: EpochMs, mark: Mark): void {
    const series = this.store.opened(GAP_MARKS, market);
    const at = Math.max(atMs, series.lastMs);
    this.store.append(series, [at, markNumber(mark)], this.nowMs);
  }

  /** A series never goes back in time, whatever the clock does. */
  #newest(market: MarketNumber, atMs: EpochMs): EpochMs {
    const { rows, trades } = this.#keptOf(market);
    return Math.max(atMs, rows.lastMs, trades.lastMs);
  }

  /** Looked up once: most ticks come to a row. */
  #keptOf(market: MarketNumber): Kept {
    const known = this.#kept[market];
    if (known !== undefined) return known;
    const kept = {
      rows: this.store.opened(ROWS, market),
      trades: this.store.opened(TRADES, market),
    };
    this.#kept[market] = kept;
    return kept;
  }
}

type Kept = { rows: Series; trades: Series };
type Five = [number, number, number, number, number];

const sizeOf = (contracts: number) => Math.min(contracts, CONTRACTS_MAX);
