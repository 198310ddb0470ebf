/** Rows in pages: each further page is put after the loaded rows. */
import { type Signal, signal } from '@preact/signals';
import { type Loaded, Loader, type Rows } from './loaded.ts';
import { report } from './problems.ts';

type Ask<Args extends readonly unknown[], Page> = (
  cursor: string | null,
  ...args: Args
) => Promise<Page>;

export class Pages<Args extends readonly unknown[], Row, Page extends Rows<Row>> {
  /** Whether a further page is on its way. */
  readonly isMoreComing: Signal<boolean> = signal(false);
  readonly #ask: Ask<Args, Page>;
  readonly #keyOf: (row: Row) => string;
  readonly #first: Loader<Args, Page>;
  #asked: Args | null = null;

  /** @param keyOf equal for a row that two pages have because it has moved: the first counts */
  constructor(ask: Ask<Args, Page>, keyOf: (row: Row) => string) {
    this.#ask = ask;
    this.#keyOf = keyOf;
    this.#first = new Loader((...args: Args) => ask(null, ...args));
  }

  get now(): Signal<Loaded<Page>> {
    return this.#first.now;
  }

  /** The first page. The loaded rows stay until it arrives. */
  async load(...args: Args): Promise<void> {
    this.#asked = args;
    await this.#first.load(...args);
  }

  /** The next page of the last request. */
  async more(): Promise<void> {
    const { value: now } = this.now;
    const asked = this.#asked;
    if (now.state !== 'ready' || now.value.nextCursor === null || asked === null) return;
    this.isMoreComing.value = true;
    try {
      const page = await this.#ask(now.value.nextCursor, ...asked);
      if (this.#asked !== asked) return;
      this.#first.change((before) => ({
        ...before,
        rows: this.#joined(before.rows, page.rows),
        nextCursor: page.nextCursor,
      }));
    } catch (error) {
      report(error);
    } finally {
      this.isMoreComing.value = false;
    }
  }

  clear(): void {
    this.#asked = null;
    this.#first.clear();
  }

  #joined(before: readonly Row[], more: readonly Row[]): readonly Row[] {
    const known = new Set(before.map(this.#keyOf));
    return [...before, ...more.filter((row) => !known.has(this.#keyOf(row)))];
  }
}
