/**
 * What a route declares: its place, who may call it, what it takes and answers. The dispatcher
 * runs it, tests check answers against `response`, the API description will be made of these.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Reply } from '../engine/core/messages.ts';
import type { PaperAccount } from './identity/accounts.ts';
import type { Scope } from './identity/keys.ts';
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
  /** What the route acts on, set where callers are admitted; null where it acts on no account. */
  account: PaperAccount | null;
};

/** A request of a route that acts on a paper account. */
type AccountCall<Q, B, C> = Call<Q, B, C> & { account: PaperAccount };

/** JSON text of the 200 answer, or the engine's reply. Refusals of our own are thrown. */
export type Result = string | Reply;

export type Route<C> = {
  method: Method;
  /** `/portfolio/orders/{orderId}`: at most one segment is a parameter. */
  path: string;
  /** Whether the caller is asked for; an open route's `caller` is null. */
  isOpen: boolean;
  /** Null: any valid key. */
  scope: Scope | null;
  /** Whether it acts on a paper account, and so takes the X-Service-Org header. */
  ofAccount: boolean;
  /** The operator's switch that must be on. */
  needs: 'venueData' | 'trading' | null;
  /** How long the answer may be cached; 0: not at all. */
  cacheSeconds: number;
  readQuery: QueryReader<unknown>;
  /** Null: the route takes no body, and one that is sent is not read. */
  readBody: BodyReader<unknown> | null;
  /** A further scope that the body asks for. */
  scopeOfBody(body: unknown): Scope | null;
  response: TSchema;
  /** Of an answer that is not JSON. */
  contentType: string;
  run(call: Call<unknown, unknown, C>): Result | Promise<Result>;
};

type Declaration<C, Q extends TObject, P, B, K = Call<P, B, C>> = {
  method: Method;
  path: string;
  query: Q;
  /** What no schema can check or read of the query: cursors, instants. Throws the 400. */
  prepare?: (query: Static<Q>) => P;
  response: TSchema;
  scope?: Scope | null;
  needs?: 'venueData' | 'trading';
  cacheSeconds?: number;
  contentType?: string;
  readBody?: BodyReader<B>;
  scopeOfBody?: (body: B) => Scope | null;
  run(call: K): Result | Promise<Result>;
};

/** A route that needs a caller of kind `C`. */
export function keyed<C, Q extends TObject, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, P, B>,
): Route<C> {
  return routeOf(declared, {});
}

/**
 * A keyed route that acts on a paper account: `call.account` is the one, the key owner's or the
 * organization's that the header names. SPEC.md section 4, Organization header.
 */
export function ofAccount<C, Q extends TObject, P = Static<Q>, B = null>(
  declared: Declaration<C, Q, P, B, AccountCall<P, B, C>>,
): Route<C> {
  return routeOf(declared, { ofAccount: true });
}

/** A route for anyone. */
export function open<C, Q extends TObject>(
  declared: Declaration<null, Q, Static<Q>, null>,
): Route<C> {
  return routeOf(declared, { isOpen: true }) as unknown as Route<C>;
}

function routeOf<C, Q extends TObject, P, B, K>(
  declared: Declaration<C, Q, P, B, K>,
  kind: { isOpen?: true; ofAccount?: true },
): Route<C> {
  const { prepare, scopeOfBody } = declared;
  const readQuery = queryReader(declared.query);
  return {
    method: declared.method,
    path: declared.path,
    isOpen: kind.isOpen ?? false,
    scope: declared.scope ?? null,
    ofAccount: kind.ofAccount ?? false,
    needs: declared.needs ?? null,
    cacheSeconds: declared.cacheSeconds ?? 0,
    readQuery: prepare === undefined ? readQuery : (query) => prepare(readQuery(query)),
    readBody: declared.readBody ?? null,
    // The casts below hold because the readers above made the values they cast, and because
    // whoever admits a call of an account route sets its account.
    scopeOfBody: scopeOfBody === undefined ? noScope : (body) => scopeOfBody(body as B),
    response: declared.response,
    contentType: declared.contentType ?? 'application/json',
    run: (call) => declared.run(call as K),
  };
}

const noScope = () => null;
