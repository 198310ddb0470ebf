/**
 * What the log knows of the fills of an order: what it took or waited for, and how old the prices
 * were. A receipt shows it. Rules T186 to T189 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Action,
  type Cents,
  type Contracts,
  type ContractsE2,
  type EpochMs,
  type FillModelName,
  HOME_VENUE,
  type MarketNumber,
  type PriceCents,
  type Uuid,
  VENUES,
  type Venue,
} from '../base/units.ts';
import { ByteWriter } from '../format/bytes.ts';
import { KIND } from '../format/fact-layouts.ts';
import type { LogRecord } from '../log/log-format.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import type { FillNoted } from '../rules/events.ts';
import type {
  Fact,
  OrderFilledFact,
  OrderPartFilledFact,
  OrderPlacedFact,
  QueueMetFact,
} from '../rules/facts.ts';
import { UNKNOWN_AHEAD } from '../rules/queue-fills.ts';
import type { CatalogNaming } from '../rules/reference-data.ts';
import { type AccountLog, has, uuidBytes } from './account-log.ts';
import { factsIn } from './read-facts.ts';

/** Of an order, or of the order that opened a trade. */
export type ReceiptQuestion = { account: Uuid; of: { order: Uuid } | { trade: Uuid } };

export type OrderReceipt = {
  orderId: Uuid;
  /** That it opened, or sold of; null: it has not traded. */
  tradeId: Uuid | null;
  action: Action;
  market: MarketNumber;
  /** Null: an earlier program placed it. */
  model: FillModelName | null;
  latencyMs: number;
  acceptedAtMs: EpochMs;
  /** Null: it has not met the book. */
  arrivedAtMs: EpochMs | null;
  fills: ReceiptFill[];
};

export type ReceiptFill = {
  atMs: EpochMs;
  contracts: Contracts;
  priceCents: PriceCents;
  liquidity: 'maker' | 'taker';
  venue: Venue;
  /** What it took, best first; null: it waited in a queue. */
  levels: FillNoted['levels'] | null;
  /** Null: it was not filled in a queue. */
  queue: {
    /** Null: nobody knew the book then. */
    aheadAtArrivalE2: ContractsE2 | null;
    aheadBeforeE2: ContractsE2 | null;
    /** What met it since its last fill. */
    prints: { atMs: EpochMs; contractsE2: ContractsE2 }[];
  } | null;
  /** Null: an earlier program filled it. */
  quoteAgeMs: number | null;
  /** How long nobody knew its book while it waited; null: its model does not need the book. */
  gapsMs: number | null;
  /** Null: the order pays none. */
  fee: ReceiptFee | null;
};

type ReceiptFee = {
  cents: Cents;
  /** What the order had paid beyond its venue's fees before. Rule M16. */
  paidBeforeMicros: number;
  /** At the fill's venue; null: the catalog does not name it any more. */
  venueMarketId: string | null;
};

/** So many bytes of the log are read before others have their turn. */
const SLICE_BYTES = 4 * 2 ** 20;
/** The record of a fact was closed at most so long after it. */
const RECORD_MS = 60_000;

/** Null: the account has no such order, or no such trade. */
export async function readReceipt(
  log: AccountLog,
  { account, of }: ReceiptQuestion,
  others: () => Promise<unknown>,
): Promise<OrderReceipt | null> {
  const order = 'order' in of ? of.order : await orderOf(log, account, of.trade, others);
  if (order === null) return null;
  const sources = [log.recordsFrom(uuidTimeMs(order)), log.allRecords()];
  // If the clock was set back since, the order is earlier in the log.
  for (const [nth, records] of sources.entries()) {
    const found = new Found(account, order);
    const untilMs = nth === 0 ? uuidTimeMs(order) + RECORD_MS : Number.POSITIVE_INFINITY;
    for await (const record of inTurns(records, others)) {
      if (!found.isPlaced && record.atMs > untilMs) break;
      if (found.take(record)) break;
    }
    const receipt = found.receipt(log.names);
    if (receipt !== null) return receipt;
  }
  return null;
}

