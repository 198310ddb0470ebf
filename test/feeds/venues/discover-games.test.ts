/** When games start, who plays, and which markets and listings belong to a game. */
import test from 'ava';
import type { CatalogFile } from '../../../feeds/catalog/catalog-schema.ts';
import { apartGames, assemble } from '../../../feeds/venues/shared/assemble.ts';
import {
  catalogOf,
  discovered,
  findIn,
  gammaMarket,
  type Json,
  kalshiMarket,
  usMarket,
} from '../discovered.ts';

const FAR = {
  ...{ expected_expiration_time: undefined, occurrence_datetime: undefined },
  ...{ open_time: '2026-08-01T00:00:00Z', close_time: '2026-10-03T00:00:00Z' },
};

const kalshiTeams = (event: string, legs: Record<string, string>, fields: Json = {}) =>
  Object.entries(legs).map(([code, name]) => {
    return kalshiMarket(`${event}-${code}`, { ...FAR, yes_sub_title: name, ...fields });
  });

const NFL = 'KXNFLGAME-26AUG13DETCIN';
const nfl = (fields: Json = {}) => kalshiTeams(NFL, { CIN: 'Cincinnati', DET: 'Detroit' }, fields);
const startOf = ({ games }: CatalogFile) => {
  return games.map(({ startsAt, startsAtSource }) => [startsAt, startsAtSource]);
};

test('K32, K33: a start is the ticker’s, the milestone’s, the occurrence’s, else reckoned, else a day', (t) => {
  const occurrence_datetime = '2026-08-14T02:00:00Z';
  const expected_expiration_time = '2026-08-14T03:15:00Z';
  const milestone = { start_date: '2026-08-13T23:10:00Z', related_event_tickers: [NFL] };
  const found = (fields: Json, milestones: Json[] = []) =>
    startOf(
      assemble(findIn('venue_a', [{ name: 'a', body: { markets: nfl(fields), milestones } }])),
    );
  const all = { occurrence_datetime, expected_expiration_time };
  t.deepEqual(found(all, [milestone]), [['2026-08-13T23:10:00.000Z', 'milestone']]);
  t.deepEqual(found(all), [['2026-08-13T23:00:00.000Z', 'venue']]);
  t.deepEqual(found({ expected_expiration_time }), [['2026-08-14T00:15:00.000Z', 'estimate']]);
  t.deepEqual(found({}), [['2026-08-13T04:00:00.000Z', 'day']]);
  const tokyo = { occurrence_datetime: '2026-08-13T04:00:00Z' };
  t.deepEqual(found(tokyo), [['2026-08-13T01:00:00.000Z', 'venue']], 'the day of another place');
  const other = { occurrence_datetime: '2026-08-16T02:00:00Z' };
  t.deepEqual(found(other), [['2026-08-13T04:00:00.000Z', 'day']], 'a time of another day');
  const timed = kalshiTeams('KXMLBGAME-26AUG131905DETCIN', { CIN: 'C', DET: 'D' }, all);
  t.deepEqual(startOf(discovered('venue_a', timed)), [['2026-08-13T23:05:00.000Z', 'ticker']]);
});

test('K32: a better source takes the place of a start, a worse one does not, nor of what is written', (t) => {
  const us = (gameStartTime: string) => [
    usMarket('aec-nfl-det-cin-2026-08-13', ['DET', 'CIN'], { gameStartTime }),
  ];
  const at = '2026-08-13T23:00:00Z';
  const day = discovered('venue_a', nfl());
  const timed = discovered('venue_b', us(at), day);
  t.deepEqual(startOf(timed), [['2026-08-13T23:00:00.000Z', 'venue']]);
  t.is(timed.games[0]?.note, null);
  t.deepEqual(startOf(discovered('venue_a', nfl(), timed)), startOf(timed));
  const estimate = discovered('venue_a', nfl({ expected_expiration_time: '2026-08-14T04:00:00Z' }));
  t.deepEqual(startOf(discovered('venue_b', us(at), estimate)), startOf(timed), 'two hours off');
  const written = structuredClone(timed);
  written.games[0]!.startsAtSource = 'catalog';
  const milestones = [{ start_date: '2026-08-13T23:30:00Z', primary_event_tickers: [NFL] }];
  const moved = (base: CatalogFile) => {
    const answer = { name: 'a', body: { markets: nfl(), milestones } };
    return startOf(assemble(findIn('venue_a', [answer]), base));
  };
  t.deepEqual(moved(written), [['2026-08-13T23:00:00.000Z', 'catalog']]);
  t.deepEqual(moved(timed), [['2026-08-13T23:30:00.000Z', 'milestone']]);
  const { instruments } = catalogOf(timed);
  t.true(instruments.every(({ startsAtSource }) => startsAtSource === 'venue'));
});

