/** The effect of an order: it is placed in a copy of everything, which is then thrown away. */

import { type EpochMs, type MarketNumber, START_BALANCE_CENTS } from '../../engine/base/units.ts';
import type { PlaceOrder, Reply } from '../../engine/rules/messages.ts';
import type { PreviewQuery } from '../../engine/rules/queries.ts';
import { freedBy, holdCentsOf } from './naive-ledger.ts';
import { place } from './naive-orders.ts';
import { averageOf } from './naive-prices.ts';
import { type ModelOrder, type ModelState, marketOf } from './naive-state.ts';
import { targetOf } from './naive-targets.ts';
import { answer, tickerOf } from './naive-views.ts';

const WOULD = { resting: 'rest', executed: 'execute', canceled: 'cancel', expired: 'cancel' };

export function preview(state: ModelState, { order }: PreviewQuery, nowMs: EpochMs): Reply {
  const trial = structuredClone(state);
  trial.nowMs = nowMs;
  if (!state.venueData) return hidden(trial, order);
  const target = targetOf(trial, order);
  const market = typeof target === 'string' ? null : target.market;
  const reply = place(trial, { ...order, idempotencyKey: 'never used' });
  const latencyMs = latencyOf(order);
  if (latencyMs !== null && reply.ok) {
    const holdCents = holdCentsOf(trial.orders.get(order.orderId)!);
    const atOnce = { ...order, realism: { ...order.realism!, latencyMs: { min: 0, max: 0 } } };
    const again = preview(state, { kind: 'preview', atMs: nowMs, order: atOnce }, nowMs);
    const now = again.ok ? JSON.parse(again.body) : {};
    const would = now.would === 'refuse' ? 'cancel' : now.would;
    return answer({ ...now, would, code: null, holdCents, latencyMs });
  }
  const placed = reply.ok ? trial.orders.get(order.orderId)! : null;
  const fills = placed?.fills ?? [];
  const [first = null] = fills;
  const { contracts, priceCents } = averageOf(order.action, fills);
  const fill = first && { contracts, priceCents, venue: first.venue };
  const feeCents = fills.reduce((sum, one) => sum + (one.feeCents ?? 0), 0);
  return answer({
    would: placed === null ? 'refuse' : WOULD[placed.status],
    code: reply.ok ? null : reply.code,
    fill,
    costCents: placed === null ? 0 : costCentsOf(trial, placed),
    holdCents: placed === null ? 0 : holdCentsOf(placed),
    feeCents: first?.feeCents == null ? null : feeCents,
    ticker: market === null ? null : tickerOf(state, market),
    quoteAgeMs: market === null ? null : quoteAgeMs(state, market, nowMs),
    latencyMs,
    venueData: state.venueData,
  });
}

/** As if no market had a price, if a market order is not refused for that. */
function hidden(trial: ModelState, order: PlaceOrder): Reply {
  for (const market of trial.markets.values()) market.quote = null;
  const least = leastCentsOf(trial, order);
  const reply = place(trial, { ...order, idempotencyKey: 'never used' });
  const placed = reply.ok ? trial.orders.get(order.orderId)! : null;
  const spendable = trial.accounts.get(order.account)?.balanceCents ?? START_BALANCE_CENTS;
  const isTooMany = order.action === 'buy' && least > spendable && least !== 0;
  const unpriced = isTooMany ? 'insufficient_balance' : null;
  return answer({
    would: null,
    code: reply.ok ? null : reply.code === 'no_liquidity' ? unpriced : reply.code,
    fill: null,
    costCents: 0,
    holdCents: placed === null ? 0 : holdCentsOf(placed),
    feeCents: null,
    ticker: null,
    quoteAgeMs: null,
    latencyMs: latencyOf(order),
    venueData: false,
  });
}

/** A contract costs a cent at least, and what is closed costs nothing. */
function leastCentsOf(state: ModelState, order: PlaceOrder): number {
  const target = order.netting === null ? '' : targetOf(state, order);
  if (typeof target === 'string') return order.contracts ?? 0;
  const opens = target.contracts - target.netting!.closes;
  return opens === 0 ? 0 : opens - freedBy(state, { ...target, account: order.account });
}

function latencyOf({ realism }: PlaceOrder) {
  return realism === null || realism.latencyMs.max === 0 ? null : realism.latencyMs;
}

function costCentsOf({ trades }: ModelState, { action, fills, netting, opened }: ModelOrder) {
  if (action === 'sell') return 0;
  // It has opened one trade at most, at once.
  if (netting !== null) return opened === null ? 0 : trades.get(opened)!.costCents;
  return fills.reduce((total, { cents }) => total + cents, 0);
}

function quoteAgeMs(state: ModelState, market: MarketNumber, nowMs: EpochMs): number | null {
  const { quote } = marketOf(state, market);
  if (quote === null) return null;
  const { lastHeardMs, timesDown } = state.sources.get(quote.source)!;
  return timesDown === quote.timesDownThen ? Math.max(0, nowMs - lastHeardMs) : null;
}
