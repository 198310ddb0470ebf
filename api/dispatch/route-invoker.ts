/**
 * Calls of a route that arrive as messages of one connection, without an HTTP request of their own.
 * They have a caller, a body and an organization, and they lead to a status and a body. The checks
 * are the ones that dispatch.ts makes after the credential, in its order. Rule A17 (api/RULES.md).
 */
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import { AT_ITS_LIMIT, Unavailable } from '../../engine/threads/unavailable.ts';
import { errorBody } from '../base/errors.ts';
import type { Caller } from './access.ts';
import type { DispatchOptions, Meter } from './dispatch.ts';
import type { RouteCount } from './metrics.ts';
import { busyRefusal, type Refused, refusalOf, refusedBy } from './refusals.ts';
import { admitAndRun, NO_HEADERS, type OrderConnection, type Result, type Route } from './route.ts';

export type RouteInvokerOptions = Pick<
  DispatchOptions<Caller>,
  'permit' | 'admit' | 'refusal' | 'metrics' | 'paced' | 'log'
> & { keyed: Meter<Caller>['keyed'] };

export type MessageCall = {
  /** The caller as credential and owner are now: `callerAgain`. */
  caller: Caller;
  /** The `{...}` segment of the route's path; empty if it has none. */
  param: string;
  /** The part of an HTTP request after the `?`. */
  query?: string;
  /** A parsed value in which no key occurs twice; null if the route takes none. */
  body: unknown;
  /** The X-Service-Org of an HTTP request. */
  organization: string | null;
  /** The connection that its order ends with; left out: none. */
  connection?: OrderConnection | null;
  /**
   * Whether it counts towards the request limits; false: another request has counted for it. The
   * further requests that its query counts as count in any case.
   */
  isCounted: boolean;
};

/**
 * Called once, maybe before the call returns. Errors too have the body of the HTTP route. `limits`:
 * if the engine has answered an order or a cancel.
 */
type Answer = (status: number, body: string, limits?: TradeLimitsLeft) => void;

/** Takes calls of a route by key as messages. It never throws. */
export class RouteInvoker {
  readonly #options: RouteInvokerOptions;
  readonly #route: Route<Caller>;
  readonly #requests: RouteCount;

  /** @param route by key, answering JSON */
  constructor(route: Route<Caller>, options: RouteInvokerOptions) {
    this.#options = options;
    this.#route = route;
    this.#requests = options.metrics.requestsOf(route);
  }

  take(call: MessageCall, answer: Answer): void {
    const { caller, param, query = '', body, organization, connection = null, isCounted } = call;
    const { keyed, permit, refusal, admit } = this.#options;
    const route = this.#route;
    const reservation = keyed(caller);
    const pending = new Pending(route, this.#requests, reservation, answer, this.#options);
    const counts = isCounted && route.isCounted;
    try {
      if (counts) reservation.count(1);
      permit(route, caller);
      if (counts) reservation.refuseOver();
      const busy = route.mayBeUnavailable ? refusal() : null;
      if (busy !== null) return pending.reject(busy);
      const asked = route.readQuery(query);
      const further = route.isCounted ? route.requestsOf(asked) - 1 : 0;
      if (further > 0) {
        reservation.count(further);
        reservation.refuseOver();
      }
      const result = admitAndRun(
        admit,
        route,
        {
          caller,
          param,
          query: asked,
          body: route.readBody?.ofValue(body) ?? null,
          organization,
          headers: NO_HEADERS,
          protocols: null,
          connection,
          account: null,
        },
        pending,
      );
      if (result instanceof Promise) {
        result.then(
          (found) => pending.settle(found),
          (error: unknown) => pending.reject(error),
        );
      } else pending.settle(result);
    } catch (error) {
      pending.reject(error);
    }
  }
}

type Reservation = ReturnType<RouteInvokerOptions['keyed']>;

/** A call that is to be answered. */
class Pending implements ReplyHandler<Result> {
  readonly #route: Route<Caller>;
  readonly #requests: RouteCount;
  readonly #reservation: Reservation;
  readonly #answer: Answer;
  readonly #options: Pick<RouteInvokerOptions, 'paced' | 'log'>;
  readonly #startedMs = performance.now();

  constructor(
    route: Route<Caller>,
    requests: RouteCount,
    reservation: Reservation,
    answer: Answer,
    options: Pick<RouteInvokerOptions, 'paced' | 'log'>,
  ) {
    this.#route = route;
    this.#requests = requests;
    this.#reservation = reservation;
    this.#answer = answer;
    this.#options = options;
  }

  /** Undefined: `resolve` or `reject` is called later. */
  settle(result: Result | undefined): void {
    if (result !== undefined) this.resolve(result);
  }

  resolve(result: Result): void {
    if (typeof result === 'string') this.#give(this.#route.status, result);
    else if (!('ok' in result)) this.reject(new Error('only JSON is a message'));
    else if (result.ok) this.#give(this.#route.status, result.body, result.limits);
    else this.#refuse(refusedBy(result));
    this.#options.paced.answered();
  }

  reject(error: unknown): void {
    const { paced, log } = this.#options;
    if (error === AT_ITS_LIMIT) paced.add(() => this.#refuse(busyRefusal(AT_ITS_LIMIT)));
    else if (error instanceof Unavailable) this.#refuse(busyRefusal(error));
    else this.#refuse(refusalOf(error, { ...this.#route, requestId: null }, log));
  }

  #refuse({ status, code, message, retryAfterSeconds, limits, leader }: Refused): void {
    this.#give(status, errorBody(code, message, retryAfterSeconds, status, leader), limits);
  }

  #give(status: number, body: string, limits?: TradeLimitsLeft): void {
    this.#reservation.commit(status);
    this.#requests.add(status, this.#startedMs);
    this.#answer(status, body, limits);
  }
}
