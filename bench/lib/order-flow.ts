/**
 * An endless seeded stream of valid orders: limit buys that rest far below the market, market buys
 * that fill, cancels of resting orders, sells of positions. It tracks its own orders, so that none
 * can be refused. It keeps open orders and positions within bounds, so that it can run forever.
 */

import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { tradeIdOf } from '../../engine/rules/ids.ts';
import {
  BLANK_ORDER,
  type CancelOrder,
  type PlaceOrder,
  type Tick,
  type TradeCounting,
} from '../../engine/rules/messages.ts';
import { instrumentIdOf, quoteOf } from './catalog.ts';
import { type Random, seededRandom } from './random.ts';
import { orderUuid, seededUuid } from './uuid.ts';

export type FlowOptions = {
  seed: number;
  accounts: number;
  markets: number;
  /** The most resting orders, and the most open positions. */
  restingMax: number;
  positionsMax: number;
  /** What a server's shard already has; without it, accounts and instruments are made up. */
  on?: {
    accounts: readonly Uuid[];
    /** By market. */
    instruments: readonly string[];
    fromMs: EpochMs;
  };
};

/** Out of a hundred orders. */
const LIMIT_BUYS = 50;
const MARKET_BUYS = 25;
const CANCELS = 15;

const START_MS = Date.parse('2026-11-21T12:00:00.000Z');
/** How many orders share a millisecond. */
const ORDERS_A_MS = 32;
const LIMIT_CENTS_MAX = 5;

/** As an operator sets them for a bot: trades are counted, and never refused. */
const WIDE = { newPerMinute: 1e9, newPerDay: 1e9, closingPerMinute: 1e9 };

type Kept = { account: number; id: Uuid };

export class OrderFlow {
  readonly accounts: readonly Uuid[];
  readonly #options: FlowOptions;
  readonly #random: Random;
  /** By account; those of a server have no key here. */
  readonly #countings: readonly (TradeCounting | null)[];
  readonly #instrumentOf: (market: number) => string;
  readonly #startMs: EpochMs;
  readonly #resting: Kept[] = [];
  readonly #positions: Kept[] = [];
  #orders = 0;
  #passedMs = 0;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const ids = () =>
      Array.from({ length: options.accounts }, () => seededUuid(this.#random, START_MS));
    const { on } = options;
    this.#startMs = on?.fromMs ?? START_MS;
    this.#instrumentOf = on === undefined ? instrumentIdOf : (market) => on.instruments[market]!;
    this.accounts = on?.accounts ?? ids();
    this.#countings = this.accounts.map(() => {
      if (on !== undefined) return null;
      const keyId = seededUuid(this.#random, START_MS);
      return { keyId, keyLimits: WIDE, accountLimits: WIDE, elsewhere: null };
    });
  }

  /** The time of the next order: a millisecond later every so many. */
  get nowMs(): EpochMs {
    return this.#startMs + this.#passedMs + Math.floor(this.#orders / ORDERS_A_MS);
  }

  /** Time passes without an order. */
  pass(ms: number): void {
    this.#passedMs += ms;
  }

  /** The venue's first ticks; every batch repeats the heartbeat. */
  quotes(): Tick[] {
    return Array.from({ length: this.#options.markets }, (_, market) => {
      return quoteOf(market, this.nowMs);
    });
  }

  heartbeat(): Tick {
    return { kind: 'heartbeat', atMs: this.nowMs, source: 0 };
  }

