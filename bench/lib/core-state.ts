/** The core without a disk: finished records are dropped, as after a checkpoint. */

import {
  type AccountRow,
  type EpochMs,
  type FillModelName,
  PLAIN,
  type PriceCents,
  type Side,
  type Uuid,
} from '../../engine/base/units.ts';
import { RecordIndex } from '../../engine/index/record-index.ts';
import type { RunStore } from '../../engine/index/run-store.ts';
import type { Event, OrderPlaced } from '../../engine/rules/events.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import { USUAL_TERMS } from '../../engine/rules/order-terms.ts';
import type { ShardState } from '../../engine/rules/state.ts';
import { createState, type StoredState } from '../../engine/shard/core/create-state.ts';
import { type FactLog, ShardRecords } from '../../engine/shard/core/shard-records.ts';
import { ASK_CENTS, catalogOf } from './catalog.ts';

/** The defaults. Rules T13, T80 (engine/RULES.md). */
export const CORE_CONFIG = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };

/** Stores nothing, so nothing can be read back. */
const NO_RUNS: RunStore = { get: () => undefined, put() {}, remove() {}, next: () => null };
const NO_LOG: FactLog = { payload: () => new Uint8Array(0), recordsFrom: () => [] };

function emptyRecords(log = NO_LOG): ShardRecords {
  return new ShardRecords(new RecordIndex(NO_RUNS, new Uint32Array(4)), log);
}

/** A state with a catalog of so many markets, and the finished records in `log`. */
export function coreState(
  markets: number,
  atMs: EpochMs,
  log?: FactLog,
  fillModel: FillModelName = 'top_of_book',
): StoredState {
  const state = createState({ ...CORE_CONFIG, fillModel }, emptyRecords(log));
  evolve(state, { kind: 'catalog_replaced', atMs, catalog: catalogOf(markets) });
  return state;
}

/** Removes ended orders and trades from memory, as at the end of a checkpoint. */
export function forgetRecords(state: StoredState): void {
  Object.assign(state, { records: emptyRecords() });
}

type Buy = { account: number; orderId: Uuid; market: number };
type Resting = Buy & { side: Side; priceLevel: PriceCents };

/** The event of a limit buy of one contract that rests at `price level` of its side's ladder. */
export function restedBuy(state: ShardState, atMs: EpochMs, order: Resting): OrderPlaced {
  const { account, orderId, market, side, priceLevel } = order;
  return {
    kind: 'order_placed',
    atMs,
    order: state.orders.nextRow,
    // Accounts open in the order of their numbers, so that the number is the row.
    account: account as AccountRow,
    orderId,
    idempotencyKey: orderId,
    market,
    instrument: market,
    side,
    instrumentSide: side,
    byTicker: false,
    contracts: 1,
    position: null,
    tradeId: null,
    terms: { ...USUAL_TERMS, limitPriceCents: priceLevel, timeInForce: 'gtc' },
    fillModel: 'top_of_book',
    feeEachMicros: null,
    netting: null,
    postOnly: false,
    group: null,
    ...PLAIN,
    rests: true,
  };
}

const AT_ASK = { priceCents: ASK_CENTS, venue: 0, cents: ASK_CENTS, feeCents: null };

/** The events of a market buy of one yes contract that fills. */
export function filledBuy(state: ShardState, atMs: EpochMs, buy: Buy): Event[] {
  const resting = restedBuy(state, atMs, { ...buy, side: 'yes', priceLevel: ASK_CENTS });
  const { order } = resting;
  return [
    { ...resting, terms: USUAL_TERMS, rests: false },
    { kind: 'order_filled', atMs, order, ...AT_ASK },
  ];
}
