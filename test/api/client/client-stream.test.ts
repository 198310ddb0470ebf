/** The stream of `paperbook/client`, at a real server, also through a relay that loses messages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import {
  ConnectionLostError,
  createClient,
  type LimitBuy,
  outcomesOf,
  type Quote,
  RefusedError,
  type Stream,
  type StreamEvents,
  type StreamOptions,
} from 'paperbook/client';
import { WebSocket as WsSocket } from 'ws';
import { type Key, newKey } from '../../../api/identity/keys.ts';
import { newUser, type User } from '../../../api/identity/users.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { request } from '../../process/client.ts';
import { HEARTBEAT_MS, type Relay, startRelay } from '../relay.ts';
import { startApi, TRADER_SCOPES } from '../support.ts';
import { sharedWhole, startWhole, type WholeServer } from '../whole-server.ts';

const WIDE = { newPerMinute: 1000, newPerDay: 1000, closingPerMinute: 1000 };
const QUICK = { heartbeatMs: HEARTBEAT_MS * 5, firstPauseMs: 20 };

type Seen = { [Name in keyof StreamEvents]: StreamEvents[Name][] };
type Trader = {
  server: WholeServer;
  user: User;
  key: Key;
  token: string;
  client: ReturnType<typeof createClient>;
  relay: Relay;
  quotes: `quotes:${string}`;
  /** The body of an order that rests, each with a key of its own. */
  resting(): LimitBuy & { idempotencyKey: string };
  /** A stream through the relay, and all that its listeners got. */
  open(options?: StreamOptions): { stream: Stream; seen: Seen };
  /** The ids of all events of the account. */
  eventIds(): Promise<string[]>;
};

const shared = sharedWhole();
let traders = 0;
let nowMs = NOON_MS;

async function newTrader(
  t: ExecutionContext,
  starting: Promise<WholeServer> = shared(),
): Promise<Trader> {
  const server = await starting;
  const { identity, baseUrl, engine } = server.paperbook;
  // A test before may have left another price.
  engine.tick(quoteTick({ atMs: ++nowMs }));
  await engine.drained();
  const tradeLimits = { key: WIDE, account: WIDE };
  const user = newUser(
    { email: `bot${++traders}@example.org`, plan: 'enterprise', tradeLimits },
    Date.now(),
  );
  await identity.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await identity.putKey(key);
  const relay = await startRelay(t, Number(new URL(baseUrl).port));
  const instrumentId = server.instrumentIds[0]!;
  const client = createClient({ baseUrl, credential: token });
  let orders = 0;
  return {
    ...{ server, user, key, token, client, relay },
    quotes: `quotes:${instrumentId}`,
    resting: () => {
      orders++;
      return {
        ...{
          action: 'buy',
          type: 'limit',
          limitPriceCents: 3,
          instrumentId,
          side: 'yes',
          count: 1,
        },
        idempotencyKey: `k${orders}`,
      };
    },
    open: (options = {}) => {
      const through = createClient({ baseUrl: relay.baseUrl, credential: token });
      return watched(t, through.stream({ ...QUICK, ...options }));
    },
    eventIds: async () => {
      const { events } = await client.listEvents({ query: { limit: 500 } });
      return events.map(({ eventId }) => eventId);
    },
  };
}

function watched(t: ExecutionContext, stream: Stream): { stream: Stream; seen: Seen } {
  t.teardown(() => stream.close());
  const seen: Seen = {
    ...{ quote: [], games: [], game: [], portfolio: [], order: [] },
    ...{ gap: [], ended: [], state: [] },
  };
  for (const name of Object.keys(seen) as (keyof Seen)[]) {
    stream.on(name, (event) => (seen[name] as unknown[]).push(event));
  }
  return { stream, seen };
}

const until = (what: string, isSo: () => boolean) =>
  eventually(what, async () => (isSo() ? true : null), { everyMs: 10 });

const idsOf = ({ order }: Seen) => order.map(({ event }) => event.eventId);

