/** The events of accounts, over the stream and by polling, on a whole server. */
import test, { type ExecutionContext } from 'ava';
import { createAjv } from '../../../api/base/validation.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { newUser } from '../../../api/identity/users.ts';
import { EventsAnswer } from '../../../api/schemas/events.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { longTest } from '../../long-test.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { request } from '../../process/client.ts';
import { CLIENTS, type ClientOptions, openStream, type StreamClient } from '../stream-client.ts';
import { type Json, TRADER_SCOPES } from '../support.ts';
import { sharedWhole, startWhole, type WholeServer } from '../whole-server.ts';

const WIDE = { newPerMinute: 1000, newPerDay: 1000, closingPerMinute: 1000 };
const isAnswer = createAjv().compile(EventsAnswer);
const noSnapshot = { ...{ positions: [], orders: [] }, account: null };

type Trader = {
  server: WholeServer;
  userId: string;
  token: string;
  open(options?: Partial<ClientOptions>): Promise<StreamClient>;
  call(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Json>;
  /** Places an order, which must be taken. */
  place(fields: object): Promise<Json>;
  /** All events by polling, a few at a time. */
  poll(after?: string): Promise<Json[]>;
};

const shared = sharedWhole();
let traders = 0;
let atMs = NOON_MS;

async function newTrader(t: ExecutionContext, server: WholeServer): Promise<Trader> {
  const { identity } = server.paperbook;
  traders++;
  const tradeLimits = { key: WIDE, account: WIDE };
  const user = newUser(
    { email: `trader${traders}@example.org`, plan: 'enterprise', tradeLimits },
    Date.now(),
  );
  await identity.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await identity.putKey(key);
  // A test before may have left another price.
  server.paperbook.engine.tick(quoteTick({ atMs: ++atMs }));
  await server.paperbook.engine.drained();
  const port = Number(new URL(server.origin).port);
  const call: Trader['call'] = async (method, path, body, headers) => {
    const answer = await request(token, method, `${server.origin}/v1${path}`, body, headers);
    t.true(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  let orders = 0;
  return {
    server,
    userId: user.id,
    token,
    call,
    open: (options = {}) => openStream(t, port, { token, ...options }),
    place: (fields) => {
      orders++;
      const instrumentId = 'tradeId' in fields ? {} : { instrumentId: server.instrumentIds[0] };
      return call('POST', '/portfolio/orders', {
        ...{ action: 'buy', type: 'market', idempotencyKey: `k${orders}`, ...instrumentId },
        ...('tradeId' in fields ? {} : { side: 'yes', count: 5 }),
        ...fields,
      });
    },
    poll: async (after) => {
      const events: Json[] = [];
      for (let from = after; ; ) {
        const query = from === undefined ? '?limit=2' : `?limit=2&after=${from}`;
        const page = await call('GET', `/portfolio/events${query}`);
        t.true(isAnswer(page), JSON.stringify(isAnswer.errors));
        events.push(...page.events);
        if (page.nextAfter === from) return events;
        from = page.nextAfter;
      }
    },
  };
}

/** One of everything that happens to orders and trades. Returns how many events that makes. */
async function trade({ server, place, call }: Trader): Promise<number> {
  const { engine } = server.paperbook;
  const resting = await place({ type: 'limit', limitPriceCents: 20 });
  await place({ type: 'limit', limitPriceCents: 20, timeInForce: 'ioc' });
  await place({ type: 'limit', limitPriceCents: 60 });
  const bought = await place({});
  await place({ action: 'sell', type: 'market', tradeId: bought.trade.tradeId });
  const waiting = await place({ type: 'limit', limitPriceCents: 30 });
  await call('DELETE', `/portfolio/orders/${resting.order.orderId}`);
  engine.tick(quoteTick({ atMs: ++atMs, market: 0, yesBidCents: 25, yesAskCents: 29 }));
  await engine.drained();
  if (waiting.status !== 'resting') throw new Error('it was filled at once');
  return 12;
}

async function take(client: StreamClient, count: number): Promise<Json[]> {
  const messages: Json[] = [];
  while (messages.length < count) messages.push(await client.next());
  return messages;
}

for (const { kind, protocol } of variantsOfRun(CLIENTS)) {
  test.serial(
    `J21, J22, J25: ${kind}, ${protocol}: a portfolio and then each event, once and in order`,
    async (t) => {
      const trader = await newTrader(t, await shared());
      const client = await trader.open({ kind, protocol });
      await client.ask({ op: 'subscribe', channels: ['orders'] });
      const snapshot = await client.next();
      t.like(snapshot, { channel: 'orders', snapshot: true, seq: 0 });
      t.like(snapshot.data, noSnapshot);
      const count = await trade(trader);
      const messages = await take(client, count);
      t.deepEqual(
        messages.map(({ seq }) => seq),
        messages.map((_, at) => at + 1),
      );
      const events = messages.map(({ data }) => data);
      t.deepEqual(
        events.map(({ type, order, trade: of }) => `${type} ${order?.status ?? of.status}`),
        [
          'order_placed resting',
          'order_placed resting',
          'order_canceled canceled',
          'order_placed resting',
          'order_filled executed',
          'trade_opened open',
          'trade_opened open',
          'trade_closed closed',
          'order_placed resting',
          'order_canceled canceled',
          'order_filled executed',
          'trade_opened open',
        ],
      );
      t.deepEqual(await trader.poll(), events, 'J25: the same events for who polls');
      const portfolio = await trader.call('GET', '/portfolio');
      const again = await trader.open();
      await again.ask({ op: 'subscribe', channels: ['orders'] });
      const now = await again.next();
      t.is(now.seq, count);
      t.deepEqual({ ...now.data, asOf: '' }, { ...portfolio, asOf: '' });
    },
  );
}

test.serial('J44: a corrected result is an event, over the stream and by polling', async (t) => {
  const trader = await newTrader(t, await startWhole(t));
  const { engine } = trader.server.paperbook;
  const client = await trader.open();
  await client.ask({ op: 'subscribe', channels: ['orders'] });
  await client.next();
  const { trade: bought } = await trader.place({});
  const yes = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  const value = { outcome: 'scalar', yesPayoutCents: 62, noPayoutCents: 38 } as const;
  const of = { kind: 'result', atMs: NOON_MS, source: 0, market: 0 } as const;
  await engine.settle({ ...of, ...yes });
  await engine.settle({ ...of, ...value }, { isCorrection: true });
  const events = (await take(client, 3)).map(({ data }) => data);
  const [, settled, corrected] = events;
  t.is(settled.type, 'trade_settled');
  const { eventId, at, ...told } = corrected;
  t.true(eventId > settled.eventId && at >= settled.at);
  const { tradeId } = bought;
  t.deepEqual(told, {
    ...{ type: 'trade_corrected', tradeId, from: 'yes', to: 'scalar' },
    cashDollars: -0.38 * bought.contracts,
  });
  t.deepEqual(await trader.poll(), events);
  const { trades } = await trader.call('GET', '/portfolio/trades');
  t.is(trades[0].closedAt, settled.trade.closedAt);
  t.is(trades[0].pnlDollars, Math.round(62 * bought.contracts - 100 * bought.costDollars) / 100);
});

test.serial('J23: with after come the missed events, and then the numbered ones', async (t) => {
  const trader = await newTrader(t, await shared());
  const first = await trader.open();
  await first.ask({ op: 'subscribe', channels: ['orders'] });
  await first.next();
  const count = await trade(trader);
  const messages = await take(first, count);
  for (const at of [0, 4, count - 1]) {
    const client = await trader.open();
    const after = { orders: messages[at].data.eventId };
    await client.ask({ op: 'subscribe', channels: ['orders'], after });
    const missed = await take(client, messages.length - 1 - at);
    t.deepEqual(
      missed.map(({ data }) => data),
      messages.slice(at + 1).map(({ data }) => data),
    );
    t.true(missed.every(({ replayed, seq }) => replayed === true && seq === undefined));
    await trader.place({ type: 'limit', limitPriceCents: 3 });
    const [next] = await take(client, 1);
    t.is(next.data.type, 'order_placed');
    t.deepEqual(next, await first.next(), 'numbered as for those who were there');
    messages.push(next);
  }
});

test.serial('J21, J23: one goes on after a snapshot, without loss or repetition', async (t) => {
  const trader = await newTrader(t, await shared());
  await trade(trader);
  const first = await trader.open();
  await first.ask({ op: 'subscribe', channels: ['orders'] });
  const { eventId } = await first.next();
  first.close();
  const { order } = await trader.place({ type: 'limit', limitPriceCents: 3 });
  const second = await trader.open();
  await second.ask({ op: 'subscribe', channels: ['orders'], after: { orders: eventId } });
  const [missed] = await take(second, 1);
  t.like(missed, { replayed: true, data: { type: 'order_placed', order: { ...order } } });
  t.deepEqual(second.waiting, []);
});

test.serial(
  'J23, J43: subscribe after what is no event, or is none yet, is refused and subscribes to nothing',
  async (t) => {
    const trader = await newTrader(t, await shared());
    await trade(trader);
    const client = await trader.open();
    const { nextAfter } = await trader.call('GET', '/portfolio/events');
    const next = String(Number(nextAfter) + 1).padStart(16, '0');
    for (const orders of ['17', next, '0000000999999999']) {
      const refused = await client.ask({
        op: 'subscribe',
        channels: ['orders'],
        after: { orders },
      });
      t.like(refused, { status: 400, body: { error: { code: 'invalid_request' } } }, orders);
    }
    const last = { op: 'subscribe', channels: ['orders'], after: { orders: nextAfter } };
    t.deepEqual((await client.ask(last)).body.channels, ['orders']);
    await trader.place({});
    t.like(await client.next(), { channel: 'orders', data: { type: 'trade_opened' } });
  },
);

test.serial(
  'J23: after of a message without orders is refused and subscribes to nothing',
  async (t) => {
    const trader = await newTrader(t, await shared());
    const client = await trader.open();
    const after = { orders: '0000000000000000' };
    for (const parts of [{ channels: ['games'] }, { channels: [], cancelOnDisconnect: true }]) {
      const refused = await client.ask({ op: 'subscribe', ...parts, after });
      const message = 'after.orders belongs to the channel orders, which channels lacks';
      t.like(refused, { status: 400, body: { error: { code: 'invalid_request', message } } });
    }
    const both = await client.ask({ op: 'subscribe', channels: ['games', 'orders'], after });
    t.deepEqual(both.body.channels, ['games', 'orders']);
    t.is(both.body.cancelOnDisconnect, undefined);
  },
);

test.serial(
  'J23: after of orders that the connection has already is refused, until it unsubscribes',
  async (t) => {
    const trader = await newTrader(t, await shared());
    await trade(trader);
    const client = await trader.open();
    await client.ask({ op: 'subscribe', channels: ['orders'] });
    await client.next();
    const again = { op: 'subscribe', channels: ['orders'] };
    const after = { orders: '0000000000000000' };
    const refused = await client.ask({ ...again, after, channels: ['games', 'orders'] });
    const message = 'after.orders needs an unsubscribe first: orders has begun here already';
    t.like(refused, { status: 400, body: { error: { code: 'invalid_request', message } } });
    t.deepEqual((await client.ask(again)).body.channels, ['orders'], 'nothing was added');
    await client.ask({ op: 'unsubscribe', channels: ['orders'] });
    await client.ask({ ...again, after });
    t.like(await client.next(), { channel: 'orders', replayed: true });
  },
);

test.serial('J25, J43: what is no eventId is refused, and so is one that is not yet', async (t) => {
  const trader = await newTrader(t, await shared());
  await trader.place({});
  // The last one has 16 digits, but is not a number that can be counted to.
  for (const after of ['1', '-000000000000001', '9007199254740992']) {
    const url = `${trader.server.origin}/v1/portfolio/events?after=${after}`;
    const refused = await request(trader.token, 'GET', url);
    t.like(refused.body.error, {
      code: 'invalid_request',
      message: 'after must be the eventId of an event',
    });
  }
  const { nextAfter } = await trader.call('GET', '/portfolio/events');
  const end = await trader.call('GET', `/portfolio/events?after=${nextAfter}`);
  t.like(end, { events: [], nextAfter }, 'nothing follows the last one');
  const next = String(Number(nextAfter) + 1).padStart(16, '0');
  for (const after of [next, '9007199254740991']) {
    const url = `${trader.server.origin}/v1/portfolio/events?after=${after}`;
    const refused = await request(trader.token, 'GET', url);
    t.is(refused.status, 400, after);
    t.is(refused.body.error.message, 'after must be the eventId of a past event');
  }
  await trader.place({});
  const later = await trader.call('GET', `/portfolio/events?after=${next}`);
  t.true(Number(later.nextAfter) > Number(next), 'now it is there');
});

longTest.serial(
  'J22: a settlement is an event of each trade; while venue data is off no event shows any',
  async (t) => {
    const trader = await newTrader(t, await startWhole(t));
    const { trade: bought } = await trader.place({});
    const client = await trader.open();
    await client.ask({ op: 'subscribe', channels: ['orders'] });
    t.is((await client.next()).data.positions[0].tradeId, bought.tradeId);
    trader.server.paperbook.engine.tick({
      ...{ kind: 'result', source: 0, market: 0, atMs: ++atMs, outcome: 'yes' },
      ...{ yesPayoutCents: 100, noPayoutCents: 0 },
    });
    const { data } = await client.next();
    t.is(data.type, 'trade_settled');
    t.like(data.trade, { tradeId: bought.tradeId, status: 'settled', resolvedOutcome: 'yes' });
    t.is(typeof data.trade.entryCents, 'number');
    t.deepEqual((await trader.poll(data.eventId)).length, 0);
    const admin = trader.server;
    const off = await request(
      admin.adminToken,
      'PUT',
      `${admin.paperbook.adminUrl}/admin/venue-data`,
      { on: false },
    );
    t.is(off.status, 200);
    for (const event of await trader.poll()) {
      const shown = event.order ?? event.trade;
      t.false('marketTicker' in shown || 'entryCents' in shown || 'fillPriceCents' in shown);
    }
  },
);

test.serial(
  'J21: events of other accounts are not shown; an organization`s go to those who connect for it',
  async (t) => {
    const server = await shared();
    const [one, other] = [await newTrader(t, server), await newTrader(t, server)];
    const { organizations } = server.paperbook.identity;
    const organization = newOrganization({ slug: 'desk', name: 'Desk' }, Date.now());
    await organizations.add(organization);
    const membership = { organizationId: organization.id, userId: one.userId, createdAtMs: 1 };
    await organizations.putMember({ ...membership, role: 'owner' });
    const headers = { 'x-service-org': organization.id };
    const clients = [await one.open(), await one.open({ headers }), await other.open()];
    for (const client of clients) {
      await client.ask({ op: 'subscribe', channels: ['orders'] });
      await client.next();
    }
    const order = { action: 'buy', type: 'market', side: 'yes', count: 1 };
    const body = { ...order, instrumentId: server.instrumentIds[0], idempotencyKey: 'k' };
    const { trade: ofDesk } = await one.call('POST', '/portfolio/orders', body, headers);
    const { trade: own } = await one.place({});
    const { trade: theirs } = await other.place({});
    const seen = await Promise.all(clients.map((client) => client.next()));
    t.deepEqual(
      seen.map(({ data }) => data.trade.tradeId),
      [own.tradeId, ofDesk.tradeId, theirs.tradeId],
    );
    const page = await one.call('GET', '/portfolio/events', undefined, headers);
    t.deepEqual([page.events.length, page.organization.slug], [1, 'desk']);
    await organizations.removeMember(organization.id, one.userId);
    const ended = await clients[1]!.next();
    t.deepEqual(
      [ended.channel, ended.ended, ended.error.code],
      ['orders', true, 'organization_forbidden'],
    );
  },
);

test.serial(
  'J22: of many orders each is an event once, in the order of their answers',
  async (t) => {
    const trader = await newTrader(t, await shared());
    const client = await trader.open();
    await client.ask({ op: 'subscribe', channels: ['orders'] });
    await client.next();
    const placed: string[] = [];
    for (let order = 0; order < 60; order++) {
      placed.push((await trader.place({ type: 'limit', limitPriceCents: 3 })).order.orderId);
    }
    const messages = await take(client, placed.length);
    t.deepEqual(
      messages.map(({ data }) => data.order.orderId),
      placed,
    );
    t.deepEqual(client.waiting, []);
  },
);

test.serial(
  'J18, J22: orders that end with their connection are events with that reason, in their order',
  async (t) => {
    const trader = await newTrader(t, await shared());
    const [watcher, client] = [await trader.open(), await trader.open()];
    await watcher.ask({ op: 'subscribe', channels: ['orders'] });
    await watcher.next();
    await client.ask({ op: 'subscribe', channels: [], cancelOnDisconnect: true });
    const fields = { action: 'buy', type: 'limit', side: 'yes', count: 5 };
    const instrumentId = trader.server.instrumentIds[0];
    for (const [key, limitPriceCents] of [20, 30, 10].entries()) {
      const order = { ...fields, instrumentId, limitPriceCents, idempotencyKey: `own-${key}` };
      t.is((await client.ask({ op: 'place', order })).body.status, 'resting');
    }
    const { engine } = trader.server.paperbook;
    engine.tick(quoteTick({ atMs: ++atMs, market: 0, yesBidCents: 25, yesAskCents: 29 }));
    await engine.drained();
    client.close();
    const events = (await take(watcher, 7)).map(({ data }) => data);
    t.deepEqual(
      events.map(({ type, order }) => `${type} ${order?.limitCents} ${order?.cancelReason ?? ''}`),
      [
        ...['order_placed 20 ', 'order_placed 30 ', 'order_placed 10 '],
        ...['order_filled 30 ', 'trade_opened undefined '],
        ...['order_canceled 20 disconnected', 'order_canceled 10 disconnected'],
      ],
    );
    t.deepEqual(await trader.poll(), events);
  },
);
