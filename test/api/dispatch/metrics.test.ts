import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { Metrics } from '../../../api/dispatch/metrics.ts';
import { serviceMetrics } from '../../../api/dispatch/service-metrics.ts';
import type { ShardStatus } from '../../../engine/shard/callers/shard-status.ts';
import { feed } from '../feed-status.ts';
import { startApi } from '../support.ts';

const ROOT = (name: string) => new URL(`../../../${name}`, import.meta.url);
const FILLS = { fills: 2, contracts: 30 };
const SPACE = {
  ...{ fileBytes: 900, usedBytes: 400, quotaBytes: 1000, isRefusing: false },
  silent: ['etcd at one:2379: no answer'],
};
const SHARD: ShardStatus = {
  state: 'open',
  ...{ repaired: null, problem: null, restartProblem: null, lastFailure: null },
  ...{ queued: 3, queuedMax: 100 },
  progress: { lastNumber: 12, logBytes: 1000, checkpointNumber: 7, checkpointAtMs: 1000 },
  batches: { batches: 9, p50Ms: 1, p99Ms: 2 },
  orders: {
    outcomes: { placed: 9, executed: 5, canceled: 2, expired: 1, refused: 4 },
    fills: { top_of_book: FILLS, book_depth: { fills: 1, contracts: 7 }, queue: FILLS },
  },
};

test('O5: /metrics has a histogram of durations by route, each bucket with those before it', async (t) => {
  const api = await startApi(t);
  await api.call('GET', '/status');
  await api.call('GET', '/status');
  const { text } = await api.admin('GET', '/metrics', { token: null });
  const name = 'paperbook_http_request_duration_seconds';
  t.true(text.includes(`# TYPE ${name} histogram`));
  const of = (part: string) =>
    [...text.matchAll(new RegExp(`^${name}_${part}\\{(.*)\\} (.*)$`, 'gm'))]
      .filter(([, labels]) => labels!.startsWith('method="GET",route="/status"'))
      .map(([, labels, value]) => ({ le: /le="(.*)"/.exec(labels!)?.[1], value: Number(value) }));
  const buckets = of('bucket');
  t.is(buckets.at(-1)!.le, '+Inf');
  t.is(buckets.at(-1)!.value, 2);
  t.deepEqual(
    buckets.map(({ value }) => value),
    buckets.map(({ value }) => value).sort((a, b) => a - b),
  );
  t.deepEqual(of('count'), [{ le: undefined, value: 2 }]);
  t.true(of('sum')[0]!.value > 0);
});

test('O14: feeds have a sample for each entry and bounded label, over their connections', async (t) => {
  const api = await startApi(t);
  const counts = {
    frames: 2,
    opens: 1,
    gaps: 1,
    rejected: { 'not JSON': 1, other: 2 },
    lagMs: 900,
  };
  const down = feed('ws://a/secret', { state: 'waiting', counts, missedStatesProblem: 'no' });
  const silent = { frames: 0, opens: 0, gaps: 0, rejected: {}, lagMs: null };
  const never = { entry: 1, venue: 'venue_b', adapter: 'kalshi', counts: silent } as const;
  api.setFeeds([feed('ws://a/secret'), down, feed('ws://b/', { ...never, state: 'connecting' })]);
  const { text } = await api.admin('GET', '/metrics', { token: null });
  const found = text.split('\n').filter((line) => /^paperbook_feed_/.test(line));
  const of = (name: string) =>
    found.flatMap((line) => line.match(`^paperbook_feed_${name}\\{(.*)\\} (.*)$`)?.[2] ?? []);
  t.deepEqual(
    found.filter((line) => line.startsWith('paperbook_feed_frames_total')),
    [
      'paperbook_feed_frames_total{entry="0",venue="venue_a",adapter="native"} 9',
      'paperbook_feed_frames_total{entry="1",venue="venue_b",adapter="kalshi"} 0',
    ],
  );
  t.deepEqual(of('open'), ['0', '0']);
  t.deepEqual(of('connections'), ['0', '1', '1', '0', '1', '0', '0', '0']);
  t.deepEqual(of('gaps_total'), ['5', '0']);
  t.deepEqual(of('reconnects_total'), ['2', '0']);
  t.deepEqual(of('lag_seconds'), ['0.9'], 'none where it is not known');
  t.deepEqual(of('subscribed_markets'), ['18', '9']);
  t.deepEqual(of('unquoted_markets'), ['2', '1']);
  t.deepEqual(of('missed_results_failing'), ['1', '0']);
  const rejected = found.filter((line) => line.includes('rejected'));
  t.deepEqual(
    rejected.map((line) => line.match(/reason="(.*)"\} (.*)/)!.slice(1)),
    [
      ['not JSON', '6'],
      ['other', '2'],
    ],
  );
  t.false(text.includes('secret'));
  t.is(new Set(found.map((line) => line.split(' ')[0])).size, found.length, 'each sample once');
});

