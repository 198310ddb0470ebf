import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { CatalogView } from '../../../api/catalog/catalog-view.ts';
import { InstrumentSearch } from '../../../api/catalog/instrument-search.ts';
import type { GameStatus } from '../../../engine/base/units.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import { NOW_MS, sampleCatalog } from '../samples.ts';

const LIMIT = 25;

/** A search over instruments of these labels, in this order, and a way to replace them. */
function searchOver(labels: readonly string[], league = 'nfl') {
  let catalog = catalogOf(labels, league);
  const search = new InstrumentSearch(new CatalogView(() => catalog));
  const found = (query: string, of?: string, limit = LIMIT) =>
    search
      .find(query, { league: of }, limit, true, NOW_MS)
      .map(({ instrument }) => instrument.label);
  const replace = (others: readonly string[]) => {
    catalog = catalogOf(others, league);
  };
  return { search, found, replace };
}

function catalogOf(labels: readonly string[], league: string): Catalog {
  const sample = sampleCatalog();
  const instruments = labels.map((label) => ({
    ...sample.instruments[0]!,
    ...{ label, league, gameSlug: null, subject: null, yesMeans: '', marketType: '' },
    id: `ins_${label.replaceAll(/\W/g, '').padStart(12, '0')}`,
    slug: '',
    listings: [],
  }));
  const instrumentIds = instruments.map(({ id }) => id);
  return { games: [], instruments, marketNames: sample.marketNames, instrumentIds };
}

const numbered = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `${word}${at}`);

test('A47: a search finds an instrument from its first letter on, as its words are typed', (t) => {
  const label = 'Lions win the season';
  const { found } = searchOver(['Bears to beat Lions', label, 'Hawks and Owls score']);
  for (let length = 1; length <= label.length; length++) {
    const typed = label.slice(0, length);
    t.is(found(typed)[0], label, typed);
  }
});

test('A47, K29: an instrument without a team is found by what its venue calls it, while that is shown', (t) => {
  const { instruments, ...sample } = sampleCatalog();
  const listing = { ...instruments[0]!.listings[0]!, sideLabel: 'Gold price up?' };
  const own = { label: 'gold15m: market 28a0c5a4', gameSlug: null, listings: [listing] };
  const searchIn = (subject: null | { code: string; name: string }) => {
    const catalog = {
      ...sample,
      games: [],
      instruments: [{ ...instruments[0]!, ...own, subject }],
    };
    const search = new InstrumentSearch(new CatalogView(() => catalog));
    return (query: string, venueData: boolean) =>
      search.find(query, {}, LIMIT, venueData, NOW_MS).length;
  };
  const found = searchIn(null);
  // The word, its beginning, a typo, and a beginning with a typo.
  for (const query of ['price', 'pri', 'pirce', 'prixe', 'pricf', 'price market']) {
    t.is(found(query, true), 1, query);
  }
  for (const query of ['price', 'pri', 'pirce', 'prixe', 'pricf'])
    t.is(found(query, false), 0, query);
  t.is(found('market', false), 1, 'its own label is found');
  t.is(found('goldd', false), 1, 'as if the title were not there');
  t.is(searchIn({ code: 'AU', name: 'Gold' })('price', true), 0);
});

test('A47: a misspelt word is found while it is typed', (t) => {
  const { found } = searchOver(['Champion of the season', 'Owls to beat Hawks']);
  for (const typed of ['champoi', 'champoin', 'champoins', 'seasn']) {
    t.deepEqual(found(typed), ['Champion of the season'], typed);
  }
  t.deepEqual(found('owsl hwaks'), ['Owls to beat Hawks']);
});

test('A47: one letter added, missing, replaced or swapped, wherever it is, finds the word; two do not', (t) => {
  const { found } = searchOver(['Hawks']);
  const once = ['xhawks', 'hxawks', 'hawksx', 'awks', 'haks', 'hawk', 'xawks', 'haxks', 'hawkx'];
  for (const typed of [...once, 'ahwks', 'hwaks', 'hakws', 'hawsk']) {
    t.deepEqual(found(typed), ['Hawks'], typed);
  }
  for (const typed of ['xxwks', 'awkss', 'xhawksx', 'xawkx', 'ahwsk', 'wahks']) {
    t.deepEqual(found(typed), [], typed);
  }
});

test('A47: the word itself comes before the words it begins, and those before misspelt ones', (t) => {
  const { found } = searchOver(['Zion score', 'Lions score', 'Lion score']);
  t.deepEqual(found('lion'), ['Lion score', 'Lions score']);
  const unused = searchOver(['Zion score', 'Lions score']);
  t.deepEqual(unused.found('lion'), ['Lions score', 'Zion score']);
});

