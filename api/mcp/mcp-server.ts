/**
 * One server of the Model Context Protocol over a caller of the API. Whoever makes it says how an
 * operation is called: over HTTP, or in this process. Rules A176 to A181 (api/RULES.md).
 */
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { fitted } from './fitted.ts';
import { PROMPTS, promptText } from './prompts.ts';
import type { Asked, Tool } from './tools.ts';

/** An answer of the API: its status, and its JSON text. */
export type ApiAnswer = { status: number; body: string };

export type McpCaller = {
  /** Rejects without an answer: the message of the error says why. */
  call(asked: Asked): Promise<ApiAnswer>;
};

/** Refuses an order that may cost too much. Rule A179 (api/RULES.md). */
export type SpendingCaps = {
  /** Throws the refusal; else notes the most that the order may cost. */
  admit(order: Record<string, unknown>): Promise<AdmittedOrder>;
};

export type AdmittedOrder = {
  /** The order as it may be placed. */
  order: Record<string, unknown>;
  /** A bound that the caps added, for the answer of a refusal; null: none. */
  note: string | null;
  /** Called once, with the answer; null: the outcome is unknown. */
  settle(answer: ApiAnswer | null): Promise<void>;
};

export type McpServerOptions = {
  version: string;
  tools: readonly Tool[];
  caller: McpCaller;
  /** Null: no caps. */
  caps: SpendingCaps | null;
};

const INSTRUCTIONS =
  'Paperbook trades prediction markets with paper money at live venue prices. A contract pays 100 ' +
  'cents if its side wins, else nothing. Find an instrument with search_markets, and look at its ' +
  'prices before an order. Prices are in cents a contract, other money is in dollars.';

/** A server with these tools and the prompts. It is connected to nothing so far. */
export function mcpServer({ version, tools, caller, caps }: McpServerOptions): Server {
  const server = new Server(
    { name: 'paperbook', title: 'Paperbook', version },
    { capabilities: { tools: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(shownTool) }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
    }
    return callTool(tool, input, caller, caps);
  });
  const names = new Set(tools.map(({ name }) => name));
  const prompts = PROMPTS.filter(({ needs }) => needs.every((name) => names.has(name)));
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: taken }) => ({
      ...{ name, title, description, arguments: [...taken] },
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    const prompt = prompts.find((one) => one.name === name);
    if (prompt === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no prompt ${name}`);
    }
    const text = promptText(prompt, given);
    return {
      description: prompt.description,
      messages: [{ role: 'user', content: { type: 'text', text } }],
    };
  });
  return server;
}

function shownTool({ name, title, toolset, description, inputSchema }: Tool) {
  const isReadOnly = toolset !== 'trading';
  return {
    ...{ name, title, description, inputSchema },
    annotations: {
      title,
      readOnlyHint: isReadOnly,
      destructiveHint: false,
      // An order is placed once by its key; a cancel changes nothing the second time.
      idempotentHint: isReadOnly || name !== 'place_order',
      openWorldHint: false,
    },
  };
}

async function callTool(
  tool: Tool,
  input: Record<string, unknown>,
  caller: McpCaller,
  caps: SpendingCaps | null,
): Promise<CallToolResult> {
  const unknown = Object.keys(input).find((name) => !(name in tool.inputSchema.properties));
  if (unknown !== undefined) return failed(`${tool.name} takes no ${JSON.stringify(unknown)}`);
  const missing = tool.inputSchema.required.find((name) => !(name in input));
  if (missing !== undefined) return failed(`${tool.name} needs ${missing}`);
  if (tool.name === 'place_order') return placeOrder(tool, input, caller, caps);
  try {
    const { status, body } = await caller.call(tool.ask(input));
    return status < 300 ? text(fitted(body)) : failed(body);
  } catch (error) {
    return failed((error as Error).message);
  }
}

/** Its idempotency key is in every answer. Rule A178 (api/RULES.md). */
async function placeOrder(
  tool: Tool,
  input: Record<string, unknown>,
  caller: McpCaller,
  caps: SpendingCaps | null,
): Promise<CallToolResult> {
  const key = input.idempotencyKey ?? `mcp-${randomUUID()}`;
  const named: Record<string, unknown> = { idempotencyKey: key };
  let settle: AdmittedOrder['settle'] = async () => {};
  try {
    let asked = tool.ask({ ...input, ...named });
    if (caps !== null) {
      const admitted = await caps.admit(asked.body!);
      settle = admitted.settle;
      if (admitted.note !== null) named.cap = admitted.note;
      asked = { ...asked, body: admitted.order };
    }
    const answer = await caller.call(asked);
    const { status, body } = answer;
    // A 5xx says nothing of the order.
    await settle(status < 500 ? answer : null);
    settle = async () => {};
    if (status < 300) return text(fitted(body));
    return failed(JSON.stringify({ ...JSON.parse(body), ...named }));
  } catch (error) {
    await settle(null);
    return failed(JSON.stringify({ error: { message: (error as Error).message }, ...named }));
  }
}

const text = (body: string): CallToolResult => ({ content: [{ type: 'text', text: body }] });
const failed = (body: string): CallToolResult => ({ ...text(body), isError: true });
