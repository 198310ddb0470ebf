/**
 * Metrics of the service as a whole: shards, disk, switches, and the process, whose names are those
 * of prom-client. They are read when somebody asks. Rules O30, O31, O34, O38 (api/RULES.md).
 */
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type EpochMs, FILL_MODELS } from '../../engine/base/units.ts';
import type { EtcdSpace } from '../../engine/replication/space.ts';
import type { ShardStatus } from '../../engine/shard/callers/shard-status.ts';
import { family, labels, type Sample } from '../base/metrics-text.ts';
import { productVersion } from '../base/version.ts';

const NS = 1e9;
const QUANTILES = [50, 90, 99] as const;
const STATES: readonly ShardStatus['state'][] = [
  'opening',
  'catching_up',
  'following',
  'open',
  'restarting',
  'closed',
];

/** What the metrics of the service are read from. */
export type ServiceParts = {
  statuses: readonly ShardStatus[];
  /** The engine's time, which checkpoints have. */
  nowMs: EpochMs;
  dataDir: string;
  switches: { venueData: boolean; trading: boolean };
  /** Of markets, by their result and whether their venue now says another. */
  results: readonly ResultCount[];
  streamConnections: number;
  /** Of the fullest member of etcd; null: the server is in no cluster, or none answers. */
  etcd: EtcdSpace | null;
};

export type ResultCount = { result: string; state: 'final' | 'contradicted'; markets: number };

export function serviceMetrics(parts: ServiceParts): string[] {
  const { statuses, nowMs, dataDir, switches, results, streamConnections, etcd } = parts;
  return [
    ...family('paperbook_build_info', 'gauge', 'The version that runs; the value is 1.', [
      [labels({ version: productVersion(), node: process.versions.node }), 1],
    ]),
    ...family('paperbook_switch_on', 'gauge', 'Whether a switch of the operator is on.', [
      [labels({ switch: 'venue_data' }), Number(switches.venueData)],
      [labels({ switch: 'trading' }), Number(switches.trading)],
    ]),
    ...shardMetrics(statuses, nowMs),
    ...orderMetrics(statuses),
    ...family(
      'paperbook_market_results',
      'gauge',
      'Markets with this result; contradicted: their venue says another.',
      results.map(({ result, state, markets }) => [labels({ result, state }), markets]),
    ),
    ...family('paperbook_stream_connections', 'gauge', 'Open connections of the stream.', [
      ['', streamConnections],
    ]),
    ...diskMetrics(dataDir),
    ...(etcd === null ? [] : etcdMetrics(etcd)),
  ];
}

/** Of the fullest member. */
function etcdMetrics(space: EtcdSpace): string[] {
  const { fileBytes, usedBytes, quotaBytes, isRefusing, silent } = space;
  const gauge = (name: string, help: string, value: number) =>
    family(`paperbook_etcd_${name}`, 'gauge', help, [['', value]]);
  return [
    ...gauge('file_bytes', "Size of etcd's file.", fileBytes),
    ...gauge('used_bytes', 'Of these, bytes that are not free for new records.', usedBytes),
    ...gauge('quota_bytes', 'The size at which etcd stores nothing more.', quotaBytes),
    ...gauge('refusing', 'Whether etcd stores nothing more.', Number(isRefusing)),
    ...gauge('silent', 'Members of etcd that do not answer.', silent.length),
  ];
}

function shardMetrics(statuses: readonly ShardStatus[], nowMs: EpochMs): string[] {
  type Value = (status: ShardStatus) => number | null | undefined;
  const of = (value: Value): Sample[] =>
    statuses.flatMap((status, shard) => {
      const found = value(status);
      return found == null ? [] : [[labels({ shard: String(shard) }), found] as const];
    });
  const gauge = (name: string, help: string, value: Value) =>
    family(`paperbook_shard_${name}`, 'gauge', help, of(value));
  const states = statuses.flatMap(({ state }, shard) =>
    STATES.map(
      (each) => [labels({ shard: String(shard), state: each }), Number(each === state)] as const,
    ),
  );
  const seconds = (ms: number | null) => (ms === null ? null : ms / 1000);
  return [
    ...family('paperbook_shard_state', 'gauge', 'Whether a shard is in this state.', states),
    ...gauge(
      'healthy',
      'Whether orders can be placed in the shard.',
      ({ problem, restartProblem }) => Number(problem === null && restartProblem === null),
    ),
    ...gauge('queue_requests', 'Requests that wait or are in flight.', ({ queued }) => queued),
    ...gauge('queue_limit_requests', 'How many may wait now.', ({ queuedMax }) => queuedMax),
    ...gauge('log_bytes', 'Size of the log.', ({ progress }) => progress?.logBytes),
    ...gauge(
      'facts',
      'Number of the last fact of the log.',
      ({ progress }) => progress?.lastNumber,
    ),
    ...gauge(
      'facts_since_checkpoint',
      'Facts that a start would replay.',
      ({ progress }) => progress && progress.lastNumber - progress.checkpointNumber,
    ),
    ...gauge('checkpoint_age_seconds', 'Time since the last checkpoint.', ({ progress }) =>
      progress?.checkpointNumber ? Math.max(0, nowMs - progress.checkpointAtMs) / 1000 : null,
    ),
    ...gauge('batch_p50_seconds', 'Median time of a batch to the disk, over five minutes.', (one) =>
      seconds(one.batches.p50Ms),
    ),
    ...gauge('batch_p99_seconds', '99th percentile of the same.', (one) =>
      seconds(one.batches.p99Ms),
    ),
  ];
}

