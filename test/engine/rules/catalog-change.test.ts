/** Changes of catalogs as logs have them, against whole catalogs. */
import test from 'ava';
import { changed, changeOf, newIn } from '../../../engine/rules/catalog-change.ts';
import type { Catalog, CatalogInstrument } from '../../../engine/rules/catalog-entries.ts';
import { createRandomSource } from '../../model/random-source.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const [sample] = CATALOG.instruments;
const [game] = CATALOG.games;

function instrumentOf(number: number, label: string, gameSlug: string | null): CatalogInstrument {
  const listings = [{ ...sample!.listings[0]!, venueMarketId: `M${number}` }];
  const id = `ins_${String(number).padStart(12, '0')}`;
  return { ...sample!, id, slug: `i-${number}`, label, gameSlug, listings };
}

/** The catalog with these instruments, which goes on from another. */
function after(before: Catalog, instruments: CatalogInstrument[], renamed = false): Catalog {
  const slugs = [...new Set(instruments.flatMap(({ gameSlug }) => gameSlug ?? []))];
  const more = (names: string[], now: string[]) => [...new Set([...names, ...now])];
  return {
    games: slugs.map((slug) => ({ ...game!, slug, id: `game_${slug}${renamed ? 'X' : ''}` })),
    instruments,
    marketNames: more(
      before.marketNames,
      instruments.map(({ listings }) => `venue_a/${listings[0]!.venueMarketId}`),
    ),
    instrumentIds: more(
      before.instrumentIds,
      instruments.map(({ id }) => id),
    ),
  };
}

const NOTHING: Catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };

test('K60: a change makes the next catalog of the one before it, whatever came, went or moved', (t) => {
  const random = createRandomSource(7);
  let [catalog, next] = [NOTHING, 0];
  for (let step = 0; step < 400; step++) {
    let instruments = catalog.instruments.filter(() => !random.oneIn(6));
    instruments = instruments.map((entry) =>
      random.oneIn(8) ? { ...entry, label: `label ${step}` } : entry,
    );
    if (random.oneIn(4)) instruments.reverse();
    for (let count = random.int(0, 3); count > 0; count--) {
      const at = random.int(0, instruments.length);
      const slug = random.oneIn(2) ? null : `game-${random.int(0, 5)}`;
      instruments.splice(at, 0, instrumentOf(next++, 'new', slug));
    }
    const now = after(catalog, instruments, random.oneIn(20));
    const change = changeOf(catalog, now);
    const isSame = JSON.stringify(now) === JSON.stringify(catalog);
    t.is(change === null, isSame, `${step}`);
    if (change !== null) t.deepEqual(changed(catalog, JSON.parse(JSON.stringify(change))), now);
    catalog = now;
  }
  t.true(next > 300);
  const later = changeOf(catalog, after(catalog, [instrumentOf(next, 'new', 'game-1')]));
  t.throws(() => changed(NOTHING, later!), { message: /another catalog/ });
});

test('K60: a change has what is new or changed, the game of each, and no more', (t) => {
  const many = Array.from({ length: 500 }, (_, at) => instrumentOf(at, 'old', `game-${at % 10}`));
  const before = after(NOTHING, many);
  const now = after(before, [...many.slice(1), instrumentOf(500, 'new', 'game-3')]);
  const change = changeOf(before, now)!;
  t.deepEqual(
    newIn(change.instruments).map(({ slug }) => slug),
    ['i-500'],
  );
  t.deepEqual(
    newIn(change.games).map(({ slug }) => slug),
    ['game-3'],
  );
  t.deepEqual(change.marketNames, ['venue_a/M500']);
  t.true(JSON.stringify(change).length < 2500);
  // Its instruments have another game, too.
  const renamed = { ...before, games: before.games.map((one) => ({ ...one, id: `${one.id}X` })) };
  t.is(newIn(changeOf(before, renamed)!.instruments).length, 500);
});

test('K58, K60: what thousands of markets that come and go write grows with them alone, and is folded the same', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const bytesOf = () => engine.records().reduce((all, { payload }) => all + payload.length, 0);
  let catalog: Catalog = { ...CATALOG };
  const bytes: number[] = [];
  for (let round = 0; round < 1200; round++) {
    const others = catalog.instruments
      .filter(({ id, listings }) => id !== AWAY && listings.length > 0)
      .slice(-20);
    const next = instrumentOf(round, `Market ${round}`, null);
    catalog = { ...after(catalog, [sample!, ...others, next]), games: CATALOG.games };
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
    if (round === 700) {
      engine.tick(quoteTick());
      t.true(engine.command(placeOrder()).ok);
      engine.checkpoint();
    }
    bytes.push(bytesOf());
  }
  const perChange = (from: number, to: number) => (bytes[to]! - bytes[from]!) / (to - from);
  t.true(perChange(0, 300) < 4000);
  t.true(
    perChange(900, 1199) < perChange(0, 300) * 1.5,
    'a late change costs as much as an early one',
  );
  const kinds = engine.records().length;
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog });
  t.is(engine.records().length, kinds, 'the same catalog again is no change');
  const expected = JSON.stringify(engine.state().catalog);
  t.is(JSON.stringify(engine.folded().catalog), expected);
  const place = engine.state().catalogPlace;
  engine.crash();
  t.is(JSON.stringify(engine.state().catalog), expected);
  t.deepEqual(engine.state().catalogPlace, place);
  t.deepEqual(engine.conservation(), []);
  const digest = engine.digest();
  engine.crash();
  t.deepEqual(engine.digest(), digest);
});
