/**
 * A body of any length as bytes, one piece at a time: a slow reader costs one encoded piece of a
 * text, not a copy of the whole. A body of bytes is a single piece.
 */

const PIECE_CHARACTERS = 32 * 1024;

/** The used part of a response of uWebSockets.js. */
type PiecesTaker = {
  getWriteOffset(): number;
  tryEnd(piece: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean];
};

export class BodyPieces {
  readonly totalBytes: number;
  readonly #text: string;
  /** The text before this index is encoded. */
  #character = 0;
  #piece: Uint8Array = Buffer.alloc(0);

  /** @param takenBytes how many bytes were sent already */
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

  /** The next bytes to send, the same until they are taken; empty at the end. */
  next(): Uint8Array {
    if (this.#piece.length === 0 && this.#character < this.#text.length) {
      const end = this.#endOfPiece();
      this.#piece = Buffer.from(this.#text.slice(this.#character, end));
      this.#character = end;
    }
    return this.#piece;
  }

  /** Sends pieces until the response takes no more, or is whole. @returns whether it is whole */
  sendTo(response: PiecesTaker): boolean {
    for (let piece = this.next(); ; piece = this.next()) {
      const before = response.getWriteOffset();
      const [isTaken, isDone] = response.tryEnd(piece, this.totalBytes);
      if (isDone) return true;
      this.take(isTaken ? piece.byteLength : response.getWriteOffset() - before);
      if (!isTaken) return false;
    }
  }

  take(bytes: number): void {
    this.#piece = this.#piece.subarray(bytes);
  }

  /** Never splits a surrogate pair. */
  #endOfPiece(): number {
    const end = Math.min(this.#character + PIECE_CHARACTERS, this.#text.length);
    const unit = this.#text.charCodeAt(end - 1);
    return unit >= 0xd800 && unit < 0xdc00 && end < this.#text.length ? end + 1 : end;
  }
}
