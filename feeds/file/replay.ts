/**
 * Plays a feed file through an ingest. A connection that the file has whole is played as it was.
 * Elsewhere jumps in a sequence are no gaps, unless the file says so. Rules F7, F8, F30, W115
 * (feeds/FORMATS.md).
 */
import type { SourceNumber, Venue } from '../../engine/base/units.ts';
import { type ChannelWords, wordsByVenue } from '../connection/channel-words.ts';
import type { Ingest, IngestSession } from '../ingest/ingest.ts';
import type { StateTick } from '../reading/venue.ts';
import { connectionKeyOf, type FeedLine } from './feed-line.ts';
import { FileAdapter, type FileReadOptions } from './file-adapter.ts';
import { readStates } from './states.ts';

export type PlayOptions = FileReadOptions & {
  /** A number that no other connection of the ingest's engine has; left out: from 0. */
  newSource?(): SourceNumber;
};

type Played = {
  adapter: FileAdapter;
  connection: IngestSession;
  /** Of a recorded connection: the words of all feeds of its venue, and its number among them. */
  heard: { words: ChannelWords; feed: number } | null;
  /** What it has subscribed to. */
  markets: Set<string>;
};

export class FeedPlayer {
  readonly #ingest: Ingest;
  readonly #options: FileReadOptions;
  readonly #newSource: () => SourceNumber;
  readonly #played = new Map<string, Played>();
  readonly #words = wordsByVenue(() => this.#atMs);
  /** Of the last line. */
  #atMs = 0;

  constructor(ingest: Ingest, { newSource, ...options }: PlayOptions = {}) {
    this.#ingest = ingest;
    this.#options = options;
    this.#newSource = newSource ?? (() => this.#played.size);
  }

  play(line: FeedLine): void {
    const { atMs, event, frame } = line;
    this.#atMs = Math.max(this.#atMs, atMs);
    const played = this.#playedOf(line);
    const { adapter, connection } = played;
    if (adapter.isBehindHole(line)) {
      connection.lost(atMs);
      startOver(played, played.markets);
    }
    switch (event) {
      case 'open':
      case 'subscribe':
        adapter.subscribed(line);
        return startOver(played, line.markets ?? []);
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
        if (connection.frame(frame, atMs, event === 'gap').missedStates === true) {
          startOver(played, played.markets);
        }
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
    const heard = line.connection === undefined ? null : this.#heardOf(line.venue);
    const judge =
      heard === null ? undefined : (tick: StateTick) => heard.words.judge(heard.feed, tick);
    const connection = this.#ingest.session(line.venue, adapter, this.#newSource(), judge);
    const played = { adapter, connection, heard, markets: new Set<string>() };
    this.#played.set(key, played);
    return played;
  }

  #heardOf(venue: Venue): Played['heard'] {
    const words = this.#words(venue);
    return { words, feed: words.newFeed() };
  }
}

/** Its next words on these markets are from now on. */
function startOver({ adapter, heard, markets: all }: Played, markets: Iterable<string>): void {
  for (const market of markets) all.add(market);
  heard?.words.startsOver(heard.feed, markets, adapter.beginsWithStatus);
}
