/**
 * The present books of one feed of a served recording. A client that subscribes in the middle gets
 * them. Rule N46 (feeds/FORMATS.md).
 */
import type { MarketStatus } from '../../engine/base/units.ts';
import { connectionKeyOf, type FeedLine } from '../file/feed-line.ts';
import { RecordedAdapters } from '../file/recorded-adapters.ts';
import type { AdapterName, BookLevels, FrameReading, Level, VenueTick } from '../reading/venue.ts';
import { PROTOCOLS } from '../venues/create.ts';

type Known = {
  /** Null: not known. */
  levels: BookLevels | null;
  status: MarketStatus;
  /** The venue's own frame of the result. */
  result: unknown;
  /** The newest line that had a book. */
  line: FeedLine;
};

export class KnownBooks {
  readonly #name: AdapterName;
  readonly #adapters = new RecordedAdapters({ depth: true });
  readonly #markets = new Map<string, Known>();

  constructor(name: AdapterName) {
    this.#name = name;
  }

  /** The content of the line's frame; null for a line without a frame. */
  take(line: FeedLine): FrameReading | null {
    const reading = this.#adapters.read(line);
    if (line.event === 'lost') this.#lost(connectionKeyOf(line));
    if (reading === null || line.event === 'states') return null;
    const isLoss = reading.resync === true || reading.rejected !== null;
    for (const tick of reading.ticks) this.#keep(tick, line, isLoss);
    return reading;
  }

  /** The connection ended, so its books start over. Statuses and results stay true. */
  #lost(connection: string): void {
    for (const known of this.#markets.values()) {
      if (connectionKeyOf(known.line) === connection) known.levels = null;
    }
  }

  /** Frames with the known state of these markets; `*`: of all. */
  framesOf(names: readonly string[]): { market: string; frame: unknown }[] {
    const markets = names.includes('*') ? [...this.#markets.keys()] : names;
    return markets.flatMap((market) => {
      const known = this.#markets.get(market);
      if (known === undefined) return [];
      const frames = known.result === null ? this.#bookFrames(market, known) : [known.result];
      return frames.map((frame) => ({ market, frame }));
    });
  }

  #bookFrames(market: string, { levels, status, line }: Known): unknown[] {
    if (levels === null) return [];
    return PROTOCOLS[this.#name].bookFrames(market, { levels, status, frame: line.frame });
  }

  #keep(tick: VenueTick, line: FeedLine, isLoss: boolean): void {
    if (tick.kind === 'game' || tick.kind === 'trade') return;
    let known = this.#markets.get(tick.market);
    if (known === undefined) {
      known = { levels: null, status: 'open', result: null, line };
      this.#markets.set(tick.market, known);
    }
    if (tick.kind === 'status') known.status = tick.status;
    if (tick.kind === 'result') known.result = line.frame;
    if (tick.kind !== 'book') return;
    const { depth, yesBid, yesBidSize, yesAsk, yesAskSize } = tick;
    known.line = line;
    // The adapter has lost the book: it shows one without levels.
    if (isLoss && depth === undefined) {
      known.levels = null;
      return;
    }
    known.levels = {
      // Of the adapter, until its next frame.
      yesBids: depth?.yesBids.map(copyOf) ?? topOf(yesBid, yesBidSize),
      yesAsks: depth?.yesAsks.map(copyOf) ?? topOf(yesAsk, yesAskSize),
    };
  }
}

const copyOf = ({ price, size }: Level): Level => ({ price, size });
const topOf = (price: number | null, size: number): Level[] =>
  price === null ? [] : [{ price, size }];
