/**
 * An account as the venue shows it: orders with their fills, positions netted by market,
 * settlements. It is folded of the account's trail, whose every number the engine's facts have. Rules
 * A210, A219 (api/RULES.md).
 */
import {
  type Cents,
  type Contracts,
  type EpochMs,
  type MarketNumber,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
  type Uuid,
} from '../../../engine/base/units.ts';
import type {
  TrailAmended,
  TrailCorrected,
  TrailEnded,
  TrailEntry,
  TrailFill,
  TrailGroup,
  TrailOver,
  TrailPaired,
  TrailPlaced,
} from '../../../engine/readers/account-trail.ts';
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import { idOf } from './markets.ts';

/** In the venue's words a buy of yes, or a sale of no, is a bid; the others are asks. */
export type BookSide = 'bid' | 'ask';

export type LedgerOrder = {
  id: Uuid;
  clientOrderId: string;
  market: MarketNumber;
  side: BookSide;
  /** As it was placed, of the side that it traded. */
  action: 'buy' | 'sell';
  outcome: Side;
  /** Of yes; null: a market order. */
  yesCents: PriceCents | null;
  contracts: Contracts;
  filled: Contracts;
  status: 'resting' | 'executed' | 'canceled';
  reason: string | null;
  takerCents: Cents;
  makerCents: Cents;
  takerFeeCents: Cents;
  makerFeeCents: Cents;
  placedAtMs: EpochMs;
  updatedAtMs: EpochMs;
  expiresAtMs: EpochMs | null;
  aheadE2: number | null;
  /** The side whose price its fills have: the one that it buys, or sells of one's own. */
  pricedIn: Side;
  /** It sells of a trade, and nets nothing. */
  sells: boolean;
  group: Uuid | null;
};

export type LedgerFill = {
  id: string;
  order: Uuid;
  clientOrderId: string;
  market: MarketNumber;
  side: BookSide;
  action: 'buy' | 'sell';
  outcome: Side;
  atMs: EpochMs;
  contracts: Contracts;
  yesCents: PriceCents;
  feeCents: Cents;
  isTaker: boolean;
  /** The position of its market after it. */
  positionAfter: number;
};

/** Of one market, over all trades. */
export type LedgerPosition = {
  market: MarketNumber;
  /** Of yes less those of no. */
  contracts: number;
  costCents: Cents;
  /** Of what was sold or has ended, less its fees. */
  realizedCents: Cents;
  feesCents: Cents;
  /** Of fees, the part of contracts that are held. */
  tradedCents: Cents;
  tradedContracts: Contracts;
  updatedAtMs: EpochMs;
};

export type LedgerSettlement = {
  market: MarketNumber;
  outcome: MarketOutcome;
  yes: { contracts: Contracts; costCents: Cents };
  no: { contracts: Contracts; costCents: Cents };
  revenueCents: Cents;
  feesCents: Cents;
  atMs: EpochMs;
};

/** What an entry of the trail has changed. */
export type LedgerChange =
  | { kind: 'order'; order: LedgerOrder }
  | { kind: 'fills'; order: LedgerOrder; fills: LedgerFill[] }
  | { kind: 'position'; position: LedgerPosition }
  | TrailGroup;

type Holding = {
  market: MarketNumber;
  side: Side;
  contracts: Contracts;
  costCents: Cents;
  soldCents: Cents;
  feesCents: Cents;
};

/** The key of a change whose caller gave it none begins so: the order keeps its client's id. */
export const UNNAMED_CHANGE = 'amend-';

/** Older ones are forgotten; orders that rest are not. */
const KEPT_MAX = 50_000;

