/** The protocol of Polymarket US as a whole, and a recording of it served to clients. Rules N45, N46 (feeds/FORMATS.md). */
import { fieldsOf } from '../../reading/frame.ts';
import {
  type Asked,
  EVERY_MARKET,
  messageOf,
  NOTHING_ASKED,
  SubscribedMarkets,
  type Subscriber,
  textsIn,
  textsOf,
  type VenueProtocol,
} from '../shared/protocol.ts';
import { POLYMARKET_US_LISTING } from './discover.ts';
import { polymarketUsAdapter } from './frames.ts';

export const POLYMARKET_US: VenueProtocol = {
  adapter: polymarketUsAdapter,
  marketsOf: (frame) => {
    const fields = fieldsOf(frame) ?? {};
    const body = BODIES.map((name) => fieldsOf(fields[name])).find((found) => found !== null);
    return textsOf(body?.marketSlug ?? body?.market_slug);
  },
  subscriber: () => new PolymarketUsSubscriber(),
  // Every message is a whole state.
  bookFrames: (_market, { frame }) => [frame],
  listing: POLYMARKET_US_LISTING,
};

const BODIES = ['marketData', 'marketDataLite', 'trade', 'market_data', 'market_data_lite'];

class PolymarketUsSubscriber implements Subscriber {
  readonly heartbeat = { heartbeat: {} };
  readonly #subscriptions = new Map<string, SubscribedMarkets>();

  asked(text: string): Asked {
    const message = messageOf(text);
    const ended = fieldsOf(message.unsubscribe);
    if (ended !== null) this.#subscriptions.delete(String(ended.requestId ?? ended.request_id));
    const wanted = fieldsOf(message.subscribe);
    if (wanted === null) return NOTHING_ASKED;
    const markets = textsIn(wanted.marketSlugs ?? wanted.market_slugs);
    const names = new SubscribedMarkets();
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
