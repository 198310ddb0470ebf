import test from 'ava';
import { ERRORS } from '../../../../api/base/errors.ts';
import type { Scope } from '../../../../api/identity/keys.ts';
import { PLACING_ERRORS } from '../../../../api/operations/routes/placing.ts';
import { uuidTimeMs } from '../../../../engine/memory/uuid-words.ts';
import { REJECTIONS, type RejectionCode } from '../../../../engine/rules/rejections.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { AWAY, CATALOG, NOWHERE } from '../../../engine/fixtures.ts';
import { CoreEngine } from '../../core-engine.ts';
import { RawConnection, request, until } from '../../raw-connection.ts';
import { IDS, NOW_MS } from '../../samples.ts';
import { startApi, TRADER_SCOPES } from '../../support.ts';

const TRADE_ID = '0195d3a0-0000-7000-8000-000000000001';
const BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: IDS.lions,
  side: 'yes',
  count: 10,
};
const SELL = { action: 'sell', type: 'market', idempotencyKey: 'k-2', tradeId: TRADE_ID };

test('A34, A37, I53: a placement reaches the engine as the caller`s', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('POST', '/portfolio/orders', { body: BUY });
  t.is(answer.status, 200);
  t.is(answer.json.idempotencyKey, 'k-1');
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.deepEqual(api.engine.accounts, [api.user.id]);
  t.like(api.engine.requests[0], {
    kind: 'place',
    atMs: NOW_MS,
    account: api.user.id,
    idempotencyKey: 'k-1',
    instrumentId: IDS.lions,
    contracts: 10,
    routing: 'venue_a',
    placedVia: 'api',
    placedPrivate: true,
  });
});

for (const fault of ['a 503', 'a timeout']) {
  for (const wasPlaced of [false, true]) {
    const when = wasPlaced ? 'after' : 'before';
    test(`T96: sent again with its key an order is placed once: ${fault} ${when} it was`, async (t) => {
      const api = await startApi(t);
      const { reply } = api.engine;
      let asked = 0;
      api.engine.reply = async (order) => {
        if (wasPlaced) await reply(order);
        asked++;
        if (fault === 'a 503') throw new Unavailable('Answers no more.');
        return new Promise(() => {});
      };
      if (fault === 'a 503') {
        t.is((await api.call('POST', '/portfolio/orders', { body: BUY })).status, 503);
      } else {
        const caller = new RawConnection(t, api.port);
        const body = JSON.stringify(BUY);
        const lines = `Content-Length: ${body.length}\r\n`;
        caller.send(`${request('POST', '/v1/portfolio/orders', api, lines)}${body}`);
        await until(() => asked === 1);
        caller.destroy();
      }
      api.engine.reply = reply;
      const again = await api.call('POST', '/portfolio/orders', { body: BUY });
      t.like(again.json, { status: 'executed', replayed: wasPlaced });
      const { trades } = (await api.call('GET', '/portfolio/trades')).json;
      t.is(trades.length, 1);
    });
  }
}

test('T27: the privacy of now goes with an order', async (t) => {
  const api = await startApi(t);
  await api.store.changeUser(api.user.id, { private: false });
  await api.call('POST', '/portfolio/orders', { body: BUY });
  t.like(api.engine.requests[0], { placedPrivate: false });
});

test('A6, ids: a placement has a uuid v7 of the engine`s time', async (t) => {
  const api = await startApi(t);
  for (let i = 0; i < 3; i++) await api.call('POST', '/portfolio/orders', { body: BUY });
  const ids = api.engine.requests.map((request) => ('orderId' in request ? request.orderId : ''));
  t.is(new Set(ids).size, 3);
  for (const id of ids) t.is(uuidTimeMs(id), NOW_MS);
});

test('I23, body: Content-Type is not asked for', async (t) => {
  const api = await startApi(t);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await api.call('POST', '/portfolio/orders', { body: BUY, headers });
  t.is(answer.status, 200);
});

test('A8: an unknown field is 400 by its name', async (t) => {
  const api = await startApi(t);
  const { count, ...rest } = BUY;
  const answer = await api.call('POST', '/portfolio/orders', { body: { ...rest, cout: count } });
  t.is(answer.status, 400);
  t.deepEqual(answer.json.error, { code: 'invalid_request', message: 'unknown field "cout"' });
});

