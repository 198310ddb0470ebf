/** A random trader with its own key: one request at a time, every answer remembered. */
import type { RandomSource } from '../model/random-source.ts';
import { type Answer, type Json, NoAnswer, request } from './client.ts';
import { Memory } from './memory.ts';

/** The instruments that can be traded, at the prices of a moment ago. */
export type Listed = {
  instrumentId: string;
  ticker: string;
  /** -1: the ticker's yes is the instrument's no. */
  polarity: 1 | -1;
  yesBidCents: number;
  yesAskCents: number;
};

/** Refusals that an order of a kind sent here can meet; any other is a breach. */
const REFUSALS = new Set([
  'insufficient_balance',
  'market_not_open',
  'market_resolved',
  'no_liquidity',
  'price_moved',
  'already_closed',
]);

const STEPS = {
  marketBuy: 6,
  limitBuy: 9,
  marketSell: 4,
  limitSell: 4,
  cancel: 4,
  replay: 3,
  reuse: 1,
  readPortfolio: 2,
  readOrders: 1,
  readOrder: 1,
  readTrades: 1,
  readQuotes: 1,
};

export class Trader {
  readonly memory: Memory;
  readonly token: string;
  readonly name: string;
  /** Answers by their content: `executed`, `resting`, a refusal's code, ... */
  readonly counts = new Map<string, number>();
  listed: Listed[] = [];
  baseUrl = '';
  readonly #random: RandomSource;
  readonly #breach: (what: string) => void;
  #keysMade = 0;

