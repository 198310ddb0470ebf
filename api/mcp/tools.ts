/**
 * The tools of the Model Context Protocol: a name, a text and a schema for each, and the operation
 * of the API that answers it. Fields, bounds and texts of the schemas are the API's own. Rules A176
 * to A178 (api/RULES.md).
 */
import type { JSONObject } from '@modelcontextprotocol/server';
import type { TSchema } from '@sinclair/typebox';
import { saidInPlace } from '../base/common-schemas.ts';
import type { Route } from '../dispatch/route.ts';
import type { Scope } from '../identity/keys.ts';

export const TOOLSETS = ['markets', 'portfolio', 'records', 'backtest', 'trading'] as const;
export type Toolset = (typeof TOOLSETS)[number];

/** A call of an operation. The query has texts and integers; the body is null if it takes none. */
export type Asked = {
  operationId: string;
  /** The value of the `{...}` segment of the path; empty without one. */
  param: string;
  query: Record<string, string | number>;
  body: Record<string, unknown> | null;
};

type Fields = Record<string, unknown>;

export type Tool = {
  name: string;
  title: string;
  toolset: Toolset;
  description: string;
  /** The key needs it. */
  scope: Scope;
  inputSchema: {
    type: 'object';
    properties: JSONObject;
    required: string[];
    additionalProperties: false;
  };
  /** @param input whose names are all in the schema; the operation checks their values */
  ask(input: Fields): Asked;
};

/** Anything that describes and answers an operation. */
export type Described = Pick<Route<never>, 'about' | 'path' | 'query' | 'readBody' | 'scope'>;

type Param = { name: string; description: string };

type Declaration = {
  name: string;
  title: string;
  toolset: Toolset;
  description: string;
  operationId: string;
  /** The name of the path's parameter in the tool. */
  param?: Param;
  /** Another operation, for another parameter in the place of the first. */
  or?: { operationId: string; param: Param };
  /** Query parameters that the tool takes: all when left out. */
  query?: readonly string[];
  /** Rows of an answer when `limit` is left out, and at most. */
  rows?: { usual: number; most: number };
  /** Parameters that the operation takes as one text, and the tool as a list. */
  lists?: Readonly<Record<string, number>>;
  /** Fields of the body that the tool does not take. */
  without?: readonly string[];
};

