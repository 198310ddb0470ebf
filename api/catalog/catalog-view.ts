/**
 * Games and instruments as callers read them. The wire objects have derived fields, and live game
 * statuses over the catalog's own. While the venue-data switch is off, they have no venue
 * reference. Rules A45 to A49, A125, V3
 * (api/RULES.md), K59, K68 (feeds/FORMATS.md).
 */
import type { Static } from '@sinclair/typebox';
import { nextCursorOf } from '../../engine/base/cursors.ts';
import { invariant } from '../../engine/base/invariant.ts';
import { NumberedNames } from '../../engine/base/text-numbers.ts';
import {
  type EpochMs,
  type GameStatus,
  HOME_VENUE,
  type InstrumentNumber,
  isoOf,
  type MarketNumber,
  marketName,
} from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';
import { closingMs } from '../../engine/rules/closing.ts';
import { tagOf } from '../base/cursors.ts';
import { compareSortKeys, GAME_PLACE, takePage } from '../base/paging.ts';
import type { Game, Instrument, Listing } from '../schemas/markets.ts';
import type { MarketBus } from './market-bus.ts';
import { MarketStates } from './market-states.ts';
import type { PastInstruments, Retired } from './past-instruments.ts';

export type GameEntry = {
  id: string;
  startsAtMs: EpochMs;
  game: CatalogGame;
  /** The live status if a feed has sent one, else the catalog's. */
  status: GameStatus;
  instruments: InstrumentEntry[];
};

export type InstrumentEntry = {
  id: string;
  /** The catalog's; it never changes. */
  number: InstrumentNumber;
  startsAtMs: EpochMs;
  /** 0 if the catalog names no time. */
  opensAtMs: EpochMs;
  /** Infinite where the catalog names no time. */
  closesAtMs: EpochMs;
  /** Its markets of venue_a, where orders go. */
  homeMarkets: readonly MarketNumber[];
  instrument: CatalogInstrument;
  game: GameEntry | null;
  /** JSON texts of the wire object, made at first use: with venue references and without. */
  text: { on: string | null; off: string | null };
};

type Index = {
  catalog: Catalog;
  /** Sorted by start, then id; games without an instrument are not public. */
  games: GameEntry[];
  instruments: InstrumentEntry[];
  gamesByRef: Map<string, GameEntry>;
  gamesBySlug: Map<string, GameEntry>;
  instrumentsByRef: Map<string, InstrumentEntry>;
};

/** A live status, and the catalog's status that it replaced. */
type LiveStatus = { status: GameStatus; over: GameStatus };

type StatesOfMarkets = Pick<MarketStates, 'isOpen' | 'venueClosesAtMs'>;

/** What no list has any more, by id or slug. Rule K59 (feeds/FORMATS.md). */
export type PastLookup = Pick<PastInstruments, 'instrument' | 'game'> & {
  having(text: string): Iterable<Retired>;
};
const NO_PAST: PastLookup = {
  instrument: () => undefined,
  game: () => undefined,
  having: () => [],
};

type Names = { markets: NumberedNames; instruments: NumberedNames };

export class CatalogView {
  readonly #source: () => Catalog;
  readonly #states: StatesOfMarkets;
  readonly #live = new Map<string, LiveStatus>();
  /** Of games that no list has any more, by their slugs. */
  readonly #lastStatuses = new Map<string, GameStatus>();
  readonly #past: PastLookup;
  #numbers: Names = { markets: new NumberedNames(), instruments: new NumberedNames() };
  #index: Index;

  /** `source` returns the current catalog; a new object counts as a new catalog. */
  constructor(
    source: () => Catalog,
    states: StatesOfMarkets = new MarketStates(),
    past: PastLookup = NO_PAST,
  ) {
    this.#source = source;
    this.#states = states;
    this.#past = past;
    this.#index = this.#indexOf(source(), null);
  }

