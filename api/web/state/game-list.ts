/**
 * Lists of games, and the markets that the card of each shows, as plain data. Rules U37, U45
 * (api/RULES.md).
 */
import type { Game, GameStatus, Instrument } from '../../client/generated.js';

export type GameFilter = { league: string | null; status: GameStatus | null };
export type GameMarkets = {
  away: Instrument | null;
  home: Instrument | null;
  total: Instrument | null;
  spread: Instrument | null;
  /** All markets of the game. */
  count: number;
};

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

/** What can be traded comes first. */
const STATUS_RANKS: Readonly<Record<GameStatus, number>> = {
  inprogress: 0,
  scheduled: 1,
  postponed: 2,
  final: 3,
  cancelled: 3,
};

/** How the games are arranged. Rule U45 (api/RULES.md). */
export type Arrangement = 'league' | 'soon' | 'volume';
export type GameGroup = { league: string | null; games: readonly Game[] };

/**
 * @param volumeOf contracts of 24 hours; null: not known
 * @returns groups by league, or all games in one
 */
export function arranged(
  games: readonly Game[],
  by: Arrangement,
  volumeOf: (game: Game) => number | null,
): GameGroup[] {
  if (by === 'league') return byLeague(games);
  // A game that began first ends first.
  const soonest = games.toSorted(
    (a, b) => STATUS_RANKS[a.status] - STATUS_RANKS[b.status] || earliestFirst(a, b),
  );
  if (by === 'soon') return [{ league: null, games: soonest }];
  const known = new Map(soonest.map((game) => [game.id, volumeOf(game) ?? -1]));
  const busiest = soonest.toSorted((a, b) => known.get(b.id)! - known.get(a.id)!);
  return [{ league: null, games: busiest }];
}

/** By league, the leagues by name; in each the games that can be traded first. */
export function byLeague(games: readonly Game[]): { league: string; games: readonly Game[] }[] {
  const leagues = [...new Set(games.map(({ league }) => league))].sort();
  return leagues.map((league) => ({
    league,
    games: games
      .filter((game) => game.league === league)
      .sort((a, b) => STATUS_RANKS[a.status] - STATUS_RANKS[b.status] || earliestFirst(a, b)),
  }));
}

/**
 * The markets that a card shows: both winners, and of totals and of spreads the middle line, which
 * is nearest to even. Other lines are on the page of a market. Rule U37 (api/RULES.md).
 */
export function marketsOfGame(
  game: Pick<Game, 'id' | 'home' | 'away'>,
  instruments: readonly Instrument[],
): GameMarkets {
  const whole = instruments.filter(
    ({ gameId, period }) => gameId === game.id && (period === 'game' || period === 'regulation'),
  );
  const winner = ({ code }: Game['home']) =>
    whole.find(({ marketType, subject }) => {
      return marketType === 'moneyline' && subject?.code === code;
    }) ?? null;
  return {
    away: winner(game.away),
    home: winner(game.home),
    total: middleLine(whole, 'total'),
    spread: middleLine(whole, 'spread'),
    count: instruments.filter(({ gameId }) => gameId === game.id).length,
  };
}

function middleLine(
  instruments: readonly Instrument[],
  type: Instrument['marketType'],
): Instrument | null {
  const lines = instruments
    .filter(({ marketType, line }) => marketType === type && line !== null)
    .sort((a, b) => a.line! - b.line! || (a.id < b.id ? -1 : 1));
  return lines[Math.floor((lines.length - 1) / 2)] ?? null;
}

/** `Over 8.5`, `OTT −1.5`: a line where there is little room. */
export function lineText({ marketType, line, subject }: Instrument): string {
  if (line === null) return '';
  if (marketType === 'total') return `Over ${line}`;
  const signed = line > 0 ? `+${line}` : `−${Math.abs(line)}`;
  return subject === null ? signed : `${subject.code} ${signed}`;
}
