/** A whole server with two listeners, and connections of which it is known who answers them. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser, type Plan, type User } from '../../../api/identity/users.ts';
import type { Ending } from '../on-feed-clock.ts';
import { startWhole, type WholeServer } from '../whole-server.ts';

export type Answered = { status: number; headers: IncomingHttpHeaders; text: string };

/** One connection that is kept alive. */
export type Connection = {
  ask(
    method: string,
    path: string,
    options?: {
      token?: string | null;
      body?: unknown;
      headers?: Record<string, string>;
      /** Done when half of the body is sent. */
      meanwhile?: () => Promise<unknown>;
    },
  ): Promise<Answered>;
};

export type Caller = {
  user: User;
  token: string;
  keyId: string;
  /** A connection that the main thread answers, and one that the further listener does. */
  main: Connection;
  further: Connection;
};

export type TwoListeners = WholeServer & {
  /** A new user with a key, and connections for it; they are closed when idle for seconds. */
  newcomer(plan?: Plan): Promise<Caller>;
};

/** A listener may be starting again. */
const WAIT_MS_MAX = 60_000;

export function connect(t: Ending, origin: string, ownToken: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  return {
    ask: (method, path, { token = ownToken, body, headers = {}, meanwhile } = {}) =>
      new Promise((resolve, reject) => {
        const credential = token === null ? {} : { authorization: `Bearer ${token}` };
        const sent = request(`${origin}${path}`, {
          ...{ agent, method },
          headers: {
            ...credential,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
        });
        sent.on('error', reject);
        sent.on('response', (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (piece: string) => {
            text += piece;
          });
          response.on('error', reject);
          response.on('end', () => {
            resolve({ status: response.statusCode!, headers: response.headers, text });
          });
        });
        const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
        if (meanwhile === undefined || text === undefined) sent.end(text);
        else {
          const half = text.length / 2;
          sent.write(text.slice(0, half));
          // By then the first half has arrived.
          setTimeout(() => {
            meanwhile().then(() => sent.end(text.slice(half)), reject);
          }, 50);
        }
      }),
  };
}

/** The part of a request's id that is the same for all of one thread. */
const threadOf = ({ headers }: Answered) => String(headers['x-request-id']).split('-')[0]!;

export async function startTwo(t: Ending, env: Record<string, string> = {}): Promise<TwoListeners> {
  const server = await startWhole(t, { PAPERBOOK_LISTENERS: '2', PAPERBOOK_SHARDS: '2', ...env });
  const { identity } = server.paperbook;
  const newUserWithKey = async (plan: Plan) => {
    const user = newUser({ email: `u${Math.random()}@example.com`, plan }, Date.now());
    await identity.addUser(user);
    const scopes = ['portfolio:read', 'markets:read', 'trade:write'] as const;
    const { key, token } = newKey(user.id, { scopes: [...scopes] }, 'cli', Date.now());
    await identity.putKey(key);
    return { user, token, keyId: key.id };
  };
  const newcomer = async (plan: Plan = 'desk') => {
    const own = await newUserWithKey(plan);
    const both = await bothOf(t, server.origin, (await newUserWithKey('desk')).token);
    const asOwn = (connection: Connection): Connection => ({
      ask: (method, path, options = {}) =>
        connection.ask(method, path, { token: own.token, ...options }),
    });
    return { ...own, main: asOwn(both.main), further: asOwn(both.further) };
  };
  return { ...server, newcomer };
}

/**
 * One server for the tests of a file, which run one after another; it ends after the last.
 *
 * @param around called with what starts it
 */
export function sharedTwo(
  env: Record<string, string> = {},
  around = (start: () => Promise<TwoListeners>) => start(),
): () => Promise<TwoListeners> {
  const ends: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const end of ends.reverse()) await end();
  });
  let server: Promise<TwoListeners> | null = null;
  return () => {
    server ??= around(() => startTwo({ teardown: (end) => ends.push(end) }, env));
    return server;
  };
}

/** A connection that the main thread answers, and one that the further listener does. */
export async function bothOf(
  t: Ending,
  origin: string,
  token: string,
): Promise<{ main: Connection; further: Connection }> {
  let main: Connection | null = null;
  let further: Connection | null = null;
  for (const startedMs = Date.now(); Date.now() - startedMs < WAIT_MS_MAX; await sleep(20)) {
    const connection = connect(t, origin, token);
    // Answered by the main thread, whoever has the connection.
    const ofMain = threadOf(await connection.ask('GET', '/v1/me'));
    if (await isAnsweredBy(connection, ofMain)) main ??= connection;
    else further ??= connection;
    if (main !== null && further !== null) return { main, further };
  }
  throw new Error('one listener gets all connections');
}

/** The main thread answers a key's first request, and grants the key. */
async function isAnsweredBy(connection: Connection, thread: string): Promise<boolean> {
  await connection.ask('GET', '/v1/portfolio');
  return threadOf(await connection.ask('GET', '/v1/portfolio')) === thread;
}

/** Whether the further listener itself answers the key now. */
export async function isServedThere({ main, further }: Caller): Promise<boolean> {
  await further.ask('GET', '/v1/portfolio');
  const here = await main.ask('GET', '/v1/portfolio');
  return threadOf(here) !== threadOf(await further.ask('GET', '/v1/portfolio'));
}
