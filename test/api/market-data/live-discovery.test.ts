/** Discovery in a running server, against a venue whose list and time the test moves. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Log } from '../../../api/base/logger.ts';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { LiveCatalog } from '../../../api/catalog/live-catalog.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { PastInstruments } from '../../../api/catalog/past-instruments.ts';
import { loadConfig } from '../../../api/config/config.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { type DiscoveryStatus, LiveDiscovery } from '../../../api/market-data/live-discovery.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { discovered, gammaMarket, type Json, kalshiMarket } from '../../feeds/discovered.ts';
import { longTest } from '../../long-test.ts';
import { shareOf } from '../../model/seeds.ts';

const HOUR_MS = 3_600_000;
const DISCOVERY = new URL('../../../api/market-data/discovery-thread.ts', import.meta.url);

/** A venue's list, a page of two hundred at a time. */
async function venueOf(t: ExecutionContext) {
  const venue = {
    url: '',
    markets: [] as Json[],
    /** How many pages are good before an error. */
    goodPages: Number.POSITIVE_INFINITY,
    asked: [] as string[],
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://venue');
    venue.asked.push(request.url!);
    const page = Number(url.searchParams.get('cursor') ?? 0);
    const series = url.searchParams.get('series_ticker');
    const all = venue.markets.filter(
      ({ ticker }) => series === null || String(ticker).startsWith(`${series}-`),
    );
    const isLast = (page + 1) * 200 >= all.length;
    response.statusCode = page < venue.goodPages ? 200 : 422;
    const markets = all.slice(page * 200, (page + 1) * 200);
    response.end(JSON.stringify({ markets, cursor: isLast ? '' : String(page + 1) }));
  });
  // No idle connection ends just as a busy machine asks over it again.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  venue.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/trade-api/v2`;
  return venue;
}

/** A market of a quarter of an hour, which closes at this time. */
function quarter(closesMs: number, series = 'KXBTC15M'): Json {
  const at = new Date(closesMs).toISOString();
  const name = at.slice(2, 16).replaceAll(/[-T:]/g, '');
  const market = kalshiMarket(`${series}-${name}-T1`, {
    title: `Above at ${at}?`,
    yes_sub_title: 'above',
    strike_type: 'greater',
    floor_strike: 100_000,
    open_time: new Date(closesMs - 15 * 60_000).toISOString(),
    close_time: at,
  });
  return { ...market, expected_expiration_time: at };
}

type Setup = {
  venue: { url: string };
  dir: string;
  entry?: object;
  file?: string;
  module?: URL;
};

/** What of a server discovery needs. */
async function serverIn(t: ExecutionContext, setup: Setup) {
  const { venue, dir, entry = {}, file, module } = setup;
  const fields = { venue: 'venue_a', adapter: 'kalshi', url: venue.url, series: ['KXBTC15M'] };
  const { discover: entries } = loadConfig(
    { PAPERBOOK_DISCOVER: JSON.stringify([{ ...fields, ...entry }]) },
    null,
  );
  const identity = new ControlStore(dir);
  const bus = new MarketBus();
  const states = new MarketStates();
  const [taken, lines]: [Catalog[], object[]] = [[], []];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  const log: Log = { info: write, warn: write, error: write };
  const setCatalog = async (catalog: Catalog) => void taken.push(catalog);
  const engine = { setCatalog, setFees: async () => {} };
  const files = {
    file: file ?? null,
    discoveredFile: path.join(dir, 'discovered.json'),
    pastFile: path.join(dir, 'retired.jsonl'),
  };
  const past = new PastInstruments(files.pastFile);
  const catalog = new LiveCatalog({
    files: { ...files, past, first: null },
    identity,
    engine,
    openMarkets: [],
    states,
    bus,
  });
  const view = new CatalogView(() => catalog.current, states, catalog.past);
  const ends = [states.follow(bus), view.follow(bus)];
  await catalog.start();
  const clock = { ms: Date.now() };
  const discovery = new LiveDiscovery({
    ...{ ...files, entries, catalog, nowMs: () => clock.ms },
    ...{ log, module: module ?? DISCOVERY },
  });
  discovery.start();
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await discovery.close();
    for (const end of ends) end();
    catalog.close();
    await identity.close();
  };
  t.teardown(close);
  const settle = (venueMarketId: string, of: 'venue_a' | 'venue_b' = 'venue_a') => {
    const market = catalog.marketNumber(of, venueMarketId)!;
    const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    bus.publish({ kind: 'result', atMs: clock.ms, source: 0, market, ...pays });
  };
  const listed = () =>
    view.instruments().map(({ instrument }) => instrument.listings[0]!.venueMarketId);
  return { catalog, view, discovery, clock, settle, listed, taken, lines, close };
}