const line = (ticker: string, title: string, yes: string, floor: number | null = null) =>
  kalshiMarket(ticker, {
    ...{ ...FAR, title, yes_sub_title: yes },
    event_ticker: ticker.split('-').slice(0, 2).join('-'),
    ...(floor === null ? {} : { strike_type: 'greater', floor_strike: floor }),
  });

const CODE = '26AUG091335ATLNYY';
const LINES = [
  line(`KXMLBTOTAL-${CODE}-9`, 'Atlanta vs New York Y Total Runs?', 'Over 8.5 runs scored', 8.5),
  line(
    `KXMLBSPREAD-${CODE}-ATL2`,
    'Atlanta wins by over 1.5 runs?',
    'Atlanta wins by over 1.5',
    1.5,
  ),
  line(
    `KXMLBSPREAD-${CODE}-NYY2`,
    'New York wins by over 1.5?',
    'New York Y wins by over 1.5',
    1.5,
  ),
  line(`KXMLBHR-${CODE}-NYYAJUDGE99-1`, 'Aaron Judge: 1+ home runs?', 'Aaron Judge: 1+', 0.5),
  line(`KXMLBHR-${CODE}-NYYGSTANTON27-1`, 'Stanton: 1+ home runs?', 'Giancarlo Stanton: 1+', 0.5),
  line(`KXMLBF5TOTAL-${CODE}-5`, 'Runs of the first 5 innings?', 'Over 4.5 runs', 4.5),
];

const OCCURS = '2026-08-14T02:00:00Z';
const NBA = 'nba-lal-bos-2026-08-07';
const OVER_MIDNIGHT = '2026-08-14T07:30:00Z';

test('K69: a game that its venue moves stays one game, over midnight and by a day', (t) => {
  const markets = (base: CatalogFile) =>
    base.instruments.map(({ slug, listings }) => [slug, listings[0]!.venueMarketId]);
  const at = (occurrence: string, base?: CatalogFile) =>
    discovered('venue_a', nfl({ occurrence_datetime: occurrence }), base);
  const first = at(OCCURS);
  t.deepEqual(startOf(first), [['2026-08-13T23:00:00.000Z', 'venue']]);
  const later = at(OVER_MIDNIGHT, first);
  t.deepEqual(startOf(later), [['2026-08-14T04:30:00.000Z', 'venue']]);
  t.deepEqual(markets(later), markets(first));
  t.deepEqual(startOf(at(OCCURS, later)), startOf(first));
  // The venue's own slug still has the day of before.
  const nba = (day: string, base?: CatalogFile) => {
    const fields = { gameStartTime: `${day} 23:00:00+00` };
    return discovered('venue_c', [gammaMarket(NBA, ['Lakers', 'Celtics'], fields)], base);
  };
  const moved = nba('2026-08-08', nba('2026-08-07'));
  t.deepEqual(startOf(moved), [['2026-08-08T23:00:00.000Z', 'venue']]);
  t.is(moved.instruments.length, 2);
  t.is(catalogOf(moved).games[0]!.slug, catalogOf(nba('2026-08-07')).games[0]!.slug);
});

test('K69: a start of a worse source moves no game, nor a start that somebody wrote', (t) => {
  const first = discovered('venue_a', nfl({ occurrence_datetime: OCCURS }));
  for (const startsAtSource of ['milestone', 'catalog'] as const) {
    const games = first.games.map((game) => ({ ...game, startsAtSource }));
    const again = discovered('venue_a', nfl({ occurrence_datetime: OVER_MIDNIGHT }), {
      ...first,
      games,
    });
    t.deepEqual(again.games, games);
    t.deepEqual(again.instruments, first.instruments);
  }
});

test('K69: a list that knows the day alone leaves a moved game as it is, and a new game of that day gets a slug of its own', (t) => {
  const at = (occurrence: string | undefined, base?: CatalogFile) =>
    discovered('venue_a', nfl({ occurrence_datetime: occurrence }), base);
  const moved = at(OVER_MIDNIGHT, at(OCCURS));
  t.deepEqual(at(undefined, moved), moved);
  const dayLater = at('2026-08-15T02:00:00Z', moved);
  const instruments = dayLater.instruments.map(({ listings: [own], ...entry }) => {
    return { ...entry, listings: [{ ...own!, venueMarketId: `${own!.venueMarketId}-OLD` }] };
  });
  const both = at(undefined, { ...dayLater, instruments });
  t.deepEqual(
    both.games.map(({ slug }) => slug),
    ['nfl-det-cin-2026-08-13', 'nfl-det-cin-2026-08-13-2'],
  );
});

