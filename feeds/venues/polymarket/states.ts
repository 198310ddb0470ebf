/** Results by Polymarket's market API (Gamma). Rule W57 (feeds/FORMATS.md). */
import { parsePriceE4 } from '../../reading/decimal.ts';
import { type Fields, fieldsOf, resultOfValue } from '../../reading/frame.ts';
import type { StateRequest, StateTick } from '../../reading/venue.ts';
import { listIn } from './discover.ts';

/** A token has up to 78 digits, and an address a few thousand. */
const TOKENS_A_REQUEST = 20;

/** The list answers open markets or closed ones, so each token is asked for twice. */
export function polymarketStates(base: URL, tokens: readonly string[]): StateRequest[] {
  const requests: StateRequest[] = [];
  for (let first = 0; first < tokens.length; first += TOKENS_A_REQUEST) {
    const markets = tokens.slice(first, first + TOKENS_A_REQUEST);
    for (const closed of ['true', 'false']) {
      const url = new URL(base);
      url.pathname = `${url.pathname.replace(/\/+$/, '')}/markets`;
      for (const token of markets) url.searchParams.append('clob_token_ids', token);
      url.searchParams.set('closed', closed);
      url.searchParams.set('limit', '100');
      requests.push({ url, markets, read: (answer) => ticksOf(answer, new Set(markets)) });
    }
  }
  return requests;
}

function ticksOf(answer: unknown, asked: ReadonlySet<string>): StateTick[] {
  const list = Array.isArray(answer) ? answer : fieldsOf(answer)?.markets;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const market = fieldsOf(entry);
    if (market === null || typeof market.closed !== 'boolean') return [];
    const prices = listIn(market.outcomePrices);
    return listIn(market.clobTokenIds).flatMap((token, at) => {
      return asked.has(token) ? [stateOf(token, market, prices, at)] : [];
    });
  });
}

/** The channel says nothing of pauses, so neither does this: nothing would end one. */
function stateOf(market: string, fields: Fields, prices: readonly string[], at: number): StateTick {
  if (fields.closed === false) return { kind: 'status', market, status: 'open' };
  const values = prices.map(parsePriceE4);
  const value = values[at] ?? null;
  const { umaResolutionStatus } = fields;
  // Before a resolution these are the last prices.
  const isResolved =
    umaResolutionStatus === undefined || umaResolutionStatus === null
      ? values.length === 2 && values.every((one) => one === 0 || one === 10_000)
      : umaResolutionStatus === 'resolved';
  if (!isResolved || value === null) return { kind: 'status', market, status: 'closed' };
  return resultOfValue(market, value);
}