  /** Follows the venues' statuses of games. @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['game'], ({ game, status }) => this.setGameStatus(game, status));
  }

  /**
   * Applies a status that a feed sent. It stays until a catalog changes that game's status.
   */
  setGameStatus(slug: string, status: GameStatus): void {
    const entry = this.#current().gamesBySlug.get(slug);
    if (entry === undefined) {
      if (this.#past.game(slug) !== undefined) this.#lastStatuses.set(slug, status);
      return;
    }
    this.#live.set(slug, { status, over: entry.game.status });
    showStatus(entry, status);
  }

  /**
   * The status that a feed sent before the last stop, while the catalog had the status `over` for
   * the game (null: none). A catalog that has changed since then wins.
   */
  restoreGameStatus(slug: string, status: GameStatus, over: GameStatus | null): void {
    const entry = this.#current().gamesBySlug.get(slug);
    if (over === null || entry?.game.status === over) this.setGameStatus(slug, status);
  }

  /**
   * Whether an order can name this instrument now: it lists on exactly one venue_a market, which is
   * open, and its game is not cancelled. Whether there is a price depends on its quote. Rule A46
   * (api/RULES.md).
   */
  isTradable(entry: InstrumentEntry, nowMs: EpochMs): boolean {
    const { homeMarkets, game, opensAtMs, closesAtMs } = entry;
    if (game?.status === 'cancelled' || nowMs < opensAtMs) return false;
    const [market, ...more] = homeMarkets;
    if (market === undefined || more.length > 0) return false;
    const venueClosesAtMs = this.#states.venueClosesAtMs(market);
    return nowMs < closingMs({ closesAtMs, venueClosesAtMs }) && this.#states.isOpen(market);
  }

  /** Public games, earliest first. */
  games(): readonly GameEntry[] {
    return this.#current().games;
  }

  /** Instruments, earliest start first. The same array while the catalog is the same. */
  instruments(): readonly InstrumentEntry[] {
    return this.#current().instruments;
  }

  /** Retired instruments with this text in their description. They are read from a file. */
  *retiredHaving(text: string): Generator<InstrumentEntry> {
    for (const retired of this.#past.having(text)) {
      // A list may have it again.
      const isListed = this.#current().instrumentsByRef.has(retired.instrument.id);
      if (!isListed) yield this.#pastEntry(retired);
    }
  }

  /** A public game by id or slug, listed or not. */
  game(ref: string): GameEntry | undefined {
    const listed = this.#current().gamesByRef.get(ref);
    if (listed !== undefined) return listed;
    const game = this.#past.game(ref);
    return game === undefined ? undefined : this.#gameEntry(game);
  }

  /** An instrument by id or slug, listed or not. */
  instrument(ref: string): InstrumentEntry | undefined {
    const listed = this.#current().instrumentsByRef.get(ref);
    if (listed !== undefined) return listed;
    const retired = this.#past.instrument(ref);
    return retired === undefined ? undefined : this.#pastEntry(retired);
  }

  /** `venue/venueMarketId` of a market that a catalog has had. */
  marketName(market: MarketNumber): string {
    return this.#source().marketNames[market] ?? '';
  }

  #current(): Index {
    const catalog = this.#source();
    if (catalog === this.#index.catalog) return this.#index;
    this.#index = this.#indexOf(catalog, this.#index);
    for (const [slug, { status, over }] of this.#live) {
      const entry = this.#index.gamesBySlug.get(slug);
      if (entry?.game.status === over) {
        entry.status = status;
        continue;
      }
      this.#live.delete(slug);
      if (entry === undefined && this.#past.game(slug)?.status === over) {
        this.#lastStatuses.set(slug, status);
      }
    }
    return this.#index;
  }

  /** @param before of the catalog before; null: there is none */
  #indexOf(catalog: Catalog, before: Index | null): Index {
    const goesOn = this.#number(catalog);
    const known = goesOn ? before?.instrumentsByRef : undefined;
    const gamesBySlug = new Map<string, GameEntry>();
    for (const game of catalog.games) gamesBySlug.set(game.slug, entryOf(game, game.status));
    const instruments = catalog.instruments.map((instrument) => {
      // What stays is not made again. A game is, and its instruments show it. Rule K68.
      const entry = known?.get(instrument.id);
      if (entry?.instrument === instrument && instrument.gameSlug === null) return entry;
      return this.#entryOf(instrument, gamesBySlug.get(instrument.gameSlug ?? '') ?? null);
    });
    instruments.sort(compareSortKeys);
    for (const entry of instruments) entry.game?.instruments.push(entry);
    const games = [...gamesBySlug.values()].filter((entry) => entry.instruments.length > 0);
    games.sort(compareSortKeys);
    return {
      ...{ catalog, games, instruments, gamesBySlug },
      gamesByRef: byRef(games, (entry) => entry.game.slug),
      instrumentsByRef: byRef(instruments, (entry) => entry.instrument.slug),
    };
  }

