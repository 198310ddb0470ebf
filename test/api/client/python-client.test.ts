/** The Python client: generated from the description, and used by a program (python-bot.py). */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { ERRORS } from '../../../api/base/errors.ts';
import { generatePython, PYTHON_FILE } from '../../../api/client/generate.ts';
import { argumentName, PythonTypes, type Schema } from '../../../api/client/python-types.ts';
import { shareOf } from '../../model/seeds.ts';
import { pythonWith, runPython } from '../python.ts';
import { IDS } from '../samples.ts';
import { startApi } from '../support.ts';

const runFile = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CLIENT = path.join(ROOT, 'api/client');
const COMFORTS = fileURLToPath(new URL('../python-comforts.py', import.meta.url));
const TYPED = fileURLToPath(new URL('../python-typed.py', import.meta.url));
const BOT = fileURLToPath(new URL('../python-bot.py', import.meta.url));
const ORDER_ID = '0195d3a0-0000-7000-8000-0000000000bb';
const ORGANIZATION = '0195d3a0-0000-7000-8000-0000000000aa';

test('the Python client is what the description gives: else npm run client', (t) => {
  const file = path.join(CLIENT, PYTHON_FILE);
  t.true(readFileSync(file, 'utf8') === generatePython(), `${file} is stale: npm run client`);
});

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

test('U65: the Python client has the version of package.json', (t) => {
  const project = readFileSync(path.join(CLIENT, 'python/pyproject.toml'), 'utf8');
  t.is(/^version = "(.*)"$/m.exec(project)?.[1], version);
});

test('the Python types say what a schema says', (t) => {
  const schemas: Record<string, Schema> = {
    Level: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'number' }] },
    Range: { type: 'object', required: ['from'], properties: { from: { type: 'string' } } },
    Tree: {
      type: 'object',
      required: ['below'],
      properties: {
        below: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        leaf: { type: 'object', properties: { size: { type: ['integer', 'null'] } } },
        others: { type: 'object', additionalProperties: { const: true } },
      },
    },
  };
  const types = new PythonTypes(schemas);
  const refOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  t.is(types.annotation({ anyOf: [refOf('Level'), { type: 'null' }] }, 'X'), 'Level | None');
  t.is(types.annotation(refOf('Range'), 'X'), 'Range');
  t.is(types.annotation({ const: 0.95 }, 'X'), 'float', 'no Literal of Python has a fraction');
  t.is(types.annotation({ const: 7 }, 'X'), 'Literal[7]');
  t.is(types.annotation({ type: 'array', items: refOf('Tree') }, 'X'), 'list[Tree]');
  t.deepEqual(types.names(), ['Level', 'Range', 'Tree', 'TreeLeaf']);
  t.is(
    types.definitions(),
    [
      'Level: TypeAlias = "list[int | float]"',
      'Range = TypedDict(\n    "Range",\n    {\n        "from": "str",\n    },\n)',
      'class Tree(TypedDict):\n    below: list[Tree]\n    leaf: NotRequired[TreeLeaf]\n' +
        '    others: NotRequired[dict[str, Literal[True]]]',
      'class TreeLeaf(TypedDict):\n    size: NotRequired[int | None]',
    ].join('\n\n\n'),
  );
  t.deepEqual(['gameId', 'from', 'ids'].map(argumentName), ['game_id', 'from_', 'ids']);
  t.throws(() => types.annotation({ type: 'date' }, 'X'), {
    message: 'X: no Python type for date',
  });
  t.throws(() => types.annotation(refOf('Gone'), 'X'), { message: /Gone is no schema/ });
});

