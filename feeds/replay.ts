/**
 * Plays a feed file through an ingest. Jumps in a recording's sequences are not gaps, unless the
 * recorder says so. Rules F7, F8, F30 (feeds/FORMATS.md).
 */
import type { SourceNumber } from '../engine/rules/units.ts';
import { createAdapter } from './adapters/create.ts';
import { connectionKeyOf, FeedFileError, type FeedLine } from './feed-line.ts';
import type { Ingest, IngestConnection } from './ingest.ts';
import type { AdapterOptions } from './venue.ts';

type PlayOptions = Pick<AdapterOptions, 'depth'>;

/** A connection of the file, and the place of its last line where lines state one. */
type Played = { connection: IngestConnection; seq: number | null };

export class FeedPlayer {
  readonly #ingest: Ingest;
  readonly #options: PlayOptions;
  readonly #firstSource: SourceNumber;
  readonly #played = new Map<string, Played>();

  /** Its connections are numbered from `firstSource`, in order of first appearance. */
  constructor(ingest: Ingest, options: PlayOptions = {}, firstSource: SourceNumber = 0) {
    this.#ingest = ingest;
    this.#options = options;
    this.#firstSource = firstSource;
  }

  /** @throws FeedFileError when the line is of an adapter that this version lacks. */
  play(line: FeedLine): void {
    const { atMs, event, frame, seq = null } = line;
    const played = this.#playedOf(line);
    const { connection } = played;
    // Lines are missing, or it is another recording: what was known may be wrong.
    if (seq !== null && played.seq !== null && seq !== played.seq + 1) connection.lost(atMs);
    played.seq = seq;
    if (event === 'lost') connection.lost(atMs);
    else if (event === 'heartbeat') connection.heartbeat(atMs);
    else connection.frame(frame, atMs, event === 'gap');
  }

  /** Ends every connection: no quote of the file is live any more. */
  close(atMs: number): void {
    for (const { connection } of this.#played.values()) connection.lost(atMs);
  }

  #playedOf(line: FeedLine): Played {
    const key = connectionKeyOf(line);
    const known = this.#played.get(key);
    if (known !== undefined) return known;
    const reader = createAdapter(line.adapter, {}, { ...this.#options, recorded: true });
    if (reader === null)
      throw new FeedFileError(line.line, `there is no adapter ${line.adapter} yet`);
    const source: SourceNumber = this.#firstSource + this.#played.size;
    const played = { connection: this.#ingest.connection(line.venue, reader, source), seq: null };
    this.#played.set(key, played);
    return played;
  }
}
