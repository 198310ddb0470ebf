/**
 * Puts recordings in order of time, as one file. A file may itself be recordings put one after
 * another. Rule F36 (feeds/FORMATS.md). Of each recording one batch is in memory, so files may be
 * larger than it. All is read before the first line is given out: what cannot be merged writes
 * nothing.
 */
import { rm, stat } from 'node:fs/promises';
import { isoOf } from '../../engine/base/units.ts';
import { type ReadFeedOptions, readFeed } from './feed-file.ts';
import { connectionKeyOf, FEED_HEADER, FeedFileError, type FeedLine } from './feed-line.ts';
import { createFeedWriter } from './feed-writer.ts';

export type MergeCounts = { lines: number; skippedLines: number };

/** Of one file; each is read by itself. */
const RECORDINGS_MAX = 64;

/**
 * The texts of the merged file, the header first.
 * @throws Error that names the file and the line, before the first text: at a line that cannot be
 * read or whose time is wrong (rules F31 to F33), since no order of time is right around it.
 */
export async function* mergedLines(
  paths: readonly string[],
  { skipBad = false }: Pick<ReadFeedOptions, 'skipBad'>,
  counts: MergeCounts,
): AsyncGenerator<string> {
  const numbers = new ConnectionNumbers();
  const waiting: Source[] = [];
  for (const path of paths) {
    const onBad = () => void counts.skippedLines++;
    const recordings = await naming(path, () => recordingsOf(path, { skipBad, onBad }));
    for (let recording = 0; recording < recordings; recording++) {
      waiting.push(new Source(waiting.length, path, linesOf(path, recording, skipBad)));
    }
  }
  try {
    await Promise.all(waiting.map((source) => source.advance()));
    yield JSON.stringify(FEED_HEADER);
    for (;;) {
      const next = earliest(waiting);
      if (next === null) return;
      counts.lines++;
      yield textOf(next.line!, numbers.of(next.source, next.line!));
      await next.advance();
    }
  } finally {
    await Promise.all(waiting.map((source) => source.close()));
  }
}

/** How many recordings a file is put together from, after all of its lines. */
async function recordingsOf(path: string, options: ReadFeedOptions): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile()) {
    throw new FeedFileError(null, 'not a plain file, and merge reads it more than once');
  }
  let last = 0;
  for await (const batch of readFeed(path, { ...options, apart: true })) {
    const line = batch.at(-1)!;
    last = line.recording!;
    if (last < RECORDINGS_MAX) continue;
    throw new FeedFileError(line.line, `more than ${RECORDINGS_MAX} recordings in one file`);
  }
  return last + 1;
}

async function* linesOf(path: string, recording: number, skipBad: boolean) {
  for await (const batch of readFeed(path, { skipBad, apart: true })) {
    const own = batch.filter((line) => line.recording === recording);
    if (own.length > 0) yield own;
    if (batch.at(-1)!.recording! > recording) return;
  }
}

async function naming<Found>(path: string, read: () => Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof FeedFileError ? new Error(`${path}: ${error.message}`) : error;
  }
}

/**
 * A new file of these lines. @throws FeedFileError when it exists or cannot be written; the errors
 * of `lines`, which leave no part of the file.
 */
export async function writeMerged(path: string, lines: AsyncGenerator<string>): Promise<void> {
  // Before the file is created: an input that cannot be read leaves nothing.
  await lines.next();
  const writer = await createFeedWriter(path);
  try {
    for await (const line of lines) await writer.put(line);
    await writer.close();
  } catch (error) {
    await writer.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/** One of the recordings, at the line that is next. */
class Source {
  readonly source: number;
  line: FeedLine | null = null;
  /** The time that orders it: a line that is a little older than the one before keeps its place. */
  atMs = Number.NEGATIVE_INFINITY;
  readonly #path: string;
  readonly #batches: AsyncGenerator<FeedLine[]>;
  #batch: FeedLine[] = [];
  #index = 0;

  constructor(source: number, path: string, batches: AsyncGenerator<FeedLine[]>) {
    this.source = source;
    this.#path = path;
    this.#batches = batches;
  }

  advance(): Promise<void> | undefined {
    if (this.#index === this.#batch.length) return this.#refill();
    this.line = this.#batch[this.#index++]!;
    this.atMs = Math.max(this.atMs, this.line.atMs);
    return undefined;
  }

  async #refill(): Promise<void> {
    const { value, done } = await naming(this.#path, () => this.#batches.next());
    this.#batch = done === true ? [] : value;
    this.#index = 0;
    if (this.#batch.length === 0) this.line = null;
    else this.advance();
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined);
  }
}

/** Of equal times the recording that was named first. */
function earliest(sources: readonly Source[]): Source | null {
  let found: Source | null = null;
  for (const source of sources) {
    if (source.line !== null && (found === null || source.atMs < found.atMs)) found = source;
  }
  return found;
}

/** Two recordings number their connections from 1. In one file each gets its own number. */
class ConnectionNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #taken = new Set<string>();

  of(source: number, line: FeedLine): number | undefined {
    if (line.connection === undefined) return undefined;
    const key = `${source} ${connectionKeyOf(line)}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    let number = line.connection;
    while (this.#taken.has(connectionKeyOf({ ...line, connection: number }))) number++;
    this.#taken.add(connectionKeyOf({ ...line, connection: number }));
    this.#numbers.set(key, number);
    return number;
  }
}

function textOf(
  { line: _, recording: __, atMs, frame, ...rest }: FeedLine,
  connection?: number,
): string {
  const numbered = connection === undefined ? rest : { ...rest, connection };
  return JSON.stringify({ at: isoOf(atMs), ...numbered, frame });
}