test('T6, ticker: an unknown one is named as what is wrong, and never echoed', async (t) => {
  const api = await startApi(t, { engine: new CoreEngine(), catalog: CATALOG });
  const { instrumentId, ...rest } = BUY;
  const place = (target: object) =>
    api.call('POST', '/portfolio/orders', { body: { ...rest, ...target } });
  for (const isOn of [true, false]) {
    await api.switches.set('venueData', isOn);
    const unknown = await place({ ticker: 'KXNOSUCH-1' });
    t.is(unknown.status, 409);
    t.deepEqual(unknown.json.error, {
      code: 'no_tradable_listing',
      message: 'ticker is not that of a venue_a market that an instrument lists.',
    });
  }
  const listed = await place({ instrumentId: NOWHERE });
  t.is(listed.json.error.message, REJECTIONS.no_tradable_listing);
});

test('A38, membership_required: an order says whether its plan may open', async (t) => {
  const api = await startApi(t);
  const plans = { none: false, basic: true, builder: true, desk: true, enterprise: true } as const;
  for (const [plan, mayOpen] of Object.entries(plans)) {
    const token = await api.addKey({ scopes: TRADER_SCOPES! }, plan as keyof typeof plans);
    await api.call('POST', '/portfolio/orders', { token, body: BUY });
    t.like(api.engine.requests.at(-1), { mayOpen }, plan);
  }
});

test('V6, trading off: nothing new is placed, a retry is answered, a cancel works', async (t) => {
  const api = await startApi(t, { engine: new CoreEngine(), catalog: CATALOG });
  const place = (body: object) => api.call('POST', '/portfolio/orders', { body });
  const rests = { ...BUY, instrumentId: AWAY, type: 'limit', limitPriceCents: 2 };
  const placed = await place(rests);
  await api.switches.set('trading', false);
  for (const body of [{ ...rests, idempotencyKey: 'new' }, SELL]) {
    const { status, json } = await place(body);
    t.deepEqual([status, json.error.code], [403, 'trading_off']);
  }
  const again = await place(rests);
  t.is(again.status, 200);
  t.like(again.json, { replayed: true, order: { orderId: placed.json.order.orderId } });
  const other = await place({ ...rests, count: 11 });
  t.deepEqual([other.status, other.json.error.code], [409, 'idempotency_key_reused']);
  const path = `/portfolio/orders/${placed.json.order.orderId}`;
  t.is((await api.call('DELETE', path)).json.order.status, 'canceled');
  await api.switches.set('trading', true);
  t.is(
    (await place({ ...rests, idempotencyKey: 'new' })).json.replayed,
    false,
    'nothing is stored',
  );
});

test('A35, T101: execution at a venue is refused, scope first', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({
    scopes: ['trade:write', 'trade:write:venue_a', 'trade:write:venue_c_intl'],
  });
  const place = (held: string, execution: string) =>
    api.call('POST', '/portfolio/orders', { token: held, body: { ...BUY, execution } });
  for (const venue of ['venue_a', 'venue_c_intl']) {
    const without = await place(api.token, venue);
    t.is(without.status, 403);
    t.is(without.json.error.code, 'insufficient_scope');
    t.is(
      without.headers.get('www-authenticate'),
      `Bearer error="insufficient_scope", scope="trade:write:${venue}"`,
    );
    const within = await place(token, venue);
    t.is(within.status, 409);
    t.is(within.json.error.code, `${venue}_key_missing`);
  }
  for (const held of [token, api.token]) {
    const american = await place(held, 'venue_c');
    t.is(american.status, 403);
    t.is(american.json.error.code, 'us_not_eligible');
  }
  t.deepEqual(api.engine.requests, []);
  t.is((await place(api.token, 'paper')).status, 200);
});

test('A35, live_trading_unavailable: with a credential at that venue', async (t) => {
  const api = await startApi(t);
  const scopes: Scope[] = ['trade:write', 'trade:write:venue_a', 'trade:write:venue_c_intl'];
  const token = await api.addKey({ scopes });
  const owner = [...api.store.users.values()].at(-1)!;
  const codeOf = async (execution: string, held = token) => {
    const body = { ...BUY, execution };
    const { status, json } = await api.call('POST', '/portfolio/orders', { token: held, body });
    return [status, json.error?.code];
  };
  for (const venue of ['venue_a', 'venue_c_intl'] as const) {
    const venueKey = { userId: owner.id, venue, venueKeyId: 'k', createdAtMs: 1 };
    t.deepEqual(await codeOf(venue), [409, `${venue}_key_missing`]);
    await api.store.putVenueKey(venueKey);
    t.deepEqual(await codeOf(venue), [409, 'live_trading_unavailable']);
    t.deepEqual(await codeOf(venue, await api.addKey({ scopes })), [409, `${venue}_key_missing`]);
    t.deepEqual(await codeOf(venue, api.token), [403, 'insufficient_scope']);
    await api.store.removeVenueKey(venueKey);
    t.deepEqual(await codeOf(venue), [409, `${venue}_key_missing`]);
  }
  t.deepEqual(api.engine.requests, [], 'nothing of a refused order is stored, no key is used up');
});

