/** Counts of requests, and the text that Prometheus reads. Exposition format 0.0.4. */

import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import type { EngineState } from '../base/engine.ts';
import { family, labels, type Sample } from '../base/metrics-text.ts';
import { discoveryMetrics } from '../market-data/discovery-metrics.ts';
import { feedMetrics } from '../market-data/feed-metrics.ts';
import type { LiveDiscovery } from '../market-data/live-discovery.ts';
import type { Route } from './route.ts';
import { ProcessMetrics, type ServiceParts, serviceMetrics } from './service-metrics.ts';

/** Below `/auth/v1`. */
const SIGN_IN_PATH = '/token';

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

/** The requests of one route that another thread has served since its last tally. */
export type RouteTally = {
  /** Null: requests without a route. */
  route: Named | null;
  byStatus: [status: number, requests: number][];
  byBound: number[];
  sumMs: number;
};

export class Metrics {
  /** Null: requests without a route. */
  readonly #requests = new Map<Named | null, RouteCount>();
  /** Of the thread that answers `/metrics`: made when it is first asked. */
  #ofProcess: ProcessMetrics | null = null;
  /** How many connections the stream has. */
  streamConnections: () => number = () => 0;

  /** Of one count, routes of two handlers that have the same name. */
  requestsOf(asked: Named | null): RouteCount {
    const route = asked === null ? null : this.#named(asked);
    let count = this.#requests.get(route);
    if (count === undefined) {
      count = new RouteCount();
      this.#requests.set(route, count);
    }
    return count;
  }

  /** The requests since the last call, which then count here no more. */
  take(): RouteTally[] {
    const tallies: RouteTally[] = [];
    for (const [route, { byStatus, byBound, sumMs }] of this.#requests) {
      const counted = Object.entries(byStatus).map(
        ([status, requests]) => [Number(status), requests] as [number, number],
      );
      if (counted.length === 0) continue;
      const named = route === null ? null : { method: route.method, path: route.path };
      tallies.push({ route: named, byStatus: counted, byBound: [...byBound], sumMs });
      const count = this.#requests.get(route)!;
      count.byStatus.length = 0;
      count.byBound.fill(0);
      count.sumMs = 0;
    }
    return tallies;
  }

  /** Adds what another thread has served. Rule A133 (api/RULES.md). */
  add({ route, byStatus, byBound, sumMs }: RouteTally): void {
    const count = this.requestsOf(route);
    for (const [status, requests] of byStatus) {
      count.byStatus[status] = (count.byStatus[status] ?? 0) + requests;
    }
    for (const [bound, requests] of byBound.entries()) count.byBound[bound]! += requests;
    count.sumMs += sumMs;
  }

  /** The known route with that method and path. */
  #named(route: Named): Named {
    for (const known of this.#requests.keys()) {
      if (known?.method === route.method && known.path === route.path) return known;
    }
    return route;
  }

  /** The whole text of `/metrics`. */
  text(
    state: EngineState,
    feeds: readonly FeedStatus[],
    discovery: Pick<LiveDiscovery, 'statuses' | 'counts'>,
    contradicted: number,
    service: Omit<ServiceParts, 'streamConnections'>,
  ): string {
    this.#ofProcess ??= new ProcessMetrics();
    return [
      ...family('paperbook_http_requests_total', 'counter', 'Requests answered.', this.#samples()),
      ...family(
        'paperbook_http_request_duration_seconds',
        'histogram',
        'Time from a request to its answer.',
        this.#durations(),
      ),
      ...family('paperbook_sign_in_failures_total', 'counter', 'Refused attempts to sign in.', [
        ['', this.#signInFailures()],
      ]),
      ...serviceMetrics({ ...service, streamConnections: this.streamConnections() }),
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
      ...this.#ofProcess.text(),
      '',
    ].join('\n');
  }

  /** Rule O31 (api/RULES.md). */
  #signInFailures(): number {
    let failures = 0;
    for (const [route, { byStatus }] of this.#requests) {
      if (route?.method !== 'POST' || route.path !== SIGN_IN_PATH) continue;
      for (const [status, count] of Object.entries(byStatus)) {
        if (Number(status) >= 400 && Number(status) < 500) failures += count;
      }
    }
    return failures;
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
