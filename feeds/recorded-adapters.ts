/** The adapters that read a feed file, one for each of its connections. Rule F7 (feeds/FORMATS.md). */
import { createAdapter } from './adapters/create.ts';
import { connectionKeyOf, type FeedLine } from './feed-line.ts';
import type { FrameReading, VenueAdapter } from './venue.ts';

export class RecordedAdapters {
  readonly #adapters = new Map<string, VenueAdapter | null>();

  /** What the line's frame says; null for a line without one. */
  read(line: FeedLine): FrameReading | null {
    const adapter = this.#of(line);
    if (line.event === 'lost') adapter?.reset();
    if (line.event === 'lost' || line.event === 'heartbeat') return null;
    if (adapter !== null) return adapter.read(line.frame);
    const rejected = `no adapter ${line.adapter} in this version`;
    return { type: 'unreadable', ticks: [], venueAtMs: null, rejected, jump: false };
  }

  /** Decimals in which the line's venue states sizes. */
  decimals(line: FeedLine): 0 | 2 {
    return this.#of(line)?.contractDecimals ?? 0;
  }

  #of(line: FeedLine): VenueAdapter | null {
    const key = connectionKeyOf(line);
    let adapter = this.#adapters.get(key);
    if (adapter === undefined) {
      adapter = createAdapter(line.adapter, {}, { recorded: true });
      this.#adapters.set(key, adapter);
    }
    return adapter;
  }
}
