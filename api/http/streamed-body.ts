/**
 * A body of unknown length, sent in pieces: the next one is asked for once the caller has taken the
 * one before, so that who reads slowly, or not at all, costs one piece. Rule H16 (api/RULES.md).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HeaderLines } from './header-lines.ts';
import type { HttpResponse } from './http-response.ts';

/** Where pieces come from. */
export interface Pieces {
  /** Null: that was all. Rejects where the rest cannot be had. */
  next(): Promise<Uint8Array | string | null>;
  /** Nobody will ask for more. */
  cancel(): void;
}

/** A result of a route that is sent in pieces, with what its headers say of it. */
export class StreamedBody {
  readonly headers: HeaderLines;
  readonly pieces: Pieces;

  constructor(headers: HeaderLines, pieces: Pieces) {
    this.headers = headers;
    this.pieces = pieces;
  }

  /** The same body, broken off where `check` throws before a piece is sent. */
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

/** How often it is looked whether a caller who does not read is gone. */
const GONE_MS = 500;

/** Resolves once all is sent, or the caller is gone; rejects where the rest cannot be had. */
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