test('K70: a market that is found for another game leaves the instrument that had it', (t) => {
  const lakers = (slug: string, other: string, day: string) =>
    gammaMarket(slug, ['Lakers', other], { gameStartTime: `${day} 23:00:00+00` });
  const find = (market: Json, base?: CatalogFile) => discovered('venue_c', [market], base);
  const first = find(lakers(NBA, 'Celtics', '2026-08-07'));
  // The tokens stay, which are the names of its markets.
  const corrected = find(lakers('nba-lal-mia-2026-08-07', 'Heat', '2026-08-07'), first);
  t.is(corrected.games.length, 1);
  t.deepEqual(
    corrected.instruments.map(({ label }) => label),
    ['Lakers to beat Heat', 'Heat to beat Lakers'],
  );
  // If another venue lists the game, it stays with that venue's listings.
  const listings = first.instruments.map(({ listings: [own] }) => [
    own!,
    { ...own!, venue: 'venue_b' as const },
  ]);
  const shared = {
    ...first,
    instruments: first.instruments.map((entry, at) => ({ ...entry, listings: listings[at]! })),
  };
  const apart = find(lakers(NBA, 'Celtics', '2026-08-09'), shared);
  t.deepEqual(
    apart.instruments.map(({ listings: own }) => own.map(({ venue }) => venue)),
    [['venue_b'], ['venue_b'], ['venue_c'], ['venue_c']],
  );
  t.deepEqual(startOf(apart), [
    ['2026-08-07T23:00:00.000Z', 'venue'],
    ['2026-08-09T23:00:00.000Z', 'venue'],
  ]);
  // What somebody wrote stays.
  const written = {
    ...first,
    games: first.games.map((game) => ({ ...game, startsAtSource: 'catalog' as const })),
  };
  const beside = find(lakers('nba-lal-mia-2026-08-07', 'Heat', '2026-08-07'), written);
  t.deepEqual(beside.instruments.slice(0, 2), first.instruments);
});

test('K34: totals, spreads, props and periods are their game’s and start with it', (t) => {
  const winners = kalshiTeams(`KXMLBGAME-${CODE}`, { ATL: 'Atlanta', NYY: 'New York Y' });
  const whole = catalogOf(discovered('venue_a', [...LINES, ...winners]));
  const alone = catalogOf(discovered('venue_a', LINES));
  const later = catalogOf(discovered('venue_a', LINES, discovered('venue_a', winners)));
  for (const { games, instruments } of [whole, alone, later]) {
    t.is(games.length, 1);
    for (const one of instruments) {
      t.is(one.gameSlug, 'mlb-atl-nyy-2026-08-09', one.label);
      t.deepEqual([one.startsAt, one.startsAtSource], ['2026-08-09T17:35:00.000Z', 'ticker']);
      t.is(one.closesAt, undefined);
    }
  }
  t.deepEqual(
    whole.instruments
      .filter(({ marketType }) => marketType !== 'moneyline')
      .map(({ marketType, label }) => [marketType, label]),
    [
      ['total', 'Atlanta at New York Y: total above 8.5, 2026-08-09'],
      ['spread', 'Atlanta: winning margin above 1.5 (Atlanta at New York Y, 2026-08-09)'],
      ['spread', 'New York Y: winning margin above 1.5 (Atlanta at New York Y, 2026-08-09)'],
      ['player_prop', 'Aaron Judge: home runs above 0.5 (Atlanta at New York Y, 2026-08-09)'],
      ['player_prop', 'Giancarlo Stanton: home runs above 0.5 (Atlanta at New York Y, 2026-08-09)'],
      ['total', 'Atlanta at New York Y: first 5 innings total above 4.5, 2026-08-09'],
    ],
  );
});

test('K34: a series that has the day of UTC is of the same game; without teams the ticker’s time stays', (t) => {
  const spread = line('KXNFLSPREAD-26AUG14DETCIN-DET3', 'Detroit by 3?', 'Detroit', 2.5);
  const { games, instruments } = catalogOf(discovered('venue_a', [...nfl(), spread]));
  t.is(games.length, 1);
  t.true(instruments.every(({ gameSlug }) => gameSlug === 'nfl-det-cin-2026-08-13'));
  const unknown = line('KXLOLTOTALMAPS-26AUG090700WEJDG-3', 'Maps?', 'Over 2.5 maps', 2.5);
  const [one] = catalogOf(discovered('venue_a', [unknown])).instruments;
  t.is(one?.gameSlug, null);
  t.deepEqual([one?.startsAt, one?.startsAtSource], ['2026-08-09T11:00:00.000Z', 'ticker']);
  const rushing = line(
    'KXNFLRSHYDS-26AUG13DETCIN-DETJGIBBS26-80',
    'Gibbs?',
    'Jahmyr Gibbs: 80+',
    79.5,
  );
  const prop = catalogOf(discovered('venue_a', [...nfl(), rushing])).instruments.at(-1);
  t.like(prop, { period: 'game', stat: 'rushing yards', marketType: 'player_prop' });
  const half = line('KXNFL1HSPREAD-26AUG13DETCIN-DET1', 'Detroit 1st half?', 'Detroit', 0.5);
  const found = catalogOf(discovered('venue_a', [...nfl(), half])).instruments.at(-1);
  t.is(found?.period, 'h1');
  t.regex(found!.label, /^Detroit: 1st half winning margin above 0.5 /);
});

