/**
 * The newest words of a venue's channels on the state of each market. An answer by REST may be
 * older than they are, whichever feed of the venue has asked. Rules W15, W102, W104, W105
 * (feeds/FORMATS.md).
 */
import type { MarketStatus, Venue } from '../../engine/base/units.ts';
import type { VenueTick } from '../reading/venue.ts';

type Word = {
  /** Its place among all words. */
  place: number;
  /** Null: it was a result. */
  status: MarketStatus | null;
  /** The place of the last doubt of the result; 0: there was none. */
  doubtPlace: number;
};

/** @returns the words of each venue, which are the same for all that ask */
export function wordsByVenue(): (venue: Venue) => ChannelWords {
  const byVenue = new Map<Venue, ChannelWords>();
  return (venue) => {
    const words = byVenue.get(venue) ?? new ChannelWords();
    byVenue.set(venue, words);
    return words;
  };
}

export class ChannelWords {
  readonly #words = new Map<string, Word>();
  #place = 0;

  /** How many words there were so far. */
  get place(): number {
    return this.#place;
  }

  saw(tick: VenueTick): void {
    if (tick.kind !== 'status' && tick.kind !== 'result') return;
    const { market } = tick;
    const last = this.#words.get(market);
    const status = tick.kind === 'status' ? tick.status : null;
    const place = ++this.#place;
    const isDoubt = tick.kind === 'status' && tick.doubt !== undefined;
    const doubtPlace = isDoubt ? place : (last?.doubtPlace ?? 0);
    this.#words.set(market, { place, status, doubtPlace });
  }

  /** The market has a result, which ends the word that closed it. */
  ended(market: string): void {
    const word = this.#words.get(market);
    if (word?.status === 'closed') word.status = null;
  }

  /** Whether an answer may not open the market: the channel has closed it. */
  hasClosed(market: string): boolean {
    return this.#words.get(market)?.status === 'closed';
  }

  /** Whether the channels have said something of the market since that place. */
  isNewer(market: string, place: number): boolean {
    return (this.#words.get(market)?.place ?? 0) > place;
  }

  /** Whether the channels have doubted the market's result since that place. */
  isDoubted(market: string, place: number): boolean {
    return (this.#words.get(market)?.doubtPlace ?? 0) > place;
  }
}
