/** Messages of the stream that come in masses: who waits for them, and who does not. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { WebSocket } from 'ws';
import type { Caller } from '../../../api/dispatch/access.ts';
import type { Socket } from '../../../api/http/socket.ts';
import { JSON_TEXT } from '../../../api/stream/encoding.ts';
import { StreamSession, type StreamSessionParts } from '../../../api/stream/stream-session.ts';
import { Share, Turns, type Worker } from '../../../api/stream/turns.ts';
import { NotLeader } from '../../../engine/threads/unavailable.ts';
import { CATALOG } from '../../engine/fixtures.ts';
import { openStream } from '../stream-client.ts';
import { type Api, startApi } from '../support.ts';

const PING = '{"op":"ping"}';

/** A clock that runs only while somebody works. */
class WorkClock {
  ms = 1000;
  readonly read = () => this.ms;
}

/** Works for a while at each step, so many times. */
class Busy implements Worker {
  steps = 0;
  #left: number;
  readonly #ms: number;
  readonly #clock: WorkClock;

  constructor(steps: number, ms: number, clock: WorkClock) {
    this.#left = steps;
    this.#ms = ms;
    this.#clock = clock;
  }

  step(): boolean {
    this.#clock.ms += this.#ms;
    this.steps++;
    this.#left--;
    return this.#left > 0;
  }
}

test('J34: accounts take turns, however many connections one has, and so do its connections', async (t) => {
  const clock = new WorkClock();
  const turns = new Turns(clock.read);
  const [flooding, other] = [new Share(), new Share()];
  const flood = Array.from({ length: 20 }, () => new Busy(100, 0.2, clock));
  const one = new Busy(20, 0.2, clock);
  for (const worker of flood) turns.wake(flooding, worker);
  turns.wake(other, one);
  while (one.steps < 20) await nextTurn();
  const steps = flood.map((worker) => worker.steps);
  const all = steps.reduce((sum, each) => sum + each, 0);
  t.true(all >= 17 && all <= 23, `${all} steps of the flood beside 20 of the other`);
  t.true(Math.max(...steps) - Math.min(...steps) <= 1, 'its connections take turns');
});

test('J34: in one turn of the event loop an account has its share of time, and pays back what it took beyond', async (t) => {
  const clock = new WorkClock();
  const turns = new Turns(clock.read);
  const share = new Share();
  const brief = new Busy(1000, 0.05, clock);
  turns.wake(share, brief);
  const stepsByTurn: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const before = brief.steps;
    await nextTurn();
    stepsByTurn.push(brief.steps - before);
  }
  t.true(Math.max(...stepsByTurn) <= 11, `${stepsByTurn} steps in the turns`);
  t.true(brief.steps >= 30, `${stepsByTurn} steps in the turns`);
  const long = new Share();
  const startedMs = clock.ms;
  clock.ms += 3;
  turns.worked(long, startedMs);
  t.false(turns.mayWork(long, clock.ms));
  let waited = 0;
  for (; !turns.mayWork(long, clock.ms); waited++) await nextTurn();
  t.true(waited >= 5 && waited <= 7, `it waits for ${waited} turns`);
});

/** A connection without a server. */
function newConnection() {
  let closed = 0;
  const sent: string[] = [];
  const socket = {
    isOpen: true,
    unreadBytes: 0,
    end: (code: number) => {
      closed = code;
    },
  };
  const parts = {
    callerAgain: (caller: Caller) => caller,
    keyed: () => ({ count() {}, refuseOver() {}, commit() {} }),
    turns: new Turns(),
    onFlood() {},
    permit() {},
    member() {},
    wasEvent: async () => {
      throw new NotLeader('http://two.example');
    },
    answers: { add: (_: unknown, text: string) => sent.push(text) },
    log: { info() {}, warn() {}, error() {} },
  } as unknown as StreamSessionParts;
  const share = new Share();
  const opened = { caller: null!, organization: null, account: null!, encoding: JSON_TEXT, share };
  const connection = new StreamSession(socket as unknown as Socket, opened, parts);
  return { connection, sent, closed: () => closed };
}

test('O40: a message about an account that another node has is answered with that node', async (t) => {
  const { connection, sent } = newConnection();
  const after = '"after":{"orders":"0000000000000001"}';
  const text = `{"op":"subscribe","id":1,"channels":["orders"],${after}}`;
  connection.message(new TextEncoder().encode(text).buffer, false);
  while (sent.length === 0) await nextTurn();
  t.like(JSON.parse(sent[0]!), {
    status: 503,
    body: {
      error: {
        code: 'not_leader',
        message: 'Another node of the cluster takes this request: http://two.example.',
        leader: 'http://two.example',
      },
    },
  });
});

