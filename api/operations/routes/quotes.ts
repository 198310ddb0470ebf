/** Live quotes, by ids or of one instrument, and books. Rules A50, A53, A84, V2 (api/RULES.md). */

import { isoOf } from '../../../engine/base/units.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import { InstrumentId, NoQuery } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Result, type Route } from '../../dispatch/route.ts';
import { BookAnswer } from '../../schemas/book.ts';
import { QUOTE } from '../../schemas/examples.ts';
import { InstrumentRef, QuoteAnswer, QuotesAnswer, QuotesQuery } from '../../schemas/markets.ts';
import type { ServerContext } from '../server-context.ts';

type QuoteContext = { engine: Pick<Engine, 'nowMs' | 'quote' | 'coalesce'> };
type Context = QuoteContext & Pick<ServerContext, 'catalog'>;

/** Rule A50 (api/RULES.md). */
const IDS_MAX = 20;
const QUOTED = { crossVenue: QUOTE.crossVenue, asOf: QUOTE.asOf, mode: 'paper' } as const;
const INSTRUMENT_ID = new RegExp(InstrumentId.pattern!);

export function quoteRoutes(context: Context): Route<Caller>[] {
  return [listQuotes(context), getQuote(context), getBook(context)];
}

/** Quotes by ids alone, which needs no catalog. */
export function listQuotes({ engine }: QuoteContext): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/quotes',
    about: {
      operationId: 'listQuotes',
      tag: 'Markets',
      summary: 'Live quotes of up to 20 instruments',
      description: 'Counts as one request per instrument.',
      example: { quotes: [QUOTE], notFound: [], ...QUOTED },
    },
    scope: 'markets:read',
    isPublic: true,
    needs: 'venueData',
    mayBeUnavailable: true,
    query: QuotesQuery,
    response: QuotesAnswer,
    prepare: ({ ids }) => idsOf(ids),
    requestsOf: (ids) => ids.length,
    run: ({ query: ids }, waiter) => {
      const find = async () => {
        const nowMs = engine.nowMs();
        const replies = await Promise.all(
          ids.map((id) => (INSTRUMENT_ID.test(id) ? engine.quote(id, nowMs) : NOT_FOUND)),
        );
        return quotesText(ids, replies, isoOf(nowMs));
      };
      return engine.coalesce(`quotes ${ids.join()}`, find, waiter);
    },
  });
}

function getQuote({ catalog, engine }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/instruments/{ref}/quote',
    about: {
      operationId: 'getQuote',
      tag: 'Markets',
      summary: 'The live quote of one instrument',
      param: InstrumentRef,
      example: { quote: QUOTE, ...QUOTED },
    },
    errors: ['instrument_not_found'],
    scope: 'markets:read',
    isPublic: true,
    needs: 'venueData',
    mayBeUnavailable: true,
    query: NoQuery,
    response: QuoteAnswer,
    run: ({ param }, waiter) => {
      const entry = catalog.instrument(param);
      if (entry === undefined) throw new ApiError('instrument_not_found');
      const find = async () => {
        const nowMs = engine.nowMs();
        const reply = await engine.quote(entry.id, nowMs);
        return reply.ok ? quoteText(reply.body, isoOf(nowMs)) : reply;
      };
      return engine.coalesce(`quote of ${entry.id}`, find, waiter);
    },
  });
}

function getBook({ catalog, engine }: Context): Route<Caller> {
  return keyed({
    method: 'GET',
    path: '/instruments/{ref}/book',
    about: {
      operationId: 'getBook',
      tag: 'Markets',
      summary: 'The displayed levels of one instrument',
      description:
        'Of its venue_a market, in the terms of the instrument, best first. Both sides are empty ' +
        'while the market has no live price. A server that fills orders at the top of the book ' +
        'keeps one level a side.',
      param: InstrumentRef,
      example: {
        instrumentId: QUOTE.instrumentId,
        venue: 'venue_a',
        yesBids: [[41, 100]],
        yesAsks: [[44, 250]],
        asOf: QUOTE.asOf,
        mode: 'paper',
      },
    },
    errors: ['instrument_not_found'],
    scope: 'markets:read',
    isPublic: true,
    needs: 'venueData',
    mayBeUnavailable: true,
    query: NoQuery,
    response: BookAnswer,
    run: ({ param }, waiter) => {
      const entry = catalog.instrument(param);
      if (entry === undefined) throw new ApiError('instrument_not_found');
      const find = async () => {
        const nowMs = engine.nowMs();
        const reply = await engine.quote(entry.id, nowMs, 'book');
        return reply.ok ? `${reply.body.slice(0, -1)},${tail(isoOf(nowMs))}}` : reply;
      };
      return engine.coalesce(`book of ${entry.id}`, find, waiter);
    },
  });
}

const NOT_FOUND: Reply = { ok: false, code: 'instrument_not_found', message: '' };

function quoteText(quote: string, asOf: string): Result {
  return `{"quote":${quote},"crossVenue":${isCrossVenue(quote)},${tail(asOf)}}`;
}

/** The requested ids, each once, in order. */
function idsOf(text: string): string[] {
  const named = text.split(',');
  const ids = named.length === 1 ? named : [...new Set(named)];
  if (ids.includes('')) throw invalidRequest('ids must not have an empty id');
  if (ids.length > IDS_MAX) throw invalidRequest(`ids must have at most ${IDS_MAX} ids`);
  return ids;
}

function quotesText(ids: string[], replies: Reply[], asOf: string): Result {
  const quotes: string[] = [];
  const notFound: string[] = [];
  for (const [i, reply] of replies.entries()) {
    if (reply.ok) quotes.push(reply.body);
    else if (reply.code === 'instrument_not_found') notFound.push(ids[i]!);
    else return reply;
  }
  const crossVenue = quotes.some(isCrossVenue);
  return (
    `{"quotes":[${quotes.join(',')}],"notFound":${JSON.stringify(notFound)},` +
    `"crossVenue":${crossVenue},${tail(asOf)}}`
  );
}

/** Reads from the JSON text: the quotation marks inside a JSON string are escaped. */
function isCrossVenue(quote: string): boolean {
  return quote.includes('"crossVenue":true');
}

const tail = (asOf: string) => `"asOf":"${asOf}","mode":"paper"`;
