/**
 * Serves a feed file over WebSocket as the venues that it was recorded from: one address per venue
 * and adapter, on one loopback port. Rules N44 to N47 (feeds/FORMATS.md).
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EpochMs, Venue } from '../../engine/base/units.ts';
import { readFeed } from '../file/feed-file.ts';
import type { FeedLine } from '../file/feed-line.ts';
import { paceOf } from '../file/replay-speed.ts';
import type { AdapterName } from '../reading/venue.ts';
import { PROTOCOLS } from '../venues/create.ts';
import type { Subscriber } from '../venues/shared/protocol.ts';
import { KnownBooks } from './known-books.ts';

export type FileVenueOptions = {
  path: string;
  /** 0 takes a free one. */
  port: number;
  /** Feed seconds per second; null: as fast as clients read. */
  speed: number | null;
  skipBad?: boolean;
  /** How often a silent feed sends its venue's heartbeat; 5,000 when left out. */
  heartbeatMs?: number;
  /** Before each line: feed time stops until this has resolved. Null: no wait. */
  hold?(): Promise<void> | null;
};

export type FileVenue = {
  feeds: { venue: Venue; adapter: AdapterName; url: string }[];
  /** Resolves once all lines are sent; rejects with the problem of the file. */
  played: Promise<void>;
  close(): Promise<void>;
};

const MESSAGE_MAX_BYTES = 1024 * 1024;
/** The file begins so long after the last subscription, because a client may send several. */
const SETTLE_MS = 100;
const LOOK_EVERY_MS = 5;
/** A client with so many unread bytes is waited for, and after a while dropped. */
const UNREAD_MAX_BYTES = 4 * 1024 * 1024;
const UNREAD_MAX_MS = 30_000;
const GOING_AWAY = 1001;
const CLOSE_MAX_MS = 1000;
const HEARTBEAT_MS = 5_000;

/**
 * Reads which feeds the file has, and listens. @throws FeedFileError if the file cannot be read; an
 * error if the port cannot be had
 */
export async function startFileVenue(options: FileVenueOptions): Promise<FileVenue> {
  const feeds = await feedsOf(options);
  // An import would cost each start more (api/http/header-lines.ts).
  const { createServer } = process.getBuiltinModule('node:http');
  const web = createServer((_request, response) => response.writeHead(426).end());
  const sockets = acceptClients(web, feeds);
  await listen(web, options.port);
  const { port } = web.address() as AddressInfo;
  const ended = new AbortController();
  const { heartbeatMs = HEARTBEAT_MS } = options;
  const beats = setInterval(() => {
    for (const feed of feeds.values()) feed.beat(heartbeatMs);
  }, heartbeatMs);
  const played = play(options, feeds, ended.signal);
  played.catch(() => {}); // the caller of `done` gets it
  return {
    feeds: [...feeds].map(([key, { venue, adapter }]) => {
      return { venue, adapter, url: `ws://127.0.0.1:${port}/${key}` };
    }),
    played,
    async close() {
      ended.abort();
      clearInterval(beats);
      for (const feed of feeds.values()) feed.drop();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      web.closeAllConnections();
      await new Promise<void>((closed) => web.close(() => closed()));
    },
  };
}

/** By the path of their address, in order of first appearance. */
async function feedsOf({ path, skipBad = false }: FileVenueOptions): Promise<Map<string, Feed>> {
  const feeds = new Map<string, Feed>();
  for await (const batch of readFeed(path, { skipBad })) {
    for (const { venue, adapter, atMs } of batch) {
      const key = `${venue}/${adapter}`;
      if (!feeds.has(key)) feeds.set(key, new Feed(venue, adapter, atMs));
    }
  }
  return feeds;
}

/** Sends the lines at their time. Time stops while a feed has no subscriber. */
async function play(
  { path, speed, skipBad = false, hold: held = () => null }: FileVenueOptions,
  feeds: ReadonlyMap<string, Feed>,
  signal: AbortSignal,
): Promise<void> {
  const all = [...feeds.values()];
  const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const subscribed = async () => {
    while (!all.every((feed) => feed.isSettled) && !signal.aborted) await wait(LOOK_EVERY_MS);
    await held();
  };
  const hold = () => (all.every((feed) => feed.hasSubscriber) ? held() : subscribed());
  const pace = paceOf(speed, { hold, signal });
  for await (const batch of readFeed(path, { skipBad })) {
    for (const line of batch) {
      await pace(line.atMs);
      if (signal.aborted) return;
      const feed = feeds.get(`${line.venue}/${line.adapter}`)!;
      feed.send(line);
      if (feed.isBehind) await feed.caughtUp(wait);
    }
  }
}

