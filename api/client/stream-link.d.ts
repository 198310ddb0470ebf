import type { StreamSocketClass, StreamState } from './stream-types.ts';
export type LinkOptions = {
    /** `ws://127.0.0.1:8080/v1/stream`; at a node, as it was named; null: the stream does not go there. */
    urlAt(node: string | null): string | null;
    socketClass: StreamSocketClass;
    /** Asked for each connection; null: no credential is sent. */
    headers(): Promise<Record<string, string> | null>;
    /** Why the server refuses a handshake, if it does. */
    refusal(url: string, headers: Record<string, string> | null): Promise<Error | null>;
    /** Whether another credential may follow once one has ended. */
    isRenewed: boolean;
    heartbeatMs: number;
    firstPauseMs: number;
    onState(state: StreamState): void;
    onMessage(message: object): void;
    /** Called several times in a period of heartbeats while it is open. */
    onTick(): void;
};
export declare class Link {
    #private;
    constructor(options: LinkOptions);
    get state(): StreamState;
    /** Returns whether the message was sent. */
    send(message: object): boolean;
    connect(): Promise<void>;
    /** The connection is of no use any more: another one is opened. */
    drop(error: Error): void;
    /** As `drop`; the next connection is to the node that the error names, if it names one. */
    leave(error: Error): void;
    /** Closes it; it does not open again. */
    close(error: Error | null): void;
}
