/** Messages of a stream that wait for their answers. Rule J3 (api/RULES.md). */
import { ConnectionLostError, refusalOf } from './errors.js';
/** At most so many wait. No client has more orders under way. */
const WAITING_MAX = 10_000;
export class Calls {
    #timeoutMs;
    /** By their ids, in the order in which they were sent. */
    #waiting = new Map();
    #ids = 0;
    constructor(timeoutMs) {
        this.#timeoutMs = timeoutMs;
    }
    /** @param send returns whether the message was sent */
    call(message, send, caller) {
        this.#ids++;
        const isFull = this.#waiting.size >= WAITING_MAX;
        if (isFull || !send({ id: this.#ids, ...message })) {
            const why = isFull ? 'too many messages wait for answers' : 'the stream is not ready';
            return caller.failed(new ConnectionLostError(why, 'not_sent', caller.idempotencyKey));
        }
        this.#waiting.set(this.#ids, { ...caller, sentAtMs: performance.now() });
    }
    take({ id, status, body }) {
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (waiting === undefined)
            return;
        if (status < 300)
            waiting.answered(body);
        else
            waiting.failed(refusalOf(status, '', body));
    }
    /** Messages that have waited too long are answered no more. */
    expire() {
        const nowMs = performance.now();
        for (const [id, { sentAtMs }] of this.#waiting) {
            if (nowMs - sentAtMs < this.#timeoutMs)
                return;
            this.#fail(id, 'the server did not answer in time');
        }
    }
    /** The connection was lost, and with it every answer. */
    lose(why) {
        for (const id of [...this.#waiting.keys()])
            this.#fail(id, why);
    }
    #fail(id, why) {
        const { failed, idempotencyKey } = this.#waiting.get(id);
        this.#waiting.delete(id);
        failed(new ConnectionLostError(why, 'unknown', idempotencyKey));
    }
}
