/**
 * Found markets as a catalog file, alone or added to one: listings of several venues meet in one
 * game by its league, day and both team codes. Rules K23, K26, K27 (feeds/FORMATS.md).
 */
import { isoOf } from '../../../engine/base/units.ts';
import { gameIndex, gameNamedBy } from '../../catalog/catalog-checks.ts';
import type {
  CatalogFile,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from '../../catalog/catalog-schema.ts';
import { mergeCatalogs } from '../../catalog/merge-catalogs.ts';
import { easternDay, easternMs } from './eastern.ts';
import { type Finding, type Found, type FoundGame, TIE } from './found.ts';

/** Two games of the same teams on a day are at least this far apart. */
const SAME_GAME_MS = 2 * 3_600_000;
const DAY_ALONE = 'the venue names the day alone: the time of the start is not known';
/** Leagues whose games go on until somebody wins. */
const NO_TIE = new Set(['mlb', 'nba', 'wnba', 'nhl', 'cfb', 'cbb', 'atp', 'wta']);

/** `base` with what was found; entries that it names already are brought up to date. */
export function assemble(
  { found, fees }: Pick<Finding, 'found' | 'fees'>,
  base: CatalogFile = EMPTY,
): CatalogFile {
  const games = new Games(base.games);
  const winners = winnersIn(base);
  const instruments = found.map((one) => {
    return instrumentOf(one, one.game === null ? null : games.entryFor(one.game), winners);
  });
  const added = mergeCatalogs(EMPTY, { games: games.entries, instruments, fees });
  return mergeCatalogs(base, added);
}

const EMPTY: CatalogFile = { games: [], instruments: [] };

/** The games of a catalog, and games that are found beside them. */
class Games {
  readonly entries: GameEntry[];
  readonly #places = new Map<FoundGame, GameEntry>();
  readonly #byTeams = new Map<string, GameEntry[]>();
  readonly #slugs = new Set<string>();

  constructor(entries: readonly GameEntry[]) {
    this.entries = [];
    for (const entry of entries) this.#add({ ...entry });
  }

  entryFor(game: FoundGame): GameEntry {
    const placed = this.#places.get(game);
    if (placed !== undefined) return placed;
    const known = sameGame(game, this.#byTeams.get(teamsKey(game)) ?? []);
    const entry = known ?? gameEntry(game, this.#slugs);
    if (known === undefined) this.#add(entry);
    else complete(entry, game);
    this.#places.set(game, entry);
    return entry;
  }

  #add(entry: GameEntry): void {
    this.entries.push(entry);
    this.#slugs.add(entry.slug);
    const key = teamsKey(entry);
    this.#byTeams.set(key, [...(this.#byTeams.get(key) ?? []), entry]);
  }
}

function complete(entry: GameEntry, { startsAtMs, isOver }: FoundGame): void {
  if (startsAtMs !== null && entry.note === DAY_ALONE) {
    entry.startsAt = isoOf(startsAtMs);
    entry.note = null;
  }
  if (isOver && entry.status === 'scheduled') entry.status = 'final';
}

/** The one of these games, all of the same teams, that this is. */
function sameGame(game: FoundGame, ofTeams: readonly GameEntry[]): GameEntry | undefined {
  const { day, number, startsAtMs } = game;
  const alike = ofTeams.filter((one) => easternDay(Date.parse(one.startsAt)) === day);
  const numberOf = ({ slug }: GameEntry) => /-(g\d)$/.exec(slug)?.[1] ?? null;
  const isNear = (one: GameEntry) => {
    const isTimed = startsAtMs !== null && one.note !== DAY_ALONE;
    if (isTimed) return Math.abs(Date.parse(one.startsAt) - startsAtMs) < SAME_GAME_MS;
    return number === numberOf(one) || alike.length === 1;
  };
  return alike.find((one) => numberOf(one) === number && isNear(one)) ?? alike.find(isNear);
}

/** The same for both venues, whichever team they name first. */
function teamsKey({ league, away, home }: Pick<GameEntry, 'league' | 'away' | 'home'>): string {
  return [league, ...[away.code.toLowerCase(), home.code.toLowerCase()].sort()].join(' ');
}

function gameEntry(game: FoundGame, slugs: ReadonlySet<string>): GameEntry {
  const { league, day, number, away, home, startsAtMs } = game;
  const plain = [league, away.code, home.code, day, ...(number === null ? [] : [number])]
    .join('-')
    .toLowerCase();
  const time = startsAtMs === null ? '' : isoOf(startsAtMs).slice(11, 16).replace(':', '');
  return {
    slug: slugs.has(plain) ? `${plain}-${time}` : plain,
    league,
    startsAt: isoOf(startsAtMs ?? easternMs(day)!),
    status: game.isOver ? 'final' : 'scheduled',
    away,
    home,
    note: startsAtMs === null ? DAY_ALONE : null,
  };
}

function instrumentOf(one: Found, game: GameEntry | null, winners: Winners): InstrumentEntry {
  const listings = [one.listing];
  if (one.kind === 'other') return { ...one.entry, gameSlug: game?.slug ?? null, listings };
  const code = codeIn(game!, one.code);
  const slug = `${game!.slug}-moneyline-${code.toLowerCase()}`;
  const known = winners.get(`${game!.slug} ${code}`);
  if (known !== undefined) return { ...known, listings: joined(known.listings, one.listing) };
  const wording = code === TIE ? tieWording(game!) : winnerWording(game!, code);
  return {
    slug,
    gameSlug: game!.slug,
    marketType: 'moneyline',
    period: one.hasTie ? 'regulation' : 'game',
    line: null,
    ...wording,
    pushPossible: false,
    stat: null,
    tieRule: one.hasTie ? 'own_market' : NO_TIE.has(game!.league) ? 'no_tie' : null,
    settlesOn: 'official_result',
    postponementWindowHours: 48,
    rulesVersion: 1,
    listings,
  };
}

type Winners = ReadonlyMap<string, InstrumentEntry>;

/** The instruments of a catalog that say who wins, by the game's slug and the code of who does. */
function winnersIn({ games, instruments }: CatalogFile): Winners {
  const index = gameIndex(games);
  return new Map(
    instruments.flatMap((entry): [string, InstrumentEntry][] => {
      const game = entry.marketType === 'moneyline' ? gameNamedBy(entry, index) : undefined;
      const code = entry.subject?.code;
      return game === undefined || code === undefined ? [] : [[`${game.slug} ${code}`, entry]];
    }),
  );
}

function joined(listings: readonly ListingEntry[], listing: ListingEntry): ListingEntry[] {
  return [...listings.filter(({ venue }) => venue !== listing.venue), listing];
}

/** The catalog's own spelling of a team's code. */
function codeIn({ away, home }: GameEntry, code: string): string {
  const same = [away, home].find((team) => team.code.toLowerCase() === code.toLowerCase());
  return same?.code ?? code;
}

function winnerWording({ away, home }: GameEntry, code: string) {
  const [team, other] = code === away.code ? [away, home] : [home, away];
  return {
    subject: team,
    label: `${team.name} to beat ${other.name}`,
    oppositeLabel: `${other.name} to beat ${team.name}`,
    yesMeans: `${team.name} wins the game`,
  };
}

function tieWording({ away, home }: GameEntry) {
  return {
    subject: { code: TIE, name: 'Tie' },
    label: `${away.name} at ${home.name} to end in a tie`,
    oppositeLabel: null,
    yesMeans: 'The game ends in a tie',
  };
}
