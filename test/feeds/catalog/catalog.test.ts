import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import {
  catalogErrorText,
  listedMarkets,
  loadCatalog,
  parseCatalog,
} from '../../../feeds/catalog/catalog.ts';
import { GAME_ID, gameIdOf, INSTRUMENT_ID, instrumentIdOf } from '../../../feeds/catalog/ids.ts';
import { marketNumbers } from '../../../feeds/catalog/market-numbers.ts';

const mlbPath = fileURLToPath(
  new URL('../../../../shared/data/mlb-2026-07-12/catalog.json', import.meta.url),
);
// Without the shared recordings these tests are shown as skipped.
const sharedTest = existsSync(mlbPath) ? test : test.skip;

type Json = Record<string, unknown>;

function game(slug: string, fields: Json = {}): Json {
  return {
    slug,
    league: 'mlb',
    startsAt: '2026-07-12T18:10:00.000Z',
    status: 'scheduled',
    home: { code: 'CWS', name: 'Chicago' },
    away: { code: 'ATH', name: 'Athletics' },
    ...fields,
  };
}

function instrument(slug: string, fields: Json = {}): Json {
  return {
    slug,
    gameSlug: 'g1',
    marketType: 'moneyline',
    period: 'game',
    label: 'ATH to beat CWS',
    yesMeans: 'ATH wins the game',
    pushPossible: false,
    listings: [listing()],
    ...fields,
  };
}

function listing(fields: Json = {}): Json {
  return {
    venue: 'venue_a',
    polarity: 1,
    fungibility: 'exact',
    reviewed: true,
    venueMarketId: 'T1',
    ...fields,
  };
}

function accepted(file: Json, previous?: Catalog): Catalog {
  const reading = parseCatalog(JSON.stringify(file), previous === undefined ? {} : { previous });
  if (!reading.ok) throw new Error(catalogErrorText(reading.errors));
  return reading.catalog;
}

function errorsOf(file: unknown): string[] {
  const reading = parseCatalog(JSON.stringify(file));
  return reading.ok ? [] : catalogErrorText(reading.errors).split('\n').sort();
}

test('K7: what is left out is null, derived or the game’s', (t) => {
  const catalog = accepted({ games: [game('g1')], instruments: [instrument('i1')] });
  t.deepEqual(catalog.games, [
    {
      id: gameIdOf('g1'),
      slug: 'g1',
      league: 'mlb',
      startsAt: '2026-07-12T18:10:00.000Z',
      status: 'scheduled',
      home: { code: 'CWS', name: 'Chicago' },
      away: { code: 'ATH', name: 'Athletics' },
      season: null,
      seasonType: null,
      week: null,
    },
  ]);
  t.deepEqual(catalog.instruments, [
    {
      id: instrumentIdOf('i1'),
      slug: 'i1',
      gameSlug: 'g1',
      league: 'mlb',
      marketType: 'moneyline',
      period: 'game',
      line: null,
      subject: null,
      label: 'ATH to beat CWS',
      oppositeLabel: null,
      yesMeans: 'ATH wins the game',
      startsAt: '2026-07-12T18:10:00.000Z',
      opensAt: null,
      pushPossible: false,
      stat: null,
      tieRule: null,
      settlesOn: null,
      postponementWindowHours: null,
      rulesVersion: 1,
      listings: [
        {
          venue: 'venue_a',
          polarity: 1,
          sideLabel: null,
          fungibility: 'exact',
          reviewed: true,
          note: null,
          buyForYes: 'yes',
          buyForNo: 'no',
          venueMarketId: 'T1',
          venueSideRef: null,
          venueEvent: null,
        },
      ],
    },
  ]);
});

test('K8: an id left out is the start of the SHA-256 of its slug', (t) => {
  // sha256("game:g1") and sha256("ins:i1"), read five bits at a time.
  t.is(gameIdOf('g1'), 'game_N8HFS918TZ');
  t.is(instrumentIdOf('i1'), 'ins_TH59MB1VABE9');
  for (let n = 0; n < 200; n++) {
    t.regex(gameIdOf(`slug-${n}`), GAME_ID);
    t.regex(instrumentIdOf(`slug-${n}`), INSTRUMENT_ID);
  }
});

test('K5, T3, T4: polarity -1 buys no for yes', (t) => {
  const entry = instrument('i1', { listings: [listing({ polarity: -1 })] });
  const [read] = accepted({ games: [game('g1')], instruments: [entry] }).instruments;
  t.is(read?.listings[0]?.buyForYes, 'no');
  t.is(read?.listings[0]?.buyForNo, 'yes');
});

