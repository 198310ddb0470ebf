import test from 'ava';
import type { MarketStatus } from '../../../../engine/base/units.ts';
import { catalogOf, discovered, kalshiMarket, usMarket } from '../../../feeds/discovered.ts';
import { IDS, NOW_MS, sampleCatalog } from '../../samples.ts';
import { type Api, type Json, startApi } from '../../support.ts';

const NOW = new Date(NOW_MS).toISOString();
const VENUE_FIELDS = [
  'sideLabel',
  'buyForYes',
  'buyForNo',
  'venueMarketId',
  'venueSideRef',
  'venueEvent',
];

const idsOf = (rows: Json[]) => rows.map(({ id }) => id);

async function listed(api: Api, query: string): Promise<string[]> {
  return idsOf((await api.call('GET', `/instruments?${query}`)).json.instruments);
}

test('A49: derived fields are there', async (t) => {
  const api = await startApi(t);
  const { json } = await api.call('GET', `/instruments/${IDS.lions}`);
  t.like(json, { venueData: true, asOf: NOW, mode: 'paper' });
  t.like(json.instrument, {
    id: IDS.lions,
    gameId: 'game_00000000A0',
    gameSlug: 'bears-lions',
    gameStatus: 'scheduled',
    home: { code: 'LIO', name: 'Lions' },
    away: { code: 'BEA', name: 'Bears' },
    venues: ['venue_a', 'venue_b'],
    line: null,
    startsAt: '2026-11-21T08:00:00.000Z',
  });
  t.is(json.instrument.listings[0].venueMarketId, 'T-LIONS');
  const { json: alone } = await api.call('GET', '/instruments/season-champion-lions');
  t.like(alone.instrument, { id: IDS.outright, gameId: null, gameSlug: null, gameStatus: null });
  t.like(alone.instrument, { home: null, away: null });
});

test('V3: no venue reference while the switch is off', async (t) => {
  const api = await startApi(t);
  const paths = ['/instruments', '/instruments/search?q=lions', `/instruments/${IDS.lions}`];
  paths.push('/games/bears-lions');
  for (const on of [true, false, true]) {
    await api.switches.set('venueData', on);
    for (const path of paths) {
      const { text, json } = await api.call('GET', path);
      t.is(json.venueData, on);
      t.is(text.includes('T-LIONS'), on, path);
      for (const field of VENUE_FIELDS) t.is(text.includes(`"${field}"`), on, field);
      t.true(text.includes('"venues":["venue_a","venue_b"]'));
    }
  }
});

const TIMES = { open_time: '2026-11-20T00:00:00Z', close_time: '2026-11-22T05:00:00Z' };

test('V3, K29: no ticker and no title of discovered markets while the switch is off', async (t) => {
  const start = { gameStartTime: '2026-11-22T20:00:00Z', title: 'Under the sun' };
  const lines = ['asc', 'tsc'].map((kind) => {
    return usMarket(`${kind}-nfl-hou-pit-2026-11-22-3pt5`, ['HOU', 'PIT'], { ...start, line: 3.5 });
  });
  const binary = kalshiMarket('KXGOLD15M-26NOV220000-00', { title: 'Under the sun', ...TIMES });
  const file = discovered('venue_b', lines, discovered('venue_a', [binary]));
  const catalog = catalogOf(file);
  t.is(catalog.instruments.length, 3);
  const api = await startApi(t, { catalog });
  for (const on of [true, false]) {
    await api.switches.set('venueData', on);
    for (const { id, slug } of catalog.instruments) {
      for (const path of [`/instruments/${id}`, `/instruments/${slug}`]) {
        const { status, text } = await api.call('GET', path);
        t.is(status, 200);
        t.is(/under the sun/i.test(text), on, text);
        t.is(/kxgold|26nov|(asc|tsc)-|3pt5/i.test(text), on, text);
      }
    }
    const { json } = await api.call('GET', '/instruments/search?q=under%20the%20sun');
    t.is(json.instruments.length, on ? 3 : 0, 'nor is a market found by a title that is not shown');
    const listed = (await api.call('GET', '/instruments')).text + JSON.stringify(json);
    t.is(/under the sun|kxgold|26nov|(asc|tsc)-|3pt5/i.test(listed), on);
  }
});

