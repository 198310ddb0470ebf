/**
 * The venue's own API beside `/v1` on the same server: signed orders and cancels, and market data
 * over its WebSocket, with `sync` durability.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { constants, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { catalogOf, instrumentIdOf } from '../lib/catalog.ts';
import { Generator, type Measured } from '../lib/generator.ts';
import { INSTRUMENTS } from '../lib/http-market.ts';
import { answersOf, rateOf, requireGood } from '../lib/http-report.ts';
import { loadNow } from '../lib/machine.ts';
import { prepareUsers, prepareVenueKeys } from '../lib/prepared-accounts.ts';
import { type ThreadUse, usageSince } from '../lib/proc.ts';
import { QuoteFeed } from '../lib/quote-feed.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, ms, type Report, range, ratio, type Suite } from '../lib/report.ts';
import { type Served, startServe } from '../lib/server.ts';
import { spreadOf } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';
import { bearer } from '../lib/websocket-frames.ts';
import type { FromSubscribers, SubscribersJob } from '../processes/subscribers.ts';

export type VenueApiSizes = {
  connections: readonly number[];
  rounds: number;
  warmupMs: number;
  measureMs: number;
  /** Signed before each round, which ends once all are used. */
  signedRequests: number;
  subscribers: number;
  marketsEach: number;
  markets: number;
  quotesPerSecond: number;
  dataMs: number;
};

export const venueApi: Suite<VenueApiSizes> = {
  name: 'venue-api',
  about: "the venue's own API beside /v1: signed orders, market data over WebSockets",
  full: {
    connections: [64, 256],
    rounds: 5,
    warmupMs: 500,
    measureMs: 3000,
    signedRequests: 30_000,
    ...{ subscribers: 1000, marketsEach: 100, markets: 4000, quotesPerSecond: 2000 },
    dataMs: 30_000,
  },
  quick: {
    connections: [64, 256],
    rounds: 1,
    warmupMs: 300,
    measureMs: 1000,
    signedRequests: 8000,
    ...{ subscribers: 200, marketsEach: 100, markets: 1000, quotesPerSecond: 1000 },
    dataMs: 5000,
  },
  run,
};

/** No account may have more sockets, neither in `/v1` nor in the venue's API. */
const SOCKETS_EACH = 20;
const TRADERS = 64;
const WARM_CONNECTIONS = 64;
const DATA_WARMUP_MS = 2000;
const SUBSCRIBERS = fileURLToPath(new URL('../processes/subscribers.ts', import.meta.url));
const VENUE_SOCKET = '/trade-api/ws/v2';

type World = {
  sizes: VenueApiSizes;
  server: Served;
  /** Of the same accounts. */
  tokens: string[];
  venueKeys: string[];
  privateKeyPem: string;
  progress: (line: string) => void;
};

async function run(sizes: VenueApiSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const dataDir = path.join(dir, 'data');
  const file = path.join(dir, 'catalog.json');
  const { instruments } = catalogOf(sizes.markets);
  writeFileSync(file, JSON.stringify({ games: [], instruments }));
  const settings = {
    ...{ PAPERBOOK_CATALOG: file, PAPERBOOK_VENUE_DATA: 'on', PAPERBOOK_VENUE_API: 'kalshi' },
    PAPERBOOK_QUOTE_MAX_AGE_MS: '600000',
  };
  let server: Served | null = null;
  try {
    progress('venue-api: starting');
    await (await startServe(dataDir, settings)).stop();
    const accounts = Math.max(TRADERS, Math.ceil(sizes.subscribers / SOCKETS_EACH));
    const { tokens, ids } = await prepareUsers(dataDir, accounts, Date.now());
    const { publicKeyPem, privateKeyPem } = makePair();
    const venueKeys = await prepareVenueKeys(dataDir, ids, publicKeyPem);
    server = await startServe(dataDir, settings);
    await new QuoteFeed(server, { instruments: sizes.markets, quotesPerSecond: 0 }).quoteAll();
    const world = { sizes, server, tokens, venueKeys, privateKeyPem, progress };
    const figures: Figures = {};
    const orders = await measureOrders(world, figures);
    return { tables: [...orders, ...(await measureData(world, figures))], figures };
  } finally {
    await server?.stop();
    dropDir(dir);
  }
}

function makePair() {
  const { publicKey: publicKeyPem, privateKey: privateKeyPem } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return { publicKeyPem, privateKeyPem };
}

const APIS = ['/v1', 'venue'] as const;
type Api = (typeof APIS)[number];
/** In a run of good orders a refusal is an error of the suite. */
const REFUSED_MAX = 0.01;

