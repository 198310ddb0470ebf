/**
 * Orders that net, contract lists searched from the front: what the other side holds is closed
 * first, the rest opens. Rules T190 to T200 (engine/RULES.md).
 */

import type { Cents, Contracts, MarketNumber, Side, Uuid } from '../../engine/base/units.ts';
import { oppositeSide } from '../../engine/base/units.ts';
import type { PlaceOrder } from '../../engine/rules/messages.ts';
import type { RejectionCode } from '../../engine/rules/rejections.ts';
import type { ModelNetting, ModelOrder, ModelState, ModelTrade } from './naive-state.ts';

type Held = { account: Uuid; market: MarketNumber; side: Side };
type Wanted = { account: Uuid; market: MarketNumber; marketSide: Side };

const contractsOf = (trades: readonly ModelTrade[]) => {
  return trades.reduce((sum, { contracts }) => sum + contracts, 0);
};

function heldBy(state: ModelState, { account, market, side }: Held): ModelTrade[] {
  return [...state.trades.values()].filter((trade) => {
    const isIts = trade.account === account && trade.market === market;
    return isIts && trade.boughtSide === side && trade.status === 'open';
  });
}

/** The order that rests on a trade: its sell, or the rest of its buy. */
export function workingOn(state: ModelState, trade: ModelTrade): ModelOrder | undefined {
  return state.resting.find(({ tradeId }) => tradeId === trade.id);
}

/** T191: a trade with an order at work is not closed, except by an order that ends its buy. */
function closable(state: ModelState, held: Held, ofNewOrder: boolean): ModelTrade[] {
  return heldBy(state, held).filter((trade) => {
    const working = workingOn(state, trade);
    if (working === undefined) return true;
    // If others close contracts of the side, no buy ends for it. T195.
    return ofNewOrder && working.action === 'buy' && reserved(state, held) === 0;
  });
}

/** The resting orders that close contracts of a side, the newest first. */
function closersOf(state: ModelState, { account, market, side }: Held): ModelOrder[] {
  const closers = state.resting.filter((order) => {
    const isIts = order.account === account && order.market === market;
    return isIts && order.marketSide !== side && (order.netting?.closes ?? 0) > 0;
  });
  return closers.sort((a, b) => b.sequence - a.sequence);
}

function reserved(state: ModelState, held: Held): Contracts {
  return closersOf(state, held).reduce((sum, { netting }) => sum + netting!.closes, 0);
}

/** T195: the netting orders that would close too little once this trade is sold. */
export function closersInTheWay(state: ModelState, trade: ModelTrade): ModelOrder[] {
  if (workingOn(state, trade) !== undefined) return [];
  const held = { account: trade.account, market: trade.market, side: trade.boughtSide };
  const closers = closersOf(state, held);
  const left = contractsOf(closable(state, held, false)) - trade.contracts;
  for (let kept = closers.length; ; kept--) {
    const older = closers.slice(closers.length - kept);
    const wanted = older.reduce((sum, { netting }) => sum + netting!.closes, 0);
    if (wanted <= left || kept === 0) return closers.slice(0, closers.length - kept);
  }
}

/** T191, T194: what an order closes of the other side, beside the pairs that close before. */
export function nettingOf(
  state: ModelState,
  { netting, contracts, mayOpen }: PlaceOrder,
  wanted: Wanted,
): ModelNetting | RejectionCode {
  const { other, free, pairs } = sidesOf(state, wanted);
  const asked = contracts!;
  const closes = Math.min(asked, free(other) - pairs);
  if (netting === 'net') {
    if (closes < asked && !mayOpen) return 'membership_required';
  } else if (closes === 0) return 'already_closed';
  return { opens: netting === 'net', asked, closes };
}

function sidesOf(state: ModelState, { account, market, marketSide }: Wanted) {
  const own = { account, market, side: marketSide };
  const other = { account, market, side: oppositeSide(marketSide) };
  const free = (held: Held) => {
    return Math.max(0, contractsOf(closable(state, held, true)) - reserved(state, held));
  };
  return { own, other, free, pairs: Math.min(free(own), free(other)) };
}

