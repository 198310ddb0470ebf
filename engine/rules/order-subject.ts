/**
 * The subject of an order: the instrument or ticker that a buy names, or the position that a sell
 * closes. Rules T4 to T6, T50, T51, T55, T56, T100, T121, T191, T195 (engine/RULES.md).
 */

import {
  type AccountRow,
  HOME_VENUE,
  marketName,
  NO_ROW,
  oppositeSide,
  type PositionRow,
  type Side,
} from '../base/units.ts';
import { instrumentOf, marketNamed } from './catalog.ts';
import { type Decision, reject } from './decision.ts';
import { instrumentSideOf, sideOf } from './flags.ts';
import type { PlaceOrder } from './messages.ts';
import { closersInTheWay, isBeingSold, type NetPlan, netRefusal, planNet } from './net-orders.ts';
import { type Instrument, isKnown, type Market } from './reference-data.ts';
import type { ShardState } from './state.ts';

/** The subject of an order: a side of a market, as an instrument of the catalog shows it. */
export type Subject = {
  market: Market;
  instrument: Instrument;
  side: Side;
  instrumentSide: Side;
  contracts: number;
  /** sell: the row of the position. */
  position: PositionRow | null;
  /** Null: it nets nothing. */
  net: NetPlan | null;
};

/** The subject of the order, or why there is none. */
export function subjectOf(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
): Subject | Decision {
  if (order.action === 'sell') return sellSubject(state, order, account);
  const subject = buySubject(state, order);
  if (order.netting === null || 'kind' in subject) return subject;
  const net = planNet(state, order, subject, account);
  // An order that only closes takes no more than there is to close.
  const contracts = net.netting.opens ? subject.contracts : net.netting.closes;
  return netRefusal(order, net) ?? { ...subject, contracts, net };
}

/** It names no ticker, so it may be shown whether the venue-data switch is on or off. */
const NO_SUCH_TICKER = 'ticker is not that of a venue_a market that an instrument lists.';

/** Rules T4, T5, T6, T100, T121 (engine/RULES.md). */
function buySubject(state: ShardState, order: PlaceOrder): Subject | Decision {
  const asked = order.side!;
  const contracts = order.contracts!;
  if (order.ticker !== null) {
    const market = marketNamed(state, marketName(HOME_VENUE, order.ticker));
    if (market === undefined || market.shownBy === null) {
      return reject('no_tradable_listing', NO_SUCH_TICKER);
    }
    const { instrument, polarity } = market.shownBy;
    const instrumentSide = polarity === 1 ? asked : oppositeSide(asked);
    return buyOf(market, instrument, asked, instrumentSide, contracts);
  }
  const instrument = instrumentOf(state, order.instrumentId!);
  if (instrument === undefined || !isKnown(instrument)) {
    return reject('instrument_not_found');
  }
  const { home } = instrument;
  if (home === null) return reject('no_tradable_listing');
  const side = home.polarity === 1 ? asked : oppositeSide(asked);
  return buyOf(home.market, instrument, side, asked, contracts);
}

function buyOf(
  market: Market,
  instrument: Instrument,
  side: Side,
  instrumentSide: Side,
  contracts: number,
): Subject {
  return { market, instrument, side, instrumentSide, contracts, position: null, net: null };
}

/** All of a position, on its own market. Rules T50, T51, T55, T56 (engine/RULES.md). */
function sellSubject(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
): Subject | Decision {
  if (account === NO_ROW) return reject('trade_not_found');
  const tradeId = order.tradeId!;
  const position = state.positionIds.find(tradeId);
  const { col } = state.positions;
  if (position === NO_ROW || col.account.get(position) !== account) {
    const known = state.records.closedTrade(account, tradeId) !== undefined;
    return known ? reject('already_closed') : reject('trade_not_found');
  }
  // If a sell that never rests trades, it replaces the resting sell, as a market order does.
  const isTaken = isBeingSold(state, position) || closersInTheWay(state, position).length > 0;
  if (order.timeInForce === 'gtc' && isTaken) return reject('already_closed');
  const flags = col.flags.get(position);
  return {
    market: state.markets[col.market.get(position)]!,
    instrument: state.instruments[col.instrument.get(position)]!,
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(position),
    position,
    net: null,
  };
}
