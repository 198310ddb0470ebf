/**
 * Found markets as a catalog file, alone or added to one: listings of several venues meet in one
 * game by its league, its day and its teams. Rules K23, K26, K27, K32, K40, K41, K69, K70
 * (feeds/FORMATS.md).
 */
import { isoOf, type StartSource, type Venue } from '../../../engine/base/units.ts';
import { gameIndex, gameNamedBy } from '../../catalog/catalog-checks.ts';
import type {
  CatalogFile,
  GameEntry,
  InstrumentEntry,
  ListingEntry,
} from '../../catalog/catalog-schema.ts';
import { isWorseStart, mergeCatalogs } from '../../catalog/merge-catalogs.ts';
import { easternDay, easternMs } from './eastern.ts';
import { type Finding, type Found, type FoundGame, type Team, TIE } from './found.ts';
import {
  codeNamed,
  isHomeFirst,
  isKnownLeague,
  isSameTeam,
  leagueNamed,
  wordsOf,
} from './names.ts';

/** Two games of the same teams on a day are at least this far apart. */
const SAME_GAME_MS = 2 * 3_600_000;
/** How far a start may be off if it is reckoned from an expected end. */
const ESTIMATE_OFF_MS = 6 * 3_600_000;
const DAY_ALONE = 'the venue names the day alone: the time of the start is not known';
/** Leagues whose games continue until one team wins. */
const NO_TIE = new Set(['mlb', 'nba', 'wnba', 'nhl', 'cfb', 'cbb', 'atp', 'wta']);

/** `base` with the found markets; entries that it names already are updated. */
export function assemble(
  { found, fees }: Pick<Finding, 'found' | 'fees'>,
  base: CatalogFile = EMPTY,
): CatalogFile {
  const games = new Games(base.games, new Listed(found, base));
  const known = knownIn(base);
  const instruments = found.map((one) => {
    return instrumentOf(one, one.game === null ? null : games.slotOf(one.game), known);
  });
  const kept = withoutMoved(base, instruments, found);
  const labelled = withOwnLabels(instruments, kept.instruments);
  const gone = new Set(base.games.map(({ slug }) => slug));
  for (const { slug } of kept.games) gone.delete(slug);
  const present = games.entries.filter(({ slug }) => !gone.has(slug));
  const added = mergeCatalogs(EMPTY, { games: present, instruments: labelled, fees });
  return mergeCatalogs(kept, added);
}

/**
 * `base` without listings of found winners at instruments that they are no longer found for. An
 * instrument without a listing left is no more. Rule K70.
 */
function withoutMoved(
  base: CatalogFile,
  now: readonly InstrumentEntry[],
  found: readonly Found[],
): CatalogFile {
  const winners = found.filter(({ kind }) => kind === 'winner');
  const keys = new Set(winners.map(({ listing }) => marketKey(listing)));
  const slugs = new Set(now.map(({ slug }) => slug));
  const index = gameIndex(base.games);
  const left = new Set<string>();
  const instruments = base.instruments.flatMap((entry) => {
    const game = gameNamedBy(entry, index);
    if (slugs.has(entry.slug) || sourceOfInstrument(entry, game) === 'catalog') return [entry];
    const listings = entry.listings.filter((listing) => !keys.has(marketKey(listing)));
    if (listings.length === entry.listings.length) return [entry];
    if (listings.length > 0) return [{ ...entry, listings }];
    if (game !== undefined) left.add(game.slug);
    return [];
  });
  const named = new Set([...instruments, ...now].map((entry) => gameNamedBy(entry, index)?.slug));
  const games = base.games.filter(({ slug }) => !left.has(slug) || named.has(slug));
  return { ...base, games, instruments };
}

const EMPTY: CatalogFile = { games: [], instruments: [] };

/** A found game's entry, and the entry's own codes of both teams by the found ones. */
type GameSlot = { entry: GameEntry; codes: ReadonlyMap<string, string> };

/** Which games of a catalog list the found winners of a venue, and which ones no other venue lists. */
class Listed {
  readonly #keys = new Map<FoundGame, string[]>();
  readonly #slugs = new Map<string, string>();
  /** Of each game, by its slug. */
  readonly #venues = new Map<string, Set<Venue>>();
  readonly #venue: Venue | null;

