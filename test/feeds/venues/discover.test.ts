import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import type { CatalogFile } from '../../../feeds/catalog/catalog-schema.ts';
import { Discovery } from '../../../feeds/venues/discovered-answers.ts';
import { assemble } from '../../../feeds/venues/shared/assemble.ts';
import { easternDay, easternMs } from '../../../feeds/venues/shared/eastern.ts';
import {
  catalogOf,
  discovered,
  findIn,
  gammaMarket,
  instrumentIn,
  type Json,
  kalshiMarket,
  shared,
  usMarket,
} from '../discovered.ts';

// Without the shared recordings these tests are shown as skipped.
const restTest = existsSync(shared('kalshi-rest')) ? test : test.skip;
const mlbTest = existsSync(shared('mlb-2026-07-12')) ? test : test.skip;

const recorded = (name: string) => {
  const path = shared(`kalshi-rest/${name}`);
  return { name, body: JSON.parse(readFileSync(path, 'utf8')) };
};

restTest('K20, K22, K25: recorded answers of Kalshi make a catalog, each market once', (t) => {
  const empty: string[] = [];
  const names = ['event_single', 'market_single', 'markets_list', 'series_list', 'orderbook'];
  const answers = names.map((name) => recorded(`${name}_response.json`));
  const file = assemble(findIn('venue_a', answers, (name) => empty.push(name)));
  const { instruments, games } = catalogOf(file);
  t.deepEqual(empty, ['orderbook_response.json']);
  // One of the event's; all others are combos.
  t.is(instruments.length, 1);
  t.is(games.length, 0);
  const mars = instruments.find((one) => one.listings[0]?.venueMarketId === 'KXELONMARS-99');
  t.is(mars?.listings[0]?.sideLabel, 'Will Elon Musk visit Mars before Aug 1, 2099?');
  t.regex(mars!.label, /^elonmars: market [0-9a-f]{8}, closes 2099-08-01 04:59 UTC$/);
  t.is(mars?.closesAt, '2099-08-01T04:59:00.000Z');
});

/** The recorded day: `slug, away, home, start` of 15 games. */
function mlbGames(): { slug: string; away: string; home: string; start: string }[] {
  const text = readFileSync(shared('mlb-2026-07-12/games.csv'), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [slug, away, home, start] = line.split(',') as [string, string, string, string];
      return { slug, away, home, start };
    });
}

function mlbCatalog(): { games: Json[]; instruments: Json[] } {
  return JSON.parse(readFileSync(shared('mlb-2026-07-12/catalog.json'), 'utf8'));
}

const mlbUs = () =>
  mlbGames().map(({ slug, away, home, start }) =>
    usMarket(slug, [away, home], { gameStartTime: start }),
  );

/** The same games as Kalshi would name them: New York time, four hours after UTC in July. */
const mlbKalshi = () =>
  mlbGames().flatMap(({ away, home, start }) => {
    const time = new Date(Date.parse(start) - 4 * 3_600_000).toISOString().slice(11, 16);
    const event = `KXMLBGAME-26JUL12${time.replace(':', '')}${away}${home}`;
    return [away, home].map((team) => kalshiMarket(`${event}-${team}`, { title: 'Winner?' }));
  });

mlbTest('K23: the recorded MLB day by its slugs and starts is the recorded catalog', (t) => {
  const { instruments, games } = catalogOf(discovered('venue_a', mlbUs()));
  const wanted = mlbCatalog();
  // Ids come from slugs, unless a catalog has given them: the recorded one has.
  const unknown = { id: undefined, season: undefined, seasonType: undefined };
  const written = { startsAtSource: undefined };
  const plain = (entries: readonly object[]) =>
    entries.map((one) => ({ ...one, ...unknown, ...written }));
  t.deepEqual(
    plain(instruments),
    plain(wanted.instruments.map((entry) => ({ ...entry, opensAt: null }))),
  );
  t.deepEqual(plain(games), plain(wanted.games));

  const recordedCatalog = mlbCatalog() as unknown as CatalogFile;
  const into = catalogOf(discovered('venue_a', mlbUs(), recordedCatalog));
  t.deepEqual(into, catalogOf(recordedCatalog), 'added to itself it changes nothing');
});

