/** What is refused where request limits are enforced, and how callers without a key are counted. */
import test from 'ava';
import type { Reply } from '../../../engine/rules/messages.ts';
import { ok } from '../fake-engine.ts';
import { addEnterprise, startAt, TO_DECEMBER_SECONDS, usedBy, windowsOf } from '../limited-api.ts';
import { RawConnection, request, until } from '../raw-connection.ts';
import { samplePortfolio } from '../samples.ts';
import type { Api } from '../support.ts';

test('Q5: not enforced, nothing is refused and all is counted', async (t) => {
  const api = await startAt(t);
  const token = await addEnterprise(api, { perMinute: 2, perMonth: 3 });
  for (const remaining of [1, 0, 0, 0]) {
    const answer = await api.call('GET', '/me', { token });
    t.is(answer.status, 200);
    t.is(windowsOf(answer).minute[1], remaining);
  }
  const usage = await api.call('GET', '/usage', { token });
  t.like(usage.json, { minute: { remaining: 0 }, month: { used: 4, remaining: 0 } });
});

test('Q5: over the minute is 429 rate_limited until it ends', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 2, perMonth: 100 });
  const { userId } = [...api.store.keys.values()].at(-1)!;
  const second = (await api.admin('POST', '/admin/keys', { body: { userId } })).json.token;
  for (let i = 0; i < 2; i++) t.is((await api.call('GET', '/me', { token })).status, 200);
  for (const key of [token, second]) {
    const refused = await api.call('GET', '/me', { token: key });
    t.is(refused.status, 429);
    t.deepEqual(refused.json.error, {
      code: 'rate_limited',
      message: 'The account is at its limit of 2 requests a minute.',
      retryAfterSeconds: 40,
    });
    t.is(refused.headers.get('retry-after'), '40');
    t.deepEqual(windowsOf(refused).minute, [2, 0, 40]);
    t.is(windowsOf(refused).month[1], 98, 'a refusal is not counted');
  }
  t.is((await api.call('GET', '/usage', { token })).status, 200, 'never counted, so never over');
  t.is((await api.call('GET', '/status', { token })).status, 200);
  t.is((await api.call('GET', '/me')).status, 200, 'another account has its own');

  api.clock.ms = Date.parse('2026-11-21T05:00:59.999Z');
  t.is((await api.call('GET', '/me', { token })).json.error.retryAfterSeconds, 1);
  api.clock.ms = Date.parse('2026-11-21T05:01:00.000Z');
  t.deepEqual(windowsOf(await api.call('GET', '/me', { token })).minute, [2, 1, 60]);
  t.like((await api.call('GET', '/me', { token })).json.limits, { month: { used: 4 } });
});

test('Q5: over the month is 429 quota_exceeded until the 1st', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 2, perMonth: 2 });
  for (let i = 0; i < 2; i++) t.is((await api.call('GET', '/me', { token })).status, 200);
  const refused = await api.call('GET', '/me', { token });
  t.is(refused.status, 429);
  t.deepEqual(refused.json.error, {
    code: 'quota_exceeded',
    message: 'The account is at its limit of 2 requests a month.',
    retryAfterSeconds: TO_DECEMBER_SECONDS,
  });
  t.is(refused.headers.get('retry-after'), String(TO_DECEMBER_SECONDS));

  api.clock.ms = Date.parse('2026-11-30T23:59:59.500Z');
  t.is((await api.call('GET', '/me', { token })).headers.get('retry-after'), '1');
  api.clock.ms = Date.parse('2026-12-01T00:00:00.000Z');
  const december = await api.call('GET', '/me', { token });
  t.deepEqual(windowsOf(december), { minute: [2, 1, 60], month: [2, 1, 31 * 86_400] });
  t.regex(december.headers.get('ratelimit-policy')!, /"month";q=2;w=2678400$/);
});

test('A17: limits after the scope, before the query', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 0, perMonth: 10 });
  const codeOf = async (path: string, key: string) => {
    return (await api.call('GET', path, { token: key })).json.error.code;
  };
  t.is(await codeOf('/games?x=1', token), 'rate_limited');
  t.is(await codeOf('/quotes?ids=,', token), 'rate_limited');
  const order = await api.call('POST', '/portfolio/orders', { token, body: '{' });
  t.is(order.json.error.code, 'rate_limited');
  const { userId } = [...api.store.keys.values()].at(-1)!;
  const scopes = ['records:read'];
  const narrow = (await api.admin('POST', '/admin/keys', { body: { userId, scopes } })).json.token;
  t.is(await codeOf('/games?x=1', narrow), 'insufficient_scope');
  t.is(await codeOf('/nowhere', token), 'route_not_found');
});

test('Q7: quotes that count as more than is left are refused whole', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 5, perMonth: 7 });
  const quotes = (count: number) => {
    const ids = Array.from({ length: count }, (_, i) => `ins_${String(i).padStart(12, '0')}`);
    return api.call('GET', `/quotes?ids=${ids.join(',')}`, { token });
  };
  const six = await quotes(6);
  t.is(six.status, 429);
  t.is(
    six.json.error.message,
    'The request counts as 6, and the account has 5 left of its 5 requests a minute.',
  );
  t.is((await quotes(8)).json.error.code, 'quota_exceeded');
  t.is((await quotes(21)).status, 400, 'a bad query counts as one, and one is left');
  t.deepEqual(api.engine.quoted, []);
  const three = await quotes(3);
  t.is(three.status, 200);
  t.is(windowsOf(three).minute[1], 1);
  t.is((await quotes(2)).status, 429);
  t.is((await quotes(1)).status, 200);
  t.is((await quotes(21)).status, 429);
});

