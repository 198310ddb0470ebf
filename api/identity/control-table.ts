/**
 * A table of the control store, and its single values. Each value follows a checksum of its table,
 * its key and itself, which is checked at every read. Rule D24 (engine/RULES.md).
 */
import { inspect } from 'node:util';
import { crc32 } from 'node:zlib';
import type { Database, RangeOptions, Transaction } from 'lmdb';
import { SEAL_BYTES, sealedAt, unsealAt } from '../../engine/shard/store/checksummed.ts';
import { controlCodec } from './control-format.ts';

export const CONTROL_FILE = 'control/data.mdb';

/** The store is damaged; the message says where. */
export class ControlDamage extends Error {
  constructor(what: string) {
    super(`${CONTROL_FILE} is damaged: ${what}`);
    this.name = 'ControlDamage';
  }
}

/** Turns errors of LMDB and its key decoder about unreadable data into `ControlDamage`. */
export function readingControl<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ControlDamage(`${what}: ${(error as Error).message}`);
  }
}

export class ControlTable<V> {
  readonly name: string;
  readonly #table: Database<Buffer, string>;
  /** Prefix of the places of its values. */
  readonly #place: number;

  constructor(table: Database<Buffer, string>, name: string) {
    this.#table = table;
    this.name = name;
    this.#place = crc32(`${name} `);
  }

  /** Throws `ControlDamage`. */
  get(key: string): V | undefined {
    const value = this.read(key);
    return value === undefined ? undefined : opened(value);
  }

  /** A value as it is stored, from `SEAL_BYTES` on. Throws `ControlDamage`. */
  read(key: string): Buffer | undefined {
    const value = this.#reading(() => this.#table.get(key));
    if (value !== undefined) this.#checkSeal(key, value);
    return value;
  }

  put(key: string, value: V): Promise<boolean> {
    return this.putPacked(key, controlCodec.pack(value));
  }

  /** `packed`: by the codec of the control store. */
  putPacked(key: string, packed: Uint8Array): Promise<boolean> {
    return this.#table.put(key, this.#sealed(key, packed));
  }

  putSync(key: string, value: V): void {
    this.#table.putSync(key, this.#sealed(key, controlCodec.pack(value)));
  }

  remove(key: string): Promise<boolean> {
    return this.#table.remove(key);
  }

  get flushed(): Promise<unknown> {
    return this.#table.flushed;
  }

  /** Whether there is an entry, which may be damaged. Throws `ControlDamage`. */
  has(key: string): boolean {
    return this.#reading(() => this.#table.doesExist(key));
  }

  /** How many entries it should have. */
  get count(): number {
    return this.#reading(() => this.#table.getStats() as { entryCount: number }).entryCount;
  }

  /** All entries in order of keys. Throws `ControlDamage`, also if entries are missing. */
  *entries(): Generator<{ key: string; value: V }> {
    for (const { key, value } of this.#whole({}, this.count)) {
      yield { key, value: opened(value) };
    }
  }

  /**
   * Checks the `count` entries of a transaction, one per step. Throws `ControlDamage` if any is
   * damaged or missing.
   *
   * @param isWhole is given each that is whole, as `read` gives it
   */
  *check(
    transaction: Transaction,
    count: number,
    isWhole: (key: string, value: Buffer) => void = () => {},
  ): Generator<undefined, void> {
    for (const { key, value } of this.#whole({ transaction }, count)) {
      isWhole(key, value);
      yield;
    }
  }

  /** The entries whose keys begin with a prefix of ASCII. */
  under(prefix: string): Generator<{ key: string; value: V }> {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    return this.between(prefix, end);
  }

  /** The entries whose keys are at least `start` and less than `end`. */
  *between(start: string, end: string): Generator<{ key: string; value: V }> {
    for (const { key, value } of this.#range({ start, end })) {
      this.#checkSeal(key, value);
      yield { key, value: opened(value) };
    }
  }

  keys(options: RangeOptions): string[] {
    return this.#reading(() => [...this.#table.getKeys(options)]);
  }

  /** Each value, once its checksum matched. */
  *#whole(options: RangeOptions, count: number): Generator<{ key: string; value: Buffer }> {
    let seen = 0;
    let previous = '';
    for (const entry of this.#range(options)) {
      this.#checkOrder(previous, entry.key);
      this.#checkSeal(entry.key, entry.value);
      yield entry;
      previous = entry.key;
      seen++;
    }
    // A page that cannot be reached hides its entries.
    if (seen !== count) throw new ControlDamage(`of ${count} ${this.name} ${seen} can be read`);
  }

  *#range(options: RangeOptions): Generator<{ key: string; value: Buffer }> {
    const found = this.#reading(() => this.#table.getRange(options)[Symbol.iterator]());
    try {
      for (;;) {
        const next = this.#reading(() => found.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // An iterator that is not read to its end would hold its transaction, and its pages would
      // never be free.
      found.return?.();
    }
  }

  #reading<T>(read: () => T): T {
    return readingControl(this.name, read);
  }

  #checkOrder(previous: string, key: string): void {
    if (typeof key === 'string' && key > previous) return;
    throw new ControlDamage(`${this.name} [${inspect(key)}] is out of order after [${previous}]`);
  }

  #sealed(key: string, packed: Uint8Array): Buffer {
    return sealedAt(crc32(key, this.#place), packed);
  }

  #checkSeal(key: string, value: Buffer): void {
    if (unsealAt(crc32(key, this.#place), value)) return;
    throw new ControlDamage(`${this.name} [${key}] has changed since it was written`);
  }
}

function opened<V>(value: Buffer): V {
  return controlCodec.unpack(value, SEAL_BYTES) as V;
}
