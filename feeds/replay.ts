/**
 * Plays a feed file through an ingest. Each pair of venue and adapter is one connection, numbered
 * in order of first appearance. Jumps in a recording's sequences are not gaps. Rules F7, F8
 * (feeds/FORMATS.md).
 */
import type { SourceNumber } from '../engine/rules/units.ts';
import { createAdapter } from './adapters/create.ts';
import type { FeedLine } from './feed-file.ts';
import type { Ingest, IngestConnection } from './ingest.ts';
import type { AdapterOptions } from './venue.ts';

type PlayOptions = Pick<AdapterOptions, 'depth'>;

export class FeedPlayer {
  readonly #ingest: Ingest;
  readonly #options: PlayOptions;
  readonly #connections = new Map<string, IngestConnection>();

  constructor(ingest: Ingest, options: PlayOptions = {}) {
    this.#ingest = ingest;
    this.#options = options;
  }

  play(line: FeedLine): void {
    this.#connectionOf(line).frame(line.frame, line.atMs);
  }

  #connectionOf({ venue, adapter }: FeedLine): IngestConnection {
    const key = `${venue} ${adapter}`;
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const reader = createAdapter(adapter, {}, { ...this.#options, recorded: true });
    const source: SourceNumber = this.#connections.size;
    const connection = this.#ingest.connection(venue, reader, source);
    this.#connections.set(key, connection);
    return connection;
  }
}
