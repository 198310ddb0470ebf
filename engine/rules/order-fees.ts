/**
 * The fees that an order pays: of a fill now, and the most that it may still pay. Rules M14 to M18
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { Cents, Contracts, EpochMs, OrderRow, PriceCents } from '../base/units.ts';
import type { FillFee } from './events.ts';
import type { Micros } from './exact.ts';
import type { FeeTable } from './fee-table.ts';
import {
  type FeeEntry,
  kalshiTradeFee,
  polymarketFee,
  polymarketUsFees,
  type VenueFill,
} from './fees.ts';
import { isBuy } from './flags.ts';
import type { DepthLevel } from './messages.ts';
import { remainingOf } from './partial-fills.ts';
import type { Instrument, Market } from './reference-data.ts';
import type { ShardState } from './state.ts';
import { heldCentsAt } from './waiting-terms.ts';

const CENT_MICROS = 10_000;
const CENT_E4 = 100;
const CONTRACT_E2 = 100;
/** A contract is most expensive in fees at this price. */
const DEAREST_CENTS = 50;

type FeeRole = VenueFill['role'];

/** What a fill takes: its market, and contracts at prices; a price or its complement, by choice. */
type ChargedFill = { market: Market; levels: readonly DepthLevel[]; role: FeeRole };

/**
 * The fee of a fill of an order that was charged `carryMicros` beyond its venue's fees so far. In
 * whole cents: after each fill an order has paid its venue's fees so far, rounded up. Rule M16.
 */
export function fillFee(
  table: FeeTable,
  { market, levels, role }: ChargedFill,
  { carryMicros, atMs }: { carryMicros: number; atMs: EpochMs },
): FillFee {
  const entry = table.entryOf(market, atMs);
  return chargedFee(entry, levelFees(entry, levels, role), carryMicros);
}

/** What the venue charges for each level of a fill, by a line of its table. Rule T170. */
export function levelFees(entry: FeeEntry, levels: ChargedFill['levels'], role: FeeRole): Micros[] {
  const fills = levels.map(([cents, contracts]) => fillAt(cents, contracts, role));
  // This venue counts the fills of a taker's order together.
  if (entry.schedule === 'polymarket_us') return polymarketUsFees(entry, fills);
  return fills.map((fill) => finerFee(entry, fill));
}

/** What an order pays of the fees of a fill's levels. Rule M16. */
export function chargedFee(
  { schedule }: FeeEntry,
  ofLevels: readonly Micros[],
  carryMicros: number,
): FillFee {
  // The venue itself charges whole cents.
  if (schedule === 'polymarket_us') return { cents: sumOf(ofLevels) / CENT_MICROS, carryMicros };
  const owed = sumOf(ofLevels) - carryMicros;
  const cents = Math.ceil(owed / CENT_MICROS) + 0;
  return { cents, carryMicros: cents * CENT_MICROS - owed };
}

/** The fee of a venue that charges less than a cent. */
function finerFee(entry: FeeEntry, fill: VenueFill): number {
  return entry.schedule === 'kalshi' ? kalshiTradeFee(entry, fill) : polymarketFee(entry, fill);
}

function fillAt(cents: PriceCents, contracts: Contracts, role: FeeRole): VenueFill {
  return { priceE4: cents * CENT_E4, contractsE2: contracts * CONTRACT_E2, role };
}

function sumOf(micros: readonly number[]): number {
  const sum = micros.reduce((total, one) => total + one, 0);
  invariant(Number.isSafeInteger(sum), 'a fee is too large to count');
  return sum;
}

/**
 * The most that a contract of a buy that waits may cost in fees, in millionths of a dollar: as a
 * taker or a maker, at any price up to `limitCents`, at any venue that may price it. Rule M15.
 */
export function worstEachMicros(
  table: FeeTable,
  { market, routed }: { market: Market; routed: Instrument | null },
  limitCents: PriceCents,
  atMs: EpochMs,
): number {
  const others = (routed?.listings ?? []).filter(({ eligible }) => eligible);
  const markets = new Set([market, ...others.map((listing) => listing.market)]);
  const cents = Math.min(limitCents, DEAREST_CENTS);
  let worst = 0;
  for (const one of markets) {
    const entry = table.entryOf(one, atMs);
    for (const role of ['taker', 'maker'] as const) {
      worst = Math.max(worst, kalshiTradeFee(entry, fillAt(cents, 1, role)));
    }
  }
  return worst;
}

/**
 * The fee of a fill of an order that waits, or has just arrived; null: it pays none. A buy pays no
 * more than its hold for these contracts and the balance leave: a newer table may charge more than
 * is held. Rules M14, M17.
 */
export function waitingFee(
  state: ShardState,
  order: OrderRow,
  { market, levels, role, traded }: WaitingFill,
  atMs: EpochMs,
): FillFee | null {
  const { orderFees, fees, orders, accounts } = state;
  if (!orderFees.has(order)) return null;
  const carryMicros = orderFees.carryMicros(order);
  const fee = fillFee(fees, { market, levels, role }, { carryMicros, atMs });
  if (fee.cents <= 0 || !isBuy(orders.col.flags.get(order))) return fee;
  const left = remainingOf(state, order);
  const after = left - traded.contracts;
  const released =
    heldCentsAt(state, order, left) -
    heldCentsAt(state, order, after, after === 0 ? 0 : fee.carryMicros);
  const balanceCents = accounts.col.balanceCents.get(orders.col.account.get(order));
  const most = released - traded.cents + Math.max(0, balanceCents);
  return fee.cents <= most ? fee : { ...fee, cents: most };
}

type WaitingFill = ChargedFill & { traded: { contracts: Contracts; cents: Cents } };
