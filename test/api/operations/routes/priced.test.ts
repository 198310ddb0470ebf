/** Instruments with a live price: `GET /instruments?priced=true`. */
import test from 'ava';
import { NO_PRICE } from '../../../../engine/base/units.ts';
import type { Catalog } from '../../../../engine/rules/catalog-entries.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { quoteTick } from '../../../engine/fixtures.ts';
import { IDS, NOW_MS, sampleCatalog } from '../../samples.ts';
import { type Api, type Json, startApi } from '../../support.ts';

const LIONS = 0;

async function listed(api: Api, query: string): Promise<string[]> {
  const { json } = await api.call('GET', `/instruments?${query}`);
  return json.instruments.map(({ id }: Json) => id);
}

test('A45: priced keeps what venue_a has a live price of, or what it has none of', async (t) => {
  const api = await startApi(t);
  const all = await listed(api, '');
  // Of venue_b alone.
  t.deepEqual(await listed(api, 'priced=false'), [IDS.total]);
  t.deepEqual(
    await listed(api, 'priced=true'),
    all.filter((id) => id !== IDS.total),
  );
  t.deepEqual(await listed(api, `priced=true&league=cup`), [IDS.outright]);
  t.is((await api.call('GET', '/instruments?priced=yes')).status, 400);
});

test('A45, T12: a price that is stale, crossed, empty, paused, resolved or dead is none', async (t) => {
  const api = await startApi(t);
  const isPriced = async () => (await listed(api, 'priced=true')).includes(IDS.lions);
  const quote = (over: object) => {
    api.engine.tick(quoteTick({ atMs: NOW_MS, market: LIONS, source: 5, ...over }));
  };
  const status = (word: 'open' | 'paused') => {
    const tick = { kind: 'status', atMs: NOW_MS, source: 5, market: LIONS } as const;
    api.engine.tick({ ...tick, status: word });
  };
  quote({});
  t.true(await isPriced());
  quote({ crossed: true });
  t.false(await isPriced());
  const none = { yesBidCents: NO_PRICE, yesBidContracts: 0 };
  quote(none);
  t.true(await isPriced(), 'one side is a price');
  quote({ ...none, yesAskCents: NO_PRICE, yesAskContracts: 0 });
  t.false(await isPriced());
  quote({});
  status('paused');
  t.false(await isPriced());
  status('open');
  t.true(await isPriced());
  api.engine.tick({ kind: 'down', atMs: NOW_MS, source: 5 });
  t.false(await isPriced());
  quote({ source: 6, atMs: NOW_MS - 15_000 });
  t.true(await isPriced(), 'at the bound it lives');
  quote({ source: 7, atMs: NOW_MS - 15_001 });
  t.false(await isPriced());
  quote({});
  await api.admin('POST', '/admin/settlements', { body: { market: 'T-LIONS', result: 'no' } });
  t.false(await isPriced());
});

test('A45, T18: before an instrument opens it has no price', async (t) => {
  const catalog = sampleCatalog();
  catalog.instruments[0]!.opensAt = new Date(NOW_MS + 1).toISOString();
  const api = await startApi(t, { catalog });
  t.false((await listed(api, 'priced=true')).includes(IDS.lions));
});

test('V2: priced needs the switch, the list does not', async (t) => {
  const api = await startApi(t);
  await api.switches.set('venueData', false);
  for (const priced of ['true', 'false']) {
    const answer = await api.call('GET', `/instruments?priced=${priced}`);
    t.is(answer.status, 403);
    t.is(answer.json.error.code, 'venue_data_off');
  }
  t.is((await api.call('GET', '/instruments')).status, 200);
});

test('A45: where the candidates are no more than a page, nothing else is asked', async (t) => {
  const api = await startApi(t);
  let asked = 0;
  const { engine } = api;
  const priced = engine.priced.bind(engine);
  engine.priced = (instruments, atMs) => {
    asked++;
    return priced(instruments, atMs);
  };
  t.deepEqual(await listed(api, 'priced=false'), [IDS.total]);
  t.is(asked, 1);
  await listed(api, 'priced=true&limit=1');
  t.is(asked, 2, 'and where they fill it');
});

test('A45: an engine that takes no request refuses priced, and not the list', async (t) => {
  const api = await startApi(t);
  api.engine.busy = new Unavailable('queue full');
  const refused = await api.call('GET', '/instruments?priced=true');
  t.is(refused.status, 503);
  t.is((await api.call('GET', '/instruments?tradable=true')).status, 200);
});

/** So many instruments, one market each; every `everyNth` of them is quoted. */
function bigCatalog(count: number): Catalog {
  const { games, instruments } = sampleCatalog();
  const [sample] = instruments;
  const listing = sample!.listings[0]!;
  const number = (at: number) => String(at).padStart(12, '0');
  const many = Array.from({ length: count }, (_, at) => ({
    ...sample!,
    id: `ins_${number(at)}`,
    slug: `i${at}`,
    listings: [{ ...listing, venueMarketId: `M${at}` }],
  }));
  return {
    games,
    instruments: many,
    marketNames: many.map((_, at) => `venue_a/M${at}`),
    instrumentIds: many.map(({ id }) => id),
  };
}

test('A45, P1: pages of priced instruments, each once, however few there are', async (t) => {
  const api = await startApi(t, { catalog: bigCatalog(1200) });
  // Prices of all by one connection, and then of every hundredth alone.
  api.engine.tick({ kind: 'down', atMs: NOW_MS, source: 0 });
  const wanted: string[] = [];
  for (let market = 7; market < 1200; market += 100) {
    api.engine.tick(quoteTick({ atMs: NOW_MS, market, source: 1 }));
    wanted.push(`ins_${String(market).padStart(12, '0')}`);
  }
  for (const limit of [1, 5, 12, 100]) {
    const found: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { json }: Json = await api.call(
        'GET',
        `/instruments?priced=true&limit=${limit}${from}`,
      );
      t.true(json.instruments.length <= limit);
      found.push(...json.instruments.map(({ id }: Json) => id));
      cursor = json.nextCursor;
    }
    t.deepEqual(found, wanted, `limit ${limit}`);
  }
});