test('A35: the switch before the execution', async (t) => {
  const api = await startApi(t);
  await api.switches.set('trading', false);
  const body = { ...BUY, execution: 'venue_c' };
  const answer = await api.call('POST', '/portfolio/orders', { body });
  t.is(answer.json.error.code, 'trading_off');
  t.deepEqual(api.engine.requests, []);
});

test('E2: every refusal of the engine has the status of its code', async (t) => {
  const api = await startApi(t);
  const codes = PLACING_ERRORS.filter((code): code is RejectionCode => code in REJECTIONS);
  t.true(codes.length > 10);
  for (const code of codes) {
    const retry = code === 'rate_limited' ? { retryAfterSeconds: 7 } : {};
    const refusal = { code, message: `because of ${code}`, ...retry };
    api.engine.reply = async () => ({ ok: false, ...refusal });
    const answer = await api.call('POST', '/portfolio/orders', { body: BUY });
    t.is(answer.status, ERRORS[code].status, code);
    t.deepEqual(answer.json.error, refusal);
  }
});

test('A6, A44: an order is read and canceled by its id in either case', async (t) => {
  const api = await startApi(t);
  const resting = { ...BUY, type: 'limit', limitPriceCents: 5, timeInForce: 'gtc' };
  const placed = await api.call('POST', '/portfolio/orders', { body: resting });
  const upper = placed.json.order.orderId.toUpperCase() as string;
  t.is((await api.call('GET', `/portfolio/orders/${upper}`)).status, 200);
  t.is((await api.call('DELETE', `/portfolio/orders/${upper}`)).status, 200);
  const asked = { account: api.user.id, orderId: upper.toLowerCase(), atMs: NOW_MS };
  t.like(api.engine.requests[1], { kind: 'order', ...asked });
  t.like(api.engine.requests[2], { kind: 'cancel', ...asked });
});

test('A43, order_not_found: also for an id that is no uuid', async (t) => {
  const api = await startApi(t);
  for (const id of ['1', `urn:uuid:${TRADE_ID}`, `${TRADE_ID}%00`, '%', '%ff', 'x'.repeat(500)]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await api.call(method, `/portfolio/orders/${id}`);
      t.is(answer.status, 404, id);
      t.is(answer.json.error.code, 'order_not_found');
    }
  }
  t.deepEqual(api.engine.requests, []);
});

test('L2, hard trade limits: orders and cancels carry what limits them', async (t) => {
  const api = await startApi(t);
  const own = { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 };
  const send = async () => {
    await api.call('POST', '/portfolio/orders', { body: BUY });
    await api.call('DELETE', `/portfolio/orders/${TRADE_ID}`);
    return api.engine.requests.slice(-2).map((request) => {
      return 'counting' in request ? request.counting : null;
    });
  };
  await api.store.changeUser(api.user.id, {
    plan: 'enterprise',
    tradeLimits: { key: own, account: own },
  });
  await api.store.changeUser(api.user.id, { plan: 'basic' });
  for (const counting of await send()) {
    t.like(counting, { keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS }, 'only enterprise');
    t.true(api.store.keys.has(counting!.keyId));
  }
  await api.store.changeUser(api.user.id, { plan: 'enterprise' });
  for (const counting of await send()) t.like(counting, { keyLimits: own, accountLimits: own });
});

test('L6, rate_limited: a hard trade limit says when it ends', async (t) => {
  const api = await startApi(t);
  const refusal = { code: 'rate_limited', message: 'Enough.', retryAfterSeconds: 17 } as const;
  api.engine.reply = async () => ({ ok: false, ...refusal });
  const answer = await api.call('POST', '/portfolio/orders', { body: BUY });
  t.is(answer.status, 429);
  t.is(answer.headers.get('retry-after'), '17');
  t.deepEqual(answer.json, { error: refusal });
});