test('K2: bad entries are all reported, with their place', (t) => {
  const file = {
    games: [
      game('g1', { id: 'game_lower00000', startsAt: '2026-02-30T00:00:00Z' }),
      game('g2', { status: 'done', statuz: 'scheduled' }),
      game('g2', { away: { code: 'CWS', name: 'Chicago' } }),
    ],
    instruments: [
      instrument('i1', { marketType: 'winner', label: undefined }),
      instrument('i2', {
        gameSlug: 'g9',
        id: 'ins_SHORT',
        listings: [listing({ polarity: 2, venue: 'venue_z' }), listing({ fungibility: 'same' })],
      }),
      instrument('i3', { gameSlug: 'g9', listings: [listing(), listing({ venueMarketId: 'T2' })] }),
      instrument('ins_NOT_A_SLUG', { line: '8.5', listings: 'none' }),
    ],
  };
  t.deepEqual(errorsOf(file), [
    'games[0].id: must be game_ and 10 characters of 0-9A-HJKMNP-TV-Z',
    'games[0].startsAt: must be a date-time like 2026-11-21T05:00:00.000Z',
    'games[1].status: must be scheduled, inprogress, final, postponed or cancelled',
    'games[1].statuz: is not a field of a catalog',
    "games[2].away.code: is also the home team's code",
    'instruments[0].label: is required',
    'instruments[0].marketType: must be moneyline, spread, total, team_total, player_prop, series, outright or other',
    'instruments[1].id: must be ins_ and 12 characters of 0-9A-HJKMNP-TV-Z',
    'instruments[1].listings[0].polarity: must be 1 or -1',
    'instruments[1].listings[0].venue: must be venue_a, venue_b, venue_c or venue_c_intl',
    'instruments[1].listings[1].fungibility: must be exact, near or none',
    'instruments[2].gameSlug: names no game of this catalog',
    'instruments[2].listings[1].venue: is listed already by listings[0]',
    'instruments[3].line: must be number or null',
    'instruments[3].listings: must be array',
    'instruments[3].slug: must be a slug: up to 160 of a-z 0-9 . _ -, beginning with a letter or digit, not with ins_ or game_',
  ]);
});

test('K2: what is not a catalog at all is an error too', (t) => {
  t.deepEqual(errorsOf([]), ['file: must be object']);
  t.deepEqual(errorsOf({ games: {} }), ['games: must be array', 'instruments: is required']);
  t.deepEqual(errorsOf({ games: [null], instruments: [7, null] }), [
    'games[0]: must be object',
    'instruments[0]: must be object',
    'instruments[1]: must be object',
  ]);
  const broken = parseCatalog('{"games": [');
  t.false(broken.ok);
  t.regex(broken.ok ? '' : catalogErrorText(broken.errors), /^file: is not JSON: /);
});

test('K8: duplicate ids and slugs', (t) => {
  const id = 'ins_000000000001';
  const file = {
    games: [
      game('g1', { id: 'game_0000000001' }),
      game('g2', { id: 'game_0000000001' }),
      game('g1'),
    ],
    instruments: [
      instrument('i1', { id }),
      instrument('i2', { id }),
      instrument('i2', { id: 'ins_000000000002' }),
      instrument('i3', { id: instrumentIdOf('i4') }),
      instrument('i4'),
    ],
  };
  t.deepEqual(errorsOf(file), [
    'games[1].id: is also the id of games[0]',
    'games[2].slug: is also the slug of games[0]',
    'instruments[1].id: is also the id of instruments[0]',
    'instruments[2].slug: is also the slug of instruments[1]',
    'instruments[4].id: is also the id of instruments[3]',
  ]);
});

