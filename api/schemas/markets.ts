/** Wire schemas of games, instruments and quotes. Rules A45 to A55 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import { FUNGIBILITIES, MARKET_TYPES, PERIODS, START_SOURCES } from '../../engine/base/units.ts';
import {
  AsOf,
  Contracts,
  Count,
  Cursor,
  DateTime,
  described,
  flag,
  GameId,
  GameStatusSchema,
  InstrumentId,
  instant,
  limitOf,
  listed,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
  VenueDataOn,
  VenueSchema,
} from '../base/common-schemas.ts';

const Team = strict({ code: Type.String(), name: Type.String() }, { title: 'Team' });
const Fungibility = oneOf(FUNGIBILITIES, {
  title: 'Fungibility',
  description: 'How closely the rules of the venue match the instrument.',
});
const MarketTypeSchema = oneOf(MARKET_TYPES, { title: 'MarketType' });
const PeriodSchema = oneOf(PERIODS, { title: 'Period' });
const StartSourceSchema = oneOf(START_SOURCES, {
  title: 'StartSource',
  description: 'Source of the start. With day, only the day is known: startsAt is its midnight.',
});

export const Game = strict(
  {
    id: GameId,
    slug: Type.String({ description: 'A readable name. Paths take it instead of the id.' }),
    league: Type.String(),
    startsAt: DateTime,
    status: GameStatusSchema,
    home: Team,
    away: Team,
    instrumentCount: described(Count, 'Its instruments.'),
    season: nullable(Type.Integer(), { description: 'The year that names the season.' }),
    seasonType: nullable(Type.String()),
    week: nullable(Type.Integer()),
  },
  { title: 'Game' },
);

/** The optional fields are venue references, absent while the venue-data switch is off. */
export const Listing = strict(
  {
    venue: VenueSchema,
    polarity: Type.Unsafe<1 | -1>({
      type: 'integer',
      enum: [1, -1],
      description: "1: yes of the instrument is yes of the venue's market; -1: it is its no.",
    }),
    sideLabel: Type.Optional(
      nullable(Type.String(), { description: 'Name of the side at the venue.' }),
    ),
    fungibility: Fungibility,
    reviewed: Type.Boolean({ description: 'Whether a person compared the rules.' }),
    note: nullable(Type.String()),
    buyForYes: Type.Optional(described(SideSchema, 'The side to buy there for yes here.')),
    buyForNo: Type.Optional(described(SideSchema, 'The side to buy there for no here.')),
    venueMarketId: Type.Optional(Type.String({ description: "The venue's ticker." })),
    venueSideRef: Type.Optional(nullable(Type.String())),
    venueEvent: Type.Optional(nullable(Type.String())),
  },
  {
    title: 'Listing',
    description:
      'A venue market of the instrument. Venue references are present only while the venue-data ' +
      'switch is on.',
  },
);

export const Instrument = strict(
  {
    id: InstrumentId,
    slug: Type.String({ description: 'A readable name. Paths take it instead of the id.' }),
    gameId: nullable(GameId, { description: 'Null if it belongs to no game.' }),
    gameSlug: nullable(Type.String()),
    league: Type.String(),
    marketType: MarketTypeSchema,
    period: PeriodSchema,
    line: nullable(Type.Number(), { description: 'The spread or total of the question.' }),
    subject: nullable(Team, { description: 'The subject of the question.' }),
    label: Type.String(),
    oppositeLabel: nullable(Type.String()),
    yesMeans: Type.String({ description: 'Condition for yes to win.' }),
    startsAt: DateTime,
    startsAtSource: StartSourceSchema,
    gameStatus: nullable(GameStatusSchema),
    home: nullable(Team),
    away: nullable(Team),
    pushPossible: Type.Boolean({ description: 'Whether it can end with neither side winning.' }),
    venues: Type.Array(VenueSchema, { description: 'The venues of its listings.' }),
    stat: nullable(Type.String()),
    tieRule: nullable(Type.String()),
    settlesOn: nullable(Type.String()),
    postponementWindowHours: nullable(Type.Integer()),
    rulesVersion: Type.Integer(),
    listings: Type.Array(Listing),
  },
  { title: 'Instrument', description: 'A yes-or-no question; a contract on it pays 100 cents.' },
);

const LastTrade = strict(
  { priceCents: nullable(PriceCents), at: nullable(DateTime) },
  { title: 'LastTrade' },
);

const Contracted = (side: string) =>
  nullable(Count, { description: `Contracts offered at the ${side}; null with the price.` });

/** A venue's part of a quote, in the instrument's terms. */
const VenueQuote = strict(
  {
    venue: VenueSchema,
    venueMarketId: Type.String({ description: "The venue's ticker." }),
    venueSideRef: nullable(Type.String()),
    sideLabel: nullable(Type.String()),
    yesBidCents: nullable(PriceCents, {
      description: 'Price at which yes sells; null without a bid.',
    }),
    yesAskCents: nullable(PriceCents, {
      description: 'Price at which yes can be bought; null without an ask.',
    }),
    yesMidCents: nullable(Type.Number({ minimum: 1, maximum: 99 }), {
      description: 'Half cents occur: the middle of 41 and 44 is 42.5.',
    }),
    lastTradeCents: nullable(PriceCents, { description: 'Price of yes in the last trade.' }),
    lastTradeAt: nullable(DateTime),
    outcomeLastTrades: strict({ yes: LastTrade, no: LastTrade }),
    yesBidContracts: Contracted('bid'),
    yesAskContracts: Contracted('ask'),
    complementTradable: Type.Boolean({ description: 'Whether no can be bought there too.' }),
    minOrderContracts: Contracts,
    asOf: described(DateTime, 'Time of these prices.'),
    fungibility: Fungibility,
    note: nullable(Type.String()),
    reviewed: Type.Boolean(),
  },
  { title: 'VenueQuote', description: "A venue's prices, in the terms of the instrument." },
);