/** A change of the price of the first instrument. */
async function tick({ server }: Trader, yesBidCents: number): Promise<void> {
  server.paperbook.engine.tick(quoteTick({ atMs: ++nowMs, yesBidCents }));
  await server.paperbook.engine.drained();
}

function bidOf({ venues }: Quote): number | null | undefined {
  return venues[0]?.yesBidCents;
}

test.serial(
  'J10, J14: listeners get whole quotes, what has changed of them, and games',
  async (t) => {
    const trader = await newTrader(t);
    const { stream, seen } = trader.open();
    await stream.subscribe(trader.quotes, 'games');
    t.is(seen.quote.length, 1);
    await tick(trader, 41);
    await until('a change', () => seen.quote.length > 1);
    const [first, { quote, change }] = [seen.quote[0]!, seen.quote.at(-1)!];
    t.is(first.change, null);
    t.is(bidOf(first.quote), 40, 'what a listener has does not change');
    t.deepEqual(Object.keys(change!).sort(), ['asOf', 'venues']);
    const [, id] = trader.quotes.split(':');
    const now = await trader.client.getQuote({ path: { ref: id! } });
    t.deepEqual({ ...quote, asOf: '' }, { ...now.quote, asOf: '' });
    t.is(seen.games[0]!.games.length, 1);
    stream.unsubscribe(trader.quotes);
    await stream.subscribe('orders');
    const count = seen.quote.length;
    await tick(trader, 39);
    await stream.cancelAll();
    t.is(seen.quote.length, count);
  },
);

test.serial(
  'J23: every event comes once and in order, however often the connection is cut',
  async (t) => {
    const trader = await newTrader(t);
    const { stream, seen } = trader.open();
    await stream.subscribe('orders');
    t.is(seen.portfolio.length, 1);
    // No event has come yet: what follows is after the snapshot.
    for (let cuts = 0; cuts < 4; cuts++) {
      trader.relay.cut();
      await trader.client.placeOrder({ body: trader.resting() });
      await trader.client.placeOrder({ body: trader.resting() });
      await until('the events', () => seen.order.length === 2 * (cuts + 1));
    }
    t.deepEqual(idsOf(seen), await trader.eventIds());
    t.true(seen.order.every(({ event }) => event.type === 'order_placed'));
    t.true(seen.order.some(({ replayed }) => replayed));
    t.is(seen.portfolio.length, 1);
    t.deepEqual(seen.gap, []);
    const later = trader.open({ after: idsOf(seen)[5]! });
    await later.stream.subscribe('orders');
    await until('the events after one', () => later.seen.order.length === 2);
    t.is(later.stream.lastEventId, stream.lastEventId);
  },
);

test.serial(
  'J7: a message that is missing leads to a gap and a whole quote; events are asked for again',
  async (t) => {
    const trader = await newTrader(t);
    const { relay } = trader;
    const { stream, seen } = trader.open();
    await stream.subscribe(trader.quotes, 'orders');
    let lost = 0;
    relay.loses = ({ seq, snapshot }) => {
      const isLost = seq !== undefined && snapshot !== true && lost < 2;
      if (isLost) lost++;
      return isLost;
    };
    await tick(trader, 41);
    await until('the loss', () => lost === 1);
    await trader.client.placeOrder({ body: trader.resting() });
    await until('another loss', () => lost === 2);
    await tick(trader, 42);
    await trader.client.placeOrder({ body: trader.resting() });
    await until('all events', () => seen.order.length === 2);
    await until('the quote of now', () => bidOf(seen.quote.at(-1)!.quote) === 42);
    t.deepEqual(idsOf(seen), await trader.eventIds());
    t.deepEqual(seen.gap, [{ channel: trader.quotes }]);
    t.is(relay.connections, 1);
  },
);

test.serial('J8: a heartbeat shows that the last message is missing', async (t) => {
  const trader = await newTrader(t);
  const { stream, seen } = trader.open();
  await stream.subscribe('orders');
  trader.relay.loses = ({ seq }) => seq === 1;
  await trader.client.placeOrder({ body: trader.resting() });
  await until('the event', () => seen.order.length === 1);
  t.true(seen.order[0]!.replayed);
});

