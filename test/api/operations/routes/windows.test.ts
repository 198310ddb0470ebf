/** Windows of time in queries and bodies: every route that has one. */
import test from 'ava';
import { CATALOG } from '../../../engine/fixtures.ts';
import { NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';

/** What else a route needs in its query. */
const BESIDE: Record<string, string> = {
  '/history': 'ticker=T1&',
  '/history/candles': 'ticker=T1&',
  '/history/export': 'ticker=T1&',
};

test('A106: from after to is 400 on every route that has both', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const routes = api.routes.filter(({ query: { properties } }) => {
    return 'from' in properties && 'to' in properties;
  });
  t.true(routes.length >= 6);
  for (const { method, path } of routes) {
    const ask = (window: string) => api.call(method, `${path}?${BESIDE[path] ?? ''}${window}`);
    for (const window of [
      'from=2026-11-22&to=2026-11-21',
      'from=2026-11-21T00:00:00.001Z&to=2026-11-21',
      'from=2026-11-21T00:00:00-00:01&to=2026-11-21T00:00Z',
      'from=9999-12-31&to=0001-01-01',
    ]) {
      const { status, json } = await ask(window);
      t.is(status, 400, `${path} ${window}`);
      t.deepEqual(json.error, {
        code: 'invalid_request',
        message: 'from must not be after to',
      });
    }
    for (const window of ['from=2026-11-21&to=2026-11-21', 'from=2026-11-22', 'to=2026-11-21']) {
      t.is((await ask(window)).status, 200, `${path} ${window}`);
    }
  }
  const body = (from: string, to: string) => ({
    markets: { from, to },
    rule: { side: 'favorite' },
    stake: { contracts: 1 },
  });
  const call = (from: string, to: string) =>
    api.call('POST', '/backtest', { body: body(from, to) });
  const refused = await call('2026-11-22', '2026-11-21');
  t.is(refused.json.error.message, 'markets.from must not be after markets.to');
  t.not((await call('2026-11-21', '2026-11-21')).status, 400);
});

test('Y71, A92: a window is all, or 1d to 3650d, on every route that has one', async (t) => {
  const api = await startApi(t);
  const routes = api.routes.filter(({ query: { properties } }) => 'window' in properties);
  t.true(routes.length >= 4);
  for (const { method, path } of routes) {
    for (const window of ['0d', '00d', '0000d', '3651d', '9999d', '10000d', '1.5d', '1d1d', 'd']) {
      const { status, json } = await api.call(method, `${path}?window=${window}`);
      t.is(status, 400, `${path} ${window}`);
      t.regex(json.error.message, /^window must be all/, `${path} ${window}`);
    }
    for (const window of ['1d', '3650d', 'all']) {
      t.not((await api.call(method, `${path}?window=${window}`)).status, 400, path);
    }
  }
});

test('H30: what a moment of the future showed is 400', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const ask = (atMs: number) => {
    const at = new Date(atMs).toISOString();
    return api.call('GET', `/history/as_of?instrumentIds=ins_0000000000A1&at=${at}`);
  };
  for (const atMs of [NOW_MS + 1, NOW_MS + 86_400_000]) {
    const { status, json } = await ask(atMs);
    t.is(status, 400);
    t.is(json.error.message, 'at must not be in the future');
  }
  t.is((await ask(NOW_MS)).status, 200);
});
