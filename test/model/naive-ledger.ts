/** Everything that moves money or ends an order. */

import type {
  Cents,
  Contracts,
  EpochMs,
  MarketNumber,
  Side,
  Uuid,
} from '../../engine/base/units.ts';
import { oppositeSide, START_BALANCE_CENTS } from '../../engine/base/units.ts';
import type { CancelReason } from '../../engine/rules/events.ts';
import type { MarketResult, Settled } from '../../engine/rules/messages.ts';
import { TRADE_TERM_NAMES } from '../../engine/rules/order-terms.ts';
import { take } from './naive-depth.ts';
import { feeOf, heldFees } from './naive-fees.ts';
import { beforeNetting, netParts, ownTrade } from './naive-netting.ts';
import type { Offer } from './naive-prices.ts';
import {
  accountOf,
  dearestCentsOf,
  type ModelAccount,
  type ModelNetting,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  marketOf,
  openTradesOf,
  pick,
  restingOf,
} from './naive-state.ts';

/** Below this net worth an account with nothing at work is bust: one dollar. */
const BUST_BELOW_CENTS = 100;

const DAYS_30_MS = 30 * 24 * 60 * 60 * 1000;

/** Why an account cannot be reset at a time, and until when that is so. */
export function resetBlock(state: ModelState, account: ModelAccount, nowMs: EpochMs) {
  const last = account.resetsAtMs.at(-1);
  const until = last !== undefined && nowMs - last < DAYS_30_MS ? last + DAYS_30_MS : null;
  if (!state.selfReset) return { by: 'reset_not_enabled', until: null };
  return { by: until === null ? null : 'reset_too_soon', until };
}

/** The account, opened with the start balance at its first accepted order. */
export function openedAccount(state: ModelState, id: Uuid): ModelAccount {
  let account = state.accounts.get(id);
  if (account === undefined) {
    account = {
      id,
      balanceCents: START_BALANCE_CENTS,
      adjustmentsCents: 0,
      realizedCents: 0,
      earlierRunsCents: 0,
      resetsAtMs: [],
      runStartedAtMs: state.nowMs,
      busts: 0,
      bustCountedInRun: false,
      mayOwe: false,
      lastTrade: null,
      keys: new Map(),
    };
    state.accounts.set(id, account);
  }
  return account;
}

/** The contracts of an order that have not traded. */
export function remainingOf(order: ModelOrder): Contracts {
  return order.fills.reduce((left, { contracts }) => left - contracts, order.contracts);
}

/**
 * A buy that waits holds the most that its remaining contracts can cost, with their fees. A sell,
 * and an order that does not wait, holds nothing.
 */
export function holdCentsOf(order: ModelOrder): Cents {
  if (order.status !== 'resting' || order.action === 'sell') return 0;
  const left = remainingOf(order) - (order.netting?.closes ?? 0);
  return dearestCentsOf(order) * left + (order.feesOn ? heldFees(order, left) : 0);
}

/** Puts an accepted order to rest and takes its hold off the balance. */
export function rest(state: ModelState, order: ModelOrder): void {
  state.resting.push(order);
  accountOf(state, order.account).balanceCents -= holdCentsOf(order);
}

/** Ends an order with contracts that did not trade, and gives its hold back. */
export function end(
  state: ModelState,
  order: ModelOrder,
  status: 'canceled' | 'expired' | 'executed',
  reason: CancelReason,
): void {
  stopResting(state, order);
  order.arrivesAtMs = null;
  order.cancelsAtMs = null;
  order.status = status;
  order.cancelReason = reason;
  order.endedAtMs = status === 'expired' ? order.expiresAtMs : state.nowMs;
  // An ioc that has traded keeps the trade of its last part.
  const isNet = order.netting !== null && status !== 'executed';
  if (isNet) order.tradeId = null;
  state.endings.push({ orderId: order.id, status, reason });
  countBust(state, order.account);
}

