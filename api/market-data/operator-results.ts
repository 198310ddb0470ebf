/**
 * Results that an operator gives in a venue's place, or in place of an earlier one. Rules O12, O26
 * (api/RULES.md), T140, S20 (engine/RULES.md).
 */

import {
  type EpochMs,
  HOME_VENUE,
  type MarketNumber,
  marketName,
  type SourceNumber,
  type Venue,
  venueOf,
} from '../../engine/base/units.ts';
import type { Reply, ResultTick } from '../../engine/rules/messages.ts';
import { parsePriceE4 } from '../../feeds/reading/decimal.ts';
import { resultOf } from '../../feeds/reading/engine-ticks.ts';
import { statusOrResult } from '../../feeds/venues/native/frames.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';

/**
 * A separate source, because an operator must not make a venue's price look fresh. Connections have
 * other numbers.
 */
export const OPERATOR_SOURCE: SourceNumber = 1;

export type OperatorResult = {
  /** `venue_a/TICKER`. */
  market: string;
  tick: ResultTick;
  /** `Settled`, or why the engine refuses it. */
  reply: Reply;
};

/** Settles a market, durable on return. Throws 400, 404, and `Unavailable`. */
export type SettleMarketByName = (
  market: string,
  result: string,
  options: { isCorrection: boolean },
) => Promise<OperatorResult>;

export type OperatorResultsParts = {
  marketNumber(venue: Venue, venueMarketId: string): MarketNumber | undefined;
  /** The engine's time. */
  nowMs(): EpochMs;
  /** Gives every shard the result, and then everyone who follows results. */
  settle(result: ResultTick, options: { isCorrection: boolean }): Promise<Reply>;
};

export function operatorResults(parts: OperatorResultsParts): SettleMarketByName {
  const { marketNumber, nowMs, settle } = parts;
  return async (market, result, { isCorrection }) => {
    const [venue, name] = placeOf(market);
    const read = readResult(name, result);
    const number = marketNumber(venue, name);
    if (number === undefined) {
      throw new ApiError('market_not_found', {
        message: `No catalog has ever listed the market ${marketName(venue, name)}.`,
      });
    }
    const tick = resultOf(read, { atMs: nowMs(), source: OPERATOR_SOURCE, market: number });
    const reply = await settle(tick, { isCorrection });
    return { market: marketName(venue, name), tick, reply };
  };
}

/** A bare name is venue_a's. */
function placeOf(market: string): [venue: Venue, name: string] {
  const venue = venueOf(market);
  return venue === undefined ? [HOME_VENUE, market] : [venue, market.slice(venue.length + 1)];
}

const NAMED = ['yes', 'no', 'void'];

function readResult(market: string, text: string) {
  const isResult = NAMED.includes(text) || parsePriceE4(text) !== null;
  const result = NAMED.includes(text) ? { result: text } : { settlementValue: text };
  const tick = isResult ? statusOrResult(market, { status: 'resolved', ...result }) : '';
  if (typeof tick !== 'string' && tick.kind === 'result') return tick;
  throw invalidRequest(
    'result must be yes, no, void, or the worth of yes. A worth is 0 to 1 with at most four decimals, as 0.645',
  );
}
