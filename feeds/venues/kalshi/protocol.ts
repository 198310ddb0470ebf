/** Kalshi's protocol as a whole, and a recording of it served to clients. Rules N45, N46 (feeds/FORMATS.md). */
import type { EpochMs } from '../../../engine/base/units.ts';
import { fieldsOf } from '../../reading/frame.ts';
import {
  type Asked,
  EVERY_MARKET,
  messageOf,
  NOTHING_ASKED,
  SubscribedMarkets,
  type Subscriber,
  textLevel,
  textsIn,
  textsOf,
  type VenueProtocol,
} from '../shared/protocol.ts';
import { KALSHI_LISTING } from './discover.ts';
import { kalshiAdapter } from './frames.ts';

export const KALSHI: VenueProtocol = {
  adapter: kalshiAdapter,
  marketsOf: (frame) => textsOf(fieldsOf(fieldsOf(frame)?.msg)?.market_ticker),
  subscriber: () => new KalshiSubscriber(),
  bookFrames: (market, { levels: { yesBids, yesAsks }, status }) => {
    const noBids = yesAsks.map(({ price, size }) => ({ price: 10_000 - price, size }));
    const msg = {
      market_ticker: market,
      ...(yesBids.length > 0 && { yes_dollars_fp: yesBids.map(textLevel) }),
      ...(noBids.length > 0 && { no_dollars_fp: noBids.map(textLevel) }),
    };
    const closed = { market_ticker: market, event_type: 'deactivated' };
    const before = status === 'open' ? [] : [{ type: 'market_lifecycle_v2', msg: closed }];
    return [...before, { type: 'orderbook_snapshot', msg }];
  },
  listing: KALSHI_LISTING,
};

type KalshiSubscription = { sid: number; channel: string; markets: SubscribedMarkets; seq: number };

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

class KalshiSubscriber implements Subscriber {
  readonly heartbeat = null;
  readonly #subscriptions: KalshiSubscription[] = [];
  #nextSid = 1;

  asked(text: string): Asked {
    const { id, cmd, params: given } = messageOf(text);
    const params = fieldsOf(given) ?? {};
    const markets = [...textsIn(params.market_tickers), ...textsIn([params.market_ticker])];
    const reply = (type: string, sid: number, rest: object) => ({ id, type, sid, ...rest });
    if (cmd === 'subscribe') {
      const added = textsIn(params.channels).map((channel) => this.#add(channel, markets));
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
      return { ...NOTHING_ASKED, replies: [{ id, type: 'error', msg }] };
    }
    if (cmd === 'unsubscribe') {
      for (const each of named) this.#subscriptions.splice(this.#subscriptions.indexOf(each), 1);
      const replies = named.map(({ sid, seq }) => reply('unsubscribed', sid, { seq: seq + 1 }));
      return { ...NOTHING_ASKED, replies };
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
    const markets = new SubscribedMarkets();
    // The channel of life cycles takes no filter.
    markets.add(names.length === 0 ? EVERY_MARKET : names);
    const subscription = { sid: this.#nextSid++, channel, markets, seq: 0 };
    this.#subscriptions.push(subscription);
    return subscription;
  }
}
