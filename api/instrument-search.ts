/**
 * Finds instruments by words, a typo allowed: words are cut into trigrams, and an instrument
 * ranks by the share of the query's trigrams that it has. CONTRACT.md section 3.
 */
import type { CatalogView, InstrumentEntry } from './catalog-view.ts';

/** Below this share of its trigrams a query does not mean the instrument. */
const SHARE_MIN = 0.5;

export class InstrumentSearch {
  readonly #catalog: CatalogView;
  #indexed: readonly InstrumentEntry[] = [];
  /** Trigram to positions in `#indexed`. */
  #postings = new Map<string, number[]>();

  constructor(catalog: CatalogView) {
    this.#catalog = catalog;
  }

  /** The best `limit` matches, best first; of equals the one that starts first. */
  find(query: string, league: string | undefined, limit: number): InstrumentEntry[] {
    this.#refresh();
    const trigrams = trigramsOf(query);
    const hits = new Map<number, number>();
    for (const trigram of trigrams) {
      for (const position of this.#postings.get(trigram) ?? []) {
        hits.set(position, (hits.get(position) ?? 0) + 1);
      }
    }
    const least = Math.max(1, Math.ceil(trigrams.size * SHARE_MIN));
    return [...hits]
      .filter(([position, count]) => count >= least && this.#isIn(position, league))
      .sort(([a, hitsOfA], [b, hitsOfB]) => hitsOfB - hitsOfA || a - b)
      .slice(0, limit)
      .map(([position]) => this.#indexed[position]!);
  }

  #isIn(position: number, league: string | undefined): boolean {
    return league === undefined || this.#indexed[position]!.instrument.league === league;
  }

  #refresh(): void {
    const instruments = this.#catalog.instruments();
    if (instruments === this.#indexed) return;
    this.#indexed = instruments;
    this.#postings = new Map();
    for (const [position, entry] of instruments.entries()) {
      for (const trigram of trigramsOf(wordsOf(entry))) {
        const postings = this.#postings.get(trigram);
        if (postings === undefined) this.#postings.set(trigram, [position]);
        else postings.push(position);
      }
    }
  }
}

function wordsOf({ instrument, game }: InstrumentEntry): string {
  const { label, oppositeLabel, yesMeans, league, marketType, subject, slug } = instrument;
  const teams = [subject, game?.game.home, game?.game.away].flatMap((team) => {
    return team == null ? [] : [team.code, team.name];
  });
  return [label, oppositeLabel, yesMeans, league, marketType, slug, ...teams].join(' ');
}

/** The trigrams of every word, with two blanks in front so that beginnings weigh more. */
function trigramsOf(text: string): Set<string> {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const trigrams = new Set<string>();
  for (const word of plain.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const padded = `  ${word} `;
    for (let i = 0; i + 3 <= padded.length; i++) trigrams.add(padded.slice(i, i + 3));
  }
  return trigrams;
}
