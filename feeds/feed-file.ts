/**
 * Reads feed files: what venues sent, a line a frame, with the time it was received. Read as a
 * stream in batches, so that a file may be larger than memory. Rules F1 to F9 (feeds/FORMATS.md).
 *
 * Where the format is silent: empty lines are passed over, fields not named by the format are
 * ignored, and a line may be older than the one before it (recordings of several connections are
 * merged); readers that need a clock keep theirs from going back.
 */
import { codeOf, damageOf, isGzip, piecesOf } from './feed-bytes.ts';
import { checkHeader, FeedFileError, type FeedLine, readLine } from './feed-line.ts';
import { JumpGuard } from './jump-guard.ts';
import { LineSplitter } from './line-splitter.ts';

export type ReadFeedOptions = {
  /** Passes over lines that cannot be read, and over the missing end of a cut-off gzip. */
  skipBad?: boolean;
  /** Lines may not jump forward by more than an hour. Rule F31 (feeds/FORMATS.md). */
  refuseJumps?: boolean;
  /** Called for every line that is skipped. */
  onBad?(error: FeedFileError): void;
};

/**
 * Batches of lines in file order. `path` ending in `.gz` is gunzipped.
 * @throws FeedFileError at the first line that cannot be read (with `skipBad`: only for a header
 * that is missing or of another version, for a file that cannot be opened, and for a file whose
 * time goes on behind a jump).
 */
export async function* readFeed(
  path: string,
  { skipBad = false, refuseJumps = false, onBad }: ReadFeedOptions = {},
): AsyncGenerator<FeedLine[]> {
  const reader = new BatchReader(refuseJumps ? new JumpGuard() : null, (error) => {
    if (!skipBad) throw error;
    onBad?.(error);
  });
  let damage: string | null = null;
  const pieces = piecesOf(path)[Symbol.asyncIterator]();
  try {
    for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next()) {
      const batch = reader.push(piece.value);
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    if (error instanceof FeedFileError) throw isGzip(path) ? await named(error, pieces) : error;
    damage = damageOf(error);
    if (damage === null) throw codeOf(error) === null ? error : unusable('read', error);
  } finally {
    await pieces.return?.();
  }
  // The rest of a cut-off file is half a line, whose own error would hide what happened.
  const batch = reader.end(damage);
  if (batch.length > 0) yield batch;
}

/** From bytes to the lines that they complete. */
class BatchReader {
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

  end(damage: string | null): FeedLine[] {
    const batch = damage === null ? this.#read(this.#lines.end()) : [];
    if (damage !== null) {
      const error = new FeedFileError(this.#lines.nextNumber(), damage);
      if (!this.#headerSeen) throw error;
      this.#pass(error);
    } else if (!this.#headerSeen) checkHeader('');
    return batch;
  }

  #read(texts: readonly string[]): FeedLine[] {
    const batch: FeedLine[] = [];
    for (const text of texts) {
      const number = this.#lines.nextNumber();
      if (!this.#headerSeen) {
        checkHeader(text);
        this.#headerSeen = true;
        continue;
      }
      const line = readLine(number, text);
      if (line === null) continue;
      if (typeof line === 'string') this.#pass(new FeedFileError(number, line));
      else if (this.#jumps === null) batch.push(line);
      else {
        const jump = this.#jumps.take(line);
        if (jump === null) batch.push(line);
        else this.#pass(jump);
      }
    }
    return batch;
  }
}

/**
 * The error of a line in a gzip file, or that the file is damaged: what a changed byte unpacks to
 * reads as a bad line, long before the checksum at the end shows it.
 */
async function named(error: FeedFileError, pieces: AsyncIterator<Buffer>): Promise<FeedFileError> {
  try {
    while ((await pieces.next()).done !== true);
  } catch (reading) {
    const damage = damageOf(reading);
    if (damage !== null) return new FeedFileError(error.line, `${damage} (${error.reason})`);
  }
  return error;
}

export function unusable(how: 'read' | 'written', error: unknown): FeedFileError {
  return new FeedFileError(null, `the feed file cannot be ${how} (${codeOf(error) ?? 'unknown'})`);
}
