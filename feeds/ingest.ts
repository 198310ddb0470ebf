/**
 * From a venue's frames to the engine's ticks: catalog numbers instead of names, whole cents
 * rounded against the trader, whole contracts. It also counts every frame that could not be used.
 * Rules B2 to B12, W13, W15 (feeds/FORMATS.md).
 *
 * A bad frame never throws, and bad frames write about a hundred log lines at most.
 */
import type {
  Depth,
  DepthLevel,
  GameTick,
  QuoteTick,
  ResultTick,
  Tick,
  TradeTick,
} from '../engine/rules/messages.ts';
import {
  askCentsOf,
  bidCentsOf,
  type ContractsE2,
  type EpochMs,
  type MarketNumber,
  NO_PRICE,
  PAYOUT_CENTS,
  type PriceCents,
  type PriceE4,
  type SourceNumber,
  type Venue,
} from '../engine/rules/units.ts';
import { IngestCounters, type IngestCounts, type IngestLogEvent } from './ingest-counters.ts';
import type {
  BookLevels,
  BookTick,
  FrameReading,
  Level,
  StateTick,
  VenueAdapter,
  VenueTick,
} from './venue.ts';
import { VenueLag } from './venue-lag.ts';

export type IngestOptions = {
  /** The catalog's number of a venue market; undefined when the catalog does not name it. */
  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined;
  sink(tick: Tick): void;
  log(event: IngestLogEvent): void;
  /** How far a live connection may be behind its venue (W13); left out or null: however far. */
  lagMaxMs?: number | null;
  /** A clock that nobody sets; `performance.now` when left out. */
  steadyMs?(): number;
};

export type IngestConnection = {
  /**
   * Takes one frame, as text or as what its JSON parsed to. A live connection starts over after a
   * `drop`.
   */
  frame(raw: unknown, atMs: EpochMs): FrameReading;
  /** A heartbeat without a frame. */
  heartbeat(atMs: EpochMs): void;
  /** Statuses and results that were asked for. */
  states(ticks: readonly StateTick[], atMs: EpochMs): void;
  /** The connection ended: its quotes are no longer live, and its books start over. */
  lost(atMs: EpochMs): void;
};

export type Ingest = {
  /** `source` is the connection's own number. */
  connection(venue: Venue, adapter: VenueAdapter, source: SourceNumber): IngestConnection;
  /** Counts over all connections since the start. */
  counts(): IngestCounts;
};

/** One per process or replay; connections share its counts and its bound on log lines. */
export function createIngest(options: IngestOptions): Ingest {
  const counters = new IngestCounters(options.log);
  return {
    connection: (venue, adapter, source) =>
      new Connection({ venue, adapter, source, options, counters }),
    counts: () => counters.counts(),
  };
}

type ConnectionParts = {
  venue: Venue;
  adapter: VenueAdapter;
  source: SourceNumber;
  options: IngestOptions;
  counters: IngestCounters;
};

class Connection implements IngestConnection {
  readonly #parts: ConnectionParts;
  readonly #lag: VenueLag;
  readonly #steadyMs: () => number;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { adapter, options } = parts;
    // What a recording holds was read long after it was said.
    this.#lag = new VenueLag(adapter.recorded ? null : (options.lagMaxMs ?? null));
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  frame(raw: unknown, atMs: EpochMs): FrameReading {
    const { venue, adapter, counters, source } = this.#parts;
    const reading = readingOf(adapter, raw);
    counters.frame(reading.type);
    if (reading.rejected !== null) {
      counters.skip(reading.rejected, `${venue} ${adapter.name} ${reading.type}`);
    }
    if (reading.jump) counters.gap();
    const lateMs = this.#lag.lateByMs(reading, this.#steadyMs());
    if (lateMs !== null) {
      reading.late = true;
      reading.drop ??= `${lateMs} ms behind the venue`;
    }
    // A jump inside a feed file is not a loss.
    if (reading.jump && !reading.resync && !adapter.recorded) {
      reading.drop ??= 'gap in the sequence';
    }
    if (reading.drop !== undefined) {
      this.#send({ kind: 'down', atMs, source });
      adapter.reset();
      // Prices build on the missing frames. Results and statuses are still right, and come only
      // once.
      for (const tick of reading.ticks) if (tick.kind !== 'book') this.#tick(tick, atMs);
      return reading;
    }
    let quoted = false;
    for (const tick of reading.ticks) quoted = this.#tick(tick, atMs) || quoted;
    if (!quoted) this.heartbeat(atMs);
    return reading;
  }

  heartbeat(atMs: EpochMs): void {
    const { options, source } = this.#parts;
    // Not counted: the frame is of no market and no game.
    options.sink({ kind: 'heartbeat', atMs, source });
  }

  states(ticks: readonly StateTick[], atMs: EpochMs): void {
    for (const tick of ticks) this.#tick(tick, atMs);
  }

  lost(atMs: EpochMs): void {
    const { adapter, source } = this.#parts;
    adapter.reset();
    this.#lag.lost();
    this.#send({ kind: 'down', atMs, source });
  }

