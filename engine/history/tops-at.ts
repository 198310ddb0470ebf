/** The tops of markets at some moments. Rule H23 (api/RULES.md). */
import { invariant } from '../base/invariant.ts';
import { NO_PRICE } from '../base/units.ts';
import { ROWS } from './kinds.ts';
import type { MarketTops, TopsQuestion } from './questions.ts';
import type { Recorder } from './recorder.ts';

/** Of each market, in the order asked. Throws `HistoryDamage`. */
export function topsAt(recorder: Recorder, { nowMs, markets }: TopsQuestion): MarketTops[] {
  recorder.advance(nowMs);
  return markets.map(({ market, atMs }) => {
    const series = recorder.store.series(ROWS, market);
    const tops: MarketTops = { yesBidCents: [], yesAskCents: [] };
    const isPast = atMs.every((at) => at <= nowMs);
    invariant(isPast, 'a market is asked for a future moment');
    for (const row of series?.lastBy(atMs) ?? atMs.map(() => null)) {
      tops.yesBidCents.push(row === null ? NO_PRICE : row.columns[1]![row.at]!);
      tops.yesAskCents.push(row === null ? NO_PRICE : row.columns[2]![row.at]!);
    }
    return tops;
  });
}
