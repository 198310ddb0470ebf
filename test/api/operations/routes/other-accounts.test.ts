/**
 * Every route is called with what belongs to somebody else: by the key and by the session of a
 * second account. What is there must look like what is not, and nothing of it may change.
 */
import test from 'ava';
import { decodeJwt } from 'jose';
import { apiRoutes } from '../../../../api/operations/routes/api-routes.ts';
import { BACKTEST_BODY_EXAMPLE } from '../../../../api/schemas/backtest.ts';
import { shareOf, variantsOfRun } from '../../../model/seeds.ts';
import { request as ask, type Json } from '../../../process/client.ts';
import { sharedWhole, type WholeServer } from '../../whole-server.ts';

/** Of somebody: who may do everything there is, and has one of everything. */
type Person = {
  key: string;
  session: string;
  ids: Record<'order' | 'trade' | 'key' | 'pair' | 'user' | 'organization' | 'session', string>;
  /** That continue after the newest of them. */
  cursors: Record<'orders' | 'trades', string>;
};

/** What is sent to a route that names something, and how that is refused. */
type Probe = {
  by: 'key' | 'session';
  /** Null: it names nothing of an account, and answers with what is the caller's own. */
  refused: string | null;
  /** What it names by their ids is anybody's to see. */
  open?: readonly (keyof Person['ids'])[];
  query?: (other: Person) => string;
  body?: (other: Person) => object;
};

const own = (by: Probe['by'], more: Partial<Probe> = {}): Probe => ({ by, refused: null, ...more });
const named = (by: Probe['by'], refused: string, body?: Probe['body']): Probe => ({
  ...{ by, refused },
  ...(body === undefined ? {} : { body }),
});
const sell = ({ ids }: Person) => ({
  ...{ action: 'sell', type: 'market', tradeId: ids.trade, idempotencyKey: 'theirs' },
});

const noTrader = named('key', '404 trader_not_found');
const noMarket = named('key', '404 market_not_found');

