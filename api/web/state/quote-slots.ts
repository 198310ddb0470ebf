/**
 * Which quotes the stream carries: the shown ones, as many as a connection may have. A quote that
 * is shown no more stays for a while, because views and rows return.
 */

type Options = {
  /** Quotes at once. */
  max: number;
  /** For so long one stays that nothing shows. */
  lingerMs: number;
  open(id: string): void;
  close(id: string): void;
  later(run: () => void, ms: number): void;
};

export class QuoteSlots {
  readonly #options: Options;
  /** How many show it. */
  readonly #shown = new Map<string, number>();
  readonly #open = new Set<string>();
  /** The ids in `#open` that are not shown, the longest first; each hiding has its own object. */
  readonly #idle = new Map<string, object>();
  /** Shown, and without a slot. */
  readonly #waiting = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** It is shown, until the returned function is called. */
  show(id: string): () => void {
    this.#shown.set(id, (this.#shown.get(id) ?? 0) + 1);
    this.#idle.delete(id);
    if (!this.#open.has(id)) this.#request(id);
    let isShown = true;
    return () => {
      if (isShown) this.#hide(id);
      isShown = false;
    };
  }

  /** The stream is another one: all are opened again. */
  reopen(): void {
    for (const id of this.#open) this.#options.open(id);
  }

  #request(id: string): void {
    if (this.#open.size >= this.#options.max) {
      const [longest] = this.#idle.keys();
      if (longest === undefined) {
        this.#waiting.add(id);
        return;
      }
      this.#close(longest);
    }
    this.#waiting.delete(id);
    this.#open.add(id);
    this.#options.open(id);
  }

  #hide(id: string): void {
    const left = this.#shown.get(id)! - 1;
    if (left > 0) {
      this.#shown.set(id, left);
      return;
    }
    this.#shown.delete(id);
    this.#waiting.delete(id);
    if (this.#open.has(id)) this.#linger(id);
  }

  #linger(id: string): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#close(id);
      return this.#request(next);
    }
    const once = {};
    this.#idle.set(id, once);
    const { later, lingerMs } = this.#options;
    later(() => {
      if (this.#idle.get(id) === once) this.#close(id);
    }, lingerMs);
  }

  #close(id: string): void {
    this.#idle.delete(id);
    this.#open.delete(id);
    this.#options.close(id);
  }
}
