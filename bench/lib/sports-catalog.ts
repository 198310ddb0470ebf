/**
 * A catalog as of a season: leagues, teams of two words, players, and some forty markets per game.
 * Names consist of syllables, so that there are many words and some are similar.
 */
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
} from '../../engine/rules/catalog-entries.ts';
import { catalogOf, instrumentIdOf } from './catalog.ts';
import { type Random, seededRandom } from './random.ts';

const START_MS = Date.parse('2026-11-21T18:00:00.000Z');
const DAY_MS = 86_400_000;
const GAMES_A_DAY = 40;
const LEAGUES = ['nfl', 'nba', 'mlb', 'nhl', 'mls', 'epl', 'ncaaf', 'ncaab'];
const TEAMS_A_LEAGUE = 40;
const PLAYERS_A_TEAM = 20;
const STATS = ['points', 'rebounds', 'assists', 'yards', 'strikeouts', 'hits', 'shots', 'saves'];
const MARKETS_A_GAME = 40;

type Team = { code: string; name: string; players: string[] };
type Wording = Pick<CatalogInstrument, 'label' | 'oppositeLabel' | 'yesMeans' | 'marketType'>;

/** A season's catalog of so many instruments; the same for the same number. */
export function sportsCatalog(instruments: number): Catalog {
  const random = seededRandom(3);
  const leagues = LEAGUES.map((league) => ({ league, teams: teamsOf(random) }));
  const plain = catalogOf(instruments);
  const games: CatalogGame[] = [];
  for (let number = 0; number * MARKETS_A_GAME < instruments; number++) {
    const { league, teams } = leagues[number % leagues.length]!;
    const [home, away] = [pick(teams, random), pick(teams, random)];
    const game = gameOf(number, league, home, away);
    games.push(game);
    const first = number * MARKETS_A_GAME;
    const listed = plain.instruments.slice(first, first + MARKETS_A_GAME);
    for (const [at, instrument] of listed.entries()) {
      const wording = wordingOf(at, home, away, random);
      Object.assign(instrument, wording, {
        league,
        gameSlug: game.slug,
        startsAt: game.startsAt,
        slug: `${game.slug}-${wording.label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${at}`,
      });
    }
  }
  return { ...plain, games, instrumentIds: plain.instruments.map((_, at) => instrumentIdOf(at)) };
}

function gameOf(number: number, league: string, home: Team, away: Team): CatalogGame {
  const startsAtMs = START_MS + Math.floor(number / GAMES_A_DAY) * DAY_MS;
  const startsAt = new Date(startsAtMs).toISOString();
  const codes = `${away.code}-${home.code}`.toLowerCase();
  return {
    id: `game_${String(number).padStart(10, '0')}`,
    slug: `${league}-${codes}-${startsAt.slice(0, 10)}-${number}`,
    league,
    startsAt,
    status: 'scheduled',
    home: { code: home.code, name: home.name },
    away: { code: away.code, name: away.name },
    season: 2026,
    seasonType: 'regular',
    week: null,
  };
}

/** Two winners, some totals and spreads, and players for the rest. */
function wordingOf(at: number, home: Team, away: Team, random: Random): Wording {
  const [team, other] = at % 2 === 0 ? [home, away] : [away, home];
  const line = 1.5 + Math.floor(at / 2);
  if (at < 2) {
    return {
      label: `${team.name} to beat ${other.name}`,
      oppositeLabel: `${other.name} to beat ${team.name}`,
      yesMeans: `${team.name} win the game`,
      marketType: 'moneyline',
    };
  }
  if (at < 10) {
    return {
      label: `Over ${line + 36} points, ${away.name} at ${home.name}`,
      oppositeLabel: `Under ${line + 36} points, ${away.name} at ${home.name}`,
      yesMeans: `The two teams score more than ${line + 36} points together`,
      marketType: 'total',
    };
  }
  if (at < 20) {
    return {
      label: `${team.name} by more than ${line}`,
      oppositeLabel: `${other.name} +${line}`,
      yesMeans: `${team.name} win by more than ${line}`,
      marketType: 'spread',
    };
  }
  const [player, stat] = [pick(team.players, random), pick(STATS, random)];
  return {
    label: `${player} over ${line} ${stat}`,
    oppositeLabel: `${player} under ${line} ${stat}`,
    yesMeans: `${player} has more than ${line} ${stat}`,
    marketType: 'player_prop',
  };
}

function teamsOf(random: Random): Team[] {
  return Array.from({ length: TEAMS_A_LEAGUE }, () => {
    const [city, name] = [nameOf(random), nameOf(random)];
    const players = Array.from(
      { length: PLAYERS_A_TEAM },
      () => `${nameOf(random)} ${nameOf(random)}`,
    );
    return {
      code: `${city.slice(0, 2)}${name[0]}`.toUpperCase(),
      name: `${city} ${name}s`,
      players,
    };
  });
}

const SYLLABLES =
  'ba be bo da de do ka ke ko la le lo ma mi mo na ni no ra ri ro sa se so ta te to va'
    .split(' ')
    .flatMap((start) => ['', 'n', 'r', 'l'].map((end) => start + end));

function nameOf(random: Random): string {
  const syllables = Array.from({ length: 2 + random.below(2) }, () => pick(SYLLABLES, random));
  const name = syllables.join('');
  return name[0]!.toUpperCase() + name.slice(1);
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[random.below(from.length)]!;
}
