import test from 'ava';
import { startApi } from './support.ts';

test('A56, status: answers without a key and may be cached for 5 s', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('GET', '/status', { token: null });
  t.is(answer.status, 200);
  t.like(answer.json, { ok: true, version: 'v1', mode: 'paper' });
  t.is(answer.headers.get('cache-control'), 'max-age=5');
});

test('A57: any valid key reads whose it is', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['records:read'] });
  const answer = await api.call('GET', '/me', { token });
  t.is(answer.status, 200);
  t.deepEqual(answer.json.key, { prefix: token.slice(0, 16), scopes: ['records:read'] });
  t.deepEqual(answer.json.user, {
    id: [...api.store.users.values()].at(-1)!.id,
    displayName: null,
    private: true,
  });
  t.like(answer.json, { mode: 'paper', paperOnly: true });
  t.is(answer.headers.get('cache-control'), 'no-store');
});
