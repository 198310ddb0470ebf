/**
 * The newest words of a venue's channels on the state of each market. An answer by REST may be
 * older than they are, whichever feed of the venue has asked. A slower feed of the venue tells older
 * words, too. Rules W15, W102, W104, W105, W109, W112 (feeds/FORMATS.md).
 */
import type { MarketStatus, Venue } from '../../engine/base/units.ts';
import type { StateTick, VenueTick } from '../reading/venue.ts';

type Word = {
  /** Its place among all words; 0: the channels have said nothing. */
  place: number;
  /** Null: it was a result, or nothing, or the channel may have missed a later one. */
  status: MarketStatus | null;
  /** When it was told, on the steady clock. */
  toldMs: number;
  /** The place of the last doubt of the result; 0: there was none. */
  doubtPlace: number;
  /** The place of the last answer that has stopped it; 0: there was none. */
  stoppedPlace: number;
};

/** Words of one market in the order in which they were told first. */
type Told = {
  words: string[];
  /** The number of the first of them. */
  first: number;
  /** By feed, the number of the word that it told last; missing: it told none of them. */
  heard: number[];
};

/** Kept of each market. A feed that is slower than so many words is taken as it is. */
const WORDS_KEPT = 16;

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
  /** Of a venue with several feeds: its words on states, and on closing times. */
  readonly #told = new Map<string, Told>();
  readonly #closings = new Map<string, Told>();
  #place = 0;
  #feeds = 0;

  /** How many words there were so far. */
  get place(): number {
    return this.#place;
  }

  /** @returns the number of one more feed of the venue */
  newFeed(): number {
    return this.#feeds++;
  }

  /**
   * Whether the word is old: another feed has told it before, and a newer one since. The feeds of a
   * venue tell the same words in the same order.
   */
  isOld(feed: number, tick: StateTick): boolean {
    if (this.#feeds < 2) return false;
    const all = tick.kind === 'closing' ? this.#closings : this.#told;
    const word = wordOf(tick);
    const told = all.get(tick.market) ?? { words: [], first: 0, heard: [] };
    all.set(tick.market, told);
    const { words, heard } = told;
    const newest = told.first + words.length - 1;
    const from = Math.max(heard[feed] ?? 0, told.first);
    // Its last word again, or one of the words that others have told since.
    const again = words.indexOf(word, from - told.first);
    if (again !== -1) {
      heard[feed] = told.first + again;
      return heard[feed] < newest;
    }
    heard[feed] = newest + 1;
    words.push(word);
    if (words.length > WORDS_KEPT) {
      words.shift();
      told.first++;
    }
    return false;
  }

  /** The feed has missed words, or may have: its next ones are from now on. */
  startsOver(feed: number, markets: Iterable<string>): void {
    for (const market of markets) {
      this.unheard(market);
      for (const all of [this.#told, this.#closings]) {
        const told = all.get(market);
        if (told !== undefined) told.heard[feed] = told.first + told.words.length - 1;
      }
    }
  }

  /** The channels have said of the market what nobody knows. */
  unheard(market: string): void {
    const word = this.#words.get(market);
    if (word !== undefined && word.status !== 'closed') word.status = null;
  }

  /** Nobody follows the market any more. */
  forget(market: string): void {
    for (const all of [this.#words, this.#told, this.#closings]) all.delete(market);
  }

  saw(tick: VenueTick): void {
    if (tick.kind !== 'status' && tick.kind !== 'result') return;
    const word = this.#wordOf(tick.market);
    word.status = tick.kind === 'status' ? tick.status : null;
    word.toldMs = performance.now();
    word.place = ++this.#place;
    if (tick.kind === 'status' && tick.doubt !== undefined) word.doubtPlace = word.place;
  }

  /** An answer has paused or closed the market. */
  stoppedByAnswer(market: string): void {
    this.#wordOf(market).stoppedPlace = ++this.#place;
  }

  /** The market has a result, which ends the word that closed it. */
  ended(market: string): void {
    const word = this.#words.get(market);
    if (word?.status === 'closed') word.status = null;
  }

  /** The last word of the channels on whether the market is open; null: it is not known. */
  statusOf(market: string): MarketStatus | null {
    return this.#words.get(market)?.status ?? null;
  }

  /** Whether another answer, to a question from after that place, has stopped the market. */
  wasStopped(market: string, place: number): boolean {
    return (this.#words.get(market)?.stoppedPlace ?? 0) > place;
  }

  /** How long the channels have said nothing else of the market, in milliseconds. */
  ageMs(market: string): number {
    return performance.now() - (this.#words.get(market)?.toldMs ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether the channels have said something of the market since that place. */
  isNewer(market: string, place: number): boolean {
    return (this.#words.get(market)?.place ?? 0) > place;
  }

  /** Whether the channels have doubted the market's result since that place. */
  isDoubted(market: string, place: number): boolean {
    return (this.#words.get(market)?.doubtPlace ?? 0) > place;
  }

  #wordOf(market: string): Word {
    const known = this.#words.get(market);
    const word = known ?? {
      ...{ place: 0, status: null, toldMs: 0 },
      ...{ doubtPlace: 0, stoppedPlace: 0 },
    };
    if (known === undefined) this.#words.set(market, word);
    return word;
  }
}

function wordOf(tick: StateTick): string {
  switch (tick.kind) {
    case 'status':
      return `${tick.status} ${tick.doubt ?? ''} ${tick.unusable ?? ''}`;
    case 'result':
      return `${tick.outcome} ${tick.yesValue} ${tick.provisional ?? false}`;
    case 'closing':
      return String(tick.closesAtMs);
    default:
      return tick satisfies never;
  }
}
