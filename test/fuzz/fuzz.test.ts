/**
 * Requests made bad at random, seeded, against the whole server: whatever is sent, nothing is a
 * 500, every answer is one that the description knows, the server goes on, and the ledger verifies.
 */
import test, { type ExecutionContext } from 'ava';
import { Metrics } from '../../api/dispatch/metrics.ts';
import { adminRoutes } from '../../api/operations/admin/admin.ts';
import { authRoutes } from '../../api/operations/routes/auth.ts';
import { AnswerCheck } from '../api/answer-check.ts';
import { startWhole, type WholeServer } from '../api/whole-server.ts';
import { createRandomSource, type RandomSource } from '../model/random-source.ts';
import { shareOf } from '../model/seeds.ts';
import { request as ask, type Json } from '../process/client.ts';
import { bytesOf, type FuzzRequest, mangle, mutate } from './mutations.ts';
import { Wire, type WireAnswer } from './wire.ts';

const SEED = Number(process.env.SEED ?? 1);
const CONNECTIONS = 24;
/** Requests of each surface. */
const API_REQUESTS = shareOf(16_000);
const AUTH_REQUESTS = shareOf(1500);
const ADMIN_REQUESTS = shareOf(1500);
/** One in so many is held against the description in full: that costs more than the request. */
const DESCRIBED_EVERY = 10;

/** A good request of a surface; chosen ever so often, and mutated more or less. */
type Maker = (random: RandomSource, caller: Caller) => FuzzRequest;
type Surface = {
  name: string;
  port: number;
  requests: number;
  makers: Maker[];
  /** What is wrong with an answer of the server's own, in words. */
  faultOf(request: FuzzRequest, answer: WireAnswer): string | null;
};
/** Whose requests a connection sends: an account of its own, so that its run is its own too. */
type Caller = {
  credentials: [string, string][];
  session: [string, string];
  ids: string[];
  /** Of the good key: not to be revoked by chance, or all that follows is a 401. */
  keyId: string;
};

test('whatever is sent, no 500, and the ledger verifies', async (t) => {
  t.timeout(300_000);
  const server = await startWhole(t, {
    PAPERBOOK_DURABILITY: 'commit',
    PAPERBOOK_LIMITS_ENFORCED: 'on',
    PAPERBOOK_SHARDS: '2',
  });
  const callers = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, i) => newCaller(server, i)),
  );
  const document = await (await fetch(`${server.paperbook.baseUrl}/openapi.json`)).json();
  const startedCpu = process.cpuUsage();
  const counts = new Map<string, number>();
  const port = Number(new URL(server.origin).port);
  const adminPort = Number(new URL(server.paperbook.adminUrl).port);
  const surfaces: Surface[] = [
    apiSurface(document, port),
    { name: 'auth', port, requests: AUTH_REQUESTS, makers: authMakers(), faultOf: authFault },
    {
      name: 'admin',
      port: adminPort,
      requests: ADMIN_REQUESTS,
      makers: adminMakers(server.adminToken),
      faultOf: errorFault,
    },
  ];
  for (const surface of surfaces) {
    await Promise.all(callers.map((caller, i) => fuzz(t, surface, caller, i, counts)));
  }
  const { user, system } = process.cpuUsage(startedCpu);
  t.log(
    [...counts]
      .sort()
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
  );
  t.log(`SEED=${SEED}, ${((user + system) / 1e6).toFixed(1)} s of CPU`);

  // A small share may by chance miss one.
  const wanted =
    shareOf(100) < 100 ? [200, 400] : [200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 429, 431];
  for (const status of wanted) t.true((counts.get(`api ${status}`) ?? 0) > 0, `api ${status}`);
  const good = counts.get('api 200') ?? 0;
  t.true(good > API_REQUESTS / 10, `${good} went through`);
  for (const status of wanted.filter((one) => [200, 400, 401, 404].includes(one))) {
    for (const name of ['auth', 'admin']) t.true((counts.get(`${name} ${status}`) ?? 0) > 0, name);
  }
  t.deepEqual(server.errors, [], `SEED=${SEED}`);
  const audit = await server.audit();
  t.deepEqual(audit.problems, [], `SEED=${SEED}`);
  t.true(audit.openPositions > 0 && audit.restingOrders > 0, 'a good part reached the engine');
  t.is((await fetch(`${server.paperbook.baseUrl}/status`)).status, 200);
  t.is((await fetch(`${server.paperbook.adminUrl}/readyz`)).status, 200);
});