  #send(tick: Tick): void {
    const { options, counters } = this.#parts;
    counters.tick();
    options.sink(tick);
  }

  /** Sends what the tick means, if we know its market. @returns whether that was a quote. */
  #tick(tick: VenueTick, atMs: EpochMs): boolean {
    const { venue, source, options, counters } = this.#parts;
    if (tick.kind === 'game') {
      const game: GameTick = { kind: 'game', atMs, source, game: tick.game, status: tick.status };
      this.#send(game);
      return false;
    }
    const market = options.marketNumber(venue, tick.market);
    if (market === undefined) {
      counters.unknownMarket(`${venue}/${tick.market}`);
      return false;
    }
    const place: Place = { atMs, source, market };
    switch (tick.kind) {
      case 'book':
        this.#send(quoteOf(tick, place));
        return true;
      case 'trade': {
        const trade = tradeOf(tick, place);
        if (trade === null) counters.skip('trade price outside 1..99', `${venue}/${tick.market}`);
        else this.#send(trade);
        return false;
      }
      case 'status':
        this.#send({ kind: 'status', ...place, status: tick.status });
        return false;
      case 'result':
        this.#send(resultOf(tick, place));
        return false;
      default:
        return tick satisfies never;
    }
  }
}

type Place = { atMs: EpochMs; source: SourceNumber; market: MarketNumber };

/** Parses text. What is not JSON is a rejected frame. */
function readingOf(adapter: VenueAdapter, raw: unknown): FrameReading {
  if (typeof raw !== 'string') return adapter.read(raw);
  let frame: unknown;
  try {
    frame = JSON.parse(raw);
  } catch {
    return { type: 'unreadable', ticks: [], venueAtMs: null, rejected: 'not JSON', jump: false };
  }
  return adapter.read(frame);
}

/** Whether the venue's own book is crossed or locked. Rounding would widen it. */
export function isCrossed({ yesBid, yesAsk }: BookTick): boolean {
  return yesBid !== null && yesAsk !== null && yesBid >= yesAsk;
}

function quoteOf(tick: BookTick, { atMs, source, market }: Place): QuoteTick {
  const yesBidCents = tick.yesBid === null ? NO_PRICE : bidCentsOf(tick.yesBid);
  const yesAskCents = tick.yesAsk === null ? NO_PRICE : askCentsOf(tick.yesAsk);
  const quote: QuoteTick = {
    kind: 'quote',
    atMs,
    source,
    market,
    yesBidCents,
    yesBidContracts: yesBidCents === NO_PRICE ? 0 : wholeContracts(tick.yesBidSize),
    yesAskCents,
    yesAskContracts: yesAskCents === NO_PRICE ? 0 : wholeContracts(tick.yesAskSize),
    crossed: isCrossed(tick),
  };
  if (tick.depth !== undefined) quote.depth = depthOf(tick.depth);
  return quote;
}

/** Deeper levels are dropped: ticks stay small, and nothing fills twenty levels away. */
const DEPTH_LEVELS_MAX = 20;

function depthOf({ yesBids, yesAsks }: BookLevels): Depth {
  return {
    yesBids: centLevels(yesBids, bidCentsOf)
      .sort(([a], [b]) => b - a)
      .slice(0, DEPTH_LEVELS_MAX),
    yesAsks: centLevels(yesAsks, askCentsOf)
      .sort(([a], [b]) => a - b)
      .slice(0, DEPTH_LEVELS_MAX),
  };
}

/** Levels by whole cent, each with its whole contracts. Less than one contract is no level. */
function centLevels(
  levels: readonly Level[],
  centsOf: (price: PriceE4) => PriceCents,
): DepthLevel[] {
  const sizes = new Map<PriceCents, ContractsE2>();
  for (const { price, size } of levels) {
    const cents = centsOf(price);
    if (cents !== NO_PRICE) sizes.set(cents, (sizes.get(cents) ?? 0) + size);
  }
  return Array.from(sizes, ([cents, size]): DepthLevel => [cents, wholeContracts(size)]).filter(
    ([, contracts]) => contracts > 0,
  );
}

/** Rounded against the taker; null when no price of 1..99 is left. */
function tradeOf(
  { yesPrice, size, takerSide }: Extract<VenueTick, { kind: 'trade' }>,
  { atMs, source, market }: Place,
): TradeTick | null {
  const yesPriceCents = takerSide === 'yes' ? askCentsOf(yesPrice) : bidCentsOf(yesPrice);
  if (yesPriceCents === NO_PRICE) return null;
  const contracts = wholeContracts(size);
  return { kind: 'trade', atMs, source, market, yesPriceCents, contracts, side: takerSide };
}

/** Rules B8, M40 (feeds/FORMATS.md, engine/RULES.md). */
function resultOf(
  { outcome, yesValue }: Extract<VenueTick, { kind: 'result' }>,
  { atMs, source, market }: Place,
): ResultTick {
  const tick: ResultTick = {
    kind: 'result',
    atMs,
    source,
    market,
    outcome,
    yesPayoutCents: 0,
    noPayoutCents: 0,
  };
  if (outcome === 'yes') tick.yesPayoutCents = PAYOUT_CENTS;
  if (outcome === 'no') tick.noPayoutCents = PAYOUT_CENTS;
  if (outcome === 'scalar') {
    tick.yesPayoutCents = Math.floor(yesValue! / 100);
    tick.noPayoutCents = PAYOUT_CENTS - Math.ceil(yesValue! / 100);
  }
  return tick;
}

function wholeContracts(size: number): number {
  return Math.floor(size / 100);
}
