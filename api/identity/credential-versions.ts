/**
 * A number for each user, key and venue key that goes up when its row changes, in memory that all
 * threads share. So a thread with a copy of a row knows at each request whether it is the present
 * one. Rules A19, A131 (api/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';
import { uuidWord } from '../../engine/memory/uuid-words.ts';

/** Ids that share a number make a copy outdated too early, and never too late. */
const NUMBERS = 2 ** 14;

export function versionsMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT);
}

/** A row as it was seen: the place of its number, and the number. */
export type SeenRow = { readonly place: number; readonly number: number };

export class CredentialVersions {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;

  constructor(memory = versionsMemory()) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory);
  }

  /** Read it before the row. */
  of(id: Uuid): number {
    return Atomics.load(this.#numbers, placeOf(id));
  }

  /** The row as it is now: read the row in the same turn of the event loop. */
  see(id: Uuid): SeenRow {
    const place = placeOf(id);
    return { place, number: Atomics.load(this.#numbers, place) };
  }

  /** Whether the row is as it was seen. */
  isAsSeen({ place, number }: SeenRow): boolean {
    return Atomics.load(this.#numbers, place) === number;
  }

  /** Call it once the change of the row is effective. */
  changed(id: Uuid): void {
    Atomics.add(this.#numbers, placeOf(id), 1);
  }
}

const placeOf = (id: Uuid) => uuidWord(id, 3) % NUMBERS;