/** T54, T194: the resting buys that end, the first placed first, then the pairs that close. */
export function beforeNetting(
  state: ModelState,
  wanted: Wanted & { netting: ModelNetting },
  endBuy: (order: ModelOrder) => void,
  sell: (trade: ModelTrade, contracts: Contracts, cents: Cents) => void,
): void {
  const { own, other, pairs } = sidesOf(state, wanted);
  const [bought, sold] = [own, other].map((held) => closable(state, held, true));
  const { closes } = wanted.netting;
  const touched = [...reaching(bought!, pairs), ...reaching(sold!, pairs + closes)];
  const ends = touched.flatMap((trade) => workingOn(state, trade) ?? []);
  for (const order of ends.sort((a, b) => a.sequence - b.sequence)) endBuy(order);
  for (let left = pairs; left > 0; ) {
    const one = bought!.find((trade) => trade.contracts > 0)!;
    const another = sold!.find((trade) => trade.contracts > 0)!;
    const contracts = Math.min(left, one.contracts, another.contracts);
    const opened = [...state.trades.keys()];
    const isOneLater = opened.indexOf(one.id) > opened.indexOf(another.id);
    const [later, earlier] = isOneLater ? [one, another] : [another, one];
    const share = (BigInt(later.costCents) * BigInt(contracts)) / BigInt(later.contracts);
    sell(later, contracts, Number(share));
    sell(earlier, contracts, 100 * contracts - Number(share));
    left -= contracts;
  }
}

/** The first trades that have so many contracts. */
function reaching(trades: readonly ModelTrade[], contracts: Contracts): ModelTrade[] {
  let before = 0;
  return trades.filter((trade) => {
    const isReached = before < contracts;
    before += trade.contracts;
    return isReached;
  });
}

export type NetPart = {
  /** Null: it opens. */
  trade: ModelTrade | null;
  contracts: Contracts;
  parts: { contracts: Contracts; priceCents: number }[];
};

/**
 * T192: a fill in the order of what it does. The order is not among the resting ones now, so what it
 * closes itself is free.
 */
export function netParts(
  state: ModelState,
  order: ModelOrder,
  filled: readonly { contracts: Contracts; priceCents: number }[],
): NetPart[] {
  const held = { ...order, side: oppositeSide(order.marketSide) };
  const trades = closable(state, held, false);
  let toClose = contractsOf(trades) - reserved(state, held);
  const queue = filled.map((part) => ({ ...part }));
  const next = (contracts: Contracts) => {
    const taken: NetPart['parts'] = [];
    for (let wanted = contracts; wanted > 0; ) {
      const first = queue[0]!;
      const count = Math.min(wanted, first.contracts);
      taken.push({ contracts: count, priceCents: first.priceCents });
      first.contracts -= count;
      wanted -= count;
      if (first.contracts === 0) queue.shift();
    }
    return taken;
  };
  let left = filled.reduce((sum, { contracts }) => sum + contracts, 0);
  const parts: NetPart[] = [];
  for (const trade of trades) {
    const contracts = Math.min(left, toClose, trade.contracts);
    if (contracts <= 0) break;
    parts.push({ trade, contracts, parts: next(contracts) });
    left -= contracts;
    toClose -= contracts;
  }
  if (left > 0) parts.push({ trade: null, contracts: left, parts: next(left) });
  return parts;
}

/** T193: the trade that the order adds to; undefined: it opens another one. */
export function ownTrade(state: ModelState, order: ModelOrder): ModelTrade | undefined {
  const trade = openedBy(state, order);
  const isWhole = trade?.lots.length === 0 && workingOn(state, trade) === undefined;
  return isWhole ? trade : undefined;
}

function openedBy(state: ModelState, { opened }: ModelOrder): ModelTrade | undefined {
  const trade = opened === null ? undefined : state.trades.get(opened);
  return trade?.status === 'open' ? trade : undefined;
}
