/**
 * When keys were last used. After an hour's pause every key of a busy server is used again within
 * seconds, and the row of each is in another page of the disk. So a use is a small row of its own,
 * and those of a second are written together. Rules I5, Q27 (api/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';
import { ByteReader, ByteWriter } from '../../engine/format/bytes.ts';
import { compile } from '../../engine/format/layout.ts';
import { KEY_USE, type KeyUse } from './control-format.ts';
import type { GroupedRows } from './grouped-rows.ts';
import type { Key } from './keys.ts';
import { PackedRows } from './packed-rows.ts';

const WRITE_EVERY_MS = 1000;

const layout = compile(KEY_USE.layout);
const writer = new ByteWriter();

type StoredUses = Pick<GroupedRows<KeyUse>, 'early' | 'readEarly' | 'write'>;

export class KeyUses {
  readonly #rows: StoredUses;
  /** The last use of each key that was used since the start. */
  readonly #sinceStart = new PackedRows(KEY_USE.rowBytes);
  /** Uses that are not on disk. */
  #waiting = new Map<Uuid, KeyUse>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(rows: StoredUses) {
    this.#rows = rows;
  }

  /** How many uses are not on disk. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A key as its row has it, with its last use. Throws `ControlDamage`. */
  withLast(key: Key): Key {
    const own = this.#sinceStart.find(key.id);
    const use = own === undefined ? this.#rows.early(key.id) : layout.read(new ByteReader(own));
    if (use === undefined || use.atMs <= (key.lastUsedAtMs ?? 0)) return key;
    return { ...key, lastUsedAtMs: use.atMs };
  }

  /** Reads the uses of before the start into memory, some a step. Throws `ControlDamage`. */
  readStored(): Generator<undefined, void> {
    return this.#rows.readEarly();
  }

  /** A key was used. `onFailed` is called when uses cannot be written; they are tried again. */
  note(use: KeyUse, onFailed: (error: unknown) => void): void {
    this.#waiting.set(use.id, use);
    writer.begin();
    layout.write(writer, use);
    this.#sinceStart.add(writer.copy());
    this.#writeLater(onFailed);
  }

  /** Writes all waiting uses; rejects if it cannot. No use may be noted after this. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#writing;
    if (this.#waiting.size > 0) await this.#write();
  }

  #writeLater(onFailed: (error: unknown) => void): void {
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write().catch(onFailed);
      void this.#writing.then(() => {
        this.#timer = null;
        if (this.#waiting.size > 0) this.#writeLater(onFailed);
      });
    }, WRITE_EVERY_MS).unref();
  }

  async #write(): Promise<void> {
    const uses = [...this.#waiting.values()];
    await this.#rows.write(uses);
    for (const use of uses) if (this.#waiting.get(use.id) === use) this.#waiting.delete(use.id);
  }
}
