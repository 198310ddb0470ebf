/**
 * POST /mcp: the Model Context Protocol over streamable HTTP, outside /v1. Each request has a key of
 * its own, and tools call the API's routes in this process. Rules A176, A180 (api/RULES.md).
 */
import { createMcpHandler, type McpRequestContext } from '@modelcontextprotocol/server';
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../base/common-schemas.ts';
import { bodyReader } from '../base/validation.ts';
import type { Caller } from '../dispatch/access.ts';
import { ofAccount, type Route } from '../dispatch/route.ts';
import { RouteInvoker, type RouteInvokerOptions } from '../dispatch/route-invoker.ts';
import { headerLines } from '../http/header-lines.ts';
import { OwnAnswer } from '../http/own-answer.ts';
import { type McpCaller, mcpServer } from './mcp-server.ts';
import { TOOLSETS, type Tool, toolsFor } from './tools.ts';

export type McpRouteOptions = {
  /** `/mcp`, outside /v1. */
  path: string;
  /** The routes of the API, which the tools call. */
  routes: readonly Route<Caller>[];
  invoker: RouteInvokerOptions;
  /** Whether the tools that trade are there, for keys with the scope. */
  isTrading: boolean;
  version: string;
};

/** The headers of the protocol, and the ones that its library checks. */
const READ = [
  ...['accept', 'content-type', 'origin', 'mcp-method', 'mcp-name', 'mcp-protocol-version'],
  ...['mcp-session-id', 'last-event-id'],
];
/** One message. Arrays of messages left the protocol in 2025. */
const readMessage = bodyReader(Type.Object({}));
const METHOD_NOT_FOUND = -32601;
const LISTEN = 'subscriptions/listen';

export function mcpRoute({
  path,
  routes,
  invoker,
  isTrading,
  version,
}: McpRouteOptions): Route<Caller> {
  const toolsets = TOOLSETS.filter((one) => isTrading || one !== 'trading');
  const invokers = new Map(
    routes.map((route) => [route.about?.operationId, new RouteInvoker(route, invoker)]),
  );
  const known = new Map<string, Tool[]>();
  const toolsOf = ({ scopes }: Caller): Tool[] => {
    const name = scopes.join(' ');
    let tools = known.get(name);
    if (tools === undefined) {
      tools = toolsFor(routes, toolsets, scopes);
      known.set(name, tools);
    }
    return tools;
  };
  const callerFor = ({ caller, organization }: Sender): McpCaller => ({
    call: ({ operationId, param, query, body }) =>
      new Promise((resolve) => {
        const texts = Object.entries(query).map(([name, value]): [string, string] => [
          name,
          `${value}`,
        ]);
        const message = {
          ...{ caller, param, organization, body, isCounted: false },
          query: new URLSearchParams(texts).toString(),
        };
        invokers.get(operationId)!.take(message, (status, text) => resolve({ status, body: text }));
      }),
  });
  const handler = createMcpHandler(
    (context) => {
      const sender = senderOf(context);
      const tools = toolsOf(sender.caller);
      return mcpServer({ version, tools, caller: callerFor(sender), caps: null });
    },
    { keepAliveMs: 0 },
  );
  return ofAccount({
    method: 'POST',
    path,
    query: NoQuery,
    response: Type.Unknown(),
    streamed: ['application/json', 'text/event-stream'],
    readsHeaders: READ,
    readBody: readMessage,
    run: async ({ caller, organization, headers, body }) => {
      const { method, id = null } = body as { method?: unknown; id?: unknown };
      // It would be a stream without an end, of changes that no tool of ours has.
      if (method === LISTEN) return notFound(id);
      const given = Object.entries(headers).filter(([, value]) => value !== '');
      const request = new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: Object.fromEntries(given),
        body: JSON.stringify(body),
      });
      const sender: Sender = { caller, organization };
      const authInfo = { token: '', clientId: '', scopes: [...caller.scopes], extra: sender };
      const answer = await handler.fetch(request, { parsedBody: body, authInfo });
      return ownAnswer(answer, await answer.text());
    },
  });
}

type Sender = { caller: Caller; organization: string | null };

function senderOf({ authInfo }: McpRequestContext): Sender {
  return authInfo!.extra as Sender;
}

function ownAnswer({ status, headers }: Response, body: string): OwnAnswer {
  const type = headers.get('content-type');
  return new OwnAnswer(
    status,
    headerLines(type === null ? [] : ['Content-Type', type]),
    body === '' ? null : body,
  );
}

function notFound(id: unknown): OwnAnswer {
  const error = { code: METHOD_NOT_FOUND, message: `Method not found: ${LISTEN}` };
  const body = JSON.stringify({ jsonrpc: '2.0', id, error });
  return new OwnAnswer(404, headerLines(['Content-Type', 'application/json']), body);
}