const soon = (quarters = 1) => (Math.ceil(Date.now() / (15 * 60_000)) + quarters) * 15 * 60_000;
const tickerOf = ({ ticker }: Json) => String(ticker);

test('K50, K53, K55, K68: new markets of a series are found, tradable, and there after a stop, also one amid a write; instruments that stay are the same objects in the next catalog', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const [first, second, other] = [quarter(soon()), quarter(soon(2)), quarter(soon(), 'KXETH15M')];
  const far = quarter(soon() + 200 * HOUR_MS);
  venue.markets = [first, other, far];
  const server = await serverIn(t, { venue, dir });
  await server.discovery.runNow();
  t.deepEqual(server.listed(), [tickerOf(first)]);
  t.true(venue.asked.every((asked) => asked.includes('series_ticker=KXBTC15M')));
  t.like(server.discovery.statuses()[0], {
    ...{ found: 2, added: 1, changed: 0, problem: null, incomplete: null },
    leftOut: { 'starts beyond horizonHours': 1 },
  });
  const entry = server.view.instruments()[0]!;
  t.true(server.view.isTradable(entry, soon() - 60_000));
  const [taken] = server.taken.at(-1)!.instruments;
  t.is(server.taken.at(-1)!.instruments.length, 1);

  venue.markets = [second, far];
  const before = server.taken.length;
  await server.discovery.runNow();
  const same = () => server.taken.at(-1)!.instruments.find(({ id }) => id === taken!.id)!;
  t.is(same(), taken!);
  t.is(server.view.instrument(taken!.id), entry);
  t.deepEqual(server.listed(), [first, second].map(tickerOf), 'a shorter list takes nothing away');
  await server.discovery.runNow();
  t.is(server.taken.length, before + 1, 'nothing new is no new catalog');
  const closesAt = new Date(soon() + 60_000).toISOString();
  venue.markets = [{ ...first, close_time: closesAt }, far];
  await server.discovery.runNow();
  t.is(same().closesAt, closesAt);
  t.is(server.view.instrument(taken!.id)!.closesAtMs, Date.parse(closesAt));
  const numbers = server.catalog.current.marketNames;
  await server.close();

  // What a stop amid a write leaves.
  writeFileSync(path.join(dir, 'discovered.json.new'), '{"games":[],"instr');
  const retired = path.join(dir, 'retired.jsonl');
  t.true(!existsSync(retired) || readFileSync(retired, 'utf8') === '');
  writeFileSync(retired, '{"over":"ins_');
  venue.markets = [];
  const again = await serverIn(t, { venue, dir });
  t.deepEqual(again.listed(), [first, second].map(tickerOf), 'before any venue has answered');
  t.deepEqual(again.catalog.current.marketNames, numbers);
  await again.discovery.runNow();
  t.like(again.discovery.statuses()[0], { found: 0, problem: null }, 'an empty list is one');
  t.is(again.listed().length, 2);
});

test('K54: what a venue cannot tell is said, without what is secret, and takes nothing away', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  venue.markets = Array.from({ length: 450 }, (_, index) => quarter(soon(index)));
  venue.goodPages = 2;
  const { url } = venue;
  venue.url = `${url}?token=hushhush`;
  const server = await serverIn(t, { venue, dir });
  await server.discovery.runNow();
  t.is(server.listed().length, 400, 'the pages before an error count');
  const [status] = server.discovery.statuses();
  t.regex(status!.incomplete!, /answered 422/);
  t.is(status!.lastCompleteAt, null);
  t.deepEqual(server.discovery.problems(), []);

  venue.goodPages = 0;
  await server.discovery.runNow();
  t.is(server.listed().length, 400);
  t.regex(server.discovery.problems()[0]!, /^discovery 0 of venue_a: .*answered 422/);
  venue.goodPages = Number.POSITIVE_INFINITY;
  await server.discovery.runNow();
  t.deepEqual([server.listed().length, server.discovery.problems()], [450, []]);
  t.not(server.discovery.statuses()[0]!.lastCompleteAt, null);
  const said = JSON.stringify([server.discovery.statuses(), status, server.lines]);
  t.false(said.includes('hushhush'));
});

