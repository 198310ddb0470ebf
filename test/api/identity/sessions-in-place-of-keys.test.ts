import test from 'ava';
import { signAccessToken } from '../../../api/identity/access-token.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { AWAY, CATALOG } from '../../engine/fixtures.ts';
import { CoreEngine } from '../core-engine.ts';
import { BUY, startAt, usedBy, windowsOf } from '../limited-api.ts';
import { HOUR_MS, isRefused, JSON_TYPE, newcomer, slowRequest } from '../signed-in.ts';
import { type Answer, type Api, startApi } from '../support.ts';

const ORDERS = '/portfolio/orders';

const byCookie = (session: string, more: Record<string, string> = {}) => ({
  token: null,
  headers: { cookie: `sb-access-token=${session}`, ...more },
});

/** A token of a session of the owner, signed at some time. */
async function tokenOf(api: Api, atMs: number): Promise<string> {
  const key = await ensureSigningKey(api.dataDir, api.context.log);
  const { session } = newSession({ userId: api.user.id, isGuest: false }, Date.now());
  await api.store.sessions.add(session);
  return signAccessToken(key, 'test', session, null, atMs);
}

test('I25, I26, A57, A58: a session is its owner, without a key', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  for (const call of [{ token: session }, byCookie(session)]) {
    const me = (await api.call('GET', '/me', call)).json;
    t.is(me.user.id, api.user.id);
    t.is(me.key, null);
    const usage = (await api.call('GET', '/usage', call)).json;
    t.is(usage.key, null);
    t.is(usage.plan, 'basic');
    t.is(usage.trading.key.newPerMinute.limit, 10);
  }
  t.deepEqual((await api.call('GET', '/organizations', { token: session })).json.organizations, []);
});

test('A37, I26: an order by session is placed via web or cli, one by key via api', async (t) => {
  const api = await startApi(t, { engine: new CoreEngine(), catalog: CATALOG });
  const session = await api.signIn();
  const body = { ...BUY, instrumentId: AWAY, count: 1 };
  const placedVia = async (call: object, idempotencyKey: string) => {
    const answer = await api.call('POST', ORDERS, { ...call, body: { ...body, idempotencyKey } });
    t.is(answer.status, 200, answer.text);
    return answer.json.trade.placedVia;
  };
  t.is(await placedVia({}, 'k-1'), 'api');
  t.is(await placedVia({ token: session }, 'k-2'), 'cli');
  t.is(await placedVia(byCookie(session, JSON_TYPE), 'k-3'), 'web');
  const beside = { token: api.token, headers: byCookie(session).headers };
  t.is(await placedVia(beside, 'k-4'), 'api', 'a cookie beside a key has no effect');
});

test('I29: beside a header with a credential the cookie has no effect', async (t) => {
  const api = await startApi(t);
  const { token: other, userId } = await newcomer(api);
  const { cookie } = byCookie(other).headers;
  const asked = async (headers: Record<string, string>) =>
    api.call('GET', '/me', { token: null, headers: { cookie: cookie!, ...headers } });
  t.is((await asked({})).json.user.id, userId);
  const session = await api.signIn();
  for (const sent of [
    { authorization: `Bearer ${api.token}` },
    { 'x-service-key': api.token },
    { authorization: `Bearer ${session}` },
  ] as Record<string, string>[]) {
    t.is((await asked(sent)).json.user.id, api.user.id);
  }
  for (const sent of [
    { authorization: 'Bearer svc_sk_unknown' },
    { authorization: 'Bearer' },
    { 'x-service-key': session },
    { authorization: `Bearer ${session}x` },
  ] as Record<string, string>[]) {
    isRefused(t, await asked(sent), 401, 'invalid_token');
  }
  const two = { authorization: `Bearer ${session}`, 'x-service-key': api.token };
  isRefused(t, await asked(two), 400, 'invalid_request');
  t.is(
    (await asked({ authorization: 'Basic YTpi' })).json.user.id,
    userId,
    'no credential of ours',
  );
});

test('I21, I25: guests, expired and ended sessions are refused on keyed routes', async (t) => {
  const api = await startApi(t);
  const guest = (await api.auth('POST', '/signup')).json.access_token;
  const expired = await tokenOf(api, Date.now() - 2 * HOUR_MS);
  const ended = await api.signIn();
  await api.auth('POST', '/logout', { token: ended });
  for (const [method, path] of [
    ['GET', '/me'],
    ['POST', ORDERS],
    ['DELETE', ORDERS],
  ] as const) {
    for (const call of [{ token: guest }, byCookie(guest, JSON_TYPE)]) {
      isRefused(t, await api.call(method, path, call), 403, 'guest_account');
    }
    for (const token of [expired, ended, 'a.b.c', `${guest.slice(0, -4)}AAAA`]) {
      for (const call of [{ token }, byCookie(token, JSON_TYPE)]) {
        isRefused(t, await api.call(method, path, call), 401, 'invalid_token');
      }
    }
  }
  t.deepEqual(api.engine.requests, []);
});

