/**
 * What a route declares: its place, who may call it, what it takes and answers. The dispatcher
 * runs it, tests check answers against `response`, the API description will be made of these.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Reply } from '../engine/core/messages.ts';
import type { Scope } from './identity/keys.ts';
import type { SessionCaller } from './identity/session-access.ts';
import { type BodyReader, type QueryReader, queryReader } from './validation.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that passed every check of its route. `C` is who calls. */
export type Call<Q, B, C> = {
  caller: C;
  /** The `{...}` segment of the path, percent-decoded; empty where the path has none. */
  param: string;
  query: Q;
  body: B;
  /** The X-Service-Org header as sent; null where none was, or the route takes none. */
  organization: string | null;
};

/** JSON text of the answer, or the engine's reply. Refusals of our own are thrown. */
export type Result = string | Reply;

/**
 * Who may call: anyone (`open`); anyone, whom the listener knows something of (`visitor`); who
 * holds a key, or the operator's token on the operator's listener (`key`); a signed-in person
 * (`session`).
 */
export type Access = 'open' | 'visitor' | 'key' | 'session';

export type Route<C> = {
  method: Method;
  /** `/portfolio/orders/{orderId}`: at most one segment is a parameter. */
  path: string;
  /** An open route's `caller` is null. */
  access: Access;
  /** Null: any valid key. */
  scope: Scope | null;
  takesOrganization: boolean;
  /** The operator's switch that must be on. */
  needs: 'venueData' | 'trading' | null;
  /** How long the answer may be cached; 0: not at all. */
  cacheSeconds: number;
  readQuery: QueryReader<unknown>;
  /** Whether requests count towards the request limits. SPEC.md section 8, rule 2. */
  isCounted: boolean;
  /** As how many requests one with this query counts. */
  requestsOf(query: unknown): number;
  /** Null: the route takes no body, and one that is sent is not read. */
  readBody: BodyReader<unknown> | null;
  /** A further scope that the body asks for. */
  scopeOfBody(body: unknown): Scope | null;
  /** Of a successful answer; 204 has no body. */
  status: 200 | 201 | 204;
  response: TSchema;
  /** Of an answer that is not JSON. */
  contentType: string;
  run(call: Call<unknown, unknown, C>): Result | Promise<Result>;
};

type Declaration<C, Q extends TObject, P, B> = {
  method: Method;
  path: string;
  query: Q;
  /** What no schema can check or read of the query: cursors, instants. Throws the 400. */
  prepare?: (query: Static<Q>) => P;
  response: TSchema;
  status?: 201 | 204;
  scope?: Scope | null;
  takesOrganization?: boolean;
  needs?: 'venueData' | 'trading';
  cacheSeconds?: number;
  isCounted?: boolean;
  requestsOf?: (query: P) => number;
  contentType?: string;
  readBody?: BodyReader<B>;
  scopeOfBody?: (body: B) => Scope | null;
  run(call: Call<P, B, C>): Result | Promise<Result>;
};

/** A route that needs a caller of kind `C`. */
export function keyed<C, Q extends TObject, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, P, B>,
): Route<C> {
  return routeOf(declared, 'key');
}

/** A route for a person's session, never for a key. SPEC.md section 5, rule 6. */
export function session<C, Q extends TObject, P = Static<Q>, B = null>(
  declared: Declaration<SessionCaller, Q, P, B>,
): Route<C> {
  return routeOf(declared, 'session') as unknown as Route<C>;
}

/** A route for anyone, of whom the listener tells what `C` holds. */
export function visited<C, Q extends TObject, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, P, B>,
): Route<C> {
  return routeOf(declared, 'visitor');
}

/** A route for anyone. */
export function open<C, Q extends TObject>(
  declared: Declaration<null, Q, Static<Q>, null>,
): Route<C> {
  return routeOf(declared, 'open') as unknown as Route<C>;
}

function routeOf<C, Q extends TObject, P, B>(
  declared: Declaration<C, Q, P, B>,
  access: Access,
): Route<C> {
  const { prepare, scopeOfBody, requestsOf } = declared;
  const readQuery = queryReader(declared.query);
  return {
    method: declared.method,
    path: declared.path,
    access,
    scope: declared.scope ?? null,
    takesOrganization: declared.takesOrganization ?? false,
    needs: declared.needs ?? null,
    cacheSeconds: declared.cacheSeconds ?? 0,
    readQuery: prepare === undefined ? readQuery : (query) => prepare(readQuery(query)),
    readBody: declared.readBody ?? null,
    isCounted: declared.isCounted ?? true,
    // The casts below hold because the readers above made the values they cast.
    requestsOf: requestsOf === undefined ? oneRequest : (query) => requestsOf(query as P),
    scopeOfBody: scopeOfBody === undefined ? noScope : (body) => scopeOfBody(body as B),
    status: declared.status ?? 200,
    response: declared.response,
    contentType: declared.contentType ?? 'application/json',
    run: (call) => declared.run(call as Call<P, B, C>),
  };
}

const noScope = () => null;
const oneRequest = () => 1;
