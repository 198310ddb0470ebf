/** A small catalog, and answers of an engine as the shards give them. */
import { ORDER, PORTFOLIO, TRADE } from '../../api/schemas/examples.ts';
import type {
  Catalog,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';

const HOUR_MS = 3_600_000;
/** The engine's time in these tests. */
export const NOW_MS = Date.parse('2026-11-21T05:00:00.000Z');

export const IDS = {
  lions: 'ins_0000000000A1',
  bears: 'ins_0000000000A2',
  total: 'ins_0000000000B1',
  outright: 'ins_0000000000C1',
  old: 'ins_0000000000D1',
};

function listing(venue: CatalogListing['venue'], ticker: string): CatalogListing {
  return {
    venue,
    polarity: 1,
    sideLabel: 'Lions',
    fungibility: 'exact',
    reviewed: true,
    note: null,
    buyForYes: 'yes',
    buyForNo: 'no',
    venueMarketId: ticker,
    venueSideRef: null,
    venueEvent: 'EVENT-1',
  };
}

function instrument(
  fields: Pick<CatalogInstrument, 'id' | 'slug' | 'label'> & Partial<CatalogInstrument>,
): CatalogInstrument {
  return {
    gameSlug: 'bears-lions',
    league: 'nfl',
    marketType: 'moneyline',
    period: 'game',
    line: null,
    subject: null,
    oppositeLabel: null,
    yesMeans: `${fields.label} happens`,
    startsAt: '2026-11-21T08:00:00.000Z',
    opensAt: null,
    pushPossible: false,
    stat: null,
    tieRule: null,
    settlesOn: null,
    postponementWindowHours: 48,
    rulesVersion: 1,
    listings: [listing('venue_a', `T-${fields.id.slice(-2)}`)],
    ...fields,
  };
}

const team = (code: string, name: string) => ({ code, name });

function game(slug: string, id: string, startsAtMs: number) {
  return {
    id,
    slug,
    league: 'nfl',
    startsAt: new Date(startsAtMs).toISOString(),
    status: 'scheduled' as const,
    home: team('LIO', 'Lions'),
    away: team('BEA', 'Bears'),
    season: 2026,
    seasonType: 'regular',
    week: null,
  };
}

export function sampleCatalog(): Catalog {
  const instruments = [
    instrument({
      id: IDS.lions,
      slug: 'bears-lions-moneyline-lions',
      label: 'Lions to beat Bears',
      subject: team('LIO', 'Lions'),
      listings: [listing('venue_a', 'T-LIONS'), listing('venue_b', 'B-LIONS')],
    }),
    instrument({
      id: IDS.bears,
      slug: 'bears-lions-moneyline-bears',
      label: 'Bears to beat Lions',
    }),
    instrument({
      id: IDS.total,
      slug: 'hawks-owls-total',
      label: 'Hawks and Owls score over 41.5',
      gameSlug: 'hawks-owls',
      startsAt: '2026-11-22T08:00:00.000Z',
      marketType: 'total',
      line: 41.5,
      listings: [listing('venue_b', 'B-TOTAL')],
    }),
    instrument({
      id: IDS.outright,
      slug: 'season-champion-lions',
      label: 'Lions win the season',
      gameSlug: null,
      league: 'cup',
      marketType: 'outright',
      period: 'season',
      startsAt: '2027-02-01T00:00:00.000Z',
    }),
    instrument({
      id: IDS.old,
      slug: 'yesterday-moneyline',
      label: 'Home to win yesterday',
      gameSlug: 'yesterday',
      startsAt: '2026-11-20T05:00:00.000Z',
    }),
  ];
  return {
    games: [
      game('hawks-owls', 'game_00000000B0', NOW_MS + 27 * HOUR_MS),
      game('bears-lions', 'game_00000000A0', NOW_MS + 3 * HOUR_MS),
      game('yesterday', 'game_00000000D0', NOW_MS - 24 * HOUR_MS),
      game('nobody-plays', 'game_00000000E0', NOW_MS + HOUR_MS),
    ],
    instruments,
    marketNames: instruments.flatMap(({ listings }) =>
      listings.map(({ venue, venueMarketId }) => `${venue}/${venueMarketId}`),
    ),
    instrumentIds: instruments.map(({ id }) => id),
  };
}

const UUID = '0195d3a0-0000-7000-8000-000000000001';
const AT = '2026-11-21T05:00:00.000Z';

const SUBJECT = { instrumentId: IDS.lions, marketTicker: 'T-LIONS' };

export const sampleOrder = {
  ...ORDER,
  ...SUBJECT,
  orderId: UUID,
  limitCents: 41,
  holdDollars: 4.1,
};

const sampleTrade = { ...TRADE, ...SUBJECT, tradeId: UUID, costDollars: 4.1, entryCents: 41 };

const samplePosition = {
  ...PORTFOLIO.positions[0]!,
  ...SUBJECT,
  tradeId: UUID,
  costDollars: 4.1,
  entryCents: 41,
  markCents: 41,
  valueDollars: 4.1,
  unrealizedPnlDollars: 0,
};

export const samplePlacement = {
  status: 'executed',
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  replayed: false,
  originalCreatedAt: null,
  order: null,
  trade: sampleTrade,
  fillVenue: 'venue_a',
  mode: 'paper',
  venueData: true,
  fillPriceCents: 41,
};

export const samplePortfolio = {
  account: null,
  positions: [samplePosition],
  positionsCount: 1,
  positionsTruncated: false,
  orders: [],
  ordersCount: 0,
  ordersTruncated: false,
  asOf: AT,
  mode: 'paper',
  venueData: true,
};

export const sampleOrderAnswer = { order: sampleOrder, mode: 'paper', venueData: true };

export const sampleOrders = {
  orders: [sampleOrder],
  nextCursor: null,
  mode: 'paper',
  venueData: true,
};

export const sampleTrades = {
  trades: [sampleTrade],
  nextCursor: null,
  mode: 'paper',
  venueData: true,
};

const sampleVenueQuote = {
  venue: 'venue_a',
  venueMarketId: 'T-LIONS',
  venueSideRef: null,
  sideLabel: 'Lions',
  yesBidCents: 41,
  yesAskCents: 44,
  yesMidCents: 42.5,
  lastTradeCents: 43,
  lastTradeAt: AT,
  outcomeLastTrades: { yes: { priceCents: 43, at: AT }, no: { priceCents: null, at: null } },
  yesBidContracts: 100,
  yesAskContracts: 250,
  complementTradable: true,
  minOrderContracts: 1,
  asOf: AT,
  fungibility: 'exact',
  note: null,
  reviewed: true,
};

export function sampleQuote(instrumentId: string, crossVenue = false) {
  return {
    instrumentId,
    label: 'A "crossVenue":true label',
    queryMeans: 'it happens',
    startsAt: AT,
    crossVenue,
    venues: [sampleVenueQuote],
    omitted: [{ venue: 'venue_b', note: 'no quote yet' }],
    asOf: AT,
    disclaimer: 'Paper prices.',
    oppositeLabel: null,
    league: 'nfl',
    marketType: 'moneyline',
    matchup: null,
    gameStatus: 'scheduled',
  };
}
