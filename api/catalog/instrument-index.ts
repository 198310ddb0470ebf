/**
 * An index of instruments by the words of their texts. It finds exact words, beginnings of words,
 * and words with one typo. Rule A47 (api/RULES.md).
 */
import type { InstrumentEntry } from './catalog-view.ts';
import { MatchScores, NOT_IN_LABEL, PLACE_BITS } from './match-scores.ts';

/** How well a word of an instrument matches a word of the query, in percent. */
const EXACT = 100;
const BEGINNING = 95;
const TYPO = 90;
/** The points of a match per letter of the query: half of its letters misspelt. */
const POINTS_MIN = TYPO / 2;
/** In a shorter word, one typo makes another word. */
const MISSPELT_LENGTH_MIN = 4;
/** A shorter common beginning of two words means nothing. */
const COMMON_LENGTH_MIN = 3;
/**
 * How many places a query reads for words other than its own, an equal share for each word: about 2
 * ms. A query of single letters stops there.
 */
const OTHER_PLACES_MAX = 250_000;

/** An indexed word that matches a word of the query: its places, and how well it matches. */
type Match = { places: readonly number[]; percent: number };

export class InstrumentIndex {
  readonly #entries: InstrumentEntry[] = [];
  /** Of texts that are always shown. */
  readonly #own = new WordPlaces();
  /** Of the venues' titles. */
  readonly #titles = new WordPlaces();
  readonly #scores = new MatchScores();

  get size(): number {
    return this.#entries.length;
  }

  /** Of equal matches the one added first ranks first. */
  add(entry: InstrumentEntry): void {
    const position = this.#entries.push(entry) - 1;
    for (const [place, word] of wordsOf(entry.instrument.label).entries()) {
      this.#own.add(word, position, Math.min(place, NOT_IN_LABEL));
    }
    for (const word of wordsOf(textBesideLabel(entry))) {
      this.#own.add(word, position, NOT_IN_LABEL);
    }
    for (const word of wordsOf(titles(entry))) this.#titles.add(word, position, NOT_IN_LABEL);
  }

  /**
   * The best `limit` matches that pass the filter, best first, the preferred ones of equal ones first.
   *
   * @param venueData whether the words of the venues' titles count
   */
  find(
    query: string,
    limit: number,
    venueData: boolean,
    isWanted: (entry: InstrumentEntry) => boolean,
    isPreferred: (entry: InstrumentEntry) => boolean,
  ): InstrumentEntry[] {
    const searched = venueData ? [this.#own, this.#titles] : [this.#own];
    const scores = this.#scores;
    scores.clear(this.#entries.length);
    const words = new Set(wordsOf(query));
    let letters = 0;
    for (const word of words) {
      letters += word.length;
      scores.nextWord(word.length);
      let left = OTHER_PLACES_MAX / words.size;
      for (const { places, percent } of matches(searched, word)) {
        if (left <= 0) break;
        scores.add(places, percent);
        if (percent < EXACT) left -= places.length;
      }
    }
    return scores
      .best(
        limit,
        letters * POINTS_MIN,
        (position) => isWanted(this.#entries[position]!),
        (position) => isPreferred(this.#entries[position]!),
      )
      .map((position) => this.#entries[position]!);
  }
}

/** Indexed words that match a word of the query, best first. */
function* matches(searched: readonly WordPlaces[], word: string): Generator<Match> {
  let isThere = false;
  for (const words of searched) {
    const places = words.of(word);
    if (places === undefined) continue;
    isThere = true;
    yield { places, percent: EXACT };
  }
  yield* beginningWith(searched, word, BEGINNING);
  const mayBeMisspelt = word.length >= MISSPELT_LENGTH_MIN && !/\p{N}/u.test(word);
  if (isThere || !mayBeMisspelt) return;
  for (const words of searched) {
    for (const places of words.oneTypoFrom(word)) yield { places, percent: TYPO };
  }
  yield* beginningAlike(searched, word);
}

function* beginningWith(
  searched: readonly WordPlaces[],
  letters: string,
  percent: number,
): Generator<Match> {
  for (const words of searched) {
    for (const places of words.beginningWith(letters)) yield { places, percent };
  }
}

/** For an incomplete word with a typo: the words that share most of its first letters. */
function* beginningAlike(searched: readonly WordPlaces[], word: string): Generator<Match> {
  for (let length = word.length - 1; length >= COMMON_LENGTH_MIN; length--) {
    const percent = Math.floor((TYPO * length) / word.length);
    const found = beginningWith(searched, word.slice(0, length), percent);
    const { done, value } = found.next();
    if (done === true) continue;
    yield value;
    yield* found;
    return;
  }
}

function textBesideLabel({ instrument, game }: InstrumentEntry): string {
  const { oppositeLabel, yesMeans, league, marketType, subject, slug } = instrument;
  const teams = [subject, game?.game.home, game?.game.away].flatMap((team) => {
    return team == null ? [] : [team.code, team.name];
  });
  return [oppositeLabel, yesMeans, league, marketType, slug, ...teams].join(' ');
}

/** The titles of a winner are the names of its teams. Rule K29 (feeds/FORMATS.md). */
function titles({ instrument: { subject, listings } }: InstrumentEntry): string {
  return subject === null ? listings.map(({ sideLabel }) => sideLabel ?? '').join(' ') : '';
}

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Where each word occurs in the texts of an index. */
class WordPlaces {
  /** The places of every word, as `MatchScores` reads them. */
  readonly #places = new Map<string, number[]>();
  /** The words by their first character, and by their last. */
  readonly #byFirst = new Map<string, string[]>();
  readonly #byLast = new Map<string, string[]>();

  /** Only the first place of a word within an instrument counts. */
  add(word: string, position: number, place: number): void {
    let places = this.#places.get(word);
    if (places === undefined) {
      places = [];
      this.#places.set(word, places);
      addTo(this.#byFirst, word[0]!, word);
      addTo(this.#byLast, word.at(-1)!, word);
    }
    const last = places.at(-1);
    if (last !== undefined && last >>> PLACE_BITS === position) return;
    places.push(position * 2 ** PLACE_BITS + place);
  }

  of(word: string): readonly number[] | undefined {
    return this.#places.get(word);
  }

  *beginningWith(letters: string): Generator<readonly number[]> {
    for (const word of this.#byFirst.get(letters[0]!) ?? []) {
      if (word.startsWith(letters)) yield this.#places.get(word)!;
    }
  }

  /** One letter added, missing or replaced, or two neighbours swapped. */
  *oneTypoFrom(word: string): Generator<readonly number[]> {
    const [first, last] = [word[0]!, word.at(-1)!];
    // One typo leaves the first letter or the last one as it is.
    for (const other of this.#byFirst.get(first) ?? []) {
      if (isOneTypoFrom(word, other)) yield this.#places.get(other)!;
    }
    for (const other of this.#byLast.get(last) ?? []) {
      if (other[0] !== first && isOneTypoFrom(word, other)) yield this.#places.get(other)!;
    }
  }
}

function addTo(lists: Map<string, string[]>, key: string, word: string): void {
  const words = lists.get(key);
  if (words === undefined) lists.set(key, [word]);
  else words.push(word);
}

/** Whether they differ by a letter, or by the order of two neighbours. */
function isOneTypoFrom(a: string, b: string): boolean {
  const longer = a.length - b.length;
  if (longer > 1 || longer < -1) return false;
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  if (longer === 1) return a.slice(at + 1) === b.slice(at);
  if (longer === -1) return a.slice(at) === b.slice(at + 1);
  if (at === end || a.slice(at + 1) === b.slice(at + 1)) return true;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