test('K34: spreads and totals of Polymarket are of the game of their slug', (t) => {
  const of = (rest: string, sportsMarketType: string, outcomes: string[], line: number) =>
    gammaMarket(`nfl-car-ari-2026-08-06${rest}`, outcomes, {
      ...{ sportsMarketType, line, clobTokenIds: `["1${rest}","2${rest}"]` },
    });
  const lines = [
    of('-spread-away-3pt5', 'spreads', ['Cardinals', 'Panthers'], -3.5),
    of('-total-44pt5', 'totals', ['Over', 'Under'], 44.5),
    of('-1h-total-20pt5', 'first_half_totals', ['Under', 'Over'], 20.5),
    of('-anytime', 'anytime_touchdowns', ['Yes', 'No'], 0.5),
  ];
  const winner = of('', 'moneyline', ['Panthers', 'Cardinals'], 0);
  for (const markets of [[winner, ...lines], lines]) {
    const { games, instruments } = catalogOf(discovered('venue_c', markets));
    t.is(games.length, 1);
    const own = instruments.filter(({ marketType }) => marketType !== 'moneyline');
    t.true(own.every(({ gameSlug }) => gameSlug === 'nfl-car-ari-2026-08-06'));
    t.true(own.every(({ startsAt }) => startsAt === '2026-08-07T00:00:00.000Z'));
    const labels = own.map(({ label }) => label.replaceAll(/Carolina |Arizona /g, ''));
    const match = 'Panthers at Cardinals';
    t.deepEqual(labels.slice(0, 3), [
      `Cardinals: spread -3.5 (${match}, 2026-08-06)`,
      `${match}: total above 44.5, 2026-08-06`,
      `${match}: 1st half total below 20.5, 2026-08-06`,
    ]);
    t.regex(labels[3]!, /^Panthers at Cardinals: anytime touchdowns 0.5 [0-9a-f]{8}, /);
  }
});

test('K32, K38: what joins no game and has a day alone does not start when it closes', (t) => {
  const odd = kalshiTeams('KXFOOGAME-26SEP20AAABBB', { AAA: 'Bbb United', BBB: 'Aaa City' });
  const prop = line('KXLOLTOTALMAPS-26SEP20WEJDG-3', 'Maps?', 'Over 2.5 maps', 2.5);
  const gamma = gammaMarket('xyz-aaa-bbb-2026-09-20', ['Lions', 'Bears'], { gameStartTime: null });
  const all = [...odd, prop].map((market) => discovered('venue_a', [market]));
  for (const { instruments } of [
    discovered('venue_a', odd),
    ...all.slice(2),
    discovered('venue_c', [gamma]),
  ]) {
    for (const { startsAt, startsAtSource } of instruments) {
      t.deepEqual([startsAt, startsAtSource], ['2026-09-20T04:00:00.000Z', 'day']);
    }
  }
});

test('K34, K40: an instrument that was found before with the start of its close gets its game, not a new name', (t) => {
  const [total] = LINES;
  const listing = discovered('venue_a', [total!]).instruments[0]!.listings[0]!;
  const closes = '2026-10-03T00:00:00.000Z';
  const old: CatalogFile = {
    games: [],
    instruments: [
      {
        ...{ slug: 'mlbtotal-old', league: 'mlbtotal', startsAt: closes, closesAt: closes },
        ...{ marketType: 'other', period: 'season', label: 'old', yesMeans: 'old' },
        ...{ pushPossible: false, listings: [{ ...listing, note: 'looked at' }] },
      },
    ],
  };
  const { instruments } = discovered('venue_a', [total!], old);
  t.is(instruments.length, 1);
  const [one] = catalogOf(discovered('venue_a', [total!], old)).instruments;
  t.like(one, { slug: 'mlbtotal-old', label: 'old', gameSlug: 'mlb-atl-nyy-2026-08-09' });
  t.is(one?.startsAt, '2026-08-09T17:35:00.000Z');
  t.is(one?.listings[0]?.note, 'looked at');
  const written = structuredClone(old);
  written.instruments[0]!.startsAt = '2026-08-09T17:00:00.000Z';
  const kept = discovered('venue_a', [total!], written).instruments[0]!;
  t.like(kept, { startsAt: '2026-08-09T17:00:00.000Z', marketType: 'other' });
});