/** Contracts trade: a buy opens a position or adds to it, a sell sells from its own. */
export function fill(
  state: ModelState,
  order: ModelOrder,
  offer: Offer,
  role: 'taker' | 'maker',
): void {
  if (order.netting !== null) return fillNet(state, order, offer, role);
  const rested = state.resting.includes(order);
  const spendable = accountOf(state, order.account).balanceCents;
  const held = rested ? holdCentsOf(order) : 0;
  stopResting(state, order);
  take(state, order, offer.lots);
  const { contracts, priceCents, cents, venue } = offer;
  const entry = { contracts, priceCents, cents, feeCents: null as Cents | null, venue };
  if (order.feesOn) entry.feeCents = feeOf(state, order, offer, role);
  order.fills.push(entry);
  const { groupId: group } = order;
  if (group !== null) state.groupFills.push({ group, atMs: state.nowMs, contracts });
  const waited = role === 'maker' || order.latencyMs > 0;
  if (waited && order.action === 'buy' && entry.feeCents !== null) {
    // A newer table may charge more than is held, and no more than there is. M17.
    const most = held - holdCentsOf(order) - cents + Math.max(0, spendable);
    entry.feeCents = Math.min(entry.feeCents, Math.max(0, most));
  }
  const trade = order.tradeId === null ? openTrade(state, order) : state.trades.get(order.tradeId)!;
  if (order.action === 'buy') buyInto(state, trade, contracts, cents);
  else sellFrom(state, trade, contracts, cents);
  if (entry.feeCents !== null) charge(state, trade, entry.feeCents);
  afterFill(state, order, rested);
}

/** It rests again, or is done. */
function afterFill(state: ModelState, order: ModelOrder, rested: boolean): void {
  if (remainingOf(order) > 0) {
    if (rested) rest(state, order);
    return;
  }
  order.status = 'executed';
  order.cancelsAtMs = null;
  order.endedAtMs = state.nowMs;
  state.endings.push({ orderId: order.id, status: 'executed', reason: null });
  countBust(state, order.account);
}

/** T192: each part is a fill of its own, and its fee too. */
function fillNet(
  state: ModelState,
  order: ModelOrder,
  offer: Offer,
  role: 'taker' | 'maker',
): void {
  const account = accountOf(state, order.account);
  const rested = state.resting.includes(order);
  stopResting(state, order);
  take(state, order, offer.lots);
  let last: ModelTrade | null = null;
  for (const { trade, contracts, parts } of netParts(state, order, offer.parts)) {
    const cents = parts.reduce((sum, part) => sum + part.contracts * part.priceCents, 0);
    const { venue, market } = offer;
    const priceCents = Math.ceil(cents / contracts);
    const { groupId: group } = order;
    if (group !== null) state.groupFills.push({ group, atMs: state.nowMs, contracts });
    const entry = { contracts, priceCents, cents, feeCents: null as Cents | null, venue };
    if (order.feesOn) entry.feeCents = feeOf(state, order, { market, parts }, role);
    order.fills.push(entry);
    if (trade !== null) {
      order.netting!.closes = Math.max(0, order.netting!.closes - contracts);
      // 56 for a yes is a no at 44.
      sellFrom(state, trade, contracts, 100 * contracts - cents);
      if (entry.feeCents !== null) charge(state, trade, entry.feeCents);
      last = trade;
      continue;
    }
    // What it holds from now on is not to be spent. M17.
    const waited = role === 'maker' || order.latencyMs > 0;
    const stillHeld = rested ? holdCentsOf(order) : 0;
    const most = Math.max(0, account.balanceCents - stillHeld - cents);
    if (waited && entry.feeCents !== null) entry.feeCents = Math.min(entry.feeCents, most);
    const own = ownTrade(state, order);
    last = own ?? openTrade(state, order);
    last.fillVenue = own === undefined ? venue : last.fillVenue;
    order.opened = last.id;
    order.tradeId = null;
    buyInto(state, last, contracts, cents);
    if (entry.feeCents !== null) charge(state, last, entry.feeCents);
  }
  const isDone = remainingOf(order) === 0 || !rested || order.timeInForce !== 'gtc';
  if (isDone) order.tradeId = last!.id;
  afterFill(state, order, rested);
}

/** T200: what the pairs bring, and what the buys held that end, in cents. */
export function freedBy(
  state: ModelState,
  wanted: { account: Uuid; market: MarketNumber; marketSide: Side; netting: ModelNetting | null },
): Cents {
  const trial = structuredClone(state);
  const balance = () => trial.accounts.get(wanted.account)?.balanceCents ?? 0;
  const before = balance();
  beforeNetting(
    trial,
    { ...wanted, netting: wanted.netting! },
    (buy) => end(trial, buy, 'canceled', 'position_closed'),
    (trade, contracts, cents) => sellFrom(trial, trade, contracts, cents),
  );
  return balance() - before;
}

/** T54, T194: what a netting order does before it trades or rests. */
export function closePairs(state: ModelState, order: ModelOrder): void {
  beforeNetting(
    state,
    { ...order, netting: order.netting! },
    (buy) => end(state, buy, 'canceled', 'position_closed'),
    (trade, contracts, cents) => sellFrom(state, trade, contracts, cents),
  );
}