  /** @param found of one venue */
  constructor(found: readonly Found[], { games, instruments }: CatalogFile) {
    this.#venue = found[0]?.listing.venue ?? null;
    for (const { kind, game, listing } of found) {
      if (kind !== 'winner') continue;
      const keys = this.#keys.get(game);
      if (keys === undefined) this.#keys.set(game, [marketKey(listing)]);
      else keys.push(marketKey(listing));
    }
    const index = gameIndex(games);
    for (const entry of instruments) {
      const slug = gameNamedBy(entry, index)?.slug;
      if (slug === undefined) continue;
      const venues = this.#venues.get(slug) ?? new Set();
      this.#venues.set(slug, venues);
      for (const listing of entry.listings) {
        venues.add(listing.venue);
        if (entry.marketType === 'moneyline') this.#slugs.set(marketKey(listing), slug);
      }
    }
  }

  /** The game that lists its markets, by its slug. */
  slugOf(game: FoundGame): string | undefined {
    const keys = this.#keys.get(game) ?? [];
    return keys.map((key) => this.#slugs.get(key)).find((slug) => slug !== undefined);
  }

  /** Whether no other venue lists the game. */
  isAlone({ slug }: GameEntry): boolean {
    const venues = this.#venues.get(slug);
    return venues !== undefined && [...venues].every((venue) => venue === this.#venue);
  }
}

/** The games of a catalog, and games that are found beside them. */
class Games {
  readonly entries: GameEntry[];
  readonly #listed: Listed;
  readonly #slots = new Map<FoundGame, GameSlot>();
  readonly #byLeague = new Map<string, GameEntry[]>();
  readonly #bySlug = new Map<string, GameEntry>();

  constructor(entries: readonly GameEntry[], listed: Listed) {
    this.entries = [];
    this.#listed = listed;
    for (const entry of entries) this.#add({ ...entry });
  }

  slotOf(game: FoundGame): GameSlot {
    const placed = this.#slots.get(game);
    if (placed !== undefined) return placed;
    const near = sameGame(game, this.#near(game));
    const known = near ?? this.#moved(game);
    const entry = known ?? gameEntry(game, this.#bySlug);
    if (known === undefined) this.#add(entry);
    else complete(entry, game, near === undefined);
    const slot = { entry, codes: codesOf(game, entry) };
    this.#slots.set(game, slot);
    return slot;
  }

  /**
   * The game of the same teams that lists its markets, though at another time: no other venue lists
   * it, or its start is of a better source. Rule K69.
   */
  #moved(game: FoundGame): GameEntry | undefined {
    const entry = this.#bySlug.get(this.#listed.slugOf(game) ?? '');
    if (entry === undefined || teamsOf(game, entry) === null) return;
    const isWorse = isWorseStart(game.start?.source ?? 'day', sourceOf(entry));
    return isWorse || this.#listed.isAlone(entry) ? entry : undefined;
  }

  /** The games of its league, of its day or the day before or after. */
  #near({ league, day }: FoundGame): GameEntry[] {
    return [-1, 0, 1].flatMap((days) => {
      const other = new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
      return this.#byLeague.get(`${league} ${other}`) ?? [];
    });
  }

  #add(entry: GameEntry): void {
    this.entries.push(entry);
    this.#bySlug.set(entry.slug, entry);
    const key = `${leagueNamed(entry.league)} ${easternDay(Date.parse(entry.startsAt))}`;
    const ofDay = this.#byLeague.get(key);
    if (ofDay === undefined) this.#byLeague.set(key, [entry]);
    else ofDay.push(entry);
  }
}

const DAY_MS = 24 * 3_600_000;

/** The catalog's source of a start; an older catalog has it in its note. */
function sourceOf({ startsAtSource, note }: GameEntry): StartSource {
  return startsAtSource ?? (note === DAY_ALONE ? 'day' : 'catalog');
}

/**
 * A start of a better source takes the place of another. A milestone may move, and so may any start
 * of a game that has moved. Rules K32, K69.
 */
function complete(entry: GameEntry, { start, day, isOver }: FoundGame, hasMoved: boolean): void {
  const source = sourceOf(entry);
  if (start === null) {
    if (hasMoved && source === 'day') entry.startsAt = isoOf(easternMs(day)!);
  } else {
    const isBetter = isWorseStart(source, start.source);
    if (isBetter || (start.source === source && (source === 'milestone' || hasMoved))) {
      entry.startsAt = isoOf(start.atMs);
      entry.startsAtSource = start.source;
      if (entry.note === DAY_ALONE) entry.note = null;
    }
  }
  if (isOver && entry.status === 'scheduled') entry.status = 'final';
}

/** The one of these games that this is. */
function sameGame(game: FoundGame, near: readonly GameEntry[]): GameEntry | undefined {
  const { day, number, start } = game;
  const ofTeams = near.filter((one) => teamsOf(game, one) !== null);
  const alike = ofTeams.filter((one) => easternDay(Date.parse(one.startsAt)) === day);
  const numberOf = ({ slug }: GameEntry) => /-(g\d)$/.exec(slug)?.[1] ?? null;
  const isNear = (one: GameEntry) => {
    const source = sourceOf(one);
    if (start === null || source === 'day') return number === numberOf(one) || alike.length === 1;
    const isLoose = alike.length === 1 && [start.source, source].includes('estimate');
    const offMs = Math.abs(Date.parse(one.startsAt) - start.atMs);
    return offMs < (isLoose ? ESTIMATE_OFF_MS : SAME_GAME_MS);
  };
  const isTimed = (one: GameEntry) => start !== null && sourceOf(one) !== 'day' && isNear(one);
  return (
    alike.find((one) => numberOf(one) === number && isNear(one)) ??
    alike.find(isNear) ??
    // Around midnight both venues may name another day.
    ofTeams.find(isTimed)
  );
}

/** Whether both are of the same teams, and in which order. Null: they are not, or it is not clear. */
function teamsOf(game: FoundGame, entry: GameEntry): 'same' | 'turned' | null {
  const { league } = game;
  const codesOf = (one: Pick<GameEntry, 'away' | 'home'>) => {
    return [codeNamed(league, one.away.code), codeNamed(league, one.home.code)];
  };
  const [[away, home], [otherAway, otherHome]] = [codesOf(game), codesOf(entry)];
  if (away === otherAway && home === otherHome) return 'same';
  if (away === otherHome && home === otherAway) return 'turned';
  const isSame = (a: Team, b: Team) => isSameTeam(league, a, b);
  const same = isSame(game.away, entry.away) && isSame(game.home, entry.home);
  const turned = isSame(game.away, entry.home) && isSame(game.home, entry.away);
  if (same === turned) return null;
  return same ? 'same' : 'turned';
}

function codesOf(game: FoundGame, entry: GameEntry): Map<string, string> {
  const isTurned = teamsOf(game, entry) === 'turned';
  const [away, home] = isTurned ? [entry.home, entry.away] : [entry.away, entry.home];
  return new Map([
    [game.away.code, away.code],
    [game.home.code, home.code],
  ]);
}

/** A slug names the home team first if the league does. */
function gameEntry(game: FoundGame, slugs: ReadonlyMap<string, unknown>): GameEntry {
  const { league, day, number, away, home, start } = game;
  const teams = isHomeFirst(league) ? [home.code, away.code] : [away.code, home.code];
  const plain = [league, ...teams, day, ...(number === null ? [] : [number])]
    .join('-')
    .toLowerCase();
  const timed =
    start === null ? plain : `${plain}-${isoOf(start.atMs).slice(11, 16).replace(':', '')}`;
  let slug = slugs.has(plain) ? timed : plain;
  for (let count = 2; slugs.has(slug); count++) slug = `${timed}-${count}`;
  return {
    slug,
    league,
    startsAt: isoOf(start?.atMs ?? easternMs(day)!),
    startsAtSource: start?.source ?? 'day',
    status: game.isOver ? 'final' : 'scheduled',
    away,
    home,
    note: start === null ? DAY_ALONE : null,
  };
}

function instrumentOf(one: Found, slot: GameSlot | null, known: Known): InstrumentEntry {
  const game = slot?.entry ?? null;
  if (one.kind === 'other') return otherOf(one, slot, known);
  const code = one.code === TIE ? TIE : (slot!.codes.get(one.code) ?? one.code);
  const slug = `${game!.slug}-moneyline-${code.toLowerCase()}`;
  const before = known.winners.get(`${game!.slug} ${code}`);
  if (before !== undefined) return { ...before, listings: joined(before.listings, one.listing) };
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
    listings: [one.listing],
  };
}