type Client = { socket: WebSocket; subscriber: Subscriber; subscribedMs: number | null };

class Feed {
  readonly venue: Venue;
  readonly adapter: AdapterName;
  readonly #clients = new Set<Client>();
  readonly #books: KnownBooks;
  #atMs: EpochMs;
  #sentMs = performance.now();

  constructor(venue: Venue, adapter: AdapterName, atMs: EpochMs) {
    this.venue = venue;
    this.adapter = adapter;
    this.#atMs = atMs;
    this.#books = new KnownBooks(adapter);
  }

  get hasSubscriber(): boolean {
    return [...this.#clients].some(({ subscribedMs }) => subscribedMs !== null);
  }

  /** The newest subscription is a moment old. */
  get isSettled(): boolean {
    const times = [...this.#clients].flatMap(({ subscribedMs }) => subscribedMs ?? []);
    return times.length > 0 && performance.now() - Math.max(...times) >= SETTLE_MS;
  }

  get isBehind(): boolean {
    return [...this.#clients].some(({ socket }) => socket.bufferedAmount > UNREAD_MAX_BYTES);
  }

  add(socket: WebSocket): void {
    const subscriber = PROTOCOLS[this.adapter].subscriber();
    const client = { socket, subscriber, subscribedMs: null };
    this.#clients.add(client);
    socket.on('close', () => this.#clients.delete(client));
    socket.on('error', () => {}); // a close follows
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#asked(client, String(data));
    });
  }

  send(line: FeedLine): void {
    this.#atMs = line.atMs;
    this.#sentMs = performance.now();
    const { event, frame } = line;
    const reading = this.#books.take(line);
    if (event === 'lost') {
      this.drop();
      return;
    }
    if (event === 'heartbeat') {
      for (const { socket } of this.#clients) socket.ping('heartbeat');
      return;
    }
    if (reading === null) return;
    const markets = PROTOCOLS[this.adapter].marketsOf(frame);
    const isGap = event === 'gap' || reading.resync === true;
    for (const { socket, subscriber } of this.#clients) {
      for (const each of subscriber.framesOf(frame, markets, line.atMs, isGap)) {
        socket.send(textOf(each));
      }
    }
  }

  /** Sends the venue's heartbeat if the feed sent nothing for so long. */
  beat(quietMs: number): void {
    if (performance.now() - this.#sentMs < quietMs) return;
    for (const { socket, subscriber } of this.#clients) {
      const { heartbeat } = subscriber;
      if (heartbeat === null) socket.ping('heartbeat');
      else {
        for (const frame of subscriber.framesOf(heartbeat, [], this.#atMs, false)) {
          socket.send(textOf(frame));
        }
      }
    }
  }

  async caughtUp(wait: (ms: number) => Promise<unknown>): Promise<void> {
    const endsMs = performance.now() + UNREAD_MAX_MS;
    while (this.isBehind && performance.now() < endsMs) await wait(LOOK_EVERY_MS);
    for (const { socket } of this.#clients) {
      if (socket.bufferedAmount > UNREAD_MAX_BYTES) socket.terminate();
    }
  }

  /** Ends every connection, once all sent bytes are out. */
  drop(): void {
    for (const { socket } of this.#clients) {
      socket.close(GOING_AWAY);
      setTimeout(() => socket.terminate(), CLOSE_MAX_MS).unref();
    }
    this.#clients.clear();
  }

  #asked(client: Client, text: string): void {
    const { socket, subscriber } = client;
    if (text === 'PING') return socket.send('PONG');
    const { replies, subscribed, markets } = subscriber.asked(text);
    if (subscribed) client.subscribedMs = performance.now();
    for (const reply of replies) socket.send(textOf(reply));
    for (const { market, frame } of this.#books.framesOf(markets)) {
      for (const each of subscriber.framesOf(frame, [market], this.#atMs, false)) {
        socket.send(textOf(each));
      }
    }
  }
}

/** The text of a frame; a frame that was text is that text. */
function textOf(frame: unknown): string {
  return typeof frame === 'string' ? frame : JSON.stringify(frame);
}

function acceptClients(web: Server, feeds: ReadonlyMap<string, Feed>): WebSocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_MAX_BYTES,
    perMessageDeflate: false,
  });
  web.on('upgrade', (request, socket, head) => {
    const feed = feeds.get((request.url ?? '').split('?')[0]!.slice(1));
    socket.on('error', () => socket.destroy());
    if (feed === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => feed.add(accepted));
  });
  return sockets;
}

function listen(web: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    web.once('error', failed);
    web.listen(port, '127.0.0.1', () => {
      web.off('error', failed);
      listening();
    });
  });
}
