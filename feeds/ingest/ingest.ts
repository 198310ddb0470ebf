/**
 * From a venue's frames to the engine's ticks: catalog numbers instead of names, whole cents
 * rounded against the trader, whole contracts. It also counts every frame that could not be used.
 * Rules B9 to B12, B14, B15, W13, W15, W75, W106, W112, W114 (feeds/FORMATS.md).
 *
 * A bad frame never throws, and bad frames write about a hundred log lines at most.
 */

import { NestedTooDeep, parseJson } from '../../engine/base/bounded-json.ts';
import type {
  EpochMs,
  MarketNumber,
  MarketStatus,
  SourceNumber,
  Venue,
} from '../../engine/base/units.ts';
import type { GameTick, QuoteTick, Tick } from '../../engine/rules/messages.ts';
import { unknownBook } from '../reading/book.ts';
import { depthOf, quoteOf, resultOf, type TickOrigin, tradeOf } from '../reading/engine-ticks.ts';
import {
  type BookLevels,
  type FrameReading,
  isState,
  type Outgoing,
  type StatedTop,
  type StateTick,
  type VenueAdapter,
  type VenueTick,
} from '../reading/venue.ts';
import { BookDoubts } from './book-doubts.ts';
import { IngestCounters, type IngestCounts, type IngestLogEvent } from './ingest-counters.ts';
import { LevelEvents } from './level-events.ts';
import { ToldResults } from './told-results.ts';
import { VenueLag } from './venue-lag.ts';

export type IngestOptions = {
  /** The catalog's number of a venue market; undefined when the catalog does not name it. */
  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined;
  /** Whether the catalog lists a game; left out: every game is passed on. */
  isGame?(slug: string): boolean;
  sink(tick: Tick): void;
  /**
   * Takes quotes in place of the sink, without `depth`. If the adapter keeps levels, it also gets
   * the book's levels, valid until the call returns.
   */
  quoteSink?(quote: QuoteTick, levels: BookLevels | undefined): void;
  /**
   * Gives the time at which a frame is taken, from its arrival `atMs` and the venue's own time or
   * null. Left out: `atMs`.
   */
  timeOf?(venueAtMs: EpochMs | null, atMs: EpochMs): EpochMs;
  /**
   * Markets that were closed before, of venues that are asked. If their frames repeat a status, it
   * does not open them (W106); left out: none.
   */
  closed?: Iterable<MarketNumber>;
  /** Passes on what frames do to the levels of books, if their adapter tells. Rule W95. */
  levels?: boolean;
  /** What venues have told of results; its own when left out. */
  told?: ToldResults;
  log(event: IngestLogEvent): void;
  /** The bound on a live connection's lag after its venue (W13); left out or null: no bound. */
  lagMaxMs?: number | null;
  /** A clock that nobody sets; `performance.now` when left out. */
  steadyMs?(): number;
};

/** The state that an ingest keeps of one connection. */
export type IngestSession = {
  /**
   * Takes one frame, as text or as parsed JSON. A live connection starts over after a `drop`.
   * `isGap`: a recording says that this frame showed a gap.
   */
  frame(raw: unknown, atMs: EpochMs, isGap?: boolean): FrameReading;
  /** A heartbeat without a frame. */
  heartbeat(atMs: EpochMs): void;
  /**
   * Only time has passed. Books that have been wrong for too long end (B15). @returns the messages
   * that ask for them, and for states that were in doubt (W114)
   */
  advance(atMs: EpochMs): readonly unknown[];
  /** Statuses and results that were asked for. */
  states(ticks: readonly StateTick[], atMs: EpochMs): void;
  /** The messages that subscribe to these markets. */
  subscribe(markets: readonly string[], atMs: EpochMs): unknown[];
  /** The connection ended: its quotes are no longer live, and its books start over. */
  lost(atMs: EpochMs): void;
};

export type Ingest = {
  /**
   * `source` is the connection's own number. `judge`: what the words of the venue's other feeds say
   * of the tick's word (W109, W114); left out: there is one feed.
   */
  session(venue: Venue, adapter: FrameReader, source: SourceNumber, judge?: Judge): IngestSession;
  /** Counts over all connections since the start. */
  counts(): IngestCounts;
};

/** What the words of the other feeds say of a word; `sureInMs`: it may be old until then. */
export type Judgement = 'new' | 'old' | { sureInMs: number };
export type Judge = (tick: StateTick) => Judgement;

