/**
 * Which pieces on disk hold the counts of a month, and which of them are removed. Every flush adds
 * pieces. It writes again the counts of the oldest pieces that no later piece holds, and removes
 * these pieces. So the disk never holds much more than twice the counts. Rule Q13 (api/RULES.md).
 */
import { setImmediate as turn } from 'node:timers/promises';
import { pieceOf, type RequestPieces } from '../identity/request-pieces.ts';
import type { Count } from './count.ts';

/** Requests are answered between two pieces that are packed. */
const PIECE_COUNTS = 2048;
const PIECES_MAX = 256;
/** The disk may hold so many times the counts, and so many more. */
const SPREAD = 2;
const SPARE = 8192;

export class CountPieces {
  readonly month: string;
  /** By number, the oldest first. */
  readonly #pieces = new Map<number, readonly Count[]>();
  /** Counts in all pieces. */
  #entries = 0;
  #last = 0;

  constructor(month: string) {
    this.month = month;
  }

  /** A piece that is on disk. */
  add(number: number, counts: readonly Count[]): void {
    for (const count of counts) count.piece = number;
    this.#pieces.set(number, counts);
    this.#entries += counts.length;
    this.#last = Math.max(this.#last, number);
  }

  /**
   * Writes changed counts, of so many in all; on disk on return. If the disk does not take them, it
   * rejects and nothing has changed.
   */
  async write(
    store: Pick<RequestPieces, 'replace'>,
    changed: readonly Count[],
    live: number,
  ): Promise<void> {
    const { removed, moved } = this.#oldest(changed, live);
    const written = [...changed, ...moved];
    const added: { number: number; counts: readonly Count[]; bytes: Uint8Array }[] = [];
    for (let from = 0; from < written.length; from += PIECE_COUNTS) {
      const counts = written.slice(from, from + PIECE_COUNTS);
      added.push({ number: this.#last + 1 + added.length, counts, bytes: pieceOf(counts) });
      await turn();
    }
    await store.replace(this.month, added, removed);
    for (const number of removed) {
      this.#entries -= this.#pieces.get(number)!.length;
      this.#pieces.delete(number);
    }
    for (const { number, counts } of added) this.add(number, counts);
  }

  /** The pieces to remove, and the counts that only they hold. */
  #oldest(changed: readonly Count[], live: number): { removed: number[]; moved: Count[] } {
    const written = new Set(changed);
    const removed: number[] = [];
    const moved: Count[] = [];
    let entries = this.#entries + changed.length;
    for (const [number, counts] of this.#pieces) {
      const isMany = this.#pieces.size - removed.length >= PIECES_MAX;
      if (!isMany && entries <= live * SPREAD + SPARE) break;
      const held = counts.filter((count) => count.piece === number && !written.has(count));
      removed.push(number);
      moved.push(...held);
      entries += held.length - counts.length;
    }
    return { removed, moved };
  }
}
