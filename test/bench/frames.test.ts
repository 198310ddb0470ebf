/** The client that the generator has for orders as messages of the stream. */

import * as uws from 'uWebSockets.js';
import test, { type ExecutionContext } from 'ava';
import { FrameSocket } from '../../bench/lib/frame-socket.ts';
import type { Answer } from '../../bench/lib/http-connection.ts';
import type { FakeEngine } from '../api/fake-engine.ts';
import { startApi } from '../api/support.ts';
import { AWAY, CATALOG } from '../engine/fixtures.ts';

const ORDER = `{"action":"buy","type":"limit","limitPriceCents":5,"instrumentId":"${AWAY}","side":"yes","count":1,"idempotencyKey":"`;
const place = (key: string) => `"op":"place","order":${ORDER}${key}"}}`;

const PATH = '/v1/stream';

async function open(t: ExecutionContext, port: number, key: string, lanes = 1, path = PATH) {
  const socket = await FrameSocket.open(port, path, key, lanes);
  t.teardown(() => socket.close());
  const ask = (lane: number, message: string) =>
    new Promise<Answer>((resolve, reject) => {
      socket.lanes[lane]!.onAnswer = resolve;
      socket.lanes[lane]!.onLost = (reason) => reject(new Error(reason));
      socket.lanes[lane]!.send(message, 0);
    });
  return ask;
}

/** The engine answers the first requests in one turn of the event loop. */
function answerTogether(engine: FakeEngine, requests: number): void {
  const { reply } = engine;
  const all = Promise.withResolvers<void>();
  let asked = 0;
  engine.reply = async (request) => {
    asked++;
    if (asked === requests) all.resolve();
    await all.promise;
    return reply(request);
  };
}

const bodyOf = ({ text, bodyStart }: Answer) => JSON.parse(text.slice(bodyStart, -1));

test('bench frames: orders and cancels are answered by the id of their message', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const ask = await open(t, api.port, api.token, 3);
  answerTogether(api.engine, 3);
  const answers = await Promise.all([0, 1, 2].map((lane) => ask(lane, place(`k-${lane}`))));
  t.deepEqual(
    answers.map((answer) => [answer.status, bodyOf(answer).idempotencyKey]),
    [0, 1, 2].map((lane) => [200, `k-${lane}`]),
  );
  const { orderId } = bodyOf(answers[1]!).order;
  const canceled = await ask(1, `"op":"cancel","orderId":"${orderId}"}`);
  t.deepEqual([canceled.status, bodyOf(canceled).order.status], [200, 'canceled']);
});

test('bench frames: what is no order is answered as a bad request', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const ask = await open(t, api.port, api.token);
  const messages = {
    'op must be one of subscribe, unsubscribe, ping, place, cancel, cancel_all': '"op":"quote"}',
    'orderId is required': '"op":"cancel"}',
    'the body must be a JSON object': '"op":"place","order":1}',
  };
  for (const [message, sent] of Object.entries(messages)) {
    const answer = await ask(0, sent);
    t.deepEqual([answer.status, bodyOf(answer).error.message], [400, message]);
  }
  // Whose id it is cannot be known, and the client takes that for the end.
  await t.throwsAsync(ask(0, '"op":"place","op":"place"}'), {
    message: /"id":null,"status":400,.*field .*op.* is given twice/,
  });
});

test('bench frames: without a key nobody is connected', async (t) => {
  const api = await startApi(t);
  await t.throwsAsync(FrameSocket.open(api.port, PATH, 'svc_sk_nobody', 1), {
    message: /401 Unauthorized[\s\S]*invalid_token/,
  });
});

test('bench frames: answers of every length, in pieces and between heartbeats, reach their lane', async (t) => {
  // More than a socket is read at once.
  const lengths = [1, 80, 100, 60_000, 60_000, 60_000];
  const app = uws.App();
  app.ws('/*', {
    message: (socket, message) => {
      const { id } = JSON.parse(Buffer.from(message).toString());
      socket.send('{"heartbeat":{"at":"2026-11-21T05:00:00.000Z","seq":{}}}');
      socket.send(`{"id":"${id}","status":200,"body":{"x":"${'x'.repeat(lengths[id]!)}"}}`);
    },
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => {
      t.truthy(socket);
      resolve(uws.us_socket_local_port(socket as uws.us_listen_socket));
    });
  });
  t.teardown(() => app.close());
  const ask = await open(t, port, 'any', lengths.length, '/');
  const lanes = [...lengths.keys()];
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(lanes.map((lane) => ask(lane, `"op":"${lane}"}`)));
    t.deepEqual(
      answers.map((answer) => bodyOf(answer).x.length),
      lengths,
    );
  }
});
