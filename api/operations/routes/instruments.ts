/** Instruments: list, search, one, and its quote. Rules A45 to A47 (api/RULES.md). */

import { nextCursorOf } from '../../../engine/base/cursors.ts';
import { isoOf } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { placeOf, tagOf } from '../../base/cursors.ts';
import { ApiError } from '../../base/errors.ts';
import { INSTRUMENT_PLACE, type Page, takeAskedPage, takePage } from '../../base/paging.ts';
import { type InstrumentEntry, instrumentText } from '../../catalog/catalog-view.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { ENVELOPE, INSTRUMENT } from '../../schemas/examples.ts';
import {
  InstrumentAnswer,
  InstrumentRef,
  InstrumentSearchAnswer,
  InstrumentSearchQuery,
  InstrumentsAnswer,
  type InstrumentsFilter,
  InstrumentsQuery,
} from '../../schemas/markets.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog' | 'search' | 'switches'>;

export function instrumentRoutes(context: Context): Route<Caller>[] {
  return [listInstruments(context), searchInstruments(context), getInstrument(context)];
}

function listInstruments(context: Context): Route<Caller> {
  const { catalog, engine } = context;
  return keyed({
    method: 'GET',
    path: '/instruments',
    about: {
      operationId: 'listInstruments',
      tag: 'Markets',
      summary: 'Instruments, earliest start first',
      example: { instruments: [INSTRUMENT], count: 1, nextCursor: null, ...ENVELOPE },
    },
    errors: ['venue_data_off'],
    scope: 'markets:read',
    isPublic: true,
    mayBeUnavailable: true,
    query: InstrumentsQuery,
    response: InstrumentsAnswer,
    prepare: (query) => {
      const tag = tagOf('instruments', query);
      return { ...query, tag, after: placeOf(tag, query.cursor, INSTRUMENT_PLACE) };
    },
    // The catalog is here; prices are the engine's.
    asksFor: ({ priced }) => priced !== undefined,
    run: ({ query }) => {
      const { after, limit, priced, tag } = query;
      const nowMs = engine.nowMs();
      const wanted = query.tradable === undefined ? null : query.tradable === 'true';
      const isMatch = (entry: InstrumentEntry) =>
        matches(entry, query) && (wanted === null || catalog.isTradable(entry, nowMs) === wanted);
      const textOf = ({ rows, next }: Page<InstrumentEntry>) => {
        const cursor = nextCursorOf(tag, next, INSTRUMENT_PLACE);
        return listText(context, rows, `"nextCursor":${JSON.stringify(cursor)},`);
      };
      const all = catalog.instruments();
      if (priced === undefined) return textOf(takePage(all, after, limit, isMatch));
      context.switches.requireVenueData();
      const ask = (rows: readonly InstrumentEntry[] | null) =>
        arePriced(context, rows, priced === 'true');
      return takeAskedPage(all, after, limit, isMatch, ask).then((page) => {
        context.switches.requireVenueData();
        return textOf(page);
      });
    },
  });
}

/** Which of these, or of all, have a live price at venue_a now, or which have none. */
async function arePriced(
  { engine }: Context,
  rows: readonly InstrumentEntry[] | null,
  wanted: boolean,
): Promise<(entry: InstrumentEntry) => boolean> {
  const numbers = rows?.map(({ number }) => number) ?? null;
  const reply = await engine.priced(numbers, engine.nowMs());
  if (!reply.ok) throw new ApiError(reply.code, { message: reply.message });
  const bits = Buffer.from((JSON.parse(reply.body) as { priced: string }).priced, 'base64');
  const isSet = (at: number) => ((bits[at >> 3]! >> (at & 7)) & 1) === 1;
  if (numbers === null) return ({ number }) => isSet(number) === wanted;
  const places = new Map(numbers.map((number, at) => [number, at]));
  return ({ number }) => isSet(places.get(number)!) === wanted;
}

function searchInstruments(context: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/instruments/search',
    about: {
      operationId: 'searchInstruments',
      tag: 'Markets',
      summary: 'Instruments by words, best match first, tradable ones first of equal matches',
      example: { instruments: [INSTRUMENT], count: 1, ...ENVELOPE },
    },
    scope: 'markets:read',
    isPublic: true,
    query: InstrumentSearchQuery,
    response: InstrumentSearchAnswer,
    run: ({ query }) => {
      const { q, limit, ...filter } = query;
      return listText(
        context,
        context.search.find(q, filter, limit, context.switches.venueData, context.engine.nowMs()),
        '',
      );
    },
  });
}

function getInstrument({ catalog, engine, switches }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/instruments/{ref}',
    about: {
      operationId: 'getInstrument',
      tag: 'Markets',
      summary: 'One instrument',
      param: InstrumentRef,
      example: { instrument: INSTRUMENT, ...ENVELOPE },
    },
    errors: ['instrument_not_found'],
    scope: 'markets:read',
    isPublic: true,
    query: NoQuery,
    response: InstrumentAnswer,
    run: ({ param }) => {
      const entry = catalog.instrument(param);
      if (entry === undefined) throw new ApiError('instrument_not_found');
      const nowMs = engine.nowMs();
      const text = instrumentText(entry, switches.venueData, nowMs);
      return `{"instrument":${text},${envelopeText(switches.venueData, isoOf(nowMs))}}`;
    },
  });
}

function matches(entry: InstrumentEntry, query: InstrumentsFilter): boolean {
  const { instrument, game } = entry;
  return (
    (query.league === undefined || instrument.league === query.league) &&
    (query.gameId === undefined || game?.id === query.gameId) &&
    (query.marketType === undefined || instrument.marketType === query.marketType) &&
    (query.status === undefined || game?.status === query.status)
  );
}

function listText(
  { engine, switches }: Context,
  rows: readonly InstrumentEntry[],
  cursorText: string,
): string {
  const { venueData } = switches;
  const nowMs = engine.nowMs();
  const texts = rows.map((entry) => instrumentText(entry, venueData, nowMs)).join(',');
  const envelope = envelopeText(venueData, isoOf(nowMs));
  return `{"instruments":[${texts}],"count":${rows.length},${cursorText}${envelope}}`;
}

/** The fields after the rows that instrument and game answers share. */
export function envelopeText(venueData: boolean, asOf: string): string {
  return `"venueData":${venueData},"asOf":"${asOf}","mode":"paper"`;
}
