/**
 * The thread of a further listener. It shares the port with the main thread, and has rings of its own
 * to every shard. It serves orders, cancels, batches, and reads of an account and of quotes, for keys
 * that the main thread has granted. All other requests go to the main thread whole. Rules A130 to
 * A134, Q28 (api/RULES.md), D73 (engine/RULES.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../../engine/base/invariant.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import type { Reply, TradingCommand } from '../../engine/rules/messages.ts';
import { RemoteShards } from '../../engine/shard/callers/remote-shards.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import { PendingRequests } from '../../engine/threads/pending-requests.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { errorBody } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import { admitter, type Caller, permit } from '../dispatch/access.ts';
import { createDispatcher } from '../dispatch/dispatch.ts';
import { Metrics } from '../dispatch/metrics.ts';
import { type OrderEntry, orderEntry } from '../dispatch/order-entry.ts';
import { PacedRefusals } from '../dispatch/paced-refusals.ts';
import type { Call, Route } from '../dispatch/route.ts';
import { createRouter } from '../dispatch/router.ts';
import { NO_PAGE } from '../http/guarding-headers.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import { type Listener, listen } from '../http/http.ts';
import type { HttpContext } from '../http/http-context.ts';
import type { SocketCall, SocketReport } from '../http/relayed-socket.ts';
import { requestLog } from '../http/request-log.ts';
import type { Socket, SocketEvents } from '../http/socket.ts';
import { isLastUseStale } from '../identity/keys.ts';
import { SwitchFlags } from '../identity/switches.ts';
import { RequestMeter } from '../limits/request-meter.ts';
import { sharedTime } from '../market-data/shared-time.ts';
import { orderBatchRoute } from '../operations/routes/order-batch.ts';
import { orderRoutes } from '../operations/routes/orders.ts';
import { portfolioRoutes } from '../operations/routes/portfolio.ts';
import { listQuotes } from '../operations/routes/quotes.ts';
import { GrantedCounts } from './granted-counts.ts';
import { Grants } from './grants.ts';
import type {
  FromListener,
  Grant,
  ListenerData,
  RequestNumber,
  SentCredential,
  ToListener,
} from './messages.ts';

const REPORT_EVERY_MS = 250;
const PREFIX = '/v1';

const port = parentPort;
invariant(port !== null, 'a further listener runs outside of a thread');
const data = workerData as ListenerData;
const say = (message: FromListener, moved: ArrayBuffer[] = []) => port.postMessage(message, moved);

const log: Log = {
  info: (fields, message) => sayLine('info', fields, message),
  warn: (fields, message) => sayLine('warn', fields, message),
  error: (fields, message) => sayLine('error', fields, message),
};

function sayLine(level: keyof Log, fields: object, message: string): void {
  say({ kind: 'log', level, fields, message });
}

/** The shards, for routes of this thread. */
const time = sharedTime(data.memory.time, data.config.clock === 'feed');
const passed = new PendingRequests();
const engine = new RemoteShards({
  shards: data.ends.length,
  queueDepthMax: data.queueDepthMax,
  nowMs: time.nowMs,
  pass: (owner: Uuid, command: TradingCommand, waiter: ReplyHandler) => {
    passed
      .ask<Reply>((id) => say({ kind: 'trade', id, owner, command }))
      .then(
        (reply) => waiter.resolve(reply),
        (error: Error) => waiter.reject(error),
      );
  },
});
for (const [shard, end] of data.ends.entries()) engine.reach(shard, end);
for (const keyId of data.roaming) void engine.roams(keyId);
if (data.isPaused) void engine.pause();

/** Who may call. */
const grants = new Grants(data.memory.versions);
const switches = new SwitchFlags(data.memory.switches);
const counts = new GrantedCounts(data.memory.counts);
const meter = new RequestMeter({ counts, enforced: data.config.limitsEnforced });
const keyed = ({ user, key }: Caller) => meter.keyed(user, key?.id ?? null);
/** The grant of the request that is being looked at. */
let current: Grant | null = null;

