/**
 * Takes one exchange through its route, in the order of checks of CONTRACT.md section 1: route,
 * credential, scope, request limits, query, then whether the engine takes requests at all, body,
 * what the listener admits, and the operation itself. Rules A17, A18 (api/RULES.md).
 */
import type { Reply } from '../engine/rules/messages.ts';
import { EngineBusy } from '../engine/shard/busy.ts';
import { CodedBody } from './asset.ts';
import type { BodyText } from './body-text.ts';
import { ApiError, ERRORS, type ErrorBody, invalidRequest, Refusal } from './errors.ts';
import { type HeaderLines, headerLines } from './header-lines.ts';
import type { Exchange, QuotaReservation } from './http.ts';
import type { Log } from './log.ts';
import type { Metrics, RouteCount } from './metrics.ts';
import type { Call, Result, Route } from './route.ts';
import { createRouter } from './router.ts';

/** Rule A9 (api/RULES.md). */
const BODY_BYTES_MAX = 64 * 1024;

export type DispatchOptions<C> = {
  prefix: string;
  routes: readonly Route<C>[];
  /** What must hold of every request, whatever its path. Throws the refusal. */
  guard?(exchange: Exchange): void;
  /** Who calls, from the headers. Throws the 401. */
  authorize(exchange: Exchange, route: Route<C>): C | Promise<C>;
  /** Whether the caller may call the route at all. Throws the 403. */
  permit(route: Route<C>, caller: C): void;
  /** Counts the requests of the listener; null where nothing is counted. */
  meter: Meter<C> | null;
  /**
   * The checks between the body and the operation, and what it acts on. Throws the refusal; a
   * promise where something has to be asked first.
   */
  admit(route: Route<C>, call: Call<unknown, unknown, C>): void | Promise<void>;
  /** Why the engine takes no request now; null: it does. */
  refusal(): EngineBusy | null;
  /** Content-Security-Policy of every answer. */
  policy: string;
  /** The wire body of a refusal. */
  errorBody: ErrorBody;
  metrics: Metrics;
  log: Log;
};

/** What requests are counted under. */
export type Meter<C> = {
  /** As long as the caller is not known. */
  unkeyed: QuotaReservation;
  /** The owner of the key of a request that reached no route; null without a valid key. */
  callerOf(exchange: Exchange): C | null;
  keyed(caller: C): CallerReservation;
};

type CallerReservation = QuotaReservation & {
  /** Counts further requests; they are taken back when the answer is 429. */
  count(requests: number): void;
  /** Throws the 429 when what was counted is over a limit. */
  refuseOver(): void;
};

/** A route, the headers of its answers and how often it was asked. */
type Served<C> = Route<C> & { headers: HeaderLines; requests: RouteCount };

const NO_STORE = ['Cache-Control', 'no-store'] as const;

