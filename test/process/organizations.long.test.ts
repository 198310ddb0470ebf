/** An organization's paper sandbox beside personal accounts, on a real engine. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { PRESETS } from '../../engine/rules/realism.ts';
import { type Answer, ask, centsOf, type Json, request } from './client.ts';
import { type Server, startFor, tempDir, unmarked } from './server.ts';

const WIDE = { newPerMinute: 6000, newPerDay: 1_000_000, closingPerMinute: 6000 };
/** More than the sandbox may over two minutes, whenever the minute changes. */
const ATTEMPTS_MAX = 25;
/** Fewer than 20 a minute: a key's limits are its owner's, and the member has no own ones. */
const SELLS_EVERY_MS = 3500;

test.serial('I60, organization header: a sandbox of its own', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  const first = await startFor(t, 'demo', { dataDir, env: { PAPERBOOK_SHARDS: '2' } });
  const { key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const { organizationId, memberToken } = await addOrganization(first, key);
  const personal = callerOf(first, key, null);
  const acme = callerOf(first, key, organizationId);
  const member = callerOf(first, memberToken, organizationId);

  t.deepEqual((await ask(key, 'GET', `${first.baseUrl}/organizations`)).organizations, [
    { id: organizationId, slug: 'acme', name: 'Acme', role: 'owner', realism: PRESETS.simple },
  ]);
  const { instruments } = await personal.get('/instruments?tradable=true&limit=100');
  const buy = { action: 'buy', side: 'yes', instrumentId: latestOf(instruments).id };
  const market = { ...buy, type: 'market', idempotencyKey: 'same' };
  const mine = await untilTaken(() => personal.post({ ...market, count: 3 }));
  const before = await personal.get('/portfolio');

  // The sandbox was never used, and knows nothing of the personal idempotency key.
  t.like(await acme.get('/portfolio'), { account: null, organization: { slug: 'acme' } });
  const bought = await untilTaken(() => acme.post({ ...market, count: 7 }));
  t.like(bought, { status: 'executed', replayed: false, trade: { contracts: 7 } });
  t.true(bought.trade.placedPrivate);
  t.like((await acme.post({ ...market, count: 7 })).body, {
    replayed: true,
    trade: { tradeId: bought.trade.tradeId },
  });
  const different = await acme.post({ ...market, count: 3 });
  t.is(different.body.error.code, 'idempotency_key_reused');
  const rests = { ...buy, type: 'limit', limitPriceCents: 1, count: 5, idempotencyKey: 'rests' };
  const { order } = await untilTaken(() => acme.post(rests));
  t.is(order.status, 'resting');

  // What one account has, the other does not see and cannot touch.
  const { orderId } = order;
  const { tradeId } = bought.trade;
  const sell = { action: 'sell', type: 'market', tradeId, idempotencyKey: 'sell' };
  t.like(await acme.get(`/portfolio/orders/${orderId}`), {
    order: { orderId },
    organization: { slug: 'acme' },
  });
  t.is((await personal.send('GET', `/portfolio/orders/${orderId}`)).status, 404);
  t.is((await personal.send('DELETE', `/portfolio/orders/${orderId}`)).status, 404);
  t.is((await personal.post(sell)).body.error.code, 'trade_not_found');
  t.is((await acme.post({ ...sell, tradeId: mine.trade.tradeId })).status, 404);
  const sandbox = await acme.get('/portfolio');
  const { balanceDollars, heldDollars, openStakeDollars } = sandbox.account;
  t.is(centsOf(openStakeDollars), 7 * bought.trade.entryCents);
  t.is(centsOf(heldDollars), 5);
  const cents = [balanceDollars, heldDollars, openStakeDollars].map(centsOf);
  t.is(cents[0]! + cents[1]! + cents[2]!, 10_000_000, '100,000 paper dollars of its own');
  t.deepEqual(moneyOf(await personal.get('/portfolio')), moneyOf(before), 'untouched');
  for (const list of ['/portfolio/trades', '/portfolio/orders']) {
    t.deepEqual((await acme.get(list)).organization, { slug: 'acme' });
    t.false('organization' in (await personal.get(list)));
  }

  // A member on no plan sees it all and opens nothing.
  t.is((await member.get('/portfolio')).positions[0].tradeId, tradeId);
  for (const order of [{ ...market, count: 1 }, rests]) {
    const { status, body } = await member.post({ ...order, idempotencyKey: `plan-${order.type}` });
    t.is(status, 403);
    t.is(body.error.code, 'membership_required');
  }

  // Stopped and started, nothing has changed.
  t.is((await first.command.end('SIGINT')).code, 0);
  const second = await startFor(t, 'demo', { dataDir, env: { PAPERBOOK_SHARDS: '2' } });
  const acmeAgain = callerOf(second, key, organizationId);
  const personalAgain = callerOf(second, key, null);
  const after = await acmeAgain.get('/portfolio');
  t.deepEqual(moneyOf(after), moneyOf(sandbox));
  t.deepEqual(after.organization, { slug: 'acme' });
  t.deepEqual(moneyOf(await personalAgain.get('/portfolio')), moneyOf(before));
  t.like((await acmeAgain.post({ ...market, count: 7 })).body, {
    replayed: true,
    trade: { tradeId },
  });
  const memberAgain = callerOf(second, memberToken, organizationId);
  const sold = await untilTaken(() => memberAgain.post(sell), SELLS_EVERY_MS);
  t.like(sold, { status: 'executed', trade: { tradeId, status: 'closed' } });
  t.like((await acmeAgain.send('DELETE', `/portfolio/orders/${orderId}`)).body, {
    order: { status: 'canceled', cancelReason: 'canceled_by_owner' },
  });

  // The sandbox has limits of its own; the personal account does not meet them.
  const limits = `/admin/organizations/${organizationId}`;
  const own = { tradeLimits: { account: { newPerMinute: 4 } } };
  await ask(adminTokenOf(second), 'PATCH', second.adminUrl + limits, own);
  let limited: Answer | null = null;
  for (let n = 0; n < ATTEMPTS_MAX && limited === null; n++) {
    const answer = await acmeAgain.post({ ...rests, idempotencyKey: `limit-${n}` });
    if (answer.status === 429) limited = answer;
  }
  t.regex(limited?.body.error.message ?? '', /account .* limit of 4 new orders a minute/);
  await untilTaken(() => personalAgain.post({ ...rests, idempotencyKey: 'still-open' }));
  const { problems } = await ask(adminTokenOf(second), 'GET', `${second.adminUrl}/admin/audit`);
  t.deepEqual(problems, []);
});

