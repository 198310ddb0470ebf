/**
 * Plays a feed file through an ingest. A connection that the file has whole is played as it was.
 * Elsewhere jumps in a sequence are no gaps, unless the file says so. Rules F7, F8, F30
 * (feeds/FORMATS.md).
 */
import type { SourceNumber } from '../../engine/base/units.ts';
import type { Ingest, IngestSession } from '../ingest/ingest.ts';
import { connectionKeyOf, type FeedLine } from './feed-line.ts';
import { FileAdapter, type FileReadOptions } from './file-adapter.ts';
import { readStates } from './states.ts';

export type PlayOptions = FileReadOptions & {
  /** A number that no other connection of the ingest's engine has; left out: from 0. */
  newSource?(): SourceNumber;
};

type Played = { adapter: FileAdapter; connection: IngestSession };

export class FeedPlayer {
  readonly #ingest: Ingest;
  readonly #options: FileReadOptions;
  readonly #newSource: () => SourceNumber;
  readonly #played = new Map<string, Played>();

  constructor(ingest: Ingest, { newSource, ...options }: PlayOptions = {}) {
    this.#ingest = ingest;
    this.#options = options;
    this.#newSource = newSource ?? (() => this.#played.size);
  }

  play(line: FeedLine): void {
    const { atMs, event, frame } = line;
    const { adapter, connection } = this.#playedOf(line);
    if (adapter.isBehindHole(line)) connection.lost(atMs);
    switch (event) {
      case 'open':
      case 'subscribe':
        return adapter.subscribed(line);
      case 'heartbeat':
        connection.heartbeat(atMs);
        connection.advance(atMs);
        return;
      case 'lost':
        return connection.lost(atMs);
      case 'states':
        return connection.states(readStates(line.states!)!, atMs);
      case 'gap':
      case undefined:
        connection.frame(frame, atMs, event === 'gap');
        return;
      default:
        event satisfies never;
    }
  }

  /** Ends every connection: no quote of the file is live any more. */
  close(atMs: number): void {
    for (const { connection } of this.#played.values()) connection.lost(atMs);
  }

  #playedOf(line: FeedLine): Played {
    const key = connectionKeyOf(line);
    const known = this.#played.get(key);
    if (known !== undefined) return known;
    const adapter = new FileAdapter(line.adapter, this.#options);
    const connection = this.#ingest.session(line.venue, adapter, this.#newSource());
    const played = { adapter, connection };
    this.#played.set(key, played);
    return played;
  }
}
