/** Lists of games, and the two winners' instruments of each, as plain data. */
import type { Game, GameStatus, Instrument } from '../../client/generated.js';

export type GameFilter = { league: string | null; status: GameStatus | null };
export type Winners = { away: Instrument | null; home: Instrument | null };

export function matches(filter: GameFilter, game: Game): boolean {
  return (
    (filter.league === null || game.league === filter.league) &&
    (filter.status === null || game.status === filter.status)
  );
}

/**
 * The list after games have changed: the games that match the filter, in the order of the API.
 *
 * @param untilMs a game that is not in the list and starts later is on a later page; null: all
 *   pages are in the list
 */
export function withChanged(
  games: readonly Game[],
  changed: readonly Game[],
  filter: GameFilter,
  untilMs: number | null,
): readonly Game[] {
  const after = new Map(games.map((game) => [game.id, game]));
  for (const game of changed) {
    const isLater = untilMs !== null && Date.parse(game.startsAt) > untilMs;
    if (!matches(filter, game)) after.delete(game.id);
    else if (after.has(game.id) || !isLater) after.set(game.id, game);
  }
  return [...after.values()].sort(earliestFirst);
}

function earliestFirst(a: Game, b: Game): number {
  return Date.parse(a.startsAt) - Date.parse(b.startsAt) || (a.id < b.id ? -1 : 1);
}

/** By league, each in the order of the list, the leagues by name. */
export function byLeague(games: readonly Game[]): { league: string; games: readonly Game[] }[] {
  const leagues = [...new Set(games.map(({ league }) => league))].sort();
  return leagues.map((league) => ({
    league,
    games: games.filter((game) => game.league === league),
  }));
}

/** The winner markets of a whole game among its instruments. */
export function winnersOf(
  game: Pick<Game, 'id' | 'home' | 'away'>,
  instruments: readonly Instrument[],
): Winners {
  const of = (code: string) =>
    instruments.find(
      ({ gameId, marketType, period, subject }) =>
        gameId === game.id &&
        marketType === 'moneyline' &&
        (period === 'game' || period === 'regulation') &&
        subject?.code === code,
    ) ?? null;
  return { away: of(game.away.code), home: of(game.home.code) };
}
