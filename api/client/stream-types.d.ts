/** The options of a stream, and its events for listeners. */
import type { RefusedError } from './errors.ts';
import type { Event, Game, Order, Portfolio, Quote, Trade } from './generated.js';
export type QuotesChannel = `quotes:${string}`;
/** `quotes:ins_…` is about one instrument, `orders` about the account of the stream. */
export type Channel = QuotesChannel | 'games' | 'orders';
/**
 * The part of a WebSocket that a stream needs. The WebSockets of browsers, Node and `ws` have it.
 */
export type StreamSocket = {
    readonly bufferedAmount: number;
    onopen: ((event: any) => void) | null;
    onmessage: ((event: any) => void) | null;
    onclose: ((event: any) => void) | null;
    onerror: ((event: any) => void) | null;
    send(text: string): void;
    close(): void;
};
/** @param options with `headers`; left out if there are none to send */
export type StreamSocketClass = new (url: string, options?: any) => StreamSocket;
export type StreamOptions = {
    /** The eventId of the last event of `orders` that is known: `orders` continues after it. */
    after?: string;
    /**
     * Orders placed over a connection of the stream are canceled when that is lost, or closed. Off by
     * default.
     */
    cancelOnDisconnect?: boolean;
    /** The id of an organization, whose sandbox `orders`, `place` and `cancel` are about. */
    organization?: string;
    /** In place of the global one. A browser's sends no credential, but the cookie of a session. */
    WebSocket?: StreamSocketClass;
    /** How often the server sends a heartbeat: 5 seconds. */
    heartbeatMs?: number;
    /** The first reconnection waits at most so long, each further one up to twice as long: 250. */
    firstPauseMs?: number;
};
type Subject<Type> = Type extends `order_${string}` ? {
    order: Order;
} : Type extends 'trade_corrected' ? Required<Pick<Event, 'tradeId' | 'from' | 'to' | 'cashDollars'>> : Type extends `trade_${string}` ? {
    trade: Trade;
} : unknown;
/** An event of an account: `type` tells whether it has an order, a trade, or a corrected result. */
export type AccountEvent = {
    [Type in Event['type']]: Pick<Event, 'eventId' | 'at'> & {
        type: Type;
    } & Subject<Type>;
}[Event['type']];
export type StreamState = {
    state: 'connecting';
    error?: undefined;
} | {
    state: 'open';
    error?: undefined;
}
/** `error` is the reason why the last connection ended or was refused. */
 | {
    state: 'waiting';
    error: Error;
    retryInMs: number;
}
/** It never opens again; `error` is null after `close()`. */
 | {
    state: 'closed';
    error: Error | null;
};
/** The data that a listener gets, by the name of an event. `at` is a date-time of the server. */
export type StreamEvents = {
    /** A quote as it is now. `change` has its new members; null if all of them may be new. */
    quote: {
        quote: Quote;
        change: Partial<Quote> | null;
        at: string;
    };
    /** The first hundred games, as `listGames` answers them. */
    games: {
        games: Game[];
        nextCursor: string | null;
        at: string;
    };
    /** A game that has changed. */
    game: {
        game: Game;
        at: string;
    };
    /** Where `orders` begins again: earlier events may not have been sent. */
    portfolio: {
        portfolio: Portfolio;
        at: string;
    };
    /**
     * Each event once, in order, over all connections. `replayed`: it happened during a loss.
     */
    order: {
        event: AccountEvent;
        replayed: boolean;
    };
    /**
     * Messages of a channel are missing, and its content follows again. Events of `orders` are asked
     * for again. There a gap means that the server cannot send them any more.
     */
    gap: {
        channel: Channel;
    };
    /** The server has ended a channel, which is subscribed to no more. */
    ended: {
        channel: Channel;
        error: RefusedError;
    };
    state: StreamState;
};
export {};
