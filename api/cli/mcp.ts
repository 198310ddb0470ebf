/**
 * `paperbook mcp`: the Model Context Protocol over standard input and output, for an assistant on
 * this machine. Its tools call a server with a key. Rules U70, A176 to A179, A197 (api/RULES.md).
 */

import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Command, InvalidArgumentError } from 'commander';
import { RefusedError, type RequestOptions } from 'paperbook/client';
import { type ErrorCode, errorBody } from '../base/errors.ts';
import type { Scope } from '../identity/keys.ts';
import { type ApiAnswer, type McpCaller, mcpServer } from '../mcp/mcp-server.ts';
import { MessageLines } from '../mcp/message-lines.ts';
import { type Asked, TOOLSETS, type Toolset, toolsFor } from '../mcp/tools.ts';
import { DESCRIPTION_VERSION } from '../openapi/document.ts';
import { apiRoutes } from '../operations/routes/api-routes.ts';
import type { ServerContext } from '../operations/server-context.ts';
import {
  type AccountConnection,
  type AccountFlags,
  answerOf,
  byKey,
  headersOf,
  ofAccountProgram,
} from './account-connection.ts';
import { spendingCaps } from './mcp-spending.ts';
import { UsageError } from './usage.ts';

type Flags = AccountFlags & {
  trade?: true;
  toolsets?: Toolset[];
  maxOrderDollars?: number;
  maxDayDollars?: number;
};

export function addMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output')
    .option('--trade', 'tools that place and cancel orders, if the key has trade:write')
    .option('--toolsets <names>', `only these: ${TOOLSETS.join(', ')}`, readToolsets)
    .option('--max-order-dollars <n>', 'refuse a buy that may cost more, without fees', readDollars)
    .option('--max-day-dollars <n>', 'refuse buys beyond this sum in a day (UTC)', readDollars);
  ofAccountProgram(command).action(serveMcp);
}

async function serveMcp(flags: Flags): Promise<void> {
  const chosen = chosenToolsets(flags);
  const { maxOrderDollars, maxDayDollars } = flags;
  const isCapped = maxOrderDollars !== undefined || maxDayDollars !== undefined;
  if (isCapped && !chosen.includes('trading')) {
    throw new UsageError('--max-order-dollars and --max-day-dollars go with --trade');
  }
  const connection = byKey(flags);
  const { key } = await answerOf(connection.server, connection.client.getMe());
  const { prefix, scopes } = key!;
  const tools = toolsFor(ROUTES, chosen, scopes as Scope[]);
  const caps = {
    orderCents: centsOf(maxOrderDollars),
    dayCents: centsOf(maxDayDollars),
  };
  const spending = isCapped ? spendingCaps(caps, flags.session, prefix) : null;
  const caller = callerOver(connection, flags);
  const transport = new MessageLines(process.stdin, process.stdout);
  const version = DESCRIPTION_VERSION;
  serveStdio(() => mcpServer({ version, tools, caller, caps: spending }), { transport });
  await transport.closed;
}

const ROUTES = apiRoutes({} as ServerContext);

function chosenToolsets({ trade, toolsets }: Flags): Toolset[] {
  const named = toolsets ?? TOOLSETS;
  if (toolsets?.includes('trading') && trade !== true) {
    throw new UsageError('the toolset trading needs --trade');
  }
  return named.filter((name) => name !== 'trading' || trade === true);
}

/** Clients of the protocol give up after 60 seconds, and would never learn the key of an order. */
const ANSWERS_WITHIN_MS = 45_000;

/**
 * Calls a server, and rejects if it has not answered in time, all tries together. Rule A178
 * (api/RULES.md).
 */
export function callerOver(
  connection: AccountConnection,
  flags: Pick<AccountFlags, 'org'>,
  withinMs = ANSWERS_WITHIN_MS,
): McpCaller {
  return {
    call: (asked) =>
      callOverHttp(connection, asked, { flags, signal: AbortSignal.timeout(withinMs) }),
  };
}

/** Errors of the connection name the server, as in other commands. */
async function callOverHttp(
  { client, server }: AccountConnection,
  { operationId, param, query, body }: Asked,
  { flags, signal }: { flags: Pick<AccountFlags, 'org'>; signal: AbortSignal },
): Promise<ApiAnswer> {
  const route = ROUTES.find(({ about }) => about?.operationId === operationId)!;
  const name = /\{(\w+)\}/.exec(route.path)?.[1];
  const call = client[operationId as 'getPortfolio'] as (
    asked: object,
    init: RequestOptions,
  ) => Promise<object>;
  const input = {
    ...(name === undefined ? {} : { path: { [name]: param } }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(body === null ? {} : { body }),
    ...(route.ofAccount ? headersOf(flags) : {}),
  };
  const asked = call(input, { signal }).then(
    (answer) => ({ status: 200, body: JSON.stringify(answer) }),
    (error: unknown) => {
      if (!(error instanceof RefusedError)) throw error;
      const { status, code, message, retryAfterSeconds } = error;
      return { status, body: errorBody(code as ErrorCode, message, retryAfterSeconds) };
    },
  );
  return await answerOf(server, asked);
}

function readToolsets(text: string): Toolset[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(TOOLSETS as readonly string[]).includes(name));
  if (unknown === undefined) return names as Toolset[];
  throw new InvalidArgumentError(`${unknown} is none of ${TOOLSETS.join(', ')}.`);
}

function readDollars(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d{1,2})?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be dollars, such as 25 or 9.50.');
}

const centsOf = (dollars: number | undefined) =>
  dollars === undefined ? null : Math.round(dollars * 100);
