/**
 * Reads the frames of one connection of a feed file. If the file has the connection's
 * subscriptions, its frames are read as the live connection read them, including gaps. Otherwise
 * nobody knows which frames are missing. Rules F8, F30 (feeds/FORMATS.md).
 */

import type { FrameReader } from '../ingest/ingest.ts';
import type {
  AdapterName,
  AdapterOptions,
  FrameReading,
  VenueAdapter,
  VenueTick,
} from '../reading/venue.ts';
import { createAdapter } from '../venues/create.ts';
import type { FeedLine } from './feed-line.ts';

export type FileReadOptions = Pick<AdapterOptions, 'depth' | 'levels' | 'settleOn'>;

export class FileAdapter implements FrameReader {
  readonly name: AdapterName;
  readonly contractDecimals: 0 | 2;
  readonly repeatsStatus: boolean;
  readonly beginsWithStatus: boolean;
  readonly #asRecording: VenueAdapter;
  readonly #asLive: VenueAdapter;
  #current: VenueAdapter;
  /** The place of the last line, where lines state one. */
  #seq: number | null = null;
  /** Ticks of other markets are left out; null: none are. */
  #only: Set<string> | null = null;

  constructor(name: AdapterName, options: FileReadOptions) {
    this.name = name;
    this.#asRecording = createAdapter(name, {}, { ...options, recorded: true });
    this.#asLive = createAdapter(name, {}, options);
    this.contractDecimals = this.#asLive.contractDecimals;
    this.repeatsStatus = this.#asLive.repeatsStatus;
    this.beginsWithStatus = this.#asLive.beginsWithStatus;
    this.#current = this.#asRecording;
  }

  get recorded(): boolean {
    return this.#current.recorded;
  }

  /**
   * Notes the line's place. @returns whether lines are missing before it, or it is of another
   * recording. Then the kept state may be wrong.
   */
  isBehindHole({ seq }: FeedLine): boolean {
    const last = this.#seq;
    this.#seq = seq ?? null;
    return seq !== undefined && last !== null && seq !== last + 1;
  }

  /** Takes an `open` or a `subscribe`. */
  subscribed({ event, markets = [], only }: FeedLine): void {
    if (event === 'open') {
      this.reset();
      this.#current = this.#asLive;
    }
    // After a hole the other subscriptions are unknown.
    if (this.#current !== this.#asLive) return;
    this.#asLive.subscribe(markets);
    if (only === undefined) return;
    this.#only ??= new Set();
    for (const market of only) this.#only.add(market);
  }

  read(frame: unknown): FrameReading {
    const reading = this.#current.read(frame);
    const only = this.#only;
    if (only === null) return reading;
    reading.ticks = reading.ticks.filter((tick) => isOf(only, tick));
    if (reading.levels !== undefined && !only.has(reading.levels.market)) delete reading.levels;
    return reading;
  }

  /** A file answers no question. */
  lose(market: string): unknown[] {
    this.#current.lose(market);
    return [];
  }

  /** Nothing: a file's connection asks for nothing. */
  subscribe(): unknown[] {
    return [];
  }

  ask(): unknown[] {
    return [];
  }

  reset(): void {
    this.#asLive.reset();
    this.#asRecording.reset();
    this.#current = this.#asRecording;
    this.#only = null;
  }
}

function isOf(markets: ReadonlySet<string>, tick: VenueTick): boolean {
  return tick.kind === 'game' || markets.has(tick.market);
}
