/**
 * The present rows of a table. A row is read from disk when it is first asked for, and its bytes are
 * kept in memory from then on. So are those of rows that a check has read. Of few rows the objects
 * are kept, too: of the latest that were asked for, and of those that were written. Missing rows are
 * not kept. Rules D70 (engine/RULES.md), A242 (api/RULES.md).
 */
import { SEAL_BYTES } from '../../engine/shard/store/checksummed.ts';
import { controlCodec } from './control-format.ts';
import type { ControlTable } from './control-table.ts';
import type { Change } from './control-writer.ts';
import { KeptBytes } from './kept-bytes.ts';
import { LatestValues } from './latest-values.ts';

export class ControlRows<V> {
  readonly #table: ControlTable<V>;
  readonly #opened: (row: V) => V;
  /** Written since the start; null: removed, which may not be on disk yet. */
  readonly #known = new Map<string, V | null>();
  /** Of rows as the disk has them. */
  readonly #kept = new KeptBytes();
  readonly #latest = new LatestValues<V>();
  /** Rows that are on disk otherwise than the check sees it; null: no check keeps rows now. */
  #changedInCheck: Set<string> | null = null;
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
    const latest = this.#latest.get(key);
    if (latest !== undefined) return latest;
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const row = this.#ofKept(key) ?? this.#read(key);
    if (row !== undefined) this.#latest.set(key, row);
    return row;
  }

  /** The same, without keeping it. */
  peek(key: string): V | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    return this.#ofKept(key) ?? this.#ofDisk(this.#table.read(key));
  }

  /** Whether the row exists, without a read of its content. */
  has(key: string): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) return known !== null;
    return this.#kept.has(key) || this.#table.has(key);
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
    this.#changed(key);
  }

  /** What `opened` makes of the row has changed to this. */
  reopened(key: string, value: V): void {
    if (this.#known.has(key)) this.#known.set(key, value);
    this.#latest.replace(key, value);
    this.#onChanged(key);
  }

  /**
   * Keeps what a check of the table reads, while there is room.
   *
   * @returns takes the rows of one transaction that begins now; `end` it at last
   */
  keepChecked(): { take: (key: string, value: Buffer) => void; end: () => void } {
    const changed = new Set<string>();
    this.#changedInCheck = changed;
    return {
      take: (key, value) => {
        if (this.#known.has(key) || changed.has(key) || !this.#kept.hasRoom) return;
        if (!this.#kept.has(key)) this.#kept.set(key, value, SEAL_BYTES);
      },
      end: () => {
        if (this.#changedInCheck === changed) this.#changedInCheck = null;
      },
    };
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#added.delete(key);
    this.#changed(key);
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
        this.#changed(key);
      },
      settle: () => this.#removed(key),
    };
  }

  /** What is kept of the row as the disk had it is outdated. */
  #changed(key: string): void {
    this.#latest.delete(key);
    this.#kept.delete(key);
    this.#changedInCheck?.add(key);
    this.#onChanged(key);
  }

  #ofKept(key: string): V | undefined {
    const row = this.#kept.get(key, (bytes, start, end) => {
      return controlCodec.unpack(bytes, start, end) as V;
    });
    return row === undefined ? undefined : this.#opened(row);
  }

  #read(key: string): V | undefined {
    const value = this.#table.read(key);
    if (value !== undefined) this.#kept.set(key, value, SEAL_BYTES);
    return this.#ofDisk(value);
  }

  #ofDisk(value: Buffer | undefined): V | undefined {
    if (value === undefined) return undefined;
    return this.#opened(controlCodec.unpack(value, SEAL_BYTES) as V);
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
