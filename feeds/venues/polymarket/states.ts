/** Results by Polymarket's market API (Gamma). Rules W57, W71, W72 (feeds/FORMATS.md). */

import { parseJson } from '../../../engine/base/bounded-json.ts';
import type { PriceE4 } from '../../../engine/base/units.ts';
import { parseValueE4, textOfNumber } from '../../reading/decimal.ts';
import { type Fields, fieldsOf, resultOfValue, undecided } from '../../reading/frame.ts';
import type { StateRequest, StateTick } from '../../reading/venue.ts';
import { listIn } from './discover.ts';

/** A token has up to 78 digits, and an address a few thousand. */
const TOKENS_A_REQUEST = 20;

/** The list answers open markets or closed ones, so each token is asked for twice. */
export function polymarketStates(base: URL, tokens: readonly string[]): StateRequest[] {
  const requests: StateRequest[] = [];
  for (let first = 0; first < tokens.length; first += TOKENS_A_REQUEST) {
    const markets = tokens.slice(first, first + TOKENS_A_REQUEST);
    for (const closed of ['true', 'false']) requests.push(requestOf(base, closed, markets));
  }
  return requests;
}

function requestOf(base: URL, closed: string, markets: readonly string[]): StateRequest {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/markets`;
  for (const token of markets) url.searchParams.append('clob_token_ids', token);
  url.searchParams.set('closed', closed);
  url.searchParams.set('limit', '100');
  return {
    ...{ url, markets, namesAll: true },
    about: (some) => requestOf(base, closed, some),
    read: (answer) => ticksOf(answer, new Set(markets)),
  };
}

function ticksOf(answer: unknown, asked: ReadonlySet<string>): StateTick[] {
  const list = Array.isArray(answer) ? answer : fieldsOf(answer)?.markets;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const market = fieldsOf(entry);
    if (market === null || typeof market.closed !== 'boolean') return [];
    const tokens = listIn(market.clobTokenIds);
    const listed = pricesIn(market.outcomePrices);
    // Which price is whose, nobody could say.
    const prices = listed.length === tokens.length ? listed : [];
    return tokens.flatMap((token, at) => {
      return asked.has(token) ? [stateOf(token, market, prices, at)] : [];
    });
  });
}

/** Texts, or numbers, in a list or in the text of one. */
function pricesIn(value: unknown): string[] {
  const texts = listIn(value);
  if (texts.length > 0) return texts;
  const list = typeof value === 'string' ? numbersIn(value) : value;
  const areNumbers = Array.isArray(list) && list.every((one) => typeof one === 'number');
  return areNumbers ? list.map(textOfNumber) : [];
}

function numbersIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** The distance of a last price from a certain outcome, and the rounding of a sum. */
const TOLERANCE: PriceE4 = 10;

/** The channel tells no pauses, so neither does this: no message would end one. */
function stateOf(market: string, fields: Fields, prices: readonly string[], at: number): StateTick {
  // Some markets have only the list of their states, the newest last.
  const told = fields.umaResolutionStatus || listIn(fields.umaResolutionStatuses).at(-1);
  const resolution = told || undefined;
  const isResolved = resolution === 'resolved';
  if (fields.closed === false) {
    // Resolved before it is closed: no order may buy a known outcome.
    return { kind: 'status', market, status: isResolved ? 'closed' : 'open' };
  }
  const values = prices.map(parseValueE4);
  // Before a resolution these are the last prices, which are hardly ever whole.
  const isUnstated = resolution === undefined;
  const areWhole = values.every((one) => one === 0 || one === 10_000);
  const sum = values.reduce<number>((total, one) => total + (one ?? 0), 0);
  const addUp = values.length > 1 && Math.abs(sum - 10_000) <= TOLERANCE;
  const areRead = values.length > 1 && !values.includes(null);
  // Last prices add up, too.
  const isStated = isResolved || (isUnstated && areRead && (areWhole || !addUp));
  if (!isStated) return { kind: 'status', market, status: 'closed' };
  const value = values[at] ?? null;
  if (value === null || values.includes(null)) {
    return undecided(market, 'outcomePrices that cannot be read');
  }
  if (!addUp) {
    return undecided(market, `outcomePrices ${prices.join(', ').slice(0, 60)} do not add up to 1`);
  }
  if (value <= TOLERANCE) return resultOfValue(market, 0);
  return resultOfValue(market, value >= 10_000 - TOLERANCE ? 10_000 : value);
}
