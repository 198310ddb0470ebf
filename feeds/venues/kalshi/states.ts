/**
 * Statuses, closing times and results by Kalshi's REST API. Rules W36, W71, W74, W75, W83,
 * W117 (feeds/FORMATS.md).
 */
import type { MarketStatus } from '../../../engine/base/units.ts';
import { priceE4OfCents, textOfNumber } from '../../reading/decimal.ts';
import { type Fields, fieldsOf, nameOf, pausedUnread, undecided } from '../../reading/frame.ts';
import { parseInstant } from '../../reading/instant.ts';
import type { AnswerTick, SettleOn, StateRequest, StateTick } from '../../reading/venue.ts';
import { doubted, provisional, resultTick } from './messages.ts';

const MARKETS_A_REQUEST = 100;

const STATUSES: ReadonlyMap<unknown, MarketStatus> = new Map<unknown, MarketStatus>([
  ['initialized', 'paused'],
  ['inactive', 'paused'],
  ['active', 'open'],
  ['open', 'open'],
  ['closed', 'closed'],
]);
const FINAL: ReadonlySet<unknown> = new Set(['settled', 'finalized']);
const DECIDED: ReadonlySet<unknown> = new Set(['determined', 'amended', ...FINAL]);

/** Below a base that ends in `/trade-api/v2`. */
export function kalshiStates(
  base: URL,
  markets: readonly string[],
  settleOn: SettleOn,
): StateRequest[] {
  const about = (tickers: readonly string[]): StateRequest => {
    const url = new URL(base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/markets`;
    url.searchParams.set('tickers', tickers.join(','));
    url.searchParams.set('limit', String(MARKETS_A_REQUEST));
    return {
      ...{ url, markets: tickers, namesAll: true, about },
      read: (answer) => ticksOf(answer, new Set(tickers), settleOn),
    };
  };
  const requests: StateRequest[] = [];
  for (let first = 0; first < markets.length; first += MARKETS_A_REQUEST) {
    requests.push(about(markets.slice(first, first + MARKETS_A_REQUEST)));
  }
  return requests;
}

function ticksOf(answer: unknown, asked: ReadonlySet<string>, settleOn: SettleOn): AnswerTick[] {
  const list = fieldsOf(answer)?.markets;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const market = fieldsOf(entry);
    const ticker = nameOf(market?.ticker);
    if (market === null || ticker === null || !asked.has(ticker)) return [];
    return stateOf(ticker, market, settleOn);
  });
}

function stateOf(market: string, fields: Fields, settleOn: SettleOn): AnswerTick[] {
  if (fields.status === 'disputed') return [doubted(market, 'disputed')];
  if (!DECIDED.has(fields.status)) {
    const status = STATUSES.get(fields.status);
    if (status === undefined) return pausedUnread(market, fields.status);
    const closesAtMs = parseInstant(fields.close_time);
    // A market that is open after its time is open, so its status is the last tick.
    return [
      ...(closesAtMs === null ? [] : [{ kind: 'closing', market, closesAtMs } as const]),
      { kind: 'status', market, status },
    ];
  }
  const stated = { result: fields.result, settlement_value: statedValue(fields) };
  const result = resultTick(market, stated);
  const isAmended = fields.status === 'amended';
  if (result === null && isAmended) return [doubted(market, 'amended')];
  // Decided, and nobody can say how: it is not traded on, and asked for again.
  if (result === null || typeof result === 'string') {
    const end = undecided(market, result ?? `${fields.status} without a result`);
    return [isAmended ? { ...end, doubt: 'amended' } : end];
  }
  if (FINAL.has(fields.status)) return [result];
  if (settleOn === 'settled') return [{ kind: 'status', market, status: 'closed' }];
  return [provisional(result) as StateTick];
}

/** In dollars; until 2026 there were whole cents beside it. */
function statedValue({ settlement_value_dollars, settlement_value }: Fields): unknown {
  const dollars = settlement_value_dollars ?? '';
  if (dollars !== '') return typeof dollars === 'number' ? textOfNumber(dollars) : dollars;
  const price = priceE4OfCents(settlement_value);
  return price === null ? settlement_value : (price / 10_000).toFixed(4);
}
