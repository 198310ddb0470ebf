/**
 * Metrics of the feeds, a sample for each entry of PAPERBOOK_FEEDS: its connections are added up, so
 * that labels are as few as entries, states and reasons. Rule O14 (api/RULES.md).
 */

import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import { CONNECTION_STATES } from '../../feeds/connection/connection-status.ts';
import { family, labels, type Sample } from '../base/metrics-text.ts';
import { reconnectsOf } from './feed-views.ts';

type Entry = { named: Record<string, string>; connections: FeedStatus[] };

/** The lines of every family. */
export function feedMetrics(feeds: readonly FeedStatus[]): string[] {
  const entries = entriesOf(feeds);
  const sums = (of: (feed: FeedStatus) => number): Sample[] =>
    entries.map(({ named, connections }) => [labels(named), sumOf(connections, of)]);
  return [
    ...family('paperbook_feed_open', 'gauge', 'Whether every connection of a feed is up.', [
      ...entries.map(({ named, connections }): Sample => {
        return [labels(named), connections.every(({ state }) => state === 'open') ? 1 : 0];
      }),
    ]),
    ...family('paperbook_feed_connections', 'gauge', 'Connections by state.', [
      ...entries.flatMap(({ named, connections }) => {
        return CONNECTION_STATES.map((state): Sample => {
          const count = sumOf(connections, (feed) => (feed.state === state ? 1 : 0));
          return [labels({ ...named, state }), count];
        });
      }),
    ]),
    ...family('paperbook_feed_frames_total', 'counter', 'Frames taken from a venue.', [
      ...sums(({ counts }) => counts.frames),
    ]),
    ...family('paperbook_feed_rejected_frames_total', 'counter', 'Frames that were no use.', [
      ...entries.flatMap(rejectedSamples),
    ]),
    ...family('paperbook_feed_gaps_total', 'counter', 'Jumps in the sequence of a venue.', [
      ...sums(({ counts }) => counts.gaps),
    ]),
    ...family('paperbook_feed_reconnects_total', 'counter', 'Connections that were made again.', [
      ...sums(reconnectsOf),
    ]),
    ...family('paperbook_feed_lag_seconds', 'gauge', 'Delay of the last price.', [
      ...entries.flatMap(lagSample),
    ]),
    ...family('paperbook_feed_subscribed_markets', 'gauge', 'Markets asked for.', [
      ...sums(({ subscribed }) => subscribed),
    ]),
    ...family('paperbook_feed_unquoted_markets', 'gauge', 'Markets asked for, never quoted.', [
      ...sums(({ unquoted }) => unquoted.size),
    ]),
    ...family('paperbook_feed_books', 'gauge', 'Books that are kept of a venue.', [
      ...sums(({ books }) => books),
    ]),
    ...family('paperbook_feed_missed_results_failing', 'gauge', 'Whether REST does not answer.', [
      ...sums(({ missedStatesProblem }) => (missedStatesProblem === null ? 0 : 1)),
    ]),
  ];
}

function entriesOf(feeds: readonly FeedStatus[]): Entry[] {
  const entries = new Map<number, Entry>();
  for (const feed of feeds) {
    const { entry, venue, adapter } = feed;
    const known = entries.get(entry);
    const named = { entry: String(entry), venue, adapter };
    if (known === undefined) entries.set(entry, { named, connections: [feed] });
    else known.connections.push(feed);
  }
  return [...entries.values()];
}

function sumOf(connections: readonly FeedStatus[], of: (feed: FeedStatus) => number): number {
  return connections.reduce((sum, feed) => sum + of(feed), 0);
}

function rejectedSamples({ named, connections }: Entry): Sample[] {
  const byReason = new Map<string, number>();
  for (const { counts } of connections) {
    for (const [reason, count] of Object.entries(counts.rejected)) {
      byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    }
  }
  return [...byReason].map(([reason, count]) => [labels({ ...named, reason }), count]);
}

/** The connection with the largest lag; none if the lag of no connection is known. */
function lagSample({ named, connections }: Entry): Sample[] {
  const lags = connections.flatMap(({ counts }) => counts.lagMs ?? []);
  return lags.length === 0 ? [] : [[labels(named), Math.max(...lags) / 1000]];
}
