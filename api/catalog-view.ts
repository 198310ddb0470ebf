/**
 * Games and instruments as they are read: wire objects with what is derived, live game statuses
 * over the catalog's own, and no venue reference while the venue-data switch is off.
 * SPEC.md section 2, Game and Instrument; CONTRACT.md section 3.
 */
import type { Static } from '@sinclair/typebox';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../engine/core/messages.ts';
import { type EpochMs, type GameStatus, HOME_VENUE, isoOf } from '../engine/core/units.ts';
import { comparePlaces } from './paging.ts';
import type { Game, Instrument, Listing } from './schemas/markets.ts';

export type GameEntry = {
  id: string;
  startsAtMs: EpochMs;
  game: CatalogGame;
  /** The live one where a feed has told it, else the catalog's. */
  status: GameStatus;
  instruments: InstrumentEntry[];
};

export type InstrumentEntry = {
  id: string;
  startsAtMs: EpochMs;
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

/** A live status, and the catalog's status that it was told over. */
type LiveStatus = { status: GameStatus; over: GameStatus };

export class CatalogView {
  readonly #source: () => Catalog;
  readonly #live = new Map<string, LiveStatus>();
  #index: Index;

  /** `source` answers the catalog of now; a new object is taken for a new catalog. */
  constructor(source: () => Catalog) {
    this.#source = source;
    this.#index = indexOf(source());
  }

  /** A feed told a game's status; it holds until a catalog says something new of that game. */
  setGameStatus(slug: string, status: GameStatus): void {
    const entry = this.#current().gamesBySlug.get(slug);
    if (entry === undefined) return;
    this.#live.set(slug, { status, over: entry.game.status });
    showStatus(entry, status);
  }

  /**
   * What a feed told before the last stop, while the catalog said `over` of the game (null: nothing).
   * A catalog that has changed meanwhile knows better.
   */
  restoreGameStatus(slug: string, status: GameStatus, over: GameStatus | null): void {
    const entry = this.#current().gamesBySlug.get(slug);
    if (over === null || entry?.game.status === over) this.setGameStatus(slug, status);
  }

  /** Public games, earliest first. */
  games(): readonly GameEntry[] {
    return this.#current().games;
  }

  /** Instruments, earliest start first. The same array as long as the catalog is the same. */
  instruments(): readonly InstrumentEntry[] {
    return this.#current().instruments;
  }

  /** A public game by id or slug. */
  game(ref: string): GameEntry | undefined {
    return this.#current().gamesByRef.get(ref);
  }

  /** An instrument by id or slug. */
  instrument(ref: string): InstrumentEntry | undefined {
    return this.#current().instrumentsByRef.get(ref);
  }

  #current(): Index {
    const catalog = this.#source();
    if (catalog === this.#index.catalog) return this.#index;
    this.#index = indexOf(catalog);
    for (const [slug, { status, over }] of this.#live) {
      const entry = this.#index.gamesBySlug.get(slug);
      if (entry?.game.status === over) entry.status = status;
      else this.#live.delete(slug);
    }
    return this.#index;
  }
}

function indexOf(catalog: Catalog): Index {
  const gamesBySlug = new Map<string, GameEntry>();
  for (const game of catalog.games) {
    gamesBySlug.set(game.slug, {
      id: game.id,
      startsAtMs: Date.parse(game.startsAt),
      game,
      status: game.status,
      instruments: [],
    });
  }
  const instruments = catalog.instruments.map((instrument): InstrumentEntry => {
    return {
      id: instrument.id,
      startsAtMs: Date.parse(instrument.startsAt),
      instrument,
      game: gamesBySlug.get(instrument.gameSlug ?? '') ?? null,
      text: { on: null, off: null },
    };
  });
  instruments.sort(comparePlaces);
  for (const entry of instruments) entry.game?.instruments.push(entry);
  const games = [...gamesBySlug.values()].filter((entry) => entry.instruments.length > 0);
  games.sort(comparePlaces);
  return {
    catalog,
    games,
    instruments,
    gamesBySlug,
    gamesByRef: byRef(games, (entry) => entry.game.slug),
    instrumentsByRef: byRef(instruments, (entry) => entry.instrument.slug),
  };
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

/** SPEC.md section 2, Instrument, as JSON text. */
export function instrumentText(entry: InstrumentEntry, venueData: boolean): string {
  const variant = venueData ? 'on' : 'off';
  entry.text[variant] ??= JSON.stringify(instrumentView(entry, venueData));
  return entry.text[variant];
}

/** SPEC.md section 2, Game, as JSON text. */
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

/**
 * Whether an order can name this instrument: it lists on exactly one venue_a market and its game
 * is not over. Whether there is a price for it now is the quote's to tell.
 */
export function isTradable({ instrument, game }: InstrumentEntry): boolean {
  if (game !== null && (game.status === 'final' || game.status === 'cancelled')) return false;
  return instrument.listings.filter(({ venue }) => venue === HOME_VENUE).length === 1;
}

function instrumentView(entry: InstrumentEntry, venueData: boolean) {
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
    listings: instrument.listings.map((listing) => listingView(listing, venueData)),
  } satisfies Static<typeof Instrument>;
}

function listingView(listing: CatalogListing, venueData: boolean): Static<typeof Listing> {
  const { venue, polarity, fungibility, reviewed, note } = listing;
  const open = { venue, polarity, fungibility, reviewed, note };
  if (!venueData) return open;
  const { sideLabel, buyForYes, buyForNo, venueMarketId, venueSideRef, venueEvent } = listing;
  return { ...open, sideLabel, buyForYes, buyForNo, venueMarketId, venueSideRef, venueEvent };
}
