/**
 * When keys were last used. After an hour's pause every key of a busy server is used again within
 * seconds, and the row of each is in another page of the disk. So a use is a small row of its own,
 * and those of a second are written together. Rules I5, Q27 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { ByteReader, ByteWriter } from '../../engine/format/bytes.ts';
import { compile } from '../../engine/format/layout.ts';
import { KEY_USE, type KeyUse } from './control-format.ts';
import type { GroupedRows } from './grouped-rows.ts';
import type { Key } from './keys.ts';
import { PackedRows } from './packed-rows.ts';

const WRITE_EVERY_MS = 1000;

const layout = compile(KEY_USE.layout);
const writer = new ByteWriter();

export class KeyUses {
  readonly #rows: Pick<GroupedRows<KeyUse>, 'get' | 'write'>;
  /** The last use of each key that was used since the start. */
  readonly #sinceStart = new PackedRows(KEY_USE.rowBytes);
  /** Uses that are not on disk. */
  #waiting = new Map<Uuid, KeyUse>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(rows: Pick<GroupedRows<KeyUse>, 'get' | 'write'>) {
    this.#rows = rows;
  }

  /** How many uses are not on disk. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A key as its row has it, with its last use since the start. */
  withOwn(key: Key): Key {
    const use = this.#sinceStart.find(key.id);
    return use === undefined ? key : usedAt(key, layout.read(new ByteReader(use)).atMs);
  }

  /** The same, with a use of before the start, too. Throws `ControlDamage`. */
  withLast(key: Key): Key {
    if (this.#sinceStart.find(key.id) !== undefined) return this.withOwn(key);
    return usedAt(key, this.#rows.get(key.id)?.atMs ?? 0);
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

function usedAt(key: Key, atMs: EpochMs): Key {
  return atMs <= (key.lastUsedAtMs ?? 0) ? key : { ...key, lastUsedAtMs: atMs };
}
