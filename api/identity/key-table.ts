/** The keys in the control store, by id, by the hash of their token, and by user. */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { KEY_USE } from './control-format.ts';
import { type ControlIndexes, entriesOfKey } from './control-indexes.ts';
import { ControlRows } from './control-rows.ts';
import { ControlDamage } from './control-table.ts';
import type { ControlTables } from './control-tables.ts';
import { type Change, type ControlWriter, ending } from './control-writer.ts';
import { GroupedRows } from './grouped-rows.ts';
import { KeyUses } from './key-uses.ts';
import type { Key } from './keys.ts';

export class KeyTable {
  readonly #rows: ControlRows<Key>;
  readonly #indexes: ControlIndexes;
  readonly #writer: ControlWriter;
  readonly #uses: KeyUses;

  /** `onChanged`: called with the id of each key that has changed. */
  constructor(
    tables: Pick<ControlTables, 'keys' | 'keyUses'>,
    indexes: ControlIndexes,
    writer: ControlWriter,
    onChanged: (id: Uuid) => void,
  ) {
    this.#uses = new KeyUses(new GroupedRows(tables.keyUses, '', KEY_USE));
    this.#rows = new ControlRows(tables.keys, onChanged, (key) => this.#uses.withLast(key));
    this.#indexes = indexes;
    this.#writer = writer;
  }

  /** Throws where a key may have ended that this node still has. */
  get(id: Uuid): Key | undefined {
    this.requireCurrent();
    return this.#rows.get(id);
  }

  /** Throws where a key may have ended that this node still has. */
  requireCurrent(): void {
    this.#writer.requireCurrent();
  }

  /** Reads the last uses of keys into memory: `KeyUses.readStored`. */
  readUses(): Generator<undefined, void> {
    return this.#uses.readStored();
  }

  /** Keeps the rows that a check reads. */
  keepChecked() {
    return this.#rows.keepChecked();
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(id: Uuid): void {
    this.#rows.forget(id);
  }

  has(id: Uuid): boolean {
    return this.#rows.has(id);
  }

  /** All keys, the oldest first, in one turn of the event loop. */
  values(): Generator<Key> {
    return this.#rows.values();
  }

  /** Up to `max` keys from before an id, or the newest, without keeping them in memory. */
  before(id: Uuid | null, max: number): Key[] {
    return this.#rows.keysBefore(id, max).flatMap((key) => this.#rows.peek(key) ?? []);
  }

  /** A user's keys of any status, the oldest first. */
  of(userId: Uuid): Key[] {
    return [...this.#indexes.keyOwners.of(userId)].map((id) => this.#indexed(id, 'keyOwners'));
  }

  /** The key whose token has this hash, of any status. */
  byHash(hash: string): Key | undefined {
    const id = this.#indexes.keyHashes.get(hash);
    return id === undefined ? undefined : this.#indexed(id, 'keyHashes');
  }

  /**
   * Adds or replaces keys, all of them or none on disk. A change of a key is effective at once,
   * even if the disk is full: a revoked key is revoked.
   */
  async put(keys: readonly Key[]): Promise<void> {
    await this.#writer.write(keys.flatMap((key) => this.#putting(key)));
  }

  /** A key was used: known at once, and on disk a little later. */
  noteUse(key: Key, nowMs: EpochMs, onWriteFailed: (error: unknown) => void): void {
    this.#uses.note({ id: key.id, atMs: nowMs }, onWriteFailed);
    this.#rows.reopened(key.id, { ...key, lastUsedAtMs: nowMs });
  }

  /** Writes the uses that are not on disk yet. */
  close(): Promise<void> {
    return this.#uses.close();
  }

  #putting(key: Key): Change[] {
    const row = this.#rows.putting(key.id, key);
    // The hash and the user of an existing key never change.
    if (this.has(key.id)) return ending([row]);
    return [row, ...this.#indexes.changes(key.id, [], entriesOfKey(key))];
  }

  #indexed(id: Uuid, index: string): Key {
    const key = this.#rows.get(id);
    if (key === undefined) throw new ControlDamage(`keys [${id}] is missing, and in ${index}`);
    return key;
  }
}
