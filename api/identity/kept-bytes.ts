/**
 * Values by their keys, as bytes beside the heap: garbage collection walks none of them, however many
 * there are. It is a cache: where its room ends it forgets all, and what it had is read again.
 *
 * A value and its key lie in chunks, one after another. A table of hashes says where. Rule A242
 * (api/RULES.md).
 */
import { invariant } from '../../engine/base/invariant.ts';

const CHUNK_BYTES = 2 ** 20;
const WORD_BYTES = 4;
const CHUNK_WORDS = CHUNK_BYTES / WORD_BYTES;
/** A longer key or value is not kept. */
const KEY_CHARACTERS_MAX = 200;
const VALUE_BYTES_MAX = 2 ** 16 - 1;
const FIRST_SLOTS = 64;
const DEFAULT_BYTES_MAX = 2 ** 27;

const FACTOR = 0x9e3779b1;

/** The key that is looked for, with zeros up to a whole word; UTF-8 takes three bytes a character. */
const sought = Buffer.alloc(KEY_CHARACTERS_MAX * 3 + WORD_BYTES);
const soughtWords = new Uint32Array(sought.buffer, sought.byteOffset, sought.length / WORD_BYTES);

/** Of the chunk that has the value: its bytes from `start` to `end`. */
type Read<T> = (bytes: Buffer, start: number, end: number) => T;

type Chunk = { readonly bytes: Buffer; readonly words: Uint32Array };

export class KeptBytes {
  readonly #chunksMax: number;
  #chunks: Chunk[] = [];
  /** Words that are taken in the last chunk. */
  #taken = CHUNK_WORDS;
  #size = 0;
  /** Where an entry begins, in words and one, beside the hash of its key; 0: free. */
  #places = new Uint32Array(FIRST_SLOTS);
  #hashes = new Uint32Array(FIRST_SLOTS);

  constructor(bytesMax = DEFAULT_BYTES_MAX) {
    this.#chunksMax = Math.max(1, Math.floor(bytesMax / CHUNK_BYTES));
  }

  get size(): number {
    return this.#size;
  }

  /** Whether another value has room, so that none is forgotten for it. */
  get hasRoom(): boolean {
    return this.#chunks.length < this.#chunksMax;
  }