test('K65: a set, a map and a total of one team are their game’s', (t) => {
  const in_ = (event_ticker: string, leg: string, title: string, yes: string, floor?: number) => ({
    ...line(`${event_ticker}-${leg}`, title, yes, floor),
    event_ticker,
  });
  const asked = 'Will Jannik Sinner win set 1 in the Alcaraz vs Sinner: Final match?';
  const sets = in_('KXATPSETWINNER-26AUG09ALCSIN-1', 'SIN', asked, 'Jannik Sinner');
  const second = { ...sets, ticker: 'KXATPSETWINNER-26AUG09ALCSIN-2-SIN' };
  const match = kalshiTeams('KXATPMATCH-26AUG09ALCSIN', {
    ALC: 'Carlos Alcaraz',
    SIN: 'Jannik Sinner',
  });
  const two = [sets, { ...second, event_ticker: 'KXATPSETWINNER-26AUG09ALCSIN-2' }];
  for (const markets of [two, [...match, ...two]]) {
    const { games, instruments } = catalogOf(discovered('venue_a', markets));
    t.deepEqual(
      games.map(({ slug, away, home }) => [slug, away.name, home.name]),
      [
        markets === two
          ? ['atp-alc-sin-2026-08-09', 'Alcaraz', 'Sinner']
          : ['atp-alc-sin-2026-08-09', 'Carlos Alcaraz', 'Jannik Sinner'],
      ],
    );
    const own = instruments.filter(({ marketType }) => marketType !== 'moneyline');
    t.deepEqual(
      own.map(({ stat, subject, startsAtSource }) => [stat, subject?.code, startsAtSource]),
      [
        ['set winner 1', 'SIN', 'day'],
        ['set winner 2', 'SIN', 'day'],
      ],
    );
  }
  const kc = in_('KXNFLTEAMTOTAL-26NOV15KCDENKC', '24', 'Kansas City?', 'Over 23.5', 23.5);
  const den = in_('KXNFLTEAMTOTAL-26NOV15KCDENDEN', '21', 'Denver?', 'Over 20.5', 20.5);
  const winners = kalshiTeams('KXNFLGAME-26NOV15KCDEN', { KC: 'Kansas City', DEN: 'Denver' });
  for (const markets of [
    [kc, den],
    [kc, den, ...winners],
  ]) {
    const { games, instruments } = catalogOf(discovered('venue_a', markets));
    t.is(games.length, 1);
    const totals = instruments.filter(({ marketType }) => marketType === 'team_total');
    t.deepEqual(
      totals.map(({ gameSlug, subject, line: above }) => [gameSlug, subject?.code, above]),
      [
        ['nfl-kc-den-2026-11-15', 'KC', 23.5],
        ['nfl-kc-den-2026-11-15', 'DEN', 20.5],
      ],
    );
  }
  const runs = in_('KXMLBRFI-26AUG091335ATLNYY', 'YES', 'A run in the first inning?', 'Yes');
  t.like(discovered('venue_a', [runs]).instruments[0], { stat: 'runs', period: 'inning_1' });
});

test('K66: a market of no game starts when its venue says that it happens', (t) => {
  const startsOf = (fields: Json) => {
    const market = kalshiMarket('KXFEDDECISION-26SEP-H0', { ...FAR, ...fields });
    return startsIn(discovered('venue_a', [market]))[0];
  };
  const closes = ['2026-10-03T00:00:00.000Z', 'venue'];
  const occurrence_datetime = '2026-09-16T18:00:00Z';
  t.deepEqual(startsOf({ occurrence_datetime }), ['2026-09-16T18:00:00.000Z', 'venue']);
  t.deepEqual(startsOf({}), closes);
  for (const time of ['2026-10-04T00:00:00Z', '2026-07-01T00:00:00Z', 'soon']) {
    t.deepEqual(startsOf({ occurrence_datetime: time }), closes, time);
  }
});

const startsIn = ({ instruments }: CatalogFile) =>
  instruments.map(({ startsAt, startsAtSource }) => [startsAt, startsAtSource]);

test('K37: the opponent is the name of a title that is not the market’s own, in any order', (t) => {
  const labelsOf = (ticker: string, title: string, yes: string) => {
    return discovered('venue_a', [line(ticker, title, yes)]).instruments[0]!.label;
  };
  for (const [title, opponent] of [
    ['Will Coco Gauff win the Korneeva vs Gauff: Round Of 16 match?', 'Korneeva'],
    ['Will Coco Gauff win the Gauff vs Korneeva: Round Of 16 match?', 'Korneeva'],
    ['Korneeva vs Gauff Winner?', 'Korneeva'],
    ['Will she win?', 'KOR'],
    ['Smith vs Jones Winner?', 'KOR'],
  ] as const) {
    const label = labelsOf('KXWTAMATCH-26AUG09KORGAU-GAU', title, 'Coco Gauff');
    t.is(label, `Coco Gauff to beat ${opponent}`, title);
  }
  const match = 'Team WE vs. JD Gaming League of Legends match?';
  const ticker = 'KXLOLGAME-26AUG090700WEJDG';
  const winning = (name: string) => `Will ${name} win the ${match}`;
  t.is(labelsOf(`${ticker}-JDG`, winning('JD Gaming'), 'JD Gaming'), 'JD Gaming to beat Team WE');
  t.is(labelsOf(`${ticker}-WE`, winning('Team WE'), 'Team WE'), 'Team WE to beat JD Gaming');
});

