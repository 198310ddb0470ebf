/**
 * A body of unknown length, sent in pieces. The next piece is asked for once the caller has taken
 * the one before. So a slow reader costs one piece. Rule H16 (api/RULES.md).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HeaderLines } from './header-lines.ts';
import type { HttpResponse } from './http-response.ts';

/** The source of pieces. */
export interface Pieces {
  /** Null: there are no more. Rejects if the rest cannot be had. */
  next(): Promise<Uint8Array | string | null>;
  /** No further piece will be asked for. */
  cancel(): void;
}

/** A result of a route that is sent in pieces, with its headers. */
export class StreamedBody {
  readonly headers: HeaderLines;
  readonly pieces: Pieces;

  constructor(headers: HeaderLines, pieces: Pieces) {
    this.headers = headers;
    this.pieces = pieces;
  }

  /** The same body, broken off if `check` throws before a piece is sent. */
  checkedBy(check: () => void): StreamedBody {
    const { headers, pieces } = this;
    return new StreamedBody(headers, {
      next: async () => {
        const piece = await pieces.next();
        check();
        return piece;
      },
      cancel: () => pieces.cancel(),
    });
  }
}

/** How often the sender checks whether a caller who does not read is gone. */
const GONE_MS = 500;

/** Resolves once all is sent, or the caller is gone; rejects if the rest cannot be had. */
export async function sendPieces(
  res: HttpResponse,
  lines: string,
  pieces: Pieces,
  { isGone }: { isGone(): boolean },
): Promise<void> {
  let isWritable = true;
  let wake: () => void = () => {};
  res.onWritable(() => {
    isWritable = true;
    wake();
    return true;
  });
  res.cork(() => res.writeHeader('X-Request-Id', lines));
  try {
    for (;;) {
      const piece = await pieces.next();
      if (isGone()) return;
      if (piece === null) break;
      res.cork(() => {
        isWritable = res.write(piece);
      });
      while (!isWritable && !isGone()) {
        const written = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([written, sleep(GONE_MS)]);
      }
      if (isGone()) return;
    }
    res.cork(() => res.end());
  } finally {
    pieces.cancel();
  }
}
