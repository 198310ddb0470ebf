/**
 * Orders that nobody placed, in the book of a recording: when the market would have filled them.
 * Rules X10 to X13, X22 (feeds/FORMATS.md).
 */
import { firstIndex } from '../../engine/base/sorted.ts';
import type { ContractsE2, EpochMs, PriceCents, PriceE4, Side } from '../../engine/base/units.ts';
import { BidLadder } from '../../feeds/reading/bid-ladder.ts';
import type { Level } from '../../feeds/reading/venue.ts';
import type { BookEvent, OfLevel } from './book-events.ts';
import { OrderQueue, type Reading } from './order-queue.ts';

export const PLACES = ['joined', 'improved', 'one_below'] as const;
export type Place = (typeof PLACES)[number];
export const SIZES = [1, 10, 100, 1000] as const;
/** Two readings of what nobody can know: the truth lies between them. */
const READINGS: readonly Reading[] = ['from_the_back', 'from_the_front'];
const OFFSET_CENTS: Record<Place, number> = { joined: 0, improved: 1, one_below: -1 };
/** An order rests for so long. */
export const RESTS_MS = 60_000;
const CENT: PriceE4 = 100;

export type VirtualOrder = {
  market: string;
  side: Side;
  place: Place;
  contracts: number;
  limitCents: PriceCents;
  placedAtMs: EpochMs;
  /** By reading: when each part was filled. */
  fills: Record<Reading, Fill[]>;
};
/** A market order of that moment. */
export type VirtualTaker = {
  market: string;
  side: Side;
  contracts: number;
  placedAtMs: EpochMs;
  /** What the levels cost on arrival, each at its own price; null: there are not enough of them. */
  costCents: number | null;
};

export type Fill = { atMs: EpochMs; contracts: ContractsE2 };

type Resting = VirtualOrder & { turn: number; price: PriceE4; left: Record<Reading, ContractsE2> };

/** Half the sum of the best prices, in ten-thousandths; null: a side is empty. */
export type Mid = { atMs: EpochMs; price: number | null };

/** Null: a side was empty then, or the file had ended (`lastMs`). */
export function midAt(mids: readonly Mid[], atMs: EpochMs, lastMs: EpochMs): number | null {
  if (atMs > lastMs) return null;
  return mids[firstIndex(mids, (mid) => mid.atMs > atMs) - 1]?.price ?? null;
}

/** The books of one file, and the orders in them. */
export class VirtualOrders {
  readonly orders: VirtualOrder[] = [];
  readonly takers: VirtualTaker[] = [];
  /** Decreases without a print, by how many orders had their size. */
  readonly cancels = { one: 0, several: 0, none: 0 };
  /** The times of the first and the last event. */
  readonly firstMs: EpochMs;
  lastMs: EpochMs = 0;
  readonly #markets = new Map<string, Market>();
  readonly #latencyMs: number;
  /** What meets the book later, in the order of its times. */
  readonly #pending: { atMs: EpochMs; arrive(): void }[] = [];
  #turn = 0;

  /** @param latencyMs orders meet the book so much later than they are placed. Rule X22. */
  constructor(firstMs: EpochMs = 0, latencyMs = 0) {
    this.firstMs = firstMs;
    this.#latencyMs = latencyMs;
  }

  /** A market whose mids are asked for later. */
  mids(market: string): readonly Mid[] {
    return this.#markets.get(market)?.mids ?? [];
  }

  /**
   * Places an order of each place and size, and a market order of each size, at one market and
   * side, where a book has both sides.
   */
  place(atMs: EpochMs, draw: () => number): void {
    const open = [...this.#markets.values()].filter(({ isTwoSided }) => isTwoSided);
    const market = open[Math.floor(draw() * open.length)];
    const side: Side = draw() < 0.5 ? 'yes' : 'no';
    if (market === undefined) return;
    for (const contracts of SIZES) {
      const of = { market: market.name, side, contracts, placedAtMs: atMs };
      const taker: VirtualTaker = { ...of, costCents: null };
      this.takers.push(taker);
      this.#arrivesLater(atMs, () => {
        taker.costCents = market.costCents(side, contracts);
      });
    }
    const best = market.best(side)!;
    const opposing = 10_000 - market.best(side === 'yes' ? 'no' : 'yes')!;
    for (const place of PLACES) {
      const price = best + OFFSET_CENTS[place] * CENT;
      // A price of the market's own, that does not take.
      if (price % CENT !== 0 || price < CENT || price >= opposing) continue;
      for (const contracts of SIZES) {
        const of = { market: market.name, side, place, contracts, placedAtMs: atMs };
        const order = unfilled({ ...of, limitCents: price / CENT });
        this.orders.push(order);
        this.#arrivesLater(atMs, (arrivesAtMs) => market.meet(order, ++this.#turn, arrivesAtMs));
      }
    }
  }

  #arrivesLater(placedAtMs: EpochMs, meet: (atMs: EpochMs) => void): void {
    const atMs = placedAtMs + this.#latencyMs;
    if (this.#latencyMs === 0) meet(atMs);
    else this.#pending.push({ atMs, arrive: () => meet(atMs) });
  }

  take(event: BookEvent): void {
    this.lastMs = event.atMs;
    // Frames of the same moment come before orders.
    while (this.#pending.length > 0 && this.#pending[0]!.atMs < event.atMs) {
      this.#pending.shift()!.arrive();
    }
    const market = this.#marketOf(event.market);
    market.expire(event.atMs);
    switch (event.kind) {
      case 'book':
        market.replace(event.yes, event.no, this.#turn++);
        break;
      case 'unknown':
        market.replace([], [], this.#turn);
        break;
      case 'add':
        market.add(event, ++this.#turn);
        break;
      case 'cancel':
        this.#count(market.cancel(event));
        break;
      case 'trade':
        market.trade(event);
        break;
      default:
        event satisfies never;
    }
    market.noteMid(event.atMs);
  }

  #count(same: number): void {
    this.cancels[same === 1 ? 'one' : same === 0 ? 'none' : 'several']++;
  }

  #marketOf(name: string): Market {
    const known = this.#markets.get(name);
    if (known !== undefined) return known;
    const market = new Market(name);
    this.#markets.set(name, market);
    return market;
  }
}

