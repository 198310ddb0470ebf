/** All that the operator's page knows, in signals. It is forgotten with the token. */
import { effect, signal } from '@preact/signals';
import type {
  Adjustment,
  Changed,
  Discovery,
  Feeds,
  Key,
  KeysPage,
  Markets,
  Plan,
  Portfolio,
  Problems,
  Ready,
  Settlement,
  Shards,
  Switched,
  Trade,
  TradesPage,
  User,
  UsersPage,
} from '../../schemas/admin-types.ts';
import { CallError } from '../state/call-error.ts';
import { Loader, type Rows } from '../state/loaded.ts';
import { type Place, placeOf } from './place-text.ts';
import { Polled } from './polled.ts';
import { ask, startToken, token } from './token.ts';

/** The present place: the fragment of the page's address. */
export const place = signal<Place>(placeOf(location.hash));

const PICKS_MAX = 8;
export const SWITCHES = { venueData: 'admin/venue-data', trading: 'admin/trading' } as const;
export type SwitchName = keyof typeof SWITCHES;
/** `notReady`: the sentence of a server that accepts no requests now. */
type Health = Problems & { ready: Ready | null; notReady: string | null };

export const discovery = new Polled(() => ask<Discovery>('GET', 'admin/discovery'));
export const feeds = new Polled(() => ask<Feeds>('GET', 'admin/feeds'));
export const shards = new Polled(() => ask<Shards>('GET', 'admin/shards'));
export const health = new Polled<Health>(async () => {
  const [found, readiness] = await Promise.all([
    ask<Problems>('GET', 'admin/problems'),
    askReady(),
  ]);
  return { ...found, ...readiness };
});
export const switches = new Polled(async () => {
  const [venueData, trading] = await Promise.all([
    ask<Switched>('GET', SWITCHES.venueData),
    ask<Switched>('GET', SWITCHES.trading),
  ]);
  return { venueData: venueData.on, trading: trading.on };
});
export const users = new Loader((search: string) => askUsers(search, null));
export const user = new Loader(async (id: string) => {
  const { rows } = await askUsers(id, null, 1);
  const found = rows.find((one) => one.id === id.toLowerCase());
  if (found === undefined) throw new Error('No user has this id.');
  return found;
});
export const keys = new Loader((userId: string) => askKeys(userId, null));

export const portfolio = new Loader((userId: string) =>
  ask<Portfolio>('GET', `admin/users/${userId}/portfolio`),
);
export const trades = new Loader((userId: string) => askTrades(userId, null));

export function startOperator(): void {
  addEventListener('hashchange', () => {
    place.value = placeOf(location.hash);
  });
  startToken();
  effect(() => {
    if (token.value !== null) return;
    for (const known of [feeds, shards, health, switches, discovery]) known.clear();
    for (const known of [users, user, keys, portfolio, trades]) known.clear();
  });
}

export async function setSwitch(name: SwitchName, on: boolean): Promise<void> {
  await ask<Switched>('PUT', SWITCHES[name], { on });
  await switches.load();
}

export async function moreUsers(search: string, cursor: string): Promise<void> {
  const { rows, nextCursor } = await askUsers(search, cursor);
  users.change((now) =>
    now.nextCursor === cursor ? { rows: [...now.rows, ...rows], nextCursor } : now,
  );
}

export async function moreKeys(userId: string, cursor: string): Promise<void> {
  const { rows, nextCursor } = await askKeys(userId, cursor);
  keys.change((now) =>
    now.nextCursor === cursor ? { rows: [...now.rows, ...rows], nextCursor } : now,
  );
}

export async function moreTrades(userId: string, cursor: string): Promise<void> {
  const { rows, nextCursor } = await askTrades(userId, cursor);
  trades.change((now) =>
    now.nextCursor === cursor ? { rows: [...now.rows, ...rows], nextCursor } : now,
  );
}

/** The best matches, to pick one. */
export async function findUsers(search: string): Promise<readonly User[]> {
  return (await askUsers(search, null, PICKS_MAX)).rows;
}

export async function findMarkets(search: string): Promise<Markets['markets']> {
  const query = queryOf({ search, limit: String(PICKS_MAX) });
  return (await ask<Markets>('GET', `admin/markets?${query}`)).markets;
}

export async function changePlan(userId: string, plan: Plan): Promise<void> {
  const changed = await ask<Changed>('PATCH', `admin/users/${userId}`, { plan });
  user.change((now) => (now.id === changed.user.id ? changed.user : now));
}

/** @param correct it replaces the result that the market has */
export function settle(market: string, result: string, correct: boolean): Promise<Settlement> {
  return ask('POST', 'admin/settlements', { market, result, ...(correct && { correct }) });
}

export function adjust(userId: string, dollars: number): Promise<Adjustment> {
  return ask('POST', 'admin/adjustments', { userId, dollars });
}

async function askReady() {
  try {
    return { ready: await ask<Ready>('GET', 'readyz'), notReady: null };
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 503) throw error;
    return { ready: null, notReady: error.message };
  }
}

async function askUsers(search: string, cursor: string | null, limit = 50): Promise<Rows<User>> {
  const query = queryOf({ search, cursor, limit: String(limit) });
  const page = await ask<UsersPage>('GET', `admin/users?${query}`);
  return { rows: page.users, nextCursor: page.nextCursor };
}

async function askKeys(userId: string, cursor: string | null): Promise<Rows<Key>> {
  const page = await ask<KeysPage>('GET', `admin/keys?${queryOf({ userId, cursor })}`);
  return { rows: page.keys, nextCursor: page.nextCursor };
}

/** Each with its id as the rows of a table have it. */
async function askTrades(
  userId: string,
  cursor: string | null,
): Promise<Rows<Trade & { id: string }>> {
  const query = queryOf({ cursor });
  const page = await ask<TradesPage>('GET', `admin/users/${userId}/trades?${query}`);
  const rows = page.trades.map((trade) => ({ ...trade, id: trade.tradeId }));
  return { rows, nextCursor: page.nextCursor };
}

/** Null and empty fields are left out. */
function queryOf(given: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (value !== null && value !== '') query.set(name, value);
  }
  return query.toString();
}
