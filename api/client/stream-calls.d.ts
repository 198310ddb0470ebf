/** An answer of the server. */
export type Answer = {
    id: number;
    status: number;
    body: unknown;
};
/** Gets an answer at once: later messages about it may be in the same packet. */
export type Caller = {
    answered(body: unknown): void;
    /** `RefusedError`, or `ConnectionLostError`. */
    failed(error: Error): void;
    /** Of an order. */
    idempotencyKey: string | null;
};
export declare class Calls {
    #private;
    constructor(timeoutMs: number);
    /** @param send returns whether the message was sent */
    call(message: object, send: (message: object) => boolean, caller: Caller): void;
    take({ id, status, body }: Answer): void;
    /** Messages that have waited too long are answered no more. */
    expire(): void;
    /** The connection was lost, and with it every answer. */
    lose(why: string): void;
}