test('K37: codes may begin and end with digits, and G2 is a team before it is a second game', (t) => {
  for (const [codes, first, second] of [
    ['NAVIG2', 'NAVI', 'G2'],
    ['G2NAVI', 'G2', 'NAVI'],
    ['3DMAX100T', '3DMAX', '100T'],
  ] as const) {
    for (const time of ['0700', '']) {
      const legs = { [first]: `Team ${first}`, [second]: `Team ${second}` };
      const file = discovered('venue_a', kalshiTeams(`KXCS2GAME-26AUG09${time}${codes}`, legs));
      const [game] = file.games;
      t.deepEqual([game?.away.code, game?.home.code], [first, second], `${time}${codes}`);
      t.is(game?.slug, `cs2-${first}-${second}-2026-08-09`.toLowerCase());
    }
  }
});

test('K37, K38: which token is whose the names say, whatever the order; what does not fit joins nothing', (t) => {
  const tokens = { clobTokenIds: '["101","102"]' };
  const game = (names: string[], fields: Json = {}) =>
    gammaMarket('nfl-car-ari-2026-08-06', names, { ...tokens, ...fields });
  const tokenOf = (market: Json) =>
    discovered('venue_c', [market]).instruments.map(({ subject, listings }) => {
      return [subject?.code, listings[0]?.venueMarketId];
    });
  const right = [
    ['CAR', '101'],
    ['ARI', '102'],
  ];
  const turned = [
    ['CAR', '102'],
    ['ARI', '101'],
  ];
  t.deepEqual(tokenOf(game(['Panthers', 'Cardinals'])), right);
  t.deepEqual(tokenOf(game(['Cardinals', 'Panthers'])), turned);
  const teams = [
    { abbreviation: 'aaa', name: 'Red Foxes' },
    { abbreviation: 'bbb', name: 'Blue Owls' },
  ];
  const told = (names: string[]) =>
    gammaMarket('xyz-aaa-bbb-2026-08-06', names, { ...tokens, teams });
  t.deepEqual(tokenOf(told(['Owls', 'Foxes'])), [
    ['AAA', '102'],
    ['BBB', '101'],
  ]);
  for (const names of [
    ['Lions', 'Bears'],
    ['Panthers', 'Panthers'],
    ['Panthers', 'Lions'],
  ]) {
    const { found, apart } = findIn('venue_c', [{ name: 'a', body: [game(names)] }]);
    t.deepEqual(
      found.map((one) => [one.kind, one.game]),
      [['other', null]],
      names.join(),
    );
    t.deepEqual([...apart], [['the outcomes do not fit the codes of the slug', 1]]);
  }
  const crossed = nfl().map((market, at) => {
    return { ...market, yes_sub_title: at === 0 ? 'Detroit' : 'Cincinnati' };
  });
  const { found, apart } = findIn('venue_a', [{ name: 'a', body: crossed }]);
  t.true(found.every(({ game: none }) => none === null));
  t.deepEqual([...apart.values()], [2]);
  const us = usMarket('aec-nfl-car-ari-2026-08-06', ['Cardinals', 'Panthers'], {
    gameStartTime: '2026-08-07T00:00:00Z',
  });
  t.deepEqual(
    discovered('venue_b', [us]).instruments.map(({ subject, listings }) => {
      return [subject?.code, listings[0]?.polarity];
    }),
    [
      ['CAR', -1],
      ['ARI', 1],
    ],
  );
});

/** The two listings of each winner, by code. */
const listedOf = (file: CatalogFile) =>
  file.instruments.map(({ subject, listings }) => [
    subject?.code,
    ...listings.map(({ venueMarketId }) => venueMarketId),
  ]);

