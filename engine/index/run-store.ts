/** The table that stores runs. A run has a number, and so has each of its pieces. */
import type { Database } from 'lmdb';

export type RunStore = {
  /** A copy of a piece on disk. A piece that was written just now may not be there yet. */
  get(run: number, piece: number): Uint8Array | undefined;
  /** Writes a piece, now or later, but in the order of the calls. The store owns the bytes then. */
  put(run: number, piece: number, bytes: Uint8Array): void;
  /** Removes a piece, now or later, in the same order. */
  remove(run: number, piece: number): void;
  /** The first piece on disk at or after the named one; null: none. */
  next(run: number, piece: number): { run: number; piece: number } | null;
};

/** The key of a piece: its run, and its number in it. */
export type PieceKey = [run: number, piece: number];
/** A table, or a snapshot of a table. */
type PieceReading = Pick<Database<Buffer, PieceKey>, 'get' | 'getKeys'>;

/**
 * A store over an LMDB table of binary values, or over a snapshot of one; `write` puts and removes.
 */
export function runStoreOf(table: PieceReading, write: Pick<RunStore, 'put' | 'remove'>): RunStore {
  return {
    get: (run, piece) => table.get([run, piece]),
    put: (run, piece, bytes) => write.put(run, piece, bytes),
    remove: (run, piece) => write.remove(run, piece),
    next(run, piece) {
      for (const key of table.getKeys({ start: [run, piece], limit: 1 })) {
        return { run: key[0], piece: key[1] };
      }
      return null;
    },
  };
}