  /** What `read` makes of the value of a key; undefined: it is not kept. */
  get<T>(key: string, read: Read<T>): T | undefined {
    if (this.#size === 0 || key.length > KEY_CHARACTERS_MAX) return undefined;
    const keyBytes = seek(key);
    const slot = this.#find(hashOfSought(keyBytes), keyBytes);
    if (slot === -1) return undefined;
    const place = this.#places[slot]! - 1;
    const { bytes, words } = this.#chunks[Math.floor(place / CHUNK_WORDS)]!;
    const at = place % CHUNK_WORDS;
    const start = (at + 1 + wordsOf(keyBytes)) * WORD_BYTES;
    return read(bytes, start, start + (words[at]! >>> 16));
  }

  has(key: string): boolean {
    return this.get(key, () => true) ?? false;
  }

  /** Keeps the bytes of `value` from `from` on, in the place of what the key had. */
  set(key: string, value: Uint8Array, from = 0): void {
    this.delete(key);
    const length = value.length - from;
    if (key.length > KEY_CHARACTERS_MAX || length > VALUE_BYTES_MAX) return;
    const keyBytes = seek(key);
    const hash = hashOfSought(keyBytes);
    const keyWords = wordsOf(keyBytes);
    const place = this.#room(1 + keyWords + wordsOf(length));
    const { bytes, words } = this.#chunks.at(-1)!;
    const at = place % CHUNK_WORDS;
    words[at] = (length << 16) | keyBytes;
    for (let word = 0; word < keyWords; word++) words[at + 1 + word] = soughtWords[word]!;
    bytes.set(value.subarray(from), (at + 1 + keyWords) * WORD_BYTES);
    if (this.#size * 2 >= this.#places.length) this.#grow();
    this.#place(hash, place + 1);
    this.#size++;
  }

  /** Forgets a key; its bytes are free once all are forgotten. */
  delete(key: string): void {
    if (this.#size === 0 || key.length > KEY_CHARACTERS_MAX) return;
    const keyBytes = seek(key);
    const found = this.#find(hashOfSought(keyBytes), keyBytes);
    if (found === -1) return;
    this.#size--;
    // Entries after it move up, so that a search still ends at the first free slot.
    const [places, hashes] = [this.#places, this.#hashes];
    const mask = places.length - 1;
    let free = found;
    for (let slot = (free + 1) & mask; places[slot] !== 0; slot = (slot + 1) & mask) {
      const fromItsOwn = (slot - hashes[slot]!) & mask;
      if (fromItsOwn < ((slot - free) & mask)) continue;
      places[free] = places[slot]!;
      hashes[free] = hashes[slot]!;
      free = slot;
    }
    places[free] = 0;
  }

  #clear(): void {
    this.#chunks = [];
    this.#taken = CHUNK_WORDS;
    this.#size = 0;
    this.#places = new Uint32Array(FIRST_SLOTS);
    this.#hashes = new Uint32Array(FIRST_SLOTS);
  }

  /** Takes so many words, all of one chunk. */
  #room(words: number): number {
    invariant(words <= CHUNK_WORDS, 'a value is larger than a chunk');
    if (this.#taken + words > CHUNK_WORDS) {
      if (!this.hasRoom) this.#clear();
      const bytes = Buffer.from(new ArrayBuffer(CHUNK_BYTES));
      this.#chunks.push({ bytes, words: new Uint32Array(bytes.buffer) });
      this.#taken = 0;
    }
    const place = (this.#chunks.length - 1) * CHUNK_WORDS + this.#taken;
    this.#taken += words;
    return place;
  }

  /** The slot of the key that is sought; -1: it has none. */
  #find(hash: number, keyBytes: number): number {
    const mask = this.#places.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = this.#places[slot]!;
      if (place === 0) return -1;
      if (this.#hashes[slot] === hash && this.#is(place - 1, keyBytes)) return slot;
    }
  }

  #is(place: number, keyBytes: number): boolean {
    const { words } = this.#chunks[Math.floor(place / CHUNK_WORDS)]!;
    const at = place % CHUNK_WORDS;
    if ((words[at]! & 0xffff) !== keyBytes) return false;
    const keyWords = wordsOf(keyBytes);
    for (let word = 0; word < keyWords; word++) {
      if (words[at + 1 + word] !== soughtWords[word]) return false;
    }
    return true;
  }

  #grow(): void {
    const [places, hashes] = [this.#places, this.#hashes];
    this.#places = new Uint32Array(places.length * 2);
    this.#hashes = new Uint32Array(places.length * 2);
    for (let slot = 0; slot < places.length; slot++) {
      if (places[slot] !== 0) this.#place(hashes[slot]!, places[slot]!);
    }
  }

  #place(hash: number, place: number): void {
    const mask = this.#places.length - 1;
    let slot = hash & mask;
    while (this.#places[slot] !== 0) slot = (slot + 1) & mask;
    this.#places[slot] = place;
    this.#hashes[slot] = hash;
  }
}

const wordsOf = (bytes: number) => (bytes + WORD_BYTES - 1) >>> 2;

/** Writes the key that is looked for; returns its bytes. */
function seek(key: string): number {
  const bytes = sought.write(key, 'utf8');
  for (let byte = bytes; byte < bytes + WORD_BYTES; byte++) sought[byte] = 0;
  return bytes;
}

function hashOfSought(keyBytes: number): number {
  let hash = keyBytes;
  for (let word = 0; word < wordsOf(keyBytes); word++) {
    hash = Math.imul(hash ^ soughtWords[word]!, FACTOR);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