/** Pays a market out once; later results of the same market change nothing. */
export function settleMarket(
  state: ModelState,
  number: MarketNumber,
  { outcome, yesPayoutCents, noPayoutCents }: MarketResult,
): Settled {
  const market = marketOf(state, number);
  if (market.result !== null) return UNCHANGED;
  const result = { outcome, yesPayoutCents, noPayoutCents };
  market.result = result;

  const open = [...state.trades.values()].filter(
    (trade) => trade.market === number && trade.status === 'open',
  );
  const resting = state.resting.filter((order) => order.market === number);
  for (const order of resting) end(state, order, 'canceled', 'market_resolved');
  for (const trade of open) settleTrade(state, trade, result);
  const canceledOrders = resting.length;
  return { isNew: true, settledTrades: open.length, correctedTrades: 0, canceledOrders };
}

export const UNCHANGED: Settled = {
  isNew: false,
  settledTrades: 0,
  correctedTrades: 0,
  canceledOrders: 0,
};

/** Null: somebody would hold more than can be counted. */
export function correctMarket(
  state: ModelState,
  number: MarketNumber,
  result: MarketResult,
  mayGain: (account: Uuid, cents: Cents) => boolean,
): Settled | null {
  const settled = [...state.trades.values()].filter((trade) => {
    return trade.market === number && (trade.status === 'settled' || trade.status === 'void');
  });
  const gains = new Map<Uuid, Cents>();
  for (const trade of settled) {
    const gain = Math.max(0, paidBy(trade, result) - trade.lots.at(-1)!.proceedsCents);
    gains.set(trade.account, (gains.get(trade.account) ?? 0) + gain);
  }
  if ([...gains].some(([account, cents]) => !mayGain(account, cents))) return null;
  marketOf(state, number).result = result;
  // As they were settled: an account's newest first.
  for (const trade of settled.reverse()) {
    const account = accountOf(state, trade.account);
    const lot = trade.lots.at(-1)!;
    const cents = paidBy(trade, result) - lot.proceedsCents;
    lot.proceedsCents += cents;
    endByResult(trade, result);
    if (trade.resetsBefore === account.resetsAtMs.length) {
      account.balanceCents += cents;
      account.realizedCents += cents;
      account.mayOwe = true;
    } else account.earlierRunsCents += cents;
    countBust(state, account.id);
  }
  return { isNew: true, settledTrades: 0, correctedTrades: settled.length, canceledOrders: 0 };
}

/** The payout of a result for the contracts that were held to it. */
function paidBy(trade: ModelTrade, result: MarketResult): Cents {
  const { contracts, costCents } = trade.lots.at(-1)!;
  if (result.outcome === 'void') return costCents;
  return contracts * (trade.boughtSide === 'yes' ? result.yesPayoutCents : result.noPayoutCents);
}

/** Cancels resting orders whose time has come, earliest first. */
export function expireOrders(state: ModelState, nowMs: EpochMs): void {
  const due = state.resting
    .filter((order) => order.expiresAtMs !== null && order.expiresAtMs <= nowMs)
    .sort((a, b) => a.expiresAtMs! - b.expiresAtMs! || a.sequence - b.sequence);
  for (const order of due) end(state, order, 'expired', 'expired');
}

/** Once a run: net worth below a dollar with nothing open and nothing resting. */
export function countBust(state: ModelState, id: Uuid): void {
  const account = accountOf(state, id);
  if (account.bustCountedInRun || account.balanceCents >= BUST_BELOW_CENTS) return;
  if (openTradesOf(state, id).length > 0 || restingOf(state, id).length > 0) return;
  account.bustCountedInRun = true;
  account.busts += 1;
}

export function stopResting(state: ModelState, order: ModelOrder): void {
  if (!state.resting.includes(order)) return;
  accountOf(state, order.account).balanceCents += holdCentsOf(order);
  state.resting = state.resting.filter((other) => other !== order);
}

/**
 * The order's id with the time of opening and another last bit. It is after the trade that its
 * account opened last at that moment: if it would not be, it gets that trade's 26 bits plus one.
 */