const DECLARED: readonly Declaration[] = [
  {
    name: 'search_markets',
    title: 'Search markets',
    toolset: 'markets',
    description:
      'Finds instruments by words such as teams, players or a league. An instrument is one yes or ' +
      'no question. Its id is what the other tools take.',
    operationId: 'searchInstruments',
    rows: { usual: 10, most: 25 },
  },
  {
    name: 'get_quotes',
    title: 'Live quotes',
    toolset: 'markets',
    description: 'Live bid, ask and last price of each venue, in cents, for up to 20 instruments.',
    operationId: 'listQuotes',
    lists: { ids: 20 },
  },
  {
    name: 'get_book',
    title: 'Order book',
    toolset: 'markets',
    description: 'The displayed price levels of one instrument, venue by venue.',
    operationId: 'getBook',
    param: { name: 'instrument', description: 'Its id, ins_…, or its ticker.' },
  },
  {
    name: 'get_history',
    title: 'Price history',
    toolset: 'markets',
    description: 'Each recorded change of price of one instrument at one venue.',
    operationId: 'getHistory',
    rows: { usual: 50, most: 200 },
  },
  {
    name: 'get_candles',
    title: 'Candles',
    toolset: 'markets',
    description: 'Open, high, low and close of one instrument by interval, with the gaps.',
    operationId: 'getCandles',
    rows: { usual: 60, most: 200 },
  },
  {
    name: 'get_portfolio',
    title: 'Portfolio',
    toolset: 'portfolio',
    description: 'Cash, net worth, open positions with their value now, and resting orders.',
    operationId: 'getPortfolio',
  },
  {
    name: 'list_trades',
    title: 'Trades',
    toolset: 'portfolio',
    description: 'Own trades, open and ended, with cost, result and profit. The newest first.',
    operationId: 'listTrades',
    rows: { usual: 20, most: 100 },
  },
  {
    name: 'list_orders',
    title: 'Orders',
    toolset: 'portfolio',
    description: 'Own limit orders by status. The newest first.',
    operationId: 'listOrders',
    rows: { usual: 20, most: 100 },
  },
  {
    name: 'preview_order',
    title: 'Preview an order',
    toolset: 'portfolio',
    description: 'What an order would do now: price, cost, cash after it, or why it is refused.',
    operationId: 'previewOrder',
    without: ['idempotencyKey', 'clientOrderId', 'rejectIfLaterThan', 'execution'],
  },
  {
    name: 'get_receipt',
    title: 'Why this price?',
    toolset: 'portfolio',
    description:
      'The signed receipt of an order or a trade: each fill with its levels, queue, quote age and ' +
      'fee. Takes a tradeId or an orderId.',
    operationId: 'getTradeReceipt',
    param: { name: 'tradeId', description: 'From list_trades.' },
    or: {
      operationId: 'getOrderReceipt',
      param: { name: 'orderId', description: 'From list_orders.' },
    },
  },
  {
    name: 'leaderboard',
    title: 'Leaderboard',
    toolset: 'records',
    description: 'Public traders by profit, return or record within a window.',
    operationId: 'getLeaderboard',
    rows: { usual: 10, most: 50 },
  },
  {
    name: 'get_trader',
    title: 'A public trader',
    toolset: 'records',
    description: 'The public record of one trader: profit, return, wins and losses by window.',
    operationId: 'getTrader',
    param: { name: 'traderId', description: 'From leaderboard or get_eval.' },
  },
  {
    name: 'get_eval',
    title: 'Scores of own picks',
    toolset: 'records',
    description: 'Own settled picks with Brier score, closing line value and profit.',
    operationId: 'getOwnEval',
  },
  {
    name: 'get_verdict',
    title: 'Is the edge real?',
    toolset: 'records',
    description:
      'Whether own settled picks show an edge, none, or too few games to say, and how many games ' +
      'are still needed.',
    operationId: 'getVerdict',
  },
  {
    name: 'run_backtest',
    title: 'Backtest a rule',
    toolset: 'backtest',
    description:
      'Plays a rule over settled game winners of the recorded history: trades, profit and drawdown.',
    operationId: 'runBacktest',
  },
  {
    name: 'place_order',
    title: 'Place a paper order',
    toolset: 'trading',
    description:
      'Buys contracts, or sells an open position, with paper money. The answer names the ' +
      'idempotency key. After an error without an outcome, send the same order with that key.',
    operationId: 'placeOrder',
    without: ['clientOrderId', 'execution'],
  },
  {
    name: 'cancel_order',
    title: 'Cancel an order',
    toolset: 'trading',
    description: 'Cancels one resting order.',
    operationId: 'cancelOrder',
    param: { name: 'orderId', description: 'From list_orders or place_order.' },
  },
  {
    name: 'cancel_all',
    title: 'Cancel all orders',
    toolset: 'trading',
    description: 'Cancels every resting order, or all on one instrument.',
    operationId: 'cancelOrders',
  },
];

/**
 * The tools that `routes` can answer, in the order of their toolsets.
 *
 * @param chosen the toolsets; trading is only there if it is among them
 * @param scopes of the caller's key: a tool that needs another one is absent
 */
export function toolsFor(
  routes: readonly Described[],
  chosen: readonly Toolset[],
  scopes: readonly Scope[],
): Tool[] {
  return DECLARED.filter(({ toolset }) => chosen.includes(toolset))
    .map((declared) => toolOf(declared, routes))
    .filter(({ scope }) => scopes.includes(scope));
}

