/**
 * Values as objects, by their keys: those of the last moments, and those that are asked for again
 * and again. So a request that asks for a value some times makes its object once, and a key that is
 * used now and then leaves nothing that garbage collection must copy. Rule A242 (api/RULES.md).
 *
 * Each key has a place among the last ones, and another among the frequent ones. A later key takes it.
 */
const LAST = 256;
const FREQUENT = 2 ** 14;
/** Of a key, whose last characters are random in a uuid and in a hash. */
const CHARACTERS = 7;
const FACTOR = 0x01000193;

export class LatestValues<V> {
  readonly #last = new Places<V>(LAST);
  readonly #frequent = new Places<V>(FREQUENT);
  readonly #came = new Came();

  get(key: string): V | undefined {
    const hash = hashOf(key);
    return this.#last.get(hash, key) ?? this.#frequent.get(hash, key);
  }

  set(key: string, value: V): void {
    const hash = hashOf(key);
    this.#last.set(hash, key, value);
    if (this.#came.again(hash)) this.#frequent.set(hash, key, value);
  }

  /** The value of a key has changed; it is not asked for again. */
  replace(key: string, value: V): void {
    const hash = hashOf(key);
    this.#last.set(hash, key, value);
    if (this.#frequent.get(hash, key) !== undefined) this.#frequent.set(hash, key, value);
  }

  delete(key: string): void {
    const hash = hashOf(key);
    this.#last.delete(hash, key);
    this.#frequent.delete(hash, key);
  }
}

/** Which keys came of late, as numbers: to remember a key that comes once costs no object. */
class Came {
  readonly #hashes = new Int32Array(FREQUENT);

  /** Whether it came before, and no other key has come to its place since. */
  again(hash: number): boolean {
    const place = hash & (FREQUENT - 1);
    if (this.#hashes[place] === hash) return true;
    this.#hashes[place] = hash;
    return false;
  }
}

/** Tells which texts come again, of many that come once. */
export class Repeats {
  readonly #came = new Came();

  /** Whether it came before, as far as that is remembered. */
  again(text: string): boolean {
    return this.#came.again(hashOf(text));
  }
}

class Places<V> {
  readonly #mask: number;
  /** Empty until there is a value. */
  #keys: string[] = [];
  #values: (V | undefined)[] = [];

  constructor(places: number) {
    this.#mask = places - 1;
  }

  get(hash: number, key: string): V | undefined {
    const place = hash & this.#mask;
    return this.#keys[place] === key ? this.#values[place] : undefined;
  }

  set(hash: number, key: string, value: V): void {
    if (this.#keys.length === 0) {
      this.#keys = new Array(this.#mask + 1).fill('');
      this.#values = new Array(this.#mask + 1).fill(undefined);
    }
    const place = hash & this.#mask;
    this.#keys[place] = key;
    this.#values[place] = value;
  }

  delete(hash: number, key: string): void {
    const place = hash & this.#mask;
    if (this.#keys[place] === key) this.#values[place] = undefined;
  }
}

function hashOf(key: string): number {
  const { length } = key;
  let hash = length;
  for (let at = Math.max(0, length - CHARACTERS); at < length; at++) {
    hash = Math.imul(hash, FACTOR) + key.charCodeAt(at);
  }
  return hash ^ (hash >>> 15);
}