function authorize(http: HttpContext): Caller {
  invariant(current !== null, 'a request is served here without a grant');
  const { caller } = current;
  const nowMs = Date.now();
  if (isLastUseStale(caller.key, nowMs)) say({ kind: 'used', keyId: caller.key.id, atMs: nowMs });
  http.keyPrefix = caller.key.tokenPrefix;
  return caller;
}

const admitNow = admitter({
  keyNow: ({ key }) => grants.ofKey(key.id)?.caller.key,
  // The main thread serves sessions and organizations.
  sessions: null,
  organizations: null,
  switches,
  realism: { of: (userId) => grants.realismOf(userId) },
});

/** A key whose row has changed while a body arrived is granted again, or refused. */
function admit(route: Route<Caller>, call: Call<unknown, unknown, Caller>): void | Promise<void> {
  const { key, token } = call.caller;
  invariant(key !== null, 'a session is served by a further listener');
  if (call.body === null || grants.ofKey(key.id) !== undefined) return admitNow(route, call);
  const asked = passed.ask<Grant | null>((id) =>
    say({ kind: 'again', id, caller: { keyId: key.id, token } }),
  );
  return asked.then((grant) => {
    if (grant !== null) {
      counts.granted(grant);
      grants.renew(grant);
      call.caller = grant.caller;
    }
    return admitNow(route, call);
  });
}

/** What is served here. */
const metrics = new Metrics();
const checks = {
  ...{ permit, admit, metrics, log },
  refusal: () => engine.refusal(),
  // A node of a cluster answers by one thread.
  controlRefusal: () => null,
  paced: new PacedRefusals(),
};
let entry: OrderEntry;
const identity = {
  venueKey: (userId: Uuid, venue: 'venue_a' | 'venue_c_intl') => grants.venueKey(userId, venue),
};
const routes: Route<Caller>[] = [
  ...orderRoutes({ engine, identity, switches }),
  ...portfolioRoutes({ engine }),
  listQuotes({ engine }),
  orderBatchRoute(() => entry),
];
entry = orderEntry(routes, { ...checks, keyed });
const find = createRouter(PREFIX, routes);
const handleHere = createDispatcher<Caller>({
  ...checks,
  prefix: PREFIX,
  routes,
  authorize,
  meter: { unkeyed: meter.unkeyed, callerOf: () => null, keyed },
  policy: NO_PAGE,
  errorBody,
});

/** Whether a request is of a route that this thread serves, for an account of the caller. */
function isServedHere(http: HttpContext): boolean {
  if (http.handshake !== null) return false;
  const match = find(http.path);
  if (match === null || !match.entry.routes.has(http.method)) return false;
  // The main thread has more routes, at paths that look like an order's.
  if (match.param !== '' && !isUuid(match.param)) return false;
  if (http.hasUnclearLength()) return false;
  return http.joinedHeader('x-service-org') === null;
}

function handle(http: HttpContext): void {
  if (!isServedHere(http)) return relay(http, null);
  const authorization = http.onlyHeader('authorization');
  const ownHeader = http.onlyHeader('x-service-key');
  if (authorization === null || ownHeader === null) return relay(http, null);
  const sent = { authorization, ownHeader };
  current = grants.find(sent, Date.now());
  if (current === null) relay(http, sent);
  else handleHere(http);
}

/** Requests of the main thread, until their answers are whole or their sockets are closed. */
const relayed = new Map<RequestNumber, HttpContext>();
const sockets = new Map<RequestNumber, Socket>();
let lastNumber = 0;

/** `wanted`: the credential whose key this thread would serve. */
function relay(http: HttpContext, wanted: SentCredential | null): void {
  const number = ++lastNumber;
  relayed.set(number, http);
  const report = (report: Extract<FromListener, { kind: 'caller' }>['report']) => {
    say({ kind: 'caller', number, report }, report.kind === 'body' ? [report.chunk] : []);
  };
  http.relay({
    head: (head) => say({ kind: 'request', number, head, wanted }),
    body: (chunk, isLast) => report({ kind: 'body', chunk, isLast }),
    written: () => report({ kind: 'written' }),
    done: (isGone) => {
      relayed.delete(number);
      if (isGone) report({ kind: 'gone' });
    },
    opened: (socket) => socketOf(number, socket),
  });
}

