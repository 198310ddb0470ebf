/**
 * A table of runs in memory, which writes when it is flushed and loses unflushed pieces in a crash.
 */
import type { RunStore } from '../../../engine/index/run-store.ts';

type Write = { run: number; piece: number; bytes: Uint8Array | null };

export class MemoryRunStore implements RunStore {
  readonly #disk = new Map<number, Map<number, Uint8Array>>();
  #pending: Write[] = [];
  /** Bytes put so far, in whole pages of LMDB and with 64 for the key and its place in the tree. */
  bytesPut = 0;
  /** Pieces that were looked at. */
  gets = 0;

  get(run: number, piece: number): Uint8Array | undefined {
    this.gets++;
    return this.#disk.get(run)?.get(piece);
  }

  put(run: number, piece: number, bytes: Uint8Array): void {
    this.bytesPut += Math.ceil((bytes.length + 16) / 4096) * 4096 + 64;
    this.#pending.push({ run, piece, bytes });
  }

  remove(run: number, piece: number): void {
    this.#pending.push({ run, piece, bytes: null });
  }

  next(run: number, piece: number): { run: number; piece: number } | null {
    for (const found of this.runs()) {
      if (found < run) continue;
      const least = found === run ? piece : 0;
      const pieces = [...this.#disk.get(found)!.keys()].filter((number) => number >= least);
      if (pieces.length > 0) return { run: found, piece: Math.min(...pieces) };
    }
    return null;
  }

  /** The runs that have pieces on disk. */
  runs(): number[] {
    return [...this.#disk.keys()].sort((one, other) => one - other);
  }

  /** Every piece on disk; to change its bytes is to damage it. */
  *pieces(): Generator<{ run: number; piece: number; bytes: Uint8Array }> {
    for (const [run, pieces] of this.#disk) {
      for (const [piece, bytes] of pieces) yield { run, piece, bytes };
    }
  }

  get pending(): number {
    return this.#pending.length;
  }

  /** Brings the first `count` of the pending writes to disk; the others wait. */
  flush(count = this.#pending.length): void {
    for (const { run, piece, bytes } of this.#pending.splice(0, count)) {
      const pieces = this.#disk.get(run) ?? new Map<number, Uint8Array>();
      if (bytes !== null) pieces.set(piece, bytes);
      else pieces.delete(piece);
      if (pieces.size > 0) this.#disk.set(run, pieces);
      else this.#disk.delete(run);
    }
  }

  /** Pending writes are lost. */
  crash(): void {
    this.#pending = [];
  }
}