  constructor(
    { name, token }: { name: string; token: string },
    random: RandomSource,
    breach: (what: string) => void,
  ) {
    this.name = name;
    this.token = token;
    this.#random = random;
    this.#breach = (what) => breach(`${name}: ${what}`);
    this.memory = new Memory(this.#breach);
  }

  /** Trades at random until the steps are done, or the server gives no answer any more. */
  async trade(steps: number): Promise<void> {
    try {
      for (let step = 0; step < steps; step++) {
        await this[this.#random.weighted(STEPS)]();
      }
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.#count('no answer');
    }
  }

  /** Sends unanswered orders once more, under their own keys. Rule T96 (engine/RULES.md). */
  async resolveUnanswered(): Promise<void> {
    for (const body of [...this.memory.unanswered.values()]) await this.place(body);
  }

  /** Every acknowledged key replays. `keys` leaves out the others. */
  async replayAll(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#replayOf(key);
  }

  async place(body: Json): Promise<void> {
    this.memory.willPlace(body);
    const answer = await this.#send('POST', '/portfolio/orders', body);
    if (answer.status === 200) {
      this.#count(answer.body.replayed ? 'replayed' : answer.body.status);
      this.memory.sawPlacement(body, answer.body);
    } else if (answer.status !== 503) {
      this.memory.wasRefused(body);
    }
  }

  async marketBuy(): Promise<void> {
    const random = this.#random;
    const bound = random.oneIn(4) ? { maxPriceCents: random.int(20, 80) } : {};
    await this.place({ ...this.#buy('market'), ...bound });
  }

  async limitBuy(): Promise<void> {
    const random = this.#random;
    const buy = this.#buy('limit');
    const { yesBidCents, yesAskCents, polarity } = this.#pickedOf(buy);
    const isYes = (buy.side === 'yes') === (buy.ticker === undefined || polarity === 1);
    const ask = isYes ? yesAskCents : 100 - yesBidCents;
    const limitPriceCents = priceNear(ask + random.int(-4, 2));
    await this.place({ ...buy, limitPriceCents, ...this.#timeInForce() });
  }

  async marketSell(): Promise<void> {
    const tradeId = this.#someOf(this.memory.open);
    if (tradeId === null) return;
    const bound = this.#random.oneIn(4) ? { minPriceCents: this.#random.int(20, 80) } : {};
    await this.place({ ...this.#order('sell', 'market'), tradeId, ...bound });
  }

  async limitSell(): Promise<void> {
    const tradeId = this.#someOf(this.memory.open);
    if (tradeId === null) return;
    const entryCents = this.memory.trades.get(tradeId).entryCents;
    const limitPriceCents = priceNear(entryCents + this.#random.int(-6, 6));
    const sell = { ...this.#order('sell', 'limit'), tradeId, limitPriceCents };
    await this.place({ ...sell, ...this.#timeInForce() });
  }

  async cancel(): Promise<void> {
    const wanted = this.#random.oneIn(8) ? this.memory.orders.keys() : this.memory.resting;
    const orderId = this.#someOf(wanted);
    if (orderId === null) return;
    this.memory.cancelsSent.add(orderId);
    const { status, body } = await this.#send('DELETE', `/portfolio/orders/${orderId}`);
    if (status !== 200) return;
    this.#count('canceled by owner');
    if (body.order.cancelReason !== 'canceled_by_owner') {
      this.#breach(`a cancel answers ${JSON.stringify(body.order)}`);
    }
    this.memory.sawOrder(body.order);
  }

  async replay(): Promise<void> {
    const key = this.#someOf(this.memory.placements.keys());
    if (key !== null) await this.#replayOf(key);
  }

  /** The same key with another order is refused and changes nothing. */
  async reuse(): Promise<void> {
    const key = this.#someOf(this.memory.placements.keys());
    if (key === null) return;
    const { body } = this.memory.placements.get(key)!;
    const routing = body.routing === 'best' ? 'venue_a' : 'best';
    const answer = await request(this.token, 'POST', `${this.baseUrl}/portfolio/orders`, {
      ...body,
      routing,
    });
    const { code } = answer.body.error ?? {};
    this.#count(String(code));
    if (code !== 'idempotency_key_reused' && answer.status !== 503) {
      this.#breach(`a key was used twice: ${JSON.stringify(answer)}`);
    }
  }

  async readPortfolio(): Promise<void> {
    const { status, body } = await this.#send('GET', '/portfolio');
    if (status !== 200) return;
    for (const { tradeId } of body.positions) {
      const known = this.memory.trades.get(tradeId);
      if (known !== undefined && known.status !== 'open') {
        this.#breach(`closed, and yet a position: ${JSON.stringify(known)}`);
      }
    }
    for (const { orderId } of body.orders) {
      const known = this.memory.orders.get(orderId);
      const mayBeUnknown = this.memory.unanswered.size > 0;
      if (known === undefined ? !mayBeUnknown : known.status !== 'resting') {
        this.#breach(`not resting, and yet listed so: ${orderId} ${JSON.stringify(known)}`);
      }
    }
  }

  async readOrders(): Promise<void> {
    const { status, body } = await this.#send('GET', '/portfolio/orders?limit=30');
    if (status === 200) for (const order of body.orders) this.memory.sawOrder(order);
  }

  async readOrder(): Promise<void> {
    const orderId = this.#someOf(this.memory.orders.keys());
    if (orderId === null) return;
    const { status, body } = await this.#send('GET', `/portfolio/orders/${orderId}`);
    if (status === 200) this.memory.sawOrder(body.order);
    else if (status === 404) this.#breach(`order ${orderId} is gone`);
  }

  async readTrades(): Promise<void> {
    const { status, body } = await this.#send('GET', '/portfolio/trades?limit=30');
    if (status === 200) for (const trade of body.trades) this.memory.sawTrade(trade);
  }

  async readQuotes(): Promise<void> {
    const { instrumentId } = this.#random.pick(this.listed);
    await this.#send('GET', `/quotes?ids=${instrumentId}`);
  }

  async #replayOf(key: string): Promise<void> {
    const { body } = this.memory.placements.get(key)!;
    const answer = await this.#send('POST', '/portfolio/orders', body);
    if (answer.status === 200) {
      this.#count('replayed');
      this.memory.sawPlacement(body, answer.body);
    } else if (answer.status !== 503) {
      this.#breach(`${key} does not replay: ${JSON.stringify(answer)}`);
    }
  }

  /** An answer of any status; one that no caller should ever get is a breach. */
  async #send(method: string, where: string, body?: Json): Promise<Answer> {
    const answer = await request(this.token, method, this.baseUrl + where, body);
    if (answer.status >= 400) {
      const { code } = answer.body.error;
      this.#count(code);
      if (answer.status !== 503 && !REFUSALS.has(code) && !isLate(body)) {
        this.#breach(`${method} ${where}: ${JSON.stringify({ body, answer })}`);
      }
    }
    return answer;
  }

  #buy(type: 'market' | 'limit') {
    const random = this.#random;
    const { instrumentId, ticker } = random.pick(this.listed);
    return {
      ...this.#order('buy', type),
      ...(random.oneIn(4)
        ? { ticker, instrumentId: undefined }
        : { ticker: undefined, instrumentId }),
      side: random.pick(['yes', 'no']),
      count: random.oneIn(40) ? 1_000_000_000 : random.int(1, 60),
      ...(random.oneIn(3) ? { statedProbPct: random.int(1, 99) } : {}),
    };
  }

  #order(action: 'buy' | 'sell', type: 'market' | 'limit') {
    const routing = this.#random.oneIn(3) ? { routing: 'best' } : {};
    this.#keysMade++;
    return { action, type, idempotencyKey: `${this.name}-${this.#keysMade}`, ...routing };
  }

  #timeInForce() {
    const random = this.#random;
    const timeInForce = random.weighted({ gtc: 6, ioc: 1, fok: 1 });
    if (timeInForce !== 'gtc' || !random.oneIn(3)) return { timeInForce };
    return { timeInForce, expiresAt: new Date(Date.now() + random.int(500, 20_000)).toISOString() };
  }

  #pickedOf(buy: { instrumentId: string | undefined; ticker: string | undefined }): Listed {
    return this.listed.find(({ instrumentId, ticker }) => {
      return buy.instrumentId === instrumentId || buy.ticker === ticker;
    })!;
  }

  /** Mostly one of the newest; null for an empty list. */
  #someOf(ids: Iterable<string>): string | null {
    const all = [...ids];
    if (all.length === 0) return null;
    return this.#random.pick(this.#random.oneIn(3) ? all : all.slice(-10));
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** If it is sent again after its own expiry, an order that was never placed is refused for that. */
function isLate(body: Json): boolean {
  return body?.expiresAt !== undefined && Date.parse(body.expiresAt) <= Date.now();
}

function priceNear(cents: number): number {
  return Math.min(99, Math.max(1, cents));
}
