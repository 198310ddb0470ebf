/**
 * The content of a feed file, read without an engine: counts, gaps, rejected frames, and the top of
 * book at regular times. Rules X1 to X8 (feeds/FORMATS.md).
 */
import { askCentsOf, bidCentsOf, type EpochMs, isoOf, NO_PRICE } from '../../engine/base/units.ts';
import { countBounded } from '../ingest/ingest-counters.ts';
import { contractsText } from '../reading/decimal.ts';
import { isCrossed } from '../reading/engine-ticks.ts';
import type { BookTick, FrameReading, VenueTick } from '../reading/venue.ts';
import { type ReadFeedOptions, readFeed } from './feed-file.ts';
import { FeedFileError, type FeedLine } from './feed-line.ts';
import { type Judged, JumpGuard } from './jump-guard.ts';
import { LagHistogram, type LagSummary } from './lag.ts';
import { RecordedAdapters } from './recorded-adapters.ts';

/** How many markets have a count of their own. Frames of the others count under `other`. */
const MARKETS_MAX = 10_000;

export type FeedSummary = {
  frames: number;
  /** Lines passed over with `skipBad`. */
  skippedLines: number;
  skippedLinesByReason: Record<string, number>;
  firstAt: string | null;
  lastAt: string | null;
  /** Lines whose time cannot be right, which a replay refuses. Rule X8. */
  timeProblems: { lines: number; linesByReason: Record<string, number>; firstLine: number | null };
  /** By adapter and the venue's message type: `kalshi orderbook_delta`. */
  framesByType: Record<string, number>;
  /** By venue and market: `venue_a/TICKER`; frames without a price or event are of no market. */
  markets: Record<string, MarketSummary>;
  /** Ticks by kind, all markets together. */
  ticks: Record<string, number>;
  /** Jumps in the venues' own sequences; in a recording they need not be losses. */
  gaps: number;
  rejected: number;
  rejectedByReason: Record<string, number>;
  /** Books after a frame: bid >= ask, one side empty, both sides empty. */
  books: BookStates;
  /** Received time minus the venue's own time of the event. */
  lag: LagSummary;
};

type BookStates = { total: number; crossed: number; oneSided: number; empty: number };

type MarketSummary = {
  frames: number;
  framesByType: Record<string, number>;
  firstAt: string;
  lastAt: string;
  tradedContracts: string;
  books: BookStates;
  result: string | null;
};

/**
 * Reads a whole feed file.
 * @throws FeedFileError when a line cannot be read and `skipBad` is not set, or the file cannot.
 */
export async function inspectFeed(
  path: string,
  { skipBad = false }: Pick<ReadFeedOptions, 'skipBad'> = {},
): Promise<FeedSummary> {
  const survey = new Survey();
  const adapters = new RecordedAdapters();
  for await (const batch of readFeed(path, { skipBad, onBad: (e) => survey.badLine(e.reason) })) {
    for (const line of batch) {
      survey.time(line);
      const reading = adapters.read(line);
      if (reading !== null) survey.add(line, reading);
    }
  }
  return survey.summary();
}

/**
 * CSV lines, the header first: the top of book of each market at each multiple of `seconds`, from
 * the market's first quote to the file's end, sorted by time and market name. If the file's time
 * goes back, the time does not move here. @throws FeedFileError as `inspectFeed`; RangeError when
 * `seconds` is not a whole number above 0.
 */
