/** Nodes of a cluster that answer wrongly, each in a way of its own: callers and operators must see it. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { RefusedError } from '../../../api/client/client.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { createRandomSource } from '../../model/random-source.ts';
import type { Json } from '../client.ts';
import { ClusterCaller, type OpenStream } from './callers.ts';
import { ClusterOperators } from './operators.ts';

const NODES = 3;
/** A node that answers wrongly where only one does. */
const LIAR = 1;
const ENOUGH_ORDERS = 9;
const ENOUGH_CANCELS = 3;
/** Each of the last ones is read several times at each node. */
const ENOUGH_RECEIPTS = 60;
/** A user, a key, and a key that has ended, are four. */
const ENOUGH_CHANGES = 4;

type Asked = { node: number; method: string; url: URL; token: string; body: Json };
type Answered = { status?: number; body: Json };

/** One server for all nodes: the first part of a path is the node. @returns its address */
async function serve(t: ExecutionContext, answer: (asked: Asked) => Answered): Promise<string> {
  const server = createServer(async (request: IncomingMessage, response) => {
    const given = await text(request);
    const url = new URL(request.url!, 'http://node');
    const [, node, ...rest] = url.pathname.split('/');
    url.pathname = rest.join('/');
    const { status = 200, body } = answer({
      ...{ node: Number(node), method: request.method!, url },
      token: request.headers.authorization!.slice('Bearer '.length),
      body: given === '' ? null : JSON.parse(given),
    });
    response.writeHead(status, { connection: 'close' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refused = (status: number, code: string): Answered => ({ status, body: { error: { code } } });

/** What a caller says of each lie about orders. */
const OF_ORDERS = {
  none: [],
  'an order is lost': [/reads without \d+ acknowledged orders/, /orders are gone/],
  'an order is there twice': [/shows \S+ twice/, /an order is there twice/],
  'there is an order that nobody sent': [/nobody sent stranger/],
  'a key has another order': [/key\S* was \S+, and is now again/],
  'an order is for more contracts': [/"contracts":1,.*and is .*"contracts":2/],
  'a trade is of the other side': [/was sent as .*, and is .*"instrumentSide"/],
  'nodes read what was before': [/node \d reads without \d+ acknowledged orders/],
  'a node has fewer events than it told': [/node 1 goes back/],
  'a node does not know an order': [/node \d does not know/],
  'a canceled order rests': [/has \[.*at rest after a cancel/, /canceled orders rest/],
  'an order goes on after its end': [/order_part_filled after the end of/],
  'a cancel ends what has ended': [/ends twice/],
  'a receipt is another one': [/trades\/\S+ was .* and is/],
  'a receipt is unknown': [/node 1: \S+ is .*_not_found/],
  'a stream leaves out an event': [/the stream told/],
  'a stream tells an event twice': [/the stream told/],
  'an order fails': [/POST \/portfolio\/orders: .*internal/],
} as const;

type Orders = {
  answer(asked: Asked): Answered;
  /** Who is told of each event. */
  told: ((eventId: string) => void)[];
};

/** Nodes with the orders of one account. */
function ordersUnder(lie: keyof typeof OF_ORDERS): Orders {
  const keys = new Map<string, Json>();
  const events: Json[] = [];
  /** By their ids, as events show them. */
  const resting = new Map<string, Json>();
  const told: ((eventId: string) => void)[] = [];
  const happened = (event: Json): void => {
    const eventId = String(events.length);
    events.push({ ...event, eventId });
    if (lie === 'a stream leaves out an event' && events.length === 4) return;
    for (const tell of told) tell(eventId);
    if (lie !== 'a stream tells an event twice' || events.length !== 4) return;
    for (const tell of told) tell(eventId);
  };
  const canceled = new Set<string>();
  const cancelAll = (): Json => {
    const ended = [...resting.keys()];
    if (lie === 'a canceled order rests') ended.pop();
    for (const orderId of ended) {
      const order = resting.get(orderId);
      resting.delete(orderId);
      happened({ type: 'order_canceled', order });
      if (lie !== 'an order goes on after its end') continue;
      happened({ type: 'order_part_filled', order });
    }
    if (lie === 'a cancel ends what has ended') ended.push(...canceled);
    for (const orderId of ended) canceled.add(orderId);
    return { canceled: ended, count: ended.length };
  };
  const took = (body: Json): Json => {
    const id = `id-${keys.size}`;
    const isResting = body.type === 'limit';
    const terms = {
      instrumentId: body.instrumentId,
      instrumentSide: lie === 'a trade is of the other side' && !isResting ? 'other' : body.side,
      contracts: lie === 'an order is for more contracts' ? body.count + 1 : body.count,
    };
    const order = { ...terms, orderId: id, status: 'resting', limitCents: body.limitPriceCents };
    const answer = isResting
      ? { order, trade: null }
      : { order: null, trade: { ...terms, tradeId: id } };
    keys.set(body.idempotencyKey, answer);
    if (lie === 'an order is lost' && keys.size === 3) return answer;
    if (isResting) resting.set(id, order);
    happened({ ...answer, type: isResting ? 'order_placed' : 'trade_opened' });
    if (lie === 'an order is there twice' && keys.size === 3) happened(events.at(-1)!);
    if (lie === 'there is an order that nobody sent' && keys.size === 3) {
      happened({ type: 'order_placed', order: { orderId: 'stranger' } });
    }
    return answer;
  };
  const answer = ({ node, method, url, body }: Asked): Answered => {
    const isLiar = node === LIAR;
    if (method === 'DELETE') return { body: cancelAll() };
    if (method === 'POST') {
      if (lie === 'an order fails' && keys.size === 3) return refused(500, 'internal');
      const known = keys.get(body.idempotencyKey);
      if (known === undefined) return { body: took(body) };
      const isOther = lie === 'a key has another order';
      return { body: isOther ? { order: { orderId: 'again' }, trade: null } : known };
    }
    if (url.searchParams.get('status') === 'resting') {
      return { body: { orders: [...resting.values()] } };
    }
    if (url.pathname.endsWith('/receipt')) {
      if (isLiar && lie === 'a receipt is unknown') return refused(404, 'trade_not_found');
      const isOther = isLiar && lie === 'a receipt is another one';
      return { body: { receipt: { of: url.pathname, isOther } } };
    }
    if (!url.pathname.endsWith('/events')) {
      const isUnknown = lie === 'a node does not know an order';
      return isUnknown ? refused(404, 'order_not_found') : { body: {} };
    }
    const after = Number(url.searchParams.get('after') ?? 0);
    if (isLiar && lie === 'a node has fewer events than it told' && after > 0) {
      return refused(400, 'invalid_request');
    }
    const end = lie === 'nodes read what was before' ? after : events.length;
    return { body: { events: events.slice(after, end), nextAfter: String(end) } };
  };
  return { answer, told };
}

/** A stream to one of these nodes, by the same requests. */
const streamOf =
  ({ told }: Orders): OpenStream =>
  (_, baseUrl, tell) => {
    if (tell !== undefined) told.push(tell);
    const ask = async (method: string, body: Json): Promise<Json> => {
      const headers = { authorization: 'Bearer token' };
      const text = body === null ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${baseUrl}/portfolio/orders`, { method, headers, ...text });
      const json = (await answer.json()) as Json;
      if (answer.ok) return json;
      throw new RefusedError(answer.status, json.error.code, '', null);
    };
    return {
      place: (body) => ask('POST', body),
      cancelAll: () => ask('DELETE', null),
      close() {},
    };
  };

for (const [lie, says] of Object.entries(OF_ORDERS)) {
  test(`a caller of a cluster sees this: ${lie}`, async (t) => {
    const orders = ordersUnder(lie as keyof typeof OF_ORDERS);
    const url = await serve(t, orders.answer);
    const baseUrls = Array.from({ length: NODES }, (_, node) => `${url}/${node}`);
    const breaches: string[] = [];
    const user = { name: 'key', token: 'token' };
    const breach = (what: string) => void breaches.push(what);
    const random = createRandomSource(7);
    const caller = new ClusterCaller(user, baseUrls, random, breach, streamOf(orders));
    caller.instrumentIds = ['ins_AAAAAAAAAAAA'];
    caller.start();
    await eventually('orders', () => caller.answeredMs.length >= ENOUGH_ORDERS);
    const ofKind = (kind: string) => [...caller.counts].filter(([what]) => what.startsWith(kind));
    const countOf = (kind: string) => ofKind(kind).reduce((sum, [, count]) => sum + count, 0);
    await eventually('cancels', () => countOf('rests') >= 2 * ENOUGH_CANCELS);
    await eventually('receipts', () => countOf('receipts') >= ENOUGH_RECEIPTS);
    const reads = () => caller.counts.get('events 200') ?? 0;
    const before = reads();
    await eventually('reads of each node', () => reads() > before + NODES);
    await caller.stop();
    await caller.checkKeys();
    await caller.checkEvents();
    for (const said of says)
      t.true(
        breaches.some((breach) => said.test(breach)),
        String(said),
      );
    if (says.length === 0) t.deepEqual(breaches, []);
  });
}

/** What operators say of each lie about users, keys and results. */
const OF_OPERATORS = {
  none: [],
  'a user is lost': [/node 1 does not have the user made-0/],
  'a key is lost': [/node 1 answers a key that did not end by 401/],
  'an end is lost': [
    /node 1 lets a key in after its end/,
    /node 1 answers a key that has ended by 200/,
  ],
  'a market has two results': [/was settled as yes and no|was settled as no and void/],
  'a settlement fails': [/a settlement of market: .*internal/],
} as const;

function controlUnder(lie: keyof typeof OF_OPERATORS): (asked: Asked) => Answered {
  const emails: string[] = [];
  const isLive = new Map<string, boolean>();
  let isSettled = false;
  return ({ node, method, url, token, body }) => {
    const isLiar = node === LIAR;
    const what = url.pathname;
    if (what.endsWith('/instruments')) {
      const isKnown = isLive.get(token)! && !(isLiar && lie === 'a key is lost');
      const isForgotten = isLiar && lie === 'an end is lost';
      return isKnown || isForgotten ? { body: {} } : refused(401, 'unauthenticated');
    }
    if (what.endsWith('/settlements')) {
      if (isSettled && lie !== 'a market has two results') return refused(409, 'market_resolved');
      if (lie === 'a settlement fails') return refused(500, 'internal');
      isSettled = true;
      return { body: {} };
    }
    if (method === 'DELETE') {
      isLive.set(what.split('/').at(-1)!, false);
      return { body: {} };
    }
    if (what.endsWith('/keys')) {
      const id = `key-${isLive.size}`;
      isLive.set(id, true);
      return { body: { key: { id }, token: id } };
    }
    if (method === 'POST') {
      emails.push(body.email);
      return { body: { user: { id: body.email } } };
    }
    const isLost = isLiar && lie === 'a user is lost';
    const found = emails.filter((email) => email === url.searchParams.get('search'));
    return { body: { users: isLost ? [] : found } };
  };
}

for (const [lie, says] of Object.entries(OF_OPERATORS)) {
  test(`operators of a cluster see this: ${lie}`, async (t) => {
    const url = await serve(t, controlUnder(lie as keyof typeof OF_OPERATORS));
    const nodes = Array.from({ length: NODES }, (_, node) => {
      return { baseUrl: `${url}/${node}`, adminUrl: `${url}/${node}` };
    });
    const breaches: string[] = [];
    const operators = new ClusterOperators(nodes, 'admin', createRandomSource(7), (what) => {
      breaches.push(what);
    });
    operators.start();
    await eventually('changes', () => operators.changes >= ENOUGH_CHANGES);
    await operators.stop();
    await operators.settle('market');
    await operators.check();
    for (const said of says)
      t.true(
        breaches.some((breach) => said.test(breach)),
        String(said),
      );
    if (says.length === 0) {
      t.deepEqual(breaches, []);
      t.is(operators.settled.size, 1);
    }
  });
}
