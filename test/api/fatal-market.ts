/** A market that `failing-feed-thread.ts` fails at. */
export const FATAL_MARKET = 666;