function socketOf(number: RequestNumber, socket: Socket): SocketEvents {
  relayed.delete(number);
  sockets.set(number, socket);
  const report = (report: SocketReport) => {
    say({ kind: 'caller', number, report: { kind: 'socket', report } });
  };
  const unread = () => report({ kind: 'unread', bytes: socket.unreadBytes, sent: 0 });
  report({ kind: 'opened' });
  return {
    message: (bytes, isBinary) => report({ kind: 'message', bytes: bytes.slice(), isBinary }),
    alive: () => report({ kind: 'alive' }),
    dropped: () => report({ kind: 'dropped' }),
    drained: () => {
      unread();
      report({ kind: 'drained' });
    },
    closed: () => {
      sockets.delete(number);
      report({ kind: 'closed' });
    },
  };
}

function callSocket(number: RequestNumber, call: SocketCall): void {
  const socket = sockets.get(number);
  if (socket === undefined) return;
  if (call.kind === 'send') {
    socket.send(call.messages, call.isBinary);
    const sent = call.messages.reduce((sum, { length }) => sum + length, 0);
    const unread = { kind: 'unread', bytes: socket.unreadBytes, sent } as const;
    say({ kind: 'caller', number, report: { kind: 'socket', report: unread } });
  } else if (call.kind === 'follow') socket.follow(call.topic);
  else if (call.kind === 'unfollow') socket.unfollow(call.topic);
  else if (call.kind === 'ping') socket.ping();
  else if (call.kind === 'end') socket.end(call.code, call.reason);
  else socket.cut();
}

function report(): void {
  const requests = metrics.take();
  const counted = counts.takeChanged();
  if (requests.length > 0 || counted.length > 0) say({ kind: 'report', requests, counted });
}

/** Answers once the shards have decided all that was sent to them. */
async function settle(id: number, settled: Promise<void>): Promise<void> {
  await settled;
  say({ kind: 'settled', id });
}

function take(message: ToListener): void {
  switch (message.kind) {
    case 'answer':
      return relayed.get(message.number)?.play(message.part);
    case 'socket':
      return callSocket(message.number, message.call);
    case 'publish':
      return listener?.publish(message.topic, message.message, message.isBinary);
    case 'grant':
      counts.granted(message.grant);
      return grants.add(message.sent, message.grant);
    case 'granted':
      return passed.resolve(message.id, message.grant);
    case 'traded':
      return passed.resolve(message.id, message.reply);
    case 'not_traded': {
      const { id, retryAfterSeconds } = message;
      return passed.reject(id, new Unavailable(message.message, retryAfterSeconds));
    }
    case 'shard':
      return engine.reach(message.shard, message.end);
    case 'roams':
      return void settle(message.id, engine.roams(message.keyId));
    case 'is_home':
      return engine.isHome(message.keyId);
    case 'pause':
      return void settle(message.id, engine.pause());
    case 'go_on':
      return engine.goOn();
    case 'stop':
      return void end(message.graceMs);
    default:
      message satisfies never;
  }
}

const reporting = setInterval(report, REPORT_EVERY_MS);
let listener: Listener | null = null;
let isEnding = false;

/**
 * Closes every connection, and then the thread. A thread that ended with an open socket of
 * uWebSockets.js would end the process.
 */
async function end(graceMs: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  clearInterval(reporting);
  await listener?.close(graceMs);
  report();
  // Its handles are closed, and its last message leaves, in later turns of the event loop.
  setTimeout(() => process.exit(), 20);
}

/** An error of it ends the thread, as any other does. */
async function begin(): Promise<void> {
  listener = await listen({
    host: data.config.host,
    port: data.port,
    sharing: 'further',
    tls: data.config.tls,
    // Every handshake goes to the main thread, which knows whether it serves the path.
    socketPaths: [`${PREFIX}/stream`, '/trade-api/ws/v2'],
    headers: data.headers as HeaderLines,
    isBehindProxy: data.config.behindTlsProxy,
    onAnswer: data.config.requestLog ? requestLog(log) : null,
    handle,
  });
  say({ kind: 'listens' });
}

process.on('uncaughtException', (error: Error) => {
  say({ kind: 'failed', reason: error.stack ?? String(error) });
  void end(0);
});

port.on('message', take);
void begin();