test('J36: an account has 20,000 messages handled a second, over all its connections, and 2000 at once', async (t) => {
  const turns = new Turns();
  const share = new Share();
  const workers = Array.from({ length: 3 }, () => new Busy(2000, 0, new WorkClock()));
  const startedMs = performance.now();
  for (const worker of workers) turns.wake(share, worker);
  while (workers.some(({ steps }) => steps < 2000)) await nextTurn();
  const tookMs = performance.now() - startedMs;
  t.true(tookMs >= 199, `${tookMs} ms`);
});

test('J35: an account has at most 16,384 messages and 4 MiB that wait, over all its connections', (t) => {
  const share = new Share();
  let messages = 0;
  while (share.admit(10)) messages++;
  t.is(messages, 16_384);
  for (let left = messages; left > 0; left--) share.release(10);
  let bytes = 0;
  while (share.admit(65_536)) bytes += 65_536;
  t.is(bytes, 4 * 2 ** 20);
});

test('J36: more than 1000 pings of WebSocket within a second close the connection with 4429', (t) => {
  const { connection, closed } = newConnection();
  for (let signs = 0; signs < 1000; signs++) connection.alive();
  connection.check();
  for (let signs = 0; signs < 1000; signs++) connection.alive();
  t.is(closed(), 0);
  connection.alive();
  t.is(closed(), 4429);
});

test('J34: 10,000 messages at once are all answered, in their order', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token });
  for (let id = 0; id < 10_000; id++) client.sendRaw(`{"op":"ping","id":${id}}`);
  const others: unknown[] = [];
  for (let id = 0; id < 10_000; id++) {
    const answer = await client.next();
    if (answer.id !== id || answer.status !== 200) others.push(answer);
  }
  t.deepEqual(others, []);
});

test('J35: a flood closes its connection with 4429; its account opens none for 5 seconds, others are answered', async (t) => {
  const api = await startApi(t);
  const other = await api.addKey({ scopes: ['markets:read'] });
  const clients = await Promise.all(
    Array.from({ length: 3 }, () => openStream(t, api.port, { token: api.token })),
  );
  for (const client of clients) for (let sent = 0; sent < 60_000; sent++) client.sendRaw(PING);
  t.is((await api.call('GET', '/status', { token: other })).status, 200);
  const codes = await Promise.all(clients.map(async ({ closed }) => (await closed).code));
  t.deepEqual(codes, [4429, 4429, 4429]);
  const refused = await handshake(api);
  t.is(refused.status, 429);
  t.true(refused.retryAfter >= 1 && refused.retryAfter <= 5);
  const elsewhere = await openStream(t, api.port, { token: other });
  t.is((await elsewhere.ask({ op: 'ping' })).status, 200);
  await sleep(5000);
  const again = await openStream(t, api.port, { token: api.token });
  t.is((await again.ask({ op: 'ping' })).status, 200);
});

/** That is refused. */
function handshake({ port, token }: Api): Promise<{ status: number; retryAfter: number }> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('it was accepted')));
    socket.once('unexpected-response', (_request, { statusCode, headers: of }) => {
      resolve({ status: statusCode!, retryAfter: Number(of['retry-after']) });
    });
  });
}

test('J34: what a client sent before it closed is done', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  const placed = await rest(api);
  for (let sent = 0; sent < 2000; sent++) client.sendRaw(PING);
  client.send({ op: 'cancel', orderId: placed });
  client.close();
  const deadlineMs = performance.now() + 20_000;
  const statusOf = async () => {
    return (await api.call('GET', `/portfolio/orders/${placed}`)).json.order.status;
  };
  while ((await statusOf()) !== 'canceled' && performance.now() < deadlineMs) await sleep(20);
  t.is(await statusOf(), 'canceled');
});

async function rest(api: Api): Promise<string> {
  const instrumentId = CATALOG.instrumentIds[0];
  const order = { action: 'buy', type: 'limit', side: 'yes', count: 1, limitPriceCents: 5 };
  const body = { ...order, instrumentId, idempotencyKey: 'k' };
  return (await api.call('POST', '/portfolio/orders', { body })).json.order.orderId;
}
