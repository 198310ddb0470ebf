/**
 * An index of instruments by the words of their texts. It finds exact words, beginnings of words,
 * and words with one typo. Rule A47 (api/RULES.md).
 */
import SearchableMap from 'minisearch/SearchableMap';
import type { InstrumentEntry } from './catalog-view.ts';
import { MatchScores, NOT_IN_LABEL, PLACE_BITS } from './match-scores.ts';

/** How well a word of an instrument matches a word of the query, in percent. */
const EXACT = 100;
const BEGINNING = 95;
const TYPO = 90;
/** What a match needs for each letter of the query: the points of half its letters, misspelt. */
const POINTS_MIN = TYPO / 2;
/** In a shorter word, one typo makes another word. */
const MISSPELT_LENGTH_MIN = 4;
/** A shorter common beginning of two words means nothing. */
const COMMON_LENGTH_MIN = 3;
/**
 * How many places a query reads for words other than its own, an equal share for each word: about
 * 2 ms. A query of single letters stops there.
 */
const OTHER_PLACES_MAX = 250_000;

/** An indexed word that matches a word of the query: its places, and how well it matches. */
type Match = { places: readonly number[]; percent: number };

export class InstrumentIndex {
  readonly #entries: InstrumentEntry[] = [];
  /** The places of every word, as `MatchScores` reads them. */
  readonly #places = new Map<string, number[]>();
  /** The same as a tree, for beginnings and typos. A lookup in the map costs a tenth. */
  readonly #tree = new SearchableMap<number[]>();
  readonly #scores = new MatchScores();

  get size(): number {
    return this.#entries.length;
  }

  /** Of equal matches the one added first ranks first. */
  add(entry: InstrumentEntry): void {
    const position = this.#entries.push(entry) - 1;
    for (const [place, word] of wordsOf(entry.instrument.label).entries()) {
      this.#addPlace(word, position, Math.min(place, NOT_IN_LABEL));
    }
    for (const word of wordsOf(textBesideLabel(entry))) {
      this.#addPlace(word, position, NOT_IN_LABEL);
    }
  }

  /** The best `limit` matches that pass the filter, best first. */
  find(
    query: string,
    limit: number,
    isWanted: (entry: InstrumentEntry) => boolean,
  ): InstrumentEntry[] {
    const scores = this.#scores;
    scores.clear(this.#entries.length);
    const words = new Set(wordsOf(query));
    let letters = 0;
    for (const word of words) {
      letters += word.length;
      scores.nextWord(word.length);
      let left = OTHER_PLACES_MAX / words.size;
      for (const { places, percent } of this.#matches(word)) {
        if (left <= 0) break;
        scores.add(places, percent);
        if (percent < EXACT) left -= places.length;
      }
    }
    return scores
      .best(limit, letters * POINTS_MIN, (position) => isWanted(this.#entries[position]!))
      .map((position) => this.#entries[position]!);
  }

  /** Only the first place of a word within an instrument counts. */
  #addPlace(word: string, position: number, place: number): void {
    let places = this.#places.get(word);
    if (places === undefined) {
      places = [];
      this.#places.set(word, places);
      this.#tree.set(word, places);
    }
    const last = places.at(-1);
    if (last !== undefined && last >>> PLACE_BITS === position) return;
    places.push(position * 2 ** PLACE_BITS + place);
  }

  /** Indexed words that match a word of the query, best first. */
  *#matches(word: string): Generator<Match> {
    const exact = this.#places.get(word);
    if (exact !== undefined) yield { places: exact, percent: EXACT };
    yield* this.#beginningWith(word, BEGINNING);
    const mayBeMisspelt = word.length >= MISSPELT_LENGTH_MIN && !/\p{N}/u.test(word);
    if (exact !== undefined || !mayBeMisspelt) return;
    yield* this.#oneTypoFrom(word);
    yield* this.#beginningAlike(word);
  }

  *#beginningWith(letters: string, percent: number): Generator<Match> {
    for (const places of this.#tree.atPrefix(letters).values()) yield { places, percent };
  }

  /** One letter added, missing or replaced, or two neighbours swapped. */
  *#oneTypoFrom(word: string): Generator<Match> {
    for (const [places] of this.#tree.fuzzyGet(word, 1).values()) yield { places, percent: TYPO };
    for (let at = 0; at + 1 < word.length; at++) {
      const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
      const places = this.#places.get(swapped);
      if (places !== undefined) yield { places, percent: TYPO };
    }
  }

  /** For a misspelt word that is not complete: the words that share most of its first letters. */
  *#beginningAlike(word: string): Generator<Match> {
    for (let length = word.length - 1; length >= COMMON_LENGTH_MIN; length--) {
      const percent = Math.floor((TYPO * length) / word.length);
      const found = this.#beginningWith(word.slice(0, length), percent);
      const { done, value } = found.next();
      if (done === true) continue;
      yield value;
      yield* found;
      return;
    }
  }
}

function textBesideLabel({ instrument, game }: InstrumentEntry): string {
  const { oppositeLabel, yesMeans, league, marketType, subject, slug, listings } = instrument;
  const teams = [subject, game?.game.home, game?.game.away].flatMap((team) => {
    return team == null ? [] : [team.code, team.name];
  });
  // A winner's are the names of its teams. Rule K29 (feeds/FORMATS.md).
  const sideLabels = subject === null ? listings.map(({ sideLabel }) => sideLabel) : [];
  return [oppositeLabel, yesMeans, league, marketType, slug, ...teams, ...sideLabels].join(' ');
}

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
