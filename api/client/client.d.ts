/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import type { ErrorCode, Ops } from './generated.js';
export type * from './generated.js';
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
/** The server refused: branch on `code`, show `message`. */
export declare class RefusedError extends Error {
    readonly status: number;
    readonly code: ErrorCode;
    /** How long to wait; null where waiting does not help. */
    readonly retryAfterSeconds: number | null;
    constructor(status: number, code: ErrorCode, message: string, retryAfterSeconds: number | null);
}
/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 */
export declare function createClient({ baseUrl, credential, retries, timeoutMs }: ClientOptions): import("./generated.js").Client<Ops, import("./generated.js").OperationContext<"cancelOrder" | "cancelOrders" | "changeMe" | "createKey" | "exportHistory" | "getBook" | "getCandles" | "getDescription" | "getGame" | "getHistory" | "getHistoryAsOf" | "getInstrument" | "getMe" | "getOrder" | "getPortfolio" | "getQuote" | "getStatus" | "getUsage" | "listEvents" | "listGames" | "listInstruments" | "listKeys" | "listOrders" | "listOrganizations" | "listQuotes" | "listTrades" | "placeOrder" | "placeOrders" | "previewOrder" | "revokeKey" | "rotateKey" | "searchInstruments", "/api_keys" | "/api_keys/{id}" | "/api_keys/{id}/rotate" | "/games" | "/games/{ref}" | "/history" | "/history/as_of" | "/history/candles" | "/history/export" | "/instruments" | "/instruments/search" | "/instruments/{ref}" | "/instruments/{ref}/book" | "/instruments/{ref}/quote" | "/me" | "/openapi.json" | "/organizations" | "/portfolio" | "/portfolio/events" | "/portfolio/orders" | "/portfolio/orders/batch" | "/portfolio/orders/preview" | "/portfolio/orders/{orderId}" | "/portfolio/trades" | "/quotes" | "/status" | "/usage", "History" | "Keys" | "Markets" | "Portfolio" | "Service" | "Trading">>;
export type Client = ReturnType<typeof createClient>;
