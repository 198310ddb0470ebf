/** Where each word occurs in the texts of an index. Rule A47 (api/RULES.md). */
import SearchableMap from 'minisearch/SearchableMap';
import { PLACE_BITS } from './match-scores.ts';

export class WordPlaces {
  /** The places of every word, as `MatchScores` reads them. */
  readonly #places = new Map<string, number[]>();
  /** The same as a tree, for beginnings and typos. A lookup in the map costs a tenth. */
  readonly #tree = new SearchableMap<number[]>();

  /** Only the first place of a word within an instrument counts. */
  add(word: string, position: number, place: number): void {
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

  of(word: string): readonly number[] | undefined {
    return this.#places.get(word);
  }

  beginningWith(letters: string): Iterable<readonly number[]> {
    return this.#tree.atPrefix(letters).values();
  }

  /** One letter added, missing or replaced, or two neighbours swapped. */
  *oneTypoFrom(word: string): Generator<readonly number[]> {
    for (const [places] of this.#tree.fuzzyGet(word, 1).values()) yield places;
    for (let at = 0; at + 1 < word.length; at++) {
      const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
      const places = this.#places.get(swapped);
      if (places !== undefined) yield places;
    }
  }
}
