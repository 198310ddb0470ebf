/**
 * The declaration of a route: its path, who may call it, its input and its answers. The dispatcher
 * runs it, and the API description is generated from it. Tests check every answer against the
 * description.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { StreamConnection, Uuid } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import type { ErrorCode } from '../base/errors.ts';
import { type BodyReader, type QueryReader, queryReader } from '../base/validation.ts';
import type { CodedBody } from '../http/asset.ts';
import type { OwnAnswer } from '../http/own-answer.ts';
import type { Upgrade } from '../http/socket.ts';
import type { StreamedBody } from '../http/streamed-body.ts';
import type { PaperAccount } from '../identity/accounts.ts';
import type { Scope } from '../identity/keys.ts';
import type { SessionCaller } from '../identity/session-access.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that passed every check of its route. `C`: type of the caller. */
export type Call<Q, B, C> = {
  caller: C;
  /**
   * The `{...}` segment of the path, percent-decoded; empty if the path has none. Of several, the
   * segments with `/` between.
   */
  param: string;
  query: Q;
  /** For a route without a body: null, or an object without fields. */
  body: B;
  /** The X-Service-Org header as sent; null if it was not sent, or the route ignores it. */
  organization: string | null;
  /** The headers that the route reads, by their lower-case names; empty texts where not sent. */
  headers: Readonly<Record<string, string>>;
  /** Sec-WebSocket-Protocol of a WebSocket's handshake, maybe empty; null: any other request. */
  protocols: string | null;
  /** The connection of a stream message whose order ends with it; else null. */
  connection: OrderConnection | null;
  /** The account that the route acts on, set by the listener's `admit`; null if it acts on none. */
  account: PaperAccount | null;
};

/** A connection that orders end with. Rule J18 (api/RULES.md). */
export interface OrderConnection {
  /**
   * Called before an order is placed in the account; returns the connection's name in the order.
   */
  placing(account: Uuid): StreamConnection;
}

/** `headers` of a route that reads none. */
export const NO_HEADERS: Call<unknown, unknown, unknown>['headers'] = {};

/** A request of a route that acts on a paper account. */
type AccountCall<Q, B, C> = Call<Q, B, C> & { account: PaperAccount };

/**
 * JSON text of the answer, the engine's reply, other bytes, an answer with a status of its own, or a
 * WebSocket. Our own refusals are thrown.
 */
export type Result = string | Reply | CodedBody | OwnAnswer | StreamedBody | Upgrade;

/**
 * Who may call: anyone (`open`); anyone, with the listener's knowledge of the caller (`visitor`);
 * the holder of a key, or of the operator's token on the operator's listener (`key`); a signed-in
 * person (`session`).
 */
export type Access = 'open' | 'visitor' | 'key' | 'session';

/** The groups of the API description. */
export type Tag =
  | 'Service'
  | 'Keys'
  | 'Records'
  | 'Markets'
  | 'History'
  | 'Backtest'
  | 'Portfolio'
  | 'Trading'
  | 'Stream';

/** The parts of the API description that the server does not need to run the route. */
export type About<Answer, Body> = {
  /** Unique; the name of the call in generated clients. */
  operationId: string;
  tag: Tag;
  /** One line, without a full stop. */
  summary: string;
  /** Markdown: facts that the summary and the schemas leave out. */
  description?: string;
  /** Markdown: facts that the summary and the schemas leave out. */
  param?: TSchema;
  /** A successful answer, if answers are JSON. */
  example?: Answer;
  /** Example bodies by title. */
  bodyExamples?: Readonly<Record<string, Body>>;
};

/** A code, with another status than its own if it has one here. */
export type RouteRefusal = ErrorCode | { code: ErrorCode; status: number };

export type Route<C> = {
  method: Method;
  /** `/portfolio/orders/{orderId}` */
  path: string;
  /** An open route's `caller` is null. */
  access: Access;
  /** Null: any valid key. */
  scope: Scope | null;
  /** Whether visitors may read it where they may read at all. Rule A161 (api/RULES.md). */
  isPublic: boolean;
  /** Whether it acts on a paper account, and so reads the X-Service-Org header. */
  ofAccount: boolean;
  /** The operator's switch that must be on. */
  needs: 'venueData' | null;
  /** Whether it needs the engine or a service that may be unable to answer now: 503. */
  mayBeUnavailable: boolean;
  /** Whether it changes control data, which one node of a cluster takes: 503 `not_leader`. */
  writesControl: boolean;
  /** If it may be null: whether a request with this query needs it. */
  asksFor(query: unknown): boolean;
  /**
   * Refusals by its own rules. Refusals that follow from the fields above are not repeated here.
   */
  errors: readonly RouteRefusal[];
  /** Null: not part of the API description. */
  about: About<unknown, unknown> | null;
  /** How long the answer may be cached; 0: not at all. */
  cacheSeconds: number;
  /** The lower-case names of headers that `run` reads. */
  readsHeaders: readonly string[];
  /** Whether it is a file whose name changes with its content, sent in encodings. */
  isAsset: boolean;
  query: TObject;
  readQuery: QueryReader<unknown>;
  /** Whether requests count towards the request limits. Rule Q4 (api/RULES.md). */
  isCounted: boolean;
  /** How many requests a request with this query counts as. */
  requestsOf(query: unknown): number;
  /** Null: the route takes no body, or an empty object. Rule A105 (api/RULES.md). */
  readBody: BodyReader<unknown> | null;
  /** A longer body is refused. Rule A9 (api/RULES.md). */
  bodyBytesMax: number;
  /** A further scope that the body asks for. */
  scopeOfBody(body: unknown): Scope | null;
  /** Of a successful answer; 204 has no body, and 101 opens a WebSocket. */
  status: 101 | 200 | 201 | 204;
  response: TSchema;
  /** Of an answer that is not JSON. */
  contentType: string;
  /** The content types of a `StreamedBody`; null: it never answers with one. */
  streamed: readonly string[] | null;
  /** Undefined: the answer goes to the waiter instead. */
  run(
    call: Call<unknown, unknown, C>,
    waiter: ReplyHandler<Result>,
  ): Result | Promise<Result> | undefined;
};

