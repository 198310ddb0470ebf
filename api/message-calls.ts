/**
 * Calls of a route that come as messages of one connection, with no HTTP request of their own: who
 * calls, what body and which organization go in, status and body come out. The checks are those of
 * dispatch.ts behind the credential, in its order. Rule A17 (api/RULES.md).
 */
import type { Reply } from '../engine/rules/messages.ts';
import { EngineBusy } from '../engine/shard/busy.ts';
import type { Waiter } from '../engine/shard/outbox.ts';
import type { Caller } from './access.ts';
import { CodedBody } from './asset.ts';
import type { DispatchOptions, Meter } from './dispatch.ts';
import { errorBody } from './errors.ts';
import type { RouteCount } from './metrics.ts';
import { busyRefusal, type Refused, refusalOf, refusedBy } from './refusals.ts';
import { admitAndRun, type Result, type Route } from './route.ts';
import { StreamedBody } from './streamed-body.ts';

export type MessageCallOptions = Pick<
  DispatchOptions<Caller>,
  'permit' | 'admit' | 'refusal' | 'metrics' | 'log'
> & { keyed: Meter<Caller>['keyed'] };

export type MessageCall = {
  /** As key and owner are now: `callerAgain`. */
  caller: Caller;
  /** The `{...}` segment of the route's path; empty where it has none. */
  param: string;
  /** A value that was parsed, in which no key stands twice; null where the route takes none. */
  body: unknown;
  /** What an HTTP request has in X-Service-Org. */
  organization: string | null;
};

/** Called once, maybe before the call returns. Errors too have the body of the HTTP route. */
type Answer = (status: number, body: string) => void;

/** What a route by key takes calls with that are messages. It never throws. */
export class MessageCalls {
  readonly #options: MessageCallOptions;
  readonly #route: Route<Caller>;
  readonly #requests: RouteCount;

  /** @param route by key, without a query, answering JSON */
  constructor(route: Route<Caller>, options: MessageCallOptions) {
    this.#options = options;
    this.#route = route;
    this.#requests = options.metrics.requestsOf(route);
  }

  take({ caller, param, body, organization }: MessageCall, answer: Answer): void {
    const { keyed, permit, refusal, admit, log } = this.#options;
    const route = this.#route;
    const reservation = keyed(caller);
    const pending = new Pending(route, this.#requests, reservation, answer, log);
    try {
      if (route.isCounted) reservation.count(1);
      permit(route, caller);
      if (route.isCounted) reservation.refuseOver();
      const busy = route.mayBeUnavailable ? refusal() : null;
      if (busy !== null) return pending.reject(busy);
      const result = admitAndRun(
        admit,
        route,
        {
          caller,
          param,
          query: route.readQuery(''),
          body: route.readBody?.ofValue(body) ?? null,
          organization,
          acceptEncoding: '',
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

type Reservation = ReturnType<MessageCallOptions['keyed']>;

/** A call that is to be answered. */
class Pending implements Waiter<Result> {
  readonly #route: Route<Caller>;
  readonly #requests: RouteCount;
  readonly #reservation: Reservation;
  readonly #answer: Answer;
  readonly #log: MessageCallOptions['log'];
  readonly #startedMs = performance.now();

  constructor(
    route: Route<Caller>,
    requests: RouteCount,
    reservation: Reservation,
    answer: Answer,
    log: MessageCallOptions['log'],
  ) {
    this.#route = route;
    this.#requests = requests;
    this.#reservation = reservation;
    this.#answer = answer;
    this.#log = log;
  }

  /** Undefined: `resolve` or `reject` is called later. */
  settle(result: Result | undefined): void {
    if (result !== undefined) this.resolve(result);
  }

  resolve(result: Result): void {
    if (typeof result === 'string') this.#give(this.#route.status, result);
    else if (!isText(result)) this.reject(new Error('bytes are no message'));
    else if (result.ok) this.#give(this.#route.status, result.body);
    else this.#refuse(refusedBy(result));
  }

  reject(error: unknown): void {
    if (error instanceof EngineBusy) this.#refuse(busyRefusal(error));
    else this.#refuse(refusalOf(error, { ...this.#route, requestId: null }, this.#log));
  }

  #refuse({ status, code, message, retryAfterSeconds }: Refused): void {
    this.#give(status, errorBody(code, message, retryAfterSeconds));
  }

  #give(status: number, body: string): void {
    this.#reservation.commit(status);
    this.#requests.add(status, this.#startedMs);
    this.#answer(status, body);
  }
}

function isText(result: Exclude<Result, string>): result is Reply {
  return !(result instanceof CodedBody) && !(result instanceof StreamedBody);
}