/** Route by route: what answers for somebody else’s. */
const PROBES: Record<string, Probe> = {
  'GET /status': own('key'),
  'GET /openapi.json': own('key'),
  'GET /me': own('key'),
  'GET /usage': own('key'),
  'GET /organizations': own('key'),
  // A person who is no member is told so, as by the header.
  'PATCH /organizations/{organizationId}': {
    ...named('session', '404 organization_not_found', () => ({ realism: 'simple' })),
    open: ['organization'],
  },
  'PATCH /me': own('session', { body: () => ({ displayName: 'Mallory', private: false }) }),
  'GET /me/sessions': own('session'),
  'DELETE /me/sessions/{id}': named('session', '404 session_not_found'),
  'GET /api_keys': own('session'),
  'POST /api_keys': own('session', { body: () => ({ label: 'own' }) }),
  'POST /api_keys/{id}/rotate': named('session', '404 key_not_found', () => ({ graceHours: 0 })),
  'DELETE /api_keys/{id}': named('session', '404 key_not_found'),
  'GET /venue_keys': own('session'),
  'POST /venue_keys': own('session', { body: () => ({ label: 'own' }) }),
  'DELETE /venue_keys/{keyId}': named('session', '404 key_not_found'),
  'GET /instruments': own('key'),
  'GET /instruments/search': own('key', { query: () => '?q=away' }),
  'GET /instruments/{ref}': named('key', '404 instrument_not_found'),
  'GET /instruments/{ref}/quote': named('key', '404 instrument_not_found'),
  'GET /instruments/{ref}/book': named('key', '404 instrument_not_found'),
  'GET /games': own('key'),
  'GET /games/{ref}': named('key', '404 game_not_found'),
  'GET /quotes': own('key', { query: () => '?ids=ins_0000000000A1' }),
  'GET /history': { ...noMarket, query: () => '?ticker=theirs' },
  'GET /history/candles': { ...noMarket, query: () => '?ticker=theirs' },
  'GET /history/as_of': own('key', { query: () => '?instrumentIds=theirs&at=2026-11-21' }),
  'GET /history/export': { ...noMarket, query: () => '?ticker=theirs' },
  'GET /leaderboard': own('key'),
  'GET /eval': own('key'),
  'GET /me/eval': own('key'),
  'GET /me/verdict': own('key'),
  'GET /traders/{traderId}': { ...noTrader, open: ['user'] },
  'GET /traders/{traderId}/picks': { ...noTrader, open: ['user'] },
  'GET /traders/{traderId}/track-record': noTrader,
  'GET /track-record/keys': own('key'),
  'POST /backtest': own('key', { body: () => ({ ...BACKTEST_BODY_EXAMPLE }) }),
  'GET /account': own('key'),
  'POST /account/reset': named('session', '409 reset_not_available'),
  'GET /portfolio': own('key'),
  'GET /portfolio/trades': own('key', { query: ({ cursors }) => `?cursor=${cursors.trades}` }),
  'GET /portfolio/orders': own('key', { query: ({ cursors }) => `?cursor=${cursors.orders}` }),
  'GET /portfolio/equity': own('key'),
  'GET /portfolio/events': own('key'),
  'GET /portfolio/orders/{orderId}/receipt': named('key', '404 order_not_found'),
  'GET /portfolio/trades/{tradeId}/receipt': named('key', '404 trade_not_found'),
  'POST /portfolio/orders': named('key', '404 trade_not_found', sell),
  'POST /portfolio/orders/batch': own('key', { body: (other) => ({ orders: [sell(other)] }) }),
  'GET /stream': named('key', '400 invalid_request'),
  'GET /portfolio/orders/{orderId}': named('key', '404 order_not_found'),
  'DELETE /portfolio/orders/{orderId}': named('key', '404 order_not_found'),
  'PATCH /portfolio/orders/{orderId}': named('key', '404 order_not_found', () => ({
    ...{ idempotencyKey: 'theirs', contracts: 1 },
  })),
  'POST /portfolio/order_groups': own('key', {
    body: () => ({ contractsLimit: 5, windowSeconds: 5 }),
  }),
  'GET /portfolio/order_groups': own('key'),
  'DELETE /portfolio/order_groups/{orderGroupId}': named('key', '404 order_group_not_found'),
  'DELETE /portfolio/orders': own('key'),
  'POST /portfolio/orders/preview': own('key', { body: sell }),
};

const shared = sharedWhole();
const UNKNOWN = '0195d3a0-0000-7000-8000-0000000000ff';

test.serial('E5: what is another account`s is not there, and is not touched', async (t) => {
  const server = await shared();
  const victim = await newPerson(server, 'owner');
  const mallory = await newPerson(server, 'other');
  const before = await stateOf(server, victim);
  const routes = apiRoutes({} as never);
  t.deepEqual(
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
    Object.keys(PROBES).sort(),
    'say here what every route is sent of another account, and how it refuses it',
  );
  for (const { method, path, ofAccount } of routes) {
    const name = `${method} ${path}`;
    const probe = PROBES[name]!;
    const send = (other: Person, param: string, by = probe.by, organization?: string) => {
      const where = path.replace(/\{\w+\}/, param) + (probe.query?.(other) ?? '');
      return answerOf(server, mallory[by], method, where, probe.body?.(other), organization);
    };
    const nobody = nobodyLike(victim);
    const ofNobody = probe.refused === null ? '' : await send(nobody, UNKNOWN);
    for (const [nth, [what, id]] of Object.entries(victim.ids).entries()) {
      if (probe.open?.includes(what as keyof Person['ids'])) continue;
      // A check of each change asks for the first id, too: it is of another kind on most paths.
      if (nth > 0 && !isOfPath(path, what)) continue;
      const at = `${name} with the other's ${what}`;
      const answer = await send(victim, id);
      t.deepEqual(secretsIn(answer, victim, id), [], at);
      if (probe.refused === null) {
        t.true(answer.startsWith('20'), `${at}: ${answer}`);
        break;
      }
      t.is(codeOf(answer), probe.refused, at);
      t.is(answer, ofNobody, `${at}: as if it were not there`);
      if (!isOfPath(path, what)) continue;
      // In upper case it is the same id.
      t.is(codeOf(await send(victim, id.toUpperCase())), probe.refused, at);
    }
    // A key is no session; a session in place of a key opens no more than the key does.
    const wrong = await send(victim, victim.ids.key, probe.by === 'key' ? 'session' : 'key');
    if (probe.by === 'session') t.is(codeOf(wrong), '401 session_required', name);
    else if (probe.refused === null) t.true(wrong.startsWith('20'), `${name}: ${wrong}`);
    else t.is(codeOf(wrong), probe.refused, name);
    if (!ofAccount) continue;
    const forbidden = await send(victim, UNKNOWN, 'key', victim.ids.organization);
    t.is(codeOf(forbidden), '403 organization_forbidden', name);
    const notThere = await send(nobody, UNKNOWN, 'key', UNKNOWN);
    t.is(codeOf(notThere), '404 organization_not_found', name);
    for (const id of variantsOfRun([victim.ids.user, victim.ids.key, victim.ids.order])) {
      t.is(await send(victim, UNKNOWN, 'key', id), notThere, `${name}: no account by that id`);
    }
  }
  t.deepEqual(await stateOf(server, victim), before, 'byte for byte');
  t.deepEqual((await server.audit()).problems, []);
});