/**
 * A market that is no winner's. An instrument that lists it already keeps its names. If it was
 * found before games had their totals, it gets its game and its start.
 */
function otherOf(
  { entry, listing }: Extract<Found, { kind: 'other' }>,
  slot: GameSlot | null,
  known: Known,
): InstrumentEntry {
  const game = slot?.entry ?? null;
  const code = slot?.codes.get(entry.subject?.code ?? '');
  const team = [game?.away, game?.home].find((one) => one !== undefined && one.code === code);
  const subject = team ?? entry.subject ?? null;
  const found = { ...entry, subject, gameSlug: game?.slug ?? null, listings: [listing] };
  const before = known.markets.get(`${listing.venue}/${listing.venueMarketId}`);
  if (before === undefined) return found;
  const { slug, id, label, oppositeLabel, yesMeans } = before;
  const listings = joined(before.listings, listing);
  if (sourceOfOther(before) === 'catalog') return { ...before, listings };
  return {
    ...{ ...found, slug, label, yesMeans, listings },
    ...(id === undefined ? {} : { id }),
    ...(oppositeLabel === undefined ? {} : { oppositeLabel }),
  };
}

/** The source of the start of what is no winner; an older catalog does not have it. */
function sourceOfOther({ startsAtSource, startsAt, closesAt }: InstrumentEntry): StartSource {
  const isOld = startsAt !== undefined && startsAt === closesAt;
  return startsAtSource ?? (isOld ? 'day' : 'catalog');
}