/** An organization with the demo's user as its owner and a member without a plan. */
async function addOrganization({ dataDir, baseUrl, adminUrl }: Server, key: string) {
  const admin = (method: string, where: string, body: object) =>
    ask(adminTokenOf({ dataDir }), method, adminUrl + where, body);
  const { organization } = await admin('POST', '/admin/organizations', {
    slug: 'acme',
    name: 'Acme',
  });
  const where = `/admin/organizations/${organization.id}`;
  await admin('PATCH', where, { tradeLimits: { account: WIDE } });
  const owner = (await ask(key, 'GET', `${baseUrl}/me`)).user.id;
  await admin('PUT', `${where}/members`, { userId: owner, role: 'owner' });
  const { user } = await admin('POST', '/admin/users', { email: 'member@example.com' });
  const scopes = ['portfolio:read', 'trade:write'];
  const { token } = await admin('POST', '/admin/keys', { userId: user.id, scopes });
  await admin('PUT', `${where}/members`, { userId: user.id, role: 'member' });
  return { organizationId: organization.id as string, memberToken: token as string };
}

function adminTokenOf({ dataDir }: Pick<Server, 'dataDir'>): string {
  return readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
}

function callerOf({ baseUrl }: Server, token: string, organizationId: string | null) {
  const headers: Record<string, string> =
    organizationId === null ? {} : { 'x-service-org': organizationId };
  const send = (method: string, where: string, body?: object) =>
    request(token, method, baseUrl + where, body, headers);
  return {
    send,
    get: async (where: string): Promise<Json> => {
      const { status, body } = await send('GET', where);
      if (status !== 200) throw new Error(`${where}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    post: (order: object) => send('POST', '/portfolio/orders', order),
  };
}

/** The instrument whose game starts last: it will not settle meanwhile. */
function latestOf(instruments: Json[]): Json {
  return instruments.sort((a, b) => (a.startsAt < b.startsAt ? 1 : -1))[0];
}

/** What a price cannot move. */
function moneyOf({ account, positions, orders }: Json) {
  const { balanceDollars, heldDollars, openStakeDollars, runStartedAt } = account;
  const money = { balanceDollars, heldDollars, openStakeDollars, runStartedAt };
  return { ...money, positions: unmarked(positions), orders };
}

/** A simulated venue pauses a market now and then, for seconds: nothing is placed meanwhile. */
async function untilTaken(place: () => Promise<Answer>, everyMs = 50): Promise<Json> {
  const taken = async () => {
    const { status, body } = await place();
    if (status === 200) return body;
    if (['market_not_open', 'no_liquidity'].includes(body.error.code)) return null;
    throw new Error(`${status} ${JSON.stringify(body)}`);
  };
  return await eventually('an open market', taken, { everyMs });
}
