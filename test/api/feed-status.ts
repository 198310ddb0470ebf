/** A venue connection as the feeds show it. */
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import { NOW_MS } from './samples.ts';

export function feed(url: string, over: Partial<FeedStatus> = {}): FeedStatus {
  return {
    entry: 0,
    venue: 'venue_a',
    adapter: 'native',
    url,
    host: '127.0.0.1:1',
    state: 'open',
    sinceMs: NOW_MS,
    downSinceMs: null,
    attempts: 0,
    retryInMs: null,
    frames: 7,
    lastHeardMs: null,
    books: 3,
    subscribed: 9,
    unquoted: new Map([['T', NOW_MS]]),
    counts: { frames: 7, opens: 3, gaps: 4, rejected: { 'not JSON': 5 }, lagMs: 12 },
    lastProblem: null,
    lastProblemMs: null,
    missedStatesProblem: null,
    resultProblems: [],
    endedMs: [],
    silent: null,
    ...over,
  };
}
