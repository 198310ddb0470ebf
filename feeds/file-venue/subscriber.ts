/**
 * The subscriptions of one client of a served recording, in the protocol of its venue: which frames
 * it gets, and with which numbers. A recording of some markets jumps in the venue's own sequence,
 * so each client has its own sequence. Rule N45 (feeds/FORMATS.md).
 */

import { parseJson } from '../../engine/base/bounded-json.ts';
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import { fieldsOf } from '../reading/frame.ts';
import { listOf, marketsOf } from '../reading/frame-markets.ts';
import type { AdapterName } from '../reading/venue.ts';

/** The effect of a client's message. */
export type Asked = {
  replies: unknown[];
  /** Whether it is subscribed now. */
  subscribed: boolean;
  /** Markets whose state it is sent; `*`: all. */
  markets: readonly string[];
};

export interface Subscriber {
  /** The heartbeat of a silent venue; null: it pings. */
  readonly heartbeat: unknown;
  /** @param text null: a message in binary */
  asked(text: string): Asked;
  /**
   * The frame as this client gets it, once for each of its subscriptions. `isGap`: as recorded, its
   * number is not the next one.
   */
  framesOf(frame: unknown, markets: readonly string[], atMs: EpochMs, isGap: boolean): unknown[];
}

export function subscriberOf(adapter: AdapterName): Subscriber {
  switch (adapter) {
    case 'native':
      return new NativeSubscriber();
    case 'kalshi':
      return new KalshiSubscriber();
    case 'polymarket_us':
      return new PolymarketUsSubscriber();
    case 'polymarket':
      return new PolymarketSubscriber();
    default:
      return adapter satisfies never;
  }
}

const NOTHING: Asked = { replies: [], subscribed: false, markets: [] };

/** Names of markets, `*` for all. */
class Markets {
  readonly #names = new Set<string>();

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  delete(names: readonly string[]): void {
    for (const name of names) this.#names.delete(name);
  }

  /** Whether it is about one of them, or about no market. */
  want(names: readonly string[]): boolean {
    return (
      names.length === 0 || this.#names.has('*') || names.some((name) => this.#names.has(name))
    );
  }
}

class NativeSubscriber implements Subscriber {
  readonly heartbeat = { type: 'heartbeat' };
  readonly #markets = new Markets();
  #seq = 0;

  asked(text: string): Asked {
    const message = jsonOf(text);
    const markets = listOf(message.markets);
    if (message.op !== 'subscribe' || markets.length === 0) {
      return {
        ...NOTHING,
        replies: [{ type: 'error', message: 'expected op subscribe, markets' }],
      };
    }
    this.#markets.add(markets);
    return { replies: [], subscribed: true, markets };
  }

