/**
 * The small catalog that generated input plays on. Every round adds three games, and the oldest
 * round is dropped from the lists, so that long runs never run out of markets without a result.
 */

import { isoOf, type SourceNumber, type Venue } from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';

/** The source of a market's generated prices: its theme, or 100 minus it. */
export type RandomMarket = {
  name: string;
  venue: Venue;
  venueMarketId: string;
  source: SourceNumber;
  theme: string;
  sign: 1 | -1;
};

export type RandomCatalog = { catalog: Catalog; markets: RandomMarket[] };

const ROUNDS_LISTED = 2;

/** This instrument of the first round opens while a run goes on; later ones are long open. */
const OPENS_LATE = 'home-two';
const OPENING_MS = Date.UTC(2026, 1, 1, 12, 30);
/** This one's markets close while a run goes on; another of the same market names a later time. */
const CLOSES = new Map([
  ['away-one', Date.UTC(2026, 1, 1, 14)],
  ['home-one', Date.UTC(2026, 1, 1, 15)],
]);

/** Of a round: venue, market, connection, theme, sign. Two connections serve venue_a. */
const MARKETS = [
  ['venue_a', 'A1', 0, 'one', 1],
  ['venue_a', 'A2', 0, 'two', 1],
  ['venue_a', 'A3', 1, 'three', 1],
  ['venue_a', 'A4', 1, 'four', 1],
  ['venue_a', 'A5', 1, 'five', 1],
  ['venue_a', 'A6', 0, 'six', 1],
  ['venue_b', 'B1', 2, 'one', -1],
  ['venue_b', 'B2', 2, 'two', 1],
  ['venue_b', 'B3', 2, 'lonely', 1],
  ['venue_b', 'B4', 2, 'three', -1],
  ['venue_c', 'C1', 3, 'one', 1],
  ['venue_c', 'C2', 3, 'two', -1],
  ['venue_c_intl', 'D1', 4, 'one', 1],
  ['venue_c_intl', 'D2', 4, 'two', 1],
] as const;

type Spot = [market: string, polarity: 1 | -1, fungibility: 'exact' | 'near', reviewed: boolean];

/** Of a round: name, game, listings. */
const INSTRUMENTS: [name: string, game: string | null, spots: Spot[]][] = [
  [
    'home-one',
    'one',
    [
      ['A1', 1, 'exact', true],
      ['B1', -1, 'exact', true],
      ['C1', 1, 'near', true],
      ['D1', 1, 'exact', true],
    ],
  ],
  [
    'away-one',
    'one',
    [
      ['A1', -1, 'exact', true],
      ['B1', 1, 'exact', true],
    ],
  ],
  [
    'home-two',
    'two',
    [
      ['A2', 1, 'exact', true],
      ['B2', 1, 'exact', true],
      ['C2', -1, 'exact', true],
      ['D2', 1, 'exact', true],
    ],
  ],
  ['lonely-two', 'two', [['B3', 1, 'exact', true]]],
  [
    'away-three',
    'three',
    [
      ['A3', -1, 'exact', true],
      ['B4', 1, 'exact', false],
    ],
  ],
  [
    'double-three',
    'three',
    [
      ['A4', 1, 'exact', true],
      ['A5', 1, 'exact', true],
    ],
  ],
  ['outright', null, [['A6', 1, 'exact', true]]],
];

/** The catalog after `rounds` rounds, and every market ever numbered, by number. */
export function randomCatalogOf(rounds: number): RandomCatalog {
  const all = Array.from({ length: rounds }, (_, round) => round);
  const listed = all.slice(-ROUNDS_LISTED);
  const markets = all.flatMap(marketsOfRound);
  return {
    markets,
    catalog: {
      games: listed.flatMap((round) => ['one', 'two', 'three'].map((name) => game(name, round))),
      instruments: listed.flatMap(instrumentsOfRound),
      marketNames: markets.map((market) => market.name),
      instrumentIds: all.flatMap(instrumentsOfRound).map((instrument) => instrument.id),
    },
  };
}

function marketsOfRound(round: number): RandomMarket[] {
  return MARKETS.map(([venue, short, source, theme, sign]) => {
    const venueMarketId = `${short}-${round}`;
    const name = `${venue}/${venueMarketId}`;
    return { name, venue, venueMarketId, source, theme: `${theme}-${round}`, sign };
  });
}

function game(name: string, round: number): CatalogGame {
  return {
    id: `game_${idText(`G${name}${round}`, 10)}`,
    slug: `${name}-${round}`,
    league: 'test',
    startsAt: '2026-03-01T18:00:00.000Z',
    status: 'scheduled',
    home: { code: 'HOM', name: `Home ${name}` },
    away: { code: 'AWY', name: `Away ${name}` },
    season: 2026,
    seasonType: 'regular',
    week: null,
  };
}

function instrumentsOfRound(round: number): CatalogInstrument[] {
  return INSTRUMENTS.map(([name, gameName, spots], number) => ({
    id: `ins_${idText(`${number}N${round}`, 12)}`,
    slug: `${name}-${round}`,
    gameSlug: gameName === null ? null : `${gameName}-${round}`,
    league: 'test',
    marketType: gameName === null ? 'outright' : 'moneyline',
    period: gameName === null ? 'season' : 'game',
    line: null,
    subject: null,
    label: `${name} wins`,
    oppositeLabel: `${name} does not win`,
    yesMeans: `${name} wins round ${round}`,
    startsAt: '2026-03-01T18:00:00.000Z',
    opensAt: name === OPENS_LATE ? isoOf(OPENING_MS) : null,
    ...closing(name, round),
    pushPossible: false,
    stat: null,
    tieRule: null,
    settlesOn: null,
    postponementWindowHours: number % 3 === 0 ? null : 24 * (number % 3),
    rulesVersion: 1,
    listings: spots.map((spot) => listing(spot, round)),
  }));
}

/** In every fourth round; the others of the same market stay open. */
function closing(name: string, round: number): { closesAt?: string } {
  const atMs = CLOSES.get(name);
  return atMs === undefined || round % 4 !== 0 ? {} : { closesAt: isoOf(atMs) };
}

function listing(spot: Spot, round: number): CatalogListing {
  const [short, polarity, fungibility, reviewed] = spot;
  const venue = MARKETS.find((market) => market[1] === short)![0];
  return {
    venue,
    polarity,
    sideLabel: null,
    fungibility,
    reviewed,
    note: null,
    buyForYes: polarity === 1 ? 'yes' : 'no',
    buyForNo: polarity === 1 ? 'no' : 'yes',
    venueMarketId: `${short}-${round}`,
    venueSideRef: null,
    venueEvent: null,
  };
}

/** Ids leave out the letters I, L, O and U. */
function idText(text: string, length: number): string {
  return text
    .toUpperCase()
    .replace(/[ILOU]/g, 'X')
    .padStart(length, '0')
    .slice(-length);
}
