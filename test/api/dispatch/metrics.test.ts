import test from 'ava';
import { feed } from '../feed-status.ts';
import { startApi } from '../support.ts';

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