mlbTest('K26: the same day at two venues is one catalog, with both listings everywhere', (t) => {
  const kalshi = discovered('venue_a', mlbKalshi());
  const both = catalogOf(discovered('venue_b', mlbUs(), kalshi));
  t.is(both.games.length, 15);
  t.is(both.instruments.length, 30);
  for (const { slug, listings } of both.instruments) {
    const [home, other] = listings;
    t.is(listings.length, 2, slug);
    t.deepEqual([home!.venue, home!.polarity, home!.reviewed], ['venue_a', 1, true]);
    t.deepEqual([other!.venue, other!.reviewed], ['venue_b', false]);
    const [, away] = slug.split('-');
    t.is(other!.polarity, slug.endsWith(`-moneyline-${away}`) ? 1 : -1, 'long is the away team');
  }
  const startsOf = (list: readonly object[]) => {
    return (list as Json[]).map(({ slug, startsAt }) => [slug, startsAt]);
  };
  t.deepEqual(startsOf(both.games), startsOf(mlbCatalog().games));
  const again = discovered('venue_b', mlbUs(), discovered('venue_b', mlbUs(), kalshi));
  t.deepEqual(catalogOf(again), both, 'a second time changes nothing');
});

test('K26: a listing joins the game of its day, by number or start where there are two', (t) => {
  const kalshi = ['1805', '2140'].flatMap((time) =>
    ['MIL', 'PIT'].map((team) => kalshiMarket(`KXMLBGAME-26JUL11${time}MILPIT-${team}`)),
  );
  const base = discovered('venue_a', kalshi);
  const us = (gameStartTime: string) =>
    usMarket('aec-mlb-pit-mil-2026-07-11', ['Pirates/pit', 'Brewers/mil'], { gameStartTime });
  // 18:05 in New York is 22:05 in UTC, 21:40 is 01:40 on the 12th.
  for (const [start, joined] of [
    ['2026-07-11T23:00:00Z', '1805'],
    ['2026-07-12T02:00:00Z', '2140'],
  ] as const) {
    const both = catalogOf(discovered('venue_b', [us(start)], base));
    t.is(both.games.length, 2);
    const withBoth = both.instruments.filter(({ listings }) => listings.length === 2);
    t.is(withBoth.length, 2, start);
    for (const { listings } of withBoth) {
      t.true(listings[0]!.venueMarketId.includes(joined), `${start}: ${joined}`);
      t.deepEqual(
        listings.map(({ venue, reviewed }) => [venue, reviewed]),
        [
          ['venue_a', true],
          ['venue_b', false],
        ],
      );
    }
  }
});

test('K24: Kalshi’s game starts when its ticker says, not when the market closes', (t) => {
  const markets = ['MIL', 'PIT'].map((team) =>
    kalshiMarket(`KXMLBGAME-26JUL101840MILPIT-${team}`, {
      yes_sub_title: team === 'MIL' ? 'Milwaukee' : 'Pittsburgh',
    }),
  );
  const file = discovered('venue_a', markets);
  const [game] = catalogOf(file).games;
  t.is(game?.slug, 'mlb-mil-pit-2026-07-10');
  t.is(game?.startsAt, '2026-07-10T22:40:00.000Z');
  t.deepEqual(game?.away, { code: 'MIL', name: 'Milwaukee' });
  const pit = instrumentIn(file, 'mlb-mil-pit-2026-07-10-moneyline-pit');
  t.is(pit.label, 'Pittsburgh to beat Milwaukee');
  t.is(pit.closesAt, undefined);
  t.is(pit.listings[0]?.venueMarketId, 'KXMLBGAME-26JUL101840MILPIT-PIT');
  t.is(file.games[0]?.note, null);
});

