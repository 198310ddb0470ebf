/** Adds up, over the words of a query, how well each instrument of an index matches. */

/**
 * A place of a word in an index: the instrument's position, followed in `PLACE_BITS` by the number
 * of the word in the label.
 */
export const PLACE_BITS = 8;
/** The word is in another text of the instrument, or too far on in the label to matter. */
export const NOT_IN_LABEL = 2 ** PLACE_BITS - 1;
type Ranked = { position: number; isPreferred: boolean };

/** How many words of a query count; its 100 characters cannot contain more. */
const WORDS_MAX = 64;

/**
 * Columns by position, reused for each query: a common word costs a few nanoseconds per
 * instrument.
 */
export class MatchScores {
  #size = 0;
  #scores = new Uint32Array(0);
  /** The number of the last query word that counted for the instrument. */
  #lastWord = new Uint8Array(0);
  /** The position of the query's first word in the label. */
  #start = new Uint8Array(0);
  /** How many of the query's words follow in a row from there. */
  #inRow = new Uint8Array(0);
  #word = 0;
  #letters = 0;

  /** A new query over `size` instruments. */
  clear(size: number): void {
    if (size > this.#scores.length) {
      const room = size * 2;
      this.#scores = new Uint32Array(room);
      this.#lastWord = new Uint8Array(room);
      this.#start = new Uint8Array(room);
      this.#inRow = new Uint8Array(room);
    }
    this.#size = size;
    this.#word = 0;
    this.#scores.fill(0, 0, size);
    this.#lastWord.fill(0, 0, size);
    this.#start.fill(NOT_IN_LABEL, 0, size);
    this.#inRow.fill(0, 0, size);
  }

  /** Moves on to the next word of the query; it weighs as many points as it has letters. */
  nextWord(letters: number): void {
    this.#word++;
    this.#letters = letters;
  }

  /**
   * Records that the instruments at these places match the word by `percent`. Call it with the best
   * match first: its points stay. Places in the label count for every match.
   */
  add(places: readonly number[], percent: number): void {
    const word = this.#word;
    if (word > WORDS_MAX) return;
    const points = this.#letters * percent;
    for (const at of places) {
      const position = at >>> PLACE_BITS;
      if (this.#lastWord[position] !== word) {
        this.#lastWord[position] = word;
        this.#scores[position]! += points;
      }
      const place = at & NOT_IN_LABEL;
      if (place !== NOT_IN_LABEL) this.#addPlace(position, place);
    }
  }

  #addPlace(position: number, place: number): void {
    const before = this.#word - 1;
    if (before === 0) {
      this.#start[position] = Math.min(this.#start[position]!, place);
      this.#inRow[position] = 1;
    } else if (this.#inRow[position] === before && place === this.#start[position]! + before) {
      this.#inRow[position] = this.#word;
    }
  }

  /**
   * Positions of the `limit` best with at least `pointsMin`, best first. Among equal points the
   * preferred positions are first. Then a label with the query in a row is first, then a label with
   * the query's first word earlier, then the lower position.
   */
  best(
    limit: number,
    pointsMin: number,
    isWanted: (position: number) => boolean,
    isPreferred: (position: number) => boolean,
  ): number[] {
    const best: Ranked[] = [];
    for (let position = 0; position < this.#size; position++) {
      const points = this.#scores[position]!;
      if (points === 0 || points < pointsMin) continue;
      const last = best.length === limit ? best.at(-1)! : null;
      if (last !== null && !this.#mayPrecede(position, last)) continue;
      if (!isWanted(position)) continue;
      const found = { position, isPreferred: isPreferred(position) };
      if (last !== null && !this.#isBetter(found, last)) continue;
      if (last !== null) best.pop();
      let at = best.length;
      while (at > 0 && this.#isBetter(found, best[at - 1]!)) at--;
      best.splice(at, 0, found);
    }
    return best.map(({ position }) => position);
  }

  /** False for most positions, without a question about them. */
  #mayPrecede(position: number, last: Ranked): boolean {
    const points = this.#scores[position]! - this.#scores[last.position]!;
    return points > 0 || (points === 0 && this.#isBetter({ position, isPreferred: true }, last));
  }

  /** Whether `a` precedes `b`, which has the lower position. */
  #isBetter(one: Ranked, other: Ranked): boolean {
    const [a, b] = [one.position, other.position];
    const points = this.#scores[a]! - this.#scores[b]!;
    if (points !== 0) return points > 0;
    if (one.isPreferred !== other.isPreferred) return one.isPreferred;
    const inRow = Number(this.#isInRow(a)) - Number(this.#isInRow(b));
    return inRow === 0 ? this.#start[a]! < this.#start[b]! : inRow > 0;
  }

  #isInRow(position: number): boolean {
    return this.#inRow[position] === this.#word;
  }
}
