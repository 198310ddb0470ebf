/**
 * Makes rows of ticks: each change of the Quote of a market. Rules H2 to H5 (api/RULES.md). Whether
 * a price is live is the engine's own rule, T12 (engine/RULES.md).
 *
 * Time only goes forward. Silence and closing times that fall due on the way happen first, each at
 * its own moment.
 */
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber, SourceNumber } from '../base/units.ts';
import { closingMs, venueClosingMs } from '../rules/closing.ts';
import type { QuoteTick, Tick, TradeTick } from '../rules/messages.ts';
import {
  isFresh,
  type NotLive,
  notLive,
  type PricingContext,
  type QuotedMarket,
} from '../rules/pricing.ts';
import { showQuote } from '../rules/quote-top.ts';
import type { Source } from '../rules/reference-data.ts';
import type { Mark, MarkedReason } from './kinds.ts';
import {
  copyOfTop,
  isLiveTop,
  isSameTop,
  NOT_LIVE,
  replaceTop,
  type ShownTop,
  type Top,
} from './top.ts';

/** Where rows go. */
export type RowSink = {
  row(market: MarketNumber, atMs: EpochMs, top: Top): void;
  trade(tick: TradeTick, atMs: EpochMs): void;
  mark(market: MarketNumber, atMs: EpochMs, mark: Mark): void;
};

/** The known state of a market. The engine's own `notLive` reads the first part. */
type Watched = QuotedMarket & {
  number: MarketNumber;
  /** The top of its last row, in place; null: it has none. */
  shown: ShownTop | null;
  /** The content of its last mark; null: it has none. */
  mark: Mark | null;
};

/** The last records of a market's series. */
export type Ended = { market: MarketNumber; shown: Top; mark: Mark | null };

/** The catalog's facts about markets. */
export type Closings = {
  closings: readonly (readonly [MarketNumber, EpochMs])[];
  /** The venue_a markets of each game, by its slug. A cancelled game voids them. */
  games: ReadonlyMap<string, readonly MarketNumber[]>;
};

export class MarketWatch {
  readonly #sink: RowSink;
  readonly #quoteMaxAgeMs: number;
  readonly #sources: (Source | undefined)[] = [];
  readonly #context: PricingContext;
  /** The sources among them whose silence was noticed. */
  readonly #stale = new Set<SourceNumber>();
  readonly #markets: (Watched | undefined)[] = [];
  #games: Closings['games'] = new Map();
  #nowMs: EpochMs = 0;
  /** Before this nothing falls due. */
  #nextDueMs: EpochMs = Number.POSITIVE_INFINITY;

  constructor(quoteMaxAgeMs: number, sink: RowSink) {
    this.#quoteMaxAgeMs = quoteMaxAgeMs;
    // Rows are of one market, so nothing is routed.
    this.#context = { config: { quoteMaxAgeMs, routingBandCents: 0 }, sources: this.#sources };
    this.#sink = sink;
  }

  get nowMs(): EpochMs {
    return this.#nowMs;
  }