test('K51: what the operator wrote stays, and may be changed beside discovery', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const [first, second, third] = [quarter(soon()), quarter(soon(2)), quarter(soon(3))];
  venue.markets = [first, second];
  const bare = await serverIn(t, { venue, dir });
  await bare.discovery.runNow();
  const found = JSON.parse(readFileSync(path.join(dir, 'discovered.json'), 'utf8'));
  await bare.close();

  const file = path.join(dir, 'catalog.json');
  const [mine, renamed] = found.instruments;
  const own = [
    { ...mine, label: 'My own words' },
    { ...renamed, slug: 'my-own-slug' },
  ];
  writeFileSync(file, JSON.stringify({ games: [], instruments: own }));
  venue.markets.push(third);
  const server = await serverIn(t, { venue, dir, file });
  await server.discovery.runNow();
  const shown = () => server.view.instruments().map(({ instrument }) => instrument);
  t.deepEqual(server.listed(), [first, second, third].map(tickerOf), 'each market once');
  t.deepEqual(
    shown().map(({ label, slug }) => label === 'My own words' || slug === 'my-own-slug'),
    [true, true, false],
  );
  t.is(readFileSync(file, 'utf8'), JSON.stringify({ games: [], instruments: own }));

  writeFileSync(file, '{"games":[]');
  await t.throwsAsync(server.catalog.reload(), { message: /PAPERBOOK_CATALOG .*is not JSON/s });
  venue.markets.push(quarter(soon(4)));
  await server.discovery.runNow();
  t.regex(server.discovery.problems()[0]!, /PAPERBOOK_CATALOG has errors/);
  t.is(server.listed().length, 3, 'the catalog in use stays');
  writeFileSync(file, JSON.stringify({ games: [], instruments: [] }));
  await server.catalog.reload();
  await server.discovery.runNow();
  t.deepEqual([server.listed().length, server.discovery.problems()], [4, []]);
});

longTest('O27, K41: games that did not join are counted and named', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const file = path.join(dir, 'catalog.json');
  const start = { gameStartTime: '2026-09-20 19:00:00+00' };
  const legs = ['aaa', 'bbb'].map((leg) =>
    gammaMarket(`fo2-aaa-bbb-2026-09-20-${leg}`, ['Yes', 'No'], start),
  );
  writeFileSync(file, JSON.stringify(discovered('venue_a', legs)));
  venue.markets = ['AAA', 'BBB'].map((team) =>
    kalshiMarket(`KXFOOGAME-26SEP20AAABBB-${team}`, { title: 'AAA vs BBB Winner?' }),
  );
  const entry = { venue: 'venue_b', series: ['KXFOOGAME'] };
  const server = await serverIn(t, { venue, dir, file, entry });
  await server.discovery.runNow();
  const [{ apart, apartGames, problem }] = server.discovery.statuses() as [DiscoveryStatus];
  t.is(problem, null);
  t.deepEqual([apart, apartGames], [1, [['fo2-aaa-bbb-2026-09-20', 'foo-aaa-bbb-2026-09-20']]]);
});

test('K56: an instrument leaves the lists 48 hours after its result, and is known by its id', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const [first, second] = [quarter(soon()), quarter(soon(2))];
  venue.markets = [first, second];
  const server = await serverIn(t, { venue, dir });
  await server.discovery.runNow();
  const { id } = server.view.instruments()[0]!;
  server.settle(tickerOf(first));
  venue.markets = [];
  server.discovery.retire();
  server.clock.ms += 48 * HOUR_MS - 1;
  server.discovery.retire();
  await server.discovery.runNow();
  t.is(server.listed().length, 2);
  server.clock.ms += 1;
  server.discovery.retire();
  await server.discovery.runNow();
  t.deepEqual(server.listed(), [tickerOf(second)]);
  t.is(server.view.instrument(id)!.instrument.listings[0]!.venueMarketId, tickerOf(first));
  t.deepEqual(server.catalog.watchedMarkets('venue_a'), [tickerOf(second)]);
  t.deepEqual(server.discovery.counts(), { discovered: 1, retired: 1 });
  await server.close();

  const again = await serverIn(t, { venue, dir });
  t.deepEqual(again.listed(), [tickerOf(second)]);
  t.is(again.view.instrument(id)?.id, id);
  venue.markets = [first];
  await again.discovery.runNow();
  t.is(again.view.instrument(id)?.id, id, 'a venue that lists it again brings one, not two');
  t.is(again.catalog.current.instruments.filter((each) => each.id === id).length, 1);
});

