/**
 * Venues on loopback that speak their protocol: they take subscriptions, show the book of each
 * market and change it when the test says so.
 */
import type { ExecutionContext } from 'ava';
import type { WebSocket } from 'ws';
import type { AdapterName, AdapterOptions, VenueAdapter } from '../../feeds/reading/venue.ts';
import { createAdapter } from '../../feeds/venues/create.ts';
import { openVenue, type Venue } from './venue-server.ts';

/** Whole cents of yes. */
export type Top = { bid: number; ask: number };

export type LiveVenue = Venue & {
  /** The tops of the books, by market; a market without one is unknown to the venue. */
  tops: Map<string, Top>;
  /** How far its clock is ahead of ours. */
  aheadMs: number;
  /** Changes a top, and says so on every connection that has subscribed to the market. */
  move(market: string, top: Top, atMs?: number): void;
  /** In place of the answer to a message; true: no other answer is sent. */
  intercept: (socket: WebSocket, message: Message) => boolean;
};

// biome-ignore lint/suspicious/noExplicitAny: whatever a client sends
export type Message = any;

export type Protocol = {
  name: AdapterName;
  adapter(options?: AdapterOptions): VenueAdapter;
  open(t: ExecutionContext): Promise<LiveVenue>;
  /** The markets that a subscription names. */
  subscribedTo(message: Message): string[];
  garbage: string[];
};

type Speech = {
  /** Answers a message. */
  take(venue: LiveVenue, socket: WebSocket, message: Message): void;
  /** Says a change to whoever subscribed. */
  change(socket: WebSocket, market: string, change: { from: Top; to: Top; atMs: number }): void;
};

async function openLive(t: ExecutionContext, speech: Speech): Promise<LiveVenue> {
  const venue = (await openVenue(t)) as LiveVenue;
  venue.tops = new Map();
  venue.aheadMs = 0;
  venue.intercept = () => false;
  venue.move = (market, to, atMs = Date.now() + venue.aheadMs) => {
    const from = venue.tops.get(market)!;
    venue.tops.set(market, to);
    for (const socket of venue.sockets) {
      if (socket.readyState === socket.OPEN) speech.change(socket, market, { from, to, atMs });
    }
  };
  venue.onMessage = (socket, text) => {
    if (!text.startsWith('{')) {
      if (text === 'PING') socket.send('PONG');
      return;
    }
    const message = JSON.parse(text);
    if (!venue.intercept(socket, message)) speech.take(venue, socket, message);
  };
  return venue;
}

const say = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
const dollars = (cents: number) => (cents / 100).toFixed(4);

/** The subscriptions of a Kalshi connection, and the place in its one book sequence. */
type KalshiState = { seq: number; markets: Set<string> };
const kalshiStates = new WeakMap<WebSocket, KalshiState>();
export const BOOK_SID = 1;

export function kalshiState(socket: WebSocket): KalshiState {
  const state = kalshiStates.get(socket) ?? { seq: 0, markets: new Set<string>() };
  kalshiStates.set(socket, state);
  return state;
}

/** The next frame of the book subscription. */
export function kalshiSays(socket: WebSocket, type: string, msg: object): void {
  const state = kalshiState(socket);
  say(socket, { type, sid: BOOK_SID, seq: ++state.seq, msg });
}

export function kalshiSnapshot(venue: LiveVenue, socket: WebSocket, market_ticker: string): void {
  const top = venue.tops.get(market_ticker);
  if (top === undefined) return;
  const yes_dollars_fp = [[dollars(top.bid), '100.00']];
  const no_dollars_fp = [[dollars(100 - top.ask), '100.00']];
  kalshiSays(socket, 'orderbook_snapshot', { market_ticker, yes_dollars_fp, no_dollars_fp });
}

const kalshi: Speech = {
  take(venue, socket, { id, cmd, params }) {
    const tickers: string[] = params.market_tickers ?? [];
    if (cmd === 'subscribe') {
      for (const channel of params.channels) {
        const sid = channel === 'orderbook_delta' ? BOOK_SID : channel === 'trade' ? 2 : 3;
        say(socket, { id, type: 'subscribed', msg: { channel, sid } });
      }
    }
    for (const market of tickers) {
      kalshiState(socket).markets.add(market);
      kalshiSnapshot(venue, socket, market);
    }
  },
  change(socket, market_ticker, { from, to, atMs }) {
    if (!kalshiState(socket).markets.has(market_ticker)) return;
    const delta = (side: string, cents: number, delta_fp: string) => {
      const price_dollars = dollars(cents);
      const msg = { market_ticker, price_dollars, delta_fp, side, ts_ms: atMs };
      kalshiSays(socket, 'orderbook_delta', msg);
    };
    // Sent first, so that the book is never crossed.
    if (from.bid !== to.bid) delta('yes', from.bid, '-100.00');
    if (from.ask !== to.ask) delta('no', 100 - from.ask, '-100.00');
    if (from.bid !== to.bid) delta('yes', to.bid, '100.00');
    if (from.ask !== to.ask) delta('no', 100 - to.ask, '100.00');
  },
};

