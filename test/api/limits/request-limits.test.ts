/** What counts towards the request limits, and what answers say of them. */
import test from 'ava';
import type { Plan } from '../../../api/identity/users.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import type { RejectionCode } from '../../../engine/rules/rejections.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import {
  addEnterprise,
  BUY,
  startAt,
  TO_DECEMBER_SECONDS,
  usedBy,
  windowsOf,
} from '../limited-api.ts';
import { RawConnection, request } from '../raw-connection.ts';
import { IDS } from '../samples.ts';
import { type Answer, TRADER_SCOPES } from '../support.ts';

test('Q1, Q2: every plan`s numbers, in the headers', async (t) => {
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
    t.deepEqual(windowsOf(answer), {
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
    const { minute, month } = windowsOf(await api.call('GET', '/usage'));
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

test('I15, Q4: a keyed request counts one, over all keys of an account', async (t) => {
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
  t.deepEqual(windowsOf(answer).minute, [60, 53, 40]);
  t.deepEqual(windowsOf(answer).month.slice(0, 2), [10_000, 9_993]);
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
    t.is(windowsOf(answer).minute[1], 60 - used, ids.join(','));
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
    t.deepEqual(
      [windowsOf(answer).minute[1], windowsOf(answer).month[1]],
      [60 - used, 10_000 - used],
    );
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
  api.engine.reply = () => Promise.reject(new Unavailable('queue full'));
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
  t.deepEqual(windowsOf(scope).minute, [60, 59, 40]);
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

test('Q9, response headers: all of them on 404 and 405 too, with a valid key or session', async (t) => {
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
    const session = { token: await api.signIn() };
    t.deepEqual(rateHeaders(await api.call(method, path, session)), wanted, `${method} ${path}`);
    for (const token of [null, 'svc_sk_nonsense', 'a.session.forged']) {
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
  t.like(windowsOf(me), { minute: { 1: 58 }, month: { 1: 9_998 } });
  const usage = await api.call('GET', '/usage');
  const { trading, ...ofRequests } = usage.json;
  t.deepEqual(Object.keys(trading), ['key', 'account']);
  t.deepEqual(ofRequests, {
    plan: 'basic',
    minute: { limit: 60, remaining: 58, resetSeconds: 40 },
    month: { limit: 10_000, used: 2, remaining: 9_998, resetSeconds: TO_DECEMBER_SECONDS },
    key: { prefix: api.token.slice(0, 16), requestsThisMonth: 2 },
    enforced: false,
    mode: 'paper',
  });
  t.deepEqual(windowsOf(usage), {
    minute: [60, 58, 40],
    month: [10_000, 9_998, TO_DECEMBER_SECONDS],
  });
});
