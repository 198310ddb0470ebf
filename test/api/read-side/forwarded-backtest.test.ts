import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { loadConfig } from '../../../api/config/config.ts';
import type { EmbeddedBacktest } from '../../../api/read-side/backtest-source.ts';
import { forwardedBacktest } from '../../../api/read-side/forwarded-backtest.ts';
import { BACKTEST_THREADS, BACKTESTS_MAX, BacktestPool } from '../../../engine/backtest/pool.ts';
import type { BacktestTask } from '../../../engine/backtest/task.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { type Api, startApi } from '../support.ts';

type Seen = { request: IncomingMessage; body: string };
type Service = { play(response: ServerResponse): void; seen: Seen[] };

async function start(
  t: ExecutionContext,
  withinMs = 30_000,
): Promise<{ api: Api; service: Service }> {
  const service: Service = { play: (response) => response.end('{}'), seen: [] };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    service.seen.push({ request, body });
    service.play(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const log = { info() {}, warn() {}, error() {} };
  const url = `http://127.0.0.1:${port}/functions/backtest?v=1`;
  return {
    api: await startApi(t, { backtest: forwardedBacktest({ url, log, withinMs }) }),
    service,
  };
}

const answering = (status: number, body: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body);
};

/** An answer of any shape: the description does not bind a service. */
async function post(api: Api, body: string, method = 'POST') {
  const headers = { authorization: `Bearer ${api.token}` };
  const sent = method === 'POST' ? { body } : {};
  const response = await fetch(`${api.baseUrl}/backtest`, { method, headers, ...sent });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('Z14: a service gets the body as it came, and never the key', async (t) => {
  const { api, service } = await start(t);
  const body = '{ "any":  ["field", 2.50],\n "é": null }';
  service.play = answering(200, '{ "own":  1, "mode": "test" }');
  const answer = await post(api, body);
  t.is(answer.status, 200);
  t.is(answer.text, '{ "own":  1, "mode": "test" }');
  t.is(answer.headers.get('cache-control'), 'no-store');
  const { request, body: seen } = service.seen[0]!;
  t.is(seen, body);
  t.is(request.method, 'POST');
  t.is(request.url, '/functions/backtest?v=1');
  t.is(request.headers['content-type'], 'application/json');
  t.false(JSON.stringify(request.rawHeaders).includes(api.token));
  for (const any of ['[1]', '"text"', '3']) t.is((await post(api, any)).status, 200);
  t.is((await post(api, 'no JSON')).status, 400);
  t.is(service.seen.length, 4);
});

test('Z14: an object without a mode gets one, anything else comes back unchanged', async (t) => {
  const { api, service } = await start(t);
  service.play = answering(201, '{"own":1}');
  t.deepEqual(JSON.parse((await post(api, '{}')).text), { own: 1, mode: 'paper' });
  service.play = answering(200, '[ 1 ]');
  t.is((await post(api, '{}')).text, '[ 1 ]');
});

test('Z14: each status of the service, and what the caller gets', async (t) => {
  const { api, service } = await start(t);
  const mine = '{"error":{"message":"no such rule"}}';
  for (const [status, body, expected, code] of [
    [400, mine, 400, 'invalid_request'],
    [422, '{}', 400, 'invalid_request'],
    [401, '{}', 503, 'internal_error'],
    [403, '{}', 503, 'internal_error'],
    [404, '{}', 503, 'internal_error'],
    [500, '{}', 503, 'internal_error'],
    [200, 'no JSON', 503, 'internal_error'],
    [201, '<html>', 503, 'internal_error'],
    [204, '', 503, 'internal_error'],
  ] as const) {
    service.play = answering(status, body);
    const answer = await post(api, '{}');
    t.is(answer.status, expected, `${status}`);
    t.is(JSON.parse(answer.text).error.code, code);
  }
  service.play = answering(400, mine);
  t.regex((await post(api, '{}')).text, /no such rule/);
});

test('Z14: a service that hangs is 503', async (t) => {
  const { api, service } = await start(t, 100);
  service.play = () => {};
  t.is((await post(api, '{}')).status, 503);
});

test('Z13: any other method is 405, and nothing is forwarded; a body may have 1 MiB', async (t) => {
  const { api, service } = await start(t);
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await post(api, '', method);
    t.is(answer.status, 405, method);
    t.is(answer.headers.get('allow'), 'POST, OPTIONS');
  }
  t.deepEqual(service.seen, []);
  const large = JSON.stringify({ text: 'x'.repeat(2 ** 20 - 20) });
  t.is((await post(api, large)).status, 200);
  t.is((await post(api, `${large}${' '.repeat(100)}`)).status, 413);
});

test('Z14: the service’s address is a setting', (t) => {
  const url = 'https://functions.example.com/backtest';
  t.is(loadConfig({ PAPERBOOK_BACKTEST_URL: url }, null).backtestUrl, url);
  t.throws(() => loadConfig({ PAPERBOOK_BACKTEST_URL: 'http://elsewhere.example.com/' }, null));
});

/** Of no markets. */
const TASK: BacktestTask = {
  terms: {
    rule: {
      side: 'yes',
      minPriceCents: 1,
      maxPriceCents: 99,
      entryMinutesBeforeStart: 0,
      takeProfitCents: null,
      stopLossCents: null,
      exitMinutesBeforeStart: null,
    },
    stake: { contracts: 1 },
    startBalanceCents: 1000,
    fees: 'none',
    fillModel: 'top_of_book',
  },
  markets: [],
  feeTable: [],
  directory: '/nowhere',
  nowMs: 5,
};
const NO_LOG = { info() {}, error() {} };
const ENDS_WITHIN_MS = 60_000;

