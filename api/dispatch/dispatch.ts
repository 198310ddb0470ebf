/**
 * Takes one request through its route, in the order of checks: route, credential, scope, request
 * limits, query, whether the engine takes requests at all, body, the listener's `admit`, and the
 * operation itself. Rules A17, A18, A105 (api/RULES.md).
 */
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';
import { strict } from '../base/common-schemas.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import { bodyReader, optionalBody } from '../base/validation.ts';
import type { BodyText } from '../http/body-text.ts';
import type { HttpContext, QuotaReservation } from '../http/http-context.ts';
import { ResponseWriter, type ResponseWriterOptions, type Served } from './response-writer.ts';
import { admitAndRun, type Call, NO_HEADERS, type Result, type Route } from './route.ts';
import { createRouter } from './router.ts';

export type DispatchOptions<C> = ResponseWriterOptions & {
  prefix: string;
  routes: readonly Route<C>[];
  /** Checks that apply to every request, whatever its path. Throws the refusal. */
  guard?(http: HttpContext): void;
  /** Identifies the caller by the headers. Throws the 401. */
  authorize(http: HttpContext, route: Route<C>): C | Promise<C>;
  /** Whether the caller may call the route at all. Throws the 403. */
  permit(route: Route<C>, caller: C): void;
  /** Counts the requests of the listener; null: nothing is counted. */
  meter: Meter<C> | null;
  /**
   * The checks between the body and the operation, and the account that the operation acts on.
   * Throws the refusal; returns a promise if another service must be asked first.
   */
  admit(route: Route<C>, call: Call<unknown, unknown, C>): void | Promise<void>;
  /** Why the engine accepts no request now; null: it accepts them. */
  refusal(): Unavailable | null;
  /** Why control data are not written here now; null: they are. */
  controlRefusal(): Unavailable | null;
};

/** Counts requests towards limits. */
export type Meter<C> = {
  /** For requests whose caller is not known yet. */
  unkeyed: QuotaReservation;
  /** The caller of a request that matched no route; null without a valid credential. */
  callerOf(http: HttpContext): C | Promise<C | null> | null;
  keyed(caller: C): CallerReservation;
};

export type CallerReservation = QuotaReservation & {
  /** Counts further requests, and undoes that when the answer is 429. */
  count(requests: number): void;
  /** Throws the 429 when the count exceeds a limit. */
  refuseOver(): void;
};

/** A request during its checks. Caller, query and body are set once they are known. */
type Pending<C> = Call<unknown, unknown, C>;

/** The `handle` of a listener: never throws, answers every request once. */
export function createDispatcher<C>(options: DispatchOptions<C>): (http: HttpContext) => void {
  const dispatcher = new Dispatcher(options);
  return (http) => dispatcher.handle(http);
}

class Dispatcher<C> {
  readonly #options: DispatchOptions<C>;
  readonly #answers: ResponseWriter;
  readonly #route: ReturnType<typeof createRouter<Served<C>>>;

  constructor(options: DispatchOptions<C>) {
    this.#options = options;
    this.#answers = new ResponseWriter(options);
    const served = options.routes.map((route) => this.#answers.served(route));
    this.#route = createRouter(options.prefix, served);
  }

  handle(http: HttpContext): void {
    let found: Served<C> | null = null;
    http.reservation = this.#options.meter?.unkeyed ?? null;
    try {
      const { allow, routes, param } = this.#find(http);
      // It counts for no key: Q4, Q10 (api/RULES.md).
      if (http.method === 'OPTIONS') {
        this.#answers.allow(http, allow);
        return;
      }
      found = routes.get(http.method) ?? null;
      if (found === null) throw new ApiError('method_not_allowed', { headers: ['Allow', allow] });
      this.#check(http, found, param);
    } catch (error) {
      if (found === null) this.#failUnrouted(http, error);
      else this.#answers.fail(http, error, found);
    }
  }

  /** The route of the requested path. Throws if there is none. */
  #find(http: HttpContext) {
    if (http.hasUnclearLength()) {
      throw invalidRequest('Content-Length or Transfer-Encoding is ambiguous');
    }
    this.#options.guard?.(http);
    const match = this.#route(http.path);
    if (match === null) throw new ApiError('route_not_found');
    const { allow, routes, path } = match.entry;
    http.route = path;
    return { allow, routes, param: match.param };
  }