test('A45, P1: instruments are paged to the end, each once', async (t) => {
  const api = await startApi(t);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { json } = await api.call('GET', `/instruments?limit=2${from}`);
    t.is(json.count, json.instruments.length);
    seen.push(...idsOf(json.instruments));
    cursor = json.nextCursor;
  } while (cursor !== null);
  t.deepEqual(seen, [IDS.old, IDS.lions, IDS.bears, IDS.total, IDS.outright]);
});

test('P4: a cursor outlives its row', async (t) => {
  const api = await startApi(t);
  const { json } = await api.call('GET', '/instruments?limit=2');
  const catalog = sampleCatalog();
  catalog.instruments = catalog.instruments.filter(({ id }) => id !== IDS.lions);
  api.setCatalog(catalog);
  t.deepEqual(await listed(api, `cursor=${json.nextCursor}`), [IDS.bears, IDS.total, IDS.outright]);
});

test('A45, GET /instruments: every filter', async (t) => {
  const api = await startApi(t);
  t.deepEqual(await listed(api, 'league=cup'), [IDS.outright]);
  t.deepEqual(await listed(api, 'gameId=game_00000000A0'), [IDS.lions, IDS.bears]);
  t.deepEqual(await listed(api, 'gameId=game_nonsense'), []);
  t.deepEqual(await listed(api, 'marketType=total'), [IDS.total]);
  t.deepEqual(await listed(api, 'tradable=false'), [IDS.total], 'without a venue_a listing');
  t.deepEqual(await listed(api, 'tradable=true&league=nfl'), [IDS.old, IDS.lions, IDS.bears]);
  api.catalog.setGameStatus('bears-lions', 'inprogress');
  t.deepEqual(await listed(api, 'status=inprogress'), [IDS.lions, IDS.bears]);
  t.is((await api.call('GET', '/instruments?tradable=yes')).status, 400);
  t.is((await api.call('GET', '/instruments?marketType=parlay')).status, 400);
});

test('A46: what can be bought now, and nothing else', async (t) => {
  const api = await startApi(t);
  const { bus, catalog } = api;
  const on = { atMs: NOW_MS, source: 0 };
  const says = (market: number, status: MarketStatus) =>
    bus.publish({ kind: 'status', ...on, market, status });
  const tradable = () => listed(api, 'tradable=true');
  const lions = sampleCatalog().marketNames.indexOf('venue_a/T-LIONS');
  const elsewhere = sampleCatalog().marketNames.indexOf('venue_b/B-LIONS');
  const all = [IDS.old, IDS.lions, IDS.bears, IDS.outright];
  t.deepEqual(await tradable(), all, 'open until a venue says otherwise');
  says(elsewhere, 'closed');
  t.deepEqual(await tradable(), all, 'orders name the venue_a market');
  catalog.setGameStatus('bears-lions', 'final');
  t.deepEqual(await tradable(), all, 'a market may trade beyond its game');
  for (const status of ['paused', 'closed'] as const) {
    says(lions, status);
    t.deepEqual(await tradable(), [IDS.old, IDS.bears, IDS.outright], status);
    t.deepEqual(await listed(api, 'tradable=false'), [IDS.lions, IDS.total], status);
  }
  says(lions, 'open');
  t.deepEqual(await tradable(), all);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  bus.publish({ kind: 'result', ...on, market: lions, ...pays });
  says(lions, 'open');
  t.deepEqual(await tradable(), [IDS.old, IDS.bears, IDS.outright], 'a result is final');
  catalog.setGameStatus('bears-lions', 'cancelled');
  t.deepEqual(await tradable(), [IDS.old, IDS.outright]);
});

test('A47: a market that is not open yet says when it opens', async (t) => {
  const api = await startApi(t);
  const opening = async (atMs: number) => {
    const catalog = sampleCatalog();
    catalog.instruments[0]!.opensAt = new Date(atMs).toISOString();
    catalog.instruments[0]!.listings[0]!.note = 'of the venue';
    api.setCatalog(catalog);
    const { json } = await api.call('GET', `/instruments/${IDS.lions}`);
    const notes = json.instrument.listings.map(({ note }: Json) => note);
    return [notes, (await listed(api, 'tradable=true')).includes(IDS.lions)];
  };
  const note = 'opens at 2026-11-21T05:00:00.001Z';
  t.deepEqual(await opening(NOW_MS + 1), [[note, note], false]);
  t.deepEqual(await opening(NOW_MS), [['of the venue', null], true]);
});

