/** Why a call brought no answer, or a refusal. */
import type { ErrorCode } from './generated.js';
/** The server refused: branch on `code`, show `message`. */
export declare class RefusedError extends Error {
    readonly status: number;
    readonly code: ErrorCode;
    /** How long to wait; null if waiting does not help. */
    readonly retryAfterSeconds: number | null;
    /** Of `not_leader`: the address of the node that takes the request; null: none is known. */
    readonly leader: string | null;
    constructor(status: number, code: ErrorCode, message: string, retryAfterSeconds: number | null, leader?: string | null);
}
/** A message of a stream that was not answered. */
export declare class ConnectionLostError extends Error {
    /**
     * `not_sent`: the server never got it. `unknown`: it may have been done. An order is then sent
     * again under the same key, which places it once. A cancel can be sent again unchanged.
     */
    readonly outcome: 'not_sent' | 'unknown';
    /** Of an order. */
    readonly idempotencyKey: string | null;
    constructor(why: string, outcome: 'not_sent' | 'unknown', idempotencyKey: string | null);
}
/** The server's refusal, or the failure of a proxy in between. */
export declare function refusalOf(status: number, statusText: string, body: unknown): Error;
/**
 * The same address at the node that a refusal names; null: it is no address for what is sent to `own`,
 * since a credential that was sent over TLS is not sent without. Rules U90, U91 (api/RULES.md).
 */
export declare function addressAt(node: string, own: URL): URL | null;