export async function* bboRows(
  path: string,
  seconds: number,
  { skipBad = false }: Pick<ReadFeedOptions, 'skipBad'> = {},
): AsyncGenerator<string> {
  if (!Number.isSafeInteger(seconds) || seconds < 1) {
    throw new RangeError('seconds must be a whole number of at least 1');
  }
  yield 'market,at_ms,yes_bid_cents,yes_bid_contracts,yes_ask_cents,yes_ask_contracts';
  const stepMs = seconds * 1000;
  const adapters = new RecordedAdapters();
  const rows = new Map<string, Quoted>();
  let sorted: Quoted[] | null = null; // made again when a market appears
  let nowMs = Number.NEGATIVE_INFINITY;
  let boundaryMs = 0;
  for await (const batch of readFeed(path, { skipBad })) {
    for (const line of batch) {
      if (nowMs === Number.NEGATIVE_INFINITY) boundaryMs = Math.ceil(line.atMs / stepMs) * stepMs;
      for (nowMs = Math.max(nowMs, line.atMs); boundaryMs < nowMs; boundaryMs += stepMs) {
        sorted ??= inOrder(rows);
        for (const row of sorted) yield rowText(row, boundaryMs);
      }
      for (const tick of adapters.read(line)?.ticks ?? []) {
        if (tick.kind !== 'book') continue;
        const key = `${tick.market}\n${line.venue}`;
        const decimals = adapters.decimals(line);
        const row = rows.get(key);
        if (row !== undefined) Object.assign(row, { tick, decimals });
        else {
          rows.set(key, { key, tick, decimals });
          sorted = null;
        }
      }
    }
  }
  for (; boundaryMs <= nowMs; boundaryMs += stepMs) {
    sorted ??= inOrder(rows);
    for (const row of sorted) yield rowText(row, boundaryMs);
  }
}

type Quoted = { key: string; tick: BookTick; decimals: 0 | 2 };

