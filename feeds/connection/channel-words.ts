/**
 * The newest words of a venue's channels on the state of each market. An answer by REST may be
 * older than they are, whichever feed of the venue has asked. A slower feed of the venue tells older
 * words, too. Rules W15, W102, W104, W105, W109, W112, W114, W115 (feeds/FORMATS.md).
 */
import type { MarketStatus, Venue } from '../../engine/base/units.ts';
import type { Judgement } from '../ingest/ingest.ts';
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
  /** Feeds that have connected, and then told nothing yet. */
  returning: Set<number>;
  /** The last feed that told its first word after it connected. The others may tell what it missed. */
  back: { feed: number; untilMs: number } | null;
};

/** Kept of each market. A feed that is slower than so many words is taken as it is. */
const WORDS_KEPT = 16;
/** No feed is slower than another by so much. */
const SLOWER_MAX_MS = 60_000;

/** @returns the words of each venue, which are the same for all that ask */
export function wordsByVenue(steadyMs?: () => number): (venue: Venue) => ChannelWords {
  const byVenue = new Map<Venue, ChannelWords>();
  return (venue) => {
    const words = byVenue.get(venue) ?? new ChannelWords(steadyMs);
    byVenue.set(venue, words);
    return words;
  };
}

export class ChannelWords {
  readonly #words = new Map<string, Word>();
  /** Of a venue with several feeds: its words on states, and on closing times. */
  readonly #told = new Map<string, Told>();
  readonly #closings = new Map<string, Told>();
  readonly #steadyMs: () => number;
  #place = 0;
  #feeds = 0;

  /** @param steadyMs a clock that nobody sets; `performance.now` when left out */
  constructor(steadyMs: () => number = () => performance.now()) {
    this.#steadyMs = steadyMs;
  }

  /** How many words there were so far. */
  get place(): number {
    return this.#place;
  }

  /** @returns the number of one more feed of the venue */
  newFeed(): number {
    return this.#feeds++;
  }

  /**
   * A word is old if another feed has told it before, and a newer one since. The feeds of a venue
   * tell the same words in the same order.
   */
  judge(feed: number, tick: StateTick): Judgement {
    if (this.#feeds < 2) return 'new';
    const told = toldOf(tick.kind === 'closing' ? this.#closings : this.#told, tick.market);
    const word = wordOf(tick);
    const { words, heard } = told;
    const newest = told.first + words.length - 1;
    if (told.returning.delete(feed) && words.length > 0) {
      told.back = { feed, untilMs: this.#steadyMs() + SLOWER_MAX_MS };
    }
    const from = Math.max(heard[feed] ?? 0, told.first);
    // Its last word again, or one of the words that others have told since.
    const again = words.indexOf(word, from - told.first);
    if (again !== -1) {
      heard[feed] = told.first + again;
      return word === words.at(-1) ? 'new' : 'old';
    }
    const sureInMs = this.#sureInMs(told, feed, tick);
    if (sureInMs > 0) return { sureInMs };
    heard[feed] = newest + 1;
    words.push(word);
    if (words.length > WORDS_KEPT) {
      words.shift();
      told.first++;
    }
    return 'new';
  }

  /** If the word may be one that a feed has missed, the time until it cannot be; 0: it is new. */
  #sureInMs({ back, words, first, heard }: Told, feed: number, tick: StateTick): number {
    if (back === null || back.feed === feed || !mayDoHarm(tick, words.at(-1)!)) return 0;
    // Whatever that feed has missed, it has told the same since.
    if (words[(heard[back.feed] ?? -1) - first] === wordOf(tick)) return 0;
    return back.untilMs - this.#steadyMs();
  }

  /**
   * The feed has missed words, or may have: its next ones are from now on. `repeats`: the first of
   * them may be its last one again.
   */
  startsOver(feed: number, markets: Iterable<string>, repeats = false): void {
    for (const market of markets) {
      this.unheard(market);
      if (this.#feeds < 2) continue;
      for (const all of [this.#told, this.#closings]) {
        const told = all.get(market);
        if (told !== undefined) told.heard[feed] = told.first + told.words.length - 1;
      }
      if (repeats) toldOf(this.#told, market).returning.add(feed);
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
    word.toldMs = this.#steadyMs();
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
    return this.#steadyMs() - (this.#words.get(market)?.toldMs ?? Number.NEGATIVE_INFINITY);
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

function toldOf(all: Map<string, Told>, market: string): Told {
  const known = all.get(market);
  if (known !== undefined) return known;
  const told: Told = { words: [], first: 0, heard: [], returning: new Set(), back: null };
  all.set(market, told);
  return told;
}

const RESULT = /^(yes|no|void|scalar) /;

/** Whether the word starts a market that the last word has stopped, or changes its result. */
function mayDoHarm(tick: StateTick, last: string): boolean {
  if (tick.kind === 'closing') return false;
  if (tick.kind === 'result') return RESULT.test(last);
  return tick.status === 'open' || (tick.status === 'paused' && last.startsWith('closed '));
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