test.serial('T90: the idempotency keys of one account say nothing of another`s', async (t) => {
  const server = await shared();
  const victim = await newPerson(server, 'victim');
  const mallory = await newPerson(server, 'mallory');
  const theirs = await order(server, victim.key, { idempotencyKey: 'market' });
  t.true(theirs.replayed);
  const mine = await order(server, mallory.key, { idempotencyKey: 'market', count: 7 }, 409);
  t.is(mine.error.code, 'idempotency_key_reused', 'of the own order, whose count was another');
  const fresh = await order(server, mallory.key, { idempotencyKey: 'only-the-victims' });
  t.false(fresh.replayed);
});

test.serial('I30: a session ends its own user`s sessions alone', async (t) => {
  const server = await shared();
  const victim = await newPerson(server, 'stayer');
  const mallory = await newPerson(server, 'leaver');
  const url = `${server.origin}/auth/v1/logout?scope=global`;
  const headers = { authorization: `Bearer ${mallory.session}` };
  t.is((await fetch(url, { method: 'POST', headers })).status, 204);
  const keys = '/api_keys';
  t.is(codeOf(await answerOf(server, mallory.session, 'GET', keys)), '401 invalid_token');
  t.true((await answerOf(server, victim.session, 'GET', keys)).startsWith('200'));
});

test.serial('O1: no key and no session opens the admin listener', async (t) => {
  const server = await shared();
  const { key, session } = await newPerson(server, 'stranger');
  for (const token of [key, session, '', 'x'.repeat(43), `${server.adminToken}x`]) {
    for (const path of ['/admin/users', '/admin/keys', '/admin/audit', '/admin/trading']) {
      const headers = { authorization: `Bearer ${token}` };
      t.is((await fetch(server.paperbook.adminUrl + path, { headers })).status, 401);
    }
  }
});

/** As paths call some of what a person has. */
const IN_PATHS: Record<string, string> = { pair: 'venue_keys', user: 'traders' };

/** Whether a path is of such things; a long run takes all of them. */
function isOfPath(path: string, what: string): boolean {
  return path.includes(IN_PATHS[what] ?? what) || shareOf(100) >= 100;
}

const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];

/** Hard trade limits that no test here meets. */
const WIDE = { newPerMinute: 1000, newPerDay: 1000, closingPerMinute: 1000 };