function inOrder(rows: Map<string, Quoted>): Quoted[] {
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function rowText({ tick, decimals }: Quoted, atMs: EpochMs): string {
  const bid = tick.yesBid === null ? NO_PRICE : bidCentsOf(tick.yesBid);
  const ask = tick.yesAsk === null ? NO_PRICE : askCentsOf(tick.yesAsk);
  const side = (cents: number, size: number) =>
    cents === NO_PRICE ? ',' : `${cents},${contractsText(size, decimals)}`;
  const place = `${csvText(tick.market)},${atMs}`;
  return `${place},${side(bid, tick.yesBidSize)},${side(ask, tick.yesAskSize)}`;
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type MarketCounts = {
  frames: number;
  types: Map<string, number>;
  firstMs: EpochMs;
  lastMs: EpochMs;
  tradedE2: number;
  books: BookStates;
  result: string | null;
};

/** Counts of a file, in memory that does not grow with its length. */
class Survey {
  readonly #types = new Map<string, number>();
  readonly #ticks = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #badLines = new Map<string, number>();
  readonly #markets = new Map<string, MarketCounts>();
  readonly #books = noBooks();
  readonly #lag = new LagHistogram();
  readonly #guard = new JumpGuard();
  readonly #timeReasons = new Map<string, number>();
  #wrongTimes = 0;
  #firstWrongTime: number | null = null;
  #frames = 0;
  #skippedLines = 0;
  #gaps = 0;
  #rejected = 0;
  #firstMs: EpochMs | null = null;
  #lastMs: EpochMs | null = null;

  badLine(reason: string): void {
    this.#skippedLines++;
    countBounded(this.#badLines, reason);
  }

  /** The objection of a replay to the line's time. */
  time(line: FeedLine): void {
    this.#noteTimes(() => this.#guard.take(line));
  }

  #noteTimes(judge: () => Judged): void {
    let judged: Judged;
    try {
      judged = judge();
    } catch (error) {
      if (!(error instanceof FeedFileError)) throw error;
      judged = [error];
    }
    for (const each of judged) {
      if (!(each instanceof FeedFileError)) continue;
      this.#wrongTimes++;
      this.#firstWrongTime ??= each.line;
      countBounded(this.#timeReasons, each.reason);
    }
  }

  add({ atMs, venue, adapter }: FeedLine, reading: FrameReading): void {
    this.#frames++;
    this.#firstMs = Math.min(this.#firstMs ?? atMs, atMs);
    this.#lastMs = Math.max(this.#lastMs ?? atMs, atMs);
    countBounded(this.#types, `${adapter} ${reading.type}`);
    if (reading.jump) this.#gaps++;
    if (reading.rejected !== null) {
      this.#rejected++;
      countBounded(this.#reasons, reading.rejected);
    }
    if (reading.venueAtMs !== null) this.#lag.add(atMs - reading.venueAtMs);
    let counted: MarketCounts | null = null;
    for (const tick of reading.ticks) {
      countBounded(this.#ticks, tick.kind);
      if (tick.kind === 'book') countBook(this.#books, tick);
      if (tick.kind === 'game') continue;
      const market = this.#market(`${venue}/${tick.market}`, atMs);
      countTick(market, tick);
      // A frame is about one market; its second tick is not a second frame.
      if (market !== counted) countFrame(market, reading.type, atMs);
      counted = market;
    }
  }

  summary(): FeedSummary {
    this.#noteTimes(() => this.#guard.end());
    const markets = [...this.#markets].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      frames: this.#frames,
      skippedLines: this.#skippedLines,
      skippedLinesByReason: Object.fromEntries(this.#badLines),
      firstAt: this.#firstMs === null ? null : isoOf(this.#firstMs),
      lastAt: this.#lastMs === null ? null : isoOf(this.#lastMs),
      timeProblems: {
        lines: this.#wrongTimes,
        linesByReason: Object.fromEntries(this.#timeReasons),
        firstLine: this.#firstWrongTime,
      },
      framesByType: Object.fromEntries(this.#types),
      markets: Object.fromEntries(markets.map(([name, counts]) => [name, marketSummary(counts)])),
      ticks: Object.fromEntries(this.#ticks),
      gaps: this.#gaps,
      rejected: this.#rejected,
      rejectedByReason: Object.fromEntries(this.#reasons),
      books: this.#books,
      lag: this.#lag.summary(),
    };
  }

  #market(name: string, atMs: EpochMs): MarketCounts {
    const key = this.#markets.has(name) || this.#markets.size < MARKETS_MAX ? name : 'other';
    let market = this.#markets.get(key);
    if (market === undefined) {
      const types = new Map<string, number>();
      const spans = { firstMs: atMs, lastMs: atMs };
      market = { frames: 0, types, ...spans, tradedE2: 0, books: noBooks(), result: null };
      this.#markets.set(key, market);
    }
    return market;
  }
}

function noBooks(): BookStates {
  return { total: 0, crossed: 0, oneSided: 0, empty: 0 };
}

function countBook(states: BookStates, tick: BookTick): void {
  states.total++;
  if (isCrossed(tick)) states.crossed++;
  const missing = Number(tick.yesBid === null) + Number(tick.yesAsk === null);
  if (missing === 1) states.oneSided++;
  if (missing === 2) states.empty++;
}

function countTick(market: MarketCounts, tick: Exclude<VenueTick, { kind: 'game' }>): void {
  switch (tick.kind) {
    case 'book':
      return countBook(market.books, tick);
    case 'trade':
      market.tradedE2 += tick.size;
      return;
    case 'result':
      market.result = tick.outcome;
      return;
    case 'status':
    case 'closing':
    case 'unread':
      return;
    default:
      tick satisfies never;
  }
}

function countFrame(market: MarketCounts, type: string, atMs: EpochMs): void {
  market.frames++;
  countBounded(market.types, type);
  market.firstMs = Math.min(market.firstMs, atMs);
  market.lastMs = Math.max(market.lastMs, atMs);
}

function marketSummary(market: MarketCounts): MarketSummary {
  return {
    frames: market.frames,
    framesByType: Object.fromEntries(market.types),
    firstAt: isoOf(market.firstMs),
    lastAt: isoOf(market.lastMs),
    tradedContracts: contractsText(market.tradedE2, 2),
    books: market.books,
    result: market.result,
  };
}
