/** A server with the venue's own API, and people who use it by the venue's SDK. */
import { createPrivateKey, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import {
  AccountApi,
  ApiKeysApi,
  Configuration,
  EventsApi,
  ExchangeApi,
  MarketApi,
  MilestoneApi,
  OrderGroupsApi,
  OrdersApi,
  PortfolioApi,
} from 'kalshi-typescript';
import { WebSocket } from 'ws';
import type { Plan, User } from '../../../../api/identity/users.ts';
import { newUser } from '../../../../api/identity/users.ts';
import { VenueApiKeyBook } from '../../../../api/identity/venue-api-key-book.ts';
import { catalogOf, game, instrument } from '../../../process/catalogs.ts';
import { startWhole, type WholeServer } from '../../whole-server.ts';

type Requests = NonNullable<ConstructorParameters<typeof OrdersApi>[2]>;

/** The library of requests that the SDK uses, whose types it has from elsewhere. */
const sdk = createRequire(createRequire(import.meta.url).resolve('kalshi-typescript'));
const axios = sdk('axios') as { create(options: object): Requests };

export const TICKERS = ['KXTESTGAME-26NOV27AWYHOM-AWY', 'KXTESTGAME-26NOV27AWYHOM-HOM'];
export const [AWAY, HOME] = TICKERS as [string, string];
/** It has no live price. */
export const DARK = 'KXDARK-26-X';
export const EVENT = 'KXTESTGAME-26NOV27AWYHOM';

/** Markets 0 and 1 have a live price of 40 to 43, and market 2 the same of an inverse listing. */
export function venueCatalog(): string {
  const of = (slug: string, ticker: string, polarity = 1) => {
    const made = instrument(slug, 'g1');
    const [listing] = made.listings;
    return { ...made, listings: [{ ...listing, polarity, venueMarketId: ticker }] };
  };
  return catalogOf(
    [game('g1')],
    [
      of('i0', AWAY),
      of('i1', HOME),
      of('i2', INVERSE, -1),
      of('i3', DARK),
      of('i4', 'not-a-venue-ticker'),
    ],
  );
}

export const INVERSE = 'KXINVERSE-26-I';

const ends: (() => unknown)[] = [];
test.after.always('the server of the venue’s own API', async () => {
  for (const end of ends.reverse()) await end();
});
let shared: Promise<WholeServer> | null = null;

/**
 * One server for the files of a process. Their traders are their own; who moves a price or a switch
 * sets it back.
 */
export function venueServer(): Promise<WholeServer> {
  const env = { PAPERBOOK_VENUE_API: 'kalshi' };
  shared ??= startWhole({ teardown: (end) => ends.push(end) }, env, venueCatalog());
  return shared;
}

export type Trader = {
  user: User;
  keyId: string;
  privateKeyPem: string;
  orders: OrdersApi;
  groups: OrderGroupsApi;
  portfolio: PortfolioApi;
  markets: MarketApi;
  events: EventsApi;
  milestones: MilestoneApi;
  exchange: ExchangeApi;
  account: AccountApi;
  keys: ApiKeysApi;
  /** A request of its own, signed as the SDK does. */
  call(method: string, path: string, options?: Signing): Promise<Called>;
  headers(method: string, path: string, options?: Signing): Record<string, string>;
};

export type Signing = { body?: unknown; atMs?: number; headers?: Record<string, string> };
export type Called = { status: number; headers: Headers; json: ReturnType<JSON['parse']> };

let people = 0;

/**
 * So old a signature is refused (A202). On a busy machine a request may be on its way for that long,
 * and a client signs it again.
 */
const SIGNED_WITHIN_MS = 5000;
const isOverdue = (signedMs: number) => Date.now() - signedMs > SIGNED_WITHIN_MS;

/** A person with a key of their own. */
export async function newTrader(
  server: { origin: string; paperbook: Pick<WholeServer['paperbook'], 'identity'> },
  plan: Plan = 'basic',
): Promise<Trader> {
  const { identity } = server.paperbook;
  const user = newUser({ email: `venue${people++}@example.com`, plan }, Date.now());
  await identity.addUser(user);
  const { key, privateKeyPem } = await new VenueApiKeyBook(identity).create(
    user.id,
    'bot',
    Date.now(),
  );
  const basePath = `${server.origin}/trade-api/v2`;
  const configuration = new Configuration({ apiKey: key.id, privateKeyPem, basePath });
  // The SDK signs by an interceptor, so that each client needs requests of its own.
  const of = <T>(Api: new (c: Configuration, b: string, a: Requests) => T) => {
    const requests = axios.create({ validateStatus: () => true });
    requests.interceptors.response.use((answer) => {
      const { status, config } = answer;
      const signedMs = Number(config.headers.get('KALSHI-ACCESS-TIMESTAMP'));
      return status === 401 && isOverdue(signedMs) ? requests.request(config) : answer;
    });
    return new Api(configuration, basePath, requests);
  };
  const headers: Trader['headers'] = (method, path, { atMs = Date.now() } = {}) => {
    const text = `${atMs}${method}${path.split('?')[0]}`;
    const signature = sign('sha256', Buffer.from(text), {
      key: createPrivateKey(privateKeyPem),
      padding: 6,
      saltLength: 32,
    });
    return {
      'KALSHI-ACCESS-KEY': key.id,
      'KALSHI-ACCESS-TIMESTAMP': String(atMs),
      'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
    };
  };
  return {
    ...{ user, keyId: key.id, privateKeyPem, headers },
    ...{ orders: of(OrdersApi), groups: of(OrderGroupsApi), portfolio: of(PortfolioApi) },
    ...{ markets: of(MarketApi), events: of(EventsApi), milestones: of(MilestoneApi) },
    ...{ exchange: of(ExchangeApi), account: of(AccountApi), keys: of(ApiKeysApi) },
    call: async (method, path, options = {}) => {
      const full = `/trade-api/v2${path}`;
      const { body } = options;
      const response = await fetch(server.origin + full, {
        method,
        headers: {
          ...headers(method, full, options),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = text === '' ? null : JSON.parse(text);
      return { status: response.status, headers: response.headers, json };
    },
  };
}

export const SOCKET_PATH = '/trade-api/ws/v2';
const WAIT_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: messages of the venue
export type Message = any;

/** A WebSocket of the venue, with all that it has said. */
export class Connection {
  readonly messages: Message[] = [];
  readonly #socket: WebSocket;
  code: number | null = null;
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    socket.on('close', (code) => {
      this.code = code;
    });
    socket.on('error', () => {});
  }

  send(cmd: string, params?: object): number {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, cmd, ...(params === undefined ? {} : { params }) }));
    return id;
  }

  close(): void {
    this.#socket.terminate();
  }

  raw(text: string): void {
    this.#socket.send(text);
  }

  async until<T>(find: (messages: Message[]) => T | undefined | false | null): Promise<T> {
    for (let waited = 0; waited < WAIT_MS; waited += 5) {
      const found = find(this.messages);
      if (found !== undefined && found !== false && found !== null) return found;
      await sleep(5);
    }
    throw new Error(`waited in vain, with ${JSON.stringify(this.messages)}`);
  }

  of(type: string, from = 0): Message[] {
    return this.messages.slice(from).filter((message) => message.type === type);
  }

  /** The first of a type. */
  first(type: string, from = 0): Promise<Message> {
    return this.until(() => this.of(type, from)[0]);
  }

  async reply(id: number): Promise<Message> {
    return this.until((messages) => messages.find((message) => message.id === id));
  }
}

/** It is signed as the SDK signs requests; it ends with the test. */
export async function connected(
  t: { teardown(end: () => unknown): void },
  origin: string,
  trader: Trader,
): Promise<Connection> {
  for (;;) {
    const atMs = Date.now();
    const socket = new WebSocket(origin.replace('http', 'ws') + SOCKET_PATH, {
      headers: trader.headers('GET', SOCKET_PATH, { atMs }),
    });
    t.teardown(() => socket.terminate());
    const connection = new Connection(socket);
    const refusal = await new Promise<Error | null>((resolve) => {
      socket.once('open', () => resolve(null));
      socket.once('error', resolve);
    });
    if (refusal === null) return connection;
    if (!refusal.message.endsWith(' 401') || !isOverdue(atMs)) throw refusal;
  }
}

/** An order of the venue's form. */
export function order(over: object = {}) {
  return {
    ticker: AWAY,
    side: 'bid' as const,
    count: '10.00',
    price: '0.5000',
    time_in_force: 'good_till_canceled' as const,
    self_trade_prevention_type: 'taker_at_cross' as const,
    ...over,
  };
}
