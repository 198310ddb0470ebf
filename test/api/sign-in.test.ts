import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthClient, type AuthError as ClientError } from '@supabase/auth-js';
import test, { type ExecutionContext } from 'ava';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { hashPassword } from '../../api/identity/passwords.ts';
import { REUSE_GRACE_MS } from '../../api/identity/sessions.ts';
import { ensureSigningKey } from '../../api/identity/signing-key.ts';
import { type Api, type Json, startApi } from './support.ts';

const PASSWORD = 'correct horse battery';
const ANN = { email: 'ann@example.com', password: PASSWORD };

/** The client library as it comes, with its storage in memory. */
function clientOf(api: Api): InstanceType<typeof AuthClient> {
  const kept = new Map<string, string>();
  return new AuthClient({
    url: new URL('/auth/v1', api.baseUrl).href,
    autoRefreshToken: false,
    storage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => {
        kept.set(name, value);
      },
      removeItem: (name) => {
        kept.delete(name);
      },
    },
  });
}

function isError(t: ExecutionContext, error: ClientError | null, status: number, code: string) {
  t.is(error?.status, status, error?.message);
  t.is(error?.code, code);
}

const signUp = async (api: Api, body: object = ANN) =>
  (await api.auth('POST', '/signup', { body })).json;
const refresh = (api: Api, refresh_token: string) =>
  api.auth('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });
const signInWith = (api: Api, body: object) =>
  api.auth('POST', '/token?grant_type=password', { body });

test('CONTRACT.md section 7: @supabase/auth-js signs up, in, refreshes and out', async (t) => {
  const api = await startApi(t);
  const client = clientOf(api);
  const up = await client.signUp(ANN);
  t.is(up.error, null);
  t.is(up.data.user?.email, ANN.email);
  t.is((await client.getUser()).data.user?.id, up.data.user!.id);

  const again = await clientOf(api).signInWithPassword({ ...ANN, email: 'ANN@example.com' });
  t.is(again.error, null);
  t.is(again.data.user?.id, up.data.user!.id);

  const before = up.data.session!;
  const refreshed = await client.refreshSession();
  t.is(refreshed.error, null);
  t.not(refreshed.data.session?.refresh_token, before.refresh_token);
  t.is(refreshed.data.session?.user.id, before.user.id);

  t.is((await client.signOut({ scope: 'local' })).error, null);
  t.is((await client.getSession()).data.session, null);
  t.truthy((await client.getUser(before.access_token)).error, 'its session has ended');
  t.is((await client.getUser(again.data.session!.access_token)).error, null, 'the other has not');
});

test('CONTRACT.md section 7: what auth-js tells of a refusal', async (t) => {
  const api = await startApi(t);
  const client = clientOf(api);
  await client.signUp(ANN);
  const wrong = await client.signInWithPassword({ ...ANN, password: 'not this one' });
  isError(t, wrong.error, 400, 'invalid_credentials');
  t.is(wrong.error?.message, 'Invalid login credentials');
  const nobody = await client.signInWithPassword({ ...ANN, email: 'bob@example.com' });
  isError(t, nobody.error, 400, 'invalid_credentials');
  isError(t, (await client.signUp(ANN)).error, 422, 'user_already_exists');
  const weak = await client.signUp({ email: 'bob@example.com', password: 'short' });
  isError(t, weak.error, 422, 'weak_password');
  const malformed = await client.signUp({ email: 'not an address', password: PASSWORD });
  isError(t, malformed.error, 400, 'validation_failed');
  isError(t, (await client.getUser('a.b.c')).error, 403, 'bad_jwt');
  const stale = await client.refreshSession({ refresh_token: 'x'.repeat(64) });
  isError(t, stale.error, 400, 'refresh_token_not_found');
});

test('CONTRACT.md section 7: auth-js signs in a guest, who has no user and no keys', async (t) => {
  const api = await startApi(t);
  const users = api.store.users.size;
  const client = clientOf(api);
  const { data, error } = await client.signInAnonymously();
  t.is(error, null);
  t.true(data.user?.is_anonymous);
  const token = data.session!.access_token;
  t.is(decodeJwt(token).is_anonymous, true);
  t.true((await client.getUser()).data.user?.is_anonymous);
  t.is((await client.refreshSession()).error, null);
  t.is(api.store.users.size, users);
  const refused = await api.call('GET', '/api_keys', { token });
  t.is(refused.status, 403);
  t.is(refused.json.error.code, 'guest_account');
  const empty = await api.auth('POST', '/signup');
  t.true(empty.json.user.is_anonymous, 'a body of nothing is a guest too');
});

test('CONTRACT.md section 7: EdDSA tokens of an hour, verified by the JWKS', async (t) => {
  const api = await startApi(t);
  const { access_token: token, expires_in, expires_at, user } = await signUp(api);
  const { json: jwks } = await api.auth('GET', '/.well-known/jwks.json');
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks));
  t.deepEqual(protectedHeader, { alg: 'EdDSA', kid: jwks.keys[0].kid, typ: 'JWT' });
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

test('the signing key is readable by its owner only and survives a restart', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-key-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const first = await ensureSigningKey(directory);
  t.is(statSync(join(directory, 'auth-key.json')).mode & 0o777, 0o600);
  t.is((await ensureSigningKey(directory)).kid, first.kid);
  const api = await startApi(t);
  const { access_token: token } = await signUp(api);
  t.is(decodeProtectedHeader(token).kid, (await ensureSigningKey(api.dataDir)).kid);
});

