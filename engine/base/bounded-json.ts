/**
 * JSON from outside, and the files that hold it, within bounds. Text that is nested too deep is
 * refused before it is parsed, because code that walks it later may recurse. Rule A99
 * (api/RULES.md).
 */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

/** No text of ours, of a venue or of a service is nested nearly as deep. */
export const JSON_DEPTH_MAX = 100;
/**
 * A text of this length cannot be nested too deep for any stack. Most frames of venues are shorter,
 * and cost nothing.
 */
export const SHORT_TEXT = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS_LIST = 0x5b;
const CLOSES_LIST = 0x5d;
const OPENS_OBJECT = 0x7b;
const CLOSES_OBJECT = 0x7d;

/** `is nested more than 100 deep`, to follow the name of the text. */
export class NestedTooDeep extends Error {
  constructor() {
    super(`is nested more than ${JSON_DEPTH_MAX} deep`);
    this.name = 'NestedTooDeep';
  }
}

/** @throws NestedTooDeep, and SyntaxError where the text is not JSON */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new NestedTooDeep();
  return JSON.parse(text);
}

/** The fault in an error of `parseJson`, to follow the name of the text. */
export function jsonProblem(error: unknown): string {
  return error instanceof NestedTooDeep ? error.message : 'is not JSON';
}

/**
 * Whether JSON of this text would be nested too deep. Of text that is not JSON the answer means
 * nothing.
 */
function isTooDeep(text: string): boolean {
  if (text.length <= SHORT_TEXT) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENS_LIST:
      case OPENS_OBJECT:
        if (++depth > JSON_DEPTH_MAX) return true;
        break;
      case CLOSES_LIST:
      case CLOSES_OBJECT:
        depth--;
        break;
      default:
    }
  }
  return false;
}

/** The place of the quotation mark that ends the string which begins at this place. */
function endOfString(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** Larger than any file of this kind. */
export const FILE_BYTES_MAX = 256 * 2 ** 20;

/**
 * The text of a file or a stream.
 *
 * @throws where there is more than `bytesMax`, before that is in memory; where `decodedText` does; and
 * errors of the system
 */
export async function boundedText(
  from: string | Readable,
  bytesMax = FILE_BYTES_MAX,
): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const stream = typeof from === 'string' ? createReadStream(from) : from;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new Unusable(`has more than ${bytesMax / 2 ** 20} MiB`);
    pieces.push(piece);
  }
  return decodedText(Buffer.concat(pieces, bytes));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a file that a person may have saved, without a byte order mark. Rule G15
 * (api/RULES.md).
 *
 * @throws where it is gzip, or in an encoding that is not UTF-8
 */
export function decodedText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0x1f && second === 0x8b) throw new Unusable('is gzip: unpack it');
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new Unusable('is not UTF-8: save it in that encoding');
  }
}

/** To be said of what was read. */
class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** The fault in an error of `boundedText` or `decodedText`, to follow the name of the source. */
export function readProblem(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  return `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
}
