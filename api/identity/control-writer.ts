/** Writes changes of the control store, several together or none of them: a row and its indexes. */
import type { RootDatabase } from 'lmdb';
import { guardWrites, type WriteTogether } from './disk-guard.ts';

/** A change of a row or of an index. */
export type Change = {
  /** Hands it to LMDB. */
  begin(): Promise<unknown>;
  /** Makes it effective in memory. */
  keep(): void;
  /** It is on disk, or it failed. */
  settle(): void;
};

export class ControlWriter {
  readonly #root: RootDatabase<Buffer, string>;
  readonly #together: WriteTogether;

  /** `directory`: of the environment that `root` has open. Guards its writes from now on. */
  constructor(root: RootDatabase<Buffer, string>, directory: string) {
    this.#root = root;
    this.#together = guardWrites(root, directory);
  }

  /**
   * Effective at once, in one transaction, and on disk when it resolves. If the disk is full, it
   * throws at once and nothing has changed. A restart would lose changes that are only in memory.
   */
  write(changes: readonly Change[]): Promise<void> {
    // Begun in one turn of the event loop, and so in one transaction.
    const begun = this.#together(changes.length, () => changes.map((change) => change.begin()));
    for (const change of changes) change.keep();
    return this.#settle(changes, begun);
  }

  async #settle(changes: readonly Change[], begun: Promise<unknown>[]): Promise<void> {
    try {
      await Promise.all(begun);
      await this.#root.flushed;
    } finally {
      for (const change of changes) change.settle();
    }
  }
}
