/** What a result leads to: its market settles once. Rules S1 to S10, T140 (engine/RULES.md). */
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { sideOf } from './flags.ts';
import { invariant } from './invariant.ts';
import { costCents } from './ledger.ts';
import type { MarketResult, ResultTick, Settled } from './messages.ts';
import type { Book, Market } from './reference-data.ts';
import { booksOf, ordersOn } from './resting.ts';
import type { ShardState } from './state.ts';
import { type Cents, type EpochMs, HOME_VENUE, PAYOUT_CENTS } from './units.ts';

const HAD_ITS_RESULT: Settled = { isNew: false, settledTrades: 0, canceledOrders: 0 };

/** A venue_a result settles its market once, whatever arrives later. */
export function settle(
  state: ShardState,
  tick: Omit<ResultTick, 'kind' | 'source'>,
  facts: FactSink,
): Settled {
  const market = state.markets[tick.market]!;
  if (market.outcome !== null) return HAD_ITS_RESULT;
  const { atMs, outcome, yesPayoutCents, noPayoutCents } = tick;
  const { number } = market;
  invariant(isPayout(yesPayoutCents) && isPayout(noPayoutCents), 'a contract pays 0 to 100 cents');
  if (outcome === 'scalar') {
    const payouts = { yesPayoutCents, noPayoutCents };
    emit(state, facts, { kind: 'market_valued', atMs, market: number, ...payouts });
  }
  emit(state, facts, { kind: 'market_resolved', atMs, market: number, outcome });
  if (market.venue !== HOME_VENUE) return { isNew: true, settledTrades: 0, canceledOrders: 0 };
  let canceledOrders = 0;
  for (const book of booksOf(market)) {
    if (book.market === market) canceledOrders += cancelAll(state, book, atMs, facts);
  }
  const settledTrades = state.positionsOfMarket.count(number);
  for (const position of [...state.positionsOfMarket.of(market.number)]) {
    const { col } = state.positions;
    const payout = sideOf(col.flags.get(position)) === 'yes' ? yesPayoutCents : noPayoutCents;
    const proceedsCents =
      outcome === 'void'
        ? col.costCents.get(position)
        : costCents(payout, col.contracts.get(position));
    emit(state, facts, { kind: 'position_settled', atMs, position, proceedsCents, outcome });
  }
  const isOver = state.positionsOfMarket.count(number) === 0;
  invariant(isOver, 'a market has settled and somebody still holds a position in it');
  return { isNew: true, settledTrades, canceledOrders };
}

function isPayout(cents: Cents): boolean {
  return Number.isInteger(cents) && cents >= 0 && cents <= PAYOUT_CENTS;
}

/** @returns how many orders it cancels. */
function cancelAll(state: ShardState, book: Book, atMs: EpochMs, facts: FactSink): number {
  const resting = [...ordersOn(state, book)];
  for (const order of resting) {
    emit(state, facts, {
      kind: 'order_ended',
      atMs,
      order,
      status: 'canceled',
      reason: 'market_resolved',
    });
  }
  return resting.length;
}

/** A cancelled game voids every market of its instruments that has no result. */
export function voidGame(state: ShardState, slug: string, atMs: EpochMs, facts: FactSink): void {
  for (const instrument of state.instruments) {
    if (instrument.entry?.gameSlug !== slug) continue;
    for (const { market } of instrument.listings) {
      if (market.venue !== HOME_VENUE) continue;
      settle(state, { ...VOID, atMs, market: market.number }, facts);
    }
  }
}

const VOID = { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 } as const;

/** The result that settled a market; null: it has none. */
export function resultOf({ outcome, payouts }: Market): MarketResult | null {
  switch (outcome) {
    case null:
      return null;
    case 'yes':
      return { outcome, yesPayoutCents: PAYOUT_CENTS, noPayoutCents: 0 };
    case 'no':
      return { outcome, yesPayoutCents: 0, noPayoutCents: PAYOUT_CENTS };
    case 'void':
      return { outcome, yesPayoutCents: 0, noPayoutCents: 0 };
    case 'scalar':
      invariant(payouts !== null, 'a scalar market has no value');
      return { outcome, ...payouts };
    default:
      return outcome satisfies never;
  }
}
