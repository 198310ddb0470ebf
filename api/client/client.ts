/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import { ConnectionLostError, RefusedError, refusalOf } from './errors.ts';
import type {
  ClientConfig,
  Client as GeneratedClient,
  OperationContext,
  OperationPath,
  OperationTag,
  Ops,
  OrderBatchResults,
  OrderPlacement,
} from './generated.js';
import { createClient as createGenerated, OPERATIONS, type OperationId } from './generated.js';
import { Stream } from './stream.ts';
import { streamParts } from './stream-parts.ts';
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

/** Never waits longer than this, even if the server asks for more. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;

export type Client = GeneratedClient<
  Ops,
  OperationContext<OperationId, OperationPath, OperationTag>
> & {
  /** Opens the stream; throws `TypeError` for an option that cannot be. */
  stream(options?: StreamOptions): Stream;
};

/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 * `client.stream()` opens the stream.
 */
export function createClient({
  baseUrl,
  credential,
  retries = 0,
  timeoutMs,
}: ClientOptions): Client {
  const timeout = timeoutMs ?? ANSWERS_WITHIN_MS;
  const calls = createGenerated<Ops, OperationId, OperationPath, OperationTag>(OPERATIONS, {
    serverUrl: baseUrl,
    ...(credential === undefined ? {} : { auth: { bearer: credential } }),
    clientHeader: false,
    timeout,
    retry: { retries, retryDelay: FIRST_RETRY_MS, retryOn: mayRetry },
    // No server of this API redirects, so a redirect would only send secrets elsewhere.
    fetch: (url, init) => fetch(url, { ...init, redirect: 'error' }),
    onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
  });
  const stream = (options: StreamOptions = {}) => {
    return new Stream(streamParts({ baseUrl, credential, timeoutMs: timeout }, options));
  };
  return Object.assign(calls, { stream });
}

type RetryOn = NonNullable<NonNullable<ClientConfig['retry']>['retryOn']>;

/** The keys of their orders make sure that each is placed once. */
const REPEATABLE: ReadonlySet<string> = new Set<OperationId>(['placeOrder', 'placeOrders']);

/** Any other call may have taken effect although its answer was lost. */
const mayRetry: RetryOn = ({ request: { method, operation }, response }) => {
  if (method !== 'GET' && !REPEATABLE.has(operation.id)) return false;
  if (response === undefined) return true;
  const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
  return response.status === 503 && waitSeconds <= RETRY_AFTER_SECONDS_MAX;
};

/** The outcome of each order of a batch, in their order: its placement, or its refusal. */
export function outcomesOf({ results }: OrderBatchResults): (OrderPlacement | RefusedError)[] {
  return results.map(({ status, body }) => {
    if (!('error' in body)) return body;
    const { code, message, retryAfterSeconds = null } = body.error;
    return new RefusedError(status, code, message, retryAfterSeconds);
  });
}
