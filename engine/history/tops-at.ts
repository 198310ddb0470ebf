/** What markets showed at some moments. Rule H23 (api/RULES.md). */
import { invariant } from '../rules/invariant.ts';
import { NO_PRICE } from '../rules/units.ts';
import { ROWS } from './kinds.ts';
import type { MarketTops, TopsQuestion } from './questions.ts';
import type { Recorder } from './recorder.ts';

/** Of each market, in the order asked. Throws `HistoryDamage`. */
export function topsAt(recorder: Recorder, { nowMs, markets }: TopsQuestion): MarketTops[] {
  recorder.advance(nowMs);
  return markets.map(({ market, atMs }) => {
    const series = recorder.store.series(ROWS, market);
    const tops: MarketTops = { yesBidCents: [], yesAskCents: [] };
    for (const at of atMs) {
      invariant(at <= nowMs, 'a market is asked for what it will show');
      const row = series?.before(at + 1) ?? null;
      tops.yesBidCents.push(row?.[1] ?? NO_PRICE);
      tops.yesAskCents.push(row?.[2] ?? NO_PRICE);
    }
    return tops;
  });
}
