/** Counts of requests, and the text that Prometheus reads. Exposition format 0.0.4. */

import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import type { EngineState } from '../base/engine.ts';
import { family, labels, type Sample } from '../base/metrics-text.ts';
import { discoveryMetrics } from '../market-data/discovery-metrics.ts';
import { feedMetrics } from '../market-data/feed-metrics.ts';
import type { LiveDiscovery } from '../market-data/live-discovery.ts';
import type { Route } from './route.ts';

/** The fields of a route that name it in a metric. */
type Named = Pick<Route<never>, 'method' | 'path'>;

/** Upper bounds of the histogram of durations; one further count is for longer requests. */
const BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 1000, 5000];

/** Requests of one route: counts by status of the answer, and durations. */
export class RouteCount {
  readonly byStatus: number[] = [];
  /** By the first of `BOUNDS_MS` that a request did not exceed; not cumulative. */
  readonly byBound = new Float64Array(BOUNDS_MS.length + 1);
  sumMs = 0;

  /** @param startedMs when the request arrived, on the clock of `performance.now` */
  add(status: number, startedMs: number): void {
    const tookMs = performance.now() - startedMs;
    let bound = 0;
    while (bound < BOUNDS_MS.length && tookMs > BOUNDS_MS[bound]!) bound++;
    this.byBound[bound]!++;
    this.sumMs += tookMs;
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
  }
}

export class Metrics {
  /** Null: requests without a route. */
  readonly #requests = new Map<Named | null, RouteCount>();

  requestsOf(route: Named | null): RouteCount {
    let count = this.#requests.get(route);
    if (count === undefined) {
      count = new RouteCount();
      this.#requests.set(route, count);
    }
    return count;
  }

  /** The whole text of `/metrics`. */
  text(
    state: EngineState,
    feeds: readonly FeedStatus[],
    discovery: Pick<LiveDiscovery, 'statuses' | 'counts'>,
    contradicted: number,
  ): string {
    const memory = process.memoryUsage();
    return [
      ...family('paperbook_http_requests_total', 'counter', 'Requests answered.', this.#samples()),
      ...family(
        'paperbook_http_request_duration_seconds',
        'histogram',
        'Time from a request to its answer.',
        this.#durations(),
      ),
      ...family('paperbook_engine_ready', 'gauge', 'Whether the engine takes requests.', [
        ['', state === 'ready' ? 1 : 0],
      ]),
      ...feedMetrics(feeds),
      ...family(
        'paperbook_results_contradicted_total',
        'counter',
        'Results that differ from the result of their market.',
        [['', contradicted]],
      ),
      ...discoveryMetrics(discovery),
      ...family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [['', memory.rss]]),
      ...family('process_heap_bytes', 'gauge', 'Heap of the main thread in use.', [
        ['', memory.heapUsed],
      ]),
      ...family('process_uptime_seconds', 'gauge', 'Time since the start.', [
        ['', process.uptime()],
      ]),
      '',
    ].join('\n');
  }

  *#samples(): Generator<Sample> {
    for (const [route, { byStatus }] of this.#requests) {
      const { method, path } = route ?? { method: '', path: '' };
      for (const status of Object.keys(byStatus)) {
        yield [labels({ method, route: path, status }), byStatus[Number(status)]!];
      }
    }
  }

  /** Only routes with requests. Each bucket includes the ones before it, as Prometheus requires. */
  *#durations(): Generator<Sample> {
    for (const [route, { byBound, sumMs }] of this.#requests) {
      const named = { method: route?.method ?? '', route: route?.path ?? '' };
      const total = byBound.reduce((sum, count) => sum + count, 0);
      if (total === 0) continue;
      let upTo = 0;
      for (const [bound, ms] of BOUNDS_MS.entries()) {
        upTo += byBound[bound]!;
        yield [`_bucket${labels({ ...named, le: String(ms / 1000) })}`, upTo];
      }
      yield [`_bucket${labels({ ...named, le: '+Inf' })}`, total];
      yield [`_sum${labels(named)}`, sumMs / 1000];
      yield [`_count${labels(named)}`, total];
    }
  }
}
