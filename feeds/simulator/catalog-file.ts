/** The simulated games as a catalog file. Rules N21, N22 (feeds/FORMATS.md). */
import type { EpochMs, GameStatus, Venue } from '../../engine/base/units.ts';
import { isoOf } from '../../engine/base/units.ts';
import type {
  CatalogFile,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from '../catalog/catalog-schema.ts';
import { gameIdOf, instrumentIdOf } from '../catalog/ids.ts';
import type { SimGame, SimMarket } from './schedule.ts';

/** The venues that the simulator plays. */
export const SIM_VENUES = ['venue_a', 'venue_b'] as const satisfies readonly Venue[];
export type SimVenue = (typeof SIM_VENUES)[number];

const PREFIX: Record<SimVenue, string> = { venue_a: 'SIM-', venue_b: 'SIMB-' };

/** The market's own name at a venue: `SIM-L0A-ML`, `SIMB-L0A-ML`. */
export function tickerOf(venue: SimVenue, key: string): string {
  return PREFIX[venue] + key;
}

/** The key of a ticker of this venue; undefined for another venue's. */
export function keyOfTicker(venue: SimVenue, ticker: string): string | undefined {
  return ticker.startsWith(PREFIX[venue]) ? ticker.slice(PREFIX[venue].length) : undefined;
}

export function gameStatusAt(game: SimGame, atMs: EpochMs): GameStatus {
  if (atMs >= game.resolvesAtMs) return game.cancelled ? 'cancelled' : 'final';
  return atMs >= game.startsAtMs ? 'inprogress' : 'scheduled';
}

/** These games with their status of `asOfMs`: two instruments a moneyline, one a total. */
export function catalogFileOf(games: readonly SimGame[], asOfMs: EpochMs): CatalogFile {
  return {
    games: games.map((game) => gameEntry(game, asOfMs)),
    instruments: games.flatMap((game) => game.markets.flatMap((market) => entriesOf(game, market))),
  };
}

function gameEntry(game: SimGame, asOfMs: EpochMs): GameEntry {
  return {
    id: gameIdOf(game.slug),
    slug: game.slug,
    league: game.league.name,
    startsAt: isoOf(game.startsAtMs),
    status: gameStatusAt(game, asOfMs),
    home: game.home,
    away: game.away,
    season: new Date(game.startsAtMs).getUTCFullYear(),
    seasonType: 'regular',
    week: null,
  };
}

/** From a market's listing to the first quote of every venue: by then it can be traded. */
const FIRST_QUOTE_MS = 1000;

type Wording = Pick<
  InstrumentEntry,
  'slug' | 'label' | 'oppositeLabel' | 'yesMeans' | 'subject' | 'listings'
>;

function entriesOf(game: SimGame, market: SimMarket): InstrumentEntry[] {
  const wordings = market.kind === 'total' ? [overWording(game, market)] : winners(game, market);
  return wordings.map((wording) => ({
    id: instrumentIdOf(wording.slug),
    gameSlug: game.slug,
    league: game.league.name,
    startsAt: isoOf(game.startsAtMs),
    opensAt: isoOf(game.listedAtMs + FIRST_QUOTE_MS),
    marketType: market.kind,
    period: 'game',
    line: market.line,
    pushPossible: false,
    stat: market.kind === 'total' ? game.league.stat : null,
    tieRule: 'no_tie',
    settlesOn: 'official_result',
    postponementWindowHours: 48,
    rulesVersion: 1,
    ...wording,
  }));
}

/** One venue market, two instruments: its yes is the away team, so the home team's is its no. */
function winners(game: SimGame, market: SimMarket): Wording[] {
  const sides = [
    { team: game.away, other: game.home, polarity: 1 },
    { team: game.home, other: game.away, polarity: -1 },
  ] as const;
  return sides.map(({ team, other, polarity }) => ({
    slug: `${game.slug}-moneyline-${team.code.toLowerCase()}`,
    label: `${team.name} to beat ${other.name}`,
    oppositeLabel: `${other.name} to beat ${team.name}`,
    yesMeans: `${team.name} win the game`,
    subject: team,
    listings: listingsOf(game, market, polarity, team.code),
  }));
}

function overWording(game: SimGame, market: SimMarket): Wording {
  const title = `${game.away.name} at ${game.home.name}`;
  const { stat } = game.league;
  return {
    slug: `${game.slug}-total-${String(market.line).replace('.', '-')}-over`,
    label: `Over ${market.line} ${stat}, ${title}`,
    oppositeLabel: `Under ${market.line} ${stat}, ${title}`,
    yesMeans: `The two teams score more than ${market.line} ${stat} together`,
    subject: null,
    listings: listingsOf(game, market, 1, `Over ${market.line}`),
  };
}

function listingsOf(
  game: SimGame,
  market: SimMarket,
  polarity: 1 | -1,
  sideLabel: string,
): ListingEntry[] {
  const [yes, no] = polarity === 1 ? (['yes', 'no'] as const) : (['no', 'yes'] as const);
  return SIM_VENUES.map((venue) => ({
    venue,
    polarity,
    sideLabel,
    fungibility: 'exact',
    reviewed: true,
    note: null,
    buyForYes: yes,
    buyForNo: no,
    venueMarketId: tickerOf(venue, market.key),
    venueSideRef: yes,
    venueEvent: game.slug,
  }));
}