longTest(
  'K56: an instrument that a catalog file drops after its result is known by its id',
  async (t) => {
    const dir = tempDir(t);
    const venue = await venueOf(t);
    venue.markets = [quarter(soon()), quarter(soon(2))];
    const found = await serverIn(t, { venue, dir: tempDir(t) });
    await found.discovery.runNow();
    const [over, live] = found.catalog.current.instruments;
    const file = path.join(dir, 'catalog.json');
    const list = (...instruments: object[]) =>
      writeFileSync(file, JSON.stringify({ games: [], instruments }));
    list(over!, live!);
    const server = await serverIn(t, { venue, dir, file, entry: { series: ['KXNONE'] } });
    server.settle(over!.listings[0]!.venueMarketId);
    list();
    await server.catalog.reload();
    t.is(server.view.instruments().length, 0);
    t.is(server.view.instrument(over!.id)?.id, over!.id);
    t.is(server.view.instrument(live!.id), undefined, 'what has no result is gone');
  },
);

longTest(
  'K58: retired instruments are not in the catalog that each change writes to the logs',
  async (t) => {
    const [venue, dir] = [await venueOf(t), tempDir(t)];
    const [first, second] = [quarter(soon()), quarter(soon(2))];
    venue.markets = [first, second];
    const server = await serverIn(t, { venue, dir });
    await server.discovery.runNow();
    const listed = server.catalog.current.instruments.map(({ id }) => id);
    server.settle(tickerOf(first));
    server.discovery.retire();
    server.clock.ms += 48 * HOUR_MS;
    venue.markets = [second];
    server.discovery.retire();
    await server.discovery.runNow();
    const { instruments, instrumentIds, marketNames } = server.taken.at(-1)!;
    t.deepEqual(
      instruments.map(({ listings }) => listings[0]!.venueMarketId),
      [tickerOf(second)],
    );
    t.deepEqual(instrumentIds, listed, 'its number stays');
    t.is(marketNames.length, 2);
  },
);

longTest('K58: what no venue_a market decides is retired after its own results', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const [first, second] = [quarter(soon()), quarter(soon(2))];
  venue.markets = [first, second];
  const server = await serverIn(t, { venue, dir, entry: { venue: 'venue_b' } });
  await server.discovery.runNow();
  t.is(server.listed().length, 2);
  server.settle(tickerOf(first), 'venue_b');
  server.discovery.retire();
  server.clock.ms += 48 * HOUR_MS;
  venue.markets = [];
  server.discovery.retire();
  await server.discovery.runNow();
  t.deepEqual(server.listed(), [tickerOf(second)]);
  t.deepEqual(server.catalog.watchedMarkets('venue_b'), [tickerOf(second)]);
});

longTest(
  'K58: a retired instrument is subscribed to at no venue, with or without a result there',
  async (t) => {
    const [venue, dir] = [await venueOf(t), tempDir(t)];
    const file = path.join(dir, 'catalog.json');
    const list = (...instruments: object[]) =>
      writeFileSync(file, JSON.stringify({ games: [], instruments }));
    venue.markets = [quarter(soon())];
    const found = await serverIn(t, { venue, dir: tempDir(t) });
    await found.discovery.runNow();
    const [one] = found.catalog.current.instruments;
    const [home] = one!.listings;
    list({ ...one, listings: [home, { ...home, venue: 'venue_b', venueMarketId: 'B1' }] });
    const server = await serverIn(t, { venue, dir, file, entry: { series: ['KXNONE'] } });
    t.deepEqual(server.catalog.watchedMarkets('venue_b'), ['B1']);
    server.settle(home!.venueMarketId);
    list();
    await server.catalog.reload();
    t.is(server.view.instrument(one!.id)?.id, one!.id);
    t.deepEqual(server.catalog.watchedMarkets('venue_b'), []);
  },
);

