/** The Model Context Protocol, by its official client over both transports. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import test, { type ExecutionContext } from 'ava';
import { createClient } from 'paperbook/client';
import { callerOver } from '../../../api/cli/mcp.ts';
import { fitted } from '../../../api/mcp/fitted.ts';
import { mcpServer } from '../../../api/mcp/mcp-server.ts';
import { MessageLines } from '../../../api/mcp/message-lines.ts';
import { TOOLSETS, toolsFor } from '../../../api/mcp/tools.ts';
import { apiRoutes } from '../../../api/operations/routes/api-routes.ts';
import type { ServerContext } from '../../../api/operations/server-context.ts';
import { productEntry } from '../../process/product.ts';
import { IDS } from '../samples.ts';
import { type Api, type Json, startApi } from '../support.ts';

const ON = { PAPERBOOK_MCP: 'on', PAPERBOOK_MCP_TRADE: 'on' };
const READS = [
  ...['search_markets', 'get_quotes', 'get_book', 'get_history', 'get_candles', 'get_portfolio'],
  ...[
    'list_trades',
    'list_orders',
    'preview_order',
    'get_receipt',
    'leaderboard',
    'get_trader',
    'get_eval',
  ],
  ...['get_verdict', 'run_backtest'],
];
const TRADES = ['place_order', 'cancel_order', 'cancel_all'];
const ORDER = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 10 };

async function connected(t: ExecutionContext, api: Api, token = api.token): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' });
  const url = new URL('/mcp', api.baseUrl);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  t.teardown(() => client.close());
  return client;
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

/** The JSON of a tool's answer, which must be a success, or must not. */
async function answer(client: Client, name: string, input: object, isError = false): Promise<Json> {
  const result = await client.callTool({ name, arguments: { ...input } });
  const [content] = result.content as { text: string }[];
  if ((result.isError ?? false) !== isError) throw new Error(`${name}: ${content!.text}`);
  return content!.text.startsWith('{') ? JSON.parse(content!.text) : content!.text;
}

test('A176: an assistant finds, quotes, previews, buys and sees it, over HTTP', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  t.deepEqual(await namesOf(client), [...READS, ...TRADES]);
  const { instruments } = await answer(client, 'search_markets', { q: 'lions' });
  t.true(instruments.some(({ id }: { id: string }) => id === IDS.lions));
  const { quotes, notFound } = await answer(client, 'get_quotes', { ids: [IDS.lions, 'ins_x'] });
  t.is(quotes[0].instrumentId, IDS.lions);
  t.deepEqual(notFound, ['ins_x']);
  t.is((await answer(client, 'get_book', { instrument: IDS.lions })).instrumentId, IDS.lions);
  const preview = await answer(client, 'preview_order', ORDER);
  const placed = await answer(client, 'place_order', ORDER);
  t.is(placed.trade.contracts, 10);
  t.is(preview.costDollars ?? placed.trade.costDollars, placed.trade.costDollars);
  const { positions } = await answer(client, 'get_portfolio', {});
  t.is(positions[0].tradeId, placed.trade.tradeId);
  const { trades } = await answer(client, 'list_trades', { status: 'open', limit: 5 });
  t.is(trades.length, 1);
  const both = 'get_receipt takes tradeId or orderId';
  t.is(await answer(client, 'get_receipt', {}, true), both);
  const tradeId = IDS.lions;
  t.is(await answer(client, 'get_receipt', { tradeId, orderId: tradeId }, true), both);
  for (const [name, code] of [
    ['tradeId', 'trade_not_found'],
    ['orderId', 'order_not_found'],
  ]) {
    const unknown = '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05';
    const { error } = await answer(client, 'get_receipt', { [name!]: unknown }, true);
    t.is(error.code, code);
  }
});