  /** Continues an earlier run, which ended at `atMs`. No price is live since then. */
  restore(ended: Iterable<Ended>, atMs: EpochMs): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
    for (const { market, shown, mark } of ended) {
      const watched = this.#watched(market);
      watched.shown = copyOfTop(shown);
      watched.mark = mark;
      if (mark === 'resolved') this.#markets[market] = OVER;
    }
    this.endAll('server_down');
  }

  /** No price is known to be live any more. */
  endAll(reason: MarkedReason): void {
    for (const source of this.#sources) if (source !== undefined) source.epoch++;
    for (const market of this.#known()) {
      market.quote = null;
      this.#notLive(market, reason, this.#nowMs);
    }
  }

  setClosings({ closings, games }: Closings): void {
    this.#games = games;
    for (const [number, closesAtMs] of closings) {
      const market = this.#watched(number);
      if (market !== OVER) market.closesAtMs = closesAtMs;
    }
    this.#nextDueMs = 0;
    this.advance(this.#nowMs);
  }

  /** A market that had its result before these rows began. */
  resolved(market: MarketNumber): void {
    const watched = this.#watched(market);
    if (watched === OVER) return;
    watched.outcome ??= 'void';
    this.#update(watched, null);
    this.#markets[market] = OVER;
  }

  /** Moves time on, and writes the rows that fall due on the way. */
  advance(toMs: EpochMs): void {
    if (toMs > this.#nowMs) this.#nowMs = toMs;
    if (this.#nowMs >= this.#nextDueMs) this.#runDue();
  }

  take(tick: Tick): void {
    this.advance(tick.atMs);
    if (tick.kind === 'time') return;
    if (tick.kind === 'down') {
      this.#down(tick.source, tick.reason ?? 'connection_lost');
      return;
    }
    const isRevived = this.#heard(tick.source, tick.atMs);
    this.#apply(tick);
    if (isRevived) this.#updateAll(tick.source, null);
  }

  #apply(tick: Exclude<Tick, { kind: 'time' | 'down' }>): void {
    switch (tick.kind) {
      case 'quote':
        return this.#quote(tick);
      case 'trade':
        return this.#sink.trade(tick, this.#nowMs);
      case 'status':
      case 'closing': {
        const market = this.#watched(tick.market);
        if (market === OVER) return;
        if (tick.kind === 'status') market.status = tick.status;
        market.venueClosesAtMs = venueClosingMs(market.venueClosesAtMs, tick);
        this.#due(closingMs(market));
        return this.#update(market, null);
      }
      case 'result':
        return this.resolved(tick.market);
      case 'game':
        if (tick.status !== 'cancelled') return;
        for (const market of this.#games.get(tick.game) ?? []) this.resolved(market);
        return;
      case 'heartbeat':
      case 'level':
      case 'print':
      case 'levels':
        return;
      default:
        tick satisfies never;
    }
  }

  #quote(tick: QuoteTick): void {
    const market = this.#watched(tick.market);
    if (market === OVER) return;
    showQuote(market, tick, this.#sourceOf(tick.source).epoch);
    this.#update(market, tick.unknown ? 'sequence_gap' : null);
  }

  /** @returns whether its quotes, silent until now, are fresh again. */
  #heard(number: SourceNumber, atMs: EpochMs): boolean {
    const source = this.#sourceOf(number);
    source.lastHeardMs = Math.max(source.lastHeardMs, atMs);
    if (!isFresh(source, this.#nowMs, this.#quoteMaxAgeMs)) {
      this.#stale.add(number);
      return false;
    }
    this.#due(this.#staleMs(source) + 1);
    return this.#stale.size > 0 && this.#stale.delete(number);
  }

  #down(number: SourceNumber, reason: MarkedReason): void {
    const source = this.#sourceOf(number);
    // Call it before the epoch ends, because it finds the markets of the epoch.
    const markets = this.#marketsOf(number);
    source.epoch++;
    for (const market of markets) this.#update(market, reason);
  }

  #updateAll(source: SourceNumber, reason: MarkedReason | null): void {
    for (const market of this.#marketsOf(source)) this.#update(market, reason);
  }

  /** The markets whose present quote came by a connection. */
  #marketsOf(number: SourceNumber): Watched[] {
    const { epoch } = this.#sourceOf(number);
    return this.#known().filter(({ quote }) => quote?.source === number && quote.epoch === epoch);
  }

  /** The moment from which a silent connection's quotes are stale. */
  #staleMs({ lastHeardMs }: Source): EpochMs {
    return lastHeardMs + this.#quoteMaxAgeMs;
  }

  #due(atMs: EpochMs): void {
    this.#nextDueMs = Math.min(this.#nextDueMs, atMs);
  }

  #runDue(): void {
    const nowMs = this.#nowMs;
    this.#nextDueMs = Number.POSITIVE_INFINITY;
    for (const [number, source] of this.#sources.entries()) {
      if (source === undefined || this.#stale.has(number)) continue;
      const staleMs = this.#staleMs(source);
      if (staleMs >= nowMs) {
        this.#due(staleMs + 1);
        continue;
      }
      this.#stale.add(number);
      for (const market of this.#marketsOf(number)) this.#notLive(market, 'stale', staleMs);
    }
    for (const market of this.#known()) {
      const closesAtMs = closingMs(market);
      if (closesAtMs > nowMs) this.#due(closesAtMs);
      else if (market.shown !== null) this.#notLive(market, null, closesAtMs);
    }
  }

  /** Writes a row if the Quote has changed. `reason`: why the price may be gone. */
  #update(market: Watched, reason: MarkedReason | null): void {
    const why = notLive(this.#context, market, this.#nowMs);
    const top = why === null && market.quote !== null ? market.quote : NOT_LIVE;
    if (!isLiveTop(top)) return this.#notLive(market, gapOf(why) ?? reason, this.#nowMs);
    const isAgain = market.mark !== null && market.mark !== 'live';
    if (isAgain) this.#mark(market, this.#nowMs, 'live');
    if (market.shown === null || !isSameTop(market.shown, top))
      this.#show(market, this.#nowMs, top);
  }

  /** @param reason null: it is no gap, as when the market is paused */
  #notLive(market: Watched, reason: MarkedReason | null, atMs: EpochMs): void {
    if (market.shown === null) return;
    if (isLiveTop(market.shown)) this.#show(market, atMs, NOT_LIVE);
    if (market.outcome !== null) {
      if (market.mark !== 'resolved') this.#mark(market, atMs, 'resolved');
    } else if (reason !== null && (market.mark === null || market.mark === 'live')) {
      this.#mark(market, atMs, reason);
    }
  }

  #show(market: Watched, atMs: EpochMs, top: Top): void {
    if (market.shown === null) market.shown = copyOfTop(top);
    else replaceTop(market.shown, top);
    this.#sink.row(market.number, atMs, top);
  }

  #mark(market: Watched, atMs: EpochMs, mark: Mark): void {
    market.mark = mark;
    this.#sink.mark(market.number, atMs, mark);
  }

  #sourceOf(number: SourceNumber): Source {
    invariant(Number.isInteger(number) && number >= 0, 'a tick has no valid connection number');
    const known = this.#sources[number];
    if (known !== undefined) return known;
    const source = { lastHeardMs: 0, epoch: 0 };
    this.#sources[number] = source;
    return source;
  }

  #watched(number: MarketNumber): Watched {
    const known = this.#markets[number];
    if (known !== undefined) return known;
    const watched: Watched = {
      number,
      outcome: null,
      status: 'open',
      closesAtMs: Number.POSITIVE_INFINITY,
      venueClosesAtMs: null,
      quote: null,
      shown: null,
      mark: null,
    };
    this.#markets[number] = watched;
    return watched;
  }

  #known(): Watched[] {
    return this.#markets.filter((one): one is Watched => one !== undefined && one !== OVER);
  }
}

/** In place of every market with a result, of which nothing more is written. */
const OVER: Watched = Object.freeze({
  ...{ number: -1, outcome: 'void', status: 'open', quote: null, shown: null, mark: 'resolved' },
  ...{ closesAtMs: Number.POSITIVE_INFINITY, venueClosesAtMs: null },
} as const);

/** A price that stops for another reason, such as a pause, is no gap. */
function gapOf(why: NotLive | null): MarkedReason | null {
  return why === 'stale' ? 'stale' : null;
}
