/**
 * Callers of a cluster over HTTP, each with an account of its own. A caller sends an order under one
 * idempotency key until a node answers: to the node that a refusal names, else to the next one. Beside
 * its orders it reads its events from every node. What it has seen must stay true on each node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/lib/eventually.ts';
import type { RandomSource } from '../../model/random-source.ts';
import type { Json } from '../client.ts';
import type { ClusterUser } from './cluster.ts';

/** A node that is stopped answers nothing at all. */
const ANSWERS_WITHIN_MS = 1500;
const BETWEEN_ORDERS_MS = 20;
const BETWEEN_READS_MS = 50;
const BETWEEN_TRIES_MS = 25;
const EVENTS_AT_ONCE = 500;
/** An order far from each price rests. */
const RESTING_CENTS = 2;

/** Refusals that say that the order is not taken, and why. */
const REFUSALS = new Set([
  'no_liquidity',
  'market_not_open',
  'market_resolved',
  'insufficient_balance',
]);

type Answer = { status: number; body: Json };
type Sent = { body: Json; id: string };

export class ClusterCaller {
  readonly name: string;
  /** When each answer to an order came, by the clock that nobody sets. */
  readonly answeredMs: number[] = [];
  /** Acknowledged orders: what was sent, and the id of the order or the trade. */
  readonly acknowledged = new Map<string, Sent>();
  readonly counts = new Map<string, number>();
  instrumentIds: readonly string[] = [];
  readonly #token: string;
  readonly #baseUrls: readonly string[];
  readonly #random: RandomSource;
  readonly #breach: (what: string) => void;
  /** The last key, whose order may have no answer. */
  #sent: Json | null = null;
  /** The ids of all events read so far, and where they end. */
  readonly #seen = new Set<string>();
  #after = '';
  #at = 0;
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    { name, token }: ClusterUser,
    baseUrls: readonly string[],
    random: RandomSource,
    breach: (what: string) => void,
  ) {
    this.name = name;
    this.#token = token;
    this.#baseUrls = baseUrls;
    this.#random = random;
    this.#breach = (what) => breach(`${name}: ${what}`);
  }

  /** Sends orders, and reads, until `stop`. */
  start(): void {
    this.#work = Promise.all([this.#trade(), this.#read()]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    if (this.#sent !== null) await this.#place(this.#sent);
  }

  /** Every key again: it names the same order, and no node has forgotten it. */
  async checkKeys(last = Number.POSITIVE_INFINITY): Promise<void> {
    for (const [key, { body, id }] of [...this.acknowledged].slice(-last)) {
      const answer = await this.#untilTaken('POST', '/portfolio/orders', body);
      const again = idOf(answer.body);
      if (again !== id) this.#breach(`${key} was ${id}, and is now ${again ?? show(answer)}`);
    }
  }

  /** The events have each acknowledged order once, and no other. */
  async checkEvents(): Promise<void> {
    const events: Json[] = [];
    for (let after = '', more = true; more; ) {
      const where = `/portfolio/events?limit=${EVENTS_AT_ONCE}${after}`;
      const { body } = await this.#untilTaken('GET', where);
      events.push(...(body.events ?? []));
      const next = `&after=${body.nextAfter}`;
      more = next !== after;
      after = next;
    }
    const made = events.flatMap(idsOf);
    if (new Set(made).size !== made.length) this.#breach('an order is there twice');
    const wanted = new Set([...this.acknowledged.values()].map(({ id }) => id));
    const missing = [...wanted].filter((id) => !made.includes(id));
    // A resting order that was filled has a trade, which no answer has named.
    const ofFills = new Set(events.map(({ order }) => order?.tradeId));
    const unknown = made.filter((id) => !wanted.has(id) && !ofFills.has(id));
    if (missing.length > 0) this.#breach(`${missing.length} orders are gone: ${missing[0]}`);
    if (unknown.length > 0) this.#breach(`nobody sent ${unknown.join()}`);
  }

  async #trade(): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      const body = this.#order(`${this.name}-${n}`);
      this.#sent = body;
      await this.#place(body);
      await sleep(BETWEEN_ORDERS_MS);
    }
  }

  #order(idempotencyKey: string): Json {
    const instrumentId = this.#random.pick(this.instrumentIds);
    const side = this.#random.pick(['yes', 'no']);
    const order = { action: 'buy', instrumentId, side, count: 1, idempotencyKey };
    if (this.#random.oneIn(3)) return { ...order, type: 'market' };
    return { ...order, type: 'limit', limitPriceCents: RESTING_CENTS };
  }

  async #place(body: Json): Promise<void> {
    const { body: answer } = await this.#untilTaken('POST', '/portfolio/orders', body);
    const id = idOf(answer);
    this.#sent = null;
    this.answeredMs.push(performance.now());
    if (id === null) return;
    this.acknowledged.set(body.idempotencyKey, { body, id });
    if (answer.order === null || !this.#random.oneIn(3)) return;
    const at = this.#random.int(0, this.#baseUrls.length - 1);
    const { status } = await this.#ask(at, 'GET', `/portfolio/orders/${id}`);
    if (status === 404) this.#breach(`node ${at} does not know ${id}, which was acknowledged`);
  }

  /** Asks one node after another. Whoever answers has all that was seen before the question. */
  async #read(): Promise<void> {
    for (let at = 0; !this.#isStopped; at = (at + 1) % this.#baseUrls.length) {
      await this.#readEvents(at);
      await sleep(BETWEEN_READS_MS);
    }
  }

  async #readEvents(at: number): Promise<void> {
    const wanted = [...this.acknowledged.values()].map(({ id }) => id);
    for (;;) {
      const after = this.#after === '' ? '' : `&after=${this.#after}`;
      const where = `/portfolio/events?limit=${EVENTS_AT_ONCE}${after}`;
      const { status, body } = await this.#ask(at, 'GET', where);
      if (status === 0 || status === 503) return;
      this.#count(`events ${status}`);
      if (status !== 200) return this.#breach(`node ${at} goes back: ${show({ status, body })}`);
      for (const id of body.events.flatMap(idsOf)) {
        if (this.#seen.has(id)) this.#breach(`node ${at} shows ${id} twice`);
        this.#seen.add(id);
      }
      if (body.nextAfter === this.#after) break;
      this.#after = body.nextAfter;
    }
    const missing = wanted.filter((id) => !this.#seen.has(id));
    if (missing.length > 0) {
      this.#breach(`node ${at} reads without ${missing.length} acknowledged orders: ${missing[0]}`);
    }
  }

  /** The same request until a node takes or refuses it. */
  async #untilTaken(method: string, where: string, body?: Json): Promise<Answer> {
    return await eventually(
      `an answer for ${this.name}`,
      async () => {
        const answer = await this.#ask(this.#at, method, where, body);
        const { code, leader } = answer.body?.error ?? {};
        this.#count(answer.status === 0 ? 'no answer' : (code ?? 'taken'));
        if (answer.status === 200 || REFUSALS.has(code)) return answer;
        if (answer.status !== 0 && answer.status !== 503) {
          this.#breach(`${method} ${where}: ${show(answer)}`);
          return answer;
        }
        const named = this.#baseUrls.indexOf(`${leader}/v1`);
        this.#at = named === -1 ? (this.#at + 1) % this.#baseUrls.length : named;
        if (named === -1) await sleep(BETWEEN_TRIES_MS);
        return null;
      },
      { everyMs: 0 },
    );
  }

  /** Status 0: no answer came. */
  async #ask(at: number, method: string, where: string, body?: Json): Promise<Answer> {
    try {
      const answer = await fetch(this.#baseUrls[at]! + where, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return { status: 0, body: null };
    }
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** Of an order that rests or of the trade of a market order; null: a refusal. */
function idOf(answer: Json): string | null {
  return answer?.order?.orderId ?? answer?.trade?.tradeId ?? null;
}

/** What an event says was made; a resting order's own trade is its second name. */
function idsOf({ type, order, trade }: Json): string[] {
  if (type === 'order_placed') return [order.orderId];
  return type === 'trade_opened' ? [trade.tradeId] : [];
}

const show = (answer: unknown): string => JSON.stringify(answer).slice(0, 300);