test.serial('J8: a connection over which nothing comes is opened again', async (t) => {
  const trader = await newTrader(t);
  const { stream, seen } = trader.open();
  await stream.subscribe('orders');
  trader.relay.fallSilent();
  await trader.client.placeOrder({ body: trader.resting() });
  await until('the event', () => seen.order.length === 1);
  const waiting = seen.state.find(({ state }) => state === 'waiting');
  t.like(waiting, { error: { message: 'the heartbeats of the server are missing' } });
  t.is(trader.relay.connections, 2);
});

test.serial(
  'J17: a key that has ended closes the stream finally; another credential goes on',
  async (t) => {
    const trader = await newTrader(t);
    const { identity } = trader.server.paperbook;
    const { stream, seen } = trader.open();
    const { key, token } = newKey(trader.user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
    await identity.putKey(key);
    const tokens = [token, trader.token];
    const credential = () => tokens.shift() ?? trader.token;
    const renewed = createClient({ baseUrl: trader.relay.baseUrl, credential }).stream(QUICK);
    t.teardown(() => renewed.close());
    await Promise.all([stream.subscribe('orders'), renewed.subscribe('orders')]);
    await identity.putKey({ ...key, revokedAtMs: Date.now() });
    await until('the next credential', () => tokens.length === 0);
    await renewed.ready();
    t.is(stream.state.state, 'open');
    await identity.putKey({ ...trader.key, revokedAtMs: Date.now() });
    await until('the end', () => stream.state.state === 'closed');
    t.like(seen.state.at(-1), { error: { status: 401, code: 'invalid_token' } });
    await t.throwsAsync(stream.subscribe('games'), { instanceOf: RefusedError });
    await t.throwsAsync(stream.ready(), { instanceOf: RefusedError });
    const refused = watched(t, trader.client.stream(QUICK));
    await until('the refusal', () => refused.stream.state.state === 'closed');
    t.like(refused.seen.state, [{ error: { status: 401, code: 'invalid_token' } }]);
  },
);

test.serial(
  'J4, J12: a channel that is refused rejects; one that the server ends is an event',
  async (t) => {
    const trader = await newTrader(t, startWhole(t));
    const { stream, seen } = trader.open();
    const unknown = stream.subscribe('quotes:ins_000000000000');
    await t.throwsAsync(unknown, { instanceOf: RefusedError, message: /instrument/i });
    await stream.subscribe(trader.quotes);
    const { adminToken, paperbook } = trader.server;
    const off = `${paperbook.adminUrl}/admin/venue-data`;
    await request(adminToken, 'PUT', off, { on: false });
    await until('the end', () => seen.ended.length === 1);
    t.like(seen.ended[0], { channel: trader.quotes, error: { code: 'venue_data_off' } });
    t.is(stream.state.state, 'open');
  },
);

test.serial('J20: orders are placed and canceled, and refused as over HTTP', async (t) => {
  const trader = await newTrader(t);
  const { stream } = trader.open();
  await t.throwsAsync(stream.place(trader.resting()), { message: /nothing was sent/ });
  await stream.ready();
  const body = trader.resting();
  const { order, status } = await stream.place(body);
  t.is(status, 'resting');
  t.like(await trader.client.placeOrder({ body }), { replayed: true, order });
  t.is((await stream.cancel(order!.orderId)).order.status, 'canceled');
  const overHttp = trader.client.cancelOrder({ path: { orderId: order!.orderId } });
  const [again, same] = await Promise.all([
    t.throwsAsync(stream.cancel(order!.orderId), { instanceOf: RefusedError }),
    t.throwsAsync(overHttp, { instanceOf: RefusedError }),
  ]);
  t.deepEqual({ ...again! }, { ...same! });
  const placed = await Promise.all([1, 2, 3].map(() => stream.place(trader.resting())));
  const { canceled } = await stream.cancelAll({ instrumentId: body.instrumentId });
  t.deepEqual(canceled.toSorted(), placed.map((one) => one.order!.orderId).toSorted());
});

test.serial(
  'J20: an order whose answer is lost has an unknown outcome; its key says what became of it',
  async (t) => {
    const trader = await newTrader(t);
    const { stream } = trader.open();
    await stream.ready();
    trader.relay.loses = ({ status }) => status !== undefined;
    const body = trader.resting();
    const placing = stream.place(body);
    await eventually('the order', async () => {
      const { orders } = await trader.client.listOrders();
      return orders[0] ?? null;
    });
    trader.relay.cut();
    const lost = await t.throwsAsync(placing, { instanceOf: ConnectionLostError });
    t.like(lost, { outcome: 'unknown', idempotencyKey: body.idempotencyKey });
    trader.relay.loses = () => false;
    await stream.ready();
    t.true((await stream.place(body)).replayed);
    const closing = stream.cancelAll();
    stream.close();
    t.like(await t.throwsAsync(closing), { outcome: 'unknown', idempotencyKey: null });
    t.like(await t.throwsAsync(stream.place(body)), { outcome: 'not_sent' });
  },
);

test.serial(
  'J18: with cancelOnDisconnect a lost connection cancels what was placed over it',
  async (t) => {
    const trader = await newTrader(t);
    const { stream, seen } = trader.open({ cancelOnDisconnect: true });
    await stream.subscribe('orders');
    const { order: kept } = await trader.client.placeOrder({ body: trader.resting() });
    for (let cuts = 1; cuts <= 2; cuts++) {
      await stream.ready();
      await stream.place(trader.resting());
      trader.relay.cut();
      await until('the cancellation', () => seen.order.length === 1 + 2 * cuts);
    }
    const canceled = seen.order.flatMap(({ event }) => {
      return event.type === 'order_canceled' ? [event.order] : [];
    });
    t.deepEqual(
      canceled.map(({ cancelReason }) => cancelReason),
      ['disconnected', 'disconnected'],
    );
    t.false(canceled.some(({ orderId }) => orderId === kept!.orderId));
    trader.relay.loses = ({ body }) => body?.cancelOnDisconnect === true;
    trader.relay.cut();
    const isNew = () => trader.relay.connections === 4 && stream.state.state === 'open';
    await until('another connection', isNew);
    const early = await t.throwsAsync(stream.place(trader.resting()));
    t.like(early, { outcome: 'not_sent' }, 'the server has not accepted that yet');
  },
);

test.serial(
  'J1: while there is no server it is tried again, until the stream is closed',
  async (t) => {
    const trader = await newTrader(t);
    trader.relay.isDown = true;
    const { stream, seen } = trader.open();
    const subscribed = stream.subscribe('orders');
    await until('some attempts', () => trader.relay.connections > 3);
    trader.relay.isDown = false;
    await subscribed;
    const waits = seen.state.flatMap((each) => (each.state === 'waiting' ? [each.retryInMs] : []));
    t.true(
      waits.every((waitMs, at) => waitMs <= QUICK.firstPauseMs * 2 ** at),
      waits.join(),
    );
    stream.close();
    const { connections } = trader.relay;
    t.deepEqual(seen.state.at(-1), { state: 'closed', error: null });
    await t.throwsAsync(stream.subscribe('games'), { message: 'the stream is closed' });
    await trader.client.getMe();
    t.is(trader.relay.connections, connections);
  },
);

test.serial(
  'J1: a WebSocket can be handed in; an organization that is none is refused',
  async (t) => {
    const trader = await newTrader(t);
    const { stream, seen } = trader.open({ WebSocket: WsSocket });
    await stream.subscribe('orders');
    trader.relay.cut();
    await until('a connection again', () => trader.relay.connections === 2);
    await stream.ready();
    t.throws(() => trader.open({ organization: 'desk' }), { message: /must be the id/ });
    const direct = watched(t, trader.client.stream({ organization: trader.user.id }));
    await t.throwsAsync(direct.stream.ready(), { instanceOf: RefusedError });
    t.like(direct.seen.state.at(-1), { error: { status: 404, code: 'organization_not_found' } });
    t.is(seen.gap.length, 0);
  },
);

test.serial(
  'J30: of a batch each outcome is a placement, or the refusal that placing it throws',
  async (t) => {
    const trader = await newTrader(t);
    const wrong = { ...trader.resting(), count: 0 };
    const orders = [trader.resting(), wrong];
    const [placed, refused] = outcomesOf(await trader.client.placeOrders({ body: { orders } }));
    t.true(placed !== undefined && 'order' in placed && placed.status === 'resting');
    const alone = await t.throwsAsync(trader.client.placeOrder({ body: wrong }));
    t.true(refused instanceof RefusedError);
    t.deepEqual({ ...(refused as RefusedError) }, { ...(alone as RefusedError) });
  },
);

type Sent = { id: number; op: string; channels?: string[] };

/** A WebSocket of two nodes, of which the second one leads; it goes as `leader` tells. */
function twoNodes(leader: () => string, opened: string[]) {
  return class {
    readonly #leads: boolean;
    readonly bufferedAmount = 0;
    onopen = () => {};
    onmessage = (_: { data: string }) => {};
    onerror = () => {};
    onclose = () => {};

    constructor(url: string) {
      opened.push(url);
      this.#leads = url.includes('two');
      queueMicrotask(() => this.onopen());
    }

    send(text: string): void {
      const { id, op, channels } = JSON.parse(text) as Sent;
      const error = { code: 'not_leader', message: 'No.', leader: leader() };
      const say = (message: object) =>
        queueMicrotask(() => this.onmessage({ data: JSON.stringify(message) }));
      if (op === 'place') {
        return say(
          this.#leads ? { id, status: 200, body: {} } : { id, status: 503, body: { error } },
        );
      }
      say({ id, status: 200, body: {} });
      const of = { channel: channels?.[0], epoch: 1, seq: 0, at: '' };
      if (channels?.[0] !== 'orders') return;
      say(this.#leads ? { ...of, snapshot: true, data: {} } : { ...of, ended: true, error });
    }

    close(): void {}
  };
}

test.serial(
  'U90: a stream goes to the node that a refusal names, and no credential leaves TLS',
  async (t) => {
    const opened: string[] = [];
    let leader = 'https://two.example';
    const open = (baseUrl: string) => {
      const WebSocket = twoNodes(() => leader, opened) as unknown as NonNullable<
        StreamOptions['WebSocket']
      >;
      return watched(
        t,
        createClient({ baseUrl, credential: 'a key' }).stream({ ...QUICK, WebSocket }),
      );
    };
    const { stream, seen } = open('https://one.example/v1');
    await stream.subscribe('orders');
    t.deepEqual(opened, ['wss://one.example/v1/stream', 'wss://two.example/v1/stream']);
    t.deepEqual([seen.ended, seen.portfolio.length], [[], 1]);
    stream.close();

    const other = open('https://one.example/v1').stream;
    await other.ready();
    const order = { action: 'sell', type: 'market', tradeId: 'a' } as const;
    const refused = await t.throwsAsync(other.place(order), { instanceOf: RefusedError });
    t.is(refused!.leader, leader);
    await other.ready();
    await other.place(order);
    other.close();

    leader = 'http://two.example';
    opened.length = 0;
    const { stream: third, seen: seenByThird } = open('https://one.example/v1');
    void third.subscribe('orders').catch(() => {});
    await eventually('it is tried again', () => opened.length > 1);
    t.deepEqual(new Set(opened), new Set(['wss://one.example/v1/stream']));
    t.true(seenByThird.state.some(({ error }) => error instanceof RefusedError));
    third.close();

    // A node may refuse the handshake itself.
    const api = await startApi(t);
    const refusing = createServer((_, response) => {
      const error = { code: 'not_leader', message: 'No.', leader: new URL(api.baseUrl).origin };
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    t.teardown(() => refusing.close());
    const { port } = refusing.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const { stream: led } = watched(
      t,
      createClient({ baseUrl, credential: api.token }).stream(QUICK),
    );
    await led.ready();
    led.close();
  },
);
