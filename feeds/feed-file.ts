/**
 * Feed files: what venues sent, a line a frame, with the time it was received. Read as a stream in
 * batches, so that a file may be larger than memory. Rules F1 to F9 (feeds/FORMATS.md).
 *
 * Where the format is silent: empty lines are passed over, fields not named by the format are
 * ignored, and a line may be older than the one before it (recordings of several connections are
 * merged); readers that need a clock keep theirs from going back.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createGzip } from 'node:zlib';
import { type EpochMs, isoOf, VENUES, type Venue } from '../engine/rules/units.ts';
import { parseInstant } from './instant.ts';
import { ADAPTERS, type AdapterName } from './venue.ts';

/** One frame of a feed file; `line` counts from 1, the header. */
export type FeedLine = {
  line: number;
  atMs: EpochMs;
  venue: Venue;
  adapter: AdapterName;
  /** The venue's own message. */
  frame: unknown;
};

export type ReadFeedOptions = {
  /** Passes over lines that cannot be read, and over the missing end of a cut-off gzip. */
  skipBad?: boolean;
  /** Called for every line that is skipped. */
  onBad?(error: FeedFileError): void;
};

/** `line 17: not JSON`; `line` is null when the file itself cannot be used. */
export class FeedFileError extends Error {
  override readonly name = 'FeedFileError';
  readonly line: number | null;
  /** The message without its line, a short stable phrase. */
  readonly reason: string;