/** Of all orders, whether they came by HTTP, in a batch, over the stream, or from an assistant. */
function orderMetrics(statuses: readonly ShardStatus[]): string[] {
  const each = (samplesOf: (status: ShardStatus, shard: string) => Sample[]): Sample[] =>
    statuses.flatMap((status, shard) => samplesOf(status, String(shard)));
  const ended = ['executed', 'canceled', 'expired', 'refused'] as const;
  const byModel = (what: 'fills' | 'contracts') =>
    each(({ orders }, shard) =>
      FILL_MODELS.map((model) => [labels({ shard, model }), orders.fills[model][what]]),
    );
  return [
    ...family(
      'paperbook_orders_placed_total',
      'counter',
      'Orders that the engine accepted.',
      each(({ orders }, shard) => [[labels({ shard }), orders.outcomes.placed]]),
    ),
    ...family(
      'paperbook_orders_total',
      'counter',
      'Orders that have ended, or that a rule of the engine refused.',
      each(({ orders }, shard) =>
        ended.map((outcome) => [labels({ shard, outcome }), orders.outcomes[outcome]]),
      ),
    ),
    ...family('paperbook_fills_total', 'counter', 'Fills of orders.', byModel('fills')),
    ...family(
      'paperbook_fill_contracts_total',
      'counter',
      'Contracts of these fills.',
      byModel('contracts'),
    ),
  ];
}

/** Of the file system of the data directory. */
function diskMetrics(dataDir: string): string[] {
  const { bsize, blocks, bfree, bavail } = statfsSync(dataDir);
  return [
    ...family('paperbook_disk_used_bytes', 'gauge', 'Used on the disk of the data directory.', [
      ['', (blocks - bfree) * bsize],
    ]),
    ...family('paperbook_disk_free_bytes', 'gauge', 'Free there for the server.', [
      ['', bavail * bsize],
    ]),
  ];
}

/** Metrics of the process and of its main thread, since it was made. */
export class ProcessMetrics {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay();

  constructor() {
    this.#delay.enable();
  }

  text(): string[] {
    const memory = process.memoryUsage();
    const cpu = process.cpuUsage();
    const [user, system] = [cpu.user / 1e6, cpu.system / 1e6];
    const gauge = (name: string, help: string, value: number) =>
      family(name, 'gauge', help, [['', value]]);
    const counter = (name: string, help: string, value: number) =>
      family(name, 'counter', help, [['', value]]);
    const startedAtSeconds = (Date.now() - process.uptime() * 1000) / 1000;
    return [
      ...counter('process_cpu_user_seconds_total', 'User CPU time.', user),
      ...counter('process_cpu_system_seconds_total', 'System CPU time.', system),
      ...counter('process_cpu_seconds_total', 'User and system CPU time.', user + system),
      ...gauge(
        'process_start_time_seconds',
        'Start of the process, of the epoch.',
        startedAtSeconds,
      ),
      ...gauge('process_resident_memory_bytes', 'Resident memory.', memory.rss),
      ...fileMetrics(),
      ...this.#delays(),
      ...gauge('nodejs_heap_size_total_bytes', 'Heap of the main thread.', memory.heapTotal),
      ...gauge('nodejs_heap_size_used_bytes', 'Heap of the main thread in use.', memory.heapUsed),
      ...gauge('nodejs_external_memory_bytes', 'External memory of Node.', memory.external),
      ...family('nodejs_version_info', 'gauge', 'The version of Node.', [
        [labels({ version: process.version }), 1],
      ]),
      ...gauge('process_heap_bytes', 'Heap of the main thread in use.', memory.heapUsed),
      ...gauge('process_uptime_seconds', 'Time since the start.', process.uptime()),
    ];
  }

  /** Since the last time they were read. An interval of the timer itself is no delay. */
  #delays(): string[] {
    const delay = this.#delay;
    const gauge = (part: string, help: string, ns: number) =>
      family(`nodejs_eventloop_lag${part}_seconds`, 'gauge', help, [
        ['', Number.isFinite(ns) && delay.count > 0 ? ns / NS : 0],
      ]);
    const text = [
      ...gauge('', 'Mean delay of the event loop of the main thread.', delay.mean),
      ...gauge('_max', 'Longest delay since the last reading.', delay.max),
      ...QUANTILES.flatMap((of) =>
        gauge(`_p${of}`, `Percentile ${of} of the delay.`, delay.percentile(of)),
      ),
    ];
    delay.reset();
    return text;
  }
}

/** Where the system has `/proc`. */
function fileMetrics(): string[] {
  try {
    const open = readdirSync('/proc/self/fd').length - 1;
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return [
      ...family('process_open_fds', 'gauge', 'Open file descriptors.', [['', open]]),
      ...family('process_max_fds', 'gauge', 'How many may be open.', [['', Number(limit)]]),
    ];
  } catch {
    return [];
  }
}
