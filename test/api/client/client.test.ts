/** `paperbook/client`: generated, typed, and usable where another package finds it. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { type Client, createClient, type OrderRequest, RefusedError } from 'paperbook/client';
import { ROWS } from '../../../api/client/client.ts';
import { CLIENT_FILES } from '../../../api/client/client-files.ts';
import { addressAt } from '../../../api/client/errors.ts';
import { generateClient } from '../../../api/client/generate.ts';
import { longTest } from '../../long-test.ts';
import { type Json, startApi } from '../support.ts';

const runFile = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));

function tempDir(t: ExecutionContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-client-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('A112: the clients are what the description gives: else npm run client', async (t) => {
  const fresh = tempDir(t);
  await generateClient(fresh);
  for (const file of CLIENT_FILES) {
    const [now, then] = [fresh, path.join(PACKAGE, 'api/client')].map((directory) =>
      readFileSync(path.join(directory, file), 'utf8'),
    );
    t.true(now === then, `${file} is stale: npm run client`);
  }
});

const CONSUMER = `
import { createClient, RefusedError, type OrderRequest } from 'paperbook/client';

const [baseUrl = '', credential = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, credential });
const instrumentId = 'ins_000000000000';
const buy = { action: 'buy', instrumentId, side: 'yes', count: 1 } as const;
const order: OrderRequest = { ...buy, type: 'market' };
// @ts-expect-error: a limit order has a price
const unpriced: OrderRequest = { ...buy, type: 'limit' };
// @ts-expect-error: only a limit order rests
const resting: OrderRequest = { ...buy, type: 'market', timeInForce: 'gtc' };
const { side, ...sideless } = buy;
// @ts-expect-error: a buy has a side
const lacking: OrderRequest = { ...sideless, type: 'market' };
// @ts-expect-error: a sell is of a trade
const selling: OrderRequest = { ...buy, action: 'sell', type: 'market' };
const limit: OrderRequest = { ...buy, type: 'limit', limitPriceCents: 7, timeInForce: 'ioc' };
const byTicker: OrderRequest = { action: 'buy', type: 'market', ticker: 'T', side: 'no', count: 2 };
// @ts-expect-error: a typo is found before it is sent
const typo: OrderRequest = { action: 'buy', type: 'market', cuont: 1 };
const me = await client.getMe();
// @ts-expect-error: an answer has the fields of the description and no other
me.user.nickname;
const id: string = me.user.id;
const refused = await client.placeOrder({ body: order }).catch((error: unknown) => error);
if (!(refused instanceof RefusedError)) throw new Error('not refused');
// @ts-expect-error: not a code of the table
if (refused.code === 'out_of_coffee') throw [typo, unpriced, resting, lacking, selling, byTicker];
console.log(JSON.stringify({ id, code: refused.code }));
`;

longTest('U1: another package imports paperbook/client, types included', async (t) => {
  const api = await startApi(t);
  const dir = tempDir(t);
  const installed = path.join(dir, 'node_modules/paperbook');
  mkdirSync(path.join(installed, 'api/client'), { recursive: true });
  for (const file of ['package.json', ...CLIENT_FILES.map((name) => `api/client/${name}`)]) {
    copyFileSync(path.join(PACKAGE, file), path.join(installed, file));
  }
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(dir, 'bot.ts'), CONSUMER);
  const declare = 'declare const process: { argv: string[] };\n';
  writeFileSync(path.join(dir, 'process.d.ts'), declare);
  // Its declarations stand alone: they are checked too, with the libraries of a browser.
  const options = ['--ignoreConfig', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const compiled = runFile(process.execPath, [TSC, ...options, 'bot.ts', 'process.d.ts'], {
    cwd: dir,
  });
  await t.notThrowsAsync(compiled.catch(({ stdout }) => Promise.reject(stdout)));
  const bot = [path.join(dir, 'bot.js'), api.baseUrl, api.token];
  const { stdout } = await runFile(process.execPath, bot);
  t.deepEqual(JSON.parse(stdout), { id: api.user.id, code: 'invalid_request' });
});

test('U60: each paged call of the description has an iterator over all of its rows', async (t) => {
  const api = await startApi(t);
  const { paths } = (await api.call('GET', '/openapi.json')).json;
  const paged: string[] = Object.values<{ get?: Json }>(paths).flatMap(({ get }) => {
    const isPaged = get?.parameters.some(({ name }: Json) => /^(cursor|after)$/.test(name));
    return isPaged ? [get!.operationId] : [];
  });
  // The keys of a person are listed whole; the stream is no list.
  const listed = paged.filter((name) => name !== 'openStream');
  t.deepEqual(listed.sort(), Object.keys(ROWS).sort());

  const seen: string[] = [];
  const client = await clientOf(t, async (request, response) => {
    seen.push(request.url!);
    const { pathname, searchParams } = new URL(request.url!, 'http://a');
    if (pathname.endsWith('/portfolio/events')) {
      const after = searchParams.get('after') ?? '1';
      const events = after === '1' ? [{ eventId: '2' }] : [];
      return answer(response, 200, { events, nextAfter: '2' });
    }
    const at = Number(searchParams.get('cursor') ?? 0);
    const nextCursor = at === 2 ? null : String(at + 1);
    answer(response, 200, { trades: [{ tradeId: `t${at}` }], nextCursor });
  });
  const trades: string[] = [];
  for await (const { tradeId } of client.iterTrades({ query: { status: 'open' } })) {
    trades.push(tradeId);
    t.is(seen.length, trades.length, 'a page is asked for when its rows are needed');
  }
  t.deepEqual(trades, ['t0', 't1', 't2']);
  t.true(seen[2]!.includes('status=open') && seen[2]!.includes('cursor=2'));
  const events: string[] = [];
  for await (const { eventId } of client.iterEvents({ query: { after: '1' } }))
    events.push(eventId);
  t.deepEqual(events, ['2']);
  t.is(seen.length, 5);
});

test('a refusal carries the status, the code and the wait of the description', async (t) => {
  const api = await startApi(t);
  const client = createClient({ baseUrl: api.baseUrl, credential: api.token });
  const me = await client.getMe();
  t.is(me.key?.prefix, api.token.slice(0, 16));
  const refused = await t.throwsAsync(client.getInstrument({ path: { ref: 'nowhere' } }), {
    instanceOf: RefusedError,
  });
  t.like(refused, { status: 404, code: 'instrument_not_found', retryAfterSeconds: null });
  const keyless = createClient({ baseUrl: api.baseUrl });
  const unknown = await t.throwsAsync(keyless.getPortfolio(), { instanceOf: RefusedError });
  t.like(unknown, { status: 401, code: 'unauthorized' });
  t.is((await keyless.getStatus()).version, 'v1');
});

test('U8, idempotencyKey: a 503 or no answer sends the same order again', async (t) => {
  const bodies: string[] = [];
  const client = await clientOf(t, async (request, response, count) => {
    bodies.push(await bodyOf(request));
    if (count === 1) response.destroy();
    else if (count === 2) answer(response, 503, refusal(0));
    else answer(response, 200, { status: 'executed' });
  });
  const sold = { action: 'sell', type: 'market', tradeId: 'a' } as const;
  const body: OrderRequest = { ...sold, idempotencyKey: 'one' };
  t.like(await client.placeOrder({ body }), { status: 'executed' });
  t.deepEqual(bodies, Array(3).fill(JSON.stringify(body)));
});

test('what may not be done twice is not sent twice, and no one waits for long', async (t) => {
  let calls = 0;
  const client = await clientOf(t, async (request, response, count) => {
    calls = count;
    const isCancel = request.method === 'DELETE';
    answer(response, 503, refusal(isCancel ? 0 : 11));
  });
  const orderId = '0195d3a0-0000-7000-8000-000000000001';
  await t.throwsAsync(client.cancelOrder({ path: { orderId } }), { message: 'Busy.' });
  t.is(calls, 1);
  const refused = await t.throwsAsync(client.getPortfolio(), { instanceOf: RefusedError });
  t.like(refused, { code: 'internal_error', retryAfterSeconds: 11 });
  t.is(calls, 2);
});

test('a credential follows no redirect', async (t) => {
  const seen: string[] = [];
  const client = await clientOf(t, async (request, response) => {
    seen.push(request.url!);
    response.writeHead(307, { location: '/v1/elsewhere' }).end();
  });
  await t.throwsAsync(client.getMe());
  t.true(seen.length > 0 && seen.every((url) => url === '/v1/me'), seen.join());
});

test('U91: a call goes once to the node that a refusal names, whatever it is, and with a credential alone', async (t) => {
  const seen: string[] = [];
  const sayLeader = (response: ServerResponse, leader: string | null) =>
    answer(response, 503, { error: { ...refusal(20).error, code: 'not_leader', leader } });
  let isLed = true;
  const two = await serverOf(t, async (request, response) => {
    seen.push(`two ${request.method} ${request.url} ${request.headers.authorization}`);
    seen.push(await bodyOf(request));
    if (isLed) answer(response, 200, { status: 'executed' });
    else sayLeader(response, one);
  });
  const one = await serverOf(t, async (_, response) => {
    seen.push('one');
    sayLeader(response, two);
  });
  const client = createClient({ baseUrl: `${one}/v1`, credential: 'k' });
  const sold = { action: 'sell', type: 'market', tradeId: 'a' } as const;
  const body: OrderRequest = { ...sold, idempotencyKey: 'one' };
  t.like(await client.placeOrder({ body }), { status: 'executed' });
  const placed = ['one', 'two POST /v1/portfolio/orders Bearer k', JSON.stringify(body)];
  t.deepEqual(seen.splice(0), placed);
  const query = { instrumentId: 'ins_1' };
  await client.cancelOrders({ query });
  const canceled = ['one', 'two DELETE /v1/portfolio/orders?instrumentId=ins_1 Bearer k', ''];
  t.deepEqual(seen.splice(0), canceled);

  isLed = false;
  const refused = await t.throwsAsync(client.placeOrder({ body }), { instanceOf: RefusedError });
  t.like(refused, { code: 'not_leader', leader: one });
  t.deepEqual(seen.splice(0), placed, 'once');
  const keyless = createClient({ baseUrl: `${one}/v1` });
  await t.throwsAsync(keyless.getStatus(), { instanceOf: RefusedError });
  t.deepEqual(seen, ['one'], 'a cookie is for its own origin');
  t.is(addressAt('http://two', new URL('https://one/v1/me')), null, 'no credential leaves TLS');
  t.is(addressAt('https://two', new URL('http://one/v1/me?a=b'))?.href, 'https://two/v1/me?a=b');
  t.is(addressAt('ftp://two', new URL('ftp://one/v1/me')), null);
});

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => Promise<void>;

/** A client that tries three times at a server of the test's own. */
async function clientOf(t: ExecutionContext, handle: Handler): Promise<Client> {
  const baseUrl = `${await serverOf(t, handle)}/v1`;
  return createClient({ baseUrl, credential: 'k', retries: 2 });
}

async function serverOf(t: ExecutionContext, handle: Handler): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    handle(request, response, ++count).catch((error) => t.fail(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function refusal(retryAfterSeconds: number) {
  return { error: { code: 'internal_error', message: 'Busy.', retryAfterSeconds } };
}

type Body =
  | { error: ReturnType<typeof refusal>['error'] & { leader?: string | null } }
  | { [field: string]: unknown; error?: never };

function answer(response: ServerResponse, status: number, body: Body): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  if (body.error !== undefined) response.setHeader('retry-after', body.error.retryAfterSeconds);
  response.end(JSON.stringify(body));
}
