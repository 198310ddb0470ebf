/**
 * A shard answers in batches. Its answers to one connection within a turn of the event loop are one
 * write.
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

  /** Sends the waiting answers of a connection now, so that they precede the next message. */
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