  /** Runs the checks that need no body, then the others. */
  #check(http: HttpContext, found: Served<C>, param: string): void {
    // An open route declares that it has no caller.
    const caller = found.access === 'open' ? (null as C) : this.#options.authorize(http, found);
    const call: Pending<C> = {
      caller: caller as C,
      param: decodeSegment(param),
      query: null,
      body: null,
      organization: found.ofAccount ? http.joinedHeader('x-service-org') : null,
      headers: found.readsHeaders.length === 0 ? NO_HEADERS : headersOf(http, found.readsHeaders),
      protocols: http.handshake?.protocols ?? null,
      connection: null,
      account: null,
    };
    if (caller instanceof Promise) {
      this.#awaitCaller(http, found, call, caller);
      return;
    }
    this.#takeQuery(http, found, call);
    // Before the body is read: under overload a refused request must cost little.
    const refusal = this.#refusal(found, call);
    if (refusal !== null) this.#answers.refuseBusy(http, refusal, found);
    else if (hasBody(http, found)) this.#readBody(http, found, call);
    else this.#run(http, found, call);
  }

  /** Why the engine, or the control data, cannot take a call that asks or changes them. */
  #refusal(found: Served<C>, { query }: Pending<C>): Unavailable | null {
    const { refusal, controlRefusal } = this.#options;
    const refused = found.mayBeUnavailable && found.asksFor(query) ? refusal() : null;
    return refused ?? (found.writesControl ? controlRefusal() : null);
  }

  /** A refusal before any route matched: it counts, but never exceeds a limit. */
  #failUnrouted(http: HttpContext, error: unknown): void {
    const fail = (reason: unknown) => this.#answers.fail(http, reason, null);
    const failFor = (caller: C | null) => {
      if (caller !== null) this.#chargeTo(http, caller)?.count(1);
      fail(error);
    };
    try {
      const caller = this.#options.meter?.callerOf(http) ?? null;
      if (!(caller instanceof Promise)) return failFor(caller);
      http.hold();
      caller.then(failFor).catch(fail);
    } catch (reason) {
      fail(reason);
    }
  }

  #chargeTo(http: HttpContext, caller: C): CallerReservation | null {
    const reservation = this.#options.meter?.keyed(caller) ?? null;
    if (reservation !== null) http.reservation = reservation;
    return reservation;
  }

  /** The checks between credential and body: scope, request limits, query. Rules A17, Q4 (api/RULES.md). */
  #takeQuery(http: HttpContext, found: Served<C>, call: Pending<C>): void {
    let counted: CallerReservation | null = null;
    if (found.access === 'key') {
      const reservation = this.#chargeTo(http, call.caller);
      if (found.isCounted) counted = reservation;
      counted?.count(1);
      this.#options.permit(found, call.caller);
      counted?.refuseOver();
    }
    call.query = found.readQuery(http.query);
    // How many requests a query counts as is known once it is valid. The first counts before that.
    const further = found.requestsOf(call.query) - 1;
    if (further > 0 && counted !== null) {
      counted.count(further);
      counted.refuseOver();
    }
  }

  /** Keeps the order of checks. The body is received meanwhile, or uWebSockets.js would drop it. */
  #awaitCaller(http: HttpContext, found: Served<C>, call: Pending<C>, pending: Promise<C>): void {
    http.hold();
    let isCalled = false;
    let received: BodyText | null = null;
    const fail = (error: unknown) => this.#answers.fail(http, error, found);
    const runWithBody = (body: BodyText) => {
      try {
        call.body = bodyOf(found, body);
        this.#run(http, found, call);
      } catch (error) {
        fail(error);
      }
    };
    const reads = hasBody(http, found);
    if (reads) {
      http.readText(found.bodyBytesMax, (body) => {
        if (isCalled) runWithBody(body);
        else received = body;
      });
    }
    pending
      .then((caller) => {
        call.caller = caller;
        this.#takeQuery(http, found, call);
        const refusal = this.#refusal(found, call);
        if (refusal !== null) return this.#answers.refuseBusy(http, refusal, found);
        isCalled = true;
        if (!reads) this.#run(http, found, call);
        else if (received !== null) runWithBody(received);
      })
      .catch(fail);
  }

  #readBody(http: HttpContext, found: Served<C>, call: Pending<C>): void {
    // A body that declares too large a size need not arrive first.
    const { bodyBytesMax } = found;
    if (Number(http.header('content-length')) > bodyBytesMax) throw tooLarge(found);
    http.readText(bodyBytesMax, (body) => {
      try {
        call.body = bodyOf(found, body);
        this.#run(http, found, call);
      } catch (error) {
        this.#answers.fail(http, error, found);
      }
    });
  }

  #run(http: HttpContext, found: Served<C>, call: Pending<C>): void {
    const waiter = new Waiter(this.#answers, http, found);
    const result = admitAndRun(this.#options.admit, found, call, waiter);
    if (result === undefined) http.hold();
    else if (!(result instanceof Promise)) waiter.resolve(result);
    else {
      http.hold();
      result.then(
        (later) => later !== undefined && waiter.resolve(later),
        (error) => waiter.reject(error),
      );
    }
  }
}