/** Signed up, on a plan, in an organization, with a key, an open position and a resting order. */
async function newPerson(server: WholeServer, name: string): Promise<Person> {
  const { adminToken, origin } = server;
  const admin = async (method: string, path: string, body: object): Promise<Json> => {
    const answer = await ask(adminToken, method, server.paperbook.adminUrl + path, body);
    if (answer.status > 299) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };
  const email = `${name}@example.com`;
  const body = JSON.stringify({ email, password: 'correct horse' });
  const signedUp = await fetch(`${origin}/auth/v1/signup`, { method: 'POST', body });
  const { access_token: session, user } = (await signedUp.json()) as Json;
  await admin('PATCH', `/admin/users/${user.id}`, {
    plan: 'enterprise',
    tradeLimits: { key: WIDE, account: WIDE },
  });
  const { organization } = await admin('POST', '/admin/organizations', { slug: name, name });
  const members = `/admin/organizations/${organization.id}/members`;
  await admin('PUT', members, { userId: user.id, role: 'owner' });
  const made = await ask(session, 'POST', `${origin}/v1/api_keys`, { scopes: SCOPES });
  const { key, token } = made.body;
  const pair = await ask(session, 'POST', `${origin}/v1/venue_keys`, {});
  const { trade } = await order(server, token, { idempotencyKey: 'market' });
  const limit = { type: 'limit', limitPriceCents: 2 };
  const resting = await order(server, token, { ...limit, idempotencyKey: 'resting' });
  await order(server, token, { ...limit, idempotencyKey: 'resting-2' });
  await order(server, token, { idempotencyKey: `only-the-${name}s` });
  const cursorOf = async (list: string): Promise<string> => {
    const page = await ask(token, 'GET', `${origin}/v1/portfolio/${list}?limit=1`);
    return page.body.nextCursor;
  };
  return {
    key: token,
    session,
    ids: {
      order: resting.order.orderId,
      trade: trade.tradeId,
      key: key.id,
      pair: pair.body.keyId,
      user: user.id,
      organization: organization.id,
      session: decodeJwt<{ session_id: string }>(session).session_id,
    },
    cursors: { orders: await cursorOf('orders'), trades: await cursorOf('trades') },
  };
}

async function order(
  { origin, instrumentIds }: WholeServer,
  key: string,
  fields: object,
  status = 200,
): Promise<Json> {
  const buy = { action: 'buy', type: 'market', instrumentId: instrumentIds[0], side: 'yes' };
  const body = { ...buy, count: 5, ...fields };
  const answer = await ask(key, 'POST', `${origin}/v1/portfolio/orders`, body);
  if (answer.status !== status) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

/** The same shape with nothing of anybody in it. */
function nobodyLike(person: Person): Person {
  const ids = Object.keys(person.ids).map((name) => [name, UNKNOWN]);
  return { ...person, ids: Object.fromEntries(ids) };
}

/** Status and body, as text. */
async function answerOf(
  { origin }: WholeServer,
  token: string,
  method: string,
  path: string,
  body?: object,
  organization?: string,
): Promise<string> {
  const headers: Record<string, string> =
    organization === undefined ? {} : { 'x-service-org': organization };
  const answer = await ask(token, method, `${origin}/v1${path}`, body, headers);
  return `${answer.status} ${JSON.stringify(answer.body)}`;
}

function codeOf(answer: string): string {
  const [, status, body] = /^(\d+) (.*)$/s.exec(answer)!;
  return `${status} ${JSON.parse(body!).error?.code}`;
}

/** What an answer shows of somebody, except what it was asked with. */
function secretsIn(answer: string, { ids, key, session }: Person, sent: string): string[] {
  return [...Object.values(ids), key, session].filter((secret) => {
    return secret !== sent && answer.includes(secret);
  });
}

/** All that somebody can see of what is theirs. The keys come last, as reading by key counts. */
async function stateOf(server: WholeServer, person: Person): Promise<string[]> {
  const keyed = ['/portfolio', '/portfolio/trades', '/portfolio/orders', '/organizations'];
  const state: string[] = [];
  const keys = await answerOf(server, person.session, 'GET', '/api_keys');
  for (const path of keyed) {
    for (const organization of path.startsWith('/p') ? [undefined, person.ids.organization] : []) {
      state.push(await answerOf(server, person.key, 'GET', path, undefined, organization));
    }
  }
  const me = JSON.parse((await answerOf(server, person.key, 'GET', '/me')).slice(4));
  state.push(JSON.stringify(me.user), JSON.stringify(me.key));
  state.push(await answerOf(server, person.session, 'GET', '/me/sessions'));
  state.push(await answerOf(server, person.session, 'GET', '/venue_keys'));
  state.push(keys.replaceAll(/"requestsThisMonth":\d+/g, ''));
  return state;
}