function sourceOfInstrument(entry: InstrumentEntry, game: GameEntry | undefined): StartSource {
  const isWinner = entry.marketType === 'moneyline' && game !== undefined;
  return isWinner ? (entry.startsAtSource ?? sourceOf(game)) : sourceOfOther(entry);
}

const marketKey = ({ venue, venueMarketId }: ListingEntry) => `${venue}/${venueMarketId}`;

type Known = {
  /** The winner instruments, by the game's slug and the code of the winner. */
  winners: ReadonlyMap<string, InstrumentEntry>;
  /** The instruments that list a market, by venue and market. */
  markets: ReadonlyMap<string, InstrumentEntry>;
};

function knownIn({ games, instruments }: CatalogFile): Known {
  const index = gameIndex(games);
  const winners = new Map<string, InstrumentEntry>();
  const markets = new Map<string, InstrumentEntry>();
  for (const entry of instruments) {
    const game = entry.marketType === 'moneyline' ? gameNamedBy(entry, index) : undefined;
    const code = entry.subject?.code;
    if (game !== undefined && code !== undefined) winners.set(`${game.slug} ${code}`, entry);
    if (entry.marketType === 'moneyline') continue;
    for (const { venue, venueMarketId } of entry.listings) {
      markets.set(`${venue}/${venueMarketId}`, entry);
    }
  }
  return { winners, markets };
}

/** A person's fields of a listing stay. */
function joined(listings: readonly ListingEntry[], listing: ListingEntry): ListingEntry[] {
  const before = listings.find(({ venue }) => venue === listing.venue);
  const isSame = before !== undefined && before.venueMarketId === listing.venueMarketId;
  const { reviewed, fungibility, note } = isSame ? before : listing;
  const own = { ...listing, reviewed, fungibility, note: note ?? null };
  return [...listings.filter(({ venue }) => venue !== listing.venue), own];
}

