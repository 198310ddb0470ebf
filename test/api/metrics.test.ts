import test from 'ava';
import { startApi } from './support.ts';

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