export class Ledger {
  readonly #orders = new Map<Uuid, LedgerOrder>();
  #fills: LedgerFill[] = [];
  readonly #holdings = new Map<Uuid, Holding>();
  readonly #positions = new Map<MarketNumber, LedgerPosition>();
  readonly #settlements = new Map<string, LedgerSettlement>();
  /** Of trades that a result has ended. */
  readonly #settled = new Map<
    Uuid,
    { settlement: LedgerSettlement; revenueCents: Cents; soldCents: Cents }
  >();
  readonly #onChange: (change: LedgerChange) => void;

  constructor(onChange: (change: LedgerChange) => void) {
    this.#onChange = onChange;
  }

  /** Newest first. */
  orders(): LedgerOrder[] {
    return [...this.#orders.values()].reverse();
  }

  order(id: Uuid): LedgerOrder | undefined {
    return this.#orders.get(id);
  }

  /** Newest first. */
  fills(): LedgerFill[] {
    return this.#fills.toReversed();
  }

  /** Of every market that was ever traded, by the order of their first trade. */
  positions(): LedgerPosition[] {
    return [...this.#positions.values()];
  }

  position(market: MarketNumber): LedgerPosition | undefined {
    return this.#positions.get(market);
  }

  /** Newest first. */
  settlements(): LedgerSettlement[] {
    return [...this.#settlements.values()].reverse();
  }

  take(entries: readonly TrailEntry[]): void {
    for (const entry of entries) this.#take(entry);
  }

  #take(entry: TrailEntry): void {
    switch (entry.kind) {
      case 'placed':
        return this.#placed(entry);
      case 'fill':
        return this.#filled(entry);
      case 'ended':
        return this.#ended(entry);
      case 'over':
        return this.#over(entry);
      case 'corrected':
        return this.#corrected(entry);
      case 'amended':
        return this.#amended(entry);
      case 'paired':
        return this.#paired(entry);
      case 'group':
        return this.#onChange(entry);
      case 'queued': {
        const order = this.#orders.get(entry.order);
        if (order !== undefined) order.aheadE2 = entry.aheadE2;
        return;
      }
      default:
        entry satisfies never;
    }
  }

  #placed(entry: TrailPlaced): void {
    const { order: id, idempotencyKey, market, action, side, contracts, atMs } = entry;
    const bid = (action === 'buy') === (side === 'yes');
    const { limitPriceCents, expiresAtMs, closesOnly, group } = entry;
    // It buys the other side only to close what is held: the venue shows the sale that it is.
    const shown = closesOnly
      ? ({ action: 'sell', outcome: side === 'yes' ? 'no' : 'yes' } as const)
      : { action, outcome: side };
    const order: LedgerOrder = {
      ...{ id, clientOrderId: idempotencyKey, market, side: bid ? 'bid' : 'ask' },
      ...shown,
      ...{
        yesCents: limitPriceCents === null ? null : ofYes(side, limitPriceCents),
      },
      ...{ contracts, filled: 0, status: 'resting', reason: null },
      ...{ takerCents: 0, makerCents: 0, takerFeeCents: 0, makerFeeCents: 0 },
      ...{ placedAtMs: atMs, updatedAtMs: atMs, expiresAtMs, aheadE2: null },
      ...{ pricedIn: side, sells: action === 'sell', group },
    };
    this.#orders.set(id, order);
    this.#forgetOldOrders();
    this.#onChange({ kind: 'order', order });
  }

  #filled(entry: TrailFill): void {
    const order = this.#orders.get(entry.order);
    if (order === undefined) return;
    const { atMs, contracts, cents, isTaker, isLast } = entry;
    const feeCents = entry.feeCents ?? 0;
    const position = this.#positionOf(order.market);
    this.#hold(entry, order, position, feeCents);
    order.filled += contracts;
    order.updatedAtMs = atMs;
    if (isTaker) {
      order.takerCents += cents;
      order.takerFeeCents += feeCents;
    } else {
      order.makerCents += cents;
      order.makerFeeCents += feeCents;
    }
    if (isLast) order.status = 'executed';
    position.feesCents += feeCents;
    position.tradedCents += cents;
    position.tradedContracts += contracts;
    position.updatedAtMs = atMs;
    const fills = fillsOf(entry, order, position.contracts);
    this.#fills.push(...fills);
    if (this.#fills.length > 2 * KEPT_MAX) this.#fills = this.#fills.slice(-KEPT_MAX);
    this.#onChange({ kind: 'fills', order, fills });
    this.#onChange({ kind: 'order', order });
    this.#onChange({ kind: 'position', position });
  }

  /** What is held after a fill, at which cost. */
  #hold(entry: TrailFill, order: LedgerOrder, position: LedgerPosition, feeCents: Cents): void {
    const { trade, contracts, cents, nets } = entry;
    let held = this.#holdings.get(trade);
    const closes = nets === null ? order.sells : nets === 'closes';
    if (!closes) {
      if (held === undefined) {
        const { market, pricedIn: side } = order;
        held = { market, side, contracts: 0, costCents: 0, soldCents: 0, feesCents: 0 };
        this.#holdings.set(trade, held);
      }
      held.contracts += contracts;
      held.costCents += cents;
      held.feesCents += feeCents;
      position.contracts += held.side === 'yes' ? contracts : -contracts;
      position.costCents += cents;
      position.realizedCents -= feeCents;
      return;
    }
    if (held === undefined) return;
    held.feesCents += feeCents;
    // To buy the other side at a price is to sell this one at what is left of a dollar.
    const proceedsCents = order.sells ? cents : PAYOUT_CENTS * contracts - cents;
    this.#sold(trade, held, contracts, proceedsCents);
    position.realizedCents -= feeCents;
  }

