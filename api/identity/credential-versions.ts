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

export class CredentialVersions {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;

  constructor(memory = versionsMemory()) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory);
  }

  /** Read it before the row. */
  of(id: Uuid): number {
    return Atomics.load(this.#numbers, uuidWord(id, 3) % NUMBERS);
  }

  /** Call it once the change of the row is effective. */
  changed(id: Uuid): void {
    Atomics.add(this.#numbers, uuidWord(id, 3) % NUMBERS, 1);
  }
}