/** The names of the families that a text of metrics has, with the parts of histograms. */
function namesIn(text: string): Set<string> {
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    families.flatMap(([, name, type]) => {
      const parts = ['_bucket', '_sum', '_count'];
      return type === 'histogram' ? parts.map((part) => name + part) : [name!];
    }),
  );
}

test('O30: shards, disk, switches and version have metrics, and a value of each shard', async (t) => {
  const api = await startApi(t);
  const { text } = await api.admin('GET', '/metrics', { token: null });
  const sampleOf = (sample: string) => {
    const [line] = text.split('\n').filter((one) => one.startsWith(`${sample} `));
    return line === undefined ? null : Number(line.split(' ').at(-1));
  };
  t.is(sampleOf('paperbook_switch_on{switch="venue_data"}'), 1);
  const { version } = JSON.parse(readFileSync(fileURLToPath(ROOT('package.json')), 'utf8'));
  t.regex(text, new RegExp(`^paperbook_build_info\\{version="${version}",node="22\\.`, 'm'));
  for (const name of ['used', 'free']) t.true(sampleOf(`paperbook_disk_${name}_bytes`)! > 0, name);
  const shards = serviceMetrics({
    statuses: [SHARD, { ...SHARD, state: 'restarting', problem: 'full', progress: null }],
    ...{ nowMs: 61_000, dataDir: '.', switches: { venueData: false, trading: true } },
    ...{ results: [], streamConnections: 0, etcd: null },
  });
  for (const line of [
    'paperbook_shard_state{shard="0",state="open"} 1',
    'paperbook_shard_state{shard="1",state="restarting"} 1',
    'paperbook_shard_healthy{shard="0"} 1',
    'paperbook_shard_healthy{shard="1"} 0',
    'paperbook_shard_queue_requests{shard="0"} 3',
    'paperbook_shard_log_bytes{shard="0"} 1000',
    'paperbook_shard_facts_since_checkpoint{shard="0"} 5',
    'paperbook_shard_checkpoint_age_seconds{shard="0"} 60',
    'paperbook_shard_batch_p99_seconds{shard="1"} 0.002',
    'paperbook_switch_on{switch="venue_data"} 0',
  ]) {
    t.true(shards.includes(line), line);
  }
  const unknown = shards.filter((line) => line.includes('log_bytes{shard="1"'));
  t.deepEqual(unknown, [], 'what is not known has no sample');
});

test('O31: the process has the metrics of prom-client; refused sign-ins are counted', async (t) => {
  const api = await startApi(t);
  const { text } = await api.admin('GET', '/metrics', { token: null });
  const names = namesIn(text);
  for (const name of [
    ...['process_cpu_seconds_total', 'process_start_time_seconds', 'process_open_fds'],
    ...['nodejs_eventloop_lag_seconds', 'nodejs_eventloop_lag_p99_seconds'],
    ...['nodejs_heap_size_used_bytes', 'nodejs_version_info'],
  ]) {
    t.true(names.has(name), name);
  }
  const metrics = new Metrics();
  const count = metrics.requestsOf({ method: 'POST', path: '/token' });
  for (const status of [200, 400, 400, 429, 500]) count.add(status, performance.now());
  const discovery = { statuses: () => [], counts: () => ({ discovered: 0, retired: 0 }) };
  const service = {
    statuses: [],
    nowMs: 0,
    dataDir: '.',
    switches: { venueData: true, trading: true },
    results: [],
    etcd: null,
  };
  const shown = metrics.text('ready', [], discovery as never, 0, service);
  t.regex(shown, /^paperbook_sign_in_failures_total 3$/m);
});