test('A176: tools that a key has no scope for are absent; the others say what the API says', async (t) => {
  const api = await startApi(t, { env: ON });
  const reader = await api.addKey({ label: 'reads', scopes: ['markets:read', 'portfolio:read'] });
  const client = await connected(t, api, reader);
  const names = await namesOf(client);
  for (const name of [...TRADES, 'leaderboard', 'get_trader']) t.false(names.includes(name), name);
  await t.throwsAsync(answer(client, 'place_order', ORDER), { message: /no tool place_order/ });
  const refused = await answer(client, 'get_book', { instrument: 'ins_000000000000' }, true);
  t.is(refused.error.code, 'instrument_not_found');
});

test('A176: a server that is off has no /mcp, and one without trading no tools that trade', async (t) => {
  const off = await startApi(t);
  t.is((await off.page('POST', '/mcp', { body: {} })).status, 404);
  const reading = await startApi(t, { env: { PAPERBOOK_MCP: 'on' } });
  t.deepEqual(await namesOf(await connected(t, reading)), READS);
});

test('A176: what trades is marked, and the rest is read only', async (t) => {
  const api = await startApi(t, { env: ON });
  const { tools } = await (await connected(t, api)).listTools();
  for (const { name, annotations, inputSchema, description } of tools) {
    t.is(annotations?.readOnlyHint, !TRADES.includes(name), name);
    t.is(inputSchema.type, 'object');
    t.true(description!.length > 20);
  }
  const place = tools.find(({ name }) => name === 'place_order')!;
  const { limitPriceCents, execution } = place.inputSchema.properties as Json;
  t.deepEqual([limitPriceCents.minimum, limitPriceCents.maximum], [1, 99]);
  t.is(execution, undefined);
});

test('A177: unknown and missing fields are named, and rows are bounded', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  t.is(await answer(client, 'list_trades', { rows: 3 }, true), 'list_trades takes no "rows"');
  t.is(await answer(client, 'get_book', {}, true), 'get_book needs instrument');
  const wrong = await answer(client, 'place_order', { ...ORDER, count: 0 }, true);
  t.is(wrong.error.message, 'count must be at least 1');
  const { tools } = await client.listTools();
  const { limit } = tools.find(({ name }) => name === 'search_markets')!.inputSchema
    .properties as Json;
  t.deepEqual([limit.default, limit.maximum], [10, 25]);
});

test('A177: an answer that is too long keeps the first entries of its longest list, and says so', (t) => {
  const row = (id: number) => ({ id, text: 'x'.repeat(90) });
  const rows = Array.from({ length: 1000 }, (_, id) => row(id));
  const text = fitted(JSON.stringify({ rows, few: [1, 2], page: { rows: [1] }, next: 'here' }));
  t.true(text.length <= 24_000);
  const { shortened, ...rest } = JSON.parse(text);
  t.deepEqual(shortened, { rows: { shown: 125, of: 1000 } });
  t.deepEqual(rest, { rows: rows.slice(0, 125), few: [1, 2], page: { rows: [1] }, next: 'here' });
  const inner = JSON.parse(fitted(JSON.stringify({ page: { rows } })));
  t.is(inner.page.rows.length, 125);
  const short = JSON.stringify({ rows: rows.slice(0, 3) });
  t.is(fitted(short), short);
});

test('A178: an order names its idempotency key, also where the outcome is unknown', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  const { idempotencyKey } = await answer(client, 'place_order', ORDER);
  t.regex(idempotencyKey, /^mcp-[\da-f-]{36}$/);
  const again = await answer(client, 'place_order', { ...ORDER, idempotencyKey });
  t.true(again.replayed);
  const refused = await answer(client, 'place_order', { ...ORDER, count: 1e9 }, true);
  t.regex(refused.idempotencyKey, /^mcp-/);
  t.is(refused.error.code, 'insufficient_balance');

  const silent = { call: () => Promise.reject(new Error('the server did not answer in time')) };
  const tools = toolsFor(api.routes, TOOLSETS, ['trade:write']);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await mcpServer({ version: '1', tools, caller: silent, caps: null }).connect(ours);
  const other = new Client({ name: 'a test', version: '1' });
  await other.connect(theirs);
  const unknown = await answer(other, 'place_order', { ...ORDER, idempotencyKey: 'mine' }, true);
  t.deepEqual(unknown, {
    error: { message: 'the server did not answer in time' },
    idempotencyKey: 'mine',
  });
});

