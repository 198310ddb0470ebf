/** What is wrong with the feeds, in words for an operator. Rule W9 (feeds/FORMATS.md). */
import { type EpochMs, isoOf } from '../engine/rules/units.ts';
import type { ConnectionStatus } from './connection-status.ts';

/** Shorter trouble passes: connections are dialed again, and first books take a moment. */
const TROUBLE_MS = 60_000;
const NAMES_SHOWN = 5;

type FeedHealth = Pick<
  ConnectionStatus,
  'venue' | 'adapter' | 'host' | 'downSinceMs' | 'lastProblem' | 'unquoted'
>;

/**
 * A line for each feed that was not open for a minute, and for each with markets that had no quote
 * a minute after the subscription. No line has a secret. `nowMs` is of the wall clock.
 */
export function feedProblems(feeds: readonly FeedHealth[], nowMs: EpochMs): string[] {
  return feeds.flatMap((feed) => {
    const problem = downProblem(feed, nowMs) ?? unquotedProblem(feed, nowMs);
    const { venue, adapter, host } = feed;
    return problem === null ? [] : [`feed ${venue} ${adapter} at ${host}: ${problem}`];
  });
}

function downProblem({ downSinceMs, lastProblem }: FeedHealth, nowMs: EpochMs): string | null {
  if (downSinceMs === null || nowMs - downSinceMs < TROUBLE_MS) return null;
  const seconds = Math.floor((nowMs - downSinceMs) / 1000);
  const reason = lastProblem ?? 'no answer yet';
  return `not open for ${seconds} s, since ${isoOf(downSinceMs)}: ${reason}`;
}

function unquotedProblem({ unquoted }: FeedHealth, nowMs: EpochMs): string | null {
  const names: string[] = [];
  let count = 0;
  for (const [market, sinceMs] of unquoted) {
    if (nowMs - sinceMs < TROUBLE_MS) continue;
    count++;
    if (names.length < NAMES_SHOWN) names.push(market);
  }
  if (count === 0) return null;
  const more = count > names.length ? ', ...' : '';
  const markets = count === 1 ? 'market' : 'markets';
  return `${count} ${markets} never quoted since it opened: ${names.join(', ')}${more}`;
}
