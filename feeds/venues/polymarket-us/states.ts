/**
 * Results by Polymarket US's public REST API; its WebSocket has none. Rules W48, W71, W72
 * (feeds/FORMATS.md).
 */
import { parseValueE4 } from '../../reading/decimal.ts';
import { fieldsOf, resultOfValue, undecided } from '../../reading/frame.ts';
import type { StateRequest, StateTick } from '../../reading/venue.ts';

/** One question a market: there is no list of settlements. */
export function polymarketUsStates(base: URL, slugs: readonly string[]): StateRequest[] {
  const root = base.pathname.replace(/(\/v1)?\/*$/, '');
  return slugs.map((slug) => {
    const url = new URL(base);
    url.pathname = `${root}/v1/markets/${encodeURIComponent(slug)}/settlement`;
    return { url, markets: [slug], namesAll: false, read: (answer) => ticksOf(slug, answer) };
  });
}

/** Not found: not settled. */
function ticksOf(slug: string, answer: unknown): StateTick[] {
  const fields = fieldsOf(answer);
  if (fields === null || (fields.slug !== undefined && fields.slug !== slug)) return [];
  const stated = fieldsOf(fields.settlement)?.value ?? fields.settlement;
  if (stated === undefined || stated === null || stated === '') return [];
  const value = parseValueE4(stated);
  if (value === null) return [undecided(slug, 'a settlement that is no value from 0 to 1')];
  return [resultOfValue(slug, value)];
}