type Queues = Record<Reading, OrderQueue>;

class Market {
  readonly name: string;
  readonly mids: Mid[] = [];
  readonly #shown = { yes: new BidLadder('bids'), no: new BidLadder('bids') };
  #queues: Record<Side, Map<PriceE4, Queues>> = { yes: new Map(), no: new Map() };
  #resting: Resting[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get isTwoSided(): boolean {
    return this.#shown.yes.length > 0 && this.#shown.no.length > 0;
  }

  best(side: Side): PriceE4 | null {
    return this.#shown[side].best()?.price ?? null;
  }

  /** Of a buy that takes the levels of the other side, the best first; null: they do not suffice. */
  costCents(side: Side, contracts: number): number | null {
    let left = contracts * 100;
    let cost = 0;
    const levels = this.#shown[side === 'yes' ? 'no' : 'yes'].levels();
    for (const { price, size } of levels.sort((a, b) => b.price - a.price)) {
      const taken = Math.min(left, size);
      cost += taken * (10_000 - price);
      left -= taken;
      if (left === 0) return cost / 10_000;
    }
    return null;
  }

  /** It takes what its limit reaches, which under latency may be something, and rests. */
  meet(order: VirtualOrder, turn: number, atMs: EpochMs): void {
    const all = order.contracts * 100;
    const price = order.limitCents * CENT;
    const left = { from_the_back: all, from_the_front: all };
    const resting: Resting = { ...order, turn, price, left };
    for (const level of this.#shown[order.side === 'yes' ? 'no' : 'yes'].levels()) {
      if (level.price + price < 10_000) continue;
      this.#fillAll(resting, { atMs, contracts: level.size });
    }
    this.#resting.push(resting);
  }

  expire(atMs: EpochMs): void {
    if (this.#resting.length === 0) return;
    this.#resting = this.#resting.filter(({ placedAtMs }) => atMs - placedAtMs <= RESTS_MS);
  }

  /** Orders of a whole book cannot be told apart: they came before whoever rests from now on. */
  replace(yes: readonly Level[], no: readonly Level[], turn: number): void {
    for (const [side, levels] of [
      ['yes', yes],
      ['no', no],
    ] as const) {
      this.#shown[side] = new BidLadder('bids');
      this.#queues[side] = new Map();
      for (const { price, size } of levels) {
        if (size === 0) continue;
        this.#shown[side].add(price, size);
        for (const reading of READINGS) this.#queueOf(side, price)[reading].add(turn, size);
      }
    }
  }

  add(event: OfLevel, turn: number): void {
    const { side, price, contracts } = event;
    this.#shown[side].add(price, contracts);
    for (const reading of READINGS) this.#queueOf(side, price)[reading].add(turn, contracts);
    // It would have met an order of the other side that rests at its price or better.
    for (const order of this.#resting) {
      if (order.side !== side && order.price + price >= 10_000) this.#fillAll(order, event);
    }
  }

  /** @returns how many orders had this size */
  cancel(event: OfLevel): number {
    const { side, price, contracts } = event;
    this.#shown[side].add(price, -contracts);
    const queues = this.#queueOf(side, price);
    queues.from_the_front.cancel(contracts);
    return queues.from_the_back.cancel(contracts);
  }

  trade(event: OfLevel & { isShown: boolean }): void {
    const { side, price, contracts, atMs } = event;
    const queues = this.#queueOf(side, price);
    for (const order of this.#resting) {
      if (order.side !== side || order.price < price) continue;
      // Whoever sold at a worse price would have met this order first.
      if (order.price > price) this.#fillAll(order, event);
      else {
        for (const reading of READINGS) {
          fill(order, reading, atMs, contracts - queues[reading].ahead(order.turn));
        }
      }
    }
    for (const reading of READINGS) queues[reading].trade(contracts);
    if (event.isShown) this.#shown[side].add(price, -contracts);
  }

  noteMid(atMs: EpochMs): void {
    const [yes, no] = [this.best('yes'), this.best('no')];
    const price = yes === null || no === null ? null : (yes + 10_000 - no) / 2;
    if (this.mids.at(-1)?.price !== price) this.mids.push({ atMs, price });
  }

  #fillAll(order: Resting, { atMs, contracts }: Pick<OfLevel, 'atMs' | 'contracts'>): void {
    for (const reading of READINGS) fill(order, reading, atMs, contracts);
  }

  #queueOf(side: Side, price: PriceE4): Queues {
    const known = this.#queues[side].get(price);
    if (known !== undefined) return known;
    const [from_the_back, from_the_front] = READINGS.map((reading) => new OrderQueue(reading));
    const queues = { from_the_back: from_the_back!, from_the_front: from_the_front! };
    this.#queues[side].set(price, queues);
    return queues;
  }
}

function unfilled(order: Omit<VirtualOrder, 'fills'>): VirtualOrder {
  return { ...order, fills: { from_the_back: [], from_the_front: [] } };
}

function fill(order: Resting, reading: Reading, atMs: EpochMs, contracts: ContractsE2): void {
  const filled = Math.min(contracts, order.left[reading]);
  if (filled <= 0) return;
  order.left[reading] -= filled;
  order.fills[reading].push({ atMs, contracts: filled });
}