test('K24: winter time, a date alone, and the second game of a day', (t) => {
  const teams = (event: string, codes: string[]) =>
    codes.map((code) => kalshiMarket(`${event}-${code}`));
  const file = discovered('venue_a', [
    ...teams('KXNFLGAME-26JAN12HOUPIT', ['HOU', 'PIT']),
    ...teams('KXNHLGAME-26JAN121930BOSNYR', ['BOS', 'NYR']),
    ...teams('KXMLBGAME-26APR251310BALDETG1', ['BAL', 'DET']),
    ...teams('KXMLBGAME-26APR251840BALDETG2', ['BAL', 'DET']),
  ]);
  const { games, instruments } = catalogOf(file);
  t.deepEqual(
    games.map(({ slug, startsAt }) => [slug, startsAt]),
    [
      ['nfl-hou-pit-2026-01-12', '2026-01-12T05:00:00.000Z'],
      ['nhl-bos-nyr-2026-01-12', '2026-01-13T00:30:00.000Z'],
      ['mlb-bal-det-2026-04-25-g1', '2026-04-25T17:10:00.000Z'],
      ['mlb-bal-det-2026-04-25-g2', '2026-04-25T22:40:00.000Z'],
    ],
  );
  t.regex(String(file.games[0]?.note), /time of the start is not known/);
  t.is(instruments.length, 8);
  // Another venue names the time, and each game of a double day by its start.
  const start = (gameStartTime: string) => ({ gameStartTime });
  const both = discovered(
    'venue_b',
    [
      usMarket('aec-nfl-hou-pit-2026-01-12', ['HOU', 'PIT'], start('2026-01-13T01:15:00Z')),
      usMarket('aec-mlb-bal-det-2026-04-25', ['BAL', 'DET'], start('2026-04-25T17:10:00Z')),
      usMarket('aec-mlb-bal-det-2026-04-25-2', ['BAL', 'DET'], start('2026-04-25T22:40:00Z')),
    ],
    file,
  );
  t.is(both.games.length, 4);
  t.is(both.games[0]?.startsAt, '2026-01-13T01:15:00.000Z');
  t.is(both.games[0]?.note, null);
  const second = instrumentIn(both, 'mlb-bal-det-2026-04-25-g2-moneyline-det');
  t.is(second.listings[1]?.venueMarketId, 'aec-mlb-bal-det-2026-04-25-2');
});

test('K24: clocks that change in the night between', (t) => {
  t.is(easternMs('2026-03-08', '01:59'), Date.parse('2026-03-08T06:59:00Z'));
  t.is(easternMs('2026-03-08', '03:00'), Date.parse('2026-03-08T07:00:00Z'));
  t.is(easternMs('2026-11-01', '03:00'), Date.parse('2026-11-01T08:00:00Z'));
  t.is(easternMs('2026-02-30'), null);
  t.is(easternMs('2026-07-10', '25:00'), null);
  t.is(easternDay(Date.parse('2026-08-23T00:40:00Z')), '2026-08-22');
});

test('K23: a tie’s market is a leg of its own, at every venue', (t) => {
  const kalshi = ['ARS', 'CHE', 'TIE'].map((code) =>
    kalshiMarket(`KXEPLGAME-26AUG241500ARSCHE-${code}`),
  );
  const file = discovered('venue_a', kalshi);
  const tie = instrumentIn(file, 'epl-ars-che-2026-08-24-moneyline-tie');
  t.deepEqual(tie.subject, { code: 'TIE', name: 'Tie' });
  t.is(tie.period, 'regulation');
  const start = { gameStartTime: '2026-08-24T19:00:00Z' };
  const yesNo: [string, string] = ['Yes', 'No'];
  const us = ['ars', 'che', 'draw'].map((leg) =>
    usMarket(`atc-epl-ars-che-2026-08-24-${leg}`, yesNo, start),
  );
  const gamma = ['ars', 'che', 'draw'].map((leg) =>
    gammaMarket(`epl-ars-che-2026-08-24-${leg}`, yesNo, {
      ...start,
      clobTokenIds: JSON.stringify([`${leg}-yes`, `${leg}-no`]),
    }),
  );
  const all = discovered('venue_c', gamma, discovered('venue_b', us, file));
  t.is(all.games.length, 1);
  t.deepEqual(
    catalogOf(all).instruments.map(({ slug, listings }) => [
      slug.split('-').at(-1),
      ...listings.map(({ venueMarketId }) => venueMarketId),
    ]),
    ['ars', 'che', 'tie'].map((leg) => {
      const own = leg === 'tie' ? 'draw' : leg;
      const ticker = `KXEPLGAME-26AUG241500ARSCHE-${leg.toUpperCase()}`;
      return [leg, ticker, `atc-epl-ars-che-2026-08-24-${own}`, `${own}-yes`];
    }),
  );
});

