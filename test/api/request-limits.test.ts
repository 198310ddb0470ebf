/** Request limits over HTTP, on a clock that stands still until a test moves it. */
import test, { type ExecutionContext } from 'ava';
import type { Plan, RequestLimits } from '../../api/identity/users.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { RejectionCode } from '../../engine/rules/rejections.ts';
import { EngineBusy } from '../../engine/shard/busy.ts';
import { ok } from './fake-engine.ts';
import { RawConnection, request, until } from './raw-connection.ts';
import { IDS, samplePortfolio } from './samples.ts';
import { type Answer, type Api, startApi, TRADER_SCOPES } from './support.ts';

const NOW = '2026-11-21T05:00:20.250Z';
const TO_DECEMBER_SECONDS = (Date.parse('2026-12-01T00:00:00Z') - Date.parse(NOW) + 250) / 1000;
const BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: IDS.lions,
  side: 'yes',
  count: 10,
};

type Clocked = Api & { clock: { ms: number } };

async function startAt(
  t: ExecutionContext,
  { enforced = false, env = {} }: { enforced?: boolean; env?: Record<string, string> } = {},
): Promise<Clocked> {
  const clock = { ms: Date.parse(NOW) };
  const PAPERBOOK_LIMITS_ENFORCED = enforced ? 'on' : 'off';
  const api = await startApi(t, {
    env: { PAPERBOOK_LIMITS_ENFORCED, ...env },
    nowMs: () => clock.ms,
  });
  return { ...api, clock };
}

/** A key of an enterprise account with limits of its own. */
async function addEnterprise(api: Api, requestLimits: RequestLimits | null): Promise<string> {
  const token = await api.addKey({ scopes: TRADER_SCOPES! }, 'enterprise');
  const user = [...api.store.users.values()].at(-1)!;
  await api.store.changeUser(user.id, { requestLimits });
  return token;
}

/** What the headers tell: limit, remaining and reset of both windows. */
function told({ headers }: Answer) {
  const number = (name: string) => Number(headers.get(name));
  return {
    minute: [number('ratelimit-limit'), number('ratelimit-remaining'), number('ratelimit-reset')],
    month: ['limit', 'remaining', 'reset'].map((name) => number(`service-quota-${name}`)),
  };
}

async function usedBy(api: Api, token: string = api.token): Promise<number> {
  return (await api.call('GET', '/usage', { token })).json.month.used;
}

test('Q1: every plan`s numbers, in the headers', async (t) => {
  const api = await startAt(t);
  const plans: [Plan, perMonth: number, perMinute: number][] = [
    ['none', 1_000, 30],
    ['basic', 10_000, 60],
    ['builder', 100_000, 120],
    ['desk', 1_000_000, 600],
    ['enterprise', 1_000_000, 600],
  ];
  for (const [plan, perMonth, perMinute] of plans) {
    const token = await api.addKey({}, plan);
    const answer = await api.call('GET', '/me', { token });
    t.deepEqual(told(answer), {
      minute: [perMinute, perMinute - 1, 40],
      month: [perMonth, perMonth - 1, TO_DECEMBER_SECONDS],
    });
    t.is(answer.headers.get('service-plan'), plan);
    t.is(
      answer.headers.get('ratelimit-policy'),
      `"minute";q=${perMinute};w=60, "month";q=${perMonth};w=${30 * 86_400}`,
    );
    t.is(
      answer.headers.get('ratelimit'),
      `"minute";r=${perMinute - 1};t=40, "month";r=${perMonth - 1};t=${TO_DECEMBER_SECONDS}`,
    );
  }
});

test('Q12, enterprise: set per account, live, and on that plan alone', async (t) => {
  const api = await startAt(t);
  const own = { perMinute: 7, perMonth: 70 };
  const change = (body: object) => api.admin('PATCH', `/admin/users/${api.user.id}`, { body });
  const limits = async () => {
    const { minute, month } = told(await api.call('GET', '/usage'));
    return [minute[0], month[0]];
  };
  const changed = await change({ plan: 'enterprise', requestLimits: own });
  t.deepEqual(changed.json.user.requestLimits, own);
  t.deepEqual(await limits(), [7, 70]);
  await change({ plan: 'basic' });
  t.deepEqual(await limits(), [60, 10_000]);
  await change({ plan: 'enterprise' });
  t.deepEqual(await limits(), [7, 70], 'kept while they did not count');
  await change({ requestLimits: null });
  t.deepEqual(await limits(), [600, 1_000_000]);
  const refused = await change({ requestLimits: { perMinute: -1, perMonth: 1 } });
  t.is(refused.json.error.message, 'requestLimits.perMinute must be at least 0');
});

