/**
 * Which ids belong to an owner, in the order of their creation. The index is on disk. An owner's
 * ids are in memory once they were asked for.
 */
import { UUID_LENGTH, type Uuid } from '../../engine/base/units.ts';
import type { ControlTable } from './control-table.ts';
import type { Change } from './control-writer.ts';

export class OwnedIds {
  readonly #table: ControlTable<Uuid>;
  /** By owner, in the order of creation. */
  readonly #known = new Map<string, Set<Uuid>>();

  constructor(table: ControlTable<Uuid>) {
    this.#table = table;
  }

  /** Throws `ControlDamage`. */
  of(owner: string): ReadonlySet<Uuid> {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const ids = this.#read(owner);
    if (ids.size > 0) this.#known.set(owner, ids);
    return ids;
  }

  /** `key`: made by `ownedKey`. */
  putting(key: string, id: Uuid): Change {
    return {
      ...{ table: this.#table, key, value: id },
      keep: () => this.#changed(key).add(id),
    };
  }

  removing(key: string): Change {
    return {
      ...{ table: this.#table, key, value: undefined },
      keep: () => this.#changed(key).delete(idIn(key)),
    };
  }

  /** The ids of the owner of this key are read from disk again. */
  forget(key: string): void {
    this.#known.delete(ownerIn(key));
  }

  /** The owner's ids in memory, where they stay: the disk follows a little later. */
  #changed(key: string): Set<Uuid> {
    const owner = ownerIn(key);
    const ids = this.#known.get(owner) ?? this.#read(owner);
    this.#known.set(owner, ids);
    return ids;
  }

  #read(owner: string): Set<Uuid> {
    return new Set([...this.#table.under(`${owner}/`)].map(({ value }) => value));
  }
}

/** Ids are in the order of their creation. */
export function ownedKey(owner: string, id: Uuid): string {
  return `${owner}/${id}`;
}

const ownerIn = (key: string) => key.slice(0, -UUID_LENGTH - 1);
const idIn = (key: string): Uuid => key.slice(-UUID_LENGTH);
