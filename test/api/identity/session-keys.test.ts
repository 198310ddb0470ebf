import test from 'ava';
import { keyStatus, newKey } from '../../../api/identity/keys.ts';
import { isoOf } from '../../../engine/base/units.ts';
import { ok } from '../fake-engine.ts';
import { until } from '../raw-connection.ts';
import { samplePortfolio } from '../samples.ts';
import { create, DAY_MS, HOUR_MS, isRefused, newcomer, slowRequest } from '../signed-in.ts';
import { startApi } from '../support.ts';

test('A2, I9, I14, a new key: shown once, 201, with defaults', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const made = await create(api, token);
  t.is(made.status, 201);
  t.is(made.headers.get('cache-control'), 'no-store');
  const { key } = made.json;
  t.like(key, {
    label: 'Untitled key',
    scopes: ['records:read', 'portfolio:read', 'markets:read'],
    status: 'active',
    createdVia: 'cli',
    lastUsedAt: null,
    expiresAt: null,
    rotatedFrom: null,
    requestsThisMonth: 0,
  });
  t.is(key.tokenPrefix, made.json.token.slice(0, 16));
  t.is((await api.call('GET', '/me', { token: made.json.token })).json.key.prefix, key.tokenPrefix);
  const list = await api.call('GET', '/api_keys', { token });
  t.is(list.json.count, 1);
  t.true(list.json.tradeWriteAvailable);
  t.is(list.json.keys[0].requestsThisMonth, 1, 'what it was used for, and not its management');
  t.false(list.text.includes(made.json.token));
});

test('I9: label, scopes, days; a typo is 400', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const body = { label: '  bot  ', scopes: ['markets:read'], expiresInDays: 365 };
  const { key } = (await create(api, token, body)).json;
  t.is(key.label, 'bot');
  t.deepEqual(key.scopes, ['markets:read']);
  t.is(Date.parse(key.expiresAt) - Date.parse(key.createdAt), 365 * DAY_MS);
  for (const bad of [
    { label: 'x'.repeat(65) },
    { scopes: [] },
    { scopes: ['everything'] },
    { expiresInDays: 0 },
    { expiresInDays: 366 },
    { expiresInDays: 1.5 },
    { lable: 'bot' },
  ]) {
    isRefused(t, await create(api, token, bad), 400, 'invalid_request');
  }
  const none = await api.call('POST', '/api_keys', { token });
  isRefused(t, none, 400, 'invalid_request');
});

test('I9: the label is trimmed before it is measured', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const longest = 'a'.repeat(64);
  const made = await create(api, token, { label: `  ${longest}\t\n` });
  t.is(made.json.key?.label, longest);
  const blank = await create(api, token, { label: ' '.repeat(100) });
  t.is(blank.json.key?.label, 'Untitled key');
  const long = await create(api, token, { label: ` ${longest}a ` });
  t.is(long.json.error.message, 'label must have at most 64 characters');
});

test('I9: a key`s label has no control or bidi characters', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  for (const code of [0x00, 0x0a, 0x1b, 0x200b, 0x202e, 0x2066]) {
    const label = `my${String.fromCharCode(code)}bot`;
    const refused = await create(api, token, { label });
    isRefused(t, refused, 400, 'invalid_request');
    t.regex(
      refused.json.error.message,
      /^label must be a name without control, bidi or zero-width characters/,
    );
  }
});

test('I10: trade:write by name, and only while trading is on', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const body = { scopes: ['trade:write'] };
  t.deepEqual((await create(api, token, body)).json.key.scopes, ['trade:write']);
  await api.switches.set('trading', false);
  isRefused(t, await create(api, token, body), 403, 'scope_not_available');
  t.is((await create(api, token)).status, 201);
  t.false((await api.call('GET', '/api_keys', { token })).json.tradeWriteAvailable);
});

test('I4: keys from before markets:read lack it', async (t) => {
  const api = await startApi(t);
  const { userId } = await newcomer(api);
  const before = newKey(userId, { scopes: ['records:read', 'portfolio:read'] }, 'web', 1);
  await api.store.putKey(before.key);
  const answer = await api.call('GET', '/instruments', { token: before.token });
  isRefused(t, answer, 403, 'insufficient_scope');
  t.is((await api.call('GET', '/portfolio', { token: before.token })).status, 200);
});

