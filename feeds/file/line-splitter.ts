/** Cuts the bytes of a text into numbered lines. Rules F1, F4 (feeds/FORMATS.md). */
import { StringDecoder } from 'node:string_decoder';

/** Far longer than any venue message; see MAX_FRAME_BYTES of connection.ts. */
const LINE_LENGTH_MAX = 16 * 1024 * 1024;

/** In place of a line that was not kept. No line of a file equals it. */
export const TOO_LONG = '\n';

/** Cuts pieces of bytes into numbered lines. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #restTooLong = false;
  #hasBegun = false;
  #number = 0;

  nextNumber(): number {
    return ++this.#number;
  }

  push(piece: Buffer): string[] {
    const parts = this.#decode(piece).split('\n');
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

  /** Without a byte order mark. Rule G15 (api/RULES.md). */
  #decode(piece: Buffer): string {
    const text = this.#decoder.write(piece);
    if (this.#hasBegun || text === '') return text;
    this.#hasBegun = true;
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  end(): string[] {
    const last = this.#whole(this.#decoder.end());
    return last === '' ? [] : [last];
  }

  #whole(part: string): string {
    return this.#restTooLong ? TOO_LONG : this.#rest + part;
  }
}
