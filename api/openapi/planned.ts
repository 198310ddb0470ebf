/**
 * What version 1.11.0 of the API has, and which of it no route answers yet: the description says so,
 * and less of it as routes come. Rule A70 (api/RULES.md).
 */

/** Every operation, by the section in which a reader would look for it. */
export const PLANNED: Readonly<Record<string, readonly string[]>> = {
  Service: [
    'GET /status',
    'GET /openapi.json',
    'GET /me',
    'PATCH /me',
    'GET /me/sessions',
    'DELETE /me/sessions/{id}',
    'GET /usage',
    'GET /organizations',
  ],
  Keys: ['GET /api_keys', 'POST /api_keys', 'POST /api_keys/{id}/rotate', 'DELETE /api_keys/{id}'],
  Records: [
    'GET /leaderboard',
    'GET /traders/{traderId}',
    'GET /traders/{traderId}/picks',
    'GET /traders/{traderId}/track-record',
    'GET /track-record/keys',
    'GET /eval',
    'GET /me/eval',
  ],
  Account: ['GET /account', 'POST /account/reset'],
  Portfolio: [
    'GET /portfolio',
    'GET /portfolio/trades',
    'GET /portfolio/orders',
    'GET /portfolio/orders/{orderId}',
    'GET /portfolio/equity',
    'GET /portfolio/events',
  ],
  Markets: [
    'GET /instruments',
    'GET /instruments/search',
    'GET /instruments/{ref}',
    'GET /instruments/{ref}/quote',
    'GET /instruments/{ref}/book',
    'GET /games',
    'GET /games/{ref}',
    'GET /quotes',
  ],
  History: ['GET /history', 'GET /history/candles', 'GET /history/as_of', 'GET /history/export'],
  Backtest: ['POST /backtest'],
  Trading: [
    'POST /portfolio/orders',
    'DELETE /portfolio/orders/{orderId}',
    'DELETE /portfolio/orders',
    'POST /portfolio/orders/batch',
    'POST /portfolio/orders/preview',
  ],
  Stream: ['GET /stream'],
};

type Placed = { method: string; path: string };

/** A Markdown paragraph that names the operations missing from `routes`; empty when none is. */
export function missingText(routes: readonly Placed[]): string {
  const there = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const lines = Object.entries(PLANNED).flatMap(([section, operations]) => {
    const missing = operations.filter((operation) => !there.has(operation));
    const names = missing.map((operation) => `\`${operation}\``).join(', ');
    return missing.length === 0 ? [] : [`- ${section}: ${names}`];
  });
  if (lines.length === 0) return '';
  return `\n\n**Not there yet.** Of this version no route answers these, so that they are 404
\`route_not_found\` or 405 \`method_not_allowed\`:\n\n${lines.join('\n')}`;
}
