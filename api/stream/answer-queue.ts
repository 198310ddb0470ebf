/**
 * A shard answers in batches: what it answers to one connection within a turn of the event loop is
 * one write.
 */
type Receiver = { sendAll(texts: readonly string[]): void };

export class AnswerQueue {
  readonly #texts = new Map<Receiver, string[]>();

  add(to: Receiver, text: string): void {
    if (this.#texts.size === 0) queueMicrotask(() => this.#sendAll());
    const waiting = this.#texts.get(to);
    if (waiting === undefined) this.#texts.set(to, [text]);
    else waiting.push(text);
  }

  /** Sends now what waits for one of them, so that it is before what is sent next. */
  flush(to: Receiver): void {
    const texts = this.#texts.get(to);
    if (texts === undefined) return;
    this.#texts.delete(to);
    to.sendAll(texts);
  }

  #sendAll(): void {
    const all = [...this.#texts];
    this.#texts.clear();
    for (const [to, texts] of all) to.sendAll(texts);
  }
}