  /** Contracts of a trade are gone for so much. A part of a trade has that part of its cost. */
  #sold(trade: Uuid, held: Holding, contracts: Contracts, proceedsCents: Cents): void {
    const position = this.#positionOf(held.market);
    const isAll = contracts === held.contracts;
    const costCents = isAll
      ? held.costCents
      : Math.floor((held.costCents * contracts) / held.contracts);
    held.contracts -= contracts;
    held.costCents -= costCents;
    held.soldCents += proceedsCents;
    position.contracts -= held.side === 'yes' ? contracts : -contracts;
    position.costCents -= costCents;
    position.realizedCents += proceedsCents - costCents;
    if (isAll) this.#holdings.delete(trade);
  }

  #paired({ trade, contracts, cents, atMs }: TrailPaired): void {
    const held = this.#holdings.get(trade);
    if (held === undefined) return;
    this.#sold(trade, held, contracts, cents);
    const position = this.#positionOf(held.market);
    position.updatedAtMs = atMs;
    this.#onChange({ kind: 'position', position });
  }

  #amended({ order: id, atMs, idempotencyKey, contracts, limitPriceCents }: TrailAmended): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    order.contracts = contracts;
    order.yesCents = ofYes(order.pricedIn, limitPriceCents);
    order.updatedAtMs = atMs;
    if (!idempotencyKey.startsWith(UNNAMED_CHANGE)) order.clientOrderId = idempotencyKey;
    this.#onChange({ kind: 'order', order });
  }

  #ended({ order: id, atMs, status, reason }: TrailEnded): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    order.status = status === 'executed' ? 'executed' : 'canceled';
    order.reason = reason;
    order.updatedAtMs = atMs;
    this.#onChange({ kind: 'order', order });
  }

  #over({ trade, market, outcome, proceedsCents, atMs }: TrailOver): void {
    const held = this.#holdings.get(trade);
    if (held === undefined) return;
    this.#holdings.delete(trade);
    const position = this.#positionOf(market);
    const { side, contracts, costCents, soldCents, feesCents } = held;
    const revenueCents = proceedsCents - soldCents;
    position.contracts -= side === 'yes' ? contracts : -contracts;
    position.costCents -= costCents;
    position.realizedCents += revenueCents - costCents;
    position.updatedAtMs = atMs;
    if (outcome !== null) {
      const settlement = this.#settlementOf(market, outcome, atMs);
      settlement[side].contracts += contracts;
      settlement[side].costCents += costCents;
      settlement.revenueCents += revenueCents;
      settlement.feesCents += feesCents;
      this.#settled.set(trade, { settlement, revenueCents, soldCents });
      if (this.#settled.size > KEPT_MAX) deleteOldest(this.#settled);
    }
    this.#onChange({ kind: 'position', position });
  }

  #corrected({ trade, market, to, proceedsCents }: TrailCorrected): void {
    const settled = this.#settled.get(trade);
    if (settled === undefined) return;
    const { settlement, soldCents } = settled;
    const movedCents = proceedsCents - soldCents - settled.revenueCents;
    settled.revenueCents += movedCents;
    settlement.revenueCents += movedCents;
    settlement.outcome = to;
    const position = this.#positionOf(market);
    position.realizedCents += movedCents;
    this.#onChange({ kind: 'position', position });
  }

  /** Trades of one market that one result ends are one settlement. */
  #settlementOf(market: MarketNumber, outcome: MarketOutcome, atMs: EpochMs): LedgerSettlement {
    const name = `${market} ${atMs}`;
    let settlement = this.#settlements.get(name);
    if (settlement === undefined) {
      const none = () => ({ contracts: 0, costCents: 0 });
      settlement = {
        ...{ market, outcome, yes: none(), no: none(), revenueCents: 0, feesCents: 0, atMs },
      };
      this.#settlements.set(name, settlement);
      if (this.#settlements.size > KEPT_MAX) deleteOldest(this.#settlements);
    }
    return settlement;
  }

  #positionOf(market: MarketNumber): LedgerPosition {
    let position = this.#positions.get(market);
    if (position === undefined) {
      position = {
        ...{ market, contracts: 0, costCents: 0, realizedCents: 0, feesCents: 0 },
        ...{ tradedCents: 0, tradedContracts: 0, updatedAtMs: 0 },
      };
      this.#positions.set(market, position);
    }
    return position;
  }

  #forgetOldOrders(): void {
    if (this.#orders.size <= 2 * KEPT_MAX) return;
    let left = this.#orders.size - KEPT_MAX;
    for (const [id, { status }] of this.#orders) {
      if (left-- <= 0) return;
      if (status !== 'resting') this.#orders.delete(id);
    }
  }
}