test('I9, key_limit_reached: 10 active; rotating ones do not count', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) ids.push((await create(api, token)).json.key.id);
  isRefused(t, await create(api, token), 409, 'key_limit_reached');
  const rotated = await api.call('POST', `/api_keys/${ids[0]}/rotate`, { token, body: {} });
  t.is(rotated.status, 201, 'one active for another');
  isRefused(t, await create(api, token), 409, 'key_limit_reached');
  await api.call('DELETE', `/api_keys/${ids[1]}`, { token });
  t.is((await create(api, token)).status, 201);
});

test('I11, key_creation_limited: 20 in a UTC day', async (t) => {
  const api = await startApi(t);
  const { token, userId } = await newcomer(api);
  const yesterday = newKey(userId, {}, 'web', Date.now() - DAY_MS).key;
  await api.store.putKey({ ...yesterday, revokedAtMs: Date.now() });
  let last = '';
  for (let i = 0; i < 20; i++) {
    if (last !== '') await api.call('DELETE', `/api_keys/${last}`, { token });
    last = (await create(api, token)).json.key.id;
  }
  const limited = await create(api, token);
  isRefused(t, limited, 429, 'key_creation_limited');
  const seconds = Number(limited.headers.get('retry-after'));
  t.is(limited.json.error.retryAfterSeconds, seconds);
  t.true(seconds >= 1 && seconds <= 86_400);
  t.is(new Date(Date.now() + seconds * 1000).getUTCDate() !== new Date().getUTCDate(), true);
  const rotate = await api.call('POST', `/api_keys/${last}/rotate`, { token, body: {} });
  isRefused(t, rotate, 429, 'key_creation_limited');
});

test('I12: rotate gives a new key and a grace to the old', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const body = { label: 'bot', scopes: ['markets:read'], expiresInDays: 30 };
  const old = (await create(api, token, body)).json;
  const answer = await api.call('POST', `/api_keys/${old.key.id}/rotate`, { token, body: {} });
  t.is(answer.status, 201);
  const { key, rotated, token: next } = answer.json;
  t.like(key, { status: 'active', rotatedFrom: old.key.id, label: 'bot' });
  t.deepEqual(key.scopes, ['markets:read']);
  t.is(Date.parse(key.expiresAt) - Date.parse(key.createdAt), 30 * DAY_MS, 'as long as the old');
  t.like(rotated, { id: old.key.id, status: 'rotating' });
  t.is(Date.parse(rotated.expiresAt) - Date.parse(rotated.rotatedAt), 24 * HOUR_MS);
  for (const working of [old.token, next]) {
    t.is((await api.call('GET', '/me', { token: working })).status, 200);
  }
  const again = await api.call('POST', `/api_keys/${old.key.id}/rotate`, { token, body: {} });
  isRefused(t, again, 404, 'key_not_found');
  t.is((await api.call('DELETE', `/api_keys/${old.key.id}`, { token })).status, 200);
  isRefused(t, await api.call('GET', '/me', { token: old.token }), 401, 'invalid_token');
});

test('I12: rotation keeps trade:write while no new key may carry it', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const scopes = ['markets:read', 'trade:write'];
  const old = (await create(api, token, { scopes })).json;
  await api.switches.set('trading', false);
  t.false((await api.call('GET', '/api_keys', { token })).json.tradeWriteAvailable);
  isRefused(t, await create(api, token, { scopes }), 403, 'scope_not_available');
  const path = `/api_keys/${old.key.id}/rotate`;
  const { key } = (await api.call('POST', path, { token, body: {} })).json;
  t.deepEqual(key.scopes, scopes);
});

test('I12, rotate: graceHours 0 to 168, never past the old expiry', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const rotate = (id: string, body: object) =>
    api.call('POST', `/api_keys/${id}/rotate`, { token, body });
  const first = (await create(api, token, { expiresInDays: 1 })).json;
  for (const bad of [{ graceHours: -1 }, { graceHours: 169 }, { expiresInDays: 0 }, { grace: 1 }]) {
    isRefused(t, await rotate(first.key.id, bad), 400, 'invalid_request');
  }
  const second = (await rotate(first.key.id, { graceHours: 168, expiresInDays: 2 })).json;
  t.is(second.rotated.expiresAt, first.key.expiresAt);
  t.is(Date.parse(second.key.expiresAt) - Date.parse(second.key.createdAt), 2 * DAY_MS);
  const third = (await rotate(second.key.id, { graceHours: 0 })).json;
  t.is(third.rotated.status, 'expired');
  isRefused(t, await api.call('GET', '/me', { token: second.token }), 401, 'invalid_token');
});

