/** Counts of requests, and the text that Prometheus reads. Exposition format 0.0.4. */
import type { FeedStatus } from './deps.ts';
import type { EngineState } from './engine.ts';
import type { Route } from './route.ts';

/** The part of a route that names it in a metric. */
type Named = Pick<Route<never>, 'method' | 'path'>;

/** Requests of one route, by the status of their answers. */
export class RouteCount {
  readonly byStatus: number[] = [];

  add(status: number): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
  }
}

export class Metrics {
  /** Null is no route at all. */
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
  text(state: EngineState, feeds: readonly FeedStatus[]): string {
    const memory = process.memoryUsage();
    return [
      ...family('paperbook_http_requests_total', 'counter', 'Requests answered.', this.#samples()),
      ...family('paperbook_engine_ready', 'gauge', 'Whether the engine takes requests.', [
        ['', state === 'ready' ? 1 : 0],
      ]),
      ...family('paperbook_feed_open', 'gauge', 'Whether a venue connection is up.', [
        ...feeds.map((feed) => [feedLabels(feed), feed.state === 'open' ? 1 : 0] as const),
      ]),
      ...family('paperbook_feed_frames_total', 'counter', 'Frames taken from a venue.', [
        ...feeds.map((feed) => [feedLabels(feed), feed.frames] as const),
      ]),
      ...family('paperbook_feed_books', 'gauge', 'Books that are kept of a venue.', [
        ...feeds.map((feed) => [feedLabels(feed), feed.books] as const),
      ]),
      ...family('paperbook_feed_unquoted_markets', 'gauge', 'Markets asked for, never quoted.', [
        ...feeds.map((feed) => [feedLabels(feed), feed.unquoted.size] as const),
      ]),
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
}

type Sample = readonly [labels: string, value: number];

function family(name: string, type: string, help: string, samples: Iterable<Sample>): string[] {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const [labelText, value] of samples) lines.push(`${name}${labelText} ${value}`);
  return lines;
}

const feedLabels = ({ venue, adapter, url }: FeedStatus) => labels({ venue, adapter, url });

function labels(pairs: Record<string, string>): string {
  const inside = Object.entries(pairs).map(([name, value]) => `${name}=${labelValue(value)}`);
  return `{${inside.join(',')}}`;
}

function labelValue(text: string): string {
  const escaped = text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
  return `"${escaped}"`;
}