/** A price of a side, as the price of yes. */
export function ofYes(side: Side, cents: PriceCents): PriceCents {
  return side === 'yes' ? cents : PAYOUT_CENTS - cents;
}

/** The venue has a fill for each level that an order takes. The first has the cents that divide by none. */
function fillsOf(entry: TrailFill, order: LedgerOrder, positionAfter: number): LedgerFill[] {
  const { number, atMs, contracts, priceCents, isTaker, levels } = entry;
  const taken = levels.length > 0 ? levels : [[priceCents, contracts] as const];
  const sign = order.side === 'bid' ? 1 : -1;
  const feeCents = entry.feeCents ?? 0;
  const shares = taken.map(([, size]) => Math.trunc((feeCents * size) / contracts));
  shares[0]! += feeCents - shares.reduce((sum, share) => sum + share, 0);
  let left = contracts;
  return taken.map(([cents, size], at): LedgerFill => {
    left -= size;
    return {
      id: idOf(`fill ${order.id} ${number} ${at}`),
      ...{ order: order.id, clientOrderId: order.clientOrderId, market: order.market },
      ...{ side: order.side, action: order.action, outcome: order.outcome, atMs, contracts: size },
      ...{ yesCents: ofYes(order.pricedIn, cents), feeCents: shares[at]!, isTaker },
      positionAfter: positionAfter - sign * left,
    };
  });
}

function deleteOldest(kept: Map<unknown, unknown>): void {
  const [oldest] = kept.keys();
  kept.delete(oldest);
}
