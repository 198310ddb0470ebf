/**
 * The problems of the feeds, in words for an operator. Rules W9, W70, W71, W87, W89
 * (feeds/FORMATS.md).
 */
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import type { FeedStatus } from './connection-status.ts';

/** Shorter problems pass: connections are dialed again, and first books take a moment. */
const TROUBLE_MS = 60_000;
const NAMES_SHOWN = 5;
/** So many open connections that ended within this time are a problem in themselves. */
export const ENDS_KEPT = 3;
const AGAIN_WITHIN_MS = 600_000;

type FeedHealth = Pick<
  FeedStatus,
  | 'venue'
  | 'adapter'
  | 'host'
  | 'downSinceMs'
  | 'lastProblem'
  | 'unquoted'
  | 'counts'
  | 'missedStatesProblem'
  | 'resultProblems'
  | 'endedMs'
  | 'silent'
>;

/**
 * One line per problem: a connection that was not open for a minute, or was dialed again and again,
 * or was open and silent; markets that had no quote a minute after the subscription; a feed whose
 * missed results cannot be asked for; and each kind of results that an operator must know of. No
 * line has a secret. `nowMs` is of the wall clock.
 */
export function feedProblems(feeds: readonly FeedHealth[], nowMs: EpochMs): string[] {
  return feeds.flatMap((feed) => {
    const { venue, adapter, host } = feed;
    const problems = [
      downProblem(feed, nowMs) ?? unquotedProblem(feed, nowMs),
      againProblem(feed, nowMs),
      silentProblem(feed, nowMs),
      missedProblem(feed),
      ...feed.resultProblems,
    ].filter((problem) => problem !== null);
    return problems.map((problem) => `feed ${venue} ${adapter} at ${host}: ${problem}`);
  });
}

function downProblem(feed: FeedHealth, nowMs: EpochMs): string | null {
  const { downSinceMs, lastProblem, counts } = feed;
  if (downSinceMs === null || nowMs - downSinceMs < TROUBLE_MS) return null;
  const seconds = Math.floor((nowMs - downSinceMs) / 1000);
  const reason = lastProblem ?? 'no answer yet';
  const never = counts.opens === 0 ? 'never connected, ' : '';
  return `${never}not open for ${seconds} s, since ${isoOf(downSinceMs)}: ${reason}`;
}

/** Each time it was open, so no outage shows. */
function againProblem({ endedMs, lastProblem }: FeedHealth, nowMs: EpochMs): string | null {
  const [firstMs] = endedMs;
  if (endedMs.length < ENDS_KEPT || nowMs - firstMs! >= AGAIN_WITHIN_MS) return null;
  return `dialed again and again, ${ENDS_KEPT} times since ${isoOf(firstMs!)}: ${lastProblem}`;
}

function silentProblem({ silent }: FeedHealth, nowMs: EpochMs): string | null {
  if (silent === null || nowMs - silent.atMs >= AGAIN_WITHIN_MS) return null;
  return `was open and silent until ${isoOf(silent.atMs)}: ${silent.reason}`;
}

/** After a minute of several failed tries, results may be missing. */
function missedProblem({ missedStatesProblem: reason }: FeedHealth): string | null {
  return reason === null ? null : `missed results cannot be asked for: ${reason}`;
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
