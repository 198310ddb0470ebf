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
  listed,
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
      description: 'Prices are in its terms. Send exactly one of instrumentId and ticker.',
      examples: [INSTRUMENT_ID],
    }),
  ),
  ticker: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 160,
      description: 'Ticker of a venue market; prices are for its yes.',
    }),
  ),
  venue: oneOf(VENUES, {
    default: 'venue_a',
    description: 'Whose prices.',
  }),
  from: Type.Optional(Instant('rows at or after this time')),
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
  instrumentIds: listed('One to 20 ids, separated by commas.', 640),
  at: Instant('the moment to show'),
  venue: Series.venue,
});

export const ExportQuery = strict({
  ...Series,
  dataset: oneOf(DATASETS, { default: 'quotes', description: 'Data to export.' }),
  interval: Type.Optional(oneOf(INTERVALS, { description: 'Length of candles; default 1m.' })),
  format: oneOf(EXPORT_FORMATS, { default: 'csv', description: 'CSV has a header line.' }),
});

const Prices = {
  yesBidCents: nullable(PriceCents),
  yesAskCents: nullable(PriceCents),
  yesBidContracts: nullable(Count),
  yesAskContracts: nullable(Count),
};
const Live = Type.Boolean({
  description: 'Whether a Quote showed a price. If false, all prices are null.',
});

const HistoryRow = strict({ at: DateTime, ...Prices, live: Live }, { title: 'HistoryRow' });

const Gap = strict(
  {
    from: DateTime,
    to: nullable(DateTime, {
      description: 'Time when the price was live again; null while the gap is open.',
    }),
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
    gaps: Type.Array(Gap, { description: 'Gaps between from and to, oldest first.' }),
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
    mid: nullable(Ohlc, { description: 'Covers times when both sides had a price.' }),
    trades: nullable(
      strict({
        count: Count,
        contracts: Count,
        open: Cents,
        high: Cents,
        low: Cents,
        close: Cents,
        vwapCents: nullable(Cents, { description: 'Null if no whole contract traded.' }),
      }),
    ),
    quotes: Type.Integer({ minimum: 0, description: 'Number of rows in the candle.' }),
    liveSeconds: Type.Number({ minimum: 0, description: 'Seconds with a live price.' }),
    complete: Type.Optional(
      Type.Boolean({ description: 'Present only in the unfinished last candle, as false.' }),
    ),
  },
  { title: 'Candle' },
);

export const CandlesAnswer = strict(
  {
    ...SeriesId,
    interval: oneOf(INTERVALS, { title: 'Interval' }),
    candles: Type.Array(Candle),
    gaps: Type.Array(Gap, { description: 'Gaps that overlap the listed candles, oldest first.' }),
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
      { description: 'In the requested order, each once.' },
    ),
    notFound: Type.Array(Type.String(), {
      description: 'Ids without an instrument at this venue, or without a row by this time.',
    }),
    at: DateTime,
    mode: Mode,
  },
  { title: 'HistoryAsOf' },
);
