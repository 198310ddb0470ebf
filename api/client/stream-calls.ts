/** Messages of a stream that wait for their answers. Rule J3 (api/RULES.md). */
import { ConnectionLostError, refusalOf } from './errors.ts';

/** At most so many wait. No client has more orders under way. */
const WAITING_MAX = 10_000;

/** An answer of the server. */
export type Answer = { id: number; status: number; body: unknown };
/** Gets an answer at once: later messages about it may be in the same packet. */
export type Caller = {
  answered(body: unknown): void;
  /** `RefusedError`, or `ConnectionLostError`. */
  failed(error: Error): void;
  /** Of an order. */
  idempotencyKey: string | null;
};
type Waiting = Caller & { sentAtMs: number };

export class Calls {
  readonly #timeoutMs: number;
  /** By their ids, in the order in which they were sent. */
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @param send returns whether the message was sent */
  call(message: object, send: (message: object) => boolean, caller: Caller): void {
    this.#ids++;
    const isFull = this.#waiting.size >= WAITING_MAX;
    if (isFull || !send({ id: this.#ids, ...message })) {
      const why = isFull ? 'too many messages wait for answers' : 'the stream is not ready';
      return caller.failed(new ConnectionLostError(why, 'not_sent', caller.idempotencyKey));
    }
    this.#waiting.set(this.#ids, { ...caller, sentAtMs: performance.now() });
  }

  take({ id, status, body }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting === undefined) return;
    if (status < 300) waiting.answered(body);
    else waiting.failed(refusalOf(status, '', body));
  }

  /** Messages that have waited too long are answered no more. */
  expire(): void {
    const nowMs = performance.now();
    for (const [id, { sentAtMs }] of this.#waiting) {
      if (nowMs - sentAtMs < this.#timeoutMs) return;
      this.#fail(id, 'the server did not answer in time');
    }
  }

  /** The connection was lost, and with it every answer. */
  lose(why: string): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, why);
  }

  #fail(id: number, why: string): void {
    const { failed, idempotencyKey } = this.#waiting.get(id)!;
    this.#waiting.delete(id);
    failed(new ConnectionLostError(why, 'unknown', idempotencyKey));
  }
}