test('K23, W49: the long side’s own team decides, not the order of the slug', (t) => {
  const start = { gameStartTime: '2025-11-02T18:00:00Z' };
  const slug = 'aec-nfl-lac-ten-2025-11-02';
  const polarities = (sides: [string, string]) =>
    catalogOf(discovered('venue_b', [usMarket(slug, sides, start)])).instruments.map(
      ({ subject, listings }) => [subject?.name, listings[0]?.polarity],
    );
  t.deepEqual(polarities(['Chargers/lac', 'Titans/ten']), [
    ['Chargers', 1],
    ['Titans', -1],
  ]);
  t.deepEqual(polarities(['Titans/ten', 'Chargers/lac']), [
    ['Chargers', -1],
    ['Titans', 1],
  ]);
});

test('K23: Polymarket lists an outcome’s token, lists inside texts', (t) => {
  const file = discovered('venue_c', [
    gammaMarket('nfl-car-ari-2026-08-06', ['Panthers', 'Cardinals'], {
      clobTokenIds: '["101","102"]',
      feesEnabled: true,
      feeSchedule: { rate: 0.03, exponent: 1, takerOnly: true },
    }),
  ]);
  const [game] = file.games;
  t.is(game?.startsAt, '2026-08-07T00:00:00.000Z', 'evening of the 6th in New York');
  t.is(game?.slug, 'nfl-car-ari-2026-08-06');
  t.deepEqual(
    file.instruments.map(({ label, listings }) => [label, listings[0]?.venueMarketId]),
    [
      ['Panthers to beat Cardinals', '101'],
      ['Cardinals to beat Panthers', '102'],
    ],
  );
  t.deepEqual(
    file.fees?.map(({ series, taker }) => [series, taker]),
    [
      [null, '0.05'],
      ['101', '0.03'],
      ['102', '0.03'],
    ],
  );
});

test('K25, K29: a binary keeps its strike, its opening and its close, and none of its venue’s names', (t) => {
  const gold = (fields: Json) => {
    const ticker = 'KXGOLD15M-26AUG050000-00';
    const title = 'Gold price up in next 15 mins?';
    const file = discovered('venue_a', [
      kalshiMarket(ticker, {
        title,
        yes_sub_title: 'Target Price: $3,370.10',
        rules_primary: 'Of the venue.',
        open_time: '2026-08-05T03:45:00Z',
        close_time: '2026-08-05T04:00:00Z',
        ...fields,
      }),
    ]);
    return catalogOf(file).instruments[0]!;
  };
  const above = gold({ strike_type: 'greater_or_equal', floor_strike: 3370.1 });
  t.deepEqual(above.strike, { type: 'greater_or_equal', floor: 3370.1, cap: null });
  t.is(above.opensAt, '2026-08-05T03:45:00.000Z');
  t.is(above.closesAt, '2026-08-05T04:00:00.000Z');
  t.is(above.startsAt, '2026-08-05T04:00:00.000Z', 'there is no earlier moment of its own');
  t.is(above.league, 'gold15m');
  t.is(above.label, 'gold15m: at least 3,370.1, closes 2026-08-05 04:00 UTC');
  t.is(above.yesMeans, above.label);
  t.regex(above.slug, /^gold15m-2026-08-05-28a0c5a4[0-9a-f]{24}$/);
  const [listing] = above.listings;
  t.is(listing?.sideLabel, 'Gold price up in next 15 mins? (Target Price: $3,370.10)');
  const between = gold({ strike_type: 'between', floor_strike: '63', cap_strike: 64 });
  t.deepEqual(between.strike, { type: 'between', floor: 63, cap: 64 });
  t.regex(between.label, /^gold15m: between 63 and 64, closes /);
  t.regex(gold({ strike_type: 'less', cap_strike: 0.005 }).label, /: below 0.005, /);
  t.is(gold({ strike_type: 'less', floor_strike: 3 }).strike, undefined, 'its bound is missing');
  const custom = gold({ strike_type: 'custom' });
  t.is(custom.strike, undefined);
  t.is(custom.label, 'gold15m: market 28a0c5a4, closes 2026-08-05 04:00 UTC');
});