/** The order that opened a trade. Its id has the time of opening. Rule T7. */
async function orderOf(
  log: AccountLog,
  account: Uuid,
  trade: Uuid,
  others: () => Promise<unknown>,
): Promise<Uuid | null> {
  const bytes = uuidBytes(trade);
  const openedAtMs = uuidTimeMs(trade);
  const sources = [log.recordsFrom(openedAtMs), log.allRecords()];
  for (const [nth, records] of sources.entries()) {
    const untilMs = nth === 0 ? openedAtMs + RECORD_MS : Number.POSITIVE_INFINITY;
    for await (const record of inTurns(records, others)) {
      if (record.atMs > untilMs) break;
      if (!has(record, bytes)) continue;
      for (const { fact } of factsIn(record)) {
        if (fact.kind !== 'trade_opened' || fact.trade !== trade) continue;
        return fact.account === account ? fact.order : null;
      }
    }
  }
  return null;
}

async function* inTurns(records: Iterable<LogRecord>, others: () => Promise<unknown>) {
  let read = 0;
  for (const record of records) {
    yield record;
    read += record.payload.length;
    if (read < SLICE_BYTES) continue;
    read = 0;
    await others();
  }
}

type Fill = OrderFilledFact | OrderPartFilledFact;
type Told = { fill: Fill; note: FillNoted | null; met: QueueMetFact[]; isAtArrival: boolean };

/** The facts of one order, as they are met in the log. */
class Found {
  readonly #account: Uuid;
  readonly #order: Uuid;
  readonly #orderBytes: Buffer;
  #gapBytes: Buffer | null = null;
  #placed: OrderPlacedFact | null = null;
  /** Whether the facts still tell of its placement. */
  #isArriving = false;
  #arrivedAtMs: EpochMs | null = null;
  /** Undefined: it is in no queue so far. */
  #aheadAtArrivalE2: ContractsE2 | null | undefined = undefined;
  #met: QueueMetFact[] = [];
  readonly #fills: Told[] = [];
  readonly #gaps: { fromMs: EpochMs; atMs: EpochMs }[] = [];
  #tradeId: Uuid | null = null;
  #hasEnded = false;
  /** It nets, so one fill may be several facts. */
  #nets = false;
  /** The fill that the facts tell of now, if it is one of this order. */
  #telling: Told | null = null;

  constructor(account: Uuid, order: Uuid) {
    this.#account = account;
    this.#order = order;
    this.#orderBytes = uuidBytes(order);
  }

  get isPlaced(): boolean {
    return this.#placed !== null;
  }

