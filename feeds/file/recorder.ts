/**
 * Records the frames of venues on their way into an ingest, so that a replay of the file leads to
 * the same ticks. Rule F30 (feeds/FORMATS.md).
 */
import { type EpochMs, isoOf, type SourceNumber, type Venue } from '../../engine/base/units.ts';
import {
  type FrameReader,
  type Ingest,
  type IngestSession,
  NOT_JSON,
  TOO_DEEP,
} from '../ingest/ingest.ts';
import type { FrameReading, StateTick } from '../reading/venue.ts';
import type { FeedEvent } from './feed-line.ts';
import type { FeedWriter } from './feed-writer.ts';
import { writtenState } from './states.ts';

/** For a slow disk at most this much is kept in memory. Later frames are left out. */
const WAITING_MAX = 64 * 1024 * 1024;

export type RecordingCounts = {
  /** Of the file, without its header. */
  lines: number;
  /** Frames that the disk was too slow for. The lines' `seq` shows where. */
  leftOut: number;
};

export type RecordingIngest = Ingest & {
  recorded(): RecordingCounts;
  /** Takes and writes nothing more: a recorder that still runs ends its connections. */
  end(): void;
};

/** An ingest that writes a line for all that it takes, and hands it on to `ingest`. */
export function recordingIngest(
  ingest: Ingest,
  writer: Pick<FeedWriter, 'writeText' | 'waiting'>,
): RecordingIngest {
  const file = new RecordedFile(writer);
  return {
    session: (venue, adapter, source, judge) =>
      new RecordedSession(file, ingest.session(venue, adapter, source, judge), {
        venue,
        adapter,
        source,
      }),
    counts: () => ingest.counts(),
    recorded: () => ({ lines: file.lines, leftOut: file.leftOut }),
    end: () => {
      file.hasEnded = true;
    },
  };
}

class RecordedFile {
  lines = 0;
  leftOut = 0;
  hasEnded = false;
  readonly #writer: Pick<FeedWriter, 'writeText' | 'waiting'>;

  constructor(writer: Pick<FeedWriter, 'writeText' | 'waiting'>) {
    this.#writer = writer;
  }

  write(line: string): void {
    if (this.#writer.waiting > WAITING_MAX) {
      this.leftOut++;
      return;
    }
    this.lines++;
    this.#writer.writeText(line);
  }
}

/** The last moment that a date can name; a venue may send any number. */
const DATE_MAX_MS = 8.64e15;

type RecordedSource = { venue: Venue; adapter: FrameReader; source: SourceNumber };
type Recorded = {
  event?: FeedEvent;
  venueAtMs?: EpochMs | null;
  markets?: readonly string[];
  states?: readonly StateTick[];
  /** JSON. */
  frame?: string;
};

class RecordedSession implements IngestSession {
  readonly #file: RecordedFile;
  readonly #ingest: IngestSession;
  /** The part of every line that stays the same. */
  readonly #place: string;
  #seq = 0;
  /** Has subscribed since it was dialed. */
  #isOpen = false;

  constructor(
    file: RecordedFile,
    ingest: IngestSession,
    { venue, adapter, source }: RecordedSource,
  ) {
    this.#file = file;
    this.#ingest = ingest;
    this.#place = `"venue":"${venue}","adapter":"${adapter.name}","connection":${source + 1}`;
  }

  frame(raw: unknown, atMs: EpochMs): FrameReading {
    if (this.#file.hasEnded) return NOTHING;
    const reading = this.#ingest.frame(raw, atMs);
    const { drop, venueAtMs, rejected } = reading;
    const isText = rejected === NOT_JSON || rejected === TOO_DEEP;
    const frame = isText ? JSON.stringify(raw) : jsonOf(raw);
    // If an adapter repairs a gap on the connection, it does so in a replay too.
    this.#write(atMs, { ...(drop !== undefined && { event: 'gap' }), venueAtMs, frame });
    return reading;
  }

  heartbeat(atMs: EpochMs): void {
    if (this.#file.hasEnded) return;
    this.#ingest.heartbeat(atMs);
    this.#write(atMs, { event: 'heartbeat' });
  }

  advance(atMs: EpochMs): readonly unknown[] {
    if (this.#file.hasEnded) return [];
    const asked = this.#ingest.advance(atMs);
    // A replay lets time pass by lines.
    if (asked.length > 0) this.#write(atMs, { event: 'heartbeat' });
    return asked;
  }

  subscribe(markets: readonly string[], atMs: EpochMs): unknown[] {
    if (this.#file.hasEnded) return [];
    this.#write(atMs, { event: this.#isOpen ? 'subscribe' : 'open', markets });
    this.#isOpen = true;
    return this.#ingest.subscribe(markets, atMs);
  }

  states(ticks: readonly StateTick[], atMs: EpochMs): void {
    if (this.#file.hasEnded) return;
    this.#ingest.states(ticks, atMs);
    if (ticks.length > 0) this.#write(atMs, { event: 'states', states: ticks });
  }

  lost(atMs: EpochMs): void {
    if (this.#file.hasEnded) return;
    this.#isOpen = false;
    this.#ingest.lost(atMs);
    this.#write(atMs, { event: 'lost' });
  }

  #write(atMs: EpochMs, { event, venueAtMs = null, markets, states, frame }: Recorded): void {
    this.#seq++;
    const fields = [`"at":"${isoOf(atMs)}"`, this.#place, `"seq":${this.#seq}`];
    if (event !== undefined) fields.push(`"event":"${event}"`);
    if (venueAtMs !== null && Math.abs(venueAtMs) <= DATE_MAX_MS) {
      fields.push(`"venueAt":"${isoOf(venueAtMs)}"`);
    }
    if (markets !== undefined) fields.push(`"markets":${JSON.stringify(markets)}`);
    if (states !== undefined) fields.push(`"states":${JSON.stringify(states.map(writtenState))}`);
    if (frame !== undefined) fields.push(`"frame":${frame}`);
    this.#file.write(`{${fields.join(',')}}`);
  }
}

const NOTHING: FrameReading = {
  type: 'unrecorded',
  ticks: [],
  venueAtMs: null,
  rejected: null,
  jump: false,
};

/** A frame's own text, so that no number changes; on one line, since JSON has no other line ends. */
function jsonOf(raw: unknown): string {
  return typeof raw === 'string' ? raw.replaceAll(/[\r\n]/g, ' ') : JSON.stringify(raw);
}
