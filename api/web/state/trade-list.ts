/** The list of trades: its filters, and how an event changes it. */
import type { Trade } from '../../client/generated.js';

export const TRADE_STATUSES = ['open', 'closed', 'settled', 'void'] as const;
type FilterStatus = (typeof TRADE_STATUSES)[number];

/** Null: all of them. */
export type TradeFilter = {
  status: FilterStatus | null;
  instrumentId: string | null;
  /** Days of the browser's own zone, `2026-11-24`, in which a trade was opened: both are included. */
  from: string | null;
  to: string | null;
};

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** @param query of the address; fields that are no filter are left out */
export function tradeFilterOf(query: Readonly<Record<string, string>>): TradeFilter {
  const { status, instrument, from, to } = query;
  return {
    status: TRADE_STATUSES.find((one) => one === status) ?? null,
    instrumentId: /^ins_\w{12}$/.test(instrument ?? '') ? instrument! : null,
    from: isDay(from) ? from : null,
    to: isDay(to) ? to : null,
  };
}

export function addressOfFilter({ status, instrumentId, from, to }: TradeFilter) {
  return { status, instrument: instrumentId, from, to };
}

export function isFiltered(filter: TradeFilter): boolean {
  return Object.values(filter).some((one) => one !== null);
}

/** The query of `GET /portfolio/trades`: a day begins at its midnight in the browser's zone. */
export function tradesQuery(filter: TradeFilter) {
  const { status, instrumentId } = filter;
  const { fromMs, toMs } = boundsOf(filter);
  return {
    ...(status === null ? {} : { status }),
    ...(instrumentId === null ? {} : { instrumentId }),
    ...(fromMs === null ? {} : { from: new Date(fromMs).toISOString() }),
    ...(toMs === null ? {} : { to: new Date(toMs).toISOString() }),
  };
}

/** The filter names no day at all: its first day is after its last day. */
export function isBackwards({ from, to }: TradeFilter): boolean {
  return from !== null && to !== null && from > to;
}

/**
 * The list, newest opened first, after one of its trades has changed or has been opened.
 *
 * @param hasMore there are older ones on later pages
 */
export function withTrade(
  trades: readonly Trade[],
  changed: Trade,
  filter: TradeFilter,
  hasMore: boolean,
): readonly Trade[] {
  const at = trades.findIndex(({ tradeId }) => tradeId === changed.tradeId);
  if (!matches(filter, changed)) return at < 0 ? trades : trades.toSpliced(at, 1);
  if (at >= 0) return trades.with(at, changed);
  const openedMs = Date.parse(changed.openedAt);
  const before = trades.findIndex(({ openedAt }) => Date.parse(openedAt) <= openedMs);
  if (before >= 0) return trades.toSpliced(before, 0, changed);
  return hasMore ? trades : [...trades, changed];
}

function matches(filter: TradeFilter, { status, instrumentId, openedAt }: Trade): boolean {
  const openedMs = Date.parse(openedAt);
  const { fromMs, toMs } = boundsOf(filter);
  return (
    (filter.status === null || status === filter.status) &&
    (filter.instrumentId === null || instrumentId === filter.instrumentId) &&
    (fromMs === null || openedMs >= fromMs) &&
    (toMs === null || openedMs < toMs)
  );
}

function boundsOf({ from, to }: TradeFilter) {
  return {
    fromMs: from === null ? null : midnightMs(from, 0),
    toMs: to === null ? null : midnightMs(to, 1),
  };
}

/** A day is not 24 hours long everywhere and always. */
function midnightMs(day: string, later: number): number {
  const [, year, month, date] = DAY.exec(day)!.map(Number) as [number, number, number, number];
  return new Date(year, month - 1, date + later).getTime();
}

function isDay(text: string | undefined): text is string {
  const match = DAY.exec(text ?? '');
  if (match === null) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  // Of 1900 and before, a Date reads two digits as another year.
  return year >= 1970 && new Date(year, month - 1, day).getDate() === day && month <= 12;
}