test('I12, I13, key_not_found: unknown, another`s, ended', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const others = [...api.store.keys.values()][0]!.id;
  const mine = (await create(api, token)).json.key.id;
  const revoked = await api.call('DELETE', `/api_keys/${mine}`, { token });
  t.is(revoked.json.key.status, 'revoked');
  t.truthy(revoked.json.key.revokedAt);
  const expired = (await create(api, token)).json.key.id;
  await api.store.putKey({ ...api.store.keys.get(expired)!, expiresAtMs: Date.now() - 1 });
  for (const id of [others, mine, expired, 'nonsense', '0195d3a0-0000-7000-8000-000000000001']) {
    isRefused(t, await api.call('DELETE', `/api_keys/${id}`, { token }), 404, 'key_not_found');
    const rotate = await api.call('POST', `/api_keys/${id}/rotate`, { token, body: {} });
    isRefused(t, rotate, 404, 'key_not_found');
  }
  t.is(keyStatus(api.store.keys.get(others)!, Date.now()), 'active');
});

test('I13, A19: revocation takes effect at once, requests in flight or not', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  const { key, token: bearer } = (
    await create(api, token, { scopes: ['portfolio:read', 'trade:write'] })
  ).json;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.engine.reply = async () => {
    await held;
    return ok(samplePortfolio);
  };
  const running = api.call('GET', '/portfolio', { token: bearer });
  await until(() => api.engine.requests.length === 1);
  // Let in with its key, and still to send the end of its body when the key ends.
  const id = '0195d3a0-0000-7000-8000-000000000001';
  const order = { action: 'sell', type: 'market', idempotencyKey: 'k', tradeId: id };
  const slow = slowRequest(t, api, 'POST /v1/portfolio/orders', bearer, JSON.stringify(order));
  await api.call('GET', '/status');
  await api.call('DELETE', `/api_keys/${key.id}`, { token });
  isRefused(t, await api.call('GET', '/portfolio', { token: bearer }), 401, 'invalid_token');
  t.is(await slow.finish(), 401);
  release();
  t.is((await running).status, 200, 'what the engine had taken is answered');
  t.is(api.engine.requests.length, 1, 'and nothing more reached it');
});

test('A9, rotate: it takes no body, or one', async (t) => {
  const api = await startApi(t);
  const { token } = await newcomer(api);
  for (const call of [{}, { body: {} }, { body: { graceHours: 24 } }]) {
    const { key } = (await create(api, token)).json;
    const rotated = await api.call('POST', `/api_keys/${key.id}/rotate`, { token, ...call });
    t.is(rotated.status, 201, rotated.text);
    t.is(rotated.json.rotated.id, key.id);
    const { rotatedAt, expiresAt } = rotated.json.rotated;
    t.is(Date.parse(expiresAt) - Date.parse(rotatedAt), DAY_MS);
  }
});

test('I8: keys of every status are listed, the oldest first', async (t) => {
  const api = await startApi(t);
  const { token, userId } = await newcomer(api);
  const nowMs = Date.now();
  const at = (ageMs: number, change: object) => ({
    ...newKey(userId, {}, 'web', nowMs - ageMs).key,
    ...change,
  });
  await api.store.putKeys([
    at(4 * DAY_MS, { revokedAtMs: nowMs }),
    at(3 * DAY_MS, { expiresAtMs: nowMs - 1 }),
    at(2 * DAY_MS, { rotatedAtMs: nowMs, expiresAtMs: nowMs + HOUR_MS }),
    at(DAY_MS, { lastUsedAtMs: nowMs }),
  ]);
  const { keys, count } = (await api.call('GET', '/api_keys', { token })).json;
  t.is(count, 4);
  t.deepEqual(
    keys.map(({ status }: { status: string }) => status),
    ['revoked', 'expired', 'rotating', 'active'],
  );
  t.is(keys[3].lastUsedAt, isoOf(nowMs));
});