test('A46: an instrument whose closing time has come is not tradable', async (t) => {
  const api = await startApi(t);
  const isTradableWhenClosing = async (atMs: number) => {
    const catalog = sampleCatalog();
    catalog.instruments[0]!.closesAt = new Date(atMs).toISOString();
    api.setCatalog(catalog);
    return (await listed(api, 'tradable=true')).includes(IDS.lions);
  };
  t.true(await isTradableWhenClosing(NOW_MS + 1));
  t.false(await isTradableWhenClosing(NOW_MS));
});

test('P3: malformed cursors are 400', async (t) => {
  const api = await startApi(t);
  const { json } = await api.call('GET', '/instruments?limit=1');
  const ofInstruments = json.nextCursor as string;
  const ofGames = (await api.call('GET', '/games?limit=1')).json.nextCursor as string;
  const cases = { instruments: ofGames, games: ofInstruments };
  for (const [list, other] of Object.entries(cases)) {
    const good = cases[list === 'games' ? 'instruments' : 'games'];
    const place = Buffer.from(good, 'base64url').toString();
    const id = place.slice(place.indexOf('.') + 1);
    const written = (text: string) => Buffer.from(text).toString('base64url');
    t.is((await api.call('GET', `/${list}?cursor=${good}`)).status, 200);
    t.is(written(place), good);
    const trailing = [`${place}A`, `${place}AAA`, `${place}\n`, `${place}\0`, `${place} `];
    const inFront = [
      `0${place}`,
      `+${place}`,
      ` ${place}`,
      `NaN.${id}`,
      `Infinity.${id}`,
      `.${id}`,
    ];
    const others = [`1e3.${id}`, `1.5.${id}`, `-0.${id}`, `9007199254740993.${id}`];
    for (const cursor of [
      ...[other, 'x', `${ofInstruments}A`, `${ofGames}=`, 'bm9uc2Vuc2U', `${good}!`, ` ${good}`],
      ...[`${good}\n`, `${good}AAAA`, `${good.slice(0, 8)} ${good.slice(8)}`],
      ...[...trailing, ...inFront, ...others].map(written),
    ]) {
      const answer = await api.call('GET', `/${list}?cursor=${encodeURIComponent(cursor)}`);
      t.is(answer.status, 400, cursor);
      t.is(answer.json.error.message, 'cursor is malformed, or of another query');
    }
  }
});

test('A16, A48, instrument_not_found: unknown and malformed refs', async (t) => {
  const api = await startApi(t);
  for (const ref of [
    'nobody',
    'ins_000000000000',
    'INS_0000000000A1',
    '%',
    '%ff',
    '%00',
    '..%2f',
  ]) {
    for (const path of [`/instruments/${ref}`, `/instruments/${ref}/quote`]) {
      const answer = await api.call('GET', path);
      t.is(answer.status, 404, path);
      t.is(answer.json.error.code, 'instrument_not_found');
    }
  }
  t.is((await api.call('GET', '/instruments/season%2Dchampion%2Dlions')).status, 200);
});

test('A48: games earliest first, from six hours ago on', async (t) => {
  const api = await startApi(t);
  const { json } = await api.call('GET', '/games');
  t.deepEqual(
    json.games.map(({ slug }: Json) => slug),
    ['bears-lions', 'hawks-owls'],
    'without yesterday`s, and without the one that has no instrument',
  );
  t.like(json, { count: 2, nextCursor: null, asOf: NOW, mode: 'paper' });
  t.deepEqual(json.games[0], {
    id: 'game_00000000A0',
    slug: 'bears-lions',
    league: 'nfl',
    startsAt: '2026-11-21T08:00:00.000Z',
    status: 'scheduled',
    home: { code: 'LIO', name: 'Lions' },
    away: { code: 'BEA', name: 'Bears' },
    instrumentCount: 2,
    season: 2026,
    seasonType: 'regular',
    week: null,
  });
});

