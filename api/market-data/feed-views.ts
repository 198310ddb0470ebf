/** Venue connections as operators see them. Rules O4, O10, O22 (api/RULES.md), W9 to W11 (feeds/FORMATS.md). */
import { isoOf, marketName } from '../../engine/base/units.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';

/** More of them are counted. */
const MARKETS_NAMED = 20;

/** For the operator alone: with the address, whose path may be secret. */
export function feedView(feed: FeedStatus) {
  const { entry, venue, adapter, url, state, attempts, books, lastHeardMs, lastProblemMs } = feed;
  const { frames, opens, gaps, rejected, lagMs } = feed.counts;
  return {
    entry,
    venue,
    adapter,
    url,
    state,
    since: isoOf(feed.sinceMs),
    hasConnected: opens > 0,
    reconnects: reconnectsOf(feed),
    attempts,
    frames,
    gaps,
    rejected,
    lagMs,
    books,
    subscribed: feed.subscribed,
    unquoted: feed.unquoted.size,
    unquotedMarkets: firstUnquoted([feed]),
    lastHeardAt: lastHeardMs === null ? null : isoOf(lastHeardMs),
    lastProblem: feed.lastProblem,
    lastProblemAt: lastProblemMs === null ? null : isoOf(lastProblemMs),
    missedStatesProblem: feed.missedStatesProblem,
  };
}

/** For every user of this machine, so without the address. */
export function downView({ counts, sinceMs, ...feed }: FeedStatus) {
  const { venue, adapter, host, state, lastProblem } = feed;
  const hasConnected = counts.opens > 0;
  return { venue, adapter, host, state, since: isoOf(sinceMs), hasConnected, lastProblem };
}

/** Markets that have no quote yet, over all feeds: how many, and the first of them. */
export function unquotedView(feeds: readonly FeedStatus[]) {
  const count = feeds.reduce((sum, { unquoted }) => sum + unquoted.size, 0);
  return { count, markets: firstUnquoted(feeds) };
}

export function reconnectsOf({ counts }: FeedStatus): number {
  return Math.max(0, counts.opens - 1);
}

function firstUnquoted(feeds: readonly FeedStatus[]): string[] {
  const names: string[] = [];
  for (const { venue, unquoted } of feeds) {
    for (const market of unquoted.keys()) {
      if (names.length === MARKETS_NAMED) return names;
      names.push(marketName(venue, market));
    }
  }
  return names;
}
