import test from 'ava';
import { keyStatus, newKey } from '../../../api/identity/keys.ts';
import { RawConnection, request } from '../raw-connection.ts';
import { type Answer, type Api, startApi } from '../support.ts';

const HOUR_MS = 3_600_000;

function isInvalidToken(answer: Answer): boolean {
  return (
    answer.status === 401 &&
    answer.json.error.code === 'invalid_token' &&
    answer.headers.get('www-authenticate') === 'Bearer error="invalid_token"'
  );
}

async function me(api: Api, headers: Record<string, string>): Promise<Answer> {
  return api.call('GET', '/me', { token: null, headers });
}

test('E4: no credential is 401 unauthorized', async (t) => {
  const api = await startApi(t);
  for (const headers of [{}, { authorization: 'Basic dXNlcjpwYXNz' }, { authorization: '' }]) {
    const answer = await me(api, headers as Record<string, string>);
    t.is(answer.status, 401);
    t.is(answer.json.error.code, 'unauthorized');
    t.is(answer.headers.get('www-authenticate'), 'Bearer error="invalid_request"');
    t.is(answer.headers.get('cache-control'), 'no-store');
  }
});

test('I2: the key goes in either header', async (t) => {
  const api = await startApi(t);
  const { token } = api;
  for (const headers of [
    { authorization: `Bearer ${token}` },
    { authorization: `bearer   ${token}` },
    { 'x-service-key': token },
    { authorization: 'Basic dXNlcjpwYXNz', 'x-service-key': token },
  ]) {
    t.is((await me(api, headers as Record<string, string>)).status, 200, JSON.stringify(headers));
  }
});

test('I2, both credential headers: one key is fine, two 400', async (t) => {
  const api = await startApi(t);
  const authorization = `Bearer ${api.token}`;
  const same = await me(api, { authorization, 'x-service-key': api.token });
  t.is(same.status, 200);
  for (const other of [await api.addKey({}), 'svc_sk_nonsense']) {
    const two = await me(api, { authorization, 'x-service-key': other });
    t.is(two.status, 400);
    t.is(two.json.error.code, 'invalid_request');
  }
});

test('A8: a credential header sent twice is one where its values are', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  const admin = Number(new URL(api.adminUrl).port);
  const asked = async (port: number, path: string, name: string, values: string[]) => {
    const raw = new RawConnection(t, port);
    const lines = values.map((value) => `${name}: ${value}\r\n`).join('X-Between: 1\r\n');
    // The admin listener answers its own names alone.
    raw.send(request('GET', path, null, lines).replace('Host: localhost', `$&:${port}`));
    await raw.until(({ text }) => text.endsWith('}'));
    return raw.text;
  };
  const bearer = (token: string) => `Bearer ${token}`;
  const other = await api.addKey({});
  const cases: [port: number, path: string, name: string, value: string, other: string][] = [
    [api.port, '/v1/me', 'Authorization', bearer(api.token), bearer(other)],
    [api.port, '/v1/me', 'Authorization', bearer(api.token), 'Basic dXNlcjpwYXNz'],
    [api.port, '/v1/me', 'X-Service-Key', api.token, other],
    [api.port, '/v1/me', 'X-Service-Key', api.token, 'nonsense'],
    [api.port, '/v1/api_keys', 'Authorization', bearer(session), bearer('nonsense')],
    [api.port, '/auth/v1/user', 'Authorization', bearer(session), bearer('nonsense')],
    [admin, '/admin/users', 'Authorization', bearer(api.adminToken), bearer('nonsense')],
  ];
  for (const [port, path, name, value, different] of cases) {
    t.regex(await asked(port, path, name, [value, value]), /^HTTP\/1\.1 200 /, `${path} ${name}`);
    for (const values of [
      [value, different],
      [different, value],
      [value, value, different],
    ]) {
      const text = await asked(port, path, name, values);
      t.regex(text, /^HTTP\/1\.1 400 /, `${path} ${name}`);
      t.regex(text, /"(invalid_request|validation_failed)"/);
      t.true(text.includes(`the header ${name.toLowerCase()} is sent with two different values`));
    }
  }
  // An unknown path is that whoever asks for it.
  const lines = [bearer(api.token), bearer(other)];
  t.regex(await asked(api.port, '/v1/nowhere', 'Authorization', lines), /^HTTP\/1\.1 404 /);
});

test('E4: malformed and unknown keys have one answer', async (t) => {
  const api = await startApi(t);
  const unknown = newKey(api.user.id, {}, 'cli', Date.now()).token;
  for (const token of [unknown, 'svc_sk_', 'nonsense', `${api.token}x`, api.token.slice(0, -1)]) {
    t.true(isInvalidToken(await me(api, { authorization: `Bearer ${token}` })), token);
    t.true(isInvalidToken(await me(api, { 'x-service-key': token })), token);
  }
  t.true(isInvalidToken(await me(api, { authorization: 'Bearer' })));
});

test('I13: a revoked key is invalid at once', async (t) => {
  const api = await startApi(t);
  const [key] = api.store.keys.values();
  t.is((await api.call('GET', '/me')).status, 200);
  const written = api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  t.true(isInvalidToken(await api.call('GET', '/me')));
  await written;
});

test('I3: expired is invalid, rotating works', async (t) => {
  const api = await startApi(t);
  const [key] = api.store.keys.values();
  const rotating = { ...key!, rotatedAtMs: Date.now() - 1, expiresAtMs: Date.now() + HOUR_MS };
  await api.store.putKey(rotating);
  t.is(keyStatus(rotating, Date.now()), 'rotating');
  t.is((await api.call('GET', '/me')).status, 200);
  await api.store.putKey({ ...rotating, expiresAtMs: Date.now() - 1 });
  t.true(isInvalidToken(await api.call('GET', '/me')));
});

test('I5: lastUsedAt moves at most once an hour', async (t) => {
  const api = await startApi(t);
  const keyNow = () => [...api.store.keys.values()][0]!;
  t.is(keyNow().lastUsedAtMs, null);
  await api.call('GET', '/me');
  const first = keyNow().lastUsedAtMs!;
  t.true(Math.abs(Date.now() - first) < HOUR_MS);
  const recent = Date.now() - HOUR_MS + 60_000;
  await api.store.putKey({ ...keyNow(), lastUsedAtMs: recent });
  await api.call('GET', '/me');
  t.is(keyNow().lastUsedAtMs, recent);
  await api.store.putKey({ ...keyNow(), lastUsedAtMs: Date.now() - HOUR_MS });
  await api.call('GET', '/me');
  t.true(keyNow().lastUsedAtMs! > recent);
});

test('E2, account_not_found: a key whose user is gone', async (t) => {
  const api = await startApi(t);
  const { key, token } = newKey('0195d3a0-0000-7000-8000-00000000dead', {}, 'cli', Date.now());
  await api.store.putKey(key);
  // No operation describes it: no account ends, so that only a damaged store has such a key.
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${api.baseUrl}/me`, { headers });
  t.is(answer.status, 404);
  t.is(((await answer.json()) as { error: { code: string } }).error.code, 'account_not_found');
});
