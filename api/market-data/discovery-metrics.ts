/** Metrics of discovery, a sample for each entry of PAPERBOOK_DISCOVER. Rule O29 (api/RULES.md). */
import { family, labels, type Sample } from '../base/metrics-text.ts';
import type { DiscoveryStatus, LiveDiscovery } from './live-discovery.ts';

/** The lines of every family. */
export function discoveryMetrics(of: Pick<LiveDiscovery, 'statuses' | 'counts'>): string[] {
  const statuses = of.statuses();
  const { discovered, retired } = of.counts();
  const each = (value: (status: DiscoveryStatus) => number): Sample[] =>
    statuses.map((status) => {
      const { entry, venue } = status;
      return [labels({ entry: String(entry), venue }), value(status)];
    });
  const seconds = (iso: string | null) => (iso === null ? 0 : Date.parse(iso) / 1000);
  const leftOut = ({ leftOut: reasons }: DiscoveryStatus) =>
    Object.values(reasons).reduce((sum, count) => sum + count, 0);
  return [
    ...family('paperbook_discovery_runs_total', 'counter', 'Lists that were asked for.', [
      ...each(({ runs }) => runs),
    ]),
    ...family('paperbook_discovery_found_markets', 'gauge', 'Markets of the last list.', [
      ...each(({ found }) => found),
    ]),
    ...family('paperbook_discovery_joined', 'gauge', 'Listings joined to another venue.', [
      ...each(({ joined }) => joined),
    ]),
    ...family('paperbook_discovery_left_out', 'gauge', 'Markets that make no instrument.', [
      ...each(leftOut),
    ]),
    ...family('paperbook_discovery_complete_seconds', 'gauge', 'When a list was last read whole.', [
      ...each(({ lastCompleteAt }) => seconds(lastCompleteAt)),
    ]),
    ...family('paperbook_discovery_failing', 'gauge', 'Whether a list is unread or incomplete.', [
      ...each(({ problem, incomplete }) => (problem === null && incomplete === null ? 0 : 1)),
    ]),
    ...family('paperbook_discovered_instruments', 'gauge', 'Instruments found and listed.', [
      ['', discovered],
    ]),
    ...family('paperbook_retired_instruments', 'gauge', 'Instruments that are no longer listed.', [
      ['', retired],
    ]),
  ];
}
