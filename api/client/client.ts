/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import type { ClientConfig, ErrorCode, OperationPath, OperationTag, Ops } from './generated.js';
import { createClient as createGenerated, OPERATIONS, type OperationId } from './generated.js';

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
export class RefusedError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** How long to wait; null where waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, code: ErrorCode, message: string, retryAfterSeconds: number | null) {
    super(message);
    this.name = 'RefusedError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Never waits longer than this, even if the server asks for more. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;

/**
 * One method per operation of the description: `client.placeOrder({ body })`. Each returns the JSON
 * of a success, throws `RefusedError` for a refusal, and the error of `fetch` without an answer.
 */
export function createClient({ baseUrl, credential, retries = 0, timeoutMs }: ClientOptions) {
  return createGenerated<Ops, OperationId, OperationPath, OperationTag>(OPERATIONS, {
    serverUrl: baseUrl,
    ...(credential === undefined ? {} : { auth: { bearer: credential } }),
    clientHeader: false,
    timeout: timeoutMs ?? ANSWERS_WITHIN_MS,
    retry: { retries, retryDelay: FIRST_RETRY_MS, retryOn: mayRetry },
    // No server of this API redirects, so a redirect would only send secrets elsewhere.
    fetch: (url, init) => fetch(url, { ...init, redirect: 'error' }),
    onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
  });
}

export type Client = ReturnType<typeof createClient>;

type RetryOn = NonNullable<NonNullable<ClientConfig['retry']>['retryOn']>;

/** Anything else may have taken effect although its answer was lost. */
const mayRetry: RetryOn = ({ request: { method, operation }, response }) => {
  if (method !== 'GET' && operation.id !== 'placeOrder') return false;
  if (response === undefined) return true;
  const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
  return response.status === 503 && waitSeconds <= RETRY_AFTER_SECONDS_MAX;
};

/** The server's refusal, or the failure of a proxy in between. */
function refusalOf(status: number, statusText: string, body: unknown): Error {
  const { error } = (body ?? {}) as { error?: Record<string, unknown> };
  if (typeof error?.code !== 'string') return new Error(`HTTP ${status} ${statusText}`.trimEnd());
  const { code, message, retryAfterSeconds = null } = error;
  const waitSeconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : null;
  return new RefusedError(status, code as ErrorCode, String(message), waitSeconds);
}