  /** A limit buy of each of these accounts, and its cancel: only the accounts remain. */
  openings(first: number, end: number): (PlaceOrder | CancelOrder)[] {
    const commands: (PlaceOrder | CancelOrder)[] = [];
    for (let account = first; account < Math.min(end, this.accounts.length); account++) {
      const atMs = this.nowMs;
      this.#orders += 2;
      const order = this.#limitOf(atMs, account);
      commands.push(order, this.#cancelOf(atMs, { account, id: order.orderId }));
    }
    return commands;
  }

  batch(size: number): (PlaceOrder | CancelOrder)[] {
    return Array.from({ length: size }, () => this.next());
  }

  next(): PlaceOrder | CancelOrder {
    const { restingMax, positionsMax } = this.#options;
    const drawn = this.#random.below(100);
    const resting = this.#resting.length;
    const positions = this.#positions.length;
    const atMs = this.nowMs;
    this.#orders++;
    if (drawn < LIMIT_BUYS) return resting < restingMax ? this.#limit(atMs) : this.#cancel(atMs);
    if (drawn < LIMIT_BUYS + MARKET_BUYS) {
      return positions < positionsMax ? this.#buy(atMs) : this.#sell(atMs);
    }
    if (drawn < LIMIT_BUYS + MARKET_BUYS + CANCELS) {
      return resting > 0 ? this.#cancel(atMs) : this.#limit(atMs);
    }
    return positions > 0 ? this.#sell(atMs) : this.#buy(atMs);
  }

  #limit(atMs: EpochMs): PlaceOrder {
    const account = this.#random.below(this.accounts.length);
    const order = this.#limitOf(atMs, account);
    this.#resting.push({ account, id: order.orderId });
    return order;
  }

  #limitOf(atMs: EpochMs, account: number): PlaceOrder {
    return {
      ...this.#order(atMs, account),
      limitPriceCents: 1 + this.#random.below(LIMIT_CENTS_MAX),
      timeInForce: 'gtc',
    };
  }

  #buy(atMs: EpochMs): PlaceOrder {
    const account = this.#random.below(this.accounts.length);
    const order = this.#order(atMs, account);
    this.#positions.push({ account, id: tradeIdOf(order.orderId, atMs) });
    return order;
  }

  #cancel(atMs: EpochMs): CancelOrder {
    return this.#cancelOf(atMs, this.#takeOne(this.#resting));
  }

  #cancelOf(atMs: EpochMs, { account, id }: Kept): CancelOrder {
    return {
      kind: 'cancel',
      atMs,
      account: this.accounts[account]!,
      orderId: id,
      counting: this.#countings[account]!,
    };
  }

  #sell(atMs: EpochMs): PlaceOrder {
    const { account, id } = this.#takeOne(this.#positions);
    return {
      ...this.#order(atMs, account),
      action: 'sell',
      instrumentId: null,
      side: null,
      contracts: null,
      tradeId: id,
    };
  }

  /** A market buy of one contract. */
  #order(atMs: EpochMs, account: number): PlaceOrder {
    const market = this.#random.below(this.#options.markets);
    const order = marketBuy(
      this.#random,
      atMs,
      this.accounts[account]!,
      this.#instrumentOf(market),
    );
    return { ...order, counting: this.#countings[account]! };
  }

  #takeOne(kept: Kept[]): Kept {
    const at = this.#random.below(kept.length);
    const taken = kept[at]!;
    kept[at] = kept.at(-1)!;
    kept.pop();
    return taken;
  }
}

function marketBuy(random: Random, atMs: EpochMs, account: Uuid, instrumentId: string): PlaceOrder {
  return {
    ...BLANK_ORDER,
    atMs,
    account,
    orderId: orderUuid(random, atMs),
    idempotencyKey: seededUuid(random, atMs),
    instrumentId,
    side: (random.word() & 1) === 0 ? 'yes' : 'no',
    contracts: 1,
  };
}

/** A limit buy of one contract that rests far below the market, outside the trade limits. */
export function limitBuy(random: Random, atMs: EpochMs, account: Uuid, market: number): PlaceOrder {
  return limitBuyOf(random, atMs, account, instrumentIdOf(market));
}

export function limitBuyOf(
  random: Random,
  atMs: EpochMs,
  account: Uuid,
  instrumentId: string,
): PlaceOrder {
  return {
    ...marketBuy(random, atMs, account, instrumentId),
    limitPriceCents: 1 + random.below(LIMIT_CENTS_MAX),
    timeInForce: 'gtc',
  };
}
