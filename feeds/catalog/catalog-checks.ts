/**
 * The checks of a catalog file that a schema cannot make: references, duplicates, and derived
 * fields that must agree with their source. Entries that the schema refused are skipped, so that
 * one run reports every error once. Rules K3 to K6, K8, F45 (feeds/FORMATS.md).
 */
import { isBoundedRate } from '../../engine/rules/fees.ts';
import type {
  CatalogError,
  CatalogFile,
  FeeLine,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from './catalog-schema.ts';
import { gameIdOf, instrumentIdOf } from './ids.ts';

type Report = (place: string, message: string) => void;

/** Finds the game an instrument names: by slug, by id, or not at all. */
type GameIndex = { bySlug: Map<string, GameEntry>; byId: Map<string, GameEntry> };

/** `usable` tells whether the schema accepted all of a place like `games[2]`. */
export function crossErrors(file: CatalogFile, usable: (place: string) => boolean): CatalogError[] {
  const errors: CatalogError[] = [];
  const report: Report = (place, message) => errors.push({ place, message });
  const index = gameIndex(file.games);
  checkUnique(file.games, 'games', gameIdOf, usable, report);
  checkUnique(file.instruments, 'instruments', instrumentIdOf, usable, report);

  const places = new Map(file.games.map((game, i) => [game, `games[${i}]`]));
  const counts = new Map<GameEntry, number>();
  file.instruments.forEach((entry, i) => {
    const place = `instruments[${i}]`;
    const game = gameNamedBy(entry ?? {}, index);
    if (game !== undefined) counts.set(game, (counts.get(game) ?? 0) + 1);
    if (!usable(place)) return;
    checkGameReference(entry, place, index, report);
    if (game === undefined) checkWithoutGame(entry, place, report);
    else if (usable(places.get(game)!)) checkGame(entry, game, place, report);
    checkListings(entry, place, report);
    checkTimes(entry, place, report);
  });
  checkFees(Array.isArray(file.fees) ? file.fees : [], usable, report);
  file.games.forEach((entry, i) => {
    if (usable(`games[${i}]`)) checkTeams(entry, counts.get(entry) ?? 0, `games[${i}]`, report);
  });
  return errors;
}

/** The game that an entry names by `gameSlug`, or else by `gameId`. */
export function gameNamedBy(
  { gameSlug, gameId }: Pick<InstrumentEntry, 'gameSlug' | 'gameId'>,
  { bySlug, byId }: GameIndex,
): GameEntry | undefined {
  return bySlug.get(gameSlug ?? '') ?? byId.get(gameId ?? '');
}

/** Also indexes entries that the schema refused. A reference to one is not a second error. */
export function gameIndex(games: readonly GameEntry[]): GameIndex {
  const index: GameIndex = { bySlug: new Map(), byId: new Map() };
  for (const game of games) {
    if (typeof game?.slug !== 'string') continue;
    index.bySlug.set(game.slug, game);
    index.byId.set(game.id ?? gameIdOf(game.slug), game);
  }
  return index;
}

function checkUnique(
  entries: readonly { id?: string; slug: string }[],
  list: string,
  idOf: (slug: string) => string,
  usable: (place: string) => boolean,
  report: Report,
): void {
  const slugs = new Map<string, string>();
  const ids = new Map<string, string>();
  entries.forEach((entry, i) => {
    const place = `${list}[${i}]`;
    if (!usable(place)) return;
    const id = entry.id ?? idOf(entry.slug);
    const slugOwner = slugs.get(entry.slug);
    const idOwner = ids.get(id);
    if (slugOwner !== undefined) report(`${place}.slug`, `is also the slug of ${slugOwner}`);
    else slugs.set(entry.slug, place);
    if (idOwner === undefined) ids.set(id, place);
    // Two equal slugs without ids derive equal ids: one error, reported above.
    else if (entry.id !== undefined || slugOwner === undefined) {
      report(`${place}.id`, `is also the id of ${idOwner}`);
    }
  });
}

function checkTeams(game: GameEntry, instruments: number, place: string, report: Report): void {
  if (game.home.code === game.away.code) {
    report(`${place}.away.code`, "is also the home team's code");
  }
  if (game.instrumentCount !== undefined && game.instrumentCount !== instruments) {
    report(`${place}.instrumentCount`, `must be ${instruments}, or left out`);
  }
}

function checkGameReference(
  { gameSlug, gameId }: InstrumentEntry,
  place: string,
  { bySlug, byId }: GameIndex,
  report: Report,
): void {
  const bySlugGame = bySlug.get(gameSlug ?? '');
  const byIdGame = byId.get(gameId ?? '');
  if (gameSlug != null && bySlugGame === undefined) {
    report(`${place}.gameSlug`, 'names no game of this catalog');
  }
  if (gameId != null && byIdGame === undefined) {
    report(`${place}.gameId`, 'names no game of this catalog');
  }
  if (bySlugGame !== undefined && byIdGame !== undefined && bySlugGame !== byIdGame) {
    report(`${place}.gameId`, 'is not the id of the game that gameSlug names');
  }
}

function checkWithoutGame(entry: InstrumentEntry, place: string, report: Report): void {
  // A missing game is already reported, and the other checks need it.
  if (entry.gameSlug != null || entry.gameId != null) return;
  for (const name of ['league', 'startsAt'] as const) {
    if (entry[name] === undefined) report(`${place}.${name}`, 'is required without a game');
  }
  for (const name of ['home', 'away', 'gameStatus'] as const) {
    if (entry[name] != null) report(`${place}.${name}`, 'needs a game: name it by gameSlug');
  }
}

/** Market types whose subject is one of the two teams; a draw's leg may say so by its code. */
const TEAM_MARKETS = new Set(['moneyline', 'spread', 'team_total']);
const DRAW_CODES = new Set(['TIE', 'DRAW']);

function checkGame(entry: InstrumentEntry, game: GameEntry, place: string, report: Report): void {
  if (entry.league !== undefined && entry.league !== game.league) {
    report(`${place}.league`, `must be the game's, ${game.league}, or left out`);
  }
  for (const name of ['home', 'away'] as const) {
    const team = entry[name];
    if (team != null && (team.code !== game[name].code || team.name !== game[name].name)) {
      report(`${place}.${name}`, "must be the game's, or left out");
    }
  }
  const code = entry.subject?.code;
  if (code === undefined || !TEAM_MARKETS.has(entry.marketType) || DRAW_CODES.has(code)) return;
  if (code !== game.home.code && code !== game.away.code) {
    report(
      `${place}.subject.code`,
      `must be a team of the game, ${game.away.code} or ${game.home.code}`,
    );
  }
}

function checkListings(entry: InstrumentEntry, place: string, report: Report): void {
  const seen = new Map<string, number>();
  entry.listings.forEach((listing, i) => {
    const first = seen.get(listing.venue);
    if (first === undefined) seen.set(listing.venue, i);
    else report(`${place}.listings[${i}].venue`, `is listed already by listings[${first}]`);
    checkSides(listing, `${place}.listings[${i}]`, report);
  });
  const { venues } = entry;
  if (venues === undefined) return;
  const same = venues.length === seen.size && venues.every((venue) => seen.has(venue));
  if (!same) report(`${place}.venues`, 'must be the venues of the listings, or left out');
}

function checkSides(listing: ListingEntry, place: string, report: Report): void {
  const [forYes, forNo] = listing.polarity === 1 ? ['yes', 'no'] : ['no', 'yes'];
  if (listing.buyForYes !== undefined && listing.buyForYes !== forYes) {
    report(`${place}.buyForYes`, `must be ${forYes} with polarity ${listing.polarity}`);
  }
  if (listing.buyForNo !== undefined && listing.buyForNo !== forNo) {
    report(`${place}.buyForNo`, `must be ${forNo} with polarity ${listing.polarity}`);
  }
}

function checkTimes({ opensAt, closesAt, strike }: InstrumentEntry, place: string, report: Report) {
  if (opensAt != null && closesAt != null && Date.parse(closesAt) <= Date.parse(opensAt)) {
    report(`${place}.closesAt`, 'must be after opensAt');
  }
  if (strike == null) return;
  const { type, floor, cap } = strike;
  const needs = { floor: !type.startsWith('less'), cap: !type.startsWith('greater') };
  for (const bound of ['floor', 'cap'] as const) {
    if (needs[bound] && strike[bound] === null) {
      report(`${place}.strike.${bound}`, `is required with ${type}`);
    }
  }
  if (floor !== null && cap !== null && cap < floor) {
    report(`${place}.strike.cap`, 'must not be below floor');
  }
}

function checkFees(
  fees: readonly FeeLine[],
  usable: (place: string) => boolean,
  report: Report,
): void {
  const seen = new Map<string, string>();
  fees.forEach((line, i) => {
    const place = `fees[${i}]`;
    if (!usable(place)) return;
    const key = feeKey(line);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, place);
    else report(place, `has the venue, series and time of ${first}`);
    for (const role of ['taker', 'maker'] as const) {
      const isBounded = isBoundedRate(line[role] ?? '0', line.multiplier ?? '1');
      if (!isBounded) report(`${place}.${role}`, 'times the multiplier must be from -1 to 1');
    }
  });
}

/** The key of a fee table's line: one line for each. */
export function feeKey({ venue, series, from }: FeeLine): string {
  return JSON.stringify([venue, series ?? null, Date.parse(from)]);
}
