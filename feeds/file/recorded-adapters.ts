/**
 * The adapters that read a feed file, one for each of its connections. Rule F7 (feeds/FORMATS.md).
 */

import type { FrameReading } from '../reading/venue.ts';
import { connectionKeyOf, type FeedLine } from './feed-line.ts';
import { FileAdapter, type FileReadOptions } from './file-adapter.ts';
import { readStates } from './states.ts';

export class RecordedAdapters {
  readonly #options: FileReadOptions;
  readonly #adapters = new Map<string, FileAdapter>();

  constructor(options: FileReadOptions = {}) {
    this.#options = options;
  }

  /** The content of the line; null for a line without a frame and without states. */
  read(line: FeedLine): FrameReading | null {
    const adapter = this.#of(line);
    const { event } = line;
    if (adapter.isBehindHole(line) || event === 'lost') adapter.reset();
    switch (event) {
      case 'open':
      case 'subscribe':
        adapter.subscribed(line);
        return null;
      case 'heartbeat':
      case 'lost':
        return null;
      case 'states': {
        const ticks = readStates(line.states!)!;
        return { type: event, ticks, venueAtMs: null, rejected: null, jump: false };
      }
      case 'gap':
      case undefined:
        return adapter.read(line.frame);
      default:
        return event satisfies never;
    }
  }

  /** Decimals in which the line's venue states sizes. */
  decimals(line: FeedLine): 0 | 2 {
    return this.#of(line).contractDecimals;
  }

  #of(line: FeedLine): FileAdapter {
    const key = connectionKeyOf(line);
    let adapter = this.#adapters.get(key);
    if (adapter === undefined) {
      adapter = new FileAdapter(line.adapter, this.#options);
      this.#adapters.set(key, adapter);
    }
    return adapter;
  }
}