test('Z12: the eleventh backtest is 503 with Retry-After, and one that takes too long ends', async (t) => {
  t.timeout(ENDS_WITHIN_MS, 'backtests whose tasks never come do not end');
  const pool = new BacktestPool({ log: NO_LOG, withinMs: 500 });
  t.teardown(() => pool.close());
  const never = () => new Promise<never>(() => {});
  const running = Array.from({ length: BACKTESTS_MAX }, () => pool.run('a', never));
  for (const one of running) one.catch(() => undefined);
  await t.throwsAsync(pool.run('a', never), {
    instanceOf: Unavailable,
    message: /10 questions to the backtest at once/,
  });
  const results = await Promise.allSettled(running);
  t.true(results.every(({ status }) => status === 'rejected'));
  t.regex(String((results[0] as PromiseRejectedResult).reason), /takes more than 0.5 seconds/);
  // Its place is free again, and a thread that was ended is replaced.
  const slow = new BacktestPool({ log: NO_LOG });
  t.teardown(() => slow.close());
  const text = await slow.run('a', async () => ({ ...TASK, withPrices: true }));
  t.like(JSON.parse(text), { trades: [], skipped: {}, mode: 'paper' });
});

test('Z12, Z14: without a history it is not configured; while ten run it is 503', async (t) => {
  const off = await startApi(t);
  const body = { markets: {}, rule: { side: 'yes' }, stake: { contracts: 1 } };
  const refused = await off.call('POST', '/backtest', { body });
  t.is(refused.status, 503);
  t.is(refused.json.error.code, 'not_configured');
  const backtest: EmbeddedBacktest = {
    kind: 'embedded',
    pool: { run: () => Promise.reject(new Unavailable('10 backtests are running', 5)) },
    directory: '/nowhere',
    stored: async () => [],
  };
  const busy = await startApi(t, { backtest });
  const answer = await busy.call('POST', '/backtest', { body });
  t.is(answer.status, 503);
  t.is(answer.headers.get('retry-after'), '5');
});

/** Threads that do with each task as its `directory` says. */
const MOODY = `
  import { parentPort } from 'node:worker_threads';
  const cell = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', ({ id, question: { directory } }) => {
    const kept = [];
    while (directory === 'memory') kept.push(Array.from({ length: 100_000 }, () => ({})));
    // Endless, and without work for a processor.
    while (directory === 'time') Atomics.wait(cell, 0, 0, 20);
    if (directory === 'fail') throw new Error('planted');
    parentPort.postMessage({ kind: 'answer', id, answer: directory });
  });
`;

test('Z12: a backtest that needs too much time or memory ends with its thread, and no other does', async (t) => {
  const module = new URL(`data:text/javascript,${encodeURIComponent(MOODY)}`);
  const logged: string[] = [];
  const log = { ...NO_LOG, error: (_: object, message: string) => void logged.push(message) };
  const [patient, pool] = [60_000, 10_000].map((withinMs) => {
    const made = new BacktestPool({ log, withinMs, module, heapMib: 32 });
    t.teardown(() => made.close());
    return made;
  }) as [BacktestPool, BacktestPool];
  const greedy = patient.run('a', async () => ({ ...TASK, directory: 'memory', withPrices: true }));
  await t.throwsAsync(greedy, { instanceOf: Unavailable, message: /needs too much memory/ });
  t.deepEqual(logged, ['the backtest needed too much memory, and was ended']);
  t.is(patient.problem, null);
  t.timeout(ENDS_WITHIN_MS, 'endless backtests do not end, or their threads answer no others');
  const taskOf = (directory: string) => ({ ...TASK, directory, withPrices: true });
  const run = (asker: string, directory: string) => pool.run(asker, async () => taskOf(directory));
  // Its time begins first, and its task comes last, so its time ends while it waits for a thread.
  const waits = pool.run('waits', () => nextTurn(taskOf('time')));
  const slow = Array.from({ length: BACKTEST_THREADS }, (_, at) => run(`slow-${at}`, 'time'));
  const endless = [waits, ...slow];
  for (const { status, reason } of (await Promise.allSettled(endless)) as PromiseRejectedResult[]) {
    t.is(status, 'rejected');
    t.regex(String(reason), /takes more than 10 seconds/);
  }
  const many = Array.from({ length: BACKTESTS_MAX * 2 }, (_, at) => run(`quick-${at}`, `${at}`));
  t.deepEqual(await Promise.all(many), Array.from(many.keys(), String));
  t.is(pool.problem, null);
});

test('Z12, D10: a thread of backtests that fails is started again, and is a problem until then', async (t) => {
  const module = new URL(`data:text/javascript,${encodeURIComponent(MOODY)}`);
  const pool = new BacktestPool({ log: NO_LOG, module });
  t.teardown(() => pool.close());
  const run = (directory: string) =>
    pool.run('a', async () => ({ ...TASK, directory, withPrices: true }));
  await t.throwsAsync(run('fail'), { instanceOf: Unavailable, message: /starting again/ });
  t.is(pool.problem, 'backtest: planted');
  t.is(await run('here'), 'here', 'another thread takes the next one at once');
});
