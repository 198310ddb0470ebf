import test from 'ava';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';

const SHOWN = { engine: new Date(NOW_MS).toISOString() };

test('C5: /admin/clock shows both times and which is ahead', async (t) => {
  const api = await startApi(t);
  api.engine.machineNowMs = NOW_MS - 5000;
  const { json } = await api.admin('GET', '/admin/clock');
  t.deepEqual(json, { ...SHOWN, machine: new Date(NOW_MS - 5000).toISOString(), aheadMs: 5000 });
  api.engine.machineNowMs = NOW_MS + 5000;
  t.is((await api.admin('GET', '/admin/clock')).json.aheadMs, -5000);
});

test("C6: the machine's time is accepted when asked for, and no other", async (t) => {
  const api = await startApi(t);
  for (const body of [{}, { acceptMachine: false }, { engine: SHOWN.engine }]) {
    t.is((await api.admin('PUT', '/admin/clock', { body })).status, 400);
  }
  t.is(api.engine.accepted, 0);
  const { status, json } = await api.admin('PUT', '/admin/clock', {
    body: { acceptMachine: true },
  });
  t.is(status, 200);
  t.like(json, SHOWN);
  t.is(api.engine.accepted, 1);
  api.engine.busy = new Unavailable('shard 0: no space left');
  const busy = await api.admin('PUT', '/admin/clock', { body: { acceptMachine: true } });
  t.is(busy.status, 503);
  t.regex(busy.json.error.message, /shard 0: no space left/);
});

test("C6: on the feed's clock the machine's time is not accepted", async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_CLOCK: 'feed' } });
  const { status, json } = await api.admin('PUT', '/admin/clock', {
    body: { acceptMachine: true },
  });
  t.is(status, 400);
  t.regex(json.error.message, /PAPERBOOK_CLOCK=feed/);
  t.is(api.engine.accepted, 0);
});

test('D14, control/: an account of nobody is a problem of the audit', async (t) => {
  const api = await startApi(t, { ownerless: ['control/: account x is of no user'] });
  api.engine.report = { ...api.engine.report, problems: ['accounts row 0: has no run'] };
  const { json } = await api.admin('GET', '/admin/audit');
  t.deepEqual(json.problems, ['accounts row 0: has no run', 'control/: account x is of no user']);
});
