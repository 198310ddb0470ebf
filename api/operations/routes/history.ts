/**
 * Past prices: rows, candles, the state at a moment, exports; of this server's own history, or of a
 * service. Rules H6 to H21, H30, V9 (api/RULES.md).
 */
import type { Static, TObject } from '@sinclair/typebox';
import { WHOLE_NUMBER } from '../../../engine/base/cursors.ts';
import type { EpochMs, Venue } from '../../../engine/base/units.ts';
import type {
  AsOfQuestion,
  ExportQuestion,
  NamedSeries,
  HistoryAnswer as Piece,
  Question,
} from '../../../engine/history/questions.ts';
import type { Asker } from '../../../engine/threads/fair-turns.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { instantIn, windowIn } from '../../base/instants.ts';
import { queryReader } from '../../base/validation.ts';
import type { CatalogView } from '../../catalog/catalog-view.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Result, type Route } from '../../dispatch/route.ts';
import { CodedBody } from '../../http/asset.ts';
import { headerLines } from '../../http/header-lines.ts';
import { StreamedBody } from '../../http/streamed-body.ts';
import type { EmbeddedHistory, ForwardedHistory } from '../../read-side/history-source.ts';
import {
  CandlesAnswer,
  CandlesQuery,
  ExportQuery,
  ExportText,
  HistoryAnswer,
  HistoryAsOfAnswer,
  HistoryAsOfQuery,
  HistoryQuery,
} from '../../schemas/history.ts';
import {
  CANDLES_EXAMPLE,
  EXPORT_EXAMPLE,
  HISTORY_AS_OF_EXAMPLE,
  HISTORY_EXAMPLE,
} from '../../schemas/history-examples.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog' | 'history' | 'switches'>;

const AS_OF_IDS_MAX = 20;

export function historyRoutes(context: Context): Route<Caller>[] {
  return [historyRoute(context), candlesRoute(context), asOfRoute(context), exportRoute(context)];
}

const SHARED = {
  method: 'GET',
  scope: 'markets:read',
  needs: 'venueData',
  mayBeUnavailable: true,
} as const;

function historyRoute(context: Context): Route<Caller> {
  return keyed({
    ...SHARED,
    path: '/history',
    isPublic: true,
    about: {
      operationId: 'getHistory',
      tag: 'History',
      summary: 'Every change of the top of book, and the gaps',
      description:
        'A row is the state of a Quote from its time on. If there are more than 1,000 gaps, each ' +
        'page has its own.',
      example: HISTORY_EXAMPLE,
    },
    errors: ['market_not_found', 'not_configured'],
    ...queryOf(context, HistoryQuery, (query) => ({
      ...query,
      ...windowOf(query),
      ...placeIn('history', query),
    })),
    response: HistoryAnswer,
    run: ({ query, caller }) =>
      answered(context, '/history', query, (history, { order, limit, tag, cursor, ...series }) =>
        textOf(history, caller, {
          kind: 'quotes',
          ...seriesOf(context, history, series),
          order,
          limit,
          tag,
          cursor,
        }),
      ),
  });
}

function candlesRoute(context: Context): Route<Caller> {
  return keyed({
    ...SHARED,
    path: '/history/candles',
    isPublic: true,
    about: {
      operationId: 'getCandles',
      tag: 'History',
      summary: 'Candles without holes, from the first row to now',
      description: 'from and to limit the start times of candles.',
      example: CANDLES_EXAMPLE,
    },
    errors: ['market_not_found', 'not_configured'],
    ...queryOf(context, CandlesQuery, (query) => ({
      ...query,
      ...windowOf(query),
      ...placeIn('candles', query),
    })),
    response: CandlesAnswer,
    run: ({ query, caller }) =>
      answered(
        context,
        '/history/candles',
        query,
        (history, { interval, limit, tag, cursor, ...series }) =>
          textOf(history, caller, {
            kind: 'candles',
            ...seriesOf(context, history, series),
            interval,
            limit,
            tag,
            cursor,
          }),
      ),
  });
}

