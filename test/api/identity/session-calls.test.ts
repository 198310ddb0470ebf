import test from 'ava';
import { RawConnection, request } from '../raw-connection.ts';
import { create, isRefused, JSON_TYPE, newcomer, slowRequest } from '../signed-in.ts';
import { type Answer, startApi } from '../support.ts';

test('A21, I6, I7, I20: where sessions call a key is refused', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  const id = '0195d3a0-0000-7000-8000-000000000001';
  const routes: [method: string, path: string][] = [
    ['GET', '/api_keys'],
    ['POST', '/api_keys'],
    ['POST', `/api_keys/${id}/rotate`],
    ['DELETE', `/api_keys/${id}`],
    ['PATCH', '/me'],
    ['PATCH', `/organizations/${id}`],
    ['GET', '/me/sessions'],
    ['DELETE', `/me/sessions/${id}`],
  ];
  for (const [method, path] of routes) {
    const asked = (headers: Record<string, string>) =>
      api.call(method, path, { token: null, headers });
    for (const key of [api.token, 'svc_sk_unknown']) {
      const headers = { authorization: `Bearer ${key}` };
      isRefused(t, await asked(headers), 401, 'session_required');
      isRefused(t, await asked({ 'x-service-key': key }), 401, 'session_required');
      const cookie = { cookie: `sb-access-token=${session}`, ...JSON_TYPE };
      isRefused(t, await asked({ ...cookie, ...headers }), 401, 'session_required');
    }
    const none = await asked({});
    isRefused(t, none, 401, 'unauthorized');
    t.is(none.headers.get('www-authenticate'), 'Bearer error="invalid_request"');
    for (const token of ['nonsense', `${session}x`, session.split('.').slice(0, 2).join('.')]) {
      isRefused(t, await asked({ authorization: `Bearer ${token}` }), 401, 'invalid_token');
    }
  }
});