/** The subscriptions of other connections. */
const subscriptions = new WeakMap<WebSocket, Set<string>>();
function subscribe(socket: WebSocket, markets: readonly string[]): void {
  const set = subscriptions.get(socket) ?? new Set();
  subscriptions.set(socket, set);
  for (const market of markets) set.add(market);
}
const isSubscribed = (socket: WebSocket, market: string) =>
  subscriptions.get(socket)?.has(market) === true;

/** The ends of the book are at 1 and 99: the best level is last, as the venue sends it. */
function polymarketBook(asset_id: string, { bid, ask }: Top, atMs: number): object {
  const level = (cents: number) => ({ price: String(cents / 100), size: '100' });
  const bids = [level(1), level(bid)];
  const asks = [level(99), level(ask)];
  return { event_type: 'book', market: '0xc', asset_id, timestamp: String(atMs), bids, asks };
}

const polymarket: Speech = {
  take(venue, socket, { assets_ids: assets, operation }) {
    if (operation === 'unsubscribe') return;
    subscribe(socket, assets);
    const books = (assets as string[]).flatMap((asset) => {
      const top = venue.tops.get(asset);
      return top === undefined ? [] : [polymarketBook(asset, top, Date.now() + venue.aheadMs)];
    });
    socket.send(JSON.stringify(books));
  },
  change(socket, asset_id, { from, to, atMs }) {
    if (!isSubscribed(socket, asset_id)) return;
    const change = (side: string, cents: number, size: string) => {
      return { asset_id, price: String(cents / 100), size, side, hash: 'h' };
    };
    const price_changes = [
      change('BUY', from.bid, '0'),
      change('SELL', from.ask, '0'),
      change('BUY', to.bid, '100'),
      change('SELL', to.ask, '100'),
    ];
    const event = { event_type: 'price_change', market: '0xc', price_changes };
    say(socket, { ...event, timestamp: String(atMs) });
  },
};

function usBook(marketSlug: string, { bid, ask }: Top, atMs: number): object {
  const level = (cents: number) => [{ px: { value: dollars(cents) }, qty: '100' }];
  const transactTime = new Date(atMs).toISOString();
  const state = 'MARKET_STATE_OPEN';
  return {
    marketData: { marketSlug, bids: level(bid), offers: level(ask), state, transactTime },
  };
}

const polymarketUs: Speech = {
  take(venue, socket, { subscribe: request }) {
    if (request === undefined || request.subscriptionType === 'SUBSCRIPTION_TYPE_TRADE') return;
    subscribe(socket, request.marketSlugs);
    for (const market of request.marketSlugs) {
      const top = venue.tops.get(market);
      if (top !== undefined) say(socket, usBook(market, top, Date.now() + venue.aheadMs));
    }
  },
  change(socket, market, { to, atMs }) {
    if (isSubscribed(socket, market)) say(socket, usBook(market, to, atMs));
  },
};

const nativeSeqs = new WeakMap<WebSocket, number>();
function nativeSays(socket: WebSocket, frame: object): void {
  const seq = (nativeSeqs.get(socket) ?? 0) + 1;
  nativeSeqs.set(socket, seq);
  say(socket, { seq, ...frame });
}

const native: Speech = {
  take(venue, socket, { markets }) {
    subscribe(socket, markets);
    for (const market of markets) {
      const top = venue.tops.get(market);
      if (top === undefined) continue;
      const yesBids = [[top.bid, 100]];
      const yesAsks = [[top.ask, 100]];
      nativeSays(socket, { type: 'snapshot', market, status: 'open', yesBids, yesAsks });
    }
  },
  change(socket, market, { to, atMs }) {
    if (!isSubscribed(socket, market)) return;
    const sizes = { yesBidContracts: 100, yesAskContracts: 100 };
    const prices = { yesBidCents: to.bid, yesAskCents: to.ask };
    const at = new Date(atMs).toISOString();
    nativeSays(socket, { type: 'quote', market, ...prices, ...sizes, at });
  },
};

function protocol(
  name: AdapterName,
  speech: Speech,
  parts: Pick<Protocol, 'subscribedTo' | 'garbage'>,
): Protocol {
  return {
    name,
    adapter: (options = {}) => createAdapter(name, {}, options),
    open: (t) => openLive(t, speech),
    ...parts,
  };
}

export const KALSHI = protocol('kalshi', kalshi, {
  subscribedTo: ({ params }) => params?.market_tickers ?? [],
  garbage: ['nonsense', '{"type":7}', '{"type":"ticker","msg":{"market_ticker":"A"', '[1]'],
});

export const POLYMARKET = protocol('polymarket', polymarket, {
  subscribedTo: ({ assets_ids }) => assets_ids ?? [],
  garbage: ['{', '[]', '[[]]', '{"event_type":"price_change","price_changes":[7]}', 'null'],
});

export const POLYMARKET_US = protocol('polymarket_us', polymarketUs, {
  subscribedTo: ({ subscribe: request }) => request?.marketSlugs ?? [],
  garbage: ['{"marketData":7}', '{"marketDataLite":{}}', '{"trade":null}', '""', '{"heartbeat"'],
});

export const NATIVE = protocol('native', native, {
  subscribedTo: ({ markets }) => markets ?? [],
  garbage: ['{"type":"error","message":"no"}', 'nothing', '[]'],
});
