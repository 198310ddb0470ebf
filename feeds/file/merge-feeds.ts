/**
 * Puts feed files in order of time, as one. Rule F36 (feeds/FORMATS.md). Of each file one batch is
 * in memory, so files may be larger than it.
 */
import { rm } from 'node:fs/promises';
import { isoOf } from '../../engine/base/units.ts';
import { type ReadFeedOptions, readFeed } from './feed-file.ts';
import { connectionKeyOf, FEED_HEADER, FeedFileError, type FeedLine } from './feed-line.ts';
import { createFeedWriter } from './feed-writer.ts';

export type MergeCounts = { lines: number; skippedLines: number };

/**
 * The texts of the merged file, the header first. @throws Error that names the file and the line,
 * at a line that cannot be read or whose time is wrong (rules F31 to F33), because no order of time
 * is right around it.
 */
export async function* mergedLines(
  paths: readonly string[],
  { skipBad = false }: Pick<ReadFeedOptions, 'skipBad'>,
  counts: MergeCounts,
): AsyncGenerator<string> {
  const onBad = () => void counts.skippedLines++;
  const numbers = new ConnectionNumbers();
  const waiting: Source[] = [];
  for (const [file, path] of paths.entries()) {
    waiting.push(new Source(file, path, readFeed(path, { skipBad, refuseJumps: true, onBad })));
  }
  try {
    await Promise.all(waiting.map((source) => source.advance()));
    yield JSON.stringify(FEED_HEADER);
    for (;;) {
      const next = earliest(waiting);
      if (next === null) return;
      counts.lines++;
      yield textOf(next.line!, numbers.of(next.file, next.line!));
      await next.advance();
    }
  } finally {
    await Promise.all(waiting.map((source) => source.close()));
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

/** One of the files, at the line that is next. */
class Source {
  readonly file: number;
  line: FeedLine | null = null;
  /** The time that orders it: a line that is a little older than the one before keeps its place. */
  atMs = Number.NEGATIVE_INFINITY;
  readonly #path: string;
  readonly #batches: AsyncGenerator<FeedLine[]>;
  #batch: FeedLine[] = [];
  #index = 0;

  constructor(file: number, path: string, batches: AsyncGenerator<FeedLine[]>) {
    this.file = file;
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
    try {
      const { value, done } = await this.#batches.next();
      this.#batch = done === true ? [] : value;
    } catch (error) {
      throw error instanceof FeedFileError ? new Error(`${this.#path}: ${error.message}`) : error;
    }
    this.#index = 0;
    if (this.#batch.length === 0) this.line = null;
    else this.advance();
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined);
  }
}

/** At equal times the file that was named first goes first. */
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

  of(file: number, line: FeedLine): number | undefined {
    if (line.connection === undefined) return undefined;
    const key = `${file} ${connectionKeyOf(line)}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    let number = line.connection;
    while (this.#taken.has(connectionKeyOf({ ...line, connection: number }))) number++;
    this.#taken.add(connectionKeyOf({ ...line, connection: number }));
    this.#numbers.set(key, number);
    return number;
  }
}

function textOf({ line: _, atMs, frame, ...rest }: FeedLine, connection?: number): string {
  const numbered = connection === undefined ? rest : { ...rest, connection };
  return JSON.stringify({ at: isoOf(atMs), ...numbered, frame });
}
