/** The displayed levels of an instrument, in its own terms. Rules A84, A85 (api/RULES.md). */

import { type EpochMs, HOME_VENUE, type PriceCents } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { BookQuery } from '../../engine/rules/queries.ts';
import { refuse } from './naive-orders.ts';
import { listingsInVenueOrder } from './naive-prices.ts';
import { omittedBecause } from './naive-quote.ts';
import {
  isKnown,
  type ModelQuote,
  type ModelState,
  marketNumberOfListing,
  marketOf,
  sharesSizes,
} from './naive-state.ts';
import { answer } from './naive-views.ts';

type Levels = [PriceCents, number][];

export function book(state: ModelState, query: BookQuery, nowMs: EpochMs): Reply {
  const instrument = state.instruments.get(query.instrumentId);
  if (instrument === undefined || !isKnown(state, instrument)) {
    return refuse('instrument_not_found');
  }
  const listings = listingsInVenueOrder(state, instrument.id);
  const home = listings.filter(({ venue }) => venue === HOME_VENUE);
  const shown = home.length === 1 ? home[0] : listings[0];
  const number = shown === undefined ? null : marketNumberOfListing(state, shown);
  const isShown = number !== null && omittedBecause(state, instrument, number, nowMs) === null;
  const { bids, asks } = isShown
    ? levelsOf(state, marketOf(state, number).quote!)
    : { bids: [], asks: [] };
  const turned = (levels: Levels) => levels.map(([cents, contracts]) => [100 - cents, contracts]);
  const isTurned = shown?.polarity === -1;
  return answer({
    instrumentId: instrument.id,
    venue: shown?.venue ?? null,
    yesBids: isTurned ? turned(asks) : bids,
    yesAsks: isTurned ? turned(bids) : asks,
  });
}

/** In the market's terms. Without the fill model that needs them the levels are not kept. */
function levelsOf(state: ModelState, quote: ModelQuote): { bids: Levels; asks: Levels } {
  if (sharesSizes(state)) {
    const levels = (of: ModelQuote['bids']): Levels =>
      of.slice(0, 20).map(({ yesCents, contracts }) => [yesCents, contracts]);
    return { bids: levels(quote.bids), asks: levels(quote.asks) };
  }
  const { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = quote;
  return {
    bids: yesBidCents === null ? [] : [[yesBidCents, yesBidContracts]],
    asks: yesAskCents === null ? [] : [[yesAskCents, yesAskContracts]],
  };
}
