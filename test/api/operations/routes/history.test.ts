import test, { type ExecutionContext } from 'ava';
import type { Tick } from '../../../../engine/rules/messages.ts';
import { AWAY, CATALOG, HOME, NOWHERE, quoteTick } from '../../../engine/fixtures.ts';
import { record, take, temporary } from '../../../engine/history/support.ts';
import { embeddedHistory } from '../../embedded-history.ts';
import { NOW_MS } from '../../samples.ts';
import { type Api, startApi } from '../../support.ts';

const before = (ms: number) => NOW_MS - ms;
const iso = (ms: number) => new Date(ms).toISOString();

/** The last ten minutes of market 0, with a loss and a print; market 2 is venue_b's. */
const TICKS: Tick[] = [
  quoteTick({ atMs: before(600_000), yesBidCents: 40, yesAskCents: 43 }),
  {
    kind: 'trade',
    ...{ atMs: before(595_000), source: 0, market: 0 },
    ...{ yesPriceCents: 43, contracts: 5, side: 'yes' },
  },
  { kind: 'down', atMs: before(590_000), source: 0 },
  quoteTick({ atMs: before(10_000), yesBidCents: 41, yesAskCents: 44, yesBidContracts: 7 }),
  quoteTick({ atMs: before(9000), market: 2, yesBidCents: 20, yesAskCents: 22 }),
];

async function start(t: ExecutionContext, env: Record<string, string> = {}): Promise<Api> {
  const recorder = record(temporary(t));
  t.teardown(() => recorder.close());
  take(recorder, ...TICKS);
  return startApi(t, {
    catalog: CATALOG,
    history: embeddedHistory(
      () => recorder,
      () => CATALOG,
    ),
    env,
  });
}

test('H2, H5, H6: rows and gaps by instrument and by ticker', async (t) => {
  const api = await start(t);
  const { json } = await api.call('GET', `/history?instrumentId=${AWAY}`);
  const row = { yesBidCents: 40, yesAskCents: 43, yesBidContracts: 100, yesAskContracts: 100 };
  const none = {
    yesBidCents: null,
    yesAskCents: null,
    yesBidContracts: null,
    yesAskContracts: null,
  };
  t.deepEqual(json, {
    instrumentId: AWAY,
    venue: 'venue_a',
    quotes: [
      { at: iso(before(600_000)), ...row, live: true },
      { at: iso(before(590_000)), ...none, live: false },
      {
        at: iso(before(10_000)),
        ...{ yesBidCents: 41, yesAskCents: 44, yesBidContracts: 7, yesAskContracts: 100 },
        live: true,
      },
    ],
    gaps: [{ from: iso(before(590_000)), to: iso(before(10_000)), reason: 'connection_lost' }],
    nextCursor: null,
    asOf: iso(NOW_MS),
    mode: 'paper',
  });
  const byTicker = await api.call('GET', '/history?ticker=T1');
  t.deepEqual(byTicker.json, { ...json, instrumentId: null });
});

test('H1: another instrument of the market shows the same series in its own terms', async (t) => {
  const api = await start(t);
  const { json } = await api.call('GET', `/history?instrumentId=${HOME}&order=desc&limit=1`);
  t.deepEqual(json.quotes, [
    {
      at: iso(before(10_000)),
      ...{ yesBidCents: 56, yesAskCents: 59, yesBidContracts: 100, yesAskContracts: 7 },
      live: true,
    },
  ]);
});

test('H6: venue chooses the market; what is not there is 404', async (t) => {
  const api = await start(t);
  const b = await api.call('GET', '/history?ticker=B2&venue=venue_b');
  t.is(b.json.quotes[0].yesBidCents, 20);
  for (const query of [
    `instrumentId=${AWAY}&venue=venue_b`,
    'ticker=T1&venue=venue_b',
    'ticker=B2',
    `instrumentId=${NOWHERE.replaceAll('D', 'Z')}`,
    'instrumentId=nothing',
  ]) {
    for (const path of ['/history', '/history/candles', '/history/export']) {
      const { status, json } = await api.call('GET', `${path}?${query}`);
      t.is(status, 404, `${path}?${query}`);
      t.is(json.error.code, 'market_not_found');
    }
  }
});

test('H6, H8: what a query must be', async (t) => {
  const api = await start(t);
  const series = `instrumentId=${AWAY}`;
  for (const [path, query, named] of [
    ['/history', '', /instrumentId and ticker/],
    ['/history', `${series}&ticker=T1`, /instrumentId and ticker/],
    ['/history', `${series}&from=2026-11-22&to=2026-11-21`, /from must not be after to/],
    ['/history', `${series}&from=yesterday`, /from must be a date/],
    ['/history', `${series}&order=down`, /order/],
    ['/history', `${series}&limit=5001`, /limit/],
    ['/history', `${series}&cursor=nonsense`, /cursor/],
    ['/history', `${series}&interval=1m`, /interval/],
    ['/history', `${series}&venue=nowhere`, /venue/],
    ['/history/candles', `${series}&interval=2m`, /interval/],
    ['/history/candles', `${series}&limit=1001`, /limit/],
    ['/history/as_of', `instrumentIds=${AWAY}`, /at is required/],
    ['/history/as_of', `instrumentIds=${AWAY},&at=2026-11-21`, /instrumentIds/],
    ['/history/as_of', 'at=2026-11-21', /instrumentIds is required/],
    ['/history/export', `${series}&interval=1m`, /interval/],
    ['/history/export', `${series}&format=xml`, /format/],
  ] as const) {
    const { status, json } = await api.call('GET', `${path}?${query}`);
    t.is(status, 400, `${path}?${query}`);
    t.regex(json.error.message, named);
  }
  const same = await api.call('GET', `/history?${series}&from=2026-11-21&to=2026-11-21`);
  t.deepEqual(same.json.quotes, []);
  const ids = Array.from({ length: 21 }, (_, i) => `i${i}`).join();
  t.is((await api.call('GET', `/history/as_of?instrumentIds=${ids}&at=2026-11-21`)).status, 400);
});