function toolOf(declared: Declaration, routes: readonly Described[]): Tool {
  const { name, title, toolset, description, operationId } = declared;
  const route = routes.find(({ about }) => about?.operationId === operationId);
  if (route === undefined) throw new Error(`no route answers ${operationId}`);
  const query = queryFields(route, declared);
  const body = bodyFields(route, declared);
  const { param, or } = declared;
  const params = [param, or?.param].filter((one) => one !== undefined);
  const path = Object.fromEntries(
    params.map((one) => [one.name, { type: 'string', description: one.description }]),
  );
  return {
    ...{ name, title, toolset, description },
    scope: route.scope!,
    inputSchema: {
      type: 'object',
      properties: { ...path, ...query.properties, ...body.properties },
      required: [
        ...(or === undefined ? Object.keys(path) : []),
        ...query.required,
        ...body.required,
      ],
      additionalProperties: false,
    },
    ask: (input) => ({
      ...operationOf(declared, input),
      query: queryOf(input, query.properties, declared),
      body: route.readBody === null ? null : pick(input, Object.keys(body.properties)),
    }),
  };
}

/** Throws if the input names none of the parameters, or both. */
function operationOf(
  { name, operationId, param, or }: Declaration,
  input: Fields,
): Pick<Asked, 'operationId' | 'param'> {
  if (param === undefined) return { operationId, param: '' };
  const other = or?.param.name ?? '';
  const isOther = other in input;
  if (or !== undefined && isOther === param.name in input) {
    throw new Error(`${name} takes ${param.name} or ${other}`);
  }
  return or !== undefined && isOther
    ? { operationId: or.operationId, param: textOf(input[other]) }
    : { operationId, param: textOf(input[param.name]) };
}

type Properties = { properties: JSONObject; required: readonly string[] };

function queryFields(route: Described, { query, rows, lists = {} }: Declaration): Properties {
  const known = route.query.properties as Record<string, TSchema>;
  const names = query ?? Object.keys(known);
  const properties: JSONObject = {};
  for (const name of names) {
    const schema = plain(known[name]!);
    if (name === 'limit' && rows !== undefined) {
      properties[name] = { ...schema, maximum: rows.most, default: rows.usual };
    } else if (name in lists) {
      const maxItems = lists[name]!;
      properties[name] = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems };
    } else properties[name] = schema;
  }
  const needed = (route.query.required ?? []).filter((name) => !('default' in known[name]!));
  return { properties, required: needed.filter((name) => names.includes(name)) };
}

/** By what validates the body: the description's alternatives are no schema of a tool. */
function bodyFields(route: Described, { without = [] }: Declaration): Properties {
  const schema = route.readBody?.schema as Shape | undefined;
  const fields = Object.entries(schema?.properties ?? {});
  const taken = fields.filter(([name]) => !without.includes(name));
  return {
    properties: Object.fromEntries(taken.map(([name, value]) => [name, plain(value)])),
    required: schema?.required ?? [],
  };
}

type Shape = { properties: Record<string, object>; required?: string[] };

function queryOf(
  input: Fields,
  properties: Fields,
  { rows, lists = {} }: Declaration,
): Asked['query'] {
  const query: Asked['query'] = {};
  for (const name of Object.keys(properties)) {
    const value = input[name] ?? (name === 'limit' ? rows?.usual : undefined);
    if (value === undefined) continue;
    if (name in lists && Array.isArray(value)) query[name] = value.map(textOf).join(',');
    else query[name] = typeof value === 'number' ? value : textOf(value);
  }
  const { limit } = query;
  if (rows !== undefined && typeof limit === 'number') query.limit = Math.min(limit, rows.most);
  return query;
}

/** A schema for readers who know neither this API's formats and keywords nor its symbols. */
function plain(schema: object): JSONObject {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    const isOwn = name.startsWith('x-') || (name === 'format' && !KNOWN_FORMATS.includes(value));
    if (!isOwn) shown[name] = plainValue(value);
  }
  const said = saidInPlace(schema);
  if (said !== undefined) {
    const { description } = shown;
    shown.description = description === undefined ? said : `${said} Form: ${description}.`;
  }
  return shown as JSONObject;
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return typeof value === 'object' && value !== null ? plain(value) : value;
}

const KNOWN_FORMATS: readonly unknown[] = ['date-time', 'uuid'];

const textOf = (value: unknown) =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

function pick(input: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => name in input).map((name) => [name, input[name]]),
  );
}
