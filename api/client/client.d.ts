/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import { ConnectionLostError, RefusedError } from './errors.ts';
import type { Client as GeneratedClient, OperationContext, OperationPath, OperationTag, Ops, OrderBatchResults, OrderPlacement, OrderRequest, RequestOptions } from './generated.js';
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
type FieldsOf<Order> = Order extends unknown ? keyof Order : never;
type ValueOf<Order, Field> = Order extends unknown ? Field extends keyof Order ? NonNullable<Order[Field]> : never : never;
/** The fields of all kinds of orders, for an order whose kind is chosen as a program runs. */
export type OrderFields = Pick<OrderRequest, 'action' | 'type'> & {
    [Field in Exclude<FieldsOf<OrderRequest>, 'action' | 'type'>]?: ValueOf<OrderRequest, Field>;
};
type Calls = GeneratedClient<Ops, OperationContext<OperationId, OperationPath, OperationTag>>;
/** The list in each page of a paged call. */
export declare const ROWS: {
    readonly listInstruments: 'instruments';
    readonly listGames: 'games';
    readonly getHistory: 'quotes';
    readonly getCandles: 'candles';
    readonly listTrades: 'trades';
    readonly listOrders: 'orders';
    readonly listEvents: 'events';
    readonly getLeaderboard: 'rows';
    readonly listPicks: 'picks';
    readonly getEval: 'rows';
};
type Rows = typeof ROWS;
type Paged = keyof Rows;
type NameOf<Call> = Call extends `${'list' | 'get'}${infer Name}` ? `iter${Name}` : never;
type RowOf<Call extends Paged> = Ops[Call]['result'] extends Record<Rows[Call], (infer Row)[]> ? Row : never;
type Asked<Call extends Paged> = Record<never, never> extends Ops[Call]['args'] ? [input?: Ops[Call]['args'], init?: RequestOptions] : [input: Ops[Call]['args'], init?: RequestOptions];
/** `iterTrades`, `iterOrders`, …: every row of a paged call, asked for page by page. Rule U60. */
export type Iterators = {
    [Call in Paged as NameOf<Call>]: (...asked: Asked<Call>) => AsyncGenerator<RowOf<Call>, void, undefined>;
};
export type Client = Calls & Iterators & {
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