test('A125: a game of which the day alone is known is listed for 24 hours; instruments say the source', async (t) => {
  const catalog = sampleCatalog();
  const [first] = catalog.games;
  const at = (hours: number) => new Date(Date.parse(NOW) - hours * 3_600_000).toISOString();
  for (const [hours, source, isListed] of [
    [23.9, 'day', true],
    [24.1, 'day', false],
    [7, 'ticker', false],
    [5.9, 'ticker', true],
  ] as const) {
    const game = { ...first!, startsAt: at(hours), startsAtSource: source };
    const instruments = catalog.instruments
      .filter(({ gameSlug }) => gameSlug === game.slug)
      .map((one) => ({ ...one, startsAt: game.startsAt, startsAtSource: source }));
    const api = await startApi(t, { catalog: { ...catalog, games: [game], instruments } });
    const { json } = await api.call('GET', '/games');
    t.is(json.count, isListed ? 1 : 0, `${hours} h, ${source}`);
    const one = (await api.call('GET', `/instruments/${instruments[0]!.id}`)).json.instrument;
    t.is(one.startsAtSource, source);
    t.is((await api.call('GET', `/games?from=${at(30)}`)).json.count, 1);
  }
});

test('A48, GET /games: from and to are dates or date-times', async (t) => {
  const api = await startApi(t);
  const slugs = async (query: string) =>
    (await api.call('GET', `/games?${query}`)).json.games.map(({ slug }: Json) => slug);
  t.deepEqual(await slugs('from=2026-11-20'), ['yesterday', 'bears-lions', 'hawks-owls']);
  t.deepEqual(await slugs('to=2026-11-21'), ['yesterday']);
  t.deepEqual(await slugs('from=2026-11-21T08:00:00Z&to=2026-11-22'), ['bears-lions']);
  t.deepEqual(await slugs('from=2026-11-21T08:00:00.001Z'), ['hawks-owls']);
  t.deepEqual(await slugs('from=2026-11-21T09:00:00%2B01:00&to=2026-11-22'), ['bears-lions']);
  t.deepEqual(await slugs('to=2026-11-21T08:00:00Z&from=2026-11-21'), [], 'to is not included');
  for (const bad of [
    'yesterday',
    '2026-11-21T08:00:00',
    '2026-11-21T08:00:00%2B0200',
    '2026-02-30',
    '2026-13-01',
    '1795219200',
  ]) {
    const answer = await api.call('GET', `/games?from=${bad}`);
    t.is(answer.status, 400, bad);
    t.is(answer.json.error.message, 'from must be a date or a date-time with a zone');
  }
});

test('A48: games by status and league, paged', async (t) => {
  const api = await startApi(t);
  api.catalog.setGameStatus('hawks-owls', 'postponed');
  const { json } = await api.call('GET', '/games?status=postponed&league=nfl');
  t.is(json.games[0].slug, 'hawks-owls');
  t.is(json.count, 1);
  t.is((await api.call('GET', '/games?league=nba')).json.count, 0);
  const first = (await api.call('GET', '/games?limit=1')).json;
  const second = (await api.call('GET', `/games?limit=1&cursor=${first.nextCursor}`)).json;
  t.is(first.games[0].slug, 'bears-lions');
  t.is(second.games[0].slug, 'hawks-owls');
  t.is(second.nextCursor, null);
});

test('A48: one game with its instruments, by id or slug', async (t) => {
  const api = await startApi(t);
  const bySlug = await api.call('GET', '/games/bears-lions');
  const byId = await api.call('GET', '/games/game_00000000A0');
  t.is(bySlug.text, byId.text);
  t.like(byId.json, { count: 2, venueData: true, asOf: NOW, mode: 'paper' });
  t.deepEqual(idsOf(byId.json.instruments), [IDS.lions, IDS.bears]);
  for (const ref of ['nobody-plays', 'x', 'y'.repeat(200), '%ff']) {
    const answer = await api.call('GET', `/games/${ref}`);
    t.is(answer.status, 404, ref);
    t.is(answer.json.error.code, 'game_not_found');
  }
});