/** The parts of an adapter that an ingest needs. */
export type FrameReader = Pick<
  VenueAdapter,
  'name' | 'recorded' | 'repeatsStatus' | 'read' | 'subscribe' | 'ask' | 'lose' | 'reset'
>;

/** One per process or replay; connections share its counts and its bound on log lines. */
export function createIngest(options: IngestOptions): Ingest {
  const counters = new IngestCounters(options.log);
  const { told = new ToldResults() } = options;
  const answered = new Map<MarketNumber, MarketStatus>();
  const closedBefore = new Set(options.closed);
  return {
    session: (venue, adapter, source, judge) => {
      const shared = { options, counters, told, answered, closedBefore };
      return new VenueSession({ venue, adapter, source, judge, ...shared });
    },
    counts: () => counters.counts(),
  };
}

type SessionParts = {
  venue: Venue;
  adapter: FrameReader;
  source: SourceNumber;
  judge: Judge | undefined;
  options: IngestOptions;
  counters: IngestCounters;
  told: ToldResults;
  /** Markets that the last answer has stopped. */
  answered: Map<MarketNumber, MarketStatus>;
  /** Markets that no answer has named yet, and that were closed before. */
  closedBefore: Set<MarketNumber>;
};

const CONTRADICTED = 'stated best prices contradict the book';
const STUCK = 'book crossed for too long';