  /** @returns whether nothing about it can follow */
  take(record: LogRecord): boolean {
    const isOfIts =
      has(record, this.#orderBytes) || (this.#gapBytes !== null && has(record, this.#gapBytes));
    if (!isOfIts) return false;
    for (const { fact } of factsIn(record)) this.#take(fact);
    this.#isArriving = false;
    return this.#hasEnded;
  }

  #take(fact: Fact): void {
    if (fact.kind === 'book_missed') {
      if (fact.market === this.#placed?.market && !this.#hasEnded) this.#gaps.push(fact);
      return;
    }
    if (fact.kind === 'fill_noted') {
      if (this.#telling !== null) this.#telling.note = fact;
      return;
    }
    if ('account' in fact && fact.account !== this.#account) this.#isArriving = false;
    if (fact.kind === 'order_filled' || fact.kind === 'order_part_filled') this.#telling = null;
    if (!('order' in fact) || fact.order !== this.#order) return;
    switch (fact.kind) {
      case 'order_placed':
        this.#placed = fact;
        this.#nets = fact.netting !== null;
        this.#isArriving = true;
        if (fact.latencyMs === 0) this.#arrivedAtMs = fact.atMs;
        this.#gapBytes = gapBytes(fact.market);
        return;
      case 'order_arrived':
        this.#arrivedAtMs = fact.atMs;
        this.#isArriving = true;
        return;
      case 'order_amended':
        if (fact.keepsPlace) return;
        // It meets the book again, and joins another queue.
        this.#arrivedAtMs = this.#placed?.latencyMs === 0 ? fact.atMs : null;
        this.#isArriving = true;
        this.#aheadAtArrivalE2 = undefined;
        this.#met = [];
        return;
      case 'order_queued':
        // The first one is of its arrival.
        if (this.#aheadAtArrivalE2 === undefined) this.#aheadAtArrivalE2 = known(fact.aheadE2);
        this.#isArriving = false;
        return;
      case 'queue_met':
        this.#met.push(fact);
        return;
      case 'order_filled':
      case 'order_part_filled': {
        // The parts of a netting order's fill share what met it.
        const last = this.#fills.at(-1);
        const isSame = this.#met.length === 0 && last?.fill.atMs === fact.atMs && this.#nets;
        const met = isSame ? last!.met : this.#met;
        this.#met = [];
        this.#tradeId = fact.trade;
        this.#telling = { fill: fact, note: null, met, isAtArrival: this.#isArriving };
        this.#fills.push(this.#telling);
        this.#hasEnded = fact.kind === 'order_filled';
        return;
      }
      case 'order_ended':
        this.#hasEnded = true;
        return;
      default:
    }
  }

  receipt(names: CatalogNaming): OrderReceipt | null {
    const placed = this.#placed;
    if (placed === null || placed.account !== this.#account) return null;
    return {
      ...{ orderId: this.#order, tradeId: this.#tradeId, action: placed.action },
      ...{ market: placed.market, model: placed.fillModel, latencyMs: placed.latencyMs },
      ...{ acceptedAtMs: placed.atMs, arrivedAtMs: this.#arrivedAtMs },
      fills: this.#fills.map((told, nth) => {
        return { ...this.#fillOf(told, placed), fee: this.#feeOf(nth, placed, names) };
      }),
    };
  }

  #feeOf(
    nth: number,
    { market, instrument }: OrderPlacedFact,
    names: CatalogNaming,
  ): ReceiptFee | null {
    const { fill } = this.#fills[nth]!;
    if (fill.feeCents === null) return null;
    const before = this.#fills[nth - 1]?.fill;
    const venue = VENUES[fill.venue];
    const isRouted = venue !== HOME_VENUE;
    const listings = isRouted ? (names.instrument(instrument).entry?.listings ?? []) : [];
    const listing = listings.find((one) => one.venue === venue);
    return {
      cents: fill.feeCents,
      paidBeforeMicros: before?.kind === 'order_part_filled' ? before.carryMicros : 0,
      venueMarketId: isRouted ? (listing?.venueMarketId ?? null) : names.ticker(market),
    };
  }

  #fillOf(
    { fill, note, met, isAtArrival }: Told,
    { fillModel }: OrderPlacedFact,
  ): Omit<ReceiptFill, 'fee'> {
    const { contracts, priceCents } = fill;
    const venue = VENUES[fill.venue];
    invariant(venue !== undefined, 'an order was filled at no venue');
    const isInQueue = met.length > 0;
    const isTaker = note === null ? isAtArrival : note.role === 'taker';
    const walked = note === null || note.levels.length === 0 ? null : note.levels;
    const gapsMs = isTaker ? 0 : isInQueue ? this.#gapsMs(this.#arrivedAtMs!, fill.atMs) : null;
    return {
      ...{ atMs: fill.atMs, contracts, priceCents, venue, gapsMs },
      liquidity: isTaker ? 'taker' : 'maker',
      levels: isInQueue || fillModel === null ? null : (walked ?? [[priceCents, contracts]]),
      queue: !isInQueue
        ? null
        : {
            aheadAtArrivalE2: this.#aheadAtArrivalE2 ?? null,
            aheadBeforeE2: known(met[0]!.aheadE2),
            prints: met.map(({ atMs: metAtMs, volumeE2 }) => {
              return { atMs: metAtMs, contractsE2: volumeE2 };
            }),
          },
      quoteAgeMs: isTaker ? (note?.quoteAgeMs ?? null) : 0,
    };
  }

  #gapsMs(arrivedAtMs: EpochMs, filledAtMs: EpochMs): number {
    let sum = 0;
    for (const { fromMs, atMs } of this.#gaps) {
      sum += Math.max(0, Math.min(atMs, filledAtMs) - Math.max(fromMs, arrivedAtMs));
    }
    return sum;
  }
}

function known(aheadE2: ContractsE2): ContractsE2 | null {
  return aheadE2 === UNKNOWN_AHEAD ? null : aheadE2;
}

/** How a fact of a gap in this market's book begins. */
function gapBytes(market: MarketNumber): Buffer {
  const to = new ByteWriter();
  to.u8(KIND.book_missed);
  to.u32(market);
  return to.copy();
}
