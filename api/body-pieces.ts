/**
 * A body of any length as bytes, a piece at a time: what a slow reader costs is one piece of a text,
 * and not a copy of the whole. Bytes are one piece as they are.
 */

const PIECE_CHARACTERS = 32 * 1024;

export class BodyPieces {
  readonly totalBytes: number;
  readonly #text: string;
  /** Up to which the text is encoded. */
  #character = 0;
  #piece: Uint8Array = Buffer.alloc(0);

  /** @param takenBytes how much is out already */
  constructor(body: string | Uint8Array, takenBytes: number) {
    this.#text = typeof body === 'string' ? body : '';
    if (typeof body !== 'string') this.#piece = body;
    this.totalBytes = Buffer.byteLength(body);
    let left = takenBytes;
    while (left > 0) {
      const size = Math.min(left, this.next().length);
      this.take(size);
      left -= size;
    }
  }

  /** What comes next, until it is taken; empty at the end. */
  next(): Uint8Array {
    if (this.#piece.length === 0 && this.#character < this.#text.length) {
      const end = this.#endOfPiece();
      this.#piece = Buffer.from(this.#text.slice(this.#character, end));
      this.#character = end;
    }
    return this.#piece;
  }

  take(bytes: number): void {
    this.#piece = this.#piece.subarray(bytes);
  }

  /** Never between the two halves of a character beyond the basic plane. */
  #endOfPiece(): number {
    const end = Math.min(this.#character + PIECE_CHARACTERS, this.#text.length);
    const unit = this.#text.charCodeAt(end - 1);
    return unit >= 0xd800 && unit < 0xdc00 && end < this.#text.length ? end + 1 : end;
  }
}
