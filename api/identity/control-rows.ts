/**
 * The present rows of a table. A row is read from disk when it is first asked for, and kept in
 * memory from then on. Missing rows are not kept. Rule D70 (engine/RULES.md).
 */
import type { ControlTable } from './control-table.ts';
import type { Change } from './control-writer.ts';

export class ControlRows<V> {
  readonly #table: ControlTable<V>;
  readonly #opened: (row: V) => V;
  /** Read or written since the start; null: removed, which may not be on disk yet. */
  readonly #known = new Map<string, V | null>();
  /** Added since the start, in that order. */
  readonly #added = new Set<string>();
  /** Called with the key of each row that has changed or is removed, once that is effective. */
  readonly #onChanged: (key: string) => void;
  /** How many removals of a key are not on disk yet. */
  readonly #removals = new Map<string, number>();

  /** `opened`: a row as it is, of what its table has. */
  constructor(
    table: ControlTable<V>,
    onChanged: (key: string) => void = () => {},
    opened: (row: V) => V = (row) => row,
  ) {
    this.#table = table;
    this.#onChanged = onChanged;
    this.#opened = opened;
  }

  /** Throws `ControlDamage`. */
  get(key: string): V | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const read = this.#read(key);
    if (read !== undefined) this.#known.set(key, read);
    return read;
  }

  /** The same, without keeping it. */
  peek(key: string): V | undefined {
    const known = this.#known.get(key);
    return known === undefined ? this.#read(key) : (known ?? undefined);
  }

  /** Whether the row exists, without a read of its content. */
  has(key: string): boolean {
    const known = this.#known.get(key);
    return known === undefined ? this.#table.has(key) : known !== null;
  }

  /**
   * All rows. Rows from before the start are first, in order of their keys. The others follow in
   * the order in which they were added. Read them within one turn of the event loop. Throws
   * `ControlDamage`.
   */
  *values(): Generator<V> {
    for (const { key, value } of this.#table.entries()) {
      const known = this.#known.get(key);
      if (known === null || this.#added.has(key)) continue;
      yield known ?? this.#opened(value);
    }
    for (const key of this.#added) yield this.#known.get(key)!;
  }

  /** The keys of up to `max` rows on disk after `key`. */
  keysAfter(key: string, max: number): string[] {
    return this.#table.keys({ start: key, exclusiveStart: true, limit: max });
  }

  /** The same, backwards: the keys before `key`, or the last ones. */
  keysBefore(key: string | null, max: number): string[] {
    const from = key === null ? {} : { start: key, exclusiveStart: true };
    return this.#table.keys({ ...from, reverse: true, limit: max });
  }

  /** Changes a row in memory alone. */
  keep(key: string, value: V): void {
    if (!this.has(key)) this.#added.add(key);
    this.#known.set(key, value);
    this.#onChanged(key);
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#added.delete(key);
    this.#onChanged(key);
  }

  putting(key: string, value: V): Change {
    return {
      ...{ table: this.#table, key, value },
      keep: () => this.keep(key, value),
    };
  }

  removing(key: string): Required<Pick<Change, 'settle'>> & Change {
    return {
      ...{ table: this.#table, key, value: undefined },
      keep: () => {
        this.#known.set(key, null);
        this.#added.delete(key);
        this.#removals.set(key, (this.#removals.get(key) ?? 0) + 1);
        this.#onChanged(key);
      },
      settle: () => this.#removed(key),
    };
  }

  #read(key: string): V | undefined {
    const row = this.#table.get(key);
    return row === undefined ? undefined : this.#opened(row);
  }

  #removed(key: string): void {
    const left = this.#removals.get(key)! - 1;
    if (left > 0) {
      this.#removals.set(key, left);
      return;
    }
    this.#removals.delete(key);
    if (this.#known.get(key) === null) this.#known.delete(key);
  }
}
