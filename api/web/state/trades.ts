/** The trades of the account that is shown, page by page, and as they change. */
import { effect, signal } from '@preact/signals';
import type { Trade } from '../../client/generated.js';
import { type AccountId, ofAccount } from './account-id.ts';
import { call } from './calls.ts';
import type { ShownEvent } from './event-words.ts';
import { connection } from './live.ts';
import { type Loaded, Loader, type Rows } from './loaded.ts';
import { report } from './problems.ts';
import { shownEvents } from './shown-account.ts';
import { type TradeFilter, tradesQuery, withTrade } from './trade-list.ts';

const PAGE_ROWS = 50;
/**
 * A page may be empty although there are more. So many are asked for before the user must ask
 * again.
 */
const EMPTY_PAGES_MAX = 10;

type Asked = { account: AccountId; filter: TradeFilter };

const loader = new Loader((asked: Asked) => nextRows(asked, null));
export function tradesOf(account: AccountId, filter: TradeFilter): Loaded<Rows<Trade>> {
  return loader.of({ account, filter });
}
/** Labels of instruments by their ids, of all trades that were here. */
export const tradedInstruments = signal<ReadonlyMap<string, string>>(new Map());

let current: Asked | null = null;

/** Lists them and keeps the list current, until the returned function is called. */
export function followTrades(account: AccountId, filter: TradeFilter): () => void {
  const asked = { account, filter };
  if (current !== null && current.account !== account) tradedInstruments.value = new Map();
  current = asked;
  void loader.load(asked);
  let seen: readonly ShownEvent[] = shownEvents.peek();
  const endEvents = effect(() => {
    const now = shownEvents.value;
    for (const event of newOf(seen, now)) takeEvent(asked, event);
    seen = now;
  });
  let isLost = false;
  const endConnection = effect(() => {
    const { state } = connection.value;
    // Some events may have been missed meanwhile.
    if (state === 'open' && isLost) void loader.load(asked);
    isLost = state !== 'open';
  });
  return () => {
    endEvents();
    endConnection();
  };
}

export function forgetTrades(): void {
  current = null;
  loader.clear();
  tradedInstruments.value = new Map();
}

export async function reloadTrades(): Promise<void> {
  if (current !== null) await loader.load(current);
}

/** The next page, after the pages that are listed. */
export async function loadMoreTrades(): Promise<void> {
  const { value: now } = loader.now;
  const asked = current;
  if (asked === null || now.state !== 'ready' || now.value.nextCursor === null) return;
  try {
    const page = await nextRows(asked, now.value.nextCursor);
    if (current !== asked) return;
    loader.change(({ rows }) => {
      const known = new Set(rows.map(({ tradeId }) => tradeId));
      const more = page.rows.filter(({ tradeId }) => !known.has(tradeId));
      return { rows: [...rows, ...more], nextCursor: page.nextCursor };
    });
  } catch (error) {
    report(error);
  }
}

/** @param limit rows of a page, at most 200 */
export async function tradesPage(
  { account, filter }: Asked,
  cursor: string | null,
  limit: number,
): Promise<Rows<Trade>> {
  const query = { ...tradesQuery(filter), limit, ...(cursor === null ? {} : { cursor }) };
  const page = await call('listTrades', { query, ...ofAccount(account) });
  return { rows: page.trades, nextCursor: page.nextCursor };
}

async function nextRows(asked: Asked, cursor: string | null): Promise<Rows<Trade>> {
  let page = await tradesPage(asked, cursor, PAGE_ROWS);
  for (let count = 1; count < EMPTY_PAGES_MAX; count++) {
    if (page.rows.length > 0 || page.nextCursor === null) break;
    page = await tradesPage(asked, page.nextCursor, PAGE_ROWS);
  }
  noteInstruments(page.rows);
  return page;
}

function takeEvent(asked: Asked, event: ShownEvent): void {
  const { filter } = asked;
  // Which filter its trade passes now is asked for.
  if (event.type === 'trade_corrected') void loader.load(asked);
  if (event.type === 'trade_corrected' || !('trade' in event)) return;
  noteInstruments([event.trade]);
  loader.change(({ rows, nextCursor }) => {
    return { rows: withTrade(rows, event.trade, filter, nextCursor !== null), nextCursor };
  });
}

/** The oldest first. */
function newOf(before: readonly ShownEvent[], now: readonly ShownEvent[]): ShownEvent[] {
  const known = new Set(before);
  return now.filter((event) => !known.has(event)).reverse();
}

function noteInstruments(of: readonly Trade[]): void {
  const all = new Map(tradedInstruments.peek());
  for (const { instrumentId, instrumentLabel } of of) {
    if (instrumentId !== null) all.set(instrumentId, instrumentLabel ?? instrumentId);
  }
  if (all.size > tradedInstruments.peek().size) tradedInstruments.value = all;
}