test('Q4: a keyed request counts one, over all keys of an account', async (t) => {
  const api = await startAt(t);
  const body = { userId: api.user.id, scopes: TRADER_SCOPES };
  const second = (await api.admin('POST', '/admin/keys', { body })).json;
  const stranger = await api.addKey({});
  for (const path of ['/me', '/portfolio', `/instruments/${IDS.lions}/quote`, '/games']) {
    t.is((await api.call('GET', path)).status, 200, path);
  }
  t.is((await api.call('HEAD', '/me')).status, 200);
  t.is((await api.call('POST', '/portfolio/orders', { body: BUY })).status, 200);
  t.is(await usedBy(api), 6);
  const answer = await api.call('GET', '/me', { token: second.token });
  t.deepEqual(told(answer).minute, [60, 53, 40]);
  t.deepEqual(told(answer).month.slice(0, 2), [10_000, 9_993]);
  t.is(api.meter.requestsThisMonth(second.key.id), 1);
  t.is((await api.call('GET', '/usage')).json.key.requestsThisMonth, 6);
  t.is(await usedBy(api, stranger), 0);
});

test('Q4: GET /quotes counts one per instrument id, each id once', async (t) => {
  const api = await startAt(t);
  const others = Array.from({ length: 19 }, (_, i) => `ins_${String(i).padStart(12, '0')}`);
  const requests: [ids: string[], counted: number][] = [
    [[IDS.lions!], 1],
    [[IDS.lions!, 'ins_000000000099', 'nonsense'], 3],
    [[IDS.lions!, IDS.lions!, IDS.lions!], 1],
    [[IDS.lions!, ...others], 20],
  ];
  let used = 0;
  for (const [ids, counted] of requests) {
    const answer = await api.call('GET', `/quotes?ids=${ids.join(',')}`);
    t.is(answer.status, 200);
    used += counted;
    t.is(told(answer).minute[1], 60 - used, ids.join(','));
  }
  t.is(await usedBy(api), used);
});

const GONE = '/portfolio/orders/0195d3a0-0000-7000-8000-0000000000ff';

function refusing(code: RejectionCode, retryAfterSeconds?: number) {
  const reply = { ok: false, code, message: 'no' } as const;
  return async (): Promise<Reply> =>
    retryAfterSeconds === undefined ? reply : { ...reply, retryAfterSeconds };
}

test('Q4: usage, status, description, key management are never counted', async (t) => {
  const api = await startAt(t);
  const session = { token: await api.signIn() };
  t.is((await api.call('GET', '/usage')).status, 200);
  t.is((await api.call('GET', '/usage?x=1')).status, 400);
  t.is((await api.call('GET', '/status')).status, 200);
  t.is((await api.call('GET', '/openapi.json')).status, 200);
  t.is((await api.call('OPTIONS', '/me')).status, 204);
  t.is((await api.call('GET', '/api_keys')).status, 401);
  t.is((await api.call('GET', '/api_keys', session)).status, 200);
  const unknown = await api.addKey({});
  await api.store.putKey({ ...[...api.store.keys.values()].at(-1)!, revokedAtMs: 1 });
  t.is((await api.call('GET', '/games', { token: unknown })).status, 401);
  const { month, key } = (await api.call('GET', '/usage')).json;
  t.deepEqual([month.used, key.requestsThisMonth], [0, 0]);
});

