import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { hashPassword } from '../../../api/identity/passwords.ts';
import { type Api, type Json, startApi } from '../support.ts';

const PASSWORD = 'correct horse battery';
const ANN = { email: 'ann@example.com', password: PASSWORD };

const signUp = async (api: Api, body: object = ANN) =>
  (await api.auth('POST', '/signup', { body })).json;
const refresh = (api: Api, refresh_token: string) =>
  api.auth('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });
const signInWith = (api: Api, body: object) =>
  api.auth('POST', '/token?grant_type=password', { body });

test('I31: ES256 tokens of an hour, verified by the JWKS', async (t) => {
  const api = await startApi(t);
  const { access_token: token, expires_in, expires_at, user } = await signUp(api);
  const { json: jwks } = await api.auth('GET', '/.well-known/jwks.json');
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks));
  t.deepEqual(protectedHeader, { alg: 'ES256', kid: jwks.keys[0].kid, typ: 'JWT' });
  t.is(payload.exp! - payload.iat!, 3600);
  t.is(expires_in, 3600);
  t.is(expires_at, payload.exp);
  t.like(payload, {
    iss: new URL('/auth/v1', api.baseUrl).href,
    sub: user.id,
    aud: 'authenticated',
    role: 'authenticated',
    email: ANN.email,
    aal: 'aal1',
    is_anonymous: false,
  });
  t.truthy(payload.session_id);
  t.false(JSON.stringify(jwks).includes('"d"'), 'the private part stays here');
});

test('I30, logout: this session, the others, or all', async (t) => {
  const api = await startApi(t);
  const sessions = [await signUp(api)];
  for (let i = 0; i < 3; i++) sessions.push((await signInWith(api, ANN)).json);
  const tokens: string[] = sessions.map((session: Json) => session.access_token);
  const isLive = async (token: string) =>
    (await api.auth('GET', '/user', { token })).status === 200;
  const live = () => Promise.all(tokens.map(isLive));
  const out = (token: string, scope: string) =>
    api.auth('POST', `/logout${scope}`, { token: tokens[Number(token)]! });
  t.is((await out('0', '?scope=local')).status, 204);
  t.deepEqual(await live(), [false, true, true, true]);
  await out('1', '?scope=others');
  t.deepEqual(await live(), [false, true, false, false]);
  tokens.push((await signInWith(api, ANN)).json.access_token);
  await out('1', '');
  t.deepEqual(await live(), [false, false, false, false, false]);
  t.is((await out('1', '')).json.error_code, 'session_not_found');
});

test('an account has fifty sessions at most, and the oldest makes room', async (t) => {
  const api = await startApi(t);
  const first = await api.signIn();
  const second = await api.signIn();
  for (let i = 0; i < 49; i++) await api.signIn();
  t.is(api.store.sessions.ofUser(api.user.id).length, 50);
  t.is((await api.auth('GET', '/user', { token: first })).status, 403);
  t.is((await api.auth('GET', '/user', { token: second })).status, 200);
});

test('I39: sign-ups are limited by address', async (t) => {
  const api = await startApi(t);
  for (let i = 0; i < 60; i++) t.is((await api.auth('POST', '/signup')).status, 200);
  const limited = await api.auth('POST', '/signup');
  t.is(limited.status, 429);
  t.is(limited.json.error_code, 'over_request_rate_limit');
});

test('Q11: behind a TLS proxy the address is the one that the proxy added', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  const from = (forwarded: string) =>
    api.auth('POST', '/signup', { headers: { 'x-forwarded-for': forwarded } });
  for (let i = 0; i < 60; i++) await from(`10.0.0.${i}, 192.0.2.1`);
  t.is((await from('192.0.2.1')).status, 429);
  t.is((await from('192.0.2.1, 192.0.2.2')).status, 200);
});

test('I50, PAPERBOOK_DEFAULT_PLAN: the plan of who signs up', async (t) => {
  for (const [env, plan] of [
    [{}, 'none'],
    [{ PAPERBOOK_DEFAULT_PLAN: 'desk' }, 'desk'],
  ] as const) {
    const api = await startApi(t, { env });
    const { user } = await signUp(api);
    t.is(api.store.users.get(user.id)?.plan, plan);
    const made = await api.admin('POST', '/admin/users', { body: { email: 'bob@example.com' } });
    t.is(made.json.user.plan, 'none', 'an operator says it of each');
  }
});

test('I32: nothing of /auth/v1 is answered in another form than its own', async (t) => {
  const api = await startApi(t);
  const path = await api.auth('GET', '/nowhere');
  t.is(path.status, 404);
  t.is(path.json.error_code, 'not_found');
  const beside = await fetch(new URL('/auth/v1x', api.baseUrl));
  t.like(await beside.json(), { error: { code: 'route_not_found' } });
  t.is((await api.auth('GET', '/signup')).status, 405);
  t.is((await api.auth('POST', '/token?grant_type=pkce', { body: {} })).status, 400);
  t.is((await api.auth('POST', '/signup', { body: '{' })).status, 400);
  t.is((await api.auth('POST', '/signup', { body: { password: PASSWORD } })).status, 400);
  t.is(
    (await api.auth('POST', '/signup', { body: { phone: '1', password: PASSWORD } })).status,
    400,
  );
  const none = await api.auth('GET', '/user');
  t.is(none.status, 401);
  t.is(none.headers.get('www-authenticate'), 'Bearer');
  const big = await api.auth('POST', '/signup', { body: { email: 'x'.repeat(70_000) } });
  t.is(big.status, 413);
});

test('I16: no password, hash, token or key of a sign-in is logged or kept readable', async (t) => {
  const api = await startApi(t);
  const { access_token, refresh_token, user } = await signUp(api);
  const next = (await refresh(api, refresh_token)).json;
  await signInWith(api, { ...ANN, password: 'wrong password' });
  const changed = await api.admin('PATCH', `/admin/users/${user.id}`, {
    body: { password: 'another password' },
  });
  t.is(changed.status, 200);
  t.is((await api.auth('GET', '/user', { token: access_token })).status, 403, 'signed out');
  t.is((await signInWith(api, { ...ANN, password: 'another password' })).status, 200);
  const made = await api.admin('POST', '/admin/users', {
    body: { email: 'bob@example.com', password: 'bobs own password' },
  });
  t.is(made.status, 200);
  const bob = { email: 'bob@example.com', password: 'bobs own password' };
  t.is((await signInWith(api, bob)).status, 200);
  const hash = api.store.passwords.get(user.id)!;
  const secrets = [PASSWORD, 'wrong password', 'another password', 'bobs own password', hash];
  secrets.push(access_token, refresh_token, next.refresh_token);
  const listed = (await api.admin('GET', '/admin/users')).text;
  const kept = readFileSync(join(api.dataDir, 'control', 'data.mdb'));
  for (const secret of secrets) {
    t.false(JSON.stringify(api.log).includes(secret));
    t.false(listed.includes(secret));
    if (secret !== hash) t.false(kept.includes(secret));
  }
  t.regex(hash, /^\$scrypt\$ln=15,r=8,p=3\$/);
  t.not(await hashPassword(PASSWORD), await hashPassword(PASSWORD), 'each has a salt of its own');
});