class VenueSession implements IngestSession {
  readonly #parts: SessionParts;
  readonly #doubts = new BookDoubts();
  readonly #lag: VenueLag;
  readonly #steadyMs: () => number;
  /** Null: nobody follows levels. */
  readonly #levels: LevelEvents | null;
  /** Markets of which a word was in doubt; when they are asked for, on the steady clock. */
  readonly #unsure = new Map<string, number>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { adapter, options } = parts;
    this.#levels = options.levels ? new LevelEvents((tick) => this.#send(tick)) : null;
    // A recording is read long after its frames arrived.
    this.#lag = new VenueLag(adapter.recorded ? null : (options.lagMaxMs ?? null));
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  frame(raw: unknown, receivedMs: EpochMs, isGap = false): FrameReading {
    const { venue, adapter, counters, source, options } = this.#parts;
    const reading = readingOf(adapter, raw);
    const atMs = options.timeOf?.(reading.venueAtMs, receivedMs) ?? receivedMs;
    if (reading.stated !== undefined) this.#compare(reading, reading.stated, atMs);
    this.#keepNew(reading);
    this.#keepStopped(reading);
    counters.frame(reading.type);
    if (reading.rejected !== null) {
      const { rejected, detail = reading.type } = reading;
      counters.skip(rejected, `${venue} ${adapter.name} ${detail}`);
    }
    if (reading.jump || isGap) counters.gap();
    const lateMs = this.#lag.lateByMs(reading, this.#steadyMs());
    if (this.#lag.behindMs !== null) reading.lagMs = this.#lag.behindMs;
    const probeWithinMs = this.#lag.probeWithinMs(reading);
    if (probeWithinMs !== undefined) reading.probeWithinMs = probeWithinMs;
    if (lateMs !== null) {
      reading.late = true;
      reading.drop ??= `${lateMs} ms later than the venue`;
    }
    // A jump inside a feed file is a loss only where the file says so.
    const isSkipped = isGap || (reading.jump && !reading.resync && !adapter.recorded);
    if (isSkipped) reading.drop ??= 'gap in the sequence';
    if (reading.drop !== undefined) {
      this.#send({ kind: 'down', atMs, source, ...(isSkipped && { reason: 'sequence_gap' }) });
      this.#reset();
      // Prices build on the missing frames. Results and statuses are still right, and are sent only
      // once.
      for (const tick of reading.ticks) if (tick.kind !== 'book') this.#tick(tick, atMs);
      return reading;
    }
    let quoted = false;
    for (const tick of reading.ticks) quoted = this.#tick(tick, atMs) || quoted;
    if (this.#levels !== null) this.#follow(this.#levels, reading, atMs);
    if (!quoted) this.heartbeat(atMs);
    const asked = this.advance(atMs);
    if (asked.length > 0) reading.send = [...(reading.send ?? []), ...asked.map(now)];
    return reading;
  }

  heartbeat(atMs: EpochMs): void {
    const { options, source } = this.#parts;
    // Not counted: the frame is of no market and no game.
    options.sink({ kind: 'heartbeat', atMs, source });
  }

  advance(atMs: EpochMs): readonly unknown[] {
    const stuck = this.#doubts.stuck(atMs);
    if (stuck.length + this.#unsure.size === 0) return NOTHING;
    const { venue, adapter, counters } = this.#parts;
    const asked = stuck.flatMap((market) => {
      counters.skip(STUCK, `${venue}/${market}`);
      const messages = adapter.lose(market);
      this.#tick(unknownBook(market), atMs);
      return messages;
    });
    const nowMs = this.#steadyMs();
    const sure = [...this.#unsure].flatMap(([market, dueMs]) => (dueMs <= nowMs ? market : []));
    for (const market of sure) this.#unsure.delete(market);
    return sure.length === 0 ? asked : [...asked, ...adapter.ask(sure)];
  }

  /** Leaves out words that another feed has told before, or that may be so old. */
  #keepNew(reading: FrameReading): void {
    const { judge } = this.#parts;
    if (judge === undefined || !reading.ticks.some(isState)) return;
    reading.ticks = reading.ticks.filter((tick) => {
      if (!isState(tick)) return true;
      const judgement = judge(tick);
      if (typeof judgement === 'string') return judgement === 'new';
      if (!this.#unsure.has(tick.market)) {
        this.#unsure.set(tick.market, this.#steadyMs() + judgement.sureInMs);
      }
      return false;
    });
  }

  /** Ends the books that the frame refutes: they are unknown, and asked for. */
  #compare(reading: FrameReading, stated: readonly StatedTop[], atMs: EpochMs): void {
    for (const market of this.#doubts.refuted(stated, atMs)) {
      const asked = this.#parts.adapter.lose(market).map(now);
      reading.rejected ??= CONTRADICTED;
      // The book that the frame has changed was wrong before it.
      const others = reading.ticks.filter((tick) => tick.kind !== 'book' || tick.market !== market);
      reading.ticks = [...others, unknownBook(market)];
      if (asked.length > 0) reading.send = [...(reading.send ?? []), ...asked];
    }
  }

  /** After the quotes of the frame: whoever takes a level knows them. */
  #follow(events: LevelEvents, reading: FrameReading, atMs: EpochMs): void {
    const { venue, source, options } = this.#parts;
    const { levels, ticks, venueAtMs } = reading;
    if (levels !== undefined && levels.kind !== 'unknown') {
      const market = options.marketNumber(venue, levels.market);
      const book = ticks.find((tick) => tick.kind === 'book' && tick.market === levels.market);
      const kept = book?.kind === 'book' ? book.depth : undefined;
      if (market !== undefined) events.level(levels, { atMs, source, market }, venueAtMs, kept);
    }
    for (const tick of ticks) {
      if (tick.kind !== 'trade') continue;
      const market = options.marketNumber(venue, tick.market);
      if (market !== undefined) events.print(tick, { atMs, source, market }, venueAtMs);
    }
  }

  #reset(): void {
    this.#levels?.clear();
    this.#parts.adapter.reset();
    this.#doubts.clear();
    this.#unsure.clear();
  }

  states(ticks: readonly StateTick[], atMs: EpochMs): void {
    for (const tick of ticks) {
      this.#noteAnswer(tick);
      this.#tick(tick, atMs);
    }
  }