test('T123: a live game status shows everywhere until the catalog says something new', async (t) => {
  const api = await startApi(t);
  const shown = async () => {
    const game = (await api.call('GET', '/games/bears-lions')).json;
    t.is(game.instruments[0].gameStatus, game.game.status);
    return game.game.status;
  };
  t.is(await shown(), 'scheduled');
  api.catalog.setGameStatus('bears-lions', 'inprogress');
  api.catalog.setGameStatus('no-such-game', 'final');
  t.is(await shown(), 'inprogress');
  api.setCatalog(sampleCatalog());
  t.is(await shown(), 'inprogress', 'the same catalog again');
  const later = sampleCatalog();
  for (const game of later.games) game.status = 'postponed';
  api.setCatalog(later);
  t.is(await shown(), 'postponed');
});

test('T123: a game status from before a stop yields to a catalog that changed meanwhile', async (t) => {
  const api = await startApi(t);
  const shown = async () => (await api.call('GET', '/games/bears-lions')).json.game.status;
  api.catalog.restoreGameStatus('bears-lions', 'inprogress', 'postponed');
  t.is(await shown(), 'scheduled', 'the engine knows a game that was postponed');
  api.catalog.restoreGameStatus('bears-lions', 'inprogress', 'scheduled');
  t.is(await shown(), 'inprogress');
  api.catalog.restoreGameStatus('bears-lions', 'final', null);
  t.is(await shown(), 'final', 'the catalog had not listed it');
});

test('A47, GET /instruments/search: of two sides the one whose label it is comes first', async (t) => {
  const api = await startApi(t);
  const firstOf = async (words: string): Promise<string> => {
    const { json } = await api.call('GET', `/instruments/search?q=${words.replaceAll(' ', '+')}`);
    return json.instruments[0]?.id;
  };
  t.is(await firstOf('lions'), IDS.lions);
  t.is(await firstOf('bears'), IDS.bears);
  for (const id of [IDS.lions, IDS.bears, IDS.total, IDS.outright, IDS.old]) {
    const { json } = await api.call('GET', `/instruments/${id}`);
    t.is(await firstOf(json.instrument.label), id, json.instrument.label);
  }
});

test('A47, GET /instruments/search: any one typo in a word of four letters or more', async (t) => {
  const api = await startApi(t);
  for (const [word, id] of [
    ['bears', IDS.bears],
    ['lions', IDS.lions],
    ['hawks', IDS.total],
    ['owls', IDS.total],
  ] as const) {
    for (let at = 0; at < word.length; at++) {
      const [head, letter, tail] = [word.slice(0, at), word[at]!, word.slice(at + 1)];
      const typos = [`${head}x${letter}${tail}`, `${head}x${tail}`, `${head}${tail}`];
      if (tail !== '') typos.push(`${head}${tail[0]}${letter}${tail.slice(1)}`);
      // Three letters are too few to distinguish a misspelt word from another one.
      for (const typo of typos.filter(({ length }) => length > 3)) {
        const { json } = await api.call('GET', `/instruments/search?q=${typo}`);
        t.true(idsOf(json.instruments).includes(id), typo);
      }
    }
  }
});

test('A47, GET /instruments/search: best first, a typo allowed', async (t) => {
  const api = await startApi(t);
  const found = async (query: string): Promise<string[]> => {
    const { json } = await api.call('GET', `/instruments/search?${query}`);
    t.is(json.count, json.instruments.length);
    return idsOf(json.instruments);
  };
  t.is((await found('q=hawks+owls'))[0], IDS.total);
  t.is((await found('q=hwks+ols'))[0], IDS.total);
  t.is((await found('q=Champoin'))[0], IDS.outright);
  t.is((await found('q=%C3%89c%C3%B6re+over+41'))[0], IDS.total);
  t.deepEqual(await found('q=lions&league=cup'), [IDS.outright]);
  t.is((await found('q=lions&limit=1')).length, 1);
  t.deepEqual(await found('q=zzzzzz'), []);
  t.deepEqual(await found('q=%25%25'), []);
  for (const query of ['', 'q=', `q=${'x'.repeat(101)}`, 'q=a&limit=26', 'q=a&cursor=x']) {
    t.is((await api.call('GET', `/instruments/search?${query}`)).status, 400, query);
  }
  api.setCatalog({ ...sampleCatalog(), instruments: [] });
  t.deepEqual(await found('q=lions'), []);
});
