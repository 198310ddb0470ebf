/** GET /me/sessions and DELETE /me/sessions/{id}. Rule I45 (api/RULES.md). */
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { isRefused, newcomer } from '../signed-in.ts';
import { type Json, startApi } from '../support.ts';

test('I45, GET /me/sessions: where one is signed in, the newest first', async (t) => {
  const api = await startApi(t);
  const first = await api.signIn();
  const second = await api.signIn();
  await newcomer(api);
  const { json } = await api.call('GET', '/me/sessions', { token: first });
  t.is(json.count, 2);
  t.is(json.mode, 'paper');
  t.deepEqual(
    json.sessions.map(({ current }: Json) => current),
    [false, true],
  );
  const ids = json.sessions.map(({ id }: Json) => id);
  t.deepEqual(ids, api.store.sessions.ofUser(api.user.id).reverse());
  t.is(json.sessions[0].createdAt, json.sessions[0].lastUsedAt);
  const other = await api.call('GET', '/me/sessions', { token: second });
  t.deepEqual(
    other.json.sessions.map(({ current }: Json) => current),
    [true, false],
  );
});

test('I45: lastUsedAt is the last refresh', async (t) => {
  const api = await startApi(t);
  const ann = { email: 'ann@example.com', password: 'correct horse battery' };
  const up = (await api.auth('POST', '/signup', { body: ann })).json;
  const token = up.access_token;
  const before = (await api.call('GET', '/me/sessions', { token })).json.sessions[0];
  const body = { refresh_token: up.refresh_token };
  while (Date.now() <= Date.parse(before.lastUsedAt)) await turn();
  t.is((await api.auth('POST', '/token?grant_type=refresh_token', { body })).status, 200);
  const after = (await api.call('GET', '/me/sessions', { token })).json.sessions[0];
  t.is(after.createdAt, before.createdAt);
  t.true(after.lastUsedAt > before.lastUsedAt);
});

test('I45, session_not_found: a session is ended by its own user alone', async (t) => {
  const api = await startApi(t);
  const mine = await api.signIn();
  const elsewhere = await api.signIn();
  const { token: other } = await newcomer(api);
  const at = { token: mine };
  const [target] = (await api.call('GET', '/me/sessions', at)).json.sessions;
  const path = `/me/sessions/${target.id.toUpperCase()}`;
  isRefused(t, await api.call('DELETE', path, { token: other }), 404, 'session_not_found');
  t.is((await api.call('GET', '/me', { token: elsewhere })).status, 200);

  const left = (await api.call('DELETE', path, at)).json;
  t.is(left.count, 1);
  t.true(left.sessions[0].current);
  isRefused(t, await api.call('GET', '/me', { token: elsewhere }), 401, 'invalid_token');
  isRefused(t, await api.call('DELETE', path, at), 404, 'session_not_found');
  isRefused(t, await api.call('DELETE', '/me/sessions/x', at), 404, 'session_not_found');

  const own = `/me/sessions/${left.sessions[0].id}`;
  t.deepEqual((await api.call('DELETE', own, at)).json, { sessions: [], count: 0, mode: 'paper' });
  isRefused(t, await api.call('GET', '/me', at), 401, 'invalid_token');
});

test('I45: one that has ended by itself is not listed', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  await api.signIn();
  const [newest] = api.store.sessions.ofUser(api.user.id).reverse();
  const session = api.store.sessions.get(newest!, Date.now())!;
  await api.store.sessions.put({ ...session, refreshedAtMs: Date.now() - 31 * 86_400_000 });
  const { json } = await api.call('GET', '/me/sessions', { token });
  t.deepEqual(
    json.sessions.map(({ current }: Json) => current),
    [true],
  );
});