test('K57: a week of new markets leaves the lists and what is discovered flat', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  // Each round is half a day of the week; the list has what is open then.
  const server = await serverIn(t, { venue, dir, entry: { horizonHours: 1000 } });
  const [listed, files]: [number[], number[]] = [[], []];
  const from = soon();
  const count = Math.max(12, shareOf(48));
  for (let round = 0; round < 14; round++) {
    venue.markets = Array.from({ length: count }, (_, index) => {
      return quarter(from + (round * count + index) * 15 * 60_000);
    });
    await server.discovery.runNow();
    for (const market of venue.markets) server.settle(tickerOf(market));
    server.discovery.retire();
    server.clock.ms += 12 * HOUR_MS;
    server.discovery.retire();
    await server.discovery.runNow();
    listed.push(server.listed().length);
    files.push(readFileSync(path.join(dir, 'discovered.json')).length);
  }
  t.true(Math.max(...listed) <= 5 * count, 'two days and what is open');
  t.true(files.at(-1)! < files[5]! * 1.2);
  t.true(server.catalog.current.instruments.length <= 5 * count);
  t.is(server.catalog.current.instrumentIds.length, 14 * count);
  t.is(server.catalog.watchedMarkets('venue_a').length <= 5 * count, true);
});

test('G12: each wrong field of PAPERBOOK_DISCOVER is named', (t) => {
  const good = { venue: 'venue_a', adapter: 'kalshi', url: 'https://venue.example/trade-api/v2' };
  const refused = (entry: unknown, said: RegExp) => {
    const env = { PAPERBOOK_DISCOVER: JSON.stringify([entry]) };
    t.throws(() => loadConfig(env, null), { message: said });
  };
  refused(3, /PAPERBOOK_DISCOVER must be a JSON array whose entry 0 is an object/);
  refused({ ...good, venue: 'x' }, /entry 0 has a venue: one of/);
  refused({ ...good, adapter: 'native' }, /entry 0 has an adapter: one of kalshi/);
  refused({ ...good, url: 'https://user:hush@venue.example' }, /^(?!.*hush).*entry 0 has a url/);
  refused({ ...good, url: 'http://venue.example' }, /entry 0 has a url of https/);
  refused({ ...good, series: 'KXA' }, /entry 0 has series: a list of names/);
  refused({ ...good, leagues: [] }, /entry 0 has leagues: a list of names/);
  refused({ ...good, combos: 'no' }, /entry 0 has combos true or false/);
  refused({ ...good, everySeconds: 0 }, /entry 0 has everySeconds: a whole number from 1/);
  refused({ ...good, horizonHours: 1.5 }, /entry 0 has horizonHours: a whole number from 1/);
  refused({ ...good, evrySeconds: 5 }, /entry 0 has no evrySeconds/);
  const [entry] = loadConfig({ PAPERBOOK_DISCOVER: JSON.stringify([good]) }, null).discover;
  t.like(entry, { series: null, combos: false, everySeconds: 60, horizonHours: 168 });
});

test('K50, D10: a thread of discovery that fails starts again, runs each entry, and a reload waits for it', async (t) => {
  const [venue, dir] = [await venueOf(t), tempDir(t)];
  const fails = path.join(dir, 'fails');
  const code = `
    import { existsSync, unlinkSync } from 'node:fs';
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ kind }) => {
      if (kind !== 'run' || !existsSync(${JSON.stringify(fails)})) return;
      unlinkSync(${JSON.stringify(fails)});
      throw new Error('planted');
    });
    await import(${JSON.stringify(DISCOVERY.href)});
  `;
  const module = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const server = await serverIn(t, { venue, dir, module });
  await server.discovery.runNow();
  venue.markets = [quarter(soon())];
  writeFileSync(fails, '');
  await server.discovery.runNow();
  t.deepEqual(server.discovery.problems(), ['discovery: planted']);
  t.like(server.discovery.statuses()[0], { isRunning: false, found: 0 });
  // Asked for while none runs: the turn of an entry, and the files.
  const [run, reload] = [server.discovery.runNow(), server.catalog.reload()];
  await Promise.all([run, reload]);
  t.deepEqual(server.discovery.problems(), []);
  t.like(server.discovery.statuses()[0], { isRunning: false, found: 1 });
  t.deepEqual(server.listed(), venue.markets.map(tickerOf));
});