  /**
   * A catalog that does not go on from the last one has numbers of its own. @returns whether it goes
   * on
   */
  #number({ marketNames, instrumentIds }: Catalog): boolean {
    const { markets, instruments } = this.#numbers;
    const goesOn =
      isBeginning(markets.names, marketNames) && isBeginning(instruments.names, instrumentIds);
    if (!goesOn) {
      this.#numbers = { markets: new NumberedNames(), instruments: new NumberedNames() };
    }
    this.#numbers.markets.extend(marketNames);
    this.#numbers.instruments.extend(instrumentIds);
    return goesOn;
  }

  #entryOf(instrument: CatalogInstrument, game: GameEntry | null): InstrumentEntry {
    const { id, startsAt, opensAt, closesAt } = instrument;
    const number = this.#numbers.instruments.numberOf(id);
    invariant(number !== undefined, 'a catalog has an instrument without a number');
    return {
      ...{ id, number, instrument, game },
      startsAtMs: Date.parse(startsAt),
      opensAtMs: opensAt === null ? 0 : Date.parse(opensAt),
      closesAtMs: closesAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(closesAt),
      homeMarkets: homeMarketsOf(instrument, this.#numbers.markets),
      text: { on: null, off: null },
    };
  }

  #pastEntry({ instrument, game }: Retired): InstrumentEntry {
    return this.#entryOf(instrument, game === null ? null : this.#gameEntry(game));
  }

  /** If it is listed, as it is there. */
  #gameEntry(game: CatalogGame): GameEntry {
    const listed = this.#current().gamesBySlug.get(game.slug);
    return listed ?? entryOf(game, this.#lastStatuses.get(game.slug) ?? game.status);
  }
}

function entryOf(game: CatalogGame, status: GameStatus): GameEntry {
  const startsAtMs = Date.parse(game.startsAt);
  return { id: game.id, startsAtMs, game, status, instruments: [] };
}

function isBeginning(names: readonly string[], of: readonly string[]): boolean {
  return names.length <= of.length && names.at(-1) === of[names.length - 1];
}

function homeMarketsOf({ listings }: CatalogInstrument, numbers: NumberedNames): MarketNumber[] {
  return listings
    .filter(({ venue }) => venue === HOME_VENUE)
    .map(({ venue, venueMarketId }) => {
      const number = numbers.numberOf(marketName(venue, venueMarketId));
      invariant(number !== undefined, 'a listing names a market without a number');
      return number;
    });
}

function byRef<T extends { id: string }>(entries: T[], slugOf: (entry: T) => string) {
  const refs = new Map(entries.map((entry) => [slugOf(entry), entry]));
  for (const entry of entries) refs.set(entry.id, entry);
  return refs;
}

function showStatus(entry: GameEntry, status: GameStatus): void {
  entry.status = status;
  for (const instrument of entry.instruments) instrument.text = { on: null, off: null };
}

/** An Instrument of the API, as JSON text at `nowMs`. Rules A46, A47, V3 (api/RULES.md). */
export function instrumentText(entry: InstrumentEntry, venueData: boolean, nowMs: EpochMs): string {
  if (nowMs < entry.opensAtMs) {
    const note = `opens at ${isoOf(entry.opensAtMs)}`;
    return JSON.stringify(instrumentView(entry, venueData, note));
  }
  const variant = venueData ? 'on' : 'off';
  entry.text[variant] ??= JSON.stringify(instrumentView(entry, venueData, null));
  return entry.text[variant];
}

