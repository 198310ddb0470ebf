/**
 * Writes the last uses of keys, some at a time. After an hour's pause every key of a busy server is
 * used again within seconds, and each is a page on disk. So these writes wait, and orders do not.
 * Rule I5 (api/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';

const WRITE_EVERY_MS = 100;
const WRITTEN_TOGETHER = 100;
/** At the end these writes slow nothing else down. */
const WRITTEN_AT_END = 5000;

/** Writes the present state of keys; resolves once they are on disk. */
type WriteKeys = (ids: readonly Uuid[]) => Promise<void>;

export class KeyUses {
  readonly #write: WriteKeys;
  /** Keys whose use is not on disk, the first used first. */
  readonly #waiting = new Set<Uuid>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: WriteKeys) {
    this.#write = write;
  }

  /** How many uses are not on disk. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * The key was used. `onFailed` is called when its group cannot be written; the write is retried.
   */
  note(id: Uuid, onFailed: (error: unknown) => void): void {
    this.#waiting.add(id);
    this.#writeLater(onFailed);
  }

  /** Writes all waiting uses; rejects if it cannot. No use may be noted after this. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#writing;
    while (this.#waiting.size > 0) await this.#writeSome(WRITTEN_AT_END);
  }

  #writeLater(onFailed: (error: unknown) => void): void {
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#writeSome(WRITTEN_TOGETHER).catch(onFailed);
      void this.#writing.then(() => {
        this.#timer = null;
        if (this.#waiting.size > 0) this.#writeLater(onFailed);
      });
    }, WRITE_EVERY_MS).unref();
  }

  async #writeSome(max: number): Promise<void> {
    const ids: Uuid[] = [];
    for (const id of this.#waiting) if (ids.push(id) === max) break;
    await this.#write(ids);
    for (const id of ids) this.#waiting.delete(id);
  }
}