test('K20: garbage among markets is left out and counted, and no market at all is an error', (t) => {
  const good = kalshiMarket('KXA-1', { title: 'A?' });
  const markets = [
    null,
    7,
    'x',
    [],
    {},
    { ticker: 5 },
    kalshiMarket('KXB-1', { close_time: 1 }),
    good,
  ];
  const finding = findIn('venue_a', [{ name: 'a', body: { markets } }]);
  t.is(finding.found.length, 1);
  t.deepEqual([...finding.skipped], [['no close_time', 1]]);
  for (const body of [null, [], {}, { markets: [{}] }, 'markets']) {
    t.throws(() => findIn('venue_a', [{ name: 'a', body }]), { message: /no market/ });
  }
});

test('K22: the newest answer wins, by its recording, else the last named', (t) => {
  const answer = (title: string, at?: string) => ({
    name: title,
    body: {
      ...(at === undefined ? {} : { _metadata: { recorded_at: at } }),
      response: { markets: [kalshiMarket('KXA-1', { title })] },
    },
  });
  const label = (...answers: ReturnType<typeof answer>[]) =>
    assemble(findIn('venue_a', answers))
      .instruments.map((one) => one.listings[0]?.sideLabel?.slice(0, 1))
      .join();
  t.is(label(answer('B', '2026-02-01T00:00:00Z'), answer('A', '2026-01-01T00:00:00Z')), 'B');
  t.is(label(answer('A'), answer('B')), 'B');
  t.is(label(answer('B'), answer('A', '2026-01-01T00:00:00Z')), 'B');
});

test('F28: series that differ, and dated changes, are lines of their own', (t) => {
  const body = {
    markets: [kalshiMarket('KXA-1')],
    series: [
      { ticker: 'KXA', fee_type: 'quadratic', fee_multiplier: 1 },
      { ticker: 'KXB', fee_type: 'quadratic', fee_multiplier: 0.5 },
      { ticker: 'KXC', fee_type: 'quadratic_with_maker_fees', fee_multiplier: 1 },
      { ticker: 'KXD', fee_type: 'flat', fee_multiplier: 1 },
    ],
    series_fee_change_arr: [
      {
        series_ticker: 'KXB',
        fee_type: 'quadratic',
        fee_multiplier: 1,
        scheduled_ts: '2026-12-01T05:00:00Z',
      },
    ],
  };
  const file = assemble(findIn('venue_a', [{ name: 'a', body }]));
  catalogOf(file);
  const own = file.fees!.filter(({ series }) => /^KX[A-D]$/.test(series ?? ''));
  t.deepEqual(
    own.map(({ series, from, maker, multiplier }) => [
      series,
      from.slice(0, 10),
      maker,
      multiplier,
    ]),
    [
      ['KXB', '2026-07-07', '0', '0.5'],
      ['KXC', '2026-07-07', '0.0175', '1'],
      ['KXB', '2026-12-01', '0', '1'],
    ],
  );
});

