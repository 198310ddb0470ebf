/**
 * Writes changes of the control store, several together or none of them: a row and its indexes. It
 * is the only writer of what people and operators change. Counts and last uses (grouped-rows.ts) are
 * apart, since nothing else depends on them. In a cluster the log of control data has each change
 * first. Rules D71, N130 to N135 (engine/RULES.md).
 */
import type { RootDatabase } from 'lmdb';
import { ApiError } from '../base/errors.ts';
import { controlCodec } from './control-format.ts';
import type { ControlTable } from './control-table.ts';
import { guardWrites, type WriteTogether } from './disk-guard.ts';

/** A change of a row, an index or a single value. */
export type Change = {
  table: ControlTable<unknown>;
  key: string;
  /** Undefined: it is removed. */
  value: unknown;
  /**
   * A credential ends with it: it is effective in memory although the disk is full, and in a cluster
   * it is answered once it is effective on every node.
   */
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

/** Writes of which a cluster has each first: `ReplicatedControl`. */
export interface ReplicatedWrites {
  write(write: {
    changes: readonly Change[];
    packed: readonly PackedChange[];
    isEverywhere: boolean;
  }): Promise<void>;
  /** Whether this node has every end of a credential that was answered anywhere. */
  readonly isCurrent: boolean;
  /** The address of the node that leads, if that is another one; null: none is known. */
  readonly leader: string | null;
}

export class ControlWriter {
  readonly #root: RootDatabase<Buffer, string>;
  readonly #together: WriteTogether;
  /** Null: this server is in no cluster. */
  #replicated: ReplicatedWrites | null = null;

  /** `directory`: of the environment that `root` has open. Guards its writes from now on. */
  constructor(root: RootDatabase<Buffer, string>, directory: string) {
    this.#root = root;
    this.#together = guardWrites(root, directory);
  }

  /** A cluster has every change first from now on. */
  replicateBy(replicated: ReplicatedWrites): void {
    this.#replicated = replicated;
  }

  /**
   * Effective at once, in one transaction, and on disk when it resolves. If the disk is full, it
   * throws at once, and only credentials have ended, in memory. A restart would lose changes that
   * are only in memory. In a cluster it throws `NotLeader` where another node leads; if it rejects
   * with that, memory is again as the disk.
   *
   * @param isEverywhere in a cluster it is effective on every node when it resolves
   */
  write(changes: readonly Change[], isEverywhere = false): Promise<void> {
    const packed = changes.map(packedChange);
    if (this.#replicated !== null) {
      const awaitsAll = isEverywhere || changes.some(({ isEnding }) => isEnding === true);
      return this.#replicated.write({ changes, packed, isEverywhere: awaitsAll });
    }
    let begun: Promise<unknown>[];
    try {
      begun = this.begin(packed);
    } catch (error) {
      keepEndings(changes);
      throw error;
    }
    for (const change of changes) change.keep();
    return this.#settle(changes, begun);
  }

  /** Hands them to LMDB, in one turn of the event loop, and so in one transaction. */
  begin(changes: readonly PackedChange[]): Promise<unknown>[] {
    return this.#together(sizeOf(changes), () =>
      changes.map(({ table, key, packed }) =>
        packed === null ? table.remove(key) : table.putPacked(key, packed),
      ),
    );
  }

  /** Throws `DiskFull` unless the disk has room for them. */
  requireRoom(changes: readonly PackedChange[]): void {
    this.#together(sizeOf(changes), () => undefined);
  }

  /** Throws where a credential may have ended that this node still has. */
  requireCurrent(): void {
    if (this.#replicated === null || this.#replicated.isCurrent) return;
    throw new ApiError('not_leader', {
      leader: this.#replicated.leader,
      message: 'This node cannot know now which keys and sessions have ended. Send it again.',
      retryAfterSeconds: 1,
    });
  }

  /** Resolves once everything that was begun is on disk. */
  async flush(begun: readonly Promise<unknown>[]): Promise<void> {
    await Promise.all(begun);
    await this.#root.flushed;
  }

  async #settle(changes: readonly Change[], begun: readonly Promise<unknown>[]): Promise<void> {
    try {
      await this.flush(begun);
    } finally {
      for (const change of changes) change.settle?.();
    }
  }
}

export function keepEndings(changes: readonly Change[]): void {
  for (const change of changes) if (change.isEnding) change.keep();
}

function packedChange({ table, key, value }: Change): PackedChange {
  return { table, key, packed: value === undefined ? null : controlCodec.pack(value) };
}

function sizeOf(changes: readonly PackedChange[]): { writes: number; bytes: number } {
  let bytes = 0;
  for (const { packed } of changes) bytes += packed?.length ?? 0;
  return { writes: changes.length, bytes };
}