test('K35, K36, K42: leagues and teams of two names are one game, the home team first in soccer', (t) => {
  const pairs: [series: string, slug: string, own: [string, string, string][]][] = [
    [
      'KXLALIGAGAME',
      'lal-fcb-rma',
      [
        ['BAR', 'fcb', 'Barcelona'],
        ['RMA', 'rma', 'Real Madrid'],
      ],
    ],
    [
      'KXSERIEAGAME',
      'sea-juv-int',
      [
        ['JUV', 'juv', 'Juventus'],
        ['INT', 'int', 'Inter Milan'],
      ],
    ],
    [
      'KXBUNDESLIGAGAME',
      'bun-bay-dor',
      [
        ['BMU', 'bay', 'Bayern'],
        ['BVB', 'dor', 'Dortmund'],
      ],
    ],
    [
      'KXLIGUE1GAME',
      'fl1-psg-mar',
      [
        ['PSG', 'psg', 'Paris'],
        ['OM', 'mar', 'Marseille'],
      ],
    ],
    [
      'KXVALORANTGAME',
      'val-fnc-g2',
      [
        ['FNC', 'fnc', 'Fnatic'],
        ['G2', 'g2', 'G2 Esports'],
      ],
    ],
    [
      'KXNCAAFGAME',
      'cfb-bama-uga',
      [
        ['ALA', 'bama', 'Alabama'],
        ['UGA', 'uga', 'Georgia'],
      ],
    ],
    [
      'KXWCGAME',
      'fifwc-che-nld',
      [
        ['SUI', 'che', 'Switzerland'],
        ['NED', 'nld', 'Netherlands'],
      ],
    ],
    [
      'KXNFLGAME',
      'nfl-jax-was',
      [
        ['JAC', 'jax', 'Jaguars'],
        ['WAS', 'was', 'Commanders'],
      ],
    ],
  ];
  for (const [series, slug, own] of pairs) {
    const codes = own.map(([code]) => code).join('');
    const legs = Object.fromEntries(own.map(([code, , name]) => [code, name]));
    const base = discovered('venue_a', kalshiTeams(`${series}-26SEP20${codes}`, legs));
    const gamma = own.map(([, leg], at) =>
      gammaMarket(`${slug}-2026-09-20-${leg}`, ['Yes', 'No'], {
        ...{ gameStartTime: '2026-09-20 19:00:00+00', clobTokenIds: `["${at}1","${at}2"]` },
      }),
    );
    const both = discovered('venue_c', gamma, base);
    t.is(both.games.length, 1, slug);
    t.deepEqual(
      listedOf(both),
      own.map(([code], at) => [code, `${series}-26SEP20${codes}-${code}`, `${at}1`]),
      slug,
    );
    t.deepEqual(apartGames(both), []);
    const isSoccer = /LALIGA|SERIEA|BUNDES|LIGUE|WC/.test(series);
    t.is(both.games[0]?.[isSoccer ? 'home' : 'away'].code, own[0]![0], slug);
  }
});

test('K35: a game that a catalog has by another name of its league gets the listing', (t) => {
  const legs = { BAR: 'Barcelona', RMA: 'Real Madrid' };
  const markets = kalshiTeams('KXLALIGAGAME-26SEP20BARRMA', legs);
  const old = discovered('venue_a', markets);
  const renamed: CatalogFile = JSON.parse(JSON.stringify(old).replaceAll('laliga-', 'lal-'));
  renamed.games[0]!.league = 'lal';
  const { games, instruments } = catalogOf(discovered('venue_a', markets, renamed));
  t.deepEqual([games.length, games[0]?.league, instruments.length], [1, 'lal', 2]);
});

test('K36: players meet by their names where venues have codes of their own', (t) => {
  const legs = { KOR: 'Alina Korneeva', GAU: 'Coco Gauff' };
  const base = discovered('venue_a', kalshiTeams('KXWTAMATCH-26AUG09KORGAU', legs));
  const gamma = (names: string[]) =>
    gammaMarket('wta-gauff-korneev-2026-08-09', names, {
      ...{ gameStartTime: '2026-08-09T17:00:00Z', clobTokenIds: '["1","2"]' },
    });
  for (const names of [
    ['C. Gauff', 'A. Korneeva'],
    ['Korneeva', 'Gauff'],
  ]) {
    const both = discovered('venue_c', [gamma(names)], base);
    t.is(both.games.length, 1);
    const isTurned = names[0] === 'Korneeva';
    t.deepEqual(listedOf(both), [
      ['KOR', 'KXWTAMATCH-26AUG09KORGAU-KOR', isTurned ? '1' : '2'],
      ['GAU', 'KXWTAMATCH-26AUG09KORGAU-GAU', isTurned ? '2' : '1'],
    ]);
  }
});