function tradeId(state: ModelState, order: ModelOrder): Uuid {
  const time = state.nowMs.toString(16).padStart(12, '0');
  const [, , third, fourth, fifth] = order.id.split('-') as [
    string,
    string,
    string,
    string,
    string,
  ];
  const tail = (BigInt(`0x${fifth}`) ^ 1n).toString(16).padStart(12, '0');
  const own = placeIn(third, fourth);
  const account = accountOf(state, order.account);
  const { lastTrade } = account;
  const isBehind = lastTrade === null || lastTrade.atMs !== state.nowMs || own > lastTrade.place;
  const place = isBehind ? own : Math.min(lastTrade.place + 1, 2 ** 26 - 1);
  account.lastTrade = { atMs: state.nowMs, place };
  const digits = (value: number) => value.toString(16).padStart(4, '0');
  const middle = `${digits(0x7000 + Math.floor(place / 2 ** 14))}-${digits(0x8000 + (place % 2 ** 14))}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${middle}-${tail}`;
}

function placeIn(third: string, fourth: string): number {
  const high = Number.parseInt(third.slice(1), 16);
  return high * 2 ** 14 + (Number.parseInt(fourth, 16) % 2 ** 14);
}

/** M14: a fee leaves the balance and is realized at once. */
function charge(state: ModelState, trade: ModelTrade, feeCents: Cents): void {
  const account = accountOf(state, trade.account);
  account.balanceCents -= feeCents;
  account.realizedCents -= feeCents;
  trade.feesCents = (trade.feesCents ?? 0) + feeCents;
}

function openTrade(state: ModelState, order: ModelOrder): ModelTrade {
  const trade: ModelTrade = {
    id: tradeId(state, order),
    account: order.account,
    instrumentId: order.instrumentId,
    instrumentSide: order.instrumentSide,
    market: order.market,
    boughtSide: order.marketSide,
    contracts: 0,
    costCents: 0,
    lots: [],
    feesCents: null,
    ...pick(order, TRADE_TERM_NAMES),
    fillVenue: order.fills[0]!.venue,
    openedAtMs: state.nowMs,
    parlay: null,
    combine: false,
    fillModel: order.fillModel,
    status: 'open',
    closedAtMs: null,
    closeReason: null,
    resolvedOutcome: null,
    resetsBefore: 0,
  };
  order.tradeId = trade.id;
  state.trades.set(trade.id, trade);
  return trade;
}

function buyInto(state: ModelState, trade: ModelTrade, contracts: Contracts, cents: Cents): void {
  accountOf(state, trade.account).balanceCents -= cents;
  trade.contracts += contracts;
  trade.costCents += cents;
}

function sellFrom(state: ModelState, trade: ModelTrade, contracts: Contracts, cents: Cents): void {
  // Their share of the cost, rounded down; the last contracts take the remainder.
  const shareCents = (BigInt(trade.costCents) * BigInt(contracts)) / BigInt(trade.contracts);
  part(state, trade, contracts, Number(shareCents), cents);
  if (trade.contracts > 0) return;
  trade.status = 'closed';
  trade.closeReason = 'sold';
  trade.closedAtMs = state.nowMs;
}

function settleTrade(state: ModelState, trade: ModelTrade, result: MarketResult): void {
  endByResult(trade, result);
  trade.resetsBefore = accountOf(state, trade.account).resetsAtMs.length;
  const payout = trade.boughtSide === 'yes' ? result.yesPayoutCents : result.noPayoutCents;
  const isVoid = result.outcome === 'void';
  closeTrade(state, trade, isVoid ? trade.costCents : payout * trade.contracts);
  countBust(state, trade.account);
}

function endByResult(trade: ModelTrade, { outcome }: MarketResult): void {
  const isVoid = outcome === 'void';
  trade.status = isVoid ? 'void' : 'settled';
  trade.closeReason = isVoid ? 'voided' : 'settled';
  trade.resolvedOutcome = null;
  if (outcome === 'void' || outcome === 'scalar') return;
  const held = outcome === trade.boughtSide;
  trade.resolvedOutcome = held ? trade.instrumentSide : oppositeSide(trade.instrumentSide);
}

export function closeTrade(state: ModelState, trade: ModelTrade, proceedsCents: Cents): void {
  part(state, trade, trade.contracts, trade.costCents, proceedsCents);
  trade.closedAtMs = state.nowMs;
}

/** Contracts leave a trade: their cost leaves the stake, their proceeds are cash. */
function part(
  state: ModelState,
  trade: ModelTrade,
  contracts: Contracts,
  costCents: Cents,
  proceedsCents: Cents,
): void {
  const account = accountOf(state, trade.account);
  trade.contracts -= contracts;
  trade.costCents -= costCents;
  trade.lots.push({ contracts, costCents, proceedsCents });
  account.balanceCents += proceedsCents;
  account.realizedCents += proceedsCents - costCents;
}
