/**
 * The stream of the API: quotes, games and own orders as they change, and orders over it. It
 * reconnects by itself after a lost connection and continues from there. Rules J1 to J24, Q15, U90
 * (api/RULES.md).
 */
import { RefusedError } from './errors.ts';
import type { CanceledOrders, OrderAnswer, OrderPlacement, OrderRequest } from './generated.js';
import { type Answer, Calls } from './stream-calls.ts';
import { type ChannelMessage, SubscribedChannel } from './stream-channel.ts';
import { Link, type LinkOptions } from './stream-link.ts';
import type { Channel, StreamEvents, StreamOptions, StreamState } from './stream-types.ts';

/** How long a channel waits that the request limits refuse, if they do not say. */
const RETRY_SECONDS = 5;

type Listener<Name extends keyof StreamEvents> = (event: StreamEvents[Name]) => void;
type Subscribed = {
  channel: SubscribedChannel;
  /** Resolves when it has begun, and rejects if it never will. */
  begun: Promise<void>;
  wasAccepted: boolean;
  /** When it was refused for the request limits: until it is asked for again. */
  again: ReturnType<typeof setTimeout> | undefined;
  resolve(): void;
  reject(error: Error): void;
};
type Parts = StreamOptions & { timeoutMs: number } & Omit<
    LinkOptions,
    'onState' | 'onMessage' | 'onTick'
  >;

export class Stream {
  readonly #link: Link;
  readonly #calls: Calls;
  readonly #channels = new Map<string, Subscribed>();
  readonly #listeners = new Map<keyof StreamEvents, Set<Listener<never>>>();
  /** Where `orders` begins when it is subscribed to. */
  #after: string | null;
  readonly #cancelOnDisconnect: boolean;
  /** That orders can be placed now. */
  #isReady = false;
  #onReady: { resolve(): void; reject(error: Error): void }[] = [];

