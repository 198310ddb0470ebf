/**
 * The operations that the page calls, by their names in api/client: method and path. api/client has
 * a table of all facts about every call, and runs them by it. That is 7 KB compressed, and this is
 * less than one. The types are api/client's. A name, method or path that differs from the
 * description does not compile.
 */
import type { OPERATIONS, Ops } from '../../client/generated.js';

type Described = typeof OPERATIONS;
type Lines = {
  readonly [Id in keyof Ops]?: `${Described[Id]['method']} ${Described[Id]['path']}`;
};

export const CALLS = {
  getMe: 'GET /me',
  changeMe: 'PATCH /me',
  listSessions: 'GET /me/sessions',
  endSession: 'DELETE /me/sessions/{id}',
  getUsage: 'GET /usage',
  listOrganizations: 'GET /organizations',
  listKeys: 'GET /api_keys',
  createKey: 'POST /api_keys',
  rotateKey: 'POST /api_keys/{id}/rotate',
  revokeKey: 'DELETE /api_keys/{id}',
  listTrackRecordKeys: 'GET /track-record/keys',
  listInstruments: 'GET /instruments',
  searchInstruments: 'GET /instruments/search',
  getInstrument: 'GET /instruments/{ref}',
  listGames: 'GET /games',
  getGame: 'GET /games/{ref}',
  getBook: 'GET /instruments/{ref}/book',
  getHistory: 'GET /history',
  getCandles: 'GET /history/candles',
  exportHistory: 'GET /history/export',
  getAccount: 'GET /account',
  resetAccount: 'POST /account/reset',
  runBacktest: 'POST /backtest',
  getPortfolio: 'GET /portfolio',
  listTrades: 'GET /portfolio/trades',
  getTradeReceipt: 'GET /portfolio/trades/{tradeId}/receipt',
  getOrderReceipt: 'GET /portfolio/orders/{orderId}/receipt',
  getEquity: 'GET /portfolio/equity',
  listOrders: 'GET /portfolio/orders',
  placeOrder: 'POST /portfolio/orders',
  cancelOrder: 'DELETE /portfolio/orders/{orderId}',
  cancelOrders: 'DELETE /portfolio/orders',
  previewOrder: 'POST /portfolio/orders/preview',
  getLeaderboard: 'GET /leaderboard',
  getEval: 'GET /eval',
  getOwnEval: 'GET /me/eval',
  getVerdict: 'GET /me/verdict',
  getTrader: 'GET /traders/{traderId}',
  listPicks: 'GET /traders/{traderId}/picks',
  getTrackRecord: 'GET /traders/{traderId}/track-record',
} as const satisfies Lines;

export type CallName = keyof typeof CALLS;
/** `path`, `query`, `body` and `headers`, as the call of this name takes them in api/client. */
export type Input<Name extends CallName> = Ops[Name]['args'];
export type Output<Name extends CallName> = Ops[Name]['result'];

type Parts = {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
};

/** Method and address of a call, below the base of the API. */
export function requestLine(name: CallName, { path = {}, query = {} }: Parts) {
  const [method, template] = CALLS[name].split(' ') as [string, string];
  const filled = template.replace(/\{(\w+)\}/g, (_, key: string) => {
    return encodeURIComponent(path[key]!);
  });
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, String(value));
  }
  return { method, address: search.size === 0 ? filled : `${filled}?${search}` };
}
