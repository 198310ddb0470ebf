/**
 * Writes changes of the control store, several together or none of them: a row and its indexes. It
 * is the only writer of what people and operators change. Counts and last uses (grouped-rows.ts) are
 * apart, since nothing else depends on them. Rule D71 (engine/RULES.md).
 */
import type { RootDatabase } from 'lmdb';
import { controlCodec } from './control-format.ts';
import type { ControlTable } from './control-table.ts';
import { guardWrites, type WriteTogether } from './disk-guard.ts';

/** A change of a row, an index or a single value. */
export type Change = {
  table: ControlTable<unknown>;
  key: string;
  /** Undefined: it is removed. */
  value: unknown;
  /** A credential ends with it: it is effective in memory although the disk is full. */
  isEnding?: true;
  /** Makes it effective in memory. */
  keep(): void;
  /** It is on disk, or it failed. */
  settle?(): void;
};

/** The same changes, of credentials that end. */
export const ending = (changes: readonly Change[]): Change[] =>
  changes.map((change) => ({ ...change, isEnding: true }));

/** A change as the disk and a cluster have it. */
export type PackedChange = {
  table: ControlTable<unknown>;
  key: string;
  /** Null: it is removed. */
  packed: Uint8Array | null;
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
   * throws at once, and only credentials have ended, in memory. A restart would lose changes that
   * are only in memory.
   */
  write(changes: readonly Change[]): Promise<void> {
    let begun: Promise<unknown>[];
    try {
      begun = this.#begin(changes.map(packedChange));
    } catch (error) {
      for (const change of changes) if (change.isEnding) change.keep();
      throw error;
    }
    for (const change of changes) change.keep();
    return this.#settle(changes, begun);
  }

  /** Hands them to LMDB, in one turn of the event loop, and so in one transaction. */
  #begin(changes: readonly PackedChange[]): Promise<unknown>[] {
    let bytes = 0;
    for (const { packed } of changes) bytes += packed?.length ?? 0;
    return this.#together({ writes: changes.length, bytes }, () =>
      changes.map(({ table, key, packed }) =>
        packed === null ? table.remove(key) : table.putPacked(key, packed),
      ),
    );
  }

  async #settle(changes: readonly Change[], begun: Promise<unknown>[]): Promise<void> {
    try {
      await Promise.all(begun);
      await this.#root.flushed;
    } finally {
      for (const change of changes) change.settle?.();
    }
  }
}

function packedChange({ table, key, value }: Change): PackedChange {
  return { table, key, packed: value === undefined ? null : controlCodec.pack(value) };
}
