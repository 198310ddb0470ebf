/** What is asked for once it is wanted: on its way, there, or refused. */
import { type Signal, signal } from '@preact/signals';

export type Loaded<Value> =
  | { state: 'loading' }
  | { state: 'failed'; error: unknown }
  | { state: 'ready'; value: Value };

/** Rows of a list, and where its next page begins; null: there is no further one. */
export type Rows<Row> = { rows: readonly Row[]; nextCursor: string | null };

/** The last answer to a question that is asked again with other words: the newest one counts. */
export class Loader<Args extends readonly unknown[], Value> {
  readonly now: Signal<Loaded<Value>> = signal({ state: 'loading' });
  readonly #ask: (...args: Args) => Promise<Value>;
  #asked = 0;

  constructor(ask: (...args: Args) => Promise<Value>) {
    this.#ask = ask;
  }

  /** What is there stays until the answer comes. */
  async load(...args: Args): Promise<void> {
    if (this.now.value.state === 'failed') this.now.value = { state: 'loading' };
    await this.#take(args, () => false);
  }

  /** Asks again for what is shown. What is there stays, too, where no answer comes. */
  async refresh(...args: Args): Promise<void> {
    await this.#take(args, () => this.now.value.state === 'ready');
  }

  async #take(args: Args, isFailureNothing: () => boolean): Promise<void> {
    const asked = ++this.#asked;
    try {
      const value = await this.#ask(...args);
      if (asked === this.#asked) this.now.value = { state: 'ready', value };
    } catch (error) {
      if (asked !== this.#asked || isFailureNothing()) return;
      this.now.value = { state: 'failed', error };
    }
  }

  /** Changes what is there, by what is known of it since. */
  change(next: (value: Value) => Value): void {
    const { value: now } = this.now;
    if (now.state === 'ready') this.now.value = { state: 'ready', value: next(now.value) };
  }

  /** Nothing is there, and no answer that is on its way counts. */
  clear(): void {
    this.#asked++;
    this.now.value = { state: 'loading' };
  }
}
