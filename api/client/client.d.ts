/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import { ConnectionLostError, RefusedError } from './errors.ts';
import type { Client as GeneratedClient, OperationContext, OperationPath, OperationTag, Ops, OrderBatchResults, OrderPlacement } from './generated.js';
import { type OperationId } from './generated.js';
import { Stream } from './stream.ts';
import type { StreamOptions } from './stream-types.ts';
export type * from './generated.js';
export type { Stream } from './stream.ts';
export type * from './stream-types.ts';
export { ConnectionLostError, RefusedError };
export type ClientOptions = {
    /** With the version: `https://paper.example/v1`. */
    baseUrl: string;
    /** An API key, or the access token of a session; a function is called at every request. */
    credential?: string | (() => string | Promise<string>);
    /**
     * How often a read or an order is retried without an answer or at a 503. The idempotency key of
     * an order makes sure that it is never placed twice. 0 by default.
     */
    retries?: number;
    /** Milliseconds that a server may take for one answer; 30 seconds by default. */
    timeoutMs?: number;
};
export type Client = GeneratedClient<Ops, OperationContext<OperationId, OperationPath, OperationTag>> & {
    /** Opens the stream; throws `TypeError` for an option that cannot be. */
    stream(options?: StreamOptions): Stream;
};
/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 * `client.stream()` opens the stream.
 */
export declare function createClient({ baseUrl, credential, retries, timeoutMs, }: ClientOptions): Client;
/** The outcome of each order of a batch, in their order: its placement, or its refusal. */
export declare function outcomesOf({ results }: OrderBatchResults): (OrderPlacement | RefusedError)[];
