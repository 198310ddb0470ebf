/** Writes feed files. Rules F9, F30 (feeds/FORMATS.md). */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isoOf } from '../../engine/base/units.ts';
import { eventOrClose, isGzip } from './feed-bytes.ts';
import { unusable } from './feed-file.ts';
import { FEED_HEADER, type FeedLine } from './feed-line.ts';

export type FeedWriter = {
  /** Resolves when the next line may be written; a caller that waits keeps memory bounded. */
  write(line: Omit<FeedLine, 'line'>): Promise<void>;
  /** As `write`, of a line that is JSON already. */
  put(text: string): Promise<void>;
  /**
   * Writes a line that is JSON already, without its end; a caller that cannot wait reads `waiting`.
   */
  writeText(text: string): void;
  /** Characters and bytes that are not in the file yet. */
  readonly waiting: number;
  /** Bytes in the file, as packed. */
  readonly bytes: number;
  /** Puts all written lines into the file, so that they survive a crash. */
  flush(): void;
  /** Resolves when everything is in the file. */
  close(): Promise<void>;
  /** Rejects with the FeedFileError of a file that cannot be written; resolves after `close`. */
  readonly done: Promise<void>;
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
  const gzip = isGzip(path) ? createGzip() : null;
  const sink = gzip ?? file;
  const done = (gzip === null ? finished(file) : pipeline(gzip, file)).catch((error: unknown) => {
    throw unusable('written', error);
  });
  done.catch(() => {}); // reported by the next write, by close and by `done`
  const put = async (text: string): Promise<void> => {
    if (sink.destroyed) return done;
    if (sink.write(`${text}\n`)) return;
    await eventOrClose(sink, 'drain');
    if (sink.destroyed) return done;
  };
  await put(JSON.stringify(FEED_HEADER));
  return {
    write: ({ atMs, venue, adapter, frame }) =>
      put(JSON.stringify({ at: isoOf(atMs), venue, adapter, frame })),
    put,
    writeText(text) {
      if (!sink.destroyed) sink.write(`${text}\n`);
    },
    get waiting() {
      return sink.writableLength + (gzip === null ? 0 : file.writableLength);
    },
    get bytes() {
      return file.bytesWritten;
    },
    flush() {
      if (gzip?.destroyed === false) gzip.flush();
    },
    close: () => {
      sink.end();
      return done;
    },
    done,
  };
}
