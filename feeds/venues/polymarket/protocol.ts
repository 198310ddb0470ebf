/** Polymarket's protocol as a whole, and a recording of it served to clients. Rules N45, N46 (feeds/FORMATS.md). */
import { fieldsOf } from '../../reading/frame.ts';
import type { Level } from '../../reading/venue.ts';
import {
  type Asked,
  messageOf,
  NOTHING_ASKED,
  SubscribedMarkets,
  type Subscriber,
  textLevel,
  textsIn,
  textsOf,
  type VenueProtocol,
} from '../shared/protocol.ts';
import { POLYMARKET_LISTING } from './discover.ts';
import { polymarketAdapter } from './frames.ts';

export const POLYMARKET: VenueProtocol = {
  adapter: (_keys, options) => polymarketAdapter(options),
  marketsOf: (frame) => {
    const messages = Array.isArray(frame) ? frame.map(fieldsOf) : [fieldsOf(frame)];
    return messages.flatMap((message) => [
      ...textsOf(message?.asset_id),
      ...textsIn(message?.assets_ids),
      ...changesOf(message?.price_changes),
    ]);
  },
  subscriber: () => new PolymarketSubscriber(),
  bookFrames: (market, { levels: { yesBids, yesAsks } }) => [
    { event_type: 'book', asset_id: market, bids: yesBids.map(level), asks: yesAsks.map(level) },
  ],
  listing: POLYMARKET_LISTING,
};

function changesOf(changes: unknown): string[] {
  return Array.isArray(changes) ? changes.flatMap((each) => textsOf(fieldsOf(each)?.asset_id)) : [];
}

function level(of: Level) {
  const [price, size] = textLevel(of);
  return { price, size };
}

class PolymarketSubscriber implements Subscriber {
  /** Its client pings too, and is answered. */
  readonly heartbeat = null;
  readonly #markets = new SubscribedMarkets();

  asked(text: string): Asked {
    const { assets_ids: ids, operation } = messageOf(text);
    const markets = textsIn(ids);
    if (operation === 'unsubscribe') this.#markets.delete(markets);
    if (operation === 'unsubscribe' || markets.length === 0) return NOTHING_ASKED;
    this.#markets.add(markets);
    return { replies: [], subscribed: true, markets };
  }

  framesOf(frame: unknown, markets: readonly string[]): unknown[] {
    if (!this.#markets.want(markets)) return [];
    if (!Array.isArray(frame)) return [frame];
    return [frame.filter((each) => this.#markets.want(POLYMARKET.marketsOf(each)))];
  }
}