test('K6: derived fields may be there and must agree', (t) => {
  const away = { code: 'ATH', name: 'Athletics' };
  const right = {
    games: [game('g1', { instrumentCount: 1 })],
    instruments: [
      instrument('i1', {
        gameId: gameIdOf('g1'),
        league: 'mlb',
        away,
        subject: away,
        gameStatus: 'final',
        venues: ['venue_a'],
        listings: [listing({ buyForYes: 'yes', buyForNo: 'no' })],
      }),
    ],
  };
  t.deepEqual(errorsOf(right), []);
  const wrong = {
    games: [game('g1', { instrumentCount: 2 }), game('g2')],
    instruments: [
      instrument('i1', {
        gameId: gameIdOf('g2'),
        league: 'nba',
        home: away,
        subject: { code: 'NYY', name: 'New York' },
        venues: ['venue_b'],
        listings: [listing({ polarity: -1, buyForYes: 'yes', buyForNo: 'no' })],
      }),
    ],
  };
  t.deepEqual(errorsOf(wrong), [
    'games[0].instrumentCount: must be 1, or left out',
    'instruments[0].gameId: is not the id of the game that gameSlug names',
    "instruments[0].home: must be the game's, or left out",
    "instruments[0].league: must be the game's, mlb, or left out",
    'instruments[0].listings[0].buyForNo: must be yes with polarity -1',
    'instruments[0].listings[0].buyForYes: must be no with polarity -1',
    'instruments[0].subject.code: must be a team of the game, ATH or CWS',
    'instruments[0].venues: must be the venues of the listings, or left out',
  ]);
});

test('K4: a game is named by slug, by id or not at all', (t) => {
  const byId = instrument('i1', { gameSlug: null, gameId: gameIdOf('g1') });
  t.is(accepted({ games: [game('g1')], instruments: [byId] }).instruments[0]?.gameSlug, 'g1');
  const outright = instrument('i2', {
    gameSlug: null,
    marketType: 'outright',
    period: 'season',
    league: 'mlb',
    startsAt: '2026-10-01T02:00:00+02:00',
  });
  const [read] = accepted({ games: [], instruments: [outright] }).instruments;
  t.is(read?.gameSlug, null);
  t.is(read?.startsAt, '2026-10-01T00:00:00.000Z');
  const bare = instrument('i3', { gameSlug: undefined, gameStatus: 'final' });
  t.deepEqual(errorsOf({ games: [], instruments: [bare] }), [
    'instruments[0].gameStatus: needs a game: name it by gameSlug',
    'instruments[0].league: is required without a game',
    'instruments[0].startsAt: is required without a game',
  ]);
});

test('K9: numbers are kept and only appended to', (t) => {
  const first = accepted({
    games: [game('g1')],
    instruments: [
      instrument('i1', {
        listings: [listing(), listing({ venue: 'venue_b', venueMarketId: 'B1' })],
      }),
      instrument('i2', { listings: [listing({ polarity: -1 })] }),
    ],
  });
  t.deepEqual(first.marketNames, ['venue_a/T1', 'venue_b/B1']);
  t.deepEqual(first.instrumentIds, [instrumentIdOf('i1'), instrumentIdOf('i2')]);
  const second = accepted(
    {
      games: [game('g2')],
      instruments: [
        instrument('i3', { gameSlug: 'g2', listings: [listing({ venueMarketId: 'T0' })] }),
        instrument('i2', { gameSlug: 'g2', listings: [listing({ venueMarketId: 'T1' })] }),
      ],
    },
    first,
  );
  t.deepEqual(
    second.games.map(({ slug }) => slug),
    ['g2'],
  );
  t.deepEqual(second.marketNames, ['venue_a/T1', 'venue_b/B1', 'venue_a/T0']);
  t.deepEqual(
    second.instrumentIds,
    ['i1', 'i2', 'i3'].map((slug) => instrumentIdOf(slug)),
  );
  const numberOf = marketNumbers(second);
  t.is(numberOf('venue_a', 'T0'), 2);
  t.is(numberOf('venue_b', 'B1'), 1);
  t.is(numberOf('venue_b', 'T1'), undefined);
  t.deepEqual(listedMarkets(second, 'venue_a'), ['T0', 'T1']);
  t.deepEqual(listedMarkets(second, 'venue_b'), []);
});

sharedTest('K2: the recorded MLB day loads', async (t) => {
  const reading = await loadCatalog(mlbPath);
  if (!reading.ok) throw new Error(catalogErrorText(reading.errors));
  const { catalog } = reading;
  t.is(catalog.games.length, 15);
  t.is(catalog.instruments.length, 30);
  t.is(catalog.marketNames.length, 15);
  t.deepEqual(
    catalog.instruments.slice(0, 2).map(({ listings }) => listings[0]?.polarity),
    [1, -1],
  );
  // Every field of these entries is one of the catalog's own, so nothing may have changed.
  const file: Record<string, object[]> = JSON.parse(await readFile(mlbPath, 'utf8'));
  const instruments = file.instruments!.map((entry) => ({ ...entry, opensAt: null }));
  t.deepEqual({ games: catalog.games, instruments: catalog.instruments }, { ...file, instruments });
});
