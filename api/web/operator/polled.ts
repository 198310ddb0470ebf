/** An answer that is asked for repeatedly while it is on the screen. */
import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export type Latest<Value> = {
  /** Null: no answer has arrived yet. */
  value: Value | null;
  atMs: number;
  /** Why no newer one came; null: it is the newest. */
  error: unknown;
};

export class Polled<Value> {
  readonly now: Signal<Latest<Value>> = signal({ value: null, atMs: 0, error: null });
  readonly #ask: () => Promise<Value>;
  #asked = 0;

  constructor(ask: () => Promise<Value>) {
    this.#ask = ask;
  }

  /** Without a new answer the old one stays: an old state is better than none. */
  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const value = await this.#ask();
      if (asked === this.#asked) this.now.value = { value, atMs: Date.now(), error: null };
    } catch (error) {
      if (asked === this.#asked) this.now.value = { ...this.now.value, error };
    }
  }

  clear(): void {
    this.#asked++;
    this.now.value = { value: null, atMs: 0, error: null };
  }
}

/** Asks at once, and then at this interval while the page is visible. */
export function usePolled(polled: Polled<unknown>, everyMs: number): void {
  useEffect(() => {
    let timer: number | undefined;
    let isOver = false;
    const step = async () => {
      await polled.load();
      clearTimeout(timer);
      if (!isOver && !document.hidden) timer = setTimeout(step, everyMs);
    };
    const onVisibility = () => {
      clearTimeout(timer);
      if (!document.hidden) void step();
    };
    document.addEventListener('visibilitychange', onVisibility);
    void step();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [polled, everyMs]);
}
