import type { CanceledOrders, OrderAnswer, OrderPlacement, OrderRequest } from './generated.js';
import { type LinkOptions } from './stream-link.ts';
import type { Channel, StreamEvents, StreamOptions, StreamState } from './stream-types.ts';
type Listener<Name extends keyof StreamEvents> = (event: StreamEvents[Name]) => void;
type Parts = StreamOptions & {
    timeoutMs: number;
} & Omit<LinkOptions, 'onState' | 'onMessage' | 'onTick'>;
export declare class Stream {
    #private;
    /** Made by `client.stream()`. */
    constructor(parts: Parts);
    get state(): StreamState;
    /** The eventId of the last event of `orders` that listeners got; null: none is known. */
    get lastEventId(): string | null;
    /**
     * Calls the listener for each event of a name; returns a function that ends this. If a listener
     * throws, the others still get the event, and its error is thrown again in a separate task.
     */
    on<Name extends keyof StreamEvents>(name: Name, listener: Listener<Name>): () => void;
    /** Resolves once orders can be placed; rejects when the stream is closed. */
    ready(): Promise<void>;
    /**
     * Subscribes, also on every later connection. Resolves once listeners have got the first message
     * of each channel. Rejects with the first `RefusedError`, or when the stream is closed.
     */
    subscribe(...names: readonly Channel[]): Promise<void>;
    unsubscribe(...names: readonly Channel[]): void;
    /**
     * Places an order, as `client.placeOrder`. Rejects with `RefusedError`, or `ConnectionLostError`,
     * which says whether the order may have been placed.
     */
    place(order: OrderRequest): Promise<OrderPlacement>;
    /** Cancels an order, as `client.cancelOrder`. Rejects as `place`. */
    cancel(orderId: string): Promise<OrderAnswer>;
    /** Cancels all resting orders, as `client.cancelOrders`. Rejects as `place`. */
    cancelAll(options?: {
        instrumentId?: string;
    }): Promise<CanceledOrders>;
    /** Closes it finally. Messages that wait for answers are rejected: their outcome is unknown. */
    close(): void;
}
export {};
