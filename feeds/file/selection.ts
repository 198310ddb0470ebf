/** The lines of a feed file that are about some markets. Rule R40 (feeds/FORMATS.md). */
import type { Venue } from '../../engine/base/units.ts';
import { fieldsOf } from '../reading/frame.ts';
import { PROTOCOLS } from '../venues/create.ts';
import { connectionKeyOf, type FeedLine } from './feed-line.ts';

export class Selection {
  readonly #markets: ReadonlySet<string>;
  readonly #lastSeq = new Map<string, number>();
  /** Connections that the file has whole. */
  readonly #opened = new Set<string>();

  /** @param markets as venues name them, or as `venue/name` */
  constructor(markets: Iterable<string>) {
    this.#markets = new Set(markets);
  }

  /**
   * The line, if it is about one of the markets or about none. If lines are missing before it, a
   * loss of its connection precedes it. The places of the remaining lines have holes, so they are
   * left out. Of a connection that the file has whole every line is kept, because its sequences
   * show gaps; its reader leaves out the other markets' ticks.
   */
  take(line: FeedLine): FeedLine[] {
    const { seq, ...rest } = line;
    const key = connectionKeyOf(line);
    const last = this.#lastSeq.get(key);
    if (seq !== undefined) this.#lastSeq.set(key, seq);
    const isBehindHole = seq !== undefined && last !== undefined && seq !== last + 1;
    if (isBehindHole) this.#opened.delete(key);
    if (line.event === 'open') this.#opened.add(key);
    const kept = this.#opened.has(key) || this.#isWanted(line) ? [this.#narrowed(rest)] : [];
    if (!isBehindHole) return kept;
    const { line: number, atMs, venue, adapter, connection } = line;
    const place = { line: number, atMs, venue, adapter };
    const of = connection === undefined ? {} : { connection };
    return [{ ...place, ...of, event: 'lost', frame: undefined }, ...kept];
  }

  #narrowed(line: FeedLine): FeedLine {
    const { venue, markets, states } = line;
    const isNamed = (name: unknown) => typeof name === 'string' && this.#names(venue, name);
    if (markets !== undefined) return { ...line, only: markets.filter(isNamed) };
    if (states === undefined) return line;
    return { ...line, states: states.filter((each) => isNamed(fieldsOf(each)?.market)) };
  }

  #isWanted({ venue, adapter, frame }: FeedLine): boolean {
    const names = PROTOCOLS[adapter].marketsOf(frame);
    return names.length === 0 || names.some((name) => this.#names(venue, name));
  }

  #names(venue: Venue, name: string): boolean {
    return this.#markets.has(name) || this.#markets.has(`${venue}/${name}`);
  }
}