  framesOf(frame: unknown, markets: readonly string[], atMs: EpochMs, isGap: boolean): unknown[] {
    if (!this.#markets.want(markets)) return [];
    const fields = fieldsOf(frame);
    if (fields === null) return [frame];
    this.#seq += isGap ? 2 : 1;
    return [{ at: isoOf(atMs), ...fields, seq: this.#seq }];
  }
}

type KalshiSubscription = { sid: number; channel: string; markets: Markets; seq: number };

/** By message type: the channel that it comes by. */
const KALSHI_CHANNELS: Readonly<Record<string, string>> = {
  orderbook_snapshot: 'orderbook_delta',
  orderbook_delta: 'orderbook_delta',
  trade: 'trade',
  market_lifecycle_v2: 'market_lifecycle_v2',
  multivariate_market_lifecycle: 'multivariate_market_lifecycle',
  event_lifecycle: 'market_lifecycle_v2',
  event_fee_update: 'market_lifecycle_v2',
};
/** Answers to another client's commands. */
const KALSHI_REPLIES: ReadonlySet<unknown> = new Set([
  'subscribed',
  'unsubscribed',
  'ok',
  'error',
  'list_subscriptions',
]);
const EVERY_MARKET = ['*'];

class KalshiSubscriber implements Subscriber {
  readonly heartbeat = null;
  readonly #subscriptions: KalshiSubscription[] = [];
  #nextSid = 1;

  asked(text: string): Asked {
    const { id, cmd, params: given } = jsonOf(text);
    const params = fieldsOf(given) ?? {};
    const markets = [...listOf(params.market_tickers), ...listOf([params.market_ticker])];
    const reply = (type: string, sid: number, rest: object) => ({ id, type, sid, ...rest });
    if (cmd === 'subscribe') {
      const added = listOf(params.channels).map((channel) => this.#add(channel, markets));
      const replies = added.map(({ channel, sid }) => ({
        ...{ id, type: 'subscribed' },
        msg: { channel, sid },
      }));
      const hasBooks = added.some(({ channel }) => channel === 'orderbook_delta');
      return { replies, subscribed: added.length > 0, markets: hasBooks ? markets : [] };
    }
    const sids = new Set([params.sid, ...(Array.isArray(params.sids) ? params.sids : [])]);
    const named = this.#subscriptions.filter(({ sid }) => sids.has(sid));
    if (named.length === 0) {
      const msg = { code: 7, msg: 'Unknown subscription ID' };
      return { ...NOTHING, replies: [{ id, type: 'error', msg }] };
    }
    if (cmd === 'unsubscribe') {
      for (const each of named) this.#subscriptions.splice(this.#subscriptions.indexOf(each), 1);
      const replies = named.map(({ sid, seq }) => reply('unsubscribed', sid, { seq: seq + 1 }));
      return { ...NOTHING, replies };
    }
    const { action } = params;
    for (const each of named) {
      if (action === 'add_markets') each.markets.add(markets);
      if (action === 'delete_markets') each.markets.delete(markets);
    }
    const replies = named.map(({ sid, seq }) =>
      reply('ok', sid, { seq, msg: { market_tickers: markets } }),
    );
    return { replies, subscribed: true, markets: action === 'delete_markets' ? [] : markets };
  }

  framesOf(frame: unknown, markets: readonly string[], _atMs: EpochMs, isGap: boolean): unknown[] {
    const fields = fieldsOf(frame);
    if (fields === null) return [frame];
    if (KALSHI_REPLIES.has(fields.type)) return [];
    const channel = KALSHI_CHANNELS[String(fields.type)];
    const taken = this.#subscriptions.filter(
      (each) => (channel === undefined || each.channel === channel) && each.markets.want(markets),
    );
    if (channel === undefined) return taken.slice(0, 1).map(({ sid }) => ({ ...fields, sid }));
    return taken.map((each) => {
      each.seq += isGap ? 2 : 1;
      return { ...fields, sid: each.sid, seq: each.seq };
    });
  }

  #add(channel: string, names: readonly string[]): KalshiSubscription {
    const markets = new Markets();
    // The channel of life cycles takes no filter.
    markets.add(names.length === 0 ? EVERY_MARKET : names);
    const subscription = { sid: this.#nextSid++, channel, markets, seq: 0 };
    this.#subscriptions.push(subscription);
    return subscription;
  }
}

class PolymarketUsSubscriber implements Subscriber {
  readonly heartbeat = { heartbeat: {} };
  readonly #subscriptions = new Map<string, Markets>();

  asked(text: string): Asked {
    const message = jsonOf(text);
    const ended = fieldsOf(message.unsubscribe);
    if (ended !== null) this.#subscriptions.delete(String(ended.requestId ?? ended.request_id));
    const wanted = fieldsOf(message.subscribe);
    if (wanted === null) return NOTHING;
    const markets = listOf(wanted.marketSlugs ?? wanted.market_slugs);
    const names = new Markets();
    names.add(markets.length === 0 ? EVERY_MARKET : markets);
    this.#subscriptions.set(String(wanted.requestId ?? wanted.request_id), names);
    return {
      replies: [],
      subscribed: true,
      markets: markets.length === 0 ? EVERY_MARKET : markets,
    };
  }

  framesOf(frame: unknown, markets: readonly string[]): unknown[] {
    const fields = fieldsOf(frame);
    if (fields === null || 'error' in fields) return [];
    const isWanted = [...this.#subscriptions.values()].some((names) => names.want(markets));
    return isWanted ? [frame] : [];
  }
}

class PolymarketSubscriber implements Subscriber {
  /** Its client pings too, and is answered. */
  readonly heartbeat = null;
  readonly #markets = new Markets();

  asked(text: string): Asked {
    const { assets_ids: ids, operation } = jsonOf(text);
    const markets = listOf(ids);
    if (operation === 'unsubscribe') this.#markets.delete(markets);
    if (operation === 'unsubscribe' || markets.length === 0) return NOTHING;
    this.#markets.add(markets);
    return { replies: [], subscribed: true, markets };
  }

  framesOf(frame: unknown, markets: readonly string[]): unknown[] {
    if (!this.#markets.want(markets)) return [];
    if (!Array.isArray(frame)) return [frame];
    return [frame.filter((each) => this.#markets.want(marketsOf('polymarket', each)))];
  }
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(parseJson(text)) ?? {};
  } catch {
    return {};
  }
}
