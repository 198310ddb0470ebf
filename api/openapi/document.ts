/**
 * The OpenAPI description of the API, generated from the routes that run it and the schemas that
 * validate it. Rule A70 (api/RULES.md).
 */
import type { Tag } from '../dispatch/route.ts';
import { Components } from './components.ts';
import { HEADER_COMPONENTS, headersTable } from './headers.ts';
import { type Described, operationOf } from './operation.ts';
import { SHARED } from './parts.ts';

/** The version of the description. */
export const DESCRIPTION_VERSION = '1.11.0';

const TAGS: Record<Tag, string> = {
  Service: 'The service itself, and the caller.',
  Keys: "A person's API keys. Needs a signed-in session, never a key.",
  Records: 'Boards, traders and picks. Needs the scope records:read.',
  Markets: 'Games, instruments and prices. Needs the scope markets:read.',
  History:
    'Past prices: every change, candles, the state at a moment. Needs the scope markets:read.',
  Backtest: 'A rule replayed on settled game winners. Needs the scope markets:read.',
  Portfolio: 'Cash, positions, orders and trades. Needs the scope portfolio:read.',
  Trading: 'Place and cancel paper orders. Needs the scope trade:write.',
  Stream: 'Live events over a WebSocket, and orders over the same connection.',
};

const INTRODUCTION = `Every trade is a paper trade. Nothing is sent to a venue.

**Units.** Fields that end in \`Dollars\` are dollars with at most two decimals. Fields that end in
\`Cents\` are cents, 1 to 99 for a price. A contract pays 100 cents when its side wins. Times are
ISO 8601 in UTC.

**Requests.** Query parameters and body fields that are unknown or given twice are refused with 400. So a
typo never changes a request. A body has at most 64 KiB. An operation without one takes none, or \`{}\`.
\`HEAD\` works wherever \`GET\` does. \`OPTIONS\` answers 204 with \`Allow\`. An unknown path is 404
\`route_not_found\`. A wrong method on a known path is 405 \`method_not_allowed\` with \`Allow\`.

**Order of checks.** The first checks are path and method, credential (401), scope (403) and request limits
(429). Query and body (400), organization (400, 404, 403) and switches (403) follow. The operation's own rules
come last.

**Request limits.** By plan, for an account over all its keys, in the UTC minute and month. Each request
with a key counts as one, whatever its answer. \`GET /quotes\` counts as one for each instrument. \`GET /usage\`,
routes without a key and answers with 429 do not count. Unknown paths and wrong methods count, and
are never 429. The headers of every answer say how many requests are left. While \`enforced\` of \`GET /usage\` is
false, nothing is refused. Without a key the limit is advisory: 60 requests a minute for each address. Orders have
limits of their own, which are always enforced.

**Sign-in.** It lies beside this API, under \`/auth/v1\`, and speaks the protocol of GoTrue.

**Answers.** A field without a value is present and null. A few fields say that they are only there while the
venue-data switch is on. Later 1.x versions may add fields: ignore what you do not know.

**Errors.** The body of every refusal is \`{"error":{"code","message"}}\`, with \`retryAfterSeconds\` where waiting
helps. Branch on the code. The codes of an operation are beside its statuses.

**Headers.** Beside those that guard an answer in a browser:

${headersTable()}`;

/** The whole document as a JSON value. Throws when a route is not fully declared. */
export function describeApi(routes: readonly Described[], basePath: string): object {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operationOf(route, components);
  }
  const tags = new Set(routes.map(({ about }) => about!.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Paperbook',
      version: DESCRIPTION_VERSION,
      summary: 'Paper trading of prediction markets at live venue prices.',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath, description: 'The server of this description.' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name as Tag))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.all(), headers: HEADER_COMPONENTS, ...SHARED },
  };
}