test('Q6: requests under way do not slip over a limit together', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 3, perMonth: 100 });
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const pending = [1, 2, 3].map(() => api.call('GET', '/portfolio', { token }));
  await until(() => answers.length === 3);
  const fourth = await api.call('GET', '/portfolio', { token });
  t.is(fourth.status, 429);
  t.is(answers.length, 3, 'it never reached the engine');
  answers[0]!({ ok: false, code: 'rate_limited', message: 'full', retryAfterSeconds: 1 });
  t.is((await pending[0]!).status, 429, 'a hard trade limit, which gives the request back');
  const fifth = api.call('GET', '/portfolio', { token });
  await until(() => answers.length === 4);
  for (const answer of answers.slice(1)) answer(ok(samplePortfolio));
  for (const answer of [await pending[1]!, await pending[2]!, await fifth]) {
    t.is(answer.status, 200);
    t.is(windowsOf(answer).minute[1], 0);
  }
});

test('Q6: a caller who left is counted by what came of it', async (t) => {
  const api = await startAt(t);
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  for (const [index, reply] of [
    ok(samplePortfolio),
    { ok: false, code: 'rate_limited', message: 'full', retryAfterSeconds: 1 } as const,
  ].entries()) {
    const raw = new RawConnection(t, api.port);
    raw.send(request('GET', '/v1/portfolio', api));
    await until(() => answers.length === index + 1);
    raw.destroy();
    t.is(await usedBy(api), index + 1, 'under way');
    answers[index]!(reply);
    await until(() => api.meter.usage(api.user).month.used === 1);
  }
  t.is(await usedBy(api), 1);
});

test('Q3: a month that ends under a request begins with nothing', async (t) => {
  const api = await startAt(t);
  const answers: ((reply: Reply) => void)[] = [];
  api.engine.reply = () => new Promise((resolve) => answers.push(resolve));
  const pending = [api.call('GET', '/portfolio'), api.call('GET', '/portfolio')];
  await until(() => answers.length === 2);
  api.clock.ms = Date.parse('2026-12-01T00:00:00Z');
  answers[0]!(ok(samplePortfolio));
  answers[1]!({ ok: false, code: 'rate_limited', message: 'full', retryAfterSeconds: 1 });
  for (const answer of await Promise.all(pending)) {
    t.deepEqual(windowsOf(answer), {
      minute: [60, 60, 60],
      month: [10_000, 10_000, 31 * 86_400],
    });
  }
  t.is(await usedBy(api), 0);
});

test('Q10: without a key 60 a minute are advised, none refused', async (t) => {
  const api = await startAt(t, { enforced: true });
  const unkeyed = (path: string, token: string | null = null, method = 'GET') =>
    api.call(method, path, { token });
  const answers = [
    await unkeyed('/status'),
    await unkeyed('/me'),
    await unkeyed('/me', 'svc_sk_nonsense'),
    await unkeyed('/nowhere'),
    await unkeyed('/me', api.token, 'OPTIONS'),
    await unkeyed('/status', api.token),
  ];
  for (const [index, answer] of answers.entries()) {
    t.deepEqual(windowsOf(answer).minute, [60, 59 - index, 40], `call ${index}: ${answer.text}`);
  }
  const [first] = answers;
  t.is(first!.headers.get('ratelimit-policy'), '"address";q=60;w=60');
  t.is(first!.headers.get('ratelimit'), '"address";r=59;t=40');
  for (let left = 53; left >= 0; left--) {
    t.is(windowsOf(await unkeyed('/status')).minute[1], left);
  }
  const over = await unkeyed('/status');
  t.is(over.status, 200);
  t.is(windowsOf(over).minute[1], 0);
  t.is(await usedBy(api), 0, 'an account has no part in it');
  api.clock.ms += 60_000;
  t.is(windowsOf(await unkeyed('/status')).minute[1], 59);
});

test('Q11: behind a proxy the address is the last that it names', async (t) => {
  const left = async (api: Api, forwardedFor: string) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    return windowsOf(await api.call('GET', '/status', { token: null, headers })).minute[1];
  };
  const behind = await startAt(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  t.is(await left(behind, '203.0.113.7'), 59);
  t.is(await left(behind, '198.51.100.1, 203.0.113.7'), 58);
  t.is(await left(behind, '203.0.113.8'), 59);
  t.is(await left(behind, ''), 59, 'a proxy that names none');
  const raw = new RawConnection(t, behind.port);
  const lines = 'X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 203.0.113.7\r\n';
  raw.send(request('GET', '/v1/status', null, lines));
  await raw.until(({ text }) => text.includes('"version":"v1"'));
  t.regex(raw.text, /\r\nRateLimit-Remaining: 57\r\n/, 'a proxy that adds a line of its own');
  const direct = await startAt(t);
  t.is(await left(direct, '203.0.113.7'), 59);
  t.is(await left(direct, '203.0.113.8'), 58, 'what a caller says itself is not believed');
});

test('Q11: the address that a proxy names counts without its port', async (t) => {
  const api = await startAt(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  const left = async (forwardedFor: string) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    return windowsOf(await api.call('GET', '/status', { token: null, headers })).minute[1];
  };
  t.is(await left('203.0.113.7'), 59);
  t.is(await left('198.51.100.1:1, 203.0.113.7:50123'), 58, 'each connection has another port');
  t.is(await left('2001:db8::7'), 59);
  t.is(await left('[2001:db8::7]:50123'), 58);
  t.is(await left('[2001:db8::7]'), 57);
  t.is(await left('2001:db8::8'), 59, 'a last group is no port');
});

test('the admin listener counts nothing', async (t) => {
  const api = await startAt(t);
  const answer = await api.admin('GET', '/admin/users');
  for (const [name] of answer.headers) t.notRegex(name, /^ratelimit|^service-/);
});
