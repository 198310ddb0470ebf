/**
 * Finds instruments by words, a typo allowed: words are cut into trigrams, and an instrument ranks
 * by the share of the query's trigrams that it has. Short words keep too few of theirs for that
 * when two letters change places, so that a word nobody uses is also taken for the words one typo
 * away. Rule A47 (api/RULES.md).
 */
import type { CatalogView, InstrumentEntry } from './catalog-view.ts';

/** Below this share of its trigrams a query does not mean the instrument. */
const SHARE_MIN = 0.5;
/** One typo makes a shorter word another one rather than the same one misspelt. */
const MISSPELT_LENGTH_MIN = 4;
/** Behind every place in a label. */
const FAR = 1000;

/** How much an instrument has of a word or query, by its position in the index. */
type Scores = Map<number, number>;

export class InstrumentSearch {
  readonly #catalog: CatalogView;
  #indexed: readonly InstrumentEntry[] = [];
  /** Labels of `#indexed` as their words with a blank between. */
  #labels: string[] = [];
  #words = new Set<string>();
  /** Trigram to positions in `#indexed`. */
  #postings = new Map<string, number[]>();

  constructor(catalog: CatalogView) {
    this.#catalog = catalog;
  }

  /**
   * The best `limit` matches, best first. Of equals, such as the two sides of a game, the one whose
   * label says it first, then the one that starts first.
   */
  find(query: string, league: string | undefined, limit: number): InstrumentEntry[] {
    this.#refresh();
    const asked = wordsOf(query);
    const meant = new Map(asked.map((word) => [word, this.#meantBy(word)]));
    const scores: Scores = new Map();
    let most = 0;
    for (const [word, others] of meant) {
      const weight = trigramsOf(word).size;
      most += weight;
      for (const [position, share] of this.#sharesOf(word, others)) {
        scores.set(position, (scores.get(position) ?? 0) + share * weight);
      }
    }
    const phrase = asked.map((word) => {
      const others = meant.get(word)!;
      return others.length === 1 ? others[0]! : word;
    });
    return [...scores]
      .filter(([position, score]) => score >= most * SHARE_MIN && this.#isIn(position, league))
      .map(([position, score]) => ({
        position,
        score,
        place: placeIn(this.#labels[position]!, phrase),
      }))
      .sort((a, b) => b.score - a.score || a.place - b.place || a.position - b.position)
      .slice(0, limit)
      .map(({ position }) => this.#indexed[position]!);
  }

  #isIn(position: number, league: string | undefined): boolean {
    return league === undefined || this.#indexed[position]!.instrument.league === league;
  }

  /** The words that a word may be misspelt from; none where it is used itself. */
  #meantBy(word: string): string[] {
    if (word.length < MISSPELT_LENGTH_MIN || this.#words.has(word) || /\p{N}/u.test(word)) {
      return [];
    }
    return [...this.#words].filter((known) => isOneTypoAway(word, known));
  }

  /** The word itself counts beside the words near it: `lion` finds `lions` before `zion`. */
  #sharesOf(word: string, meant: readonly string[]): Scores {
    const asked = this.#shareOf(word);
    const best = new Map(asked);
    for (const other of meant) {
      for (const [position, share] of this.#shareOf(other)) {
        best.set(position, Math.max(best.get(position) ?? 0, share));
      }
    }
    for (const [position, share] of best) {
      best.set(position, (share + (asked.get(position) ?? 0)) / 2);
    }
    return best;
  }

  /** The share of a word's trigrams that an instrument has. */
  #shareOf(word: string): Scores {
    const trigrams = trigramsOf(word);
    const shares: Scores = new Map();
    for (const trigram of trigrams) {
      for (const position of this.#postings.get(trigram) ?? []) {
        shares.set(position, (shares.get(position) ?? 0) + 1);
      }
    }
    for (const [position, hits] of shares) shares.set(position, hits / trigrams.size);
    return shares;
  }

  #refresh(): void {
    const instruments = this.#catalog.instruments();
    if (instruments === this.#indexed) return;
    this.#indexed = instruments;
    this.#labels = instruments.map(({ instrument }) => wordsOf(instrument.label).join(' '));
    this.#words = new Set();
    this.#postings = new Map();
    for (const [position, entry] of instruments.entries()) {
      const words = wordsOf(textOf(entry));
      for (const word of words) this.#words.add(word);
      for (const trigram of new Set(words.flatMap((word) => [...trigramsOf(word)]))) {
        const postings = this.#postings.get(trigram);
        if (postings === undefined) this.#postings.set(trigram, [position]);
        else postings.push(position);
      }
    }
  }
}

function textOf({ instrument, game }: InstrumentEntry): string {
  const { label, oppositeLabel, yesMeans, league, marketType, subject, slug } = instrument;
  const teams = [subject, game?.game.home, game?.game.away].flatMap((team) => {
    return team == null ? [] : [team.code, team.name];
  });
  return [label, oppositeLabel, yesMeans, league, marketType, slug, ...teams].join(' ');
}

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The trigrams of a word, with two blanks in front so that beginnings weigh more. */
function trigramsOf(word: string): Set<string> {
  const padded = `  ${word} `;
  const trigrams = new Set<string>();
  for (let i = 0; i + 3 <= padded.length; i++) trigrams.add(padded.slice(i, i + 3));
  return trigrams;
}

/** Where a label has the words in a row, else where it has the first of them. */
function placeIn(label: string, words: readonly string[]): number {
  const row = label.indexOf(words.join(' '));
  if (row >= 0) return row;
  const first = label.indexOf(words[0]!);
  return first >= 0 ? FAR + first : 2 * FAR;
}

/** Whether one letter is more, less or another, or two neighbours have changed places. */
function isOneTypoAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let [endOfA, endOfB] = [a.length, b.length];
  while (endOfA > start && endOfB > start && a[endOfA - 1] === b[endOfB - 1]) {
    endOfA--;
    endOfB--;
  }
  const [restOfA, restOfB] = [endOfA - start, endOfB - start];
  if (restOfA <= 1 && restOfB <= 1) return true;
  const bothTwo = restOfA === 2 && restOfB === 2;
  return bothTwo && a[start] === b[start + 1] && a[start + 1] === b[start];
}