test('H8: the cursor of one list is malformed in another, and pages go on', async (t) => {
  const api = await start(t);
  const first = await api.call('GET', `/history?instrumentId=${AWAY}&limit=2`);
  const cursor = first.json.nextCursor;
  const next = await api.call('GET', `/history?instrumentId=${AWAY}&limit=2&cursor=${cursor}`);
  t.is(next.json.quotes.length, 1);
  t.is(next.json.nextCursor, null);
  const path = `/history/candles?instrumentId=${AWAY}&cursor=${cursor}`;
  t.is((await api.call('GET', path)).status, 400);
});

test('H10 to H14: candles', async (t) => {
  const api = await start(t);
  const { json } = await api.call('GET', `/history/candles?instrumentId=${AWAY}&interval=5m`);
  t.is(json.interval, '5m');
  t.is(json.candles.length, 3);
  const [first, second, last] = json.candles;
  t.deepEqual(first, {
    start: iso(before(600_000)),
    end: iso(before(300_000)),
    bid: { open: 40, high: 40, low: 40, close: 40 },
    ask: { open: 43, high: 43, low: 43, close: 43 },
    mid: { open: 41.5, high: 41.5, low: 41.5, close: 41.5 },
    trades: { count: 1, contracts: 5, open: 43, high: 43, low: 43, close: 43, vwapCents: 43 },
    quotes: 2,
    liveSeconds: 10,
  });
  t.like(second, { quotes: 1, liveSeconds: 10 });
  t.is(second.complete, undefined);
  t.false(last.complete);
});

test('H9: as of a moment', async (t) => {
  const api = await start(t);
  const ids = `${AWAY},${HOME},${NOWHERE},nothing`;
  const at = iso(before(595_000));
  const { json } = await api.call('GET', `/history/as_of?instrumentIds=${ids}&at=${at}`);
  t.deepEqual(
    json.rows.map((row: Record<string, unknown>) => [row.instrumentId, row.yesBidCents]),
    [
      [AWAY, 40],
      [HOME, 57],
    ],
  );
  t.deepEqual(json.notFound, [NOWHERE, 'nothing']);
  t.is(json.rows[0].quotedAt, iso(before(600_000)));
  t.is(json.at, at);
});

test('H15: exports name their type, and are no page', async (t) => {
  const api = await start(t);
  const csv = await api.call('GET', '/history/export?ticker=T1');
  t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.is(csv.headers.get('content-disposition'), 'attachment; filename="quotes.csv"');
  t.is(csv.text.split('\n').length, 5);
  const trades = await api.call('GET', '/history/export?ticker=T1&dataset=trades&format=ndjson');
  t.is(trades.headers.get('content-type'), 'application/x-ndjson');
  t.deepEqual(JSON.parse(trades.text), {
    at: iso(before(595_000)),
    ...{ yesPriceCents: 43, contracts: 5, side: 'yes' },
  });
  const empty = await api.call('GET', '/history/export?ticker=T2&format=ndjson');
  t.is(empty.status, 200);
  t.is(empty.text, '');
});

test('H16: HEAD answers the headers of each route; other methods are 405', async (t) => {
  const api = await start(t);
  for (const path of ['/history', '/history/candles', '/history/export']) {
    const head = await api.call('HEAD', `${path}?ticker=T1`);
    t.is(head.status, 200);
    const get = await api.call('GET', `${path}?ticker=T1`);
    t.is(head.headers.get('content-type'), get.headers.get('content-type'));
    t.is(head.headers.get('content-length'), get.headers.get('content-length'));
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await api.call(method, `${path}?ticker=T1`);
      t.is(refused.status, 405);
      t.regex(refused.headers.get('allow')!, /GET/);
    }
  }
  t.is((await api.call('HEAD', '/history/export?ticker=nothing')).status, 404);
});

test('V2, H20: the switch, the scope and the setting, in the order of checks', async (t) => {
  const api = await start(t);
  const off = await startApi(t, {
    catalog: CATALOG,
    history: { kind: 'off' },
    env: { PAPERBOOK_HISTORY: 'off' },
  });
  const reader = await api.addKey({ scopes: ['records:read'] });
  for (const path of [
    '/history?ticker=T1',
    '/history/candles?ticker=T1',
    `/history/as_of?instrumentIds=${AWAY}&at=2026-11-21`,
    '/history/export?ticker=T1',
  ]) {
    t.is((await api.call('GET', path, { token: null })).status, 401);
    t.is((await api.call('GET', path, { token: reader })).status, 403);
    const refused = await off.call('GET', path);
    t.is(refused.status, 503);
    t.is(refused.json.error.code, 'not_configured');
    await api.switches.set('venueData', false);
    const dark = await api.call('GET', path);
    t.is(dark.status, 403);
    t.is(dark.json.error.code, 'venue_data_off');
    await api.switches.set('venueData', true);
  }
});

test('Q4: a request for history counts one', async (t) => {
  const api = await start(t);
  const used = async () => (await api.call('GET', '/usage')).json.month.used;
  const before = await used();
  await api.call('GET', '/history?ticker=T1');
  await api.call('GET', `/history/as_of?instrumentIds=${AWAY},${HOME}&at=2026-11-21`);
  await api.call('GET', '/history/export?ticker=T1');
  t.is((await used()) - before, 3);
});
