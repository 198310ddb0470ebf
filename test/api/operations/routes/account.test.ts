/** The account by itself, its reset, its privacy in the log, and marks of its trades. */
import test from 'ava';
import { PRESETS } from '../../../../engine/rules/realism.ts';
import { IDS, NOW_MS } from '../../samples.ts';
import { type Api, startApi } from '../../support.ts';

const env = { PAPERBOOK_SELF_RESET: 'on' };
const PARLAY = '0195d3a0-0000-7000-8000-00000000000a';

async function buy(api: Api, idempotencyKey = 'one'): Promise<string> {
  const order = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 10 };
  const { json } = await api.call('POST', '/portfolio/orders', {
    body: { ...order, idempotencyKey },
  });
  return json.trade.tradeId;
}

test('A90: points are the net worth, before the first trade and after it', async (t) => {
  const api = await startApi(t);
  const { id, displayName } = api.user;
  const user = { id, displayName, private: true };
  const envelope = { asOf: new Date(NOW_MS).toISOString(), mode: 'paper' };
  const before = await api.call('GET', '/account');
  const realism = PRESETS.simple;
  const empty = { points: 100_000, balanceDollars: 100_000, account: null };
  t.deepEqual(before.json, { user, plan: 'basic', realism, ...empty, ...envelope });
  await buy(api);
  const { json } = await api.call('GET', '/account');
  const portfolio = await api.call('GET', '/portfolio');
  t.deepEqual(json.account, portfolio.json.account);
  t.is(json.points, json.account.netWorthDollars);
  t.true(json.points < 100_000, 'it is marked at the bid');
});

test('A91: a session resets the account, once in 30 days', async (t) => {
  const api = await startApi(t, { env });
  const token = await api.signIn();
  const reset = () => api.call('POST', '/account/reset', { token });
  const early = await reset();
  t.is(early.status, 409);
  t.is(early.json.error.code, 'reset_not_available');
  t.regex(early.json.error.message, /begins with its first order/);
  await buy(api);
  const first = await reset();
  t.is(first.status, 200);
  t.like(first.json.account, { run: 2, resets: 1, balanceDollars: 100_000, openPositions: 0 });
  t.is(first.json.account.resetBlockedBy, 'reset_too_soon');
  t.deepEqual((await api.call('GET', '/account')).json.account, first.json.account);
  const again = await reset();
  t.is(again.json.error.code, 'reset_not_available');
  t.regex(again.json.error.message, /the next reset is possible from 20/);
  t.is((await api.call('GET', '/account')).json.account.run, 2);
});

test('A91: it needs a session, and the operator’s leave', async (t) => {
  const api = await startApi(t);
  await buy(api);
  const byKey = await api.call('POST', '/account/reset');
  t.is(byKey.json.error.code, 'session_required');
  const refused = await api.call('POST', '/account/reset', { token: await api.signIn() });
  t.is(refused.status, 409);
  t.is(refused.json.error.message, 'Resets are not enabled on this server.');
  t.is((await api.call('GET', '/account')).json.account.openPositions, 1);
});

test('I51, M36: a change of privacy goes on to the log, and a busy engine does not stop it', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const commands: unknown[] = [];
  const { call } = api.engine;
  api.engine.call = (account, request) => {
    if (request.kind === 'set_privacy') commands.push(request.private);
    return call.call(api.engine, account, request);
  };
  const change = (body: object) => api.call('PATCH', '/me', { token, body });
  await change({ private: false });
  await change({ displayName: 'Momentum' });
  t.deepEqual(commands, [false, false], 'also where it stays, in case the log lacks it');
  const { Unavailable } = await import('../../../../engine/threads/unavailable.ts');
  api.engine.call = async () => {
    throw new Unavailable('starting');
  };
  const changed = await change({ private: true });
  t.is(changed.status, 200);
  t.true(changed.json.user.private);
  t.true(api.log.some(({ message }) => message === 'privacy is not in the log yet'));
});

test('O17: an operator marks a trade, open or over', async (t) => {
  const api = await startApi(t);
  const tradeId = await buy(api);
  const mark = (body: object) => api.admin('POST', '/admin/marks', { body });
  t.deepEqual((await mark({ tradeId, combine: true })).json, {
    tradeId,
    parlayId: null,
    combine: true,
  });
  const marked = await mark({ tradeId, parlayId: PARLAY.toUpperCase() });
  t.deepEqual(marked.json, { tradeId, parlayId: PARLAY, combine: true });
  const { json } = await api.call('GET', '/portfolio');
  t.is(json.positions[0].parlayId, PARLAY);
  const sell = { action: 'sell', type: 'market', tradeId, idempotencyKey: 'two' };
  await api.call('POST', '/portfolio/orders', { body: sell });
  t.is((await mark({ tradeId, combine: true })).json.combine, true);
  t.is((await mark({ tradeId, userId: api.user.id, combine: true })).status, 200);
  const unknown = { tradeId: PARLAY, combine: true };
  for (const body of [unknown, { ...unknown, userId: api.user.id }]) {
    const refused = await mark(body);
    t.deepEqual([refused.status, refused.json.error.code], [404, 'trade_not_found']);
  }
  t.is((await mark({ tradeId })).status, 400);
  t.is((await mark({ tradeId: 'x', combine: true })).status, 400);
});