/** The `handle` of a listener: never throws, answers every exchange once. */
export function createDispatcher<C>(options: DispatchOptions<C>): (exchange: Exchange) => void {
  const { authorize, permit, meter, admit, errorBody, metrics, log } = options;
  const policy = ['Content-Security-Policy', options.policy];
  const served = options.routes.map((known) => ({
    ...known,
    headers: headerLines([...headersOf(known), ...policy]),
    requests: metrics.requestsOf(known),
  }));
  const route = createRouter(options.prefix, served);
  const unrouted = metrics.requestsOf(null);
  const errorHeaders = ['Content-Type', 'application/json', ...NO_STORE, ...policy];
  /** In a flood the same refusal comes again and again: its answer is made once. */
  const busyAnswers = new WeakMap<EngineBusy, { headers: HeaderLines; body: string }>();

  function handle(exchange: Exchange): void {
    let found: Served<C> | null = null;
    exchange.reservation = meter?.unkeyed ?? null;
    try {
      if (exchange.hasUnclearLength()) {
        throw countedRefusal(
          exchange,
          invalidRequest('Content-Length or Transfer-Encoding is ambiguous'),
        );
      }
      options.guard?.(exchange);
      const match = route(exchange.path);
      if (match === null) throw countedRefusal(exchange, new ApiError('route_not_found'));
      const { allow, routes } = match.entry;
      exchange.route = match.entry.path;
      if (exchange.method === 'OPTIONS') {
        exchange.answer(204, headerLines(['Allow', allow, ...NO_STORE, ...policy]), null);
        return;
      }
      found = routes.get(exchange.method) ?? null;
      if (found === null) {
        throw countedRefusal(
          exchange,
          new ApiError('method_not_allowed', { headers: ['Allow', allow] }),
        );
      }
      // An open route's declaration says that it has no caller.
      const caller = found.access === 'open' ? (null as C) : authorize(exchange, found);
      const call: Call<unknown, unknown, C> = {
        caller: caller as C,
        param: decodeSegment(match.param),
        query: null,
        body: null,
        organization: found.ofAccount ? exchange.joinedHeader('x-service-org') : null,
        acceptEncoding: found.isAsset ? (exchange.joinedHeader('accept-encoding') ?? '') : '',
        account: null,
      };
      if (caller instanceof Promise) {
        awaitCaller(exchange, found, call, caller);
        return;
      }
      takeQuery(exchange, found, call);
      // Before the body: in a flood a refused request must cost little.
      const refusal = found.mayBeUnavailable ? options.refusal() : null;
      if (refusal !== null) refuseBusy(exchange, refusal, found);
      else if (found.readBody === null) run(exchange, found, call);
      else readBody(exchange, found, call);
    } catch (error) {
      fail(exchange, error, found);
    }
  }

  /** A refusal in front of every route: it counts, but is never over a limit. */
  function countedRefusal(exchange: Exchange, refusal: ApiError): ApiError {
    const caller = meter?.callerOf(exchange) ?? null;
    if (caller !== null) chargeTo(exchange, caller)?.count(1);
    return refusal;
  }

  function chargeTo(exchange: Exchange, caller: C): CallerReservation | null {
    const reservation = meter?.keyed(caller) ?? null;
    if (reservation !== null) exchange.reservation = reservation;
    return reservation;
  }

  /** What stands between credential and body: scope, request limits, query. */
  function takeQuery(exchange: Exchange, found: Served<C>, call: Call<unknown, unknown, C>): void {
    let counted: CallerReservation | null = null;
    if (found.access === 'key') {
      const reservation = chargeTo(exchange, call.caller);
      if (found.isCounted) counted = reservation;
      counted?.count(1);
      permit(found, call.caller);
      counted?.refuseOver();
    }
    call.query = found.readQuery(exchange.query);
    // Only a good query tells how many it counts as; whatever it is, the first stands before it.
    const further = found.requestsOf(call.query) - 1;
    if (further > 0 && counted !== null) {
      counted.count(further);
      counted.refuseOver();
    }
  }

  /** The order of checks stays; only the body is received meanwhile, or it would be lost. */
  function awaitCaller(
    exchange: Exchange,
    found: Served<C>,
    call: Call<unknown, unknown, C>,
    pending: Promise<C>,
  ): void {
    exchange.hold();
    const received =
      found.readBody === null
        ? null
        : new Promise<BodyText>((resolve) => exchange.readText(BODY_BYTES_MAX, resolve));
    const proceed = async (): Promise<void> => {
      call.caller = await pending;
      takeQuery(exchange, found, call);
      if (received !== null) call.body = found.readBody!(textOf(await received));
      run(exchange, found, call);
    };
    proceed().catch((error: unknown) => fail(exchange, error, found));
  }

  function readBody(exchange: Exchange, found: Served<C>, call: Call<unknown, unknown, C>): void {
    // What is declared too large need not arrive first.
    if (Number(exchange.header('content-length')) > BODY_BYTES_MAX) throw tooLarge();
    exchange.readText(BODY_BYTES_MAX, (body) => {
      try {
        call.body = found.readBody!(textOf(body));
        run(exchange, found, call);
      } catch (error) {
        fail(exchange, error, found);
      }
    });
  }

  function run(exchange: Exchange, found: Served<C>, call: Call<unknown, unknown, C>): void {
    const settle = (result: Result | undefined): void => {
      if (result === undefined) {
        exchange.hold();
        return;
      }
      // Other waiters are answered in the same run, and must be, whatever becomes of this answer.
      try {
        finish(exchange, found, result);
      } catch (error) {
        fail(exchange, error, found);
      }
    };
    const waiter = { resolve: settle, reject: (error: unknown) => fail(exchange, error, found) };
    const admitted = admit(found, call);
    const result =
      admitted === undefined
        ? found.run(call, waiter)
        : admitted.then(() => found.run(call, waiter));
    if (result instanceof Promise) {
      exchange.hold();
      result.then(settle, waiter.reject);
    } else settle(result);
  }

  function finish(exchange: Exchange, found: Served<C>, result: Result): void {
    const { status } = found;
    if (result instanceof CodedBody) {
      found.requests.add(status);
      const headers = (found.headers + result.headers) as HeaderLines;
      exchange.answer(status, headers, result.bytes);
      return;
    }
    if (typeof result !== 'string' && !result.ok) {
      refuse(exchange, result, found);
      return;
    }
    const body = typeof result === 'string' ? result : result.body;
    found.requests.add(status);
    exchange.answer(status, found.headers, status === 204 ? null : body);
  }

  /** A refusal by a rule of the engine; no Error is made, since refusals can be many. */
  function refuse(
    exchange: Exchange,
    { code, message, retryAfterSeconds: seconds }: EngineRefusal,
    found: Served<C>,
  ): void {
    const { status } = ERRORS[code];
    const retryAfterSeconds = seconds ?? null;
    answerError(exchange, { status, code, message, retryAfterSeconds, headers: [] }, found);
  }

  function refuseBusy(exchange: Exchange, error: EngineBusy, found: Served<C> | null): void {
    let answer = busyAnswers.get(error);
    if (answer === undefined) {
      answer = errorAnswer(busyRefusal(error));
      busyAnswers.set(error, answer);
    }
    (found?.requests ?? unrouted).add(BUSY_STATUS);
    exchange.answer(BUSY_STATUS, answer.headers, answer.body);
  }

  function fail(exchange: Exchange, error: unknown, found: Served<C> | null): void {
    if (error instanceof EngineBusy) refuseBusy(exchange, error, found);
    else answerError(exchange, refusalOf(error, exchange, log), found);
  }

  function answerError(exchange: Exchange, refusal: Refused, found: Served<C> | null): void {
    const { headers, body } = errorAnswer(refusal);
    (found?.requests ?? unrouted).add(refusal.status);
    exchange.answer(refusal.status, headers, body);
  }

  function errorAnswer({ status, code, message, retryAfterSeconds, headers }: Refused) {
    const retryAfter = retryAfterSeconds === null ? [] : ['Retry-After', String(retryAfterSeconds)];
    return {
      headers: headerLines([...errorHeaders, ...headers, ...retryAfter]),
      body: errorBody(code, message, retryAfterSeconds, status),
    };
  }

  return handle;
}

