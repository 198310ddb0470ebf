/**
 * A bot that trades at random over one WebSocket at a time, and reconnects after a loss. Unanswered
 * orders are sent again under their own keys, and events continue after the last one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { patched } from '../api/stream-client.ts';
import type { RandomSource } from '../model/random-source.ts';
import type { Json } from './client.ts';
import { EventBooks } from './event-books.ts';

/** Before the first event. */
const BEGINNING = '0'.repeat(16);
const UNANSWERED_MAX = 6;
const EVERY_MS = 20;
const STEPS = { buy: 4, limitBuy: 8, sell: 3, limitSell: 3, cancel: 3 };

type Options = { token: string; instrumentIds: readonly string[]; random: RandomSource };

export class StreamBot {
  readonly books = new EventBooks();
  readonly events: Json[] = [];
  /** By key: the body of an order, and its answer. */
  readonly placed = new Map<string, { body: Json; answer: Json }>();
  /** Refusals by code. */
  readonly refused = new Map<string, number>();
  readonly counts = { answers: 0, sentAgain: 0, replayed: 0, connections: 0 };
  url = '';
  isTrading = true;
  /** By id: messages without an answer. */
  readonly unanswered = new Map<string, Json>();
  readonly #options: Options;
  readonly #quotes = new Map<string, Json>();
  #socket: WebSocket | null = null;
  #hasEnded = false;
  #ids = 0;
  #nowMs = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Until `end`. */
  async run(): Promise<void> {
    while (!this.#hasEnded) {
      await this.#connected();
      await sleep(EVERY_MS);
    }
  }

  /** Destroys the socket, and with it the answers to the last messages. */
  cut(): void {
    this.#socket?.terminate();
  }

  end(): void {
    this.#hasEnded = true;
    this.cut();
  }

  get lastEventId(): string {
    return this.events.at(-1)?.eventId ?? BEGINNING;
  }

  /** Resolves once this connection is lost, or could not be had. */
  async #connected(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#options.token}` };
    const socket = new WebSocket(this.url, { headers });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}); // a close follows
    socket.on('message', (data) => this.#take(JSON.parse(String(data))));
    socket.on('open', () => {
      this.#socket = socket;
      this.counts.connections++;
      const quotes = this.#options.instrumentIds.map((id) => `quotes:${id}`);
      const after = { orders: this.lastEventId };
      this.#send({ op: 'subscribe', channels: ['orders', ...quotes], after });
      for (const message of this.unanswered.values()) {
        this.counts.sentAgain++;
        this.#send(message);
      }
    });
    const trading = setInterval(() => this.#step(), EVERY_MS);
    await closed;
    clearInterval(trading);
    this.#socket = null;
    this.#quotes.clear();
  }

  #take(message: Json): void {
    const { channel, data, id, status, body, at = message.heartbeat?.at } = message;
    if (at !== undefined) this.#nowMs = Math.max(this.#nowMs, Date.parse(at));
    if (channel === 'orders' && data?.eventId > this.lastEventId) {
      this.events.push(data);
      this.books.take(data);
    } else if (channel?.startsWith('quotes:') && data !== undefined) {
      this.#quotes.set(channel, patched(this.#quotes.get(channel), data));
    } else if (channel !== undefined) {
      this.books.faults.push(`no event after ${this.lastEventId}: ${JSON.stringify(message)}`);
    } else if (typeof id === 'string') {
      this.#answered(id, status, body);
    } else if (status >= 400) {
      this.books.faults.push(JSON.stringify(message));
    }
  }

  #answered(id: string, status: number, body: Json): void {
    const message = this.unanswered.get(id);
    if (message === undefined) return; // It was sent twice, and answered twice.
    // The engine is not there yet, or is overloaded.
    if (status === 503) return void setTimeout(() => this.#send(message), 200);
    this.unanswered.delete(id);
    this.counts.answers++;
    if (message.op !== 'place') return;
    if (status !== 200) {
      const { code } = body.error;
      this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
      return;
    }
    if (body.replayed) this.counts.replayed++;
    this.placed.set(id, { body: message.order, answer: body });
  }

  #send(message: Json): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #step(): void {
    if (!this.isTrading || this.unanswered.size >= UNANSWERED_MAX || this.#quotes.size === 0)
      return;
    const message = this[this.#options.random.weighted(STEPS)]();
    if (message === null) return;
    this.#ids++;
    const id = `bot-${this.#ids}`;
    if (message.op === 'place') message.order.idempotencyKey = id;
    this.unanswered.set(id, { id, ...message });
    this.#send(this.unanswered.get(id));
  }

  buy(): Json | null {
    const { ask, ...what } = this.#priced() ?? {};
    if (ask === undefined) return null;
    const bound = this.#options.random.oneIn(3) ? { maxPriceCents: ask } : {};
    return order({ action: 'buy', type: 'market', ...what, ...bound });
  }

  limitBuy(): Json | null {
    const { random } = this.#options;
    const { ask, ...what } = this.#priced() ?? {};
    if (ask === undefined) return null;
    const limitPriceCents = Math.min(99, Math.max(1, ask + random.int(-3, 1)));
    const minutes = random.int(2, 60);
    const expiresAt = new Date(this.#nowMs + minutes * 60_000).toISOString();
    const lasts = random.oneIn(4) ? { timeInForce: 'ioc' } : random.oneIn(2) ? { expiresAt } : {};
    return order({ action: 'buy', type: 'limit', ...what, limitPriceCents, ...lasts });
  }

  sell(): Json | null {
    const tradeId = this.#someOf(this.books.open);
    return tradeId && order({ action: 'sell', type: 'market', tradeId });
  }

  limitSell(): Json | null {
    const tradeId = this.#someOf(this.books.open);
    if (tradeId === null) return null;
    const wanted = this.books.open.get(tradeId).entryCents + this.#options.random.int(-2, 8);
    const limitPriceCents = Math.min(99, Math.max(1, wanted));
    return order({ action: 'sell', type: 'limit', tradeId, limitPriceCents });
  }

  cancel(): Json | null {
    const orderId = this.#someOf(this.books.resting);
    return orderId && { op: 'cancel', orderId };
  }

  /** Some instrument, side and count, and its price; null: none is live. */
  #priced() {
    const { random } = this.#options;
    const live = [...this.#quotes.values()].flatMap(({ instrumentId, venues: [price] }) => [
      { instrumentId, side: 'yes', ask: price?.yesAskCents },
      { instrumentId, side: 'no', ask: price?.yesBidCents && 100 - price.yesBidCents },
    ]);
    const some = live.filter(({ ask }) => ask != null);
    return some.length === 0 ? null : { ...random.pick(some), count: random.int(1, 50) };
  }

  #someOf(rows: ReadonlyMap<string, Json>): string | null {
    return rows.size === 0 ? null : this.#options.random.pick([...rows.keys()]);
  }
}

const order = (body: Json) => ({ op: 'place', order: body });