test('K36, K37, K67: legs tell each other’s names, and codes and names of one team in other forms meet', (t) => {
  const listed = (markets: Json[], base: CatalogFile, venue: 'venue_b' | 'venue_c' = 'venue_c') => {
    const { games, instruments } = discovered(venue, markets, base);
    const joined = instruments.filter(({ listings }) => listings.length > 1).length;
    return [games.length, joined];
  };
  const legs = (slug: string, titles: Record<string, string>) =>
    Object.entries(titles).map(([code, groupItemTitle], at) =>
      gammaMarket(`${slug}-${code}`, ['Yes', 'No'], {
        ...{ groupItemTitle, gameStartTime: '2026-09-20 15:00:00+00' },
        clobTokenIds: `["${at}1","${at}2"]`,
      }),
    );
  const league = kalshiTeams('KXUCLGAME-26SEP20RMAMCI', { RMA: 'Real Madrid', MCI: 'Man City' });
  const titles = { rea1: 'Real Madrid CF', mac: 'Manchester City FC' };
  t.deepEqual(
    listed(legs('ucl-rea1-mac-2026-09-20', titles), discovered('venue_a', league)),
    [1, 2],
  );
  const pair = (slug: string, outcomes: string[]) => [
    gammaMarket(slug, outcomes, { gameStartTime: '2026-08-09 15:00:00+00' }),
  ];
  const match = (event: string, names: Record<string, string>) =>
    discovered('venue_a', kalshiTeams(event, names));
  for (const [event, names, slug, outcomes] of [
    [
      'KXWTAMATCH-26AUG09ZHEWAN',
      { ZHE: 'Qinwen Zheng', WAN: 'Xinyu Wang' },
      'wta-zheng-wang-2026-08-09',
      ['Zheng Qinwen', 'Wang Xinyu'],
    ],
    [
      'KXATPMATCH-26AUG09DEMZVE',
      { DEM: 'Alex de Minaur', ZVE: 'Alexander Zverev' },
      'atp-zverev-deminau-2026-08-09',
      ['Alexander Zverev', 'Alex De Minaur'],
    ],
    [
      'KXDOTA2GAME-26AUG09TLSPI',
      { TL: 'Team Liquid', SPI: 'Team Spirit' },
      'dota2-tl-ts8-2026-08-09',
      ['Team Liquid', 'Team Spirit'],
    ],
  ] as const) {
    t.deepEqual(listed(pair(slug, [...outcomes]), match(event, names)), [1, 2], slug);
  }
  // LA begins both codes; it is a word of one name.
  const { games } = match('KXMLSGAME-26SEP16LAGLAFC', { LAG: 'LA Galaxy', LAFC: 'Los Angeles F' });
  t.deepEqual(
    games.map(({ slug }) => slug),
    ['mls-lag-lafc-2026-09-16'],
  );
});

test('K41: games of one day and the same teams that did not join are found', (t) => {
  const base = discovered(
    'venue_a',
    kalshiTeams('KXFOOGAME-26SEP20AAABBB', { AAA: 'A', BBB: 'B' }),
  );
  const start = { gameStartTime: '2026-09-20 19:00:00+00' };
  const other = (slug: string) =>
    ['aaa', 'bbb'].map((leg) => gammaMarket(`${slug}-${leg}`, ['Yes', 'No'], start));
  const both = discovered('venue_c', other('fo2-aaa-bbb-2026-09-20'), base);
  t.deepEqual(apartGames(both), [['foo-aaa-bbb-2026-09-20', 'fo2-aaa-bbb-2026-09-20']]);
  t.deepEqual(apartGames(discovered('venue_c', other('foo-aaa-bbb-2026-09-20'), base)), []);
  t.deepEqual(apartGames(discovered('venue_c', other('fo2-aaa-ccc-2026-09-20'), base)), []);
  const nba = discovered('venue_a', kalshiTeams('KXNBAGAME-26SEP20DETCHI', { DET: 'D', CHI: 'C' }));
  const mlb = ['det', 'chi'].map((leg) =>
    gammaMarket(`nhl-det-chi-2026-09-20-${leg}`, ['Yes', 'No'], start),
  );
  t.deepEqual(apartGames(discovered('venue_c', mlb, nba)), [], 'two sports');
});

test('K39, K40: labels and slugs are unique in a catalog', (t) => {
  const games = ['10', '11'].flatMap((day) =>
    kalshiTeams(`KXMLBGAME-26JUL${day}1840MILPIT`, { MIL: 'Milwaukee', PIT: 'Pittsburgh' }),
  );
  const ladder = ['A', 'B', 'C'].map((end) =>
    kalshiMarket(`KXGOLD-26AUG05${end}`, { strike_type: 'greater', floor_strike: 3300 }),
  );
  const scores = ['21', '10'].map((score) =>
    line(`KXEPLSCORE-26AUG24ARSCHE-${score}`, 'Score?', score),
  );
  const epl = kalshiTeams('KXEPLGAME-26AUG24ARSCHE', {
    ARS: 'Arsenal',
    CHE: 'Chelsea',
    TIE: 'Tie',
  });
  const many = Array.from({ length: 3000 }, (_, at) => kalshiMarket(`KXA-${at}`, { title: 'A?' }));
  const markets = [...games, ...ladder, ...epl, ...scores, ...LINES, ...many];
  const file = discovered('venue_a', markets);
  const { instruments } = catalogOf(file);
  t.is(instruments.length, markets.length);
  t.is(new Set(instruments.map(({ label }) => label)).size, markets.length);
  t.is(new Set(instruments.map(({ slug }) => slug)).size, markets.length);
  t.deepEqual(catalogOf(discovered('venue_a', markets, file)), catalogOf(file), 'found again');
  t.is(instruments[0]?.label, 'Milwaukee to beat Pittsburgh, 2026-07-10');
});