test('Q4: whatever its status but 429, a keyed request counts', async (t) => {
  const api = await startAt(t);
  let used = 0;
  const counts = async (requests: number, status: number, answering: Promise<Answer>) => {
    const answer = await answering;
    used += requests;
    t.is(answer.status, status, answer.text);
    t.deepEqual([told(answer).minute[1], told(answer).month[1]], [60 - used, 10_000 - used]);
  };
  const order = (body: unknown) => api.call('POST', '/portfolio/orders', { body });

  await counts(1, 404, api.call('GET', '/nowhere'));
  await counts(1, 404, api.call('HEAD', '/nowhere'));
  await counts(1, 405, api.call('PUT', '/me'));
  await counts(1, 405, api.call('PUT', '/status'));
  await counts(1, 400, api.call('GET', '/games?limit=0'));
  await counts(1, 400, api.call('GET', '/quotes?ids=,'));
  await counts(1, 404, api.call('GET', '/instruments/nothing'));
  await counts(1, 400, order('{'));
  await counts(1, 413, order('x'.repeat(70_000)));
  const unclear = new RawConnection(t, api.port);
  const lengths = 'Content-Length: 0\r\n'.repeat(2);
  unclear.send(request('GET', '/v1/games', api, lengths));
  await unclear.until(({ isClosed }) => isClosed);
  used++;
  const left = `\r\nRateLimit-Remaining: ${60 - used}\r\n`;
  t.regex(unclear.text, new RegExp(`^HTTP/1\\.1 400 [\\s\\S]*${left}`));
  api.engine.reply = refusing('insufficient_balance');
  await counts(1, 409, order(BUY));
  api.engine.reply = refusing('order_not_found');
  await counts(1, 404, api.call('GET', GONE));
  api.engine.reply = refusing('rate_limited', 17);
  await counts(0, 429, api.call('DELETE', GONE));
  api.engine.reply = () => Promise.reject(new EngineBusy('queue full'));
  await counts(1, 503, api.call('GET', '/portfolio'));
  api.engine.reply = () => Promise.reject(new Error('a fault'));
  await counts(1, 500, api.call('GET', '/portfolio'));
  await api.switches.set('venueData', false);
  await counts(2, 403, api.call('GET', `/quotes?ids=${IDS.lions},x`));
  const { month, key } = (await api.call('GET', '/usage')).json;
  t.deepEqual([month.used, key.requestsThisMonth], [used, used]);

  const reader = await api.addKey({ scopes: ['records:read'] });
  const scope = await api.call('GET', '/portfolio', { token: reader });
  t.is(scope.status, 403);
  t.deepEqual(told(scope).minute, [60, 59, 40]);
});

test('Q4: asking for what is not there in a loop is throttled', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 3, perMonth: 100 });
  const ask = () => api.call('GET', '/instruments/nothing', { token });
  for (let i = 0; i < 3; i++) t.is((await ask()).status, 404);
  for (let i = 0; i < 3; i++) t.is((await ask()).json.error.code, 'rate_limited');
  t.is(await usedBy(api, token), 3);
});

test('A18, Q4, 404 and 405: counted with a valid key, never 429', async (t) => {
  const api = await startAt(t, { enforced: true });
  const token = await addEnterprise(api, { perMinute: 1, perMonth: 2 });
  const statuses = [];
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['PUT', '/games'],
    ['GET', '/nowhere'],
    ['PUT', '/games'],
  ] as const) {
    const answer = await api.call(method, path, { token });
    statuses.push(answer.status);
    t.is(answer.headers.get('service-plan'), 'enterprise');
  }
  t.deepEqual(statuses, [404, 405, 404, 405]);
  t.is(await usedBy(api, token), 4);
  t.is((await api.call('GET', '/games', { token })).json.error.code, 'quota_exceeded');
});

test('Q9, response headers: all of them on 404 and 405 too, with a valid key', async (t) => {
  const api = await startAt(t);
  const rateHeaders = ({ headers }: Answer) =>
    [...headers.keys()].filter((name) => /^(ratelimit|service-)/.test(name));
  const wanted = rateHeaders(await api.call('GET', '/me'));
  t.is(wanted.length, 9);
  const own = { token: null, headers: { 'x-service-key': api.token } };
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['HEAD', '/nowhere'],
    ['OPTIONS', '/nowhere'],
    ['DELETE', '/me'],
  ] as const) {
    t.deepEqual(rateHeaders(await api.call(method, path)), wanted, `${method} ${path}`);
    t.deepEqual(rateHeaders(await api.call(method, path, own)), wanted, `${method} ${path}`);
    for (const token of [null, 'svc_sk_nonsense', await api.signIn()]) {
      const answer = await api.call(method, path, { token });
      t.is(answer.headers.get('ratelimit-policy'), '"address";q=60;w=60');
      t.false(answer.headers.has('service-plan'));
    }
  }
});

