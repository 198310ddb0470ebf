/** What the generator reads of the answer to a batch of orders. */
import test from 'ava';
import type { Answer } from '../../bench/lib/http-connection.ts';
import { HttpConnection } from '../../bench/lib/http-connection.ts';
import { BATCH_ORDERS, createCaller } from '../../bench/lib/load.ts';
import { KEY_LIMITS } from '../../engine/rules/trade-limits.ts';
import { startApi } from '../api/support.ts';
import { AWAY, CATALOG, HOME } from '../engine/fixtures.ts';

test('bench entry: a batch counts as its orders, each by its own status', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const load = { kind: 'batches', port: api.port, basePath: '/v1', name: 'batch' } as const;
  const connection = await HttpConnection.open(api.port);
  t.teardown(() => connection.close());
  const statusesOf = async (keys: string[], instruments: string[]) => {
    const caller = createCaller({ ...load, keys, instruments }, 0);
    const answer = await new Promise<Answer>((resolve) => {
      connection.onAnswer = resolve;
      connection.send(caller.next()!, 0);
    });
    const statuses = {};
    caller.count(answer, statuses);
    return statuses;
  };
  const taken = KEY_LIMITS.newPerMinute;
  const statuses = await statusesOf([api.token], [AWAY, HOME]);
  t.deepEqual(statuses, { 200: taken, 429: BATCH_ORDERS - taken });
  t.deepEqual(await statusesOf(['svc_sk_nobody'], [AWAY]), { 401: 1 });
});
