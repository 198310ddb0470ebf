/**
 * Callers of a cluster over HTTP and over streams, each with an account of its own. A caller sends an order
 * under one idempotency key until a node answers: to the node that a refusal names, else to the next one. At
 * times it cancels all that rests. Beside its orders it reads its events and receipts from every node, and
 * a stream tells it each event. What it has seen must stay true on each node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, RefusedError } from '../../../api/client/client.ts';
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
const RECEIPTS_KEPT = 20;
/** An order ends by one of these events. */
const ENDS = ['order_canceled', 'order_expired', 'order_filled'];

/** Refusals that say that the order is not taken, and why. */
const REFUSALS = new Set([
  'no_liquidity',
  'market_not_open',
  'market_resolved',
  'insufficient_balance',
]);

/** A stream as a caller uses it. Its calls reject with `RefusedError`, or because no answer came. */
export type CallerStream = {
  place(body: Json): Promise<Json>;
  cancelAll(): Promise<Json>;
  close(): void;
};

/** @param told gets the id of each event of the account; left out: they are not asked for */
export type OpenStream = (
  user: ClusterUser,
  baseUrl: string,
  told?: (eventId: string) => void,
) => CallerStream;

/** By the client, which goes where refusals send it. */
const openStream: OpenStream = ({ token }, baseUrl, told) => {
  const client = createClient({ baseUrl, credential: token, timeoutMs: ANSWERS_WITHIN_MS });
  const stream = client.stream();
  if (told !== undefined) {
    stream.on('order', ({ event }) => told(event.eventId));
    // If it ends, the events that are missing at the end say so.
    stream.subscribe('orders').catch(() => undefined);
  }
  return stream;
};

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
  /** Orders that rested when they were answered, and those of them that were canceled since. */
  readonly #resting = new Set<string>();
  readonly #canceled = new Set<string>();
  /** The paths of the last orders and trades, and the one whose receipt is read, with what it said. */
  readonly #receipts: string[] = [];
  #receipt: { where: string; text: string | null } = { where: '', text: null };
  /** One that begins at each node. The first one is told of the orders. */
  readonly #streams: readonly CallerStream[];
  /** The ids of the events that the first stream has told. */
  readonly #told: string[] = [];
  #at = 0;
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    user: ClusterUser,
    baseUrls: readonly string[],
    random: RandomSource,
    breach: (what: string) => void,
    open: OpenStream = openStream,
  ) {
    const { name, token } = user;
    this.name = name;
    this.#token = token;
    this.#baseUrls = baseUrls;
    this.#random = random;
    this.#breach = (what) => breach(`${name}: ${what}`);
    this.#streams = baseUrls.map((baseUrl, at) => {
      return open(user, baseUrl, at === 0 ? (id) => void this.#told.push(id) : undefined);
    });
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

  close(): void {
    for (const stream of this.#streams) stream.close();
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
    this.#checkEnds(events);
    this.#checkTerms(events);
    await this.#checkTold(events);
    if (missing.length > 0) this.#breach(`${missing.length} orders are gone: ${missing[0]}`);
    if (unknown.length > 0) this.#breach(`nobody sent ${unknown.join()}`);
  }

  /** An order ends once, nothing comes after that, and what was canceled has ended. */
  #checkEnds(events: readonly Json[]): void {
    const ended = new Set<string>();
    for (const { type, order } of events) {
      if (order === undefined || order === null) continue;
      if (ended.has(order.orderId)) this.#breach(`${type} after the end of ${order.orderId}`);
      if (ENDS.includes(type)) ended.add(order.orderId);
    }
    const rests = [...this.#canceled].filter((id) => !ended.has(id));
    if (rests.length > 0) this.#breach(`${rests.length} canceled orders rest: ${rests[0]}`);
  }

  /** Each event of an acknowledged order or trade has the terms that were sent. */
  #checkTerms(events: readonly Json[]): void {
    const bodies = new Map([...this.acknowledged.values()].map(({ id, body }) => [id, body]));
    for (const { order, trade } of events) {
      const made: Json = order ?? trade;
      const body = bodies.get(made?.orderId ?? made?.tradeId);
      if (body === undefined) continue;
      const [sent, has] = [show(termsSent(body)), show(termsOf(made))];
      if (sent !== has) this.#breach(`${body.idempotencyKey} was sent as ${sent}, and is ${has}`);
    }
  }

  /** The stream has told each event from its first one on, once and in order. */
  async #checkTold(events: readonly Json[]): Promise<void> {
    const ids: string[] = events.map(({ eventId }) => eventId);
    const last = ids.at(-1);
    if (last !== undefined) {
      await eventually(`the stream of ${this.name} has told all`, () => this.#told.includes(last));
    }
    const wanted = ids.slice(ids.indexOf(this.#told[0]!));
    const at = wanted.findIndex((id, nth) => id !== this.#told[nth]);
    if (at !== -1 || wanted.length !== this.#told.length) {
      const told = this.#told.slice(Math.max(0, at - 1), at + 2);
      this.#breach(`the stream told ${told} where ${wanted.slice(Math.max(0, at - 1), at + 2)} is`);
    }
  }

  async #trade(): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      if (this.#random.oneIn(12)) await this.#cancelAll();
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

  /** What rested before is at rest no more once it is answered, on each node. */
  async #cancelAll(): Promise<void> {
    const resting = [...this.#resting];
    const at = await this.#canceledAt();
    for (const id of resting) {
      this.#resting.delete(id);
      this.#canceled.add(id);
    }
    for (const node of [at, this.#random.int(0, this.#baseUrls.length - 1)]) {
      const { status, body } = await this.#ask(node, 'GET', '/portfolio/orders?status=resting');
      if (status !== 200) continue;
      this.#count('rests');
      const left = body.orders.filter(({ orderId }: Json) => this.#canceled.has(orderId));
      if (left.length > 0) this.#breach(`node ${node} has ${show(left)} at rest after a cancel`);
    }
  }

  async #canceledAt(): Promise<number> {
    const { body } = this.#random.oneIn(2)
      ? await this.#untilTaken('DELETE', '/portfolio/orders')
      : await this.#untilTaken('DELETE', '/portfolio/orders', undefined, (stream) =>
          stream.cancelAll(),
        );
    for (const id of body.canceled) if (this.#canceled.has(id)) this.#breach(`${id} ends twice`);
    return this.#at;
  }

  async #place(body: Json): Promise<void> {
    const overStream = this.#random.oneIn(2)
      ? (stream: CallerStream) => stream.place(body)
      : undefined;
    const { body: answer } = await this.#untilTaken('POST', '/portfolio/orders', body, overStream);
    const id = idOf(answer);
    this.#sent = null;
    this.answeredMs.push(performance.now());
    if (id === null) return;
    this.acknowledged.set(body.idempotencyKey, { body, id });
    const rests = answer.order?.status === 'resting';
    if (rests) this.#resting.add(id);
    this.#receipts.push(`/portfolio/${answer.order === null ? 'trades' : 'orders'}/${id}`);
    if (this.#receipts.length > RECEIPTS_KEPT) this.#receipts.shift();
    if (answer.order === null || !this.#random.oneIn(3)) return;
    const at = this.#random.int(0, this.#baseUrls.length - 1);
    const { status } = await this.#ask(at, 'GET', `/portfolio/orders/${id}`);
    if (status === 404) this.#breach(`node ${at} does not know ${id}, which was acknowledged`);
  }

  /** Asks one node after another. Whoever answers has all that was seen before the question. */
  async #read(): Promise<void> {
    for (let at = 0; !this.#isStopped; at = (at + 1) % this.#baseUrls.length) {
      await this.#readEvents(at);
      await this.#readReceipt(at);
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

  /** Each node in turn is asked for one receipt. Of a trade it is the same everywhere. */
  async #readReceipt(at: number): Promise<void> {
    if (at === 0) this.#receipt = { where: this.#random.pick([...this.#receipts, '']), text: null };
    const { where, text: seen } = this.#receipt;
    if (where === '') return;
    const { status, body } = await this.#ask(at, 'GET', `${where}/receipt`);
    if (status === 0 || status === 503) return;
    this.#count(`receipts ${status}`);
    if (status !== 200) return this.#breach(`node ${at}: ${where} is ${show({ status, body })}`);
    const text = JSON.stringify(body.receipt);
    const isWhole = where.startsWith('/portfolio/trades');
    if (seen !== null && isWhole && seen !== text) {
      this.#breach(`node ${at}: ${where} was ${seen} and is ${text}`);
    }
    this.#receipt.text = text;
  }

  /** The same request until a node takes or refuses it. `over`: over the stream of that node. */
  async #untilTaken(
    method: string,
    where: string,
    body?: Json,
    over?: (stream: CallerStream) => Promise<Json>,
  ): Promise<Answer> {
    let last: Answer | null = null;
    return await eventually(
      () => `an answer for ${this.name} to ${method} ${where}, after ${show(last)}`,
      async () => {
        const answer =
          over === undefined
            ? await this.#ask(this.#at, method, where, body)
            : await answerOf(over(this.#streams[this.#at]!));
        last = answer;
        const { code, leader } = answer.body?.error ?? {};
        const way = over === undefined ? '' : ' over a stream';
        this.#count((answer.status === 0 ? 'no answer' : (code ?? 'taken')) + way);
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
    } catch (error) {
      return noAnswer(error);
    }
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

const noAnswer = (error: unknown): Answer => {
  return { status: 0, body: { error: { message: String(error) } } };
};

/** As an answer of HTTP; status 0: no answer came. */
async function answerOf(sent: Promise<Json>): Promise<Answer> {
  try {
    return { status: 200, body: await sent };
  } catch (error) {
    if (!(error instanceof RefusedError)) return noAnswer(error);
    const { status, code, message, leader } = error;
    return { status, body: { error: { code, message, leader } } };
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

/** The terms of an order as a caller sends them, under the names of those that are read. */
function termsSent({ instrumentId, side, count, limitPriceCents = null }: Json): Json {
  return { instrumentId, instrumentSide: side, contracts: count, limitCents: limitPriceCents };
}

/** The terms of an order or a trade; a trade was made by an order without a limit. */
function termsOf({ instrumentId, instrumentSide, contracts, limitCents = null }: Json): Json {
  return { instrumentId, instrumentSide, contracts, limitCents };
}

const show = (answer: unknown): string => JSON.stringify(answer).slice(0, 300);