type Declaration<C, Q extends TObject, R extends TSchema, P, B, K = Call<P, B, C>> = {
  method: Method;
  path: string;
  about?: About<Static<R>, NoInfer<B>>;
  errors?: readonly RouteRefusal[];
  query: Q;
  /**
   * Checks and reads the parts of the query that no schema can: cursors, instants. Throws the 400.
   */
  prepare?: (query: Static<Q>) => P;
  response: R;
  status?: 101 | 201 | 204;
  scope?: Scope | null;
  isPublic?: true;
  needs?: 'venueData';
  mayBeUnavailable?: boolean;
  writesControl?: true;
  /** Every request does when left out. */
  asksFor?: (query: P) => boolean;
  cacheSeconds?: number;
  isAsset?: boolean;
  readsHeaders?: readonly string[];
  isCounted?: boolean;
  requestsOf?: (query: P) => number;
  contentType?: string;
  streamed?: readonly string[];
  /** In place of `prepare`, if `query` only describes the parameters. */
  readQuery?: QueryReader<P>;
  readBody?: BodyReader<B>;
  /** 64 KiB when left out. */
  bodyBytesMax?: number;
  scopeOfBody?: (body: B) => Scope | null;
  run(call: K, waiter: ReplyHandler<Result>): Result | Promise<Result> | undefined;
};

/** A route that needs a caller of kind `C`. */
export function keyed<C, Q extends TObject, R extends TSchema, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, R, P, B>,
): Route<C> {
  return routeOf(declared, 'key');
}

/**
 * A keyed route that acts on a paper account: `call.account` belongs to the key's owner, or to the
 * organization that the header names. Rules I60 to I62 (api/RULES.md).
 */
export function ofAccount<C, Q extends TObject, R extends TSchema, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, R, P, B, AccountCall<P, B, C>>,
): Route<C> {
  return routeOf(declared, 'key', true);
}

/** A route for a person's session, never for a key. Rules I20 to I23 (api/RULES.md). */
export function session<C, Q extends TObject, R extends TSchema, P = Static<Q>, B = null>(
  declared: Declaration<SessionCaller, Q, R, P, B>,
): Route<C> {
  return routeOf(declared, 'session') as unknown as Route<C>;
}

/** A route for anyone. `C`: the listener's knowledge of the caller. */
export function visited<C, Q extends TObject, R extends TSchema, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, R, P, B>,
): Route<C> {
  return routeOf(declared, 'visitor');
}

/** A route for anyone. */
export function open<C, Q extends TObject, R extends TSchema>(
  declared: Declaration<null, Q, R, Static<Q>, null>,
): Route<C> {
  return routeOf(declared, 'open') as unknown as Route<C>;
}

function routeOf<C, Q extends TObject, R extends TSchema, P, B, K>(
  declared: Declaration<C, Q, R, P, B, K>,
  access: Access,
  isOfAccount = false,
): Route<C> {
  const { prepare, scopeOfBody, requestsOf, asksFor } = declared;
  const readQuery = queryReader(declared.query);
  return {
    method: declared.method,
    path: declared.path,
    access,
    scope: declared.scope ?? null,
    isPublic: declared.isPublic ?? false,
    ofAccount: isOfAccount,
    needs: declared.needs ?? null,
    mayBeUnavailable: declared.mayBeUnavailable ?? false,
    writesControl: declared.writesControl ?? false,
    asksFor: asksFor === undefined ? always : (query) => asksFor(query as P),
    errors: declared.errors ?? [],
    about: declared.about ?? null,
    cacheSeconds: declared.cacheSeconds ?? 0,
    isAsset: declared.isAsset ?? false,
    readsHeaders: declared.isAsset === true ? OF_ASSETS : (declared.readsHeaders ?? []),
    query: declared.query,
    readQuery:
      declared.readQuery ??
      (prepare === undefined ? readQuery : (query) => prepare(readQuery(query))),
    readBody: declared.readBody ?? null,
    bodyBytesMax: declared.bodyBytesMax ?? BODY_BYTES_MAX,
    isCounted: declared.isCounted ?? true,
    // These casts are safe because the readers above produced the values, and because `admit` sets
    // the account of every call of an account route.
    requestsOf: requestsOf === undefined ? oneRequest : (query) => requestsOf(query as P),
    scopeOfBody: scopeOfBody === undefined ? noScope : (body) => scopeOfBody(body as B),
    status: declared.status ?? 200,
    response: declared.response,
    contentType: declared.contentType ?? 'application/json',
    streamed: declared.streamed ?? null,
    run: (call, waiter) => declared.run(call as K, waiter),
  };
}

/** Runs it after the last checks; undefined: the waiter gets the answer. Throws the refusal. */
export function admitAndRun<C>(
  admit: (route: Route<C>, call: Call<unknown, unknown, C>) => void | Promise<void>,
  route: Route<C>,
  call: Call<unknown, unknown, C>,
  waiter: ReplyHandler<Result>,
): Result | Promise<Result | undefined> | undefined {
  const admitted = admit(route, call);
  if (admitted === undefined) return route.run(call, waiter);
  return admitted.then(() => route.run(call, waiter));
}

const BODY_BYTES_MAX = 64 * 1024;
const OF_ASSETS = ['accept-encoding'];
const noScope = () => null;
const oneRequest = () => 1;
const always = () => true;