test('I22: the cookie neither reads nor trades for another site', async (t) => {
  const api = await startApi(t);
  const { origin } = new URL(api.baseUrl);
  const session = await api.signIn();
  const ask = (method: string, path: string, headers: Record<string, string>): Promise<Answer> =>
    api.call(method, path, {
      ...byCookie(session, headers),
      ...(method === 'POST' ? { body: JSON.stringify(BUY) } : {}),
    });
  for (const foreign of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: origin.replace('127.0.0.1', 'localhost') },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ] as Record<string, string>[]) {
    for (const [method, path] of [
      ['GET', '/portfolio'],
      ['GET', '/portfolio/events'],
      ['POST', ORDERS],
      ['POST', `${ORDERS}/preview`],
      ['DELETE', ORDERS],
    ] as const) {
      const answer = await ask(method, path, { ...foreign, ...JSON_TYPE });
      isRefused(t, answer, 401, 'unauthorized');
      t.is(answer.headers.get('service-plan'), null, 'nor is it counted for the account');
    }
  }
  isRefused(t, await ask('POST', ORDERS, { 'content-type': '' }), 401, 'unauthorized');
  isRefused(t, await ask('POST', ORDERS, { 'content-type': 'text/plain' }), 400, 'invalid_request');
  t.deepEqual(api.engine.requests, []);
  const own = { origin, 'sec-fetch-site': 'same-origin' };
  t.is((await ask('GET', '/portfolio', own)).status, 200);
  t.is((await ask('POST', ORDERS, { ...own, ...JSON_TYPE })).status, 200);
  const read = await ask('GET', '/portfolio', {});
  t.is(read.status, 200, 'a read that states no origin');
  t.is(read.headers.get('cross-origin-resource-policy'), 'same-origin');
  t.is(read.headers.get('access-control-allow-origin'), null);
});

test('A19, I24: an order whose session ends before its body is there is not placed', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const slow = slowRequest(t, api, `POST /v1${ORDERS}`, token, JSON.stringify(BUY));
  await api.call('GET', '/me', { token });
  await api.store.sessions.end(api.store.sessions.ofUser(api.user.id));
  t.is(await slow.finish(), 401);
  t.deepEqual(api.engine.requests, []);
});

test('A17: an engine that takes no requests answers before the body of a session is read', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const bad = { token, headers: JSON_TYPE, body: '{' };
  api.engine.busy = new Unavailable('Starting.');
  isRefused(t, await api.call('POST', ORDERS, bad), 503, 'internal_error');
  isRefused(t, await api.call('GET', '/portfolio', { token }), 503, 'internal_error');
  api.engine.busy = null;
  isRefused(t, await api.call('POST', ORDERS, bad), 400, 'invalid_request');
});

test('I60: a session of a member acts on the organization`s sandbox', async (t) => {
  const api = await startApi(t);
  const organization = newOrganization({ slug: 'acme', name: 'Acme' }, Date.now());
  await api.store.organizations.add(organization);
  const token = await api.signIn();
  const headers = { 'x-service-org': organization.id };
  const place = () => api.call('POST', ORDERS, { token, headers, body: BUY });
  isRefused(t, await place(), 403, 'organization_forbidden');
  const membership = { organizationId: organization.id, userId: api.user.id, createdAtMs: 1 };
  await api.store.organizations.putMember({ ...membership, role: 'member' });
  t.is((await place()).status, 200);
  t.like(api.engine.requests[0], { account: organization.id, placedVia: 'cli' });
  const { organizations } = (await api.call('GET', '/organizations', { token })).json;
  t.is(organizations[0].id, organization.id);
});

test('I27: each session has the trade limits of a key, whatever token it uses', async (t) => {
  const api = await startApi(t, { engine: new CoreEngine(), catalog: CATALOG });
  const { session } = newSession({ userId: api.user.id, isGuest: false }, Date.now());
  await api.store.sessions.add(session);
  const key = await ensureSigningKey(api.dataDir, api.context.log);
  const signed = (atMs: number) => signAccessToken(key, 'test', session, null, atMs);
  const [first, refreshed] = [await signed(Date.now()), await signed(Date.now() + 1000)];
  t.not(first, refreshed);
  let orders = 0;
  const place = (token: string) => {
    orders++;
    const body = { ...BUY, instrumentId: AWAY, count: 1, idempotencyKey: `k-${orders}` };
    return api.call('POST', ORDERS, { token, body });
  };
  for (let i = 0; i < 5; i++) {
    for (const token of [first, refreshed]) t.is((await place(token)).status, 200);
  }
  const over = await place(refreshed);
  isRefused(t, over, 429, 'rate_limited');
  t.regex(over.json.error.message, /^The key is at its limit of 10 new orders a minute/);
  const { trading } = (await api.call('GET', '/usage', { token: first })).json;
  t.deepEqual(
    [trading.key.newPerMinute.remaining, trading.account.newPerMinute.remaining],
    [0, 10],
  );
  const another = await api.signIn();
  for (let i = 0; i < 10; i++) t.is((await place(another)).status, 200);
  const full = await place(api.token);
  t.regex(full.json.error.message, /^The account is at its limit of 20 new orders a minute/);
});

test('I26, Q4, Q8: requests by session count for the account, 404 and 405 too', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await api.signIn();
  t.is((await api.call('GET', '/me')).status, 200);
  const me = await api.call('GET', '/me', { token });
  t.deepEqual(windowsOf(me).minute, [60, 58, 40]);
  t.is((await api.call('GET', '/nowhere', { token })).status, 404);
  t.is((await api.call('PUT', '/me', byCookie(token, JSON_TYPE))).status, 405);
  t.is((await api.call('GET', '/nowhere', byCookie(token, { origin: 'null' }))).status, 404);
  t.is(await usedBy(api), 4, 'a cookie from elsewhere is no credential');
  const { key, month } = (await api.call('GET', '/usage')).json;
  t.deepEqual([month.used, key.requestsThisMonth], [4, 1]);
  for (let left = 56; left > 0; left--) await api.call('GET', '/me', { token });
  isRefused(t, await api.call('GET', '/me', { token }), 429, 'rate_limited');
  isRefused(t, await api.call('GET', '/me'), 429, 'rate_limited');
  t.is(await usedBy(api), 60);
});
