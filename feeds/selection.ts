/** The lines of a feed file that are about some markets. Rule R40 (feeds/FORMATS.md). */
import { connectionKeyOf, type FeedLine } from './feed-line.ts';
import { marketsOf } from './frame-markets.ts';

export class Selection {
  readonly #markets: ReadonlySet<string>;
  readonly #lastSeq = new Map<string, number>();

  /** @param markets as venues name them, or as `venue/name` */
  constructor(markets: Iterable<string>) {
    this.#markets = new Set(markets);
  }

  /**
   * The line where it is about one of the markets, or about none; before it, that its connection was
   * lost where lines are missing. The places of what is left have holes, so they are left out.
   */
  take(line: FeedLine): FeedLine[] {
    const { seq, ...rest } = line;
    const kept = this.#isWanted(line) ? [rest] : [];
    if (seq === undefined) return kept;
    const key = connectionKeyOf(line);
    const last = this.#lastSeq.get(key);
    this.#lastSeq.set(key, seq);
    if (last === undefined || seq === last + 1) return kept;
    return [{ ...rest, event: 'lost', frame: undefined }, ...kept];
  }

  #isWanted({ venue, adapter, frame }: FeedLine): boolean {
    const names = marketsOf(adapter, frame);
    const wanted = this.#markets;
    return (
      names.length === 0 || names.some((name) => wanted.has(name) || wanted.has(`${venue}/${name}`))
    );
  }
}