test('O34, O38: orders by outcome, fills by model, results, connections of the stream, and the space of etcd', async (t) => {
  const api = await startApi(t);
  const { text } = await api.admin('GET', '/metrics', { token: null });
  t.regex(text, /^paperbook_stream_connections 0$/m);
  t.regex(text, /^paperbook_market_results\{result="yes",state="contradicted"\} \d+$/m);
  const shown = serviceMetrics({
    statuses: [SHARD],
    ...{ nowMs: 61_000, dataDir: '.', switches: { venueData: false, trading: true } },
    ...{
      results: [{ result: 'no', state: 'final', markets: 6 }],
      streamConnections: 3,
      etcd: SPACE,
    },
  });
  for (const line of [
    'paperbook_orders_placed_total{shard="0"} 9',
    'paperbook_orders_total{shard="0",outcome="executed"} 5',
    'paperbook_orders_total{shard="0",outcome="canceled"} 2',
    'paperbook_orders_total{shard="0",outcome="expired"} 1',
    'paperbook_orders_total{shard="0",outcome="refused"} 4',
    'paperbook_fills_total{shard="0",model="book_depth"} 1',
    'paperbook_fill_contracts_total{shard="0",model="queue"} 30',
    'paperbook_market_results{result="no",state="final"} 6',
    'paperbook_stream_connections 3',
    'paperbook_etcd_file_bytes 900',
    'paperbook_etcd_used_bytes 400',
    'paperbook_etcd_quota_bytes 1000',
    'paperbook_etcd_refusing 0',
    'paperbook_etcd_silent 1',
  ]) {
    t.true(shown.includes(line), line);
  }
  const families = shown.filter((line) => line.startsWith('# TYPE '));
  for (const line of families) {
    const [, , name, type] = line.split(' ');
    t.is(name!.endsWith('_total'), type === 'counter', line);
  }
});

test('O32: the dashboard and the alerts name metrics that there are', async (t) => {
  const api = await startApi(t);
  await api.call('GET', '/status');
  const { text } = await api.admin('GET', '/metrics', { token: null });
  const ofCluster = serviceMetrics({
    ...{ statuses: [], nowMs: 0, dataDir: '.', switches: { venueData: false, trading: true } },
    ...{ results: [], streamConnections: 0, etcd: SPACE },
  });
  const names = namesIn([text, ...ofCluster].join('\n'));
  const dashboard = readFileSync(ROOT('api/deploy/grafana-dashboard.json'), 'utf8');
  const { panels } = JSON.parse(dashboard) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  t.true(panels.length > 24);
  const alerts = readFileSync(ROOT('api/deploy/alerts.yml'), 'utf8');
  const used = [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), alerts]
    .join('\n')
    .match(/\b(?:paperbook|process|nodejs)_\w+/g)!;
  t.true(used.length > 40);
  for (const name of used) t.true(names.has(name), name);
});

const isThere = spawnSync('promtool', ['--version']).status === 0;
// Debian's package `prometheus` has it; elsewhere it is shown as skipped.
const withPromtool = isThere ? test : test.skip;

withPromtool('O32: promtool takes the alerts', async (t) => {
  const { stdout } = await promisify(execFile)('promtool', [
    ...['check', 'rules', fileURLToPath(ROOT('api/deploy/alerts.yml'))],
  ]);
  t.regex(stdout, /SUCCESS: 15 rules found/);
});