  constructor(line: number | null, reason: string) {
    super(line === null ? reason : `line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
  }
}

const FEED_HEADER = { format: 'paperbook-feed', version: 1 } as const;

/** No venue message comes near this; see MAX_FRAME_BYTES of connection.ts. */
const LINE_LENGTH_MAX = 16 * 1024 * 1024;
/** Small, since one piece of gzip can unfold to a thousand times its size. */
const READ_BYTES = 32 * 1024;
const VENUE_NAMES: ReadonlySet<unknown> = new Set(VENUES);
const ADAPTER_NAMES: ReadonlySet<unknown> = new Set(ADAPTERS);

/**
 * Batches of lines in file order. `path` ending in `.gz` is gunzipped.
 * @throws FeedFileError at the first line that cannot be read (with `skipBad`: only for a header
 * that is missing or of another version, and for a file that cannot be opened).
 */
export async function* readFeed(
  path: string,
  { skipBad = false, onBad }: ReadFeedOptions = {},
): AsyncGenerator<FeedLine[]> {
  const lines = new LineSplitter();
  let headerSeen = false;
  const pass = (error: FeedFileError): void => {
    if (!skipBad || !headerSeen) throw error;
    onBad?.(error);
  };
  const read = (texts: readonly string[]): FeedLine[] => {
    const batch: FeedLine[] = [];
    for (const text of texts) {
      const number = lines.nextNumber();
      if (!headerSeen) {
        checkHeader(text);
        headerSeen = true;
        continue;
      }
      const line = readLine(number, text);
      if (line === null) continue;
      if (typeof line === 'string') pass(new FeedFileError(number, line));
      else batch.push(line);
    }
    return batch;
  };

  let damage: string | null = null;
  try {
    for await (const piece of piecesOf(path)) {
      const batch = read(lines.push(piece));
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    damage = damageOf(error);
    if (damage === null) throw codeOf(error) === null ? error : unusable('read', error);
  }
  // The rest of a cut-off file is half a line, whose own error would hide what happened.
  const batch = damage === null ? read(lines.end()) : [];
  if (batch.length > 0) yield batch;
  if (damage !== null) pass(new FeedFileError(lines.nextNumber(), damage));
  else if (!headerSeen) checkHeader('');
}

export type FeedWriter = {
  /** Resolves when the next line may be written; a caller that waits keeps memory bounded. */
  write(line: Omit<FeedLine, 'line'>): Promise<void>;
  /** Resolves when everything is in the file. */
  close(): Promise<void>;
};

/**
 * Starts a new feed file, gzipped when `path` ends in `.gz`.
 * @throws FeedFileError (here, and from the writer) when the file exists or cannot be written.
 */
export async function createFeedWriter(path: string): Promise<FeedWriter> {
  const file = createWriteStream(path, { flags: 'wx' });
  await once(file, 'open').catch((error: unknown) => {
    throw unusable('written', error);
  });
  const gzip = path.endsWith('.gz') ? createGzip() : null;
  const sink = gzip ?? file;
  const done = (gzip === null ? finished(file) : pipeline(gzip, file)).catch((error: unknown) => {
    throw unusable('written', error);
  });
  done.catch(() => {}); // reported by the next write, or by close
  const put = async (value: unknown): Promise<void> => {
    if (sink.destroyed) return done;
    if (sink.write(`${JSON.stringify(value)}\n`)) return;
    await eventOrClose(sink, 'drain');
    if (sink.destroyed) return done;
  };
  await put(FEED_HEADER);
  return {
    write: ({ atMs, venue, adapter, frame }) => put({ at: isoOf(atMs), venue, adapter, frame }),
    close: () => {
      sink.end();
      return done;
    },
  };
}

/** Resolves at the event, or when the stream is closed first; leaves no listener behind. */
function eventOrClose(stream: Writable, event: string): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off(event, done).off('close', done);
      resolve();
    };
    stream.on(event, done).on('close', done);
  });
}

/** The line, or what is wrong with it; null for an empty one. */
function readLine(line: number, text: string): FeedLine | string | null {
  if (text === TOO_LONG) return 'longer than 16 MiB';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text.trim() === '' ? null : 'not JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const { at, venue, adapter, frame } = value as Record<string, unknown>;
  if (at === undefined) return 'at is missing';
  const atMs = parseInstant(at);
  if (atMs === null) return 'at is not a date-time';
  if (!VENUE_NAMES.has(venue)) return `venue ${shown(venue)} is unknown`;
  if (!ADAPTER_NAMES.has(adapter)) return `adapter ${shown(adapter)} is unknown`;
  if (frame === undefined) return 'frame is missing';
  return { line, atMs, venue: venue as Venue, adapter: adapter as AdapterName, frame };
}

function checkHeader(text: string): void {
  let header: { format?: unknown; version?: unknown } | null = null;
  try {
    header = JSON.parse(text);
  } catch {
    // The error below covers this: the line is not the header.
  }
  if (header?.format !== FEED_HEADER.format) {
    throw new FeedFileError(1, `the header ${JSON.stringify(FEED_HEADER)} is missing`);
  }
  if (header.version !== FEED_HEADER.version) {
    throw new FeedFileError(1, `version ${shown(header.version)} of the format is not supported`);
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 60);
}

/** Stands for a line that was not kept. No line of a file equals it. */
const TOO_LONG = '\n';

/** Cuts pieces of bytes into numbered lines. */
class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #restTooLong = false;
  #number = 0;

  nextNumber(): number {
    return ++this.#number;
  }

  push(piece: Buffer): string[] {
    const parts = this.#decoder.write(piece).split('\n');
    const last = parts.pop()!;
    if (parts.length > 0) {
      parts[0] = this.#whole(parts[0]!);
      this.#rest = '';
      this.#restTooLong = false;
    }
    this.#rest += last;
    if (this.#rest.length > LINE_LENGTH_MAX) {
      this.#rest = '';
      this.#restTooLong = true;
    }
    return parts;
  }

  end(): string[] {
    const last = this.#whole(this.#decoder.end());
    return last === '' ? [] : [last];
  }

  #whole(part: string): string {
    return this.#restTooLong ? TOO_LONG : this.#rest + part;
  }
}

function piecesOf(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  return path.endsWith('.gz') ? gunzipped(file) : file;
}

/**
 * Gunzips in step with the reader: each compressed piece is unpacked whole before the next is read.
 * At a cut-off end a plain pipe would throw away what it has unpacked: the lines before the damage,
 * and the number of the damaged line.
 */
async function* gunzipped(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let pieces: Buffer[] = [];
  let failure: Error | null = null;
  gunzip.on('data', (piece: Buffer) => pieces.push(piece));
  gunzip.on('error', (error) => {
    failure = error;
  });
  const take = (): Buffer[] => {
    const taken = pieces;
    pieces = [];
    return taken;
  };
  try {
    for await (const compressed of file) {
      const taken = eventOrClose(gunzip, 'taken');
      gunzip.write(compressed, () => gunzip.emit('taken'));
      await taken;
      yield* take();
      if (failure !== null) throw failure;
    }
    const ended = eventOrClose(gunzip, 'end');
    gunzip.end();
    await ended;
    yield* take();
    if (failure !== null) throw failure;
  } finally {
    gunzip.destroy();
  }
}

/** What is wrong inside a gzip file, or null when the error is another one. */
function damageOf(error: unknown): string | null {
  const code = codeOf(error);
  if (code === 'Z_BUF_ERROR') return 'the gzip file ends early';
  return code?.startsWith('Z_') ? 'the gzip file is damaged' : null;
}

function unusable(how: 'read' | 'written', error: unknown): FeedFileError {
  return new FeedFileError(null, `the feed file cannot be ${how} (${codeOf(error) ?? 'unknown'})`);
}

/** The code of an error of the system or of zlib. */
function codeOf(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : null;
}
