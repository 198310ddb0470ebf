/**
 * Subscribed markets that have no quote yet. They outlive connections that bring none. Rule W9
 * (feeds/FORMATS.md).
 */
import { type EpochMs, marketName, type Venue } from '../../engine/base/units.ts';
import type { VenueTick } from '../reading/venue.ts';

/**
 * Which entry of PAPERBOOK_FEEDS quotes a market. Several entries of a venue may ask for the same
 * markets, for example one for the books and another for the results.
 */
export class QuotingFeeds {
  readonly #entries = new Map<string, number>();

  /** The markets that a connection of the entry waits for. */
  unquotedOf(venue: Venue, entry: number): Unquoted {
    return new Unquoted({
      quote: (market) => {
        const quoting = this.#entries.get(marketName(venue, market));
        return quoting !== undefined && quoting !== entry;
      },
      quotedHere: (market) => void this.#entries.set(marketName(venue, market), entry),
    });
  }
}

type Others = {
  /** Whether another feed of the venue quotes the market. */
  quote(market: string): boolean;
  quotedHere(market: string): void;
};

const NO_OTHERS: Others = { quote: () => false, quotedHere() {} };

/** A ticker that the venue does not know stays here. No other place shows it. */
export class Unquoted {
  readonly #sinceMs = new Map<string, EpochMs>();
  readonly #others: Others;

  constructor(others = NO_OTHERS) {
    this.#others = others;
  }

  /** By market: the time of the subscription. */
  get markets(): ReadonlyMap<string, EpochMs> {
    for (const market of this.#sinceMs.keys()) {
      if (this.#others.quote(market)) this.#sinceMs.delete(market);
    }
    return this.#sinceMs;
  }

  /** A market that waits keeps its time: a new connection brings no quote by itself. */
  ask(market: string, atMs: EpochMs): void {
    if (!this.#sinceMs.has(market)) this.#sinceMs.set(market, atMs);
  }

  /** Removes the markets that need no quote any more. */
  keepOnly(awaited: readonly string[]): void {
    const kept = new Set(awaited);
    for (const market of this.#sinceMs.keys()) if (!kept.has(market)) this.#sinceMs.delete(market);
  }

  take({ rejected, ticks }: { rejected: string | null; ticks: readonly VenueTick[] }): void {
    if (rejected !== null || this.#sinceMs.size === 0) return;
    for (const tick of ticks) {
      if (!isAnswer(tick) || !this.#sinceMs.delete(tick.market)) continue;
      if (tick.kind === 'book') this.#others.quotedHere(tick.market);
    }
  }
}

/** A quote, even an empty one, or a status without quotes: paused, closed, resolved. */
function isAnswer(
  tick: VenueTick,
): tick is Extract<VenueTick, { kind: 'book' | 'status' | 'result' }> {
  return (
    tick.kind === 'book' ||
    tick.kind === 'result' ||
    (tick.kind === 'status' && tick.status !== 'open')
  );
}
