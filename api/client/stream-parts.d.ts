import type { LinkOptions } from './stream-link.ts';
import type { StreamOptions } from './stream-types.ts';
type Server = {
    baseUrl: string;
    credential: string | (() => string | Promise<string>) | undefined;
    timeoutMs: number;
};
type Parts = Omit<LinkOptions, 'onState' | 'onMessage' | 'onTick'>;
/** Throws `TypeError` for an option that cannot be. */
export declare function streamParts({ baseUrl, credential, timeoutMs }: Server, options: StreamOptions): StreamOptions & Parts & {
    timeoutMs: number;
};
export {};
