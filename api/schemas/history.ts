/** The history: rows, gaps, candles, and the queries for them. Rules H6 to H16 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { VENUES } from '../../engine/base/units.ts';
import { GAP_REASONS, INTERVALS } from '../../engine/history/kinds.ts';
import { DATASETS, EXPORT_FORMATS } from '../../engine/history/questions.ts';
import {
  AsOf,
  Count,
  Cursor,
  DateTime,
  limitOf,
  Mode,
  NextCursor,
  nullable,
  oneOf,
  PriceCents,
  strict,
  VenueSchema,
} from '../base/common-schemas.ts';
import { INSTRUMENT_ID } from './examples.ts';

const Instant = (what: string) =>
  Type.String({ minLength: 1, maxLength: 64, description: `A date or date-time: ${what}.` });

const Series = {
  instrumentId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 160,
      description: 'Prices are in its terms. Exactly one of this and ticker.',
      examples: [INSTRUMENT_ID],
    }),
  ),
  ticker: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 160,
      description: "A venue's market: prices are those of its yes.",
    }),
  ),
  venue: oneOf(VENUES, {
    default: 'venue_a',
    description: 'Whose prices.',
  }),
  from: Type.Optional(Instant('from then on')),
  to: Type.Optional(Instant('before then')),
};

const IntervalSchema = oneOf(INTERVALS, { default: '1m', description: 'Aligned to UTC.' });

export const HistoryQuery = strict({
  ...Series,
  order: oneOf(['asc', 'desc'], { default: 'asc', description: 'By time.' }),
  limit: limitOf(5000, 500),
  cursor: Type.Optional(Cursor),
});

export const CandlesQuery = strict({
  ...Series,
  interval: IntervalSchema,
  limit: limitOf(1000, 200),
  cursor: Type.Optional(Cursor),
});

export const HistoryAsOfQuery = strict({
  instrumentIds: Type.String({
    minLength: 1,
    maxLength: 640,
    description: 'One to 20 ids, separated by commas.',
  }),
  at: Instant('as it was then'),
  venue: Series.venue,
});

export const ExportQuery = strict({
  ...Series,
  dataset: oneOf(DATASETS, { default: 'quotes', description: 'What to export.' }),
  interval: Type.Optional(oneOf(INTERVALS, { description: 'Of candles; 1m when left out.' })),
  format: oneOf(EXPORT_FORMATS, { default: 'csv', description: 'CSV names its columns first.' }),
});

const Prices = {
  yesBidCents: nullable(PriceCents),
  yesAskCents: nullable(PriceCents),
  yesBidContracts: nullable(Count),
  yesAskContracts: nullable(Count),
};
const Live = Type.Boolean({ description: 'Whether a Quote showed a price; else all are null.' });

const HistoryRow = strict({ at: DateTime, ...Prices, live: Live }, { title: 'HistoryRow' });

const Gap = strict(
  {
    from: DateTime,
    to: nullable(DateTime, { description: 'When the price was live again; null: not yet.' }),
    reason: oneOf(GAP_REASONS, { title: 'GapReason' }),
  },
  { title: 'HistoryGap' },
);

const SeriesId = {
  instrumentId: nullable(Type.String(), { description: 'Null for a ticker.' }),
  venue: VenueSchema,
};

export const HistoryAnswer = strict(
  {
    ...SeriesId,
    quotes: Type.Array(HistoryRow),
    gaps: Type.Array(Gap, { description: 'Those that overlap from and to, oldest first.' }),
    nextCursor: NextCursor,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'HistoryPage' },
);

const Cents = Type.Number({ minimum: 0, maximum: 100 });
const Ohlc = strict({ open: Cents, high: Cents, low: Cents, close: Cents }, { title: 'Ohlc' });

const Candle = strict(
  {
    start: DateTime,
    end: DateTime,
    bid: nullable(Ohlc),
    ask: nullable(Ohlc),
    mid: nullable(Ohlc, { description: 'While both sides had a price.' }),
    trades: nullable(
      strict({
        count: Count,
        contracts: Count,
        open: Cents,
        high: Cents,
        low: Cents,
        close: Cents,
        vwapCents: nullable(Cents, { description: 'Null where no whole contract traded.' }),
      }),
    ),
    quotes: Type.Integer({ minimum: 0, description: 'How many rows it has.' }),
    liveSeconds: Type.Number({ minimum: 0, description: 'How long a price was live.' }),
    complete: Type.Optional(
      Type.Boolean({ description: 'Only in the unfinished last candle, where it is false.' }),
    ),
  },
  { title: 'Candle' },
);

export const CandlesAnswer = strict(
  {
    ...SeriesId,
    interval: oneOf(INTERVALS, { title: 'Interval' }),
    candles: Type.Array(Candle),
    gaps: Type.Array(Gap, { description: 'Those that overlap the candles listed, oldest first.' }),
    nextCursor: NextCursor,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'CandlesPage' },
);

export const ExportText = Type.String({ title: 'HistoryExport' });

export const HistoryAsOfAnswer = strict(
  {
    rows: Type.Array(
      strict({
        instrumentId: Type.String(),
        venue: VenueSchema,
        ...Prices,
        quotedAt: DateTime,
        live: Live,
      }),
      { description: 'In the order asked for, each once.' },
    ),
    notFound: Type.Array(Type.String(), {
      description: 'Ids of no instrument of that venue, or without a row by then.',
    }),
    at: DateTime,
    mode: Mode,
  },
  { title: 'HistoryAsOf' },
);