// Where the machine has no such Python these are shown as skipped.
const python = pythonWith('httpx', 'websockets');
const withPython = python === null ? test.skip : test;
const pipPython = pythonWith('pip');
const pip = { ...process.env, PIP_RETRIES: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
/**
 * Whether the build's own package can be had: a wheel is built in an environment of its own. Only a
 * long run asks the index, which takes seconds of CPU.
 */
const mayBuild =
  shareOf(100) >= 100 &&
  pipPython !== null &&
  spawnSync(pipPython, ['-m', 'pip', 'index', 'versions', 'flit_core'], { env: pip }).status === 0;
// Where there is no pip, or no index answers, it is shown as skipped.
const withPip = mayBuild ? test : test.skip;

withPython('a Python program reads, trades and is refused', async (t) => {
  const api = await startApi(t);
  const said = await runPython(python!, BOT, 'trade', api.baseUrl, api.token, IDS.lions);
  t.is(said.prefix, api.token.slice(0, 16));
  t.deepEqual([said.found, said.notTradable], [[IDS.total], [IDS.total]]);
  t.deepEqual(said.games, ['game_00000000B0']);
  t.is(said.ask, 43);
  const { placed, again } = said;
  t.like(placed, { status: 'executed', replayed: false, trade: { contracts: 10 } });
  t.like(again, { replayed: true, trade: { tradeId: placed.trade.tradeId } });
  t.true(said.orderIsUnchanged);
  t.is(said.byClientId, 'mine');
  t.deepEqual([said.resting, said.canceled], [true, 'canceled']);
  t.like(said.twice, { is: 'AlreadyClosed', status: 409, code: 'already_closed' });
  t.is(said.twice.text, `already_closed: ${said.twice.message}`);
  t.like(said.nowhere, { status: 404, code: 'instrument_not_found', retry_after_seconds: null });
  t.regex(said.nowhere.request_id, /^[!-~]+$/);
  t.like(said.badOrder, { status: 400, code: 'invalid_request', key: 'k' });
  t.like(said.org, { status: 404, code: 'organization_not_found' });
  const [made, known] = said.batch;
  t.like(made, { status: 'executed', replayed: false, trade: { contracts: 10 } });
  t.like(known, { idempotencyKey: 'mine', replayed: true });
  t.deepEqual(said.async, { positions: 3, trades: 3, code: 'game_not_found' });
});

/** Calls and streams in vain, with a callback that fails: at nobody, then at a server that refuses. */
const IN_VAIN = `import sys, threading
from paperbook_client import Client, NoAnswerError, OrderEvent, StateEvent

nobody, refusing = sys.argv[1:]
with Client(nobody, "svc_sk_0123456789secret", retries=0) as client:
    try:
        client.get_me()
    except NoAnswerError as error:
        print(error)
    with client.stream() as stream:
        called = threading.Event()

        def fail(event):
            if event.state == "waiting":
                called.set()
            raise ZeroDivisionError("in a callback")

        stream.on(StateEvent, fail)
        called.wait(30)
with Client(refusing, "svc_sk_0123456789secret", retries=0) as client, client.stream() as stream:
    stream.on(OrderEvent, print)
    stream.wait(seconds=30)
`;

withPython(
  'U61: without a log of its own, a Python program sees a server that is not there, a refused stream and a failed callback',
  async (t) => {
    const server = createServer((_, response) => {
      const body = { error: { code: 'invalid_token', message: 'It has ended.' } };
      response.writeHead(401, { connection: 'close' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const at = ['http://127.0.0.1:1/v1', `http://127.0.0.1:${port}/v1`];
    const env = { ...process.env, PYTHONPATH: path.join(CLIENT, 'python') };
    const said = await runFile(python!, ['-c', IN_VAIN, ...at], { env, timeout: 90_000 });
    t.regex(said.stdout, /^no answer from http:\/\/127\.0\.0\.1:1\/v1: ./);
    t.regex(said.stderr, /^stream waiting: ./m);
    t.regex(said.stderr, /^a callback for StateEvent failed$/m);
    t.regex(said.stderr, /^ZeroDivisionError: in a callback$/m);
    t.regex(said.stderr, /^stream closed: invalid_token: It has ended\.$/m);
    t.notRegex(said.stderr + said.stdout, /secret/);
  },
);

test('U60: each paged call of the description has an iterator in Python', (t) => {
  const methods = generatePython().split(/\n {4}(?:async )?def /);
  const paged = methods.filter((text) =>
    /^(list|get)_[^:]*\((?:.|\n)*?(cursor|after): str/.test(text),
  );
  t.true(paged.length >= 18, 'of both clients');
  for (const text of paged) {
    const [name] = /^\w+/.exec(text)!;
    const iterator = methods.filter((one) =>
      one.startsWith(`iter_${name.replace(/^[a-z]+_/, '')}(`),
    );
    t.is(iterator.length, 2, name);
    for (const one of iterator) t.true(one.includes(`at: self.${name}(`), name);
  }
});

test('U61, U62: the exceptions of the Python client cover the codes and statuses of the API', (t) => {
  const read = (name: string) => {
    return readFileSync(path.join(CLIENT, 'python/paperbook_client', name), 'utf8');
  };
  const [errors, exported] = [read('errors.py'), read('__init__.py')];
  const table = (name: string) => {
    const body = new RegExp(`^${name}.*?\\{\n(.*?)^\\}`, 'ms').exec(errors)![1]!;
    return new Map(
      [...body.matchAll(/^ +"?(\w+)"?: (\w+),$/gm)].map(([, key, kind]) => [key!, kind!]),
    );
  };
  const [byCode, byStatus] = [table('_BY_CODE'), table('_BY_STATUS')];
  for (const code of byCode.keys()) t.like(ERRORS[code as 'too_late'], { status: 409 }, code);
  for (const { status } of Object.values(ERRORS)) t.true(byStatus.has(String(status)), `${status}`);
  for (const kind of [...byCode.values(), ...byStatus.values()]) {
    t.true(exported.includes(`    "${kind}",`), kind);
  }
  const page = readFileSync(path.join(CLIENT, 'python/README.md'), 'utf8');
  const settings = page.match(/PAPERBOOK_[A-Z_]+/g)!;
  t.deepEqual([...new Set(settings)].sort(), ['PAPERBOOK_API_KEY', 'PAPERBOOK_BASE_URL']);
  for (const name of settings) t.true(read('client.py').includes(`"${name}"`), name);
});

withPython(
  'U60, U61, U62: iterators, kinds, settings, frames, money and log of the client',
  async (t) => {
    const codes = Object.fromEntries(
      Object.entries(ERRORS).map(([code, { status }]) => [code, status]),
    );
    const said = await runPython(python!, COMFORTS, JSON.stringify(codes));
    const prefix = 'svc_sk_012345678';
    t.is(said.env, `<Client https://paper.example/v1 key ${prefix}…>`);
    t.is(said.none, '<AsyncClient http://127.0.0.1:8080/v1 no key>');
    t.is(said.token, '<Client http://a/v2 a session>');
    t.regex(said.bad, /^base_url must be like http:\/\/127/);
    t.deepEqual(said.trades, ['t0', 't1', 't2', 't3', 't4', 't5']);
    t.deepEqual(said.lazy, ['t0', 1], 'the next page is not asked for before it is needed');
    t.deepEqual([said.events, said.later], [['e1', 'e2'], ['e2']]);
    t.deepEqual(said.async, { trades: said.trades, rows: '<AsyncRows of events>' });
    t.is(said.limitBefore, null);
    t.like(said.limit, { plan: 'basic', limit: 60, remaining: 41, reset_seconds: 17 });
    t.like(said.limit, { month_limit: 1000, month_remaining: 900, month_reset_seconds: 86_400 });
    t.deepEqual(said.asked, ['http://a/v1/quotes?ids=a%2Cb', 'http://a/v1/quotes?ids=a']);
    const kindsOf = (code: string) => said.kinds[code].slice(2, -2);
    for (const code of Object.keys(codes)) t.true(said.kinds[code][0], code);
    t.deepEqual(kindsOf('rate_limited'), ['RateLimited']);
    t.deepEqual(kindsOf('trade_not_found'), ['NotFound']);
    t.deepEqual(kindsOf('insufficient_balance'), ['InsufficientBalance', 'Conflict']);
    t.deepEqual(kindsOf('price_moved'), ['PriceMoved', 'Conflict']);
    t.deepEqual(kindsOf('key_limit_reached'), ['Conflict']);
    t.deepEqual(said.kinds.invalid_token.slice(1), [
      "Unauthorized(status=401, code='invalid_token', message='No.', retry_after_seconds=None, " +
        "request_id='r1')",
      ...['Unauthorized', 'RefusedError', 'PaperbookError'],
    ]);
    t.deepEqual(said.money, ["Decimal('100000')", "Decimal('0.1')"]);
    t.deepEqual(said.other, ['float', '[0.5, 1]']);
    t.regex(said.log, /DEBUG:paperbook_client:GET \/portfolio\/trades: 200/);
    t.false(said.log.includes('secret'));
    t.false(JSON.stringify(said).includes('secretsecret'));
    if (said.frames === null) return t.log('no pandas here: frames are not checked');
    t.deepEqual(said.frames.trades, [6, ['tradeId', 'costDollars']]);
    // pandas 3 counts microseconds, earlier ones nanoseconds.
    t.regex(said.frames.history[0], /^datetime64\[[nu]s, UTC\]$/);
    t.deepEqual(said.frames.history[1], [40, 41, 42]);
    const columns = ['end', 'bid.open', 'bid.high', 'bid.low', 'bid.close', 'trades.count'];
    t.deepEqual(said.frames.candles, ['start', columns]);
    t.is(said.frames.none, 0);
  },
);

const mypy = pythonWith('mypy', 'httpx', 'websockets');
const withMypy = mypy === null ? test.skip : test;

withMypy(
  'A167, U61: mypy takes orders of each kind, and refuses a limit order without a price',
  async (t) => {
    const env = { PATH: process.env.PATH, MYPYPATH: path.join(CLIENT, 'python') };
    const cache = mkdtempSync(path.join(tmpdir(), 'paperbook-mypy-'));
    t.teardown(() => rmSync(cache, { recursive: true }));
    const args = ['-m', 'mypy', '--strict', '--warn-unused-ignores', '--cache-dir', cache, TYPED];
    const { stdout } = await runFile(mypy!, args, { env, timeout: 100_000 }).catch(
      (error) => error,
    );
    t.regex(stdout, /^Success: no issues found/);
  },
);

/** What a call is answered in turn, the last again and again; 0 closes the connection. */
const FAILING: Record<string, number[]> = {
  'POST /v1/portfolio/orders': [0, 503, 429, 200, 0],
  'POST /v1/portfolio/orders/batch': [0, 503, 200, 0],
  'GET /v1/portfolio': [429],
  [`DELETE /v1/portfolio/orders/${ORDER_ID}`]: [503, 0, 429, 200],
  'GET /v1/me': [307],
  'GET /v1/usage': [502],
  'GET /v1/portfolio/trades': [0, 503, 429, 200],
  'GET /v1/status': [503],
};

type Seen = { call: string; body: string; headers: IncomingMessage['headers'] };

async function startFailing(t: ExecutionContext): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = `${request.method} ${request.url}`;
    const turn = seen.filter((before) => before.call === call).length;
    seen.push({ call, body, headers: request.headers });
    const status = FAILING[call]?.[turn] ?? FAILING[call]?.at(-1) ?? 500;
    if (status === 0) {
      response.destroy();
      return;
    }
    const wait = call === 'GET /v1/portfolio' ? 11 : 1;
    if (status === 429) response.setHeader('retry-after', String(wait));
    if (status === 307) response.setHeader('location', '/v1/usage');
    response.setHeader('x-request-id', `request-${seen.length}`);
    response.statusCode = status;
    const error = { code: 'rate_limited', message: 'Wait.', retryAfterSeconds: wait };
    if (status === 502) response.end('<html>');
    else response.end(JSON.stringify(status === 429 || status === 503 ? { error } : { ok: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, seen };
}

withPython('a Python program sends again what is safe to send again, under one key', async (t) => {
  const { baseUrl, seen } = await startFailing(t);
  const said = await runPython(python!, BOT, 'fail', baseUrl, 'secret', IDS.lions);
  const sent = (call: string) => seen.filter((each) => each.call === call);

  const orders = sent('POST /v1/portfolio/orders').map(({ body }) => JSON.parse(body));
  t.is(orders.length, 8, 'four times, and four times more');
  const [first, second] = [orders[0].idempotencyKey, orders[4].idempotencyKey];
  t.deepEqual(
    orders.map(({ idempotencyKey }) => idempotencyKey),
    [...Array(4).fill(first), ...Array(4).fill(second)],
  );
  t.regex(first, /^[0-9a-f-]{36}$/);
  t.not(first, second);
  t.deepEqual(said.placed, { ok: true });
  t.like(said.unanswered, { is: 'NoAnswerError', key: second, request_id: null, sent: orders[4] });

  const batches = sent('POST /v1/portfolio/orders/batch').map(({ body }) => JSON.parse(body));
  t.is(batches.length, 7);
  t.deepEqual(batches.slice(1, 3), [batches[0], batches[0]]);
  t.is(batches[0].orders[1].idempotencyKey, 'own');
  t.regex(batches[0].orders[0].idempotencyKey, /^[0-9a-f-]{36}$/);
  t.deepEqual(said.batch, { ok: true });
  t.like(said.lostBatch, { is: 'NoAnswerError', key: null, sent: batches[3] });

  const long = { is: 'RateLimited', status: 429, code: 'rate_limited', retry_after_seconds: 11 };
  t.like(said.longWait, long);
  t.is(sent('GET /v1/portfolio').length, 1);
  const [refused, unanswered, canceled] = said.cancels;
  t.like(refused, { is: 'Unavailable', status: 503, key: null, sent: null });
  t.is(unanswered.is, 'NoAnswerError');
  t.deepEqual(canceled, { ok: true }, 'after a 429, which has done nothing');
  t.is(sent(`DELETE /v1/portfolio/orders/${ORDER_ID}`).length, 4);

  t.like(said.redirect, { is: 'BadAnswerError', status: 307 });
  t.like(said.proxy, { is: 'BadAnswerError', status: 502 });
  t.is(sent('GET /v1/usage').length, 1, 'a credential follows no redirect');
  t.deepEqual(said.async, { ok: true });
  const reads = sent('GET /v1/portfolio/trades');
  t.is(reads.length, 4);
  for (const { headers } of reads) t.is(headers['x-service-org'], ORGANIZATION);
  t.is(said.once.request_id, `request-${seen.length}`);
  t.is(sent('GET /v1/status').length, 1);
  for (const { headers } of seen) t.is(headers.authorization, 'Bearer secret');
});

withPip('the Python client becomes a wheel by the command of its README', async (t) => {
  const readme = readFileSync(path.join(CLIENT, 'python/README.md'), 'utf8');
  const [, command] = /^python3 (-m pip wheel .*?)(?: {2,}#.*)?$/m.exec(readme)!;
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-wheel-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const args = command!.replace('--wheel-dir .', `--wheel-dir ${directory}`).split(' ');
  await runFile(pipPython!, args, { cwd: ROOT, env: pip, timeout: 100_000 });
  const [wheel, ...more] = readdirSync(directory);
  t.deepEqual([wheel, more], [`paperbook_client-${version}-py3-none-any.whl`, []]);
  t.true(readme.includes(` ./${wheel!.replace(/-.*(?=[.]whl)/, '-*')}\n`));
  const list = ['-m', 'zipfile', '-l', path.join(directory, wheel!)];
  const { stdout } = await runFile(pipPython!, list);
  for (const file of ['generated.py', 'client.py', 'stream.py', 'py.typed', 'LICENSE']) {
    t.true(stdout.includes(`/${file} `), file);
  }
});
