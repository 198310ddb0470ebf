/** Nodes of a cluster that answer wrongly, each in a way of its own: callers and operators must see it. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../bench/lib/eventually.ts';
import { createRandomSource } from '../../model/random-source.ts';
import type { Json } from '../client.ts';
import { ClusterCaller } from './callers.ts';
import { ClusterOperators } from './operators.ts';

const NODES = 3;
/** A node that answers wrongly where only one does. */
const LIAR = 1;
const ENOUGH_ORDERS = 9;
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
  'nodes read what was before': [/node \d reads without \d+ acknowledged orders/],
  'a node has fewer events than it told': [/node 1 goes back/],
  'a node does not know an order': [/node \d does not know/],
  'an order fails': [/POST \/portfolio\/orders: .*internal/],
} as const;

/** Nodes with the orders of one account. */
function ordersUnder(lie: keyof typeof OF_ORDERS): (asked: Asked) => Answered {
  const keys = new Map<string, Json>();
  const events: Json[] = [];
  const took = (body: Json): Json => {
    const id = `id-${keys.size}`;
    const isResting = body.type === 'limit';
    const answer = isResting
      ? { order: { orderId: id }, trade: null }
      : { order: null, trade: { tradeId: id } };
    keys.set(body.idempotencyKey, answer);
    if (lie === 'an order is lost' && keys.size === 3) return answer;
    events.push({ ...answer, type: isResting ? 'order_placed' : 'trade_opened' });
    if (lie === 'an order is there twice' && keys.size === 3) events.push(events.at(-1)!);
    if (lie === 'there is an order that nobody sent' && keys.size === 3) {
      events.push({ type: 'order_placed', order: { orderId: 'stranger' } });
    }
    return answer;
  };
  return ({ node, method, url, body }) => {
    const isLiar = node === LIAR;
    if (method === 'POST') {
      if (lie === 'an order fails' && keys.size === 3) return refused(500, 'internal');
      const known = keys.get(body.idempotencyKey);
      if (known === undefined) return { body: took(body) };
      const isOther = lie === 'a key has another order';
      return { body: isOther ? { order: { orderId: 'again' }, trade: null } : known };
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
}

for (const [lie, says] of Object.entries(OF_ORDERS)) {
  test(`a caller of a cluster sees this: ${lie}`, async (t) => {
    const url = await serve(t, ordersUnder(lie as keyof typeof OF_ORDERS));
    const baseUrls = Array.from({ length: NODES }, (_, node) => `${url}/${node}`);
    const breaches: string[] = [];
    const user = { name: 'key', token: 'token' };
    const caller = new ClusterCaller(user, baseUrls, createRandomSource(7), (what) => {
      breaches.push(what);
    });
    caller.instrumentIds = ['ins_AAAAAAAAAAAA'];
    caller.start();
    await eventually('orders', () => caller.answeredMs.length >= ENOUGH_ORDERS);
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
