/**
 * Runs tasks with the same key one after another. In memory and bounded. Rule I38
 * (api/RULES.md).
 */
import { tooManySignIns } from './passwords.ts';

/** Tasks of one key that may wait for the running one. */
const WAITING_MAX = 32;

type Line = { length: number; end: Promise<unknown> };

export class Turns {
  readonly #lines = new Map<string, Line>();

  /** Runs once all earlier tasks with this key are done. Rejects with 503 when too many wait. */
  async take<T>(key: string, run: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { length: 0, end: Promise.resolve() };
    if (line.length > WAITING_MAX) throw tooManySignIns();
    this.#lines.set(key, line);
    line.length++;
    const result = line.end.then(run);
    // The next one runs, whether this one failed or not.
    line.end = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      if (--line.length === 0) this.#lines.delete(key);
    }
  }
}