  #noteAnswer(tick: StateTick): void {
    const { venue, answered, closedBefore, options } = this.#parts;
    const market = options.marketNumber(venue, tick.market);
    if (market === undefined || tick.kind === 'closing') return;
    closedBefore.delete(market);
    if (tick.kind === 'status' && tick.status !== 'open') answered.set(market, tick.status);
    else answered.delete(market);
  }

  /**
   * A status of a frame may be older than the answer that has stopped its market. It starts nothing,
   * and the market is asked for again. A status that each book repeats is no reason to ask.
   */
  #keepStopped(reading: FrameReading): void {
    const { venue, adapter, answered, closedBefore, options } = this.#parts;
    if (answered.size + closedBefore.size === 0 || !reading.ticks.some(isState)) return;
    const held: string[] = [];
    reading.ticks = reading.ticks.filter((tick) => {
      if (!isState(tick) || tick.kind === 'closing') return true;
      const market = options.marketNumber(venue, tick.market) ?? -1;
      const wasClosed = adapter.repeatsStatus && closedBefore.has(market);
      const stop = answered.get(market) ?? (wasClosed ? 'closed' : undefined);
      if (tick.kind === 'result') answered.delete(market);
      const starts =
        tick.kind === 'status' &&
        (stop === 'closed' ? tick.status !== 'closed' : tick.status === 'open');
      if (stop === undefined || !starts) return true;
      held.push(tick.market);
      return false;
    });
    const { missedStates = [] } = reading;
    if (held.length === 0 || adapter.recorded || adapter.repeatsStatus || missedStates === true)
      return;
    reading.missedStates = [...missedStates, ...held];
  }

  subscribe(markets: readonly string[]): unknown[] {
    return this.#parts.adapter.subscribe(markets);
  }

  lost(atMs: EpochMs): void {
    const { source } = this.#parts;
    this.#reset();
    this.#lag.lost();
    this.#send({ kind: 'down', atMs, source });
  }

  #send(tick: Tick): void {
    const { options, counters } = this.#parts;
    counters.tick();
    options.sink(tick);
  }

  #sendQuote(quote: QuoteTick, levels: BookLevels | undefined): void {
    const { options, counters } = this.#parts;
    counters.tick();
    if (options.quoteSink !== undefined) return options.quoteSink(quote, levels);
    if (levels !== undefined) quote.depth = depthOf(levels);
    options.sink(quote);
  }

  /**
   * A result that differs from an earlier one is counted: the first pays (S6 of engine/RULES.md).
   */
  #noteResult(tick: Extract<VenueTick, { kind: 'result' }>, market: MarketNumber): void {
    const { venue, counters, told } = this.#parts;
    const both = told.take(market, tick);
    if (both !== null) counters.skip(RESULT_CONTRADICTED, `${venue}/${tick.market}: ${both}`);
  }

  /** Sends the tick's meaning, if its market is known. @returns whether it was a quote. */
  #tick(tick: VenueTick, atMs: EpochMs): boolean {
    const { venue, source, options, counters } = this.#parts;
    if (tick.kind === 'game') {
      // Shards ignore it.
      if (options.isGame?.(tick.game) === false) return false;
      const game: GameTick = { kind: 'game', atMs, source, game: tick.game, status: tick.status };
      this.#send(game);
      return false;
    }
    const market = options.marketNumber(venue, tick.market);
    if (market === undefined) {
      counters.unknownMarket(`${venue}/${tick.market}`);
      return false;
    }
    const origin: TickOrigin = { atMs, source, market };
    switch (tick.kind) {
      case 'book': {
        const quote = quoteOf(tick, origin);
        this.#doubts.shown(tick.market, quote.crossed, atMs);
        this.#sendQuote(quote, tick.depth);
        if (tick.unknown) this.#levels?.unknown(origin);
        return true;
      }
      case 'trade': {
        const trade = tradeOf(tick, origin);
        if (trade === null) counters.skip('trade price outside 1..99', `${venue}/${tick.market}`);
        else this.#send(trade);
        return false;
      }
      case 'status':
        this.#send({ kind: 'status', ...origin, status: tick.status });
        return false;
      case 'result':
        this.#noteResult(tick, market);
        this.#send(resultOf(tick, origin));
        return false;
      case 'unread':
        return false;
      case 'closing':
        this.#send({ kind: 'closing', ...origin, closesAtMs: tick.closesAtMs });
        return false;
      default:
        return tick satisfies never;
    }
  }
}

/** A result after another that differs. */
const RESULT_CONTRADICTED = 'result contradicts an earlier one';
const NOTHING: readonly unknown[] = [];
const now = (message: unknown): Outgoing => ({ message, afterMs: 0 });

/** Why a text is no frame. */
export const NOT_JSON = 'not JSON';
export const TOO_DEEP = 'nested too deep';

/** Parses text. Text that is not JSON, or nested too deep, is a rejected frame. */
function readingOf(adapter: FrameReader, raw: unknown): FrameReading {
  if (typeof raw !== 'string') return adapter.read(raw);
  let frame: unknown;
  try {
    frame = parseJson(raw);
  } catch (error) {
    const rejected = error instanceof NestedTooDeep ? TOO_DEEP : NOT_JSON;
    return { type: 'unreadable', ticks: [], venueAtMs: null, rejected, jump: false };
  }
  return adapter.read(frame);
}
