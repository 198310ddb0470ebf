/** The subject of an order: its instrument, market and sides. Rules T3 to T6 (engine/RULES.md). */

import type { Contracts, MarketNumber, Side, Uuid } from '../../engine/base/units.ts';
import { HOME_VENUE, oppositeSide } from '../../engine/base/units.ts';
import type { CatalogInstrument } from '../../engine/rules/catalog-entries.ts';
import type { PlaceOrder } from '../../engine/rules/messages.ts';
import type { RejectionCode } from '../../engine/rules/rejections.ts';
import { closersInTheWay, nettingOf } from './naive-netting.ts';
import { marketSideOf } from './naive-prices.ts';
import {
  isKnown,
  type ModelNetting,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  marketNumberOf,
  marketNumberOfListing,
} from './naive-state.ts';

export type Target = {
  instrumentId: string;
  instrumentSide: Side;
  market: MarketNumber;
  marketSide: Side;
  contracts: Contracts;
  /** sell: the position. */
  position: ModelTrade | null;
  /** Null: it nets nothing. */
  netting: ModelNetting | null;
};

/** The target, or the refusal. */
export function targetOf(state: ModelState, request: PlaceOrder): Target | RejectionCode {
  if (request.action === 'sell') return sellTarget(state, request);
  const target =
    request.instrumentId !== null
      ? instrumentTarget(state, request, request.instrumentId)
      : tickerTarget(state, request, request.ticker!);
  if (request.netting === null || typeof target === 'string') return target;
  const netting = nettingOf(state, request, { ...target, account: request.account });
  if (typeof netting === 'string') return netting;
  const contracts = netting.opens ? target.contracts : netting.closes;
  return { ...target, contracts, netting };
}

/** The order that rests to sell a position; there is one at most. */
function restingSellOf(state: ModelState, tradeId: Uuid): ModelOrder | undefined {
  return state.resting.find((order) => order.action === 'sell' && order.tradeId === tradeId);
}

function instrumentTarget(
  state: ModelState,
  request: PlaceOrder,
  instrumentId: string,
): Target | RejectionCode {
  const instrument = state.instruments.get(instrumentId);
  if (instrument === undefined || !isKnown(state, instrument)) return 'instrument_not_found';
  const home = instrument.listings.filter((listing) => listing.venue === HOME_VENUE);
  if (home.length !== 1) return 'no_tradable_listing';
  const market = marketNumberOfListing(state, home[0]!);
  if (market === null) return 'no_tradable_listing';
  return {
    instrumentId,
    instrumentSide: request.side!,
    market,
    marketSide: marketSideOf(request.side!, home[0]!.polarity),
    contracts: request.contracts!,
    position: null,
    netting: null,
  };
}

/** A ticker names the market itself; the instrument only shows it. */
function tickerTarget(
  state: ModelState,
  request: PlaceOrder,
  ticker: string,
): Target | RejectionCode {
  const market = marketNumberOf(state, HOME_VENUE, ticker);
  if (market === null) return 'no_tradable_listing';
  const straight = firstListing(state, ticker, 1);
  const shown = straight ?? firstListing(state, ticker, -1);
  if (shown === undefined) return 'no_tradable_listing';
  return {
    instrumentId: shown.id,
    instrumentSide: straight !== undefined ? request.side! : oppositeSide(request.side!),
    market,
    marketSide: request.side!,
    contracts: request.contracts!,
    position: null,
    netting: null,
  };
}

/** The first instrument of the catalog that lists a venue_a ticker with the given polarity. T6. */
function firstListing(
  state: ModelState,
  ticker: string,
  polarity: 1 | -1,
): CatalogInstrument | undefined {
  return [...state.listed]
    .map((id) => state.instruments.get(id)!)
    .find((instrument) =>
      instrument.listings.some(
        (listing) =>
          listing.venue === HOME_VENUE &&
          listing.venueMarketId === ticker &&
          listing.polarity === polarity,
      ),
    );
}

function sellTarget(state: ModelState, request: PlaceOrder): Target | RejectionCode {
  const trade = state.trades.get(request.tradeId!);
  if (trade === undefined || trade.account !== request.account) return 'trade_not_found';
  if (trade.status !== 'open') return 'already_closed';
  const isTaken =
    restingSellOf(state, trade.id) !== undefined || closersInTheWay(state, trade).length > 0;
  if (request.timeInForce === 'gtc' && isTaken) {
    return 'already_closed';
  }
  return {
    instrumentId: trade.instrumentId,
    instrumentSide: trade.instrumentSide,
    market: trade.market,
    marketSide: trade.boughtSide,
    contracts: trade.contracts,
    position: trade,
    netting: null,
  };
}
