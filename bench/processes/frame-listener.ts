/**
 * A port for orders as WebSocket messages, so that their cost is known before the API has them.
 * `{"id","op":"place","order"}` and `{"id","op":"cancel","orderId"}` go through the checks of the HTTP
 * routes; the answer is `{"id","status","body"}`.
 */
import * as uws from 'uWebSockets.js';
import { admitter, type Caller, callerAgain, keyReader, permit } from '../../api/access.ts';
import { BareAnswers } from '../../api/bare-answers.ts';
import type { Deps } from '../../api/deps.ts';
import { errorBody, invalidRequest, Refusal } from '../../api/errors.ts';
import { Exchange } from '../../api/exchange.ts';
import { headerLines } from '../../api/header-lines.ts';
import { createAuth } from '../../api/identity/auth.ts';
import { type MessageCall, MessageCalls } from '../../api/message-calls.ts';
import { Metrics } from '../../api/metrics.ts';
import { orderRoutes } from '../../api/routes/orders.ts';
import { parseObject } from '../../api/validation.ts';

const MESSAGE_BYTES_MAX = 64 * 1024;
/** Of answers that a socket has not taken; the generator reads all it asked for. */
const WAITING_BYTES_MAX = 16 * 2 ** 20;

type Message = { id?: unknown; op?: unknown; order?: unknown; orderId?: unknown };
type Connection = { caller: Caller; isOpen: boolean; answers: string[] };
type Socket = uws.WebSocket<Connection>;

type Frames = { port: number; close(): void };

/** Opens a free port. Closing it closes every connection. */
export async function listenForFrames(deps: Deps): Promise<Frames> {
  const { config, identity, log } = deps;
  const auth = await createAuth(config, identity, log);
  const onWriteFailed = (err: unknown) =>
    log.error({ err }, 'the last use of a key is not written');
  const callerByKey = keyReader(identity, onWriteFailed);
  const take = messageTaker(deps, auth.sessions, callerAgain(identity, onWriteFailed));
  const app = uws.App();
  app.ws<Connection>('/*', {
    maxPayloadLength: MESSAGE_BYTES_MAX,
    maxBackpressure: WAITING_BYTES_MAX,
    idleTimeout: 0,
    upgrade: (res, req, context) => upgrade(res, req, context, callerByKey),
    message: take,
    close: (socket) => {
      socket.getUserData().isOpen = false;
    },
  });
  return await new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) return reject(new Error('cannot listen for frames'));
      resolve({ port: uws.us_socket_local_port(socket), close: () => app.close() });
    });
  });
}

/** Reads the key as an HTTP request's; refuses as one, too. */
function upgrade(
  res: uws.HttpResponse,
  req: uws.HttpRequest,
  context: uws.us_socket_context_t,
  callerByKey: (exchange: Exchange) => Caller,
): void {
  const options = { headers: headerLines([]), isBehindProxy: false, onAnswer: null };
  const held = { count: 0, whenNone: null, bare: new BareAnswers() };
  const exchange = new Exchange(res, req, options, held);
  try {
    const connection = { caller: callerByKey(exchange), isOpen: true, answers: [] };
    const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
      exchange.header(`sec-websocket-${name}`),
    );
    res.upgrade<Connection>(connection, key!, protocol!, extensions!, context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, status, headers } = error;
    const type = ['Content-Type', 'application/json'];
    exchange.answer(status, headerLines([...type, ...headers]), errorBody(code, message, null));
  }
}

function messageTaker(
  deps: Deps,
  sessions: Parameters<typeof admitter>[0]['sessions'],
  again: (caller: Caller) => Caller,
) {
  const { engine, identity, log, meter, organizations, switches } = deps;
  const metrics = new Metrics();
  const admit = admitter({ store: identity, sessions, switches, organizations });
  const keyed = ({ user, key }: Caller) => meter.keyed(user, key.id);
  const callsOf = (method: 'POST' | 'DELETE') => {
    const route = orderRoutes(deps).find((route) => route.method === method)!;
    const refusal = () => engine.refusal();
    return new MessageCalls(route, { permit, admit, refusal, keyed, metrics, log });
  };
  const places = callsOf('POST');
  const cancels = callsOf('DELETE');

  return (socket: Socket, bytes: ArrayBuffer): void => {
    // A socket must not be asked for it once it is closed.
    const connection = socket.getUserData();
    let id = 'null';
    try {
      const message: Message = parseObject(Buffer.from(bytes).toString(), 'the message');
      id = JSON.stringify(message.id ?? null);
      const caller = again(connection.caller);
      const from = { caller, param: '', body: null, organization: null };
      const [calls, call] = callOf(message, from);
      calls.take(call, (status, body) => {
        answer(socket, connection, `{"id":${id},"status":${status},"body":${body}}`);
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const body = errorBody(error.code, error.message, error.retryAfterSeconds);
      answer(socket, connection, `{"id":${id},"status":${error.status},"body":${body}}`);
    }
  };

  function callOf(
    { op, order, orderId }: Message,
    from: MessageCall,
  ): [calls: MessageCalls, call: MessageCall] {
    if (op === 'place') return [places, { ...from, body: order }];
    if (op !== 'cancel') throw invalidRequest('op must be one of place, cancel');
    if (typeof orderId !== 'string') throw invalidRequest('orderId must be a string');
    return [cancels, { ...from, param: orderId }];
  }
}

/** What was answered in this turn of the event loop, and is not sent yet. */
let unsent: { socket: Socket; connection: Connection }[] = [];

/** A shard answers in batches: what it answers to one connection is one write. */
function answer(socket: Socket, connection: Connection, text: string): void {
  if (!connection.isOpen) return;
  if (connection.answers.push(text) > 1) return;
  if (unsent.push({ socket, connection }) === 1) queueMicrotask(sendAnswers);
}

function sendAnswers(): void {
  const sending = unsent;
  unsent = [];
  for (const { socket, connection } of sending) {
    const texts = connection.answers;
    connection.answers = [];
    if (!connection.isOpen) continue;
    socket.cork(() => {
      for (const text of texts) socket.send(text);
    });
  }
}
