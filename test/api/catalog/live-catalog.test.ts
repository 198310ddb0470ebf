/** The catalog in use over changes of its file. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { LiveCatalog } from '../../../api/catalog/live-catalog.ts';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { MarketStates } from '../../../api/catalog/market-states.ts';
import { PastInstruments } from '../../../api/catalog/past-instruments.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';

const INTO = { setCatalog: async (_: Catalog) => {}, setFees: async () => {} };

function catalogIn(file: string, identity: ControlStore, engine = INTO) {
  const bus = new MarketBus();
  const states = new MarketStates();
  states.follow(bus);
  const [discoveredFile, pastFile] = [`${file}.discovered`, `${file}.retired`];
  const files = { file, discoveredFile, past: new PastInstruments(pastFile), first: null };
  const catalog = new LiveCatalog({ files, identity, engine, openMarkets: [], states, bus });
  return { bus, catalog };
}

test('K10: a market with a result is dropped with its line, after any reload before', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'catalog.json');
  const list = (...slugs: string[]) => {
    const instruments = slugs.map((slug) => {
      const made = instrument(slug.toLowerCase(), 'g1');
      return { ...made, listings: [{ ...made.listings[0], venueMarketId: slug }] };
    });
    writeFileSync(file, catalogOf([game('g1')], instruments));
  };
  const identity = new ControlStore(dir);
  t.teardown(() => identity.close());
  const { bus, catalog } = catalogIn(file, identity);
  const reload = () => catalog.start();

  list('OVER', 'LIVE', 'NEXT');
  await reload();
  const market = catalog.marketNumber('venue_a', 'OVER')!;
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  bus.publish({ kind: 'result', atMs: 0, source: 0, market, ...pays });
  list('OVER', 'LIVE');
  await reload();
  t.deepEqual(catalog.watchedMarkets('venue_a').sort(), ['LIVE', 'NEXT', 'OVER']);
  t.deepEqual(catalog.marketsToWatch([], 0).settled, [market]);
  list('LIVE');
  await reload();
  t.deepEqual(catalog.watchedMarkets('venue_a').sort(), ['LIVE', 'NEXT']);
});

test('D18: numbers are on disk before a shard gets the catalog that has them', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'catalog.json');
  writeFileSync(file, catalogOf([game('g1')], [instrument('one', 'g1')]));
  const identity = new ControlStore(dir);
  t.teardown(() => identity.close());
  const named: [given: string[], onDisk: string[] | undefined][] = [];
  const setCatalog = async ({ instrumentIds }: Catalog) => {
    const reading = new ControlStore(dir);
    named.push([instrumentIds, reading.numbers()?.instrumentIds]);
    await reading.close();
  };
  const { catalog } = catalogIn(file, identity, { ...INTO, setCatalog });
  await catalog.start();
  writeFileSync(file, catalogOf([game('g1')], [instrument('one', 'g1'), instrument('two', 'g1')]));
  await catalog.start();
  t.deepEqual(
    named.map(([given]) => given.length),
    [1, 2],
  );
  for (const [given, onDisk] of named) t.deepEqual(onDisk, given);
});

test('T126, K2: a catalog file with an error changes nothing', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'catalog.json');
  const good = catalogOf([game('g1')], [instrument('one', 'g1')]);
  writeFileSync(file, good);
  const identity = new ControlStore(dir);
  t.teardown(() => identity.close());
  let taken = 0;
  const setCatalog = async () => void taken++;
  const { catalog } = catalogIn(file, identity, { ...INTO, setCatalog });
  await catalog.start();
  const [before, numbers] = [catalog.current, identity.numbers()];
  const twice = [instrument('two', 'g1'), instrument('two', 'g1')];
  writeFileSync(file, catalogOf([game('g1')], twice));
  await t.throwsAsync(catalog.start(), { message: /instruments\[1\]/ });
  t.is(catalog.current, before);
  t.deepEqual(identity.numbers(), numbers);
  t.is(taken, 1);
});