test('A47: of equal matches the words in a row come first, then the first word, then the start', (t) => {
  const { found } = searchOver([
    'One Bears or Lions',
    'Bears or Lions',
    'Lions or Bears',
    'X Lions Bears',
  ]);
  t.deepEqual(found('lions bears'), [
    'X Lions Bears',
    'Lions or Bears',
    'Bears or Lions',
    'One Bears or Lions',
  ]);
});

test('A47: of equal matches what can be traded comes first, and a better match before it', (t) => {
  const sample = sampleCatalog();
  const labels = ['Lions to win', 'Lions to win', 'Lions to score', 'Lions to win'];
  const [tradable] = sample.instruments;
  const instruments = labels.map((label, at) => ({
    ...tradable!,
    ...{ id: `ins_${String(at).padStart(12, '0')}`, slug: '', label },
    // One of them, and the one of other words, has a market.
    listings: at < 2 ? [] : tradable!.listings,
  }));
  const catalog = { ...sample, instruments };
  const view = new CatalogView(() => catalog);
  const search = new InstrumentSearch(view);
  const found = (query: string, limit: number) =>
    search.find(query, {}, limit, true, NOW_MS).map(({ id }) => Number(id.slice(-1)));
  t.deepEqual(found('lions win', 4), [3, 0, 1, 2]);
  t.deepEqual(found('lions win', 1), [3], 'before a limit cuts the others');
  t.deepEqual(found('lions win', 2), [3, 0]);
  t.deepEqual(found('lions', 4), [2, 3, 0, 1]);
});

test('A47: less than half of the query is no match', (t) => {
  const { found } = searchOver(['Lions', 'Bears']);
  t.deepEqual(found('lions hawks'), ['Lions']);
  t.deepEqual(found('lions hawksx'), ['Lions'], 'most of the missing word is a letter more');
  t.deepEqual(found('lions quarterback'), []);
});

test('A47: a letter that begins too many words leaves the other words their share', async (t) => {
  const many = numbered(60, 'a').join(' ');
  const { search, found } = searchOver(numbered(5000, 'x').map((name) => `${name} ${many}`));
  while (!search.isWhole) await nextTurn();
  t.is(found('a x4').length, LIMIT);
  t.is(found('a x42')[0]!.split(' ')[0], 'x42');
  t.true(found('a x4').every((label) => label.startsWith('x4')));
});

test('A47: while the first catalog is indexed, what is indexed by now is found', async (t) => {
  const { search, found } = searchOver(numbered(1000, 'Team'));
  t.false(search.isWhole);
  t.deepEqual(found('team0'), ['Team0']);
  t.deepEqual(found('team999'), []);
  while (!search.isWhole) await nextTurn();
  t.deepEqual(found('team999'), ['Team999']);
});

test('A47: a new catalog is found as a whole, and until then what both catalogs list', async (t) => {
  const { search, found, replace } = searchOver(numbered(300, 'Team'));
  while (!search.isWhole) await nextTurn();
  replace([...numbered(600, 'Other'), 'Team7']);
  t.deepEqual(found('team7'), ['Team7']);
  t.false(search.isWhole);
  t.deepEqual(found('team8'), [], 'the new catalog lacks it');
  t.deepEqual(found('other1'), []);
  while (!search.isWhole) await nextTurn();
  t.is(found('other1')[0], 'Other1');
  t.deepEqual(found('team7'), ['Team7']);
});

test('A47: a catalog that changes while it is indexed is indexed as it is at last', async (t) => {
  const { search, found, replace } = searchOver(numbered(1000, 'Team'));
  replace(numbered(1000, 'Other'));
  t.deepEqual(found('team1'), []);
  replace(['Last']);
  t.deepEqual(found('last'), ['Last']);
  t.true(search.isWhole);
  await nextTurn();
  await nextTurn();
  t.deepEqual(found('team1'), []);
  t.deepEqual(found('last'), ['Last']);
});

test('A47: a league narrows the search before its limit is counted', (t) => {
  const { found } = searchOver(['Lions', 'Bears'], 'cup');
  t.deepEqual(found('lions', 'cup', 1), ['Lions']);
  t.deepEqual(found('lions', 'nfl', 1), []);
});

test('A47: a status of games narrows the search, as it is now', (t) => {
  const sample = sampleCatalog();
  const view = new CatalogView(() => sample);
  const search = new InstrumentSearch(view);
  const { instrument, game } = view.instruments().find((entry) => entry.game !== null)!;
  const word = instrument.label.split(' ')[0]!;
  const found = (status: GameStatus) => search.find(word, { status }, LIMIT, true, NOW_MS).length;
  view.setGameStatus(game!.game.slug, 'scheduled');
  t.true(found('scheduled') > 0);
  t.is(found('inprogress'), 0);
  view.setGameStatus(game!.game.slug, 'inprogress');
  t.is(found('scheduled'), 0);
  t.true(found('inprogress') > 0);
});
