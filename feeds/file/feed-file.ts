/**
 * Reads feed files: the frames of venues, one per line, with the time of receipt. A file is read as
 * a stream in batches, so it may be larger than memory. Rules F1 to F9, F32 (feeds/FORMATS.md).
 *
 * Where the format is silent, empty lines are passed over, and unknown fields are ignored. A line
 * may be a little older than the one before it, because connections share a file. Readers that need
 * a clock keep theirs from going back.
 */
import { statSync } from 'node:fs';
import { codeOf, damageOf, isGzip, NotAsNamed, piecesOf } from './feed-bytes.ts';
import { checkHeader, FeedFileError, type FeedLine, HEADER_INSIDE, readLine } from './feed-line.ts';
import { type Judged, JumpGuard } from './jump-guard.ts';
import { LineSplitter } from './line-splitter.ts';

export type ReadFeedOptions = {
  /** Passes over lines that cannot be read, and over the missing end of a cut-off gzip. */
  skipBad?: boolean;
  /** Refuses lines whose time cannot be right. Rules F31 to F33 (feeds/FORMATS.md). */
  refuseJumps?: boolean;
  /** Tells recordings apart that were put one after another: lines name theirs. Rule F36. */
  apart?: boolean;
  /** Called for every line that is skipped. */
  onBad?(error: FeedFileError): void;
  /** Called as the file is read, with the share that is. */
  onRead?(share: number): void;
};

/**
 * Batches of lines in file order. A `path` that ends in `.gz` is gunzipped. @throws FeedFileError
 * at the first line that cannot be read (with `skipBad`: only for a header that is missing or of
 * another version, for a file that cannot be opened, and for a file whose time stays wrong for a
 * second line).
 */
export async function* readFeed(
  path: string,
  { skipBad = false, refuseJumps = false, apart = false, onBad, onRead }: ReadFeedOptions = {},
): AsyncGenerator<FeedLine[]> {
  const guard = refuseJumps || apart ? new JumpGuard(apart) : null;
  const reader = new BatchReader(guard, (error) => {
    if (!skipBad) throw error;
    onBad?.(error);
  });
  let damage: string | null = null;
  const pieces = piecesOf(path, onRead && sharesOf(path, onRead))[Symbol.asyncIterator]();
  try {
    while (reader.failure === null) {
      const piece = await pieces.next();
      if (piece.done === true) break;
      const batch = reader.push(piece.value);
      if (batch.length > 0) yield batch;
    }
    if (reader.failure !== null && isGzip(path)) damage = await damageBehind(pieces);
  } catch (error) {
    if (error instanceof NotAsNamed) throw new FeedFileError(null, error.message);
    damage = damageOf(error);
    if (damage === null) throw codeOf(error) === null ? error : unusable('read', error);
  } finally {
    await pieces.return?.();
  }
  if (reader.failure === null) {
    const batch = reader.end(damage);
    if (batch.length > 0) yield batch;
  }
  const { failure } = reader;
  if (failure === null) return;
  const isNamed = damage === null || failure.reason === damage;
  throw isNamed ? failure : new FeedFileError(failure.line, `${damage} (${failure.reason})`);
}

/**
 * Whether a gzip file with a bad line is damaged. A changed byte unpacks to a bad line long before
 * the checksum at the end shows it.
 */
async function damageBehind(pieces: AsyncIterator<Buffer>): Promise<string | null> {
  try {
    while ((await pieces.next()).done !== true);
    return null;
  } catch (error) {
    return damageOf(error);
  }
}

/** A pipe has no length. */
function sharesOf(path: string, onRead: (share: number) => void) {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  return (bytes: number) => onRead(size === 0 ? 0 : Math.min(bytes / size, 1));
}

/** From bytes to the lines that they complete. */
class BatchReader {
  /** The error that ends the reading; the lines before it were returned. */
  failure: FeedFileError | null = null;
  readonly #lines = new LineSplitter();
  readonly #jumps: JumpGuard | null;
  /** Passes over a bad line, or throws. */
  readonly #pass: (error: FeedFileError) => void;
  #headerSeen = false;

  constructor(jumps: JumpGuard | null, pass: (error: FeedFileError) => void) {
    this.#jumps = jumps;
    this.#pass = pass;
  }

  push(piece: Buffer): FeedLine[] {
    return this.#read(this.#lines.push(piece));
  }

  /** @param damage the damage that kept the file from being read to its end */
  end(damage: string | null): FeedLine[] {
    const batch = damage === null ? this.#read(this.#lines.end()) : [];
    this.#noteFailure(() => {
      if (this.#jumps !== null) this.#sort(this.#jumps.end(), batch);
      if (damage === null && !this.#headerSeen) checkHeader('');
      if (damage === null) return;
      const error = new FeedFileError(this.#lines.nextNumber(), damage);
      if (!this.#headerSeen) throw error;
      this.#pass(error);
    });
    return batch;
  }

  #read(texts: readonly string[]): FeedLine[] {
    const batch: FeedLine[] = [];
    this.#noteFailure(() => {
      for (const text of texts) this.#take(text, batch);
    });
    // The lines that the guard holds precede the line that ends the reading.
    if (this.failure !== null) batch.push(...linesOf(this.#jumps?.end() ?? []));
    return batch;
  }

  #take(text: string, batch: FeedLine[]): void {
    const number = this.#lines.nextNumber();
    if (!this.#headerSeen) {
      checkHeader(text);
      this.#headerSeen = true;
      return;
    }
    const line = readLine(number, text);
    if (line === null) return;
    const held = line === HEADER_INSIDE ? (this.#jumps?.startsRecording() ?? null) : null;
    if (held !== null) {
      checkHeader(text, number);
      this.#sort(held, batch);
    } else if (typeof line === 'string') this.#pass(new FeedFileError(number, line));
    else if (this.#jumps === null) batch.push(line);
    else this.#sort(this.#jumps.take(line), batch);
  }

  #sort(judged: Judged, batch: FeedLine[]): void {
    for (const each of judged) {
      if (each instanceof FeedFileError) this.#pass(each);
      else batch.push(each);
    }
  }

  #noteFailure(work: () => void): void {
    if (this.failure !== null) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof FeedFileError)) throw error;
      this.failure = error;
    }
  }
}

function linesOf(judged: Judged): FeedLine[] {
  return judged.filter((each): each is FeedLine => !(each instanceof FeedFileError));
}

export function unusable(how: 'read' | 'written', error: unknown): FeedFileError {
  return new FeedFileError(null, `the feed file cannot be ${how} (${codeOf(error) ?? 'unknown'})`);
}