test('A178: a server that hangs is given up before a client of the protocol gives up', async (t) => {
  const silent = createServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl: `${server}/v1`, credential: 'svc_sk_x', retries: 4 });
  const tools = toolsFor(apiRoutes({} as ServerContext), TOOLSETS, ['trade:write', 'markets:read']);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const caller = callerOver({ server, client }, {}, 200);
  await mcpServer({ version: '1', tools, caller, caps: null }).connect(ours);
  const asking = new Client({ name: 'a test', version: '1' });
  await asking.connect(theirs);
  const { error, idempotencyKey } = await answer(asking, 'place_order', ORDER, true);
  t.is(error.message, `${server} did not answer in time`);
  t.regex(idempotencyKey, /^mcp-/);
  t.is(
    await answer(asking, 'search_markets', { q: 'x' }, true),
    `${server} did not answer in time`,
  );
});

test('A180: a message counts as one request, and quotes as one for each instrument', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  // The client's first messages have been counted when a call is answered.
  await answer(client, 'get_portfolio', {});
  const used = () => api.meter.usage(api.user).month.used;
  const before = used();
  await answer(client, 'get_portfolio', {});
  t.is(used(), before + 1);
  await answer(client, 'get_quotes', { ids: [IDS.lions, 'ins_x', 'ins_y'] });
  t.is(used(), before + 4);
});

test('A180: a revoked key is refused at its next message', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  await answer(client, 'get_portfolio', {});
  const [key] = api.store.keys.values();
  await api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  await t.throwsAsync(client.callTool({ name: 'get_portfolio', arguments: {} }));
});

test('A180: what is not one message is refused, and a stream of changes is not there', async (t) => {
  const api = await startApi(t, { env: ON });
  const send = async (body: unknown) => {
    const response = await fetch(new URL('/mcp', api.baseUrl), {
      method: 'POST',
      headers: {
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        Authorization: `Bearer ${api.token}`,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const bytes = response.headers.get('content-length');
    return { status: response.status, bytes, json: text === '' ? null : JSON.parse(text) };
  };
  const listen = await send({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params: {} });
  t.is(listen.status, 404);
  t.like(listen.json, { id: 7, error: { code: -32601 } });
  t.is((await send([{ jsonrpc: '2.0', id: 1, method: 'ping' }])).status, 400);
  const notified = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  t.like(
    notified,
    { status: 202, bytes: '0' },
    'else a caller waits for the end of the connection',
  );
  t.is((await api.page('GET', '/mcp', { token: api.token })).status, 405);
  t.is((await api.page('POST', '/mcp', { token: null, body: {} })).status, 401);
});

test('A181: a prompt leads to backtest, orders and scores, and is absent without its tools', async (t) => {
  const api = await startApi(t, { env: ON });
  const client = await connected(t, api);
  const { messages } = await client.getPrompt({
    name: 'test_a_strategy',
    arguments: { strategy: 'buy home favorites' },
  });
  const { text } = messages[0]!.content as { text: string };
  for (const part of ['buy home favorites', 'run_backtest', 'get_eval'])
    t.true(text.includes(part));
  await t.throwsAsync(client.getPrompt({ name: 'test_a_strategy' }), { message: /strategy/ });
  const reader = await api.addKey({ label: 'reads', scopes: ['markets:read'] });
  const { prompts } = await (await connected(t, api, reader)).listPrompts();
  t.deepEqual(prompts, []);
});

test('A197: a line that is no message gets an error, and what came before the end an answer', async (t) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  const gone = Promise.withResolvers<void>();
  const caller = {
    call: async () => {
      await gone.promise;
      return { status: 200, body: '{"positions":[]}' };
    },
  };
  const transport = new MessageLines(input, output);
  const tools = toolsFor(apiRoutes({} as ServerContext), TOOLSETS, ['portfolio:read']);
  serveStdio(() => mcpServer({ version: '1', tools, caller, caps: null }), { transport });
  const refused = async (line: string, id: unknown, code: number) => {
    input.write(`${line}\n`);
    t.like(await next(), { jsonrpc: '2.0', id, error: { code } }, line.slice(0, 80));
  };
  await refused('hello', null, -32700);
  await refused('{"jsonrpc":"2.0","id":7}', 7, -32600);
  await refused('{"id":"a","method":"ping"}', 'a', -32600);
  await refused('{"jsonrpc":"2.0","id":8,"method":"ping","params":5}', 8, -32600);
  await refused('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600);
  await refused('null', null, -32600);
  await refused(`{"jsonrpc":"2.0","id":9,"method":"${'x'.repeat(2 ** 20)}"}`, null, -32600);
  await refused('{"jsonrpc":"2.0","id":10,"method":"none"}', 10, -32601);
  // An answer to nobody, a blank line, and two requests in one write, the last line without its end.
  const call = { name: 'get_portfolio', arguments: {} };
  const asked = [
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}',
    '',
    JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: call }),
    '{"jsonrpc":"2.0","id":12,"method":"ping"}',
  ];
  input.end(asked.join('\n'));
  t.deepEqual(await next(), { jsonrpc: '2.0', id: 12, result: {} });
  gone.resolve();
  const content = [{ type: 'text', text: '{"positions":[]}' }];
  t.like(await next(), { id: 'slow', result: { content } });
  await transport.closed;
  t.pass();
});