/** A Game of the API, as JSON text. Rules A48, A49 (api/RULES.md). */
export function gameText({ game, status, startsAtMs, instruments }: GameEntry): string {
  return JSON.stringify({
    id: game.id,
    slug: game.slug,
    league: game.league,
    startsAt: isoOf(startsAtMs),
    status,
    home: game.home,
    away: game.away,
    instrumentCount: instruments.length,
    season: game.season,
    seasonType: game.seasonType,
    week: game.week,
  } satisfies Static<typeof Game>);
}

/** `opening` replaces the listings' own notes while their markets are not open yet. */
function instrumentView(entry: InstrumentEntry, venueData: boolean, opening: string | null) {
  const { instrument, game, startsAtMs } = entry;
  return {
    id: instrument.id,
    slug: instrument.slug,
    gameId: game?.id ?? null,
    gameSlug: instrument.gameSlug,
    league: instrument.league,
    marketType: instrument.marketType as Static<typeof Instrument>['marketType'],
    period: instrument.period as Static<typeof Instrument>['period'],
    line: instrument.line,
    subject: instrument.subject,
    label: instrument.label,
    oppositeLabel: instrument.oppositeLabel,
    yesMeans: instrument.yesMeans,
    startsAt: isoOf(startsAtMs),
    startsAtSource: instrument.startsAtSource ?? 'catalog',
    gameStatus: game?.status ?? null,
    home: game?.game.home ?? null,
    away: game?.game.away ?? null,
    pushPossible: instrument.pushPossible,
    venues: [...new Set(instrument.listings.map(({ venue }) => venue))],
    stat: instrument.stat,
    tieRule: instrument.tieRule,
    settlesOn: instrument.settlesOn,
    postponementWindowHours: instrument.postponementWindowHours,
    rulesVersion: instrument.rulesVersion,
    listings: instrument.listings.map((listing) => {
      return listingView({ ...listing, note: opening ?? listing.note }, venueData);
    }),
  } satisfies Static<typeof Instrument>;
}

function listingView(listing: CatalogListing, venueData: boolean): Static<typeof Listing> {
  const { venue, polarity, fungibility, reviewed, note } = listing;
  const open = { venue, polarity, fungibility, reviewed, note };
  if (!venueData) return open;
  const { sideLabel, buyForYes, buyForNo, venueMarketId, venueSideRef, venueEvent } = listing;
  return { ...open, sideLabel, buyForYes, buyForNo, venueMarketId, venueSideRef, venueEvent };
}

const HOUR_MS = 60 * 60 * 1000;
/** Without a range, lists of games start this long ago. */
const LOOK_BACK_MS = 6 * HOUR_MS;
/** A game with only a day may begin at the day's end. */
const DAY_LOOK_BACK_MS = 24 * HOUR_MS;

/** Whether lists without a range still have a game. Rules A48, A125 (api/RULES.md). */
export function isRecentGame({ startsAtMs, game }: GameEntry, nowMs: EpochMs): boolean {
  const isDay = game.startsAtSource === 'day';
  return nowMs - startsAtMs <= (isDay ? DAY_LOOK_BACK_MS : LOOK_BACK_MS);
}

/** The name of the list in its cursors. */
export const GAMES_LIST = 'games';
const FIRST_GAMES = 100;

/** `{games, nextCursor}`: the first page of the list without a filter, as JSON text. */
export function firstGames(catalog: CatalogView, nowMs: EpochMs): string {
  const isShown = (entry: GameEntry) => isRecentGame(entry, nowMs);
  const { rows, next } = takePage(catalog.games(), null, FIRST_GAMES, isShown);
  const nextCursor = nextCursorOf(tagOf(GAMES_LIST, {}), next, GAME_PLACE);
  return `{"games":[${rows.map(gameText).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}