  /** Made by `client.stream()`. */
  constructor(parts: Parts) {
    const { after = null, cancelOnDisconnect = false, timeoutMs } = parts;
    this.#after = after;
    this.#cancelOnDisconnect = cancelOnDisconnect;
    this.#calls = new Calls(timeoutMs);
    this.#link = new Link({
      ...parts,
      onState: (state) => this.#enter(state),
      onMessage: (message) => this.#take(message),
      onTick: () => this.#calls.expire(),
    });
    void this.#link.connect();
  }

  get state(): StreamState {
    return this.#link.state;
  }

  /** The eventId of the last event of `orders` that listeners got; null: none is known. */
  get lastEventId(): string | null {
    return this.#channels.get('orders')?.channel.after ?? this.#after;
  }

  /**
   * Calls the listener for each event of a name; returns a function that ends this. If a listener
   * throws, the others still get the event, and its error is thrown again in a separate task.
   */
  on<Name extends keyof StreamEvents>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Resolves once orders can be placed; rejects when the stream is closed. */
  ready(): Promise<void> {
    const { state } = this;
    if (this.#isReady) return Promise.resolve();
    if (state.state === 'closed') return Promise.reject(closedBy(state.error));
    return new Promise((resolve, reject) => this.#onReady.push({ resolve, reject }));
  }

  /**
   * Subscribes, also on every later connection. Resolves once listeners have got the first message
   * of each channel. Rejects with the first `RefusedError`, or when the stream is closed.
   */
  async subscribe(...names: readonly Channel[]): Promise<void> {
    await Promise.all(names.map((name) => this.#subscribed(name).begun));
  }

  unsubscribe(...names: readonly Channel[]): void {
    for (const name of names) {
      const subscribed = this.#channels.get(name);
      if (subscribed === undefined) continue;
      this.#forget(subscribed, new Error(`${name} was unsubscribed from`));
      this.#ask({ op: 'unsubscribe', channels: [name] });
    }
  }

  /**
   * Places an order, as `client.placeOrder`. Rejects with `RefusedError`, or `ConnectionLostError`,
   * which says whether the order may have been placed.
   */
  async place(order: OrderRequest): Promise<OrderPlacement> {
    const key = order.idempotencyKey ?? order.clientOrderId ?? null;
    return (await this.#order({ op: 'place', order }, key)) as OrderPlacement;
  }

  /** Cancels an order, as `client.cancelOrder`. Rejects as `place`. */
  async cancel(orderId: string): Promise<OrderAnswer> {
    return (await this.#order({ op: 'cancel', orderId }, null)) as OrderAnswer;
  }

  /** Cancels all resting orders, as `client.cancelOrders`. Rejects as `place`. */
  async cancelAll(options: { instrumentId?: string } = {}): Promise<CanceledOrders> {
    return (await this.#order({ op: 'cancel_all', ...options }, null)) as CanceledOrders;
  }

  /** Closes it finally. Messages that wait for answers are rejected: their outcome is unknown. */
  close(): void {
    this.#link.close(null);
  }

  #order(message: object, idempotencyKey: string | null): Promise<unknown> {
    const send = (text: object) => this.#isReady && this.#link.send(text);
    return new Promise((answered, reject) => {
      const failed = (error: Error) => {
        reject(error);
        if (leaderOf(error) !== null) this.#link.leave(error);
      };
      this.#calls.call(message, send, { answered, failed, idempotencyKey });
    });
  }

  /** After a lost connection, the next one brings the requested channels. */
  #ask(message: object, answered = () => {}, failed: (error: Error) => void = () => {}): void {
    const send = (text: object) => this.#link.send(text);
    this.#calls.call(message, send, { answered, failed, idempotencyKey: null });
  }

  #subscribed(name: Channel): Subscribed {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const after = name === 'orders' ? this.#after : null;
    const emit = this.#emit.bind(this);
    const channel = new SubscribedChannel(name, after, emit);
    let settle!: Pick<Subscribed, 'resolve' | 'reject'>;
    const begun = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    // A waiting caller gets the error, and without one it is ignored.
    begun.catch(() => {});
    const subscribed = { channel, begun, wasAccepted: false, again: undefined, ...settle };
    const { state } = this;
    if (state.state === 'closed') subscribed.reject(closedBy(state.error));
    else this.#channels.set(name, subscribed);
    if (state.state === 'open') this.#begin(subscribed);
    return subscribed;
  }

  #begin(subscribed: Subscribed): void {
    clearTimeout(subscribed.again);
    const { channel } = subscribed;
    const { name, after } = channel;
    channel.ask();
    const message = {
      ...{ op: 'subscribe', channels: [name] },
      ...(after === null ? {} : { after: { orders: after } }),
    };
    const accepted = () => {
      subscribed.wasAccepted = true;
      channel.begin();
      // There is no snapshot, and there may be nothing to replay.
      if (after !== null) subscribed.resolve();
    };
    this.#ask(message, accepted, (error) => this.#refused(subscribed, error));
  }

  #refused(subscribed: Subscribed, error: Error): void {
    const { channel } = subscribed;
    if (this.#channels.get(channel.name) !== subscribed) return;
    if (error instanceof RefusedError && error.status === 429) {
      const inMs = 1000 * (error.retryAfterSeconds ?? RETRY_SECONDS);
      subscribed.again = setTimeout(() => this.#begin(subscribed), inMs);
      return;
    }
    // It is subscribed to again on the next connection.
    if (!(error instanceof RefusedError) || error.status >= 500) return this.#link.leave(error);
    this.#end(subscribed, error);
  }

  #end(subscribed: Subscribed, error: RefusedError): void {
    const { name } = subscribed.channel;
    this.#forget(subscribed, error);
    if (subscribed.wasAccepted) this.#emit('ended', { channel: name, error });
  }

  #forget(subscribed: Subscribed, error: Error): void {
    clearTimeout(subscribed.again);
    const { name, after } = subscribed.channel;
    if (name === 'orders') this.#after = after;
    this.#channels.delete(name);
    subscribed.reject(error);
  }

  #enter(state: StreamState): void {
    if (state.state === 'open') this.#opened();
    else this.#lost(state);
    this.#emit('state', state);
  }

  #opened(): void {
    if (this.#cancelOnDisconnect) {
      // Before it is accepted nothing is placed. A server that does not know it refuses it.
      const message = { op: 'subscribe', channels: [], cancelOnDisconnect: true };
      const failed = (error: Error) => {
        if (error instanceof RefusedError && error.status !== 429) this.#link.close(error);
        else this.#link.drop(error);
      };
      this.#ask(message, () => this.#becomeReady(), failed);
    } else this.#becomeReady();
    for (const subscribed of this.#channels.values()) this.#begin(subscribed);
  }

  #becomeReady(): void {
    this.#isReady = true;
    for (const { resolve } of this.#onReady.splice(0)) resolve();
  }

  #lost(state: StreamState): void {
    this.#isReady = false;
    this.#calls.lose('the connection was lost');
    if (state.state !== 'closed') return;
    const error = closedBy(state.error);
    for (const { reject } of this.#onReady.splice(0)) reject(error);
    for (const subscribed of [...this.#channels.values()]) this.#forget(subscribed, error);
  }

  #take(message: object): void {
    if ('channel' in message) this.#takeOfChannel(message as ChannelMessage);
    else if ('heartbeat' in message) this.#takeHeartbeat(message.heartbeat as Heartbeat);
    else if ('status' in message) this.#calls.take(message as Answer);
  }

  #takeOfChannel(message: ChannelMessage): void {
    const subscribed = this.#channels.get(message.channel);
    if (subscribed === undefined) return;
    if (message.ended === true) {
      const { code, message: why, leader = null } = message.error!;
      const error = new RefusedError(403, code, why, null, leader);
      // Orders may be at one node, and a quote at another.
      const isFollowed = message.channel === 'orders' || !this.#channels.has('orders');
      if (leader !== null && isFollowed) return this.#link.leave(error);
      return this.#end(subscribed, error);
    }
    if (!subscribed.channel.take(message)) this.#beginAgain(subscribed);
    else if (message.snapshot === true) subscribed.resolve();
  }

  #takeHeartbeat({ seq }: Heartbeat): void {
    for (const [name, last] of Object.entries(seq)) {
      const subscribed = this.#channels.get(name);
      if (subscribed?.channel.takeHeartbeat(last) === false) this.#beginAgain(subscribed);
    }
  }

  #beginAgain(subscribed: Subscribed): void {
    const channels = [subscribed.channel.name];
    this.#ask({ op: 'unsubscribe', channels });
    this.#begin(subscribed);
  }

  #emit<Name extends keyof StreamEvents>(name: Name, event: StreamEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}

type Heartbeat = { at: string; seq: Record<string, number> };

const leaderOf = (error: Error): string | null =>
  error instanceof RefusedError ? error.leader : null;

function closedBy(error: Error | null): Error {
  return error ?? new Error('the stream is closed');
}