test('I14, I22, A193: the cookie, on same-origin JSON requests only, and never one of two', async (t) => {
  const api = await startApi(t);
  const { origin } = new URL(api.baseUrl);
  const cookie = `theme=dark; sb-access-token=${await api.signIn()}; other=1`;
  const ask = (method: string, headers: Record<string, string>) =>
    api.call(method, '/api_keys', {
      token: null,
      headers: { cookie, ...headers },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
  const made = await ask('POST', { ...JSON_TYPE, origin, 'sec-fetch-site': 'same-origin' });
  t.is(made.json.key.createdVia, 'web');
  t.is((await ask('POST', { 'content-type': 'application/json; charset=utf-8' })).status, 201);
  t.is((await ask('GET', {})).status, 200);
  t.is((await ask('GET', { cookie: `${cookie}; ${cookie}` })).status, 200, 'one value twice');
  const planted = `sb-access-token=${await api.signIn()}`;
  for (const both of [
    `${cookie}; ${planted}`,
    `${planted}; ${cookie}`,
    `${cookie}; sb-access-token=`,
  ]) {
    const refusal = await ask('GET', { cookie: both });
    isRefused(t, refusal, 401, 'unauthorized');
    t.regex(refusal.json.error.message, /two different cookies sb-access-token/);
  }
  for (const headers of [
    { ...JSON_TYPE, origin: 'https://evil.example' },
    { ...JSON_TYPE, origin: 'null' },
    { ...JSON_TYPE, origin: origin.replace('http:', 'https:') },
    { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' },
    { ...JSON_TYPE, 'sec-fetch-site': 'same-site' },
    { ...JSON_TYPE, origin, 'sec-fetch-site': 'none' },
    { 'content-type': 'text/plain', origin: 'https://evil.example' },
    { origin, 'content-type': '' },
  ]) {
    const sent = headers as Record<string, string>;
    isRefused(t, await ask('POST', sent), 401, 'unauthorized');
    isRefused(t, await ask('GET', { 'sec-fetch-site': 'cross-site' }), 401, 'unauthorized');
  }
  t.is([...api.store.keysOf(api.user.id)].length, 3, 'and nothing was made');
  const foreign = await api.call('OPTIONS', '/api_keys', { headers: { origin: 'https://a.b' } });
  t.is(foreign.headers.get('access-control-allow-origin'), null);
});

test('I20: the cookie is read from whichever Cookie line has it', async (t) => {
  const api = await startApi(t);
  const session = `sb-access-token=${await api.signIn()}`;
  for (const cookies of [
    ['theme=dark', session],
    [session, 'theme=dark'],
    ['a=b; c=d', `e=f; ${session}; g=h`],
  ]) {
    const raw = new RawConnection(t, api.port);
    const lines = cookies.map((cookie) => `Cookie: ${cookie}\r\n`).join('');
    raw.send(request('GET', '/v1/api_keys', null, lines));
    await raw.until(({ text }) => text.includes('\r\n\r\n'));
    t.regex(raw.text, /^HTTP\/1.1 200 /, cookies.join(' | '));
  }
  const raw = new RawConnection(t, api.port);
  raw.send(request('GET', '/v1/api_keys', null, `Cookie: other=a, ${session}\r\n`));
  await raw.until(({ text }) => text.includes('\r\n\r\n'));
  t.regex(raw.text, /^HTTP\/1.1 401 /, 'the value of another cookie has no token');
});

test('I23: a session call with another content type than JSON is 400', async (t) => {
  const api = await startApi(t);
  const session = await api.signIn();
  const { origin } = new URL(api.baseUrl);
  const bearer = { authorization: `Bearer ${session}` };
  const cookie = { cookie: `sb-access-token=${session}`, origin };
  const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    api.call(method, path, { token: null, headers, ...(body === undefined ? {} : { body }) });
  const isTypeRefused = (answer: Answer) => {
    isRefused(t, answer, 400, 'invalid_request');
    t.is(answer.json.error.message, 'Content-Type must be application/json');
  };
  for (const credential of [bearer, cookie]) {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json, text/plain',
    ]) {
      const headers = { ...credential, 'content-type': type };
      isTypeRefused(await ask('POST', '/api_keys', headers, '{}'));
      isTypeRefused(await ask('PATCH', '/me', headers, '{"private":false}'));
      isTypeRefused(await ask('GET', '/api_keys', headers));
    }
    for (const type of ['application/json', 'Application/JSON;charset=UTF-8']) {
      const headers = { ...credential, 'content-type': type };
      t.is((await ask('POST', '/api_keys', headers, '{}')).status, 201, type);
    }
    t.is((await ask('GET', '/api_keys', credential)).status, 200);
  }
  t.true((await api.store.users.get(api.user.id))!.private);
  const bad = { authorization: 'Bearer nonsense', 'content-type': 'text/plain' };
  isRefused(t, await ask('POST', '/api_keys', bad, '{}'), 401, 'invalid_token');
  const raw = new RawConnection(t, api.port);
  raw.send(
    `POST /v1/api_keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session}\r\n` +
      'Content-Length: 2\r\n\r\n{}',
  );
  await raw.until(({ text }) => text.endsWith('}'));
  t.regex(raw.text, /^HTTP\/1\.1 400 [\s\S]*Content-Type must be application\/json/);
});

test('I24: a session that ends while its request comes in does nothing more', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const keys = [...api.store.keys.values()].length;
  const slow = slowRequest(t, api, 'POST /v1/api_keys', token, '{}');
  await api.call('GET', '/api_keys', { token });
  await api.store.sessions.end(api.store.sessions.ofUser(api.user.id));
  t.is(await slow.finish(), 401);
  t.is([...api.store.keys.values()].length, keys);
  isRefused(t, await api.call('GET', '/api_keys', { token }), 401, 'invalid_token');
});

test('I6, I51, I52, PATCH /me: name, privacy, earlier trades, by session', async (t) => {
  const api = await startApi(t);
  const { token, userId } = await newcomer(api);
  const patch = (body: object) => api.call('PATCH', '/me', { token, body });
  const body = { displayName: 'Zo\u00eb', private: false, showEarlierTrades: true };
  const { realism: _, ...patched } = (await patch(body)).json;
  t.deepEqual(patched, { user: { id: userId, ...body } });
  t.is((await patch({ private: true })).json.user.displayName, body.displayName);
  t.is((await patch({ displayName: null })).json.user.displayName, null);
  for (const bad of [
    { displayName: 'OWNER' },
    { displayName: 'x' },
    { displayName: ' padded ' },
    { displayName: userId },
    { displayName: 'line\nbreak' },
    { private: 'no' },
    { plan: 'desk' },
  ]) {
    isRefused(t, await patch(bad), 400, 'invalid_request');
  }
  t.is(api.store.users.get(userId)?.plan, 'none');
  const made = (await create(api, token)).json.token;
  const byKey = await api.call('PATCH', '/me', { token: made, body: { private: false } });
  isRefused(t, byKey, 401, 'session_required');
  t.true(api.store.users.get(userId)?.private, 'no key can make an account public');
});