/** A page as it comes over the network: nothing else holds its texts. */
function pageOf(first: number, count: number, fields: Json): unknown {
  const markets = Array.from({ length: count }, (_, at) =>
    kalshiMarket(`KXMVECOMBO-S${first + at}-M`, fields),
  );
  return JSON.parse(JSON.stringify({ markets, cursor: 'x' }));
}

/** Bytes in use once what nobody holds is gone. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  gc();
  return process.memoryUsage().heapUsed;
}

test('K30: of a market only what makes an instrument stays in memory', (t) => {
  const legs = Array.from({ length: 40 }, (_, at) => ({
    market_ticker: `KXLEG-${at}`,
    side: 'yes',
  }));
  const fat = { rules_primary: 'r'.repeat(9000), mve_selected_legs: legs, custom_strike: { legs } };
  const discovery = new Discovery('venue_a', { combos: true });
  const before = bytesInUse();
  for (let page = 0; page < 20; page++) {
    t.true(discovery.take({ name: 'a page', body: pageOf(page * 500, 500, fat) }));
  }
  const used = bytesInUse() - before;
  t.is(discovery.kept, 10_000);
  t.true(used < 12e6, `${used} bytes for 10,000 markets of more than 10,000 bytes each`);
  const { found } = discovery.finding();
  t.is(found.length, 10_000);
  t.is(discovery.kept, 0);
});

test('K30: a text without an end is cut, and nothing else of it is kept', (t) => {
  const discovery = new Discovery('venue_a', { combos: true });
  const takePage = () => {
    const title = 'Will it rain? '.repeat(300_000);
    discovery.take({ name: 'a page', body: pageOf(0, 1, { title }) });
  };
  const before = bytesInUse();
  takePage();
  const used = bytesInUse() - before;
  t.true(used < 1e6, `${used} bytes for a text of 4,200,000`);
  const sideLabel = discovery.finding().found[0]!.listing.sideLabel!;
  t.regex(sideLabel, /^Will it rain\? /);
  t.true(sideLabel.length <= 300);
});

test('K30: markets beyond 250,000 are an error that says how to ask for fewer', (t) => {
  const discovery = new Discovery('venue_a');
  const bare = (at: number) => ({ ticker: `T-${at}`, event_ticker: 'T' });
  const markets = Array.from({ length: 250_000 }, (_, at) => bare(at));
  discovery.take({ name: 'a', body: { markets } });
  t.true(discovery.take({ name: 'a', body: { markets: [bare(7)] } }), 'one that is known already');
  t.throws(() => discovery.take({ name: 'a', body: { markets: [bare(-1)] } }), {
    message: /^more than 250,000 markets: name a list with a query that narrows it/,
  });
});

test('K30: an answer that is nested without an end is one without a market', (t) => {
  const deep = JSON.parse(`${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}`);
  const wrapped = JSON.parse(`${'{"response":'.repeat(200_000)}1${'}'.repeat(200_000)}`);
  const discovery = new Discovery('venue_a');
  for (const body of [deep, wrapped, { markets: deep }]) {
    t.false(discovery.take({ name: 'deep', body }));
  }
  const market = kalshiMarket('KXA-1', { title: 'Will it?', extra: deep, strike_type: deep });
  t.true(discovery.take({ name: 'a', body: { markets: [market] } }));
  t.is(discovery.finding().found.length, 1);
});

test('K31: an empty list is the end of one, and no complaint; entries without a market are one', (t) => {
  const empty: string[] = [];
  const answers = [
    { name: 'page', body: { markets: [kalshiMarket('KXA-1')], cursor: 'two' } },
    { name: 'last page', body: { markets: [], cursor: '' } },
    { name: 'last page by offset', body: [] },
    { name: 'recorded', body: { response: { markets: [] } } },
    { name: 'no more series', body: { series: [] } },
    { name: 'events alone', body: { events: [{ event_ticker: 'KXA' }] } },
    { name: 'no list', body: { orderbook: {} } },
    { name: 'null', body: null },
  ];
  findIn('venue_a', answers, (name) => empty.push(name));
  t.deepEqual(empty, ['events alone', 'no list', 'null']);
});