type EngineRefusal = Extract<Reply, { ok: false }>;
type Refused = Pick<Refusal, 'status' | 'code' | 'message' | 'retryAfterSeconds' | 'headers'>;

/** The answer to an error. A fault of ours is logged, and answered as one. */
function refusalOf(error: unknown, exchange: Exchange, log: Log): Refusal {
  if (error instanceof Refusal) return error;
  const { method, path, requestId } = exchange;
  log.error({ err: error, method, path, requestId }, 'request failed');
  return new ApiError('internal_error');
}

const BUSY_STATUS = 503;

function busyRefusal(error: EngineBusy): Refusal {
  return new ApiError('internal_error', {
    status: BUSY_STATUS,
    message:
      `The engine cannot take this request now (${error.message}). ` +
      'Send it again, with the same idempotencyKey.',
    retryAfterSeconds: Math.max(1, Math.ceil(error.retryAfterSeconds)),
  });
}

function headersOf<C>({ contentType, cacheSeconds, isAsset, status }: Route<C>): string[] {
  const kept = `max-age=${cacheSeconds}${isAsset ? ', immutable' : ''}`;
  const cache = cacheSeconds === 0 ? NO_STORE : ['Cache-Control', kept];
  const type = status === 204 ? [] : ['Content-Type', contentType];
  const vary = isAsset ? ['Vary', 'Accept-Encoding'] : [];
  return [...type, ...cache, ...vary];
}

function textOf(body: BodyText): string {
  if (body.ok) return body.text;
  if (body.fault === 'too_large') throw tooLarge();
  throw invalidRequest('the body is not UTF-8');
}

function tooLarge(): ApiError {
  return new ApiError('invalid_request', {
    status: 413,
    message: `the body must have at most ${BODY_BYTES_MAX} bytes`,
  });
}

/** A path segment as meant; as sent where it is not percent-encoded UTF-8, to be found nowhere. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
