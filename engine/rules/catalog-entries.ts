/**
 * The catalog's entries of games, instruments and their listings, as the engine takes them. Rules
 * K3 to K5 (feeds/FORMATS.md).
 */
import type { GameStatus, Side, STRIKE_TYPES, StartSource, Venue } from '../base/units.ts';

/** One venue's side of an instrument. Rule K5 (feeds/FORMATS.md). */
export type CatalogListing = {
  venue: Venue;
  /** 1: the instrument's yes is the market's yes; -1: it is the market's no. */
  polarity: 1 | -1;
  sideLabel: string | null;
  fungibility: 'exact' | 'near' | 'none';
  reviewed: boolean;
  note: string | null;
  buyForYes: Side;
  buyForNo: Side;
  venueMarketId: string;
  venueSideRef: string | null;
  venueEvent: string | null;
};

export type Team = { code: string; name: string };

/** A game of the catalog, without derived fields. Rule K3 (feeds/FORMATS.md). */
export type CatalogGame = {
  id: string;
  slug: string;
  league: string;
  startsAt: string;
  /** Left out: the start was written into the catalog by hand. */
  startsAtSource?: StartSource;
  status: GameStatus;
  home: Team;
  away: Team;
  season: number | null;
  seasonType: string | null;
  week: number | null;
};

/** Which numbers mean yes: above `floor`, below `cap`, or between both, by `type`. */
export type Strike = {
  type: (typeof STRIKE_TYPES)[number];
  floor: number | null;
  cap: number | null;
};

/**
 * An instrument of the catalog, without the fields derived from its game and listings. Rule K4
 * (feeds/FORMATS.md).
 */
export type CatalogInstrument = {
  id: string;
  slug: string;
  gameSlug: string | null;
  league: string;
  marketType: string;
  period: string;
  line: number | null;
  subject: Team | null;
  label: string;
  oppositeLabel: string | null;
  yesMeans: string;
  startsAt: string;
  /** Left out: the start was written into the catalog by hand. */
  startsAtSource?: StartSource;
  /** When its markets open; null: they are already open, or the catalog has no time. */
  opensAt: string | null;
  /** When its markets stop trading, even if quotes still arrive; left out: no such time. */
  closesAt?: string;
  /** Of a market about a number: which numbers mean yes. */
  strike?: Strike;
  pushPossible: boolean;
  stat: string | null;
  tieRule: string | null;
  settlesOn: string | null;
  postponementWindowHours: number | null;
  rulesVersion: number;
  listings: CatalogListing[];
};

/** Games and instruments with the numbers that ticks and facts use for them. */
export type Catalog = {
  games: CatalogGame[];
  instruments: CatalogInstrument[];
  /** `venue/venueMarketId` by market number; only ever appended to. */
  marketNames: string[];
  /** Instrument id by instrument number; only ever appended to. */
  instrumentIds: string[];
};