/** The share of one connection. */
async function fuzz(
  t: ExecutionContext,
  surface: Surface,
  caller: Caller,
  index: number,
  counts: Map<string, number>,
): Promise<void> {
  const random = createRandomSource(SEED * 1000 + index);
  const wire = new Wire(surface.port);
  t.teardown(() => wire.close());
  const share = Math.ceil(surface.requests / CONNECTIONS);
  for (let n = 0; n < share; n++) {
    const request = random.pick(surface.makers)(random, caller);
    const times = random.weighted({ none: 2, one: 4, two: 2, three: 1 });
    const mutations = { none: 0, one: 1, two: 2, three: 3 }[times];
    for (let i = 0; i < mutations; i++) mutate(random, request, caller.ids);
    // What is mangled as bytes may end anywhere.
    const isRaw = random.oneIn(50);
    const bytes = isRaw
      ? Buffer.from(mangle(random, bytesOf(request, surface.port).toString('latin1')), 'latin1')
      : bytesOf(request, surface.port);
    const where = () => `SEED=${SEED}, ${surface.name}, connection ${index}, request ${n}`;
    const sent = () => JSON.stringify(bytes.toString('latin1').slice(0, 2000));
    const answer = await wire
      .send(bytes, !isRaw && request.method === 'HEAD', isRaw)
      .catch((error: Error) => {
        throw new Error(`${where()}: ${error.message}\n${sent()}`);
      });
    const status = answer?.status ?? 'closed';
    const what = `${surface.name} ${status}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    if (answer === null) {
      if (!isRaw) t.fail(`${where()}: no answer to ${sent()}`);
      continue;
    }
    const fault = faultOf(answer) ?? (isRaw ? null : surface.faultOf(request, answer));
    if (fault !== null) t.fail(`${where()}: ${fault}\n${sent()}\n${answer.text.slice(0, 500)}`);
    learn(caller, answer.text);
  }
  wire.close();
}

const LIBRARY_STATUSES = [400, 431, 505];

/** What holds for every answer. */
function faultOf({ status, headers, text }: WireAnswer): string | null {
  if (!headers.has('x-request-id')) {
    // The library's own: there was no request to answer.
    const isLibrary = LIBRARY_STATUSES.includes(status) && headers.get('connection') === 'close';
    return isLibrary ? null : `${status} without X-Request-Id: ${text}`;
  }
  if (headers.get('x-content-type-options') !== 'nosniff') return 'no nosniff';
  if (status === 503 && headers.has('retry-after')) return null;
  if (status >= 500) return `${status}`;
  if (headers.get('content-type') !== 'application/json' || text === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch {
    return 'it is not JSON';
  }
}

/** Rule E1 (api/RULES.md). */
function errorFault({ method }: FuzzRequest, { status, headers, text }: WireAnswer): string | null {
  if (!headers.has('x-request-id') || status < 400 || method === 'HEAD') return null;
  const { error } = JSON.parse(text) as Json;
  const isError = typeof error?.code === 'string' && typeof error.message === 'string';
  return isError ? null : 'it is not of the form of an error';
}

function authFault({ method }: FuzzRequest, { status, headers, text }: WireAnswer): string | null {
  if (!headers.has('x-request-id') || status < 400 || method === 'HEAD') return null;
  const { code, error_code, msg, error } = JSON.parse(text) as Json;
  // Beside /auth/v1 the path is the API's.
  if (error !== undefined) return status === 404 ? null : 'it is an error of the API';
  const isError = code === status && typeof error_code === 'string' && typeof msg === 'string';
  return isError ? null : 'it is not of the form of an error';
}

const ID = /"(?:orderId|tradeId|id|nextCursor)":"([^"]+)"/g;
const IDS_MAX = 40;
/** Instruments and the user, which a caller starts with, stay. */
const FIXED_IDS = 5;

/** Takes what an answer names, so that later requests name it too. */
function learn(caller: Caller, text: string): void {
  if (text.length > 5000) return;
  for (const [, id] of text.matchAll(ID)) {
    if (id === caller.keyId || caller.ids.includes(id!)) continue;
    caller.ids.push(id!);
    if (caller.ids.length > IDS_MAX) caller.ids.splice(FIXED_IDS, 1);
  }
}

/** Every operation of the description, with its own examples. */
function apiSurface(document: Json, port: number): Surface {
  const check = new AnswerCheck(document);
  const makers: Maker[] = [];
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(methods)) {
      const maker = operationMaker(document, path, method.toUpperCase(), operation);
      // Orders are what there is most to say about.
      const weight = path === '/portfolio/orders' && method === 'post' ? 12 : 1;
      for (let i = 0; i < weight; i++) makers.push(maker);
    }
  }
  let count = 0;
  return {
    name: 'api',
    port,
    requests: API_REQUESTS,
    makers,
    faultOf: (request, answer) => {
      const fault = errorFault(request, answer);
      count++;
      if (fault !== null || count % DESCRIBED_EVERY !== 0) return fault;
      if (!request.path.startsWith('/v1/') || !answer.headers.has('x-request-id')) return null;
      const { status, text } = answer;
      const headers = new Headers([...answer.headers]);
      const { method, path } = request;
      // Methods are case-sensitive, and the description cannot say so.
      if (method !== method.toUpperCase()) return null;
      return check.faultOf({ method, path: path.slice('/v1'.length), status, headers, text });
    },
  };
}

function operationMaker(document: Json, path: string, method: string, operation: Json): Maker {
  const parameters = (operation.parameters ?? []).map((parameter: Json) => {
    return parameter.$ref === undefined ? parameter : resolve(document, parameter.$ref);
  });
  const query: [string, string][] = parameters
    .filter((parameter: Json) => parameter.in === 'query')
    .map(({ name, example, schema }: Json) => [name, String(example ?? schema.default ?? 'x')]);
  const examples = operation.requestBody?.content['application/json'].examples ?? {};
  const bodies: Json[] = Object.values<Json>(examples).map(({ value }) => value);
  const isOfSession = 'sessionBearer' in (operation.security?.[0] ?? {});
  return (random, caller) => {
    const body = bodies.length === 0 ? null : structuredClone(random.pick(bodies));
    if (body !== null) personalize(random, body, caller);
    const credential = random.oneIn(12)
      ? random.pick(caller.credentials)
      : isOfSession
        ? caller.session
        : caller.credentials[0]!;
    const id = caller.ids.length > 0 && !random.oneIn(5) ? random.pick(caller.ids) : 'unknown';
    return {
      method,
      path: `/v1${path.replace(/\{\w+\}/, encodeURIComponent(id))}`,
      query: query.filter(() => random.oneIn(3)),
      headers: body === null ? [credential] : [credential, JSON_TYPE],
      body: body === null ? null : JSON.stringify(body),
      isChunked: body !== null && random.oneIn(10),
    };
  };
}

const JSON_TYPE: [string, string] = ['content-type', 'application/json'];

/** Puts what exists in place of what an example names. */
function personalize(random: RandomSource, body: Json, { ids }: Caller): void {
  const instruments = ids.filter((id) => id.startsWith('ins_'));
  const others = ids.filter((id) => !id.startsWith('ins_'));
  if ('idempotencyKey' in body && !random.oneIn(6)) body.idempotencyKey = `k-${random.int(0, 1e9)}`;
  if ('instrumentId' in body && instruments.length > 0)
    body.instrumentId = random.pick(instruments);
  if ('tradeId' in body && others.length > 0) body.tradeId = random.pick(others);
  if (body.expiresAt !== undefined) body.expiresAt = '2026-12-01T00:00:00.000Z';
}

function resolve(document: Json, ref: string): Json {
  return ref
    .slice(2)
    .split('/')
    .reduce((inside: Json, name) => inside[name], document);
}

const AUTH_BODIES = [
  { email: 'somebody@example.com', password: 'short' },
  { email: 'no address', password: 'long enough' },
  { phone: '123', password: 'long enough' },
  { refresh_token: 'a'.repeat(64) },
];

function authMakers(): Maker[] {
  return authRoutes({} as never).map(({ method, path, readBody }) => (random, caller) => ({
    method,
    path: `/auth/v1${path}`,
    query: random.oneIn(2) ? [['grant_type', random.pick(['password', 'refresh_token'])]] : [],
    headers: [random.oneIn(2) ? caller.session : random.pick(caller.credentials)],
    // Without a body it is a guest who signs up.
    body: readBody === null || random.oneIn(8) ? null : JSON.stringify(random.pick(AUTH_BODIES)),
    isChunked: false,
  }));
}

const ADMIN_BODIES = [
  { on: true },
  { plan: 'basic' },
  { email: 'made@example.com' },
  { slug: 'acme', name: 'Acme' },
  { userId: '0195d3a0-0000-7000-8000-000000000001', role: 'member' },
  { userId: '0195d3a0-0000-7000-8000-000000000001', scopes: ['markets:read'] },
  { tradeLimits: null },
];

function adminMakers(token: string): Maker[] {
  return adminRoutes({ identity: {} } as never, new Metrics()).map(({ method, path, readBody }) => {
    return (random, caller) => ({
      method,
      path: path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(random.pick(caller.ids))),
      query: [],
      headers: [random.oneIn(5) ? caller.session : ['authorization', `Bearer ${token}`]],
      body: readBody === null ? null : JSON.stringify(random.pick(ADMIN_BODIES)),
      isChunked: false,
    });
  });
}

const WIDE = { newPerMinute: 1_000_000, newPerDay: 1_000_000, closingPerMinute: 1_000_000 };
const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];

/** An account with a good key, a session, and credentials of every other kind. */
async function newCaller(server: WholeServer, index: number): Promise<Caller> {
  const admin = async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await ask(server.adminToken, method, server.paperbook.adminUrl + path, body);
    return answer.body;
  };
  const email = `fuzz${index}@example.com`;
  // Some have little to spend, to meet the limits.
  const perMinute = index % 4 === 3 ? 200 : 10_000_000;
  const { user } = await admin('POST', '/admin/users', {
    email,
    plan: 'enterprise',
    requestLimits: { perMinute, perMonth: 100_000_000 },
    tradeLimits: index % 8 === 5 ? null : { key: WIDE, account: WIDE },
  });
  const keyOf = async (scopes: string[]): Promise<Json> => {
    return admin('POST', '/admin/keys', { userId: user.id, scopes });
  };
  const good = await keyOf(SCOPES);
  const narrow = await keyOf(['records:read']);
  const execution = await keyOf([...SCOPES, 'trade:write:venue_a', 'trade:write:venue_c_intl']);
  const revoked = await keyOf(SCOPES);
  await admin('DELETE', `/admin/keys/${revoked.key.id}`);
  const session = await server.signIn(user);
  const bearer = (token: string): [string, string] => ['authorization', `Bearer ${token}`];
  return {
    credentials: [
      ['x-service-key', good.token],
      bearer(narrow.token),
      bearer(execution.token),
      bearer(revoked.token),
      bearer('nonsense'),
      ['accept', '*/*'],
      bearer(session),
    ],
    session: bearer(session),
    ids: [...server.instrumentIds, user.id],
    keyId: good.key.id,
  };
}
