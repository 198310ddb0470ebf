/**
 * The bytes of a feed file, gunzipped if its name ends in `.gz`. Rules F1, F6, F35
 * (feeds/FORMATS.md). There is no zstd, because Node's does not report a file that ends early.
 */
import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Small, since one piece of gzip can unfold to a thousand times its size. */
const READ_BYTES = 32 * 1024;

export function isGzip(path: string): boolean {
  return path.endsWith('.gz');
}

/**
 * @param onRead takes the number of bytes that are read from the file @throws while it is read:
 * errors of the system, or of zlib, which `damageOf` names
 */
export function piecesOf(path: string, onRead?: (bytes: number) => void): AsyncIterable<Buffer> {
  const opened = createReadStream(path, { highWaterMark: READ_BYTES });
  const file = onRead === undefined ? opened : counted(opened, onRead);
  return isGzip(path) ? gunzipped(named(file, true)) : named(file, false);
}

/** Passes the pieces on if the content fits the file's name. */
async function* named(file: AsyncIterable<Buffer>, isPacked: boolean): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const piece of file) {
    if (isFirst && hasGzipMark(piece) !== isPacked) throw new NotAsNamed(isPacked);
    isFirst = false;
    yield piece;
  }
}

/** If the file is too short to tell, the unpacking reports that it ends early. */
function hasGzipMark(piece: Buffer): boolean {
  return piece[0] === 0x1f && (piece.length < 2 || piece[1] === 0x8b);
}

/** A file that is gzip by its name alone, or by its content alone. */
export class NotAsNamed extends Error {
  constructor(isPacked: boolean) {
    super(
      isPacked
        ? 'the name ends in .gz, and the content is not gzip'
        : 'the content is gzip, and the name does not end in .gz',
    );
  }
}

async function* counted(
  file: AsyncIterable<Buffer>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of file) {
    bytes += piece.length;
    onRead(bytes);
    yield piece;
  }
}

/**
 * Gunzips in step with the reader: each compressed piece is unpacked whole before the next is read.
 * At a cut-off end a plain pipe would throw away its unpacked bytes, with the lines before the
 * damage and the number of the damaged line.
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

/** Resolves at the event, or when the stream is closed first; removes its listeners. */
export function eventOrClose(stream: Writable, event: string): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off(event, done).off('close', done);
      resolve();
    };
    stream.on(event, done).on('close', done);
  });
}

/** The damage inside a gzip file, or null when the error is another one. */
export function damageOf(error: unknown): string | null {
  const code = codeOf(error);
  if (code === 'Z_BUF_ERROR') return 'the gzip file ends early';
  return code?.startsWith('Z_') ? 'the gzip file is damaged' : null;
}

/** The code of an error of the system or of zlib. */
export function codeOf(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : null;
}