test('U70, A179: over standard input, with caps for an order and for a day', async (t) => {
  const api = await startApi(t);
  const home = mkdtempSync(path.join(tmpdir(), 'paperbook-mcp-'));
  t.teardown(() => rmSync(home, { recursive: true }));
  const keyFile = path.join(home, 'key');
  writeFileSync(keyFile, api.token);
  const start = async (...args: string[]) => {
    const client = new Client({ name: 'a test', version: '1' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        productEntry(),
        'mcp',
        '--key-file',
        keyFile,
        '--server',
        new URL(api.baseUrl).origin,
        ...args,
      ],
      env: { XDG_CONFIG_HOME: home, PATH: process.env.PATH! },
    });
    await client.connect(transport);
    return client;
  };
  const reading = await start('--toolsets', 'markets,portfolio');
  t.deepEqual(await namesOf(reading), READS.slice(0, 10));
  const refusal = new Promise<Error>((resolve) => {
    reading.onerror = resolve;
  });
  await reading.transport!.send({ jsonrpc: '2.0', id: 'no-method' } as never);
  t.regex((await refusal).message, /no-method.*-32600/);
  await reading.close();

  const caps = ['--trade', '--max-order-dollars', '20', '--max-day-dollars', '25'];
  const trading = await start(...caps);
  const limit = { ...ORDER, type: 'limit', limitPriceCents: 30 };
  const dear = await answer(trading, 'place_order', { ...limit, count: 70 }, true);
  t.is(dear.error.message, 'the order may cost $21.00, and --max-order-dollars is $20.00');
  const bounded = await answer(trading, 'place_order', { ...ORDER, count: 100 }, true);
  t.is(bounded.error.code, 'price_moved');
  t.is(bounded.cap, 'maxPriceCents was 20, so that the order costs $20.00 at most');
  const rests = await answer(trading, 'place_order', { ...limit, count: 50 });
  t.is(rests.order.holdDollars, 15);
  await trading.close();
  // The day's sum outlives the process. What was refused has cost nothing.
  const again = await start(...caps);
  const over = await answer(again, 'place_order', { ...limit, count: 40 }, true);
  t.is(over.error.message, 'the order may cost $12.00, and --max-day-dollars leaves $10.00 today');
  await answer(again, 'cancel_all', {});
  await again.close();
});
