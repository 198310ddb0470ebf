/**
 * Writes the answer to each request of a listener: the result of its route, or a refusal. Each
 * answer is counted under its route. Rules A17, A66, E6 (api/RULES.md).
 */
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import { AT_ITS_LIMIT, Unavailable } from '../../engine/threads/unavailable.ts';
import type { ErrorBody } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import { CodedBody } from '../http/asset.ts';
import { type HeaderLines, headerLines } from '../http/header-lines.ts';
import type { HttpContext } from '../http/http-context.ts';
import { OwnAnswer } from '../http/own-answer.ts';
import { Upgrade } from '../http/socket.ts';
import { StreamedBody } from '../http/streamed-body.ts';
import type { Metrics, RouteCount } from './metrics.ts';
import type { PacedRefusals } from './paced-refusals.ts';
import { BUSY_STATUS, busyRefusal, type Refused, refusalOf, refusedBy } from './refusals.ts';
import type { Result, Route } from './route.ts';
import { tradeLimitLines } from './trade-limit-headers.ts';

/** A route, the headers of its answers and the counts of its requests. */
export type Served<C> = Route<C> & { headers: HeaderLines; requests: RouteCount };

export type ResponseWriterOptions = {
  /** Content-Security-Policy of every answer. */
  policy: string;
  /** The wire body of a refusal. */
  errorBody: ErrorBody;
  metrics: Metrics;
  /** Shared by all refusals for the engine. */
  paced: PacedRefusals;
  log: Log;
};

/** The route is null if none was found. */
type Found = { requests: RouteCount } | null;
type ErrorAnswer = { headers: HeaderLines; body: string };

const NO_STORE = ['Cache-Control', 'no-store'] as const;

export class ResponseWriter {
  readonly #policy: readonly string[];
  readonly #errorHeaders: readonly string[];
  readonly #errorBody: ErrorBody;
  readonly #metrics: Metrics;
  readonly #unrouted: RouteCount;
  readonly #log: Log;
  /** Under overload the same refusal is sent many times, so its answer is built once. */
  readonly #busyAnswers = new WeakMap<Unavailable, ErrorAnswer>();
  readonly #paced: PacedRefusals;

  constructor({ policy, errorBody, metrics, paced, log }: ResponseWriterOptions) {
    this.#paced = paced;
    this.#policy = ['Content-Security-Policy', policy];
    this.#errorHeaders = ['Content-Type', 'application/json', ...NO_STORE, ...this.#policy];
    this.#errorBody = errorBody;
    this.#metrics = metrics;
    this.#unrouted = metrics.requestsOf(null);
    this.#log = log;
  }

  /** Builds the constant part of a route's successful answers once. */
  served<C>(route: Route<C>): Served<C> {
    const headers = headerLines([...headersOf(route), ...this.#policy]);
    return { ...route, headers, requests: this.#metrics.requestsOf(route) };
  }

  /** Answers OPTIONS: the methods of a path. */
  allow(http: HttpContext, methods: string): void {
    http.answer(204, headerLines(['Allow', methods, ...NO_STORE, ...this.#policy]), null);
  }

  finish<C>(http: HttpContext, found: Served<C>, result: Result): void {
    this.#finish(http, found, result);
    this.#paced.answered();
  }

  /** Writes an answer of the engine: JSON as bytes, which are read before this returns. */
  finishBytes<C>(
    http: HttpContext,
    found: Served<C>,
    json: Uint8Array,
    limits: TradeLimitsLeft | null,
  ): void {
    answerJson(http, found, json, limits);
    this.#paced.answered();
  }

  #finish<C>(http: HttpContext, found: Served<C>, result: Result): void {
    const { status, requests } = found;
    if (result instanceof CodedBody) {
      requests.add(status, http.startedMs);
      const headers = (found.headers + result.headers) as HeaderLines;
      http.answer(status, headers, result.bytes);
      return;
    }
    if (result instanceof OwnAnswer) {
      requests.add(result.status, http.startedMs);
      http.answer(result.status, (found.headers + result.headers) as HeaderLines, result.body);
      return;
    }
    if (result instanceof Upgrade) {
      requests.add(status, http.startedMs);
      http.upgrade(result, found.headers);
      return;
    }
    if (result instanceof StreamedBody) {
      requests.add(status, http.startedMs);
      http.stream((found.headers + result.headers) as HeaderLines, result.pieces);
      return;
    }
    if (typeof result !== 'string' && !result.ok) {
      this.#answerError(http, refusedBy(result), found);
      return;
    }
    if (typeof result === 'string') answerJson(http, found, status === 204 ? null : result);
    else answerJson(http, found, result.body, result.limits);
  }

  refuseBusy(http: HttpContext, error: Unavailable, found: Found): void {
    const { headers, body } = this.#busyAnswer(error);
    const give = () => {
      (found?.requests ?? this.#unrouted).add(BUSY_STATUS, http.startedMs);
      http.answer(BUSY_STATUS, headers, body);
    };
    if (error === AT_ITS_LIMIT) {
      http.hold();
      this.#paced.add(give);
    } else give();
  }

  #busyAnswer(error: Unavailable): ErrorAnswer {
    let answer = this.#busyAnswers.get(error);
    if (answer === undefined) {
      answer = this.#errorAnswer(busyRefusal(error));
      this.#busyAnswers.set(error, answer);
    }
    return answer;
  }

  /** Answers any error; a fault of ours is logged. */
  fail(http: HttpContext, error: unknown, found: Found): void {
    if (error instanceof Unavailable) this.refuseBusy(http, error, found);
    else this.#answerError(http, refusalOf(error, http, this.#log), found);
  }

  #answerError(http: HttpContext, refusal: Refused, found: Found): void {
    const { headers, body } = this.#errorAnswer(refusal);
    (found?.requests ?? this.#unrouted).add(refusal.status, http.startedMs);
    http.answer(refusal.status, withLimits(headers, refusal.limits), body);
  }

  #errorAnswer(refused: Refused): ErrorAnswer {
    const { status, code, message, retryAfterSeconds, headers, leader } = refused;
    const retryAfter = retryAfterSeconds === null ? [] : ['Retry-After', String(retryAfterSeconds)];
    return {
      headers: headerLines([...this.#errorHeaders, ...headers, ...retryAfter]),
      body: this.#errorBody(code, message, retryAfterSeconds, status, leader),
    };
  }
}

/** A null body sends none. */
function answerJson<C>(
  http: HttpContext,
  { status, requests, headers }: Served<C>,
  json: string | Uint8Array | null,
  limits?: TradeLimitsLeft | null,
): void {
  requests.add(status, http.startedMs);
  http.answer(status, withLimits(headers, limits), json);
}

function withLimits(headers: HeaderLines, limits?: TradeLimitsLeft | null): HeaderLines {
  return limits == null ? headers : ((headers + tradeLimitLines(limits)) as HeaderLines);
}

function headersOf<C>({
  contentType,
  streamed,
  cacheSeconds,
  isAsset,
  status,
}: Route<C>): string[] {
  const kept = `max-age=${cacheSeconds}${isAsset ? ', immutable' : ''}`;
  const cache = cacheSeconds === 0 ? NO_STORE : ['Cache-Control', kept];
  // A streamed body and an asset name their own, and a WebSocket has none.
  const isTyped = status !== 204 && status !== 101 && streamed === null && !isAsset;
  const type = isTyped ? ['Content-Type', contentType] : [];
  const vary = isAsset ? ['Vary', 'Accept-Encoding'] : [];
  return [...type, ...cache, ...vary];
}
