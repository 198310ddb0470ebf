/**
 * The present rows of a table. A row is read from disk when it is first asked for, and kept in
 * memory from then on. Missing rows are not kept. Rule D70 (engine/RULES.md).
 */
import type { ControlTable } from './control-table.ts';
import type { Change } from './control-writer.ts';

/**
 * A row that is kept in memory. `value` is the row as it is now. Null: it is removed, which may not
 * be on disk yet. Undefined: it is kept no more, and has to be asked for again.
 */
export type KeptRow<V> = { readonly value: V | null | undefined };

type Kept<V> = { value: V | null | undefined };

export class ControlRows<V> {
  readonly #table: ControlTable<V>;
  readonly #opened: (row: V) => V;
  /** Read or written since the start. */
  readonly #known = new Map<string, Kept<V>>();
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
    return this.kept(key)?.value ?? undefined;
  }

  /** The row, which stays what the table has; undefined: there is none. Throws `ControlDamage`. */
  kept(key: string): KeptRow<V> | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = this.#read(key);
    if (value === undefined) return undefined;
    const row = { value };
    this.#known.set(key, row);
    return row;
  }

  /** The same, without keeping it. */
  peek(key: string): V | undefined {
    const known = this.#known.get(key);
    return known === undefined ? this.#read(key) : (known.value ?? undefined);
  }

  /** Whether the row exists, without a read of its content. */
  has(key: string): boolean {
    const known = this.#known.get(key);
    return known === undefined ? this.#table.has(key) : known.value !== null;
  }

  /**
   * All rows. Rows from before the start are first, in order of their keys. The others follow in
   * the order in which they were added. Read them within one turn of the event loop. Throws
   * `ControlDamage`.
   */
  *values(): Generator<V> {
    for (const { key, value } of this.#table.entries()) {
      const known = this.#known.get(key);
      if (known?.value === null || this.#added.has(key)) continue;
      yield known?.value ?? this.#opened(value);
    }
    for (const key of this.#added) yield this.#known.get(key)!.value!;
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
    this.#set(key, value);
    this.#onChanged(key);
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(key: string): void {
    this.#drop(key);
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
        this.#set(key, null);
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
    if (this.#known.get(key)?.value === null) this.#drop(key);
  }

  #set(key: string, value: V | null): void {
    const known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, { value });
    else known.value = value;
  }

  #drop(key: string): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.value = undefined;
    this.#known.delete(key);
  }
}
