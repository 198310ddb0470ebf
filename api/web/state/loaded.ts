/** Data that is asked for on demand: on its way, loaded, or refused. Rule U44 (api/RULES.md). */
import { type Signal, signal } from '@preact/signals';
import { isOfAbsence } from './call-error.ts';

export type Loaded<Value> =
  | { state: 'loading' }
  | { state: 'failed'; error: unknown }
  | { state: 'ready'; value: Value };

/** Rows of a list, and where its next page begins; null: there is no further one. */
export type Rows<Row> = { rows: readonly Row[]; nextCursor: string | null };

/** Counts how often the server could be reached again. Then unanswered requests are repeated. */
export const comebacks = signal(0);
/** Something has no answer since the last of these. If a connection is open, another one is due. */
export const isMissing = signal(false);
/** What was kept although the server did not answer, and is asked for again once it does. */
const missed = new Set<() => void>();
comebacks.subscribe(() => {
  const again = [...missed];
  missed.clear();
  for (const run of again) run();
});

const LOADING = { state: 'loading' } as const;

/** The last answer to a question that is asked again with other words: the newest one counts. */
export class Loader<Args extends readonly unknown[], Value> {
  readonly now: Signal<Loaded<Value>> = signal(LOADING);
  readonly #ask: (...args: Args) => Promise<Value>;
  #asked = 0;
  /** The words of the question whose answer is there. */
  #answered: readonly unknown[] = [];

  constructor(ask: (...args: Args) => Promise<Value>) {
    this.#ask = ask;
  }

  /**
   * The loaded answer to the question that begins with these words. An answer to another question
   * does not count, so a view never begins with another view's data. Rule A117 (api/RULES.md).
   */
  of(...args: Partial<Args>): Loaded<Value> {
    const { value: now } = this.now;
    const given: readonly unknown[] = args;
    return textOf(this.#answered.slice(0, given.length)) === textOf(given) ? now : LOADING;
  }

  /**
   * The loaded data stays until the answer arrives. While the server is away, the last answer to the
   * same question stays, and it is asked again once the server is back.
   */
  async load(...args: Args): Promise<void> {
    if (this.now.value.state === 'failed') this.now.value = LOADING;
    await this.#take(args, (error) => {
      if (!isOfAbsence(error)) return false;
      isMissing.value = true;
      if (!this.#isThere(args)) return false;
      const asked = this.#asked;
      missed.add(() => {
        if (asked === this.#asked) void this.load(...args);
      });
      return true;
    });
  }

  /** Asks again for the shown data. It stays, even without an answer. */
  async refresh(...args: Args): Promise<void> {
    await this.#take(args, () => this.#isThere(args));
  }

  #isThere(args: Args): boolean {
    return this.of(...(args as Partial<Args>)).state === 'ready';
  }

  async #take(args: Args, isFailureNothing: (error: unknown) => boolean): Promise<void> {
    const asked = ++this.#asked;
    try {
      const value = await this.#ask(...args);
      if (asked !== this.#asked) return;
      this.#answered = args;
      this.now.value = { state: 'ready', value };
    } catch (error) {
      if (asked !== this.#asked || isFailureNothing(error)) return;
      this.#answered = args;
      this.now.value = { state: 'failed', error };
    }
  }

  /** Changes the loaded data by newer knowledge. */
  change(next: (value: Value) => Value): void {
    const { value: now } = this.now;
    if (now.state === 'ready') this.now.value = { state: 'ready', value: next(now.value) };
  }

  /** Nothing is there, and no answer that is on its way counts. */
  clear(): void {
    this.#asked++;
    this.now.value = LOADING;
  }
}

/** Words are texts, null, and objects of such, whose fields have one order. */
function textOf(words: readonly unknown[]): string {
  return JSON.stringify(words);
}
