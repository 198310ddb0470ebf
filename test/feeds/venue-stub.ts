/**
 * A venue as a test needs it, for any adapter: its WebSocket, and its REST API with the states of
 * its markets. The suite of venues/conformance.test.ts runs every adapter through it.
 */
import type { ExecutionContext } from 'ava';
import { type FeedWorld, openWorld, type WorldOptions } from './feed-world.ts';
import type { LiveVenue, Protocol } from './live-venues.ts';
import { json, type Reply, type RestServer, restServer } from './rest-server.ts';

export const TOP = { bid: 40, ask: 45 };
/** `none`: it is over, and the venue's answer about it is no result. */
export type State = 'open' | 'paused' | 'closed' | 'yes' | 'no' | 'half' | 'none';

/** The payout of the other token of a Polymarket. */
const SECOND: Partial<Record<State, string>> = { no: '1', half: '0.5' };

/** The answers of each venue's REST API for markets in these states. */
export const ANSWERS: Record<string, (states: ReadonlyMap<string, State>, url: URL) => Reply> = {
  kalshi(states, url) {
    const status = { open: 'active', paused: 'inactive', closed: 'closed' } as Record<
      State,
      string
    >;
    const value: Record<string, string> = {
      yes: '1.0000',
      no: '0.0000',
      half: '0.5000',
      none: '7',
    };
    const markets = url.searchParams
      .get('tickers')!
      .split(',')
      .flatMap((ticker) => {
        const state = states.get(ticker);
        if (state === undefined) return [];
        const result = state === 'yes' || state === 'no' ? state : '';
        const settlement_value_dollars = value[state] ?? null;
        return [{ ticker, status: status[state] ?? 'finalized', result, settlement_value_dollars }];
      });
    return json({ markets, cursor: '' });
  },
  polymarket(states, url) {
    const price: Record<string, string> = { yes: '1', no: '0', half: '0.5', none: '0' };
    const isClosed = (state: State) => state !== 'open' && state !== 'paused';
    const markets = url.searchParams.getAll('clob_token_ids').flatMap((token) => {
      const state = states.get(token);
      if (state === undefined || isClosed(state) !== (url.searchParams.get('closed') === 'true')) {
        return [];
      }
      const prices = [price[state] ?? '0.9995', SECOND[state] ?? '0'];
      return [
        {
          conditionId: `0x${token}`,
          closed: isClosed(state),
          umaResolutionStatus: state in price ? 'resolved' : 'proposed',
          outcomePrices: JSON.stringify(prices),
          clobTokenIds: JSON.stringify([token, `${token}-no`]),
        },
      ];
    });
    return json(markets);
  },
  polymarket_us(states, url) {
    const slug = /\/v1\/markets\/(.+)\/settlement$/.exec(url.pathname)?.[1] ?? '';
    const settlement = { yes: 1, no: 0, half: 0.5, none: 7 }[states.get(slug) as 'yes'];
    return settlement === undefined ? json({ error: 'x' }, 404) : json({ slug, settlement });
  },
};

export type VenueStub = {
  venue: LiveVenue;
  /** REST's states of the markets; the stub begins with A, B and C open. */
  states: Map<string, State>;
  /** The questions; a venue without REST gets none. */
  rest: RestServer;
  /** A feed on it. */
  open(options?: WorldOptions): FeedWorld;
};

export async function stubOf(t: ExecutionContext, protocol: Protocol): Promise<VenueStub> {
  const venue = await protocol.open(t);
  const states = new Map<string, State>();
  for (const market of ['A', 'B', 'C']) {
    venue.tops.set(market, TOP);
    states.set(market, 'open');
  }
  const answer = ANSWERS[protocol.name];
  const rest = await restServer(t, (url) => answer?.(states, url) ?? json('no', 404));
  const restUrl = new URL(protocol.name === 'kalshi' ? `${rest.url}/trade-api/v2` : rest.url);
  return {
    venue,
    states,
    rest,
    open: (options = {}) => openWorld(t, protocol, venue, { restUrl, ...options }),
  };
}