/**
 * Writes the result of a request. Other waiters are answered in the same loop, so a failure of this
 * one does not stop them.
 */
class Waiter<C> implements ReplyHandler<Result> {
  readonly #answers: ResponseWriter;
  readonly #http: HttpContext;
  readonly #found: Served<C>;

  constructor(answers: ResponseWriter, http: HttpContext, found: Served<C>) {
    this.#answers = answers;
    this.#http = http;
    this.#found = found;
  }

  resolve(result: Result): void {
    try {
      this.#answers.finish(this.#http, this.#found, result);
    } catch (error) {
      this.reject(error);
    }
  }

  resolveBytes(json: Uint8Array, limits: TradeLimitsLeft | null): void {
    try {
      this.#answers.finishBytes(this.#http, this.#found, json, limits);
    } catch (error) {
      this.reject(error);
    }
  }

  reject(error: unknown): void {
    this.#answers.fail(this.#http, error, this.#found);
  }
}

/**
 * Whether there is a body to read. A route without a body reads it too, because it may have fields.
 */
function hasBody<C>(http: HttpContext, { readBody }: Served<C>): boolean {
  return readBody !== null || http.hasBody();
}

function bodyOf<C>(found: Served<C>, body: BodyText): unknown {
  if (body.ok) return (found.readBody ?? readNoFields)(body.text);
  if (body.fault === 'too_large') throw tooLarge(found);
  if (body.fault === 'no_room') throw noRoom();
  throw invalidRequest('the body is not UTF-8');
}

function headersOf(http: HttpContext, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, http.joinedHeader(name) ?? '']));
}

/** The check of a body on a route without one. Rule A105 (api/RULES.md). */
const readNoFields = optionalBody(bodyReader(strict({})));

function tooLarge<C>({ readBody, bodyBytesMax }: Served<C>): ApiError {
  if (readBody === null) return invalidRequest('this call takes no body, or {}');
  return new ApiError('invalid_request', {
    status: 413,
    message: `the body must have at most ${bodyBytesMax} bytes`,
  });
}

/** Rule A243 (api/RULES.md). */
function noRoom(): ApiError {
  return new ApiError('internal_error', {
    status: 503,
    message: 'The server has no memory for another unfinished body.',
    retryAfterSeconds: 1,
  });
}

/**
 * A path segment, decoded. If it is not percent-encoded UTF-8, it stays unchanged and matches
 * nothing.
 */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