const QuoteResult = strict(
  {
    outcome: oneOf(['yes', 'no', 'void', 'scalar'], {
      description: 'scalar: a value between yes and no.',
    }),
    yesPaysCents: nullable(Type.Integer({ minimum: 0, maximum: 100 }), {
      description: 'Payout of a contract of yes; null: the cost is paid back.',
    }),
  },
  { title: 'QuoteResult', description: "A market's result, in the terms of the instrument." },
);

export const Quote = strict(
  {
    instrumentId: InstrumentId,
    label: Type.String(),
    queryMeans: Type.String({ description: 'Condition for yes to win.' }),
    startsAt: DateTime,
    crossVenue: Type.Boolean({
      description: 'Whether more than one venue has a price.',
    }),
    venues: Type.Array(VenueQuote, { description: 'The venues with a price now.' }),
    omitted: Type.Array(strict({ venue: VenueSchema, note: Type.String() }), {
      description: 'The venues without a price, with the reason.',
    }),
    asOf: AsOf,
    disclaimer: Type.String(),
    oppositeLabel: nullable(Type.String()),
    league: Type.String(),
    marketType: MarketTypeSchema,
    matchup: nullable(Type.String()),
    gameStatus: nullable(GameStatusSchema),
    result: Type.Optional(described(QuoteResult, 'Present once venue_a has the result.')),
  },
  { title: 'Quote' },
);

const Rows = described(Count, 'Number of rows in this answer.');
const ListEnvelope = { count: Rows, nextCursor: NextCursor, asOf: AsOf, mode: Mode };

export const InstrumentsAnswer = strict(
  { instruments: Type.Array(Instrument), ...ListEnvelope, venueData: VenueDataOn },
  { title: 'InstrumentsPage' },
);
export const InstrumentSearchAnswer = strict(
  {
    instruments: Type.Array(Instrument),
    count: Rows,
    venueData: VenueDataOn,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'InstrumentsFound' },
);
export const InstrumentAnswer = strict(
  { instrument: Instrument, venueData: VenueDataOn, asOf: AsOf, mode: Mode },
  { title: 'InstrumentAnswer' },
);
export const GamesAnswer = strict(
  { games: Type.Array(Game), ...ListEnvelope },
  { title: 'GamesPage' },
);
export const GameAnswer = strict(
  {
    game: Game,
    instruments: Type.Array(Instrument),
    count: Rows,
    venueData: VenueDataOn,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'GameAnswer' },
);

const CrossVenue = Type.Boolean({ description: 'Whether crossVenue is true of any quote here.' });

export const QuoteAnswer = strict(
  { quote: Quote, crossVenue: CrossVenue, asOf: AsOf, mode: Mode },
  { title: 'QuoteAnswer' },
);
export const QuotesAnswer = strict(
  {
    quotes: Type.Array(Quote, { description: 'In the requested order, each once.' }),
    notFound: Type.Array(Type.String(), { description: 'Ids without an instrument.' }),
    crossVenue: CrossVenue,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'QuotesAnswer' },
);

const Name = Type.String({ minLength: 1, maxLength: 160 });
const League = described(Name, 'Only of this league.');

/** The `{ref}` of a path. */
export const InstrumentRef = described(
  Name,
  'Id or slug of the instrument, as GET /instruments lists them.',
);
export const GameRef = described(Name, 'Id or slug of the game, as GET /games lists them.');

export const InstrumentsQuery = strict({
  league: Type.Optional(League),
  gameId: Type.Optional(described(Name, 'Only of the game with this id.')),
  marketType: Type.Optional(described(MarketTypeSchema, 'Only of this type.')),
  status: Type.Optional(described(GameStatusSchema, 'Only of games in this status.')),
  tradable: Type.Optional(
    flag(
      'Whether it accepts orders now. It then has exactly one listing on venue_a, and its game is ' +
        'not cancelled. The market is open: not paused, closed or resolved, its opening time passed.',
    ),
  ),
  priced: Type.Optional(
    flag(
      'Whether venue_a has a live price of it now: a bid, an ask or both. Needs the venue-data ' +
        'switch.',
    ),
  ),
  limit: limitOf(100, 50),
  cursor: Type.Optional(Cursor),
});
export type InstrumentsFilter = Static<typeof InstrumentsQuery>;

export const InstrumentSearchQuery = strict({
  q: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Words to look for, such as the name of a team; a typo is forgiven.',
  }),
  league: Type.Optional(League),
  status: Type.Optional(described(GameStatusSchema, 'Only of games in this status.')),
  limit: limitOf(25, 10),
});

export const GamesQuery = strict({
  status: Type.Optional(described(GameStatusSchema, 'Only in this status.')),
  league: Type.Optional(League),
  from: Type.Optional(instant('Only games that start at this time or later')),
  to: Type.Optional(instant('Only games that start before this time')),
  limit: limitOf(100, 50),
  cursor: Type.Optional(Cursor),
});

export const QuotesQuery = strict({
  ids: listed(
    '1 to 20 instrument ids, as GET /instruments lists them, with commas between. One given ' +
      'twice counts once.',
  ),
});
