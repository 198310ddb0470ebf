/**
 * One subscribed channel of a stream: the content of its messages, and whether one is missing.
 * Rules J7, J8, J10, J12, J14, J15, J22, J23 (api/RULES.md).
 */
import type { ErrorCode } from './generated.js';
import type { Channel, StreamEvents } from './stream-types.ts';
/** A message of a channel, as the server sends it. */
export type ChannelMessage = {
    channel: string;
    epoch: number;
    /** Left out of events that are replayed. */
    seq?: number;
    at: string;
    data: unknown;
    snapshot?: true;
    replayed?: true;
    gap?: true;
    ended?: true;
    error?: {
        code: ErrorCode;
        message: string;
        leader?: string | null;
    };
    /** Of a snapshot of `orders`: a client can continue from here. */
    eventId?: string;
};
export type Emit = <Name extends keyof StreamEvents>(name: Name, event: StreamEvents[Name]) => void;
export declare class SubscribedChannel {
    #private;
    readonly name: Channel;
    /** @param after the last event of `orders` that is known */
    constructor(name: Channel, after: string | null, emit: Emit);
    /** Of `orders`: the last event that was sent to listeners. */
    get after(): string | null;
    /** It is being subscribed to, again or for the first time. */
    ask(): void;
    /** The server has accepted the subscription: its messages follow. */
    begin(): void;
    /** Returns false if messages are missing, so that it must be subscribed to again. */
    take(message: ChannelMessage): boolean;
    /** As `take`. @param seq the number of the last message, as the server has it */
    takeHeartbeat(seq: number): boolean;
}
