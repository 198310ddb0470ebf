import test from 'ava';
import type { Candle, Game, Instrument } from '../../../api/client/generated.js';
import { favoritesOf, withToggled } from '../../../api/web/state/favorite-text.ts';
import { arranged, byLeague, lineText, marketsOfGame } from '../../../api/web/state/game-list.ts';
import {
  askOfSide,
  chanceOf,
  changeOf,
  dayOfCandles,
  dayOfInstrument,
  oppositeDay,
  sparkPoints,
} from '../../../api/web/state/market-day.ts';

const teams = { home: { code: 'OTT', name: 'Otters' }, away: { code: 'HER', name: 'Herons' } };
const game = { id: 'game_1', ...teams };

function instrument(change: Partial<Instrument>): Instrument {
  const base = { id: 'ins_1', gameId: 'game_1', marketType: 'moneyline', period: 'game' };
  return { ...base, line: null, subject: null, ...change } as Instrument;
}

test('U37: a card shows both winners, and of many lines the middle total and spread of the whole game', (t) => {
  const total = (line: number, period = 'game') =>
    instrument({ id: `total ${line} ${period}`, marketType: 'total', line, period } as never);
  const found = marketsOfGame(game, [
    instrument({ id: 'home', subject: teams.home }),
    instrument({ id: 'away', subject: teams.away }),
    instrument({ id: 'other', gameId: 'game_2', subject: teams.home }),
    ...[9.5, 7.5, 8.5].map((line) => total(line)),
    total(0.5, 'first_half'),
    instrument({ id: 'spread', marketType: 'spread', line: -1.5, subject: teams.home }),
  ]);
  t.is(found.home?.id, 'home');
  t.is(found.away?.id, 'away');
  t.is(found.total?.id, 'total 8.5 game');
  t.is(lineText(found.total!), 'Over 8.5');
  t.is(lineText(found.spread!), 'OTT −1.5');
  t.is(found.count, 7);
  t.deepEqual(marketsOfGame(game, []), {
    ...{ away: null, home: null, total: null, spread: null, count: 0 },
  });
});

test('U37: a probability is the middle or the one known side, and prices are what each side costs', (t) => {
  t.is(chanceOf({ bidCents: 40, askCents: 43 }), 42);
  t.is(chanceOf({ bidCents: null, askCents: 3 }), 3);
  t.is(chanceOf({ bidCents: 99, askCents: 100 }), 99, 'nothing is certain before the result');
  t.is(chanceOf({ bidCents: null, askCents: null }), null);
  t.is(askOfSide('yes', { bidCents: 40, askCents: 43 }), 43);
  t.is(askOfSide('no', { bidCents: 40, askCents: 43 }), 60);
  t.is(askOfSide('no', { bidCents: null, askCents: 43 }), null);
});

test('U37: a day has the price of each hour, its change to now, and the traded contracts', (t) => {
  const candle = (close: number | null, contracts: number | null) =>
    ({
      mid: close === null ? null : { close },
      trades: contracts === null ? null : { contracts },
    }) as Candle;
  const day = dayOfCandles([candle(null, null), candle(40, 5), candle(50, null), candle(45, 7)]);
  t.deepEqual(day, { hours: [null, 40, 50, 45], volume: 12 });
  t.is(changeOf(day, 47.5), 8);
  t.is(changeOf(day, null), null);
  t.is(changeOf({ hours: [null], volume: 0 }, 47), null);
  t.deepEqual(oppositeDay(day).hours, [null, 60, 50, 55]);
  const size = { width: 43, height: 13 };
  t.is(sparkPoints(day, 60, size), '11.5,11.5 21.5,6.5 31.5,9 41.5,1.5');
  t.is(sparkPoints({ hours: [null, 40], volume: 0 }, null, size), '', 'one price is no line');
  t.is(sparkPoints({ hours: [40], volume: 0 }, 40, size), '1.5,6.5 41.5,6.5');
});

test('U37: both winners of one market share its day, each in its own terms', (t) => {
  const listing = { venue: 'venue_a', venueMarketId: 'M', polarity: -1 };
  const of = (...listings: object[]) => dayOfInstrument({ listings } as never);
  t.deepEqual(of(listing, { ...listing, venue: 'venue_b' }), { key: 'M', isOpposite: true });
  t.deepEqual(of({ ...listing, polarity: 1 }), { key: 'M', isOpposite: false });
  t.is(of(listing, listing), null);
  t.is(of(), null);
});

test('U37: in each league the games that can be traded come first', (t) => {
  const of = (id: string, status: Game['status'], startsAt: string) =>
    ({ id, status, startsAt, league: 'mlb' }) as Game;
  const games = [
    of('final', 'final', '2026-11-24T10:00:00Z'),
    of('late', 'scheduled', '2026-11-24T13:00:00Z'),
    of('early', 'scheduled', '2026-11-24T12:00:00Z'),
    of('now', 'inprogress', '2026-11-24T11:00:00Z'),
  ];
  const [league] = byLeague(games);
  t.deepEqual(
    league!.games.map(({ id }) => id),
    ['now', 'early', 'late', 'final'],
  );
});

test('U45: games are arranged by league, by what ends soonest, or by volume', (t) => {
  const of = (id: string, league: string, status: Game['status'], startsAt: string) =>
    ({ id, league, status, startsAt }) as Game;
  const games = [
    of('final', 'mlb', 'final', '2026-11-24T08:00:00Z'),
    of('late', 'mlb', 'scheduled', '2026-11-24T13:00:00Z'),
    of('young', 'nba', 'inprogress', '2026-11-24T11:00:00Z'),
    of('old', 'mlb', 'inprogress', '2026-11-24T10:00:00Z'),
  ];
  const volumes: Record<string, number> = { late: 5, final: 900, old: 20 };
  const ids = (by: Parameters<typeof arranged>[1]) =>
    arranged(games, by, ({ id }) => volumes[id] ?? null).map(
      (group) => `${group.league}: ${group.games.map(({ id }) => id)}`,
    );
  t.deepEqual(ids('league'), ['mlb: old,late,final', 'nba: young']);
  t.deepEqual(ids('soon'), ['null: old,young,late,final']);
  t.deepEqual(ids('volume'), ['null: final,old,late,young'], 'what is not known comes last');
});

test('U45: favorites are kept as a list of ids, the newest 200, and any other text is none', (t) => {
  t.deepEqual([...favoritesOf('["a","b",3]')], ['a', 'b']);
  for (const text of [null, '', '{', '{}', '7']) t.is(favoritesOf(text).size, 0, String(text));
  const on = withToggled(favoritesOf('["a"]'), 'b');
  t.deepEqual([...on], ['a', 'b']);
  t.deepEqual([...withToggled(on, 'a')], ['b']);
  let many: ReadonlySet<string> = new Set();
  for (let at = 0; at < 201; at++) many = withToggled(many, String(at));
  t.is(many.size, 200);
  t.false(many.has('0'));
});