async function measureOrders(world: World, figures: Figures) {
  const { sizes, progress } = world;
  const generator = new Generator();
  const taken = sizes.connections.map((connections) => {
    return { connections, rounds: { '/v1': [] as Measured[], venue: [] as Measured[] } };
  });
  try {
    progress('venue-api: warming up');
    for (const api of APIS) {
      await measure(world, generator, { api, connections: WARM_CONNECTIONS, name: `warm-${api}` });
    }
    for (let round = 0; round < sizes.rounds; round++) {
      for (const { connections, rounds } of taken) {
        for (const api of APIS) {
          progress(`venue-api: orders, ${connections}, ${api}, round ${round + 1}`);
          const name = `${api === 'venue' ? 'k' : 'v'}-${connections}-${round}`;
          rounds[api].push(await measure(world, generator, { api, connections, name }));
        }
      }
    }
  } finally {
    generator.close();
  }
  const rows = taken.flatMap(({ connections, rounds }) => {
    return APIS.map((api) => orderRow(`orders, ${connections}/${api}`, rounds, api, figures));
  });
  const threads = taken.flatMap(({ connections, rounds }) => {
    return APIS.map((api) => ({
      label: `orders, ${connections}/${api}`,
      rounds: rounds[api].map((one) => ({ threads: one.threads, units: answersOf(one) })),
    }));
  });
  const table = {
    title: 'venue-api: orders and cancels a second, times in ms, CPU microseconds an order',
    columns: ['load, connections/api', 'orders/s', 'min .. max', 'to /v1', 'p50', 'p99'].concat([
      ...['CPU', 'to /v1', 'generator'],
    ]),
    rows,
    notes: [
      'generator, server and its shard share the cores: CPU is the fairer figure',
      'every request of the venue has a signature of its own, made before the round',
      `load at the end: ${loadNow()}`,
    ],
  };
  return [table, threadTable('venue-api', 'order', threads, figures)];
}

async function measure(
  { sizes, server, tokens, venueKeys, privateKeyPem }: World,
  generator: Generator,
  { api, connections, name }: { api: Api; connections: number; name: string },
): Promise<Measured> {
  const { port, basePath } = server;
  const { warmupMs, measureMs, signedRequests: requests } = sizes;
  const numbers = Array.from({ length: INSTRUMENTS }, (_, market) => market);
  const ids = catalogOf(INSTRUMENTS).instrumentIds;
  const of =
    api === '/v1'
      ? ({ kind: 'orders', keys: tokens.slice(0, TRADERS), instruments: ids } as const)
      : ({
          ...({ kind: 'signed', keys: venueKeys.slice(0, TRADERS) } as const),
          ...{ instruments: numbers.map(tickerOf), signing: { privateKeyPem, requests } },
        } as const);
  const load = { port, basePath, name, ...of };
  const job = { load, connections, warmupMs, measureMs, ratePerSecond: null };
  const measured = await generator.run(server, job);
  requireGood(measured, REFUSED_MAX);
  return measured;
}

const tickerOf = (market: number) => `BENCH-${market}`;
const cpuOf = (one: Measured) => (one.serverCpuMs * 1000) / answersOf(one);

function orderRow(
  label: string,
  rounds: Record<Api, readonly Measured[]>,
  api: Api,
  figures: Figures,
): string[] {
  const taken = rounds[api];
  const figure = (name: string, unit: string, of: (one: Measured, round: number) => number) => {
    const value = spreadOf(taken.map(of));
    figures[`${label}/${name}`] = { unit, value };
    return value;
  };
  const rate = figure('rate', 'orders/s', rateOf);
  const toV1 = (name: string, of: (one: Measured) => number) =>
    figure(name, 'of /v1', (one, round) => of(one) / of(rounds['/v1'][round]!));
  const cpu = figure('cpu', 'CPU us/order', cpuOf);
  return [
    label,
    count(rate.median),
    range(rate),
    ratio(toV1('rate to /v1', rateOf).median),
    ms(figure('p50', 'ms', ({ latency }) => latency.p50).median),
    ms(figure('p99', 'ms', ({ latency }) => latency.p99).median),
    cpu.median.toFixed(1),
    ratio(toV1('cpu to /v1', cpuOf).median),
    figure('generator', 'CPU us/order', (one) => {
      return (one.generatorCpuMs * 1000) / answersOf(one);
    }).median.toFixed(1),
  ];
}

/** A channel of either API, and what its subscribers send and count. */
type Channel = Pick<SubscribersJob, 'path' | 'credentials' | 'counted'> & {
  label: string;
  commandOf(markets: readonly number[]): string;
};

type Counted = { messages: number; seconds: number; mainMs: number; threads: ThreadUse[] };