function asOfRoute(context: Context): Route<Caller> {
  return keyed({
    ...SHARED,
    path: '/history/as_of',
    about: {
      operationId: 'getHistoryAsOf',
      tag: 'History',
      summary: 'Quotes as they were at a moment',
      example: HISTORY_AS_OF_EXAMPLE,
    },
    errors: ['not_configured'],
    ...queryOf(context, HistoryAsOfQuery, ({ instrumentIds, at, venue }) => {
      const atMs = instantIn('at', at)!;
      if (atMs > context.engine.nowMs()) throw invalidRequest('at must not be in the future');
      return { ids: idsOf(instrumentIds), atMs, venue };
    }),
    response: HistoryAsOfAnswer,
    run: ({ query, caller }) =>
      answered(context, '/history/as_of', query, (history, asked) =>
        textOf(history, caller, asOfQuestion(context, history, asked)),
      ),
  });
}

function exportRoute(context: Context): Route<Caller> {
  return keyed({
    ...SHARED,
    path: '/history/export',
    about: {
      operationId: 'exportHistory',
      tag: 'History',
      summary: 'A whole series as CSV or NDJSON',
      description:
        'Sent as fast as the client reads. A broken transfer ends without its last chunk.',
      example: EXPORT_EXAMPLE,
    },
    errors: ['market_not_found', 'not_configured'],
    ...queryOf(context, ExportQuery, (query) => {
      if (query.interval !== undefined && query.dataset !== 'candles') {
        throw invalidRequest('interval belongs to dataset candles');
      }
      return { ...query, ...windowOf(query) };
    }),
    response: ExportText,
    streamed: ['text/csv; charset=utf-8', 'application/x-ndjson'],
    run: ({ query, caller }) => {
      const source = configured(context);
      if (source.kind === 'forwarded') {
        return exported(context, source.stream('/history/export', query as string));
      }
      const {
        dataset,
        format,
        interval = '1m',
        ...series
      } = query as Exclude<typeof query, string>;
      const named = seriesOf(context, source, series);
      const question = { ...named, dataset, format, interval, cursor: null };
      return exported(context, exportOf(source, caller.user.id, { kind: 'export', ...question }));
    },
  });
}

/** The reader of a query: as text where a service owns it. */
function queryOf<Q extends TObject, P>(context: Context, query: Q, read: (query: Static<Q>) => P) {
  const parse = queryReader(query);
  return {
    query,
    readQuery: (text: string): P | string =>
      context.history.kind === 'forwarded' ? text : read(parse(text)),
  };
}

async function answered<P extends object>(
  context: Context,
  path: string,
  query: P | string,
  embedded: (history: EmbeddedHistory, query: P) => Promise<Result>,
): Promise<Result> {
  const source = configured(context);
  const found =
    source.kind === 'embedded'
      ? await embedded(source, query as P)
      : new CodedBody(null, await source.json(path, query as string));
  // Prices that were read while venue data was on are not sent once it is off. Rule V9.
  context.switches.requireVenueData();
  return found;
}

/** An export breaks off if venue data is turned off. Rule V9. */
async function exported(
  { switches }: Context,
  whole: Promise<StreamedBody>,
): Promise<StreamedBody> {
  const body = await whole;
  switches.requireVenueData();
  return body.checkedBy(() => switches.requireVenueData());
}

function configured({ history }: Context): EmbeddedHistory | ForwardedHistory {
  if (history.kind === 'off') throw new ApiError('not_configured');
  return history;
}

async function textOf(
  history: EmbeddedHistory,
  { user }: Caller,
  question: Question,
): Promise<string> {
  return (await history.ask(user.id, question)).text;
}

type Asked = { instrumentId?: string; ticker?: string; from?: string; to?: string };

