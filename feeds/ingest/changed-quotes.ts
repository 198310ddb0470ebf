/**
 * Passes a quote on if it is new, with only the levels that have changed. A quote that repeats the
 * last is a heartbeat of its connection. One heartbeat per millisecond is enough. Rule B13
 * (feeds/FORMATS.md).
 */

import type { EpochMs, SourceNumber } from '../../engine/base/units.ts';
import type { Depth, DepthLevel, QuoteTick, Tick, TimeTick } from '../../engine/rules/messages.ts';
import { isSameTop, replaceTop, topOf } from '../../engine/rules/quote-top.ts';
import { depthOf } from '../reading/engine-ticks.ts';
import type { BookLevels } from '../reading/venue.ts';

/** A repeated quote is passed on so often all the same, because its time is shown. */
const REPEATED_EVERY_MS = 1000;
/**
 * All levels are passed on so often. Changes are enough, but this bounds how long a wrong level
 * stays.
 */
const WHOLE_EVERY_MS = 10_000;

/** The known levels of a market: all; `kept`, by a book that reports changes; null: none. */
type Book = Depth | 'kept' | null;

/** The last quote of a market, in place. */
type Passed = {
  /** The quote as it was passed on, without levels. */
  readonly quote: QuoteTick;
  book: Book;
  /** When it was last passed on with all its levels. */
  wholeAtMs: EpochMs;
  /** When its venue last showed it; later than its own time if the repeat was not passed on. */
  shownAtMs: EpochMs;
};

export class ChangedQuotes {
  /** False: others quote the same markets, so the levels in the shards are unknown. */
  #isOn = true;
  readonly #sink: (tick: Tick) => void;
  /** By market. */
  readonly #passed: (Passed | undefined)[] = [];
  /** The time of the last tick that was passed on, by connection. */
  readonly #heardMs: EpochMs[] = [];

  constructor(sink: (tick: Tick) => void) {
    this.#sink = sink;
  }

  /** Quotes without levels, and all other ticks. */
  readonly take = (tick: Tick): void => {
    switch (tick.kind) {
      case 'quote':
        return this.takeQuote(tick);
      case 'heartbeat':
        return this.#heartbeat(tick.source, tick.atMs);
      case 'down':
        this.#dateQuotes(tick.source);
        return this.#sink(tick);
      case 'time':
        return this.#sink(tick);
      default:
        this.#pass(tick);
    }
  };

  /** Takes the top of a book, and its levels where they are known. */
  readonly takeQuote = (quote: QuoteTick, levels?: BookLevels): void => {
    const { market, source, atMs } = quote;
    const last = this.#passed[market];
    // Asked each time, because the book reports the changes since then.
    const kept = levels?.takeChange?.();
    const book = kept === undefined ? (levels === undefined ? null : depthOf(levels)) : 'kept';
    const isFollowed = last !== undefined && this.#isFollowed(last, quote);
    const change = isFollowed ? changeOf(last.book, book, kept ?? null) : null;
    if (!isFollowed || change === null) {
      if (levels !== undefined) quote.depth = depthOf(levels);
      if (last === undefined) {
        this.#passed[market] = { quote: topOf(quote), book, wholeAtMs: atMs, shownAtMs: atMs };
      } else {
        keep(last, quote, book);
        last.wholeAtMs = atMs;
      }
      return this.#pass(quote);
    }
    last.shownAtMs = atMs;
    const isSameBook = change.yesBids.length + change.yesAsks.length === 0;
    const ageMs = atMs - last.quote.atMs;
    const isYoung = ageMs >= 0 && ageMs < REPEATED_EVERY_MS;
    if (isYoung && isSameBook && isSameTop(last.quote, quote)) return this.#heartbeat(source, atMs);
    if (book === null) last.wholeAtMs = atMs;
    else quote.depthChange = change;
    keep(last, quote, book);
    this.#pass(quote);
  };

  /** Others quote the same markets from now on, or no longer do. */
  set isOn(isOn: boolean) {
    this.#isOn = isOn;
    this.forget();
  }

  /** The next quote of each market is passed on, even an equal one. */
  forget(): void {
    this.#passed.length = 0;
  }

  /** Every quote has the time when it was last shown. */
  end(): void {
    this.#dateQuotes(null);
  }

  /** Whether the shards can have `last`, and the quote may build on it. */
  #isFollowed({ quote, wholeAtMs }: Passed, tick: QuoteTick): boolean {
    const ageMs = tick.atMs - wholeAtMs;
    return this.#isOn && quote.source === tick.source && ageMs >= 0 && ageMs < WHOLE_EVERY_MS;
  }

  #heartbeat(source: SourceNumber, atMs: EpochMs): void {
    if (this.#heardMs[source] !== atMs) this.#pass({ kind: 'heartbeat', atMs, source });
  }

  /** Passes on when quotes were last shown, for a connection that ends, or for all. */
  #dateQuotes(source: SourceNumber | null): void {
    for (const [market, passed] of this.#passed.entries()) {
      if (passed === undefined || (source !== null && passed.quote.source !== source)) continue;
      const { book, shownAtMs } = passed;
      if (shownAtMs !== passed.quote.atMs) {
        const quote = { ...passed.quote, atMs: shownAtMs };
        this.#pass(book === null ? quote : { ...quote, depthChange: UNCHANGED });
      }
      this.#passed[market] = undefined;
    }
  }

  #pass(tick: Exclude<Tick, TimeTick>): void {
    this.#heardMs[tick.source] = tick.atMs;
    this.#sink(tick);
  }
}

function keep(passed: Passed, quote: QuoteTick, book: Book): void {
  replaceTop(passed.quote, quote);
  passed.book = book;
  passed.shownAtMs = quote.atMs;
}

type Levels = readonly DepthLevel[];
const NONE: Levels = [];
const UNCHANGED: Depth = { yesBids: NONE, yesAsks: NONE };

/** The levels that have changed; null: only all levels would express it. */
function changeOf(before: Book, after: Book, kept: Depth | null): Depth | null {
  if (after === null) return before === null ? UNCHANGED : null;
  if (after === 'kept') return before === 'kept' ? kept : null;
  if (before === null || before === 'kept') return null;
  const yesBids = changedLevels(before.yesBids, after.yesBids, -1);
  const yesAsks = changedLevels(before.yesAsks, after.yesAsks, 1);
  return { yesBids, yesAsks };
}

/** By one walk along both, best first: prices rise from there, or fall. */
function changedLevels(before: Levels, after: Levels, rise: 1 | -1): Levels {
  const changes: DepthLevel[] = [];
  let was = 0;
  let is = 0;
  while (was < before.length || is < after.length) {
    const old = before[was];
    const now = after[is];
    const order = old === undefined ? 1 : now === undefined ? -1 : (old[0] - now[0]) * rise;
    if (order < 0) changes.push([old![0], 0]);
    else if (order > 0 || old![1] !== now![1]) changes.push(now!);
    if (order <= 0) was++;
    if (order >= 0) is++;
  }
  return changes;
}
