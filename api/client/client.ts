/**
 * A typed client of the API, for programs and for the `paperbook` commands. Types and calls are
 * generated from the API's own description (`npm run client`); this is how they are set up.
 */
import { addressAt, ConnectionLostError, RefusedError, refusalOf } from './errors.ts';
import type {
  ClientConfig,
  Client as GeneratedClient,
  OperationContext,
  OperationPath,
  OperationTag,
  Ops,
  OrderBatchResults,
  OrderPlacement,
  OrderRequest,
  RequestOptions,
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

type FieldsOf<Order> = Order extends unknown ? keyof Order : never;
type ValueOf<Order, Field> = Order extends unknown
  ? Field extends keyof Order
    ? NonNullable<Order[Field]>
    : never
  : never;

/** The fields of all kinds of orders, for an order whose kind is chosen as a program runs. */
export type OrderFields = Pick<OrderRequest, 'action' | 'type'> & {
  [Field in Exclude<FieldsOf<OrderRequest>, 'action' | 'type'>]?: ValueOf<OrderRequest, Field>;
};

/** Never waits longer than this, even if the server asks for more. */
const RETRY_AFTER_SECONDS_MAX = 10;
const ANSWERS_WITHIN_MS = 30_000;
const FIRST_RETRY_MS = 250;

type Calls = GeneratedClient<Ops, OperationContext<OperationId, OperationPath, OperationTag>>;

/** The list in each page of a paged call. */
export const ROWS = {
  listInstruments: 'instruments',
  listGames: 'games',
  getHistory: 'quotes',
  getCandles: 'candles',
  listTrades: 'trades',
  listOrders: 'orders',
  listEvents: 'events',
  getLeaderboard: 'rows',
  listPicks: 'picks',
  getEval: 'rows',
} as const satisfies Partial<Record<OperationId, string>>;
type Rows = typeof ROWS;
type Paged = keyof Rows;
type NameOf<Call> = Call extends `${'list' | 'get'}${infer Name}` ? `iter${Name}` : never;
type RowOf<Call extends Paged> =
  Ops[Call]['result'] extends Record<Rows[Call], (infer Row)[]> ? Row : never;
type Asked<Call extends Paged> =
  Record<never, never> extends Ops[Call]['args']
    ? [input?: Ops[Call]['args'], init?: RequestOptions]
    : [input: Ops[Call]['args'], init?: RequestOptions];

/** `iterTrades`, `iterOrders`, …: every row of a paged call, asked for page by page. Rule U60. */
export type Iterators = {
  [Call in Paged as NameOf<Call>]: (
    ...asked: Asked<Call>
  ) => AsyncGenerator<RowOf<Call>, void, undefined>;
};

export type Client = Calls &
  Iterators & {
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
    // The cookie of a page is for its own origin.
    fetch: credential === undefined ? fetchThere : fetchAtLeader,
    onError: ({ status, statusText, body }) => refusalOf(status, statusText, body),
  });
  const stream = (options: StreamOptions = {}) => {
    return new Stream(streamParts({ baseUrl, credential, timeoutMs: timeout }, options));
  };
  return Object.assign(calls, iteratorsOf(calls), { stream });
}

type Fetch = NonNullable<ClientConfig['fetch']>;

/** No server of this API redirects, so a redirect would only send secrets elsewhere. */
const fetchThere: Fetch = (url, init) => fetch(url, { ...init, redirect: 'error' });

/**
 * If the answer names the node of a cluster that takes the call, asks that node in its place, once.
 * Such a refusal says that nothing was done. Rule U91 (api/RULES.md).
 */
const fetchAtLeader: Fetch = async (url, init) => {
  const response = await fetchThere(url, init);
  const { status, statusText } = response;
  if (status !== 503) return response;
  const refusal = refusalOf(
    status,
    statusText,
    await response
      .clone()
      .json()
      .catch(() => null),
  );
  const leader = refusal instanceof RefusedError ? refusal.leader : null;
  const there = leader === null ? null : addressAt(leader, new URL(response.url));
  if (there === null) return response;
  await response.body?.cancel();
  return await fetchThere(there.href, init);
};

type Page = { [field: string]: unknown };
type AnyInput = { query?: Record<string, unknown> };
type AnyCall = (input: AnyInput, init?: unknown) => Promise<Page>;

function iteratorsOf(calls: Calls): Iterators {
  const named = Object.entries(ROWS).map(([name, field]) => {
    const call = calls[name as Paged] as unknown as AnyCall;
    const iterator = (input: AnyInput = {}, init?: unknown) => rowsOf(call, field, input, init);
    return [name.replace(/^(list|get)/, 'iter'), iterator];
  });
  return Object.fromEntries(named);
}

async function* rowsOf(call: AnyCall, field: string, input: AnyInput, init: unknown) {
  // Events have no last page: at the end the place stays the same.
  const place = field === 'events' ? 'after' : 'cursor';
  let query = input.query ?? {};
  while (true) {
    const { [field]: rows, nextCursor, nextAfter } = await call({ ...input, query }, init);
    yield* rows as unknown[];
    const next = nextCursor ?? nextAfter ?? null;
    if (next === null || next === query[place]) return;
    query = { ...query, [place]: next };
  }
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