test('A57, A58, GET /me and GET /usage: as the headers', async (t) => {
  const api = await startAt(t);
  await api.call('GET', '/games');
  const me = await api.call('GET', '/me');
  t.deepEqual(me.json.limits, {
    minute: { limit: 60, remaining: 58 },
    month: { limit: 10_000, used: 2 },
    enforced: false,
  });
  t.like(told(me), { minute: { 1: 58 }, month: { 1: 9_998 } });
  const usage = await api.call('GET', '/usage');
  t.deepEqual(usage.json, {
    plan: 'basic',
    minute: { limit: 60, remaining: 58, resetSeconds: 40 },
    month: { limit: 10_000, used: 2, remaining: 9_998, resetSeconds: TO_DECEMBER_SECONDS },
    key: { prefix: api.token.slice(0, 16), requestsThisMonth: 2 },
    enforced: false,
    mode: 'paper',
  });
  t.deepEqual(told(usage), {
    minute: [60, 58, 40],
    month: [10_000, 9_998, TO_DECEMBER_SECONDS],
  });
});

test('Q5: not enforced, nothing is refused and all is counted', async (t) => {
  const api = await startAt(t);
  const token = await addEnterprise(api, { perMinute: 2, perMonth: 3 });
  for (const remaining of [1, 0, 0, 0]) {
    const answer = await api.call('GET', '/me', { token });
    t.is(answer.status, 200);
    t.is(told(answer).minute[1], remaining);
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
    t.deepEqual(told(refused).minute, [2, 0, 40]);
    t.is(told(refused).month[1], 98, 'a refusal is not counted');
  }
  t.is((await api.call('GET', '/usage', { token })).status, 200, 'never counted, so never over');
  t.is((await api.call('GET', '/status', { token })).status, 200);
  t.is((await api.call('GET', '/me')).status, 200, 'another account has its own');

  api.clock.ms = Date.parse('2026-11-21T05:00:59.999Z');
  t.is((await api.call('GET', '/me', { token })).json.error.retryAfterSeconds, 1);
  api.clock.ms = Date.parse('2026-11-21T05:01:00.000Z');
  t.deepEqual(told(await api.call('GET', '/me', { token })).minute, [2, 1, 60]);
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
  t.deepEqual(told(december), { minute: [2, 1, 60], month: [2, 1, 31 * 86_400] });
  t.regex(december.headers.get('ratelimit-policy')!, /"month";q=2;w=2678400$/);
});

test('A17: limits behind the scope, before the query', async (t) => {
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
  t.is(told(three).minute[1], 1);
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
    t.is(told(answer).minute[1], 0);
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
    t.deepEqual(told(answer), {
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
    t.deepEqual(told(answer).minute, [60, 59 - index, 40], `call ${index}: ${answer.text}`);
  }
  const [first] = answers;
  t.is(first!.headers.get('ratelimit-policy'), '"address";q=60;w=60');
  t.is(first!.headers.get('ratelimit'), '"address";r=59;t=40');
  for (let left = 53; left >= 0; left--) {
    t.is(told(await unkeyed('/status')).minute[1], left);
  }
  const over = await unkeyed('/status');
  t.is(over.status, 200);
  t.is(told(over).minute[1], 0);
  t.is(await usedBy(api), 0, 'an account has no part in it');
  api.clock.ms += 60_000;
  t.is(told(await unkeyed('/status')).minute[1], 59);
});

test('Q11: behind a proxy the address is the last that it names', async (t) => {
  const left = async (api: Api, forwardedFor: string) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    return told(await api.call('GET', '/status', { token: null, headers })).minute[1];
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

test('Q10: the address that a proxy names counts without its port', async (t) => {
  const api = await startAt(t, { env: { PAPERBOOK_BEHIND_TLS_PROXY: 'on' } });
  const left = async (forwardedFor: string) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    return told(await api.call('GET', '/status', { token: null, headers })).minute[1];
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
