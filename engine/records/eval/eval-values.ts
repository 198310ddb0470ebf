/**
 * The values of picks on the boards of `/eval`, read from blocks: whole numbers of a unit if a
 * metric has one. Rules Y50 to Y53 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import { HOME_VENUE, type MarketNumber } from '../../base/units.ts';
import { type FeeEntry, feeEntriesOf, pnlAfterFeesCents } from '../../rules/fees.ts';
import {
  BRIER_UNITS,
  brierUnits,
  CLV_UNITS,
  clvUnits,
  logLossOf,
  midUnits,
  skillUnits,
} from '../maths/eval-scores.ts';
import type { Metric } from '../maths/statistics.ts';
import type { Instruments } from '../projection/instruments.ts';
import { NO_SKILL } from '../projection/slate-picks.ts';
import type { ClosedTradeBlock } from '../store/closed-trade-blocks.ts';
import { WON } from '../store/tables.ts';

/** How many units make one of the answered value. */
export const METRIC_UNITS: Readonly<Record<Metric, number>> = {
  brier: BRIER_UNITS,
  log_loss: 1,
  clv: CLV_UNITS,
  pnl: 100,
};

/** The value of a won or lost trade, by its place in a block; NaN: it has none. */
export type ValueOf = (block: ClosedTradeBlock, at: number) => number;

/** For one reading of many blocks. */
export function rankedBy(
  metric: Metric,
  instruments: Instruments,
  fees: readonly FeeEntry[],
): ValueOf {
  switch (metric) {
    case 'brier':
      return (block, at) => brierUnits(forecastPct(block, at), outcomeOf(block, at));
    case 'log_loss':
      return logLosses();
    case 'clv':
      return clvs(instruments);
    case 'pnl':
      return pnls(instruments, fees);
    default:
      return metric satisfies never;
  }
}

/** In units of a Brier score, or `NO_SKILL`. */
export function skillOf(block: ClosedTradeBlock, at: number): number {
  const statedPct = block.statedPct[at]!;
  if (statedPct === 0) return NO_SKILL;
  const entryCents = block.entryCents[at]!;
  return skillUnits({ entryCents, statedPct, outcome: outcomeOf(block, at) });
}

const outcomeOf = (block: ClosedTradeBlock, at: number) => (block.state[at] === WON ? 1 : 0);

function forecastPct(block: ClosedTradeBlock, at: number): number {
  const percent = block.statedPct[at]! || block.entryCents[at]!;
  invariant(percent > 0 && percent < 100, 'a forecast is not 1 to 99 percent');
  return percent;
}

/** They are few, and a logarithm is slow. */
function logLosses(): ValueOf {
  const known = Float64Array.from({ length: 200 }, (_, at) => {
    return logLossOf(at >> 1, (at & 1) as 0 | 1);
  });
  return (block, at) => known[2 * forecastPct(block, at) + outcomeOf(block, at)]!;
}

function clvs(instruments: Instruments): ValueOf {
  const { startsAtMs, polarity } = instruments.columns();
  const mids = new Map<number, number>();
  const midOf = (instrument: number, market: MarketNumber) => {
    const start = startsAtMs[instrument]!;
    const of = { startsAtMs: start, polarity: polarity[instrument] as 1 | -1 };
    const closing = instruments.closing(market, of);
    return closing === null ? Number.NaN : midUnits(closing);
  };
  return (block, at) => {
    const [instrument, market] = [block.instrument[at]!, block.market[at]!];
    // A trade's market is its instrument's, except if the instrument's market has changed.
    const key = instrument * MARKETS_MAX + market;
    let mid = mids.get(key);
    if (mid === undefined) {
      mid = midOf(instrument, market);
      mids.set(key, mid);
    }
    return clvUnits(block.instrumentYes[at] === 1 ? 'yes' : 'no', block.entryCents[at]!, mid);
  };
}

/** A product with an instrument's number is a safe integer. */
const MARKETS_MAX = 2 ** 26;

function pnls(instruments: Instruments, fees: readonly FeeEntry[]): ValueOf {
  type Known = { venue: typeof HOME_VENUE; venueMarketId: string; entries: FeeEntry[] };
  const markets = new Map<MarketNumber, Known>();
  const marketOf = (market: MarketNumber) => {
    const of = {
      venue: HOME_VENUE,
      venueMarketId: instruments.market(market)?.ticker ?? '',
    } as const;
    return { ...of, entries: feeEntriesOf(fees, of) };
  };
  return (block, at) => {
    // Its P&L has the fees that it paid. Rule F27 (feeds/FORMATS.md).
    if (block.isCharged[at] === 1) return block.pnlCents[at]!;
    const market = block.market[at]!;
    let known = markets.get(market);
    if (known === undefined) {
      known = marketOf(market);
      markets.set(market, known);
    }
    return pnlAfterFeesCents(known.entries, {
      venue: HOME_VENUE,
      venueMarketId: known.venueMarketId,
      atMs: block.openedAtMs[at]!,
      priceCents: block.entryCents[at]!,
      contracts: block.contracts[at]!,
      pnlCents: block.pnlCents[at]!,
    });
  };
}
