/**
 * The stream of the API: quotes, games and own orders as they change, and orders over it. It
 * reconnects by itself after a lost connection and continues from there. Rules J1 to J24, Q15, U90
 * (api/RULES.md).
 */
import { RefusedError } from './errors.js';
import { Calls } from './stream-calls.js';
import { SubscribedChannel } from './stream-channel.js';
import { Link } from './stream-link.js';
/** How long a channel waits that the request limits refuse, if they do not say. */
const RETRY_SECONDS = 5;
export class Stream {
    #link;
    #calls;
    #channels = new Map();
    #listeners = new Map();
    /** Where `orders` begins when it is subscribed to. */
    #after;
    #cancelOnDisconnect;
    /** That orders can be placed now. */
    #isReady = false;
    #onReady = [];
    /** Made by `client.stream()`. */
    constructor(parts) {
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
    get state() {
        return this.#link.state;
    }
    /** The eventId of the last event of `orders` that listeners got; null: none is known. */
    get lastEventId() {
        return this.#channels.get('orders')?.channel.after ?? this.#after;
    }
    /**
     * Calls the listener for each event of a name; returns a function that ends this. If a listener
     * throws, the others still get the event, and its error is thrown again in a separate task.
     */
    on(name, listener) {
        const listeners = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, listeners.add(listener));
        return () => listeners.delete(listener);
    }
    /** Resolves once orders can be placed; rejects when the stream is closed. */
    ready() {
        const { state } = this;
        if (this.#isReady)
            return Promise.resolve();
        if (state.state === 'closed')
            return Promise.reject(closedBy(state.error));
        return new Promise((resolve, reject) => this.#onReady.push({ resolve, reject }));
    }
    /**
     * Subscribes, also on every later connection. Resolves once listeners have got the first message
     * of each channel. Rejects with the first `RefusedError`, or when the stream is closed.
     */
    async subscribe(...names) {
        await Promise.all(names.map((name) => this.#subscribed(name).begun));
    }
    unsubscribe(...names) {
        for (const name of names) {
            const subscribed = this.#channels.get(name);
            if (subscribed === undefined)
                continue;
            this.#forget(subscribed, new Error(`${name} was unsubscribed from`));
            this.#ask({ op: 'unsubscribe', channels: [name] });
        }
    }
    /**
     * Places an order, as `client.placeOrder`. Rejects with `RefusedError`, or `ConnectionLostError`,
     * which says whether the order may have been placed.
     */
    async place(order) {
        const key = order.idempotencyKey ?? order.clientOrderId ?? null;
        return (await this.#order({ op: 'place', order }, key));
    }
    /** Cancels an order, as `client.cancelOrder`. Rejects as `place`. */
    async cancel(orderId) {
        return (await this.#order({ op: 'cancel', orderId }, null));
    }
    /** Cancels all resting orders, as `client.cancelOrders`. Rejects as `place`. */
    async cancelAll(options = {}) {
        return (await this.#order({ op: 'cancel_all', ...options }, null));
    }
    /** Closes it finally. Messages that wait for answers are rejected: their outcome is unknown. */
    close() {
        this.#link.close(null);
    }
    #order(message, idempotencyKey) {
        const send = (text) => this.#isReady && this.#link.send(text);
        return new Promise((answered, reject) => {
            const failed = (error) => {
                reject(error);
                if (leaderOf(error) !== null)
                    this.#link.leave(error);
            };
            this.#calls.call(message, send, { answered, failed, idempotencyKey });
        });
    }
    /** After a lost connection, the next one brings the requested channels. */
    #ask(message, answered = () => { }, failed = () => { }) {
        const send = (text) => this.#link.send(text);
        this.#calls.call(message, send, { answered, failed, idempotencyKey: null });
    }
    #subscribed(name) {
        const known = this.#channels.get(name);
        if (known !== undefined)
            return known;
        const after = name === 'orders' ? this.#after : null;
        const emit = this.#emit.bind(this);
        const channel = new SubscribedChannel(name, after, emit);
        let settle;
        const begun = new Promise((resolve, reject) => {
            settle = { resolve, reject };
        });
        // A waiting caller gets the error, and without one it is ignored.
        begun.catch(() => { });
        const subscribed = { channel, begun, wasAccepted: false, again: undefined, ...settle };
        const { state } = this;
        if (state.state === 'closed')
            subscribed.reject(closedBy(state.error));
        else
            this.#channels.set(name, subscribed);
        if (state.state === 'open')
            this.#begin(subscribed);
        return subscribed;
    }
    #begin(subscribed) {
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
            if (after !== null)
                subscribed.resolve();
        };
        this.#ask(message, accepted, (error) => this.#refused(subscribed, error));
    }
    #refused(subscribed, error) {
        const { channel } = subscribed;
        if (this.#channels.get(channel.name) !== subscribed)
            return;
        if (error instanceof RefusedError && error.status === 429) {
            const inMs = 1000 * (error.retryAfterSeconds ?? RETRY_SECONDS);
            subscribed.again = setTimeout(() => this.#begin(subscribed), inMs);
            return;
        }
        // It is subscribed to again on the next connection.
        if (!(error instanceof RefusedError) || error.status >= 500)
            return this.#link.leave(error);
        this.#end(subscribed, error);
    }
    #end(subscribed, error) {
        const { name } = subscribed.channel;
        this.#forget(subscribed, error);
        if (subscribed.wasAccepted)
            this.#emit('ended', { channel: name, error });
    }
    #forget(subscribed, error) {
        clearTimeout(subscribed.again);
        const { name, after } = subscribed.channel;
        if (name === 'orders')
            this.#after = after;
        this.#channels.delete(name);
        subscribed.reject(error);
    }
    #enter(state) {
        if (state.state === 'open')
            this.#opened();
        else
            this.#lost(state);
        this.#emit('state', state);
    }
    #opened() {
        if (this.#cancelOnDisconnect) {
            // Before it is accepted nothing is placed. A server that does not know it refuses it.
            const message = { op: 'subscribe', channels: [], cancelOnDisconnect: true };
            const failed = (error) => {
                if (error instanceof RefusedError && error.status !== 429)
                    this.#link.close(error);
                else
                    this.#link.drop(error);
            };
            this.#ask(message, () => this.#becomeReady(), failed);
        }
        else
            this.#becomeReady();
        for (const subscribed of this.#channels.values())
            this.#begin(subscribed);
    }
    #becomeReady() {
        this.#isReady = true;
        for (const { resolve } of this.#onReady.splice(0))
            resolve();
    }
    #lost(state) {
        this.#isReady = false;
        this.#calls.lose('the connection was lost');
        if (state.state !== 'closed')
            return;
        const error = closedBy(state.error);
        for (const { reject } of this.#onReady.splice(0))
            reject(error);
        for (const subscribed of [...this.#channels.values()])
            this.#forget(subscribed, error);
    }
    #take(message) {
        if ('channel' in message)
            this.#takeOfChannel(message);
        else if ('heartbeat' in message)
            this.#takeHeartbeat(message.heartbeat);
        else if ('status' in message)
            this.#calls.take(message);
    }
    #takeOfChannel(message) {
        const subscribed = this.#channels.get(message.channel);
        if (subscribed === undefined)
            return;
        if (message.ended === true) {
            const { code, message: why, leader = null } = message.error;
            const error = new RefusedError(403, code, why, null, leader);
            // Orders may be at one node, and a quote at another.
            const isFollowed = message.channel === 'orders' || !this.#channels.has('orders');
            if (leader !== null && isFollowed)
                return this.#link.leave(error);
            return this.#end(subscribed, error);
        }
        if (!subscribed.channel.take(message))
            this.#beginAgain(subscribed);
        else if (message.snapshot === true)
            subscribed.resolve();
    }
    #takeHeartbeat({ seq }) {
        for (const [name, last] of Object.entries(seq)) {
            const subscribed = this.#channels.get(name);
            if (subscribed?.channel.takeHeartbeat(last) === false)
                this.#beginAgain(subscribed);
        }
    }
    #beginAgain(subscribed) {
        const channels = [subscribed.channel.name];
        this.#ask({ op: 'unsubscribe', channels });
        this.#begin(subscribed);
    }
    #emit(name, event) {
        for (const listener of this.#listeners.get(name) ?? []) {
            try {
                listener(event);
            }
            catch (error) {
                setTimeout(() => {
                    throw error;
                });
            }
        }
    }
}
const leaderOf = (error) => error instanceof RefusedError ? error.leader : null;
function closedBy(error) {
    return error ?? new Error('the stream is closed');
}