async function measureData(world: World, figures: Figures) {
  const { sizes, server, progress } = world;
  const taken: { label: string; busy: Counted; perMessage: number }[] = [];
  for (const channel of channelsOf(world)) {
    const { label } = channel;
    progress(`venue-api: ${label}`);
    const feed = new QuoteFeed(server, {
      ...{ instruments: sizes.markets, quotesPerSecond: sizes.quotesPerSecond },
    });
    const child = fork(SUBSCRIBERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    try {
      // The work of the quotes themselves, which nobody follows.
      feed.start();
      const quiet = await during(server, null, sizes.dataMs / 2);
      await ask(child, jobOf(sizes, server, channel));
      await during(server, child, DATA_WARMUP_MS);
      const busy = await during(server, child, sizes.dataMs);
      const mainMs = busy.mainMs - quiet.mainMs * (busy.seconds / quiet.seconds);
      taken.push({ label, busy, perMessage: (mainMs * 1000) / busy.messages });
    } finally {
      await feed.stop();
      child.disconnect();
      // Its sockets are gone before the next channel is measured.
      await sleep(DATA_WARMUP_MS);
    }
  }
  const first = taken[0]!;
  const rows = taken.map(({ label, busy, perMessage }) => {
    figures[`${label}/messages`] = { unit: 'messages/s', value: busy.messages / busy.seconds };
    figures[`${label}/cpu`] = { unit: 'CPU us/message, main thread', value: perMessage };
    return [
      label,
      count(busy.messages / busy.seconds),
      perMessage.toFixed(2),
      ratio(perMessage / first.perMessage),
    ];
  });
  const { subscribers, marketsEach, markets, quotesPerSecond } = sizes;
  const table = {
    title: 'venue-api: market data, CPU microseconds a message, less that of quotes alone',
    columns: ['channel', 'messages/s', 'main', 'to /v1'],
    rows,
    notes: [
      `${subscribers} subscribers of ${marketsEach} of ${markets} markets, ${quotesPerSecond} quotes/s`,
      `subscribers and server share the cores; load at the end: ${loadNow()}`,
    ],
  };
  const threads = taken.map(({ label, busy }) => {
    return { label, rounds: [{ threads: busy.threads, units: busy.messages }] };
  });
  return [table, threadTable('venue-api', 'message', threads, figures)];
}

function channelsOf({ server, tokens, venueKeys, privateKeyPem }: World): Channel[] {
  const ofVenue = (channel: string, counted: string): Channel => ({
    ...{ label: `venue ${channel}`, path: VENUE_SOCKET, counted },
    // Signed as each phase begins.
    get credentials() {
      return venueKeys.map((key) => signedHandshake(key, privateKeyPem));
    },
    commandOf: (markets) => {
      const params = { channels: [channel], market_tickers: markets.map(tickerOf) };
      const more = { ...params, send_initial_snapshot: true };
      return JSON.stringify({ id: 1, cmd: 'subscribe', params: more });
    },
  });
  return [
    {
      ...{ label: '/v1 quotes', path: `${server.basePath}/stream`, counted: '{"channel' },
      credentials: tokens.map(bearer),
      commandOf: (markets) => {
        const channels = markets.map((market) => `quotes:${instrumentIdOf(market)}`);
        return JSON.stringify({ op: 'subscribe', channels });
      },
    },
    ofVenue('orderbook_delta', '{"type":"orderbook_'),
    ofVenue('ticker', '{"type":"ticker"'),
  ];
}

function signedHandshake(key: string, privateKeyPem: string): string {
  const atMs = Date.now();
  const signature = sign('sha256', Buffer.from(`${atMs}GET${VENUE_SOCKET}`), {
    ...{ key: createPrivateKey(privateKeyPem), padding: constants.RSA_PKCS1_PSS_PADDING },
    saltLength: 32,
  });
  const lines = [
    `KALSHI-ACCESS-KEY: ${key}`,
    `KALSHI-ACCESS-TIMESTAMP: ${atMs}`,
    `KALSHI-ACCESS-SIGNATURE: ${signature.toString('base64')}`,
  ];
  return lines.join('\r\n');
}

function jobOf(
  { subscribers, marketsEach, markets }: VenueApiSizes,
  { port }: Served,
  channel: Channel,
): SubscribersJob {
  const { path: at, credentials, counted, commandOf } = channel;
  const random = seededRandom(5);
  const commands = Array.from({ length: subscribers }, () => {
    const chosen = new Set<number>();
    while (chosen.size < marketsEach) chosen.add(random.below(markets));
    return commandOf([...chosen]);
  });
  return {
    ...{ port, path: at, credentials, commands, counted },
    snapshots: subscribers * marketsEach,
  };
}

async function during(
  { pid }: Served,
  child: ChildProcess | null,
  forMs: number,
): Promise<Counted> {
  const before = child === null ? 0 : (await ask(child, 'count')).messages;
  const usage = usageSince(pid);
  const startedMs = performance.now();
  await sleep(forMs);
  const { threads } = usage();
  const seconds = (performance.now() - startedMs) / 1000;
  const messages = child === null ? 0 : (await ask(child, 'count')).messages - before;
  return { seconds, messages, threads, mainMs: threads[0]?.cpuMs ?? 0 };
}

function ask(child: ChildProcess, question: SubscribersJob | 'count') {
  return new Promise<Extract<FromSubscribers, { kind: 'counted' }>>((resolve, reject) => {
    child.once('message', (answer: FromSubscribers) => {
      if (answer.kind === 'failed') reject(new Error(answer.message));
      else resolve(answer as Extract<FromSubscribers, { kind: 'counted' }>);
    });
    child.send(question);
  });
}