/** The checks of a series that no schema can make, and its window. Throws the 400. */
function windowOf({ instrumentId, ticker, from, to }: Asked): { fromMs: EpochMs; toMs: EpochMs } {
  if ((instrumentId === undefined) === (ticker === undefined)) {
    throw invalidRequest('exactly one of instrumentId and ticker must be given');
  }
  const { fromMs, toMs } = windowIn({ from, to });
  return { fromMs: fromMs ?? 0, toMs: toMs ?? Number.POSITIVE_INFINITY };
}

/** Where a page begins, and the tag of the query's cursors. Throws the 400. */
function placeIn(list: string, query: { cursor?: string }) {
  const tag = tagOf(list, query);
  return { tag, cursor: placeOf(tag, query.cursor, WHOLE_NUMBER) };
}

type Named = {
  instrumentId?: string;
  ticker?: string;
  venue: Venue;
  fromMs: EpochMs;
  toMs: EpochMs;
};

function seriesOf(
  { catalog, engine }: Context,
  history: EmbeddedHistory,
  named: Named,
): NamedSeries {
  const { instrumentId, ticker, venue, fromMs, toMs } = named;
  const window = { venue, fromMs, toMs, nowMs: engine.nowMs() };
  if (instrumentId !== undefined) {
    const listed = listingOf(catalog, history, instrumentId, venue);
    if (listed === null) throw new ApiError('market_not_found');
    return { ...window, ...listed };
  }
  const market = history.marketNumber(venue, ticker!);
  if (market === undefined) throw new ApiError('market_not_found');
  return { ...window, instrumentId: null, market, polarity: 1 };
}

/** The market that an instrument is listed as at a venue; null: none. */
function listingOf(
  catalog: CatalogView,
  history: EmbeddedHistory,
  instrumentId: string,
  venue: Venue,
) {
  const entry = catalog.instrument(instrumentId);
  const listing = entry?.instrument.listings.find((each) => each.venue === venue);
  if (entry?.id !== instrumentId || listing === undefined) return null;
  const market = history.marketNumber(venue, listing.venueMarketId);
  return market === undefined ? null : { instrumentId, market, polarity: listing.polarity };
}

function asOfQuestion(
  { catalog, engine }: Context,
  history: EmbeddedHistory,
  { ids, atMs, venue }: { ids: string[]; atMs: EpochMs; venue: Venue },
): AsOfQuestion {
  const listed = ids.map((id) => listingOf(catalog, history, id, venue));
  return {
    kind: 'as_of',
    venue,
    atMs,
    nowMs: engine.nowMs(),
    instruments: listed.filter((each) => each !== null),
    notFound: ids.filter((_, at) => listed[at] === null),
  };
}

/** Each once, in order. */
function idsOf(text: string): string[] {
  const ids = [...new Set(text.split(','))];
  if (ids.includes('')) throw invalidRequest('instrumentIds must not have an empty id');
  if (ids.length > AS_OF_IDS_MAX) {
    throw invalidRequest(`instrumentIds must have at most ${AS_OF_IDS_MAX} ids`);
  }
  return ids;
}

const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/**
 * An export, whose first piece exists; an unanswerable one was refused before. The next piece is
 * asked for once the caller has taken the one before.
 */
async function exportOf(
  history: EmbeddedHistory,
  asker: Asker,
  question: ExportQuestion,
): Promise<StreamedBody> {
  const { dataset, format } = question;
  let piece: Piece | null = await history.ask(asker, question);
  const headers = headerLines([
    ...['Content-Type', TYPES[format]],
    ...['Content-Disposition', `attachment; filename="${dataset}.${format}"`],
  ]);
  return new StreamedBody(headers, {
    async next() {
      const given = piece;
      if (given === null) return null;
      const { text, next } = given;
      piece = next === null ? null : await history.ask(asker, { ...question, cursor: next });
      return text;
    },
    cancel() {
      piece = null;
    },
  });
}