test('refresh tokens are used once; a copy used later ends the session', async (t) => {
  const api = await startApi(t);
  const first = await signUp(api);
  const second = (await refresh(api, first.refresh_token)).json;
  const lost = await refresh(api, first.refresh_token);
  t.is(lost.status, 200, 'an answer that was lost can be asked for again at once');

  const id = decodeJwt(first.access_token).session_id as string;
  const session = api.store.sessions.get(id, Date.now())!;
  await api.store.sessions.put({ ...session, refreshedAtMs: Date.now() - REUSE_GRACE_MS });
  const copied = await refresh(api, first.refresh_token);
  t.is(copied.status, 400);
  t.is(copied.json.error_code, 'refresh_token_already_used');
  for (const token of [second.refresh_token, lost.json.refresh_token]) {
    t.is((await refresh(api, token)).json.error_code, 'refresh_token_not_found');
  }
  const gone = await api.auth('GET', '/user', { token: first.access_token });
  t.is(gone.json.error_code, 'session_not_found');
  const keys = await api.call('GET', '/api_keys', { token: first.access_token });
  t.is(keys.json.error.code, 'invalid_token');
});

test('a token two rotations old ends its session, a made-up one does not', async (t) => {
  const api = await startApi(t);
  const first = await signUp(api);
  const family = first.refresh_token.slice(0, 32);
  const second = (await refresh(api, first.refresh_token)).json;
  const third = (await refresh(api, second.refresh_token)).json;
  const foreign = `${'A'.repeat(32)}${third.refresh_token.slice(32)}`;
  t.is((await refresh(api, foreign)).json.error_code, 'refresh_token_not_found');
  t.is((await refresh(api, third.refresh_token.slice(1))).status, 400);
  t.is(family, third.refresh_token.slice(0, 32));
  t.is((await refresh(api, first.refresh_token)).json.error_code, 'refresh_token_already_used');
  t.is((await refresh(api, third.refresh_token)).json.error_code, 'refresh_token_not_found');
});

test('CONTRACT.md section 7, logout: this session, the others, or all', async (t) => {
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

test('wrong passwords are limited by account, and a right one does not help then', async (t) => {
  const api = await startApi(t);
  await signUp(api);
  const statuses: number[] = [];
  for (let i = 0; i < 10; i++) {
    statuses.push((await signInWith(api, { ...ANN, password: `guess-${i}` })).status);
  }
  t.deepEqual(statuses, Array(10).fill(400));
  const limited = await signInWith(api, { ...ANN, email: 'Ann@Example.com' });
  t.is(limited.status, 429);
  t.is(limited.json.error_code, 'over_request_rate_limit');
  const seconds = Number(limited.headers.get('retry-after'));
  t.true(seconds >= 1 && seconds <= 300);
  const other = await signUp(api, { ...ANN, email: 'bob@example.com' });
  t.truthy(other.access_token, 'another account is not held up');
});

test('sign-ups are limited by address', async (t) => {
  const api = await startApi(t);
  for (let i = 0; i < 60; i++) t.is((await api.auth('POST', '/signup')).status, 200);
  const limited = await api.auth('POST', '/signup');
  t.is(limited.status, 429);
  t.is(limited.json.error_code, 'over_request_rate_limit');
});

test('behind a TLS proxy the address is the one that the proxy added', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  const from = (forwarded: string) =>
    api.auth('POST', '/signup', { headers: { 'x-forwarded-for': forwarded } });
  for (let i = 0; i < 60; i++) await from(`10.0.0.${i}, 192.0.2.1`);
  t.is((await from('192.0.2.1')).status, 429);
  t.is((await from('192.0.2.1, 192.0.2.2')).status, 200);
});

test('nothing of /auth/v1 is answered in another form than its own', async (t) => {
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

test('no password, hash, token or key of a sign-in is logged or kept readable', async (t) => {
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
