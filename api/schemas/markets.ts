/** Wire shapes of games, instruments and quotes. SPEC.md section 2, CONTRACT.md section 3. */
import { type Static, Type } from '@sinclair/typebox';
import { FUNGIBILITIES, MARKET_TYPES, PERIODS } from '../../engine/core/units.ts';
import {
  Contracts,
  Count,
  Cursor,
  DateTime,
  GameId,
  GameStatusSchema,
  InstrumentId,
  limitOf,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  PriceCents,
  SideSchema,
  strict,
  VenueSchema,
} from './common.ts';

const Team = strict({ code: Type.String(), name: Type.String() });
const Fungibility = oneOf(FUNGIBILITIES);
const MarketTypeSchema = oneOf(MARKET_TYPES);
const PeriodSchema = oneOf(PERIODS);

export const Game = strict({
  id: GameId,
  slug: Type.String(),
  league: Type.String(),
  startsAt: DateTime,
  status: GameStatusSchema,
  home: Team,
  away: Team,
  instrumentCount: Count,
  season: nullable(Type.Integer()),
  seasonType: nullable(Type.String()),
  week: nullable(Type.Integer()),
});

/** The optional fields are venue references, absent while the venue-data switch is off. */
export const Listing = strict({
  venue: VenueSchema,
  polarity: Type.Unsafe<1 | -1>({ type: 'integer', enum: [1, -1] }),
  sideLabel: Type.Optional(nullable(Type.String())),
  fungibility: Fungibility,
  reviewed: Type.Boolean(),
  note: nullable(Type.String()),
  buyForYes: Type.Optional(SideSchema),
  buyForNo: Type.Optional(SideSchema),
  venueMarketId: Type.Optional(Type.String()),
  venueSideRef: Type.Optional(nullable(Type.String())),
  venueEvent: Type.Optional(nullable(Type.String())),
});

export const Instrument = strict({
  id: InstrumentId,
  slug: Type.String(),
  gameId: nullable(GameId),
  gameSlug: nullable(Type.String()),
  league: Type.String(),
  marketType: MarketTypeSchema,
  period: PeriodSchema,
  line: nullable(Type.Number()),
  subject: nullable(Team),
  label: Type.String(),
  oppositeLabel: nullable(Type.String()),
  yesMeans: Type.String(),
  startsAt: DateTime,
  gameStatus: nullable(GameStatusSchema),
  home: nullable(Team),
  away: nullable(Team),
  pushPossible: Type.Boolean(),
  venues: Type.Array(VenueSchema),
  stat: nullable(Type.String()),
  tieRule: nullable(Type.String()),
  settlesOn: nullable(Type.String()),
  postponementWindowHours: nullable(Type.Integer()),
  rulesVersion: Type.Integer(),
  listings: Type.Array(Listing),
});

const LastTrade = strict({ priceCents: nullable(PriceCents), at: nullable(DateTime) });

/** One venue's side of a quote, in the instrument's terms. */
const VenueQuote = strict({
  venue: VenueSchema,
  venueMarketId: Type.String(),
  venueSideRef: nullable(Type.String()),
  sideLabel: nullable(Type.String()),
  yesBidCents: nullable(PriceCents),
  yesAskCents: nullable(PriceCents),
  /** Half cents occur: the middle of 41 and 44 is 42.5. */
  yesMidCents: nullable(Type.Number({ minimum: 1, maximum: 99 })),
  lastTradeCents: nullable(PriceCents),
  lastTradeAt: nullable(DateTime),
  outcomeLastTrades: strict({ yes: LastTrade, no: LastTrade }),
  yesBidContracts: nullable(Count),
  yesAskContracts: nullable(Count),
  complementTradable: Type.Boolean(),
  minOrderContracts: Contracts,
  asOf: DateTime,
  fungibility: Fungibility,
  note: nullable(Type.String()),
  reviewed: Type.Boolean(),
});

const Quote = strict({
  instrumentId: InstrumentId,
  label: Type.String(),
  queryMeans: Type.String(),
  startsAt: DateTime,
  crossVenue: Type.Boolean(),
  venues: Type.Array(VenueQuote),
  omitted: Type.Array(strict({ venue: VenueSchema, note: Type.String() })),
  asOf: DateTime,
  disclaimer: Type.String(),
  oppositeLabel: nullable(Type.String()),
  league: Type.String(),
  marketType: MarketTypeSchema,
  matchup: nullable(Type.String()),
  gameStatus: nullable(GameStatusSchema),
});

const ListEnvelope = { count: Count, nextCursor: NextCursor, asOf: DateTime, mode: Mode };

export const InstrumentsAnswer = strict({
  instruments: Type.Array(Instrument),
  ...ListEnvelope,
  venueData: Type.Boolean(),
});
export const InstrumentSearchAnswer = strict({
  instruments: Type.Array(Instrument),
  count: Count,
  venueData: Type.Boolean(),
  asOf: DateTime,
  mode: Mode,
});
export const InstrumentAnswer = strict({
  instrument: Instrument,
  venueData: Type.Boolean(),
  asOf: DateTime,
  mode: Mode,
});
export const GamesAnswer = strict({ games: Type.Array(Game), ...ListEnvelope });
export const GameAnswer = strict({
  game: Game,
  instruments: Type.Array(Instrument),
  count: Count,
  venueData: Type.Boolean(),
  asOf: DateTime,
  mode: Mode,
});
export const QuoteAnswer = strict({
  quote: Quote,
  crossVenue: Type.Boolean(),
  asOf: DateTime,
  mode: Mode,
});
export const QuotesAnswer = strict({
  quotes: Type.Array(Quote),
  notFound: Type.Array(Type.String()),
  crossVenue: Type.Boolean(),
  asOf: DateTime,
  mode: Mode,
});

const Name = Type.String({ minLength: 1, maxLength: 160 });

export const InstrumentsQuery = strict({
  league: Type.Optional(Name),
  gameId: Type.Optional(Name),
  marketType: Type.Optional(MarketTypeSchema),
  status: Type.Optional(GameStatusSchema),
  tradable: Type.Optional(oneOf(['true', 'false'])),
  limit: limitOf(100, 50),
  cursor: Type.Optional(Cursor),
});
export type InstrumentsFilter = Static<typeof InstrumentsQuery>;

export const InstrumentSearchQuery = strict({
  q: Type.String({ minLength: 1, maxLength: 100 }),
  league: Type.Optional(Name),
  limit: limitOf(25, 10),
});

/** Date, or date-time with a zone: CONTRACT.md section 3. */
const Instant = Type.String({ maxLength: 40 });

export const GamesQuery = strict({
  status: Type.Optional(GameStatusSchema),
  league: Type.Optional(Name),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  limit: limitOf(100, 50),
  cursor: Type.Optional(Cursor),
});

export const QuotesQuery = strict({ ids: Type.String({ minLength: 1 }) });
