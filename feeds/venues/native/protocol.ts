/** The native protocol as a whole, and a recording of it served to clients. Rules N45, N46 (feeds/FORMATS.md). */
import { type EpochMs, isoOf } from '../../../engine/base/units.ts';
import { fieldsOf } from '../../reading/frame.ts';
import type { Level } from '../../reading/venue.ts';
import {
  type Asked,
  messageOf,
  NOTHING_ASKED,
  SubscribedMarkets,
  type Subscriber,
  textsIn,
  textsOf,
  type VenueProtocol,
} from '../shared/protocol.ts';
import { nativeAdapter } from './frames.ts';

export const NATIVE: VenueProtocol = {
  adapter: (_keys, options) => nativeAdapter(options),
  marketsOf: (frame) => textsOf(fieldsOf(frame)?.market),
  subscriber: () => new NativeSubscriber(),
  bookFrames: (market, { levels: { yesBids, yesAsks }, status }) => [
    {
      ...{ type: 'snapshot', market, status },
      yesBids: yesBids.map(wholeLevel),
      yesAsks: yesAsks.map(wholeLevel),
    },
  ],
  listing: null,
};

const wholeLevel = ({ price, size }: Level) => [price / 100, size / 100];

class NativeSubscriber implements Subscriber {
  readonly heartbeat = { type: 'heartbeat' };
  readonly #markets = new SubscribedMarkets();
  #seq = 0;

  asked(text: string): Asked {
    const message = messageOf(text);
    const markets = textsIn(message.markets);
    if (message.op !== 'subscribe' || markets.length === 0) {
      return {
        ...NOTHING_ASKED,
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