/** Labels that two instruments share get the day of the game, else their slugs. Rule K39. */
function withOwnLabels(
  found: readonly InstrumentEntry[],
  base: readonly InstrumentEntry[],
): InstrumentEntry[] {
  const old = new Set(base.map(({ slug }) => slug));
  const dayOfGame = ({ gameSlug }: InstrumentEntry) =>
    DAY_OF_SLUG.exec(gameSlug ?? '')?.[0] ?? null;
  const dated = apartBy(found, base, old, (entry) => {
    const day = dayOfGame(entry);
    return day === null || entry.label.includes(day) ? null : `, ${day}`;
  });
  return apartBy(dated, base, old, ({ slug }) => ` (${slug})`);
}

/** `2026-04-25`, and which of two games of the day. */
const DAY_OF_SLUG = /\d{4}-\d\d-\d\d(?:-g\d)?$/;

/** `end` is appended to labels that two slugs have; labels of the catalog before stay. */
function apartBy(
  found: readonly InstrumentEntry[],
  base: readonly InstrumentEntry[],
  old: ReadonlySet<string>,
  end: (entry: InstrumentEntry) => string | null,
): InstrumentEntry[] {
  const slugsOf = new Map<string, Set<string>>();
  for (const { label, slug } of [...base, ...found]) {
    const slugs = slugsOf.get(label);
    if (slugs === undefined) slugsOf.set(label, new Set([slug]));
    else slugs.add(slug);
  }
  return found.map((entry) => {
    const { label, slug, yesMeans } = entry;
    const ending = slugsOf.get(label)!.size === 1 || old.has(slug) ? null : end(entry);
    if (ending === null) return entry;
    const own = `${label.slice(0, LABEL_MAX - ending.length)}${ending}`;
    return { ...entry, label: own, yesMeans: yesMeans === label ? own : yesMeans };
  });
}

const LABEL_MAX = 300;

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

/** Games of one day and the same teams that did not join, by their slugs. Rule K41. */
export function apartGames({
  games,
  instruments,
}: {
  games: readonly GameEntry[];
  instruments: readonly Pick<InstrumentEntry, 'gameSlug' | 'gameId' | 'listings'>[];
}): [string, string][] {
  const venues = new Map<string, Set<string>>();
  const index = gameIndex(games);
  for (const entry of instruments) {
    const game = gameNamedBy(entry, index);
    if (game === undefined) continue;
    const own = venues.get(game.slug) ?? new Set();
    for (const { venue } of entry.listings) own.add(venue);
    venues.set(game.slug, own);
  }
  const byDay = new Map<string, GameEntry[]>();
  for (const game of games) {
    const day = easternDay(Date.parse(game.startsAt));
    byDay.set(day, [...(byDay.get(day) ?? []), game]);
  }
  const apart = new Map<string, [string, string]>();
  for (const ofDay of byDay.values()) {
    const seen = new Map<string, GameEntry[]>();
    for (const game of ofDay) {
      for (const key of apartKeys(game)) {
        for (const other of seen.get(key) ?? []) {
          if (other === game || !isApart(game, other, venues)) continue;
          apart.set(`${other.slug} ${game.slug}`, [other.slug, game.slug]);
        }
        seen.set(key, [...(seen.get(key) ?? []), game]);
      }
    }
  }
  return [...apart.values()];
}

/**
 * The keys by which two venues' names of a game may be the same: its codes, and the words of its
 * names.
 */
function apartKeys({ league, away, home }: GameEntry): Set<string> {
  const codes = [away, home].map(({ code }) => codeNamed(league, code)).sort();
  const names = [away, home].map(({ name }) => wordsOf(name).join(' ')).sort();
  return new Set([codes.join(' '), names.join('/').toUpperCase()]);
}

/** Two games that are one by their teams, and that no venue lists both of. */
function isApart(a: GameEntry, b: GameEntry, venues: ReadonlyMap<string, Set<string>>): boolean {
  const isOtherSport = a.league !== b.league && isKnownLeague(a.league) && isKnownLeague(b.league);
  const [ofA, ofB] = [a, b].map(({ slug }) => venues.get(slug) ?? new Set<string>());
  return !isOtherSport && ofA!.size > 0 && ofB!.size > 0 && ![...ofA!].some((one) => ofB!.has(one));
}
