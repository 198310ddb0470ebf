/** The demo at first sight: past games, public bots, and a first start that is killed. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { BOTS, LiveBots } from '../../api/cli/demo-bots.ts';
import { eventually } from '../../bench/lib/eventually.ts';
import { longTest } from '../long-test.ts';
import { ask, type Json, request } from './client.ts';
import { callerOf } from './demo-caller.ts';
import { runHere } from './run-here.ts';
import { Command, type Server, startFor, startServer, tempDir } from './server.ts';

/** What each thread loads first. It notes whether it is the main one, and the limit of its heap. */
function notingHeaps(file: string): string {
  const code = `import v8 from 'node:v8'; import fs from 'node:fs'; import { isMainThread } from 'node:worker_threads';
    const mib = Math.round(v8.getHeapStatistics().heap_size_limit / 2 ** 20);
    fs.appendFileSync(${JSON.stringify(file)}, isMainThread + ' ' + mib + '\\n');`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

function heapOfLine(line: string): [isMain: string, mib: number] {
  const [isMain, mib] = line.split(' ');
  return [isMain!, Number(mib)];
}

const DIRECTORY = mkdtempSync(path.join(tmpdir(), 'paperbook-demo-'));
const HEAPS = path.join(DIRECTORY, 'heaps');
let started: Promise<Server> | null = null;
test.after.always('the demo', async () => {
  const server = await started;
  if (server?.command.isRunning) await server.command.end('SIGKILL');
  rmSync(DIRECTORY, { recursive: true });
});

/** The tests have one demo, since its past takes seconds. The last one ends it. */
function sharedDemo(): Promise<Server> {
  const env = {
    PAPERBOOK_REQUEST_LOG: 'on',
    PAPERBOOK_LOG_LEVEL: 'info',
    NODE_OPTIONS: `--import=${notingHeaps(HEAPS)}`,
  };
  started ??= startServer('demo', path.join(DIRECTORY, 'data'), env, true);
  return started;
}

async function boardOf(key: string, { baseUrl }: Server): Promise<Json[]> {
  const { rows } = await eventually('a board of all bots', async () => {
    const { status, body } = await request(key, 'GET', `${baseUrl}/leaderboard?window=all`);
    return status === 200 && body.rows.length === BOTS.length ? body : null;
  });
  return rows;
}

test.serial('U33, U34, U35, U77, paperbook demo: it has a past and bots', async (t) => {
  const first = await sharedDemo();
  const demo = callerOf(first);
  const { account } = await demo.get('/portfolio');
  t.is(account, null, 'the demo’s user has not traded');
  const rows = await boardOf(demo.key, first);
  for (const { displayName } of rows) t.regex(displayName, / Bot$/);
  const { rows: scored } = await demo.get('/eval?window=all');
  t.true(scored.length > 4, JSON.stringify(scored));
  const { picks } = await demo.get(`/traders/${rows[0]!.traderId}/picks`);
  t.true(picks.length > 3);

  const { games: over } = await demo.get('/games?status=final&limit=100');
  t.true(over.length > 10);
  const leagues = new Set(over.map(({ league }: Json) => league));
  t.is(leagues.size, 3);
  const { games: on } = await demo.get('/games?status=inprogress');
  t.true(on.length > 2);
  const { instruments } = await demo.get('/instruments?tradable=true&status=inprogress&limit=3');
  for (const { id } of instruments) {
    const { yesBids, yesAsks } = await demo.get(`/instruments/${id}/book`);
    t.true(yesBids.length + yesAsks.length > 4, 'levels');
    const { candles } = await demo.get(`/history/candles?instrumentId=${id}&interval=1h`);
    t.true(candles.length > 10, `${candles.length} candles`);
  }
  const rule = { side: 'yes', entryMinutesBeforeStart: 30 };
  const body = { markets: { league: [...leagues][0] }, rule, stake: { contracts: 1 } };
  const tested = await request(demo.key, 'POST', `${demo.baseUrl}/backtest`, body);
  t.is(tested.status, 200);
  t.true(tested.body.summary.trades > 3, JSON.stringify(tested.body.summary));

  const limits = readFileSync(HEAPS, 'utf8').trim().split('\n').map(heapOfLine);
  const largest = (ofMain: string) =>
    Math.max(...limits.filter(([isMain]) => isMain === ofMain).map(([, mib]) => mib));
  t.true(largest('false') < largest('true') - 30, 'U77: little room for new objects');

  const { bots } = JSON.parse(readFileSync(path.join(first.dataDir, 'demo.json'), 'utf8'));
  t.is(bots.length, BOTS.length);
  const prefix = bots[0].slice(0, 16);
  await eventually('a bot looks at prices', async () => {
    const lines = first.command.output.stderr.split('\n');
    return lines.find((line) => line.includes(prefix) && line.includes('/quotes')) ?? null;
  });
});

longTest.serial(
  'U33, U34, U36, paperbook demo: killed amid its first start, it has a past and bots at the next ones',
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const killed = new Command(['demo'], { env: { PAPERBOOK_DATA_DIR: dataDir } });
    await eventually(
      'the past is begun',
      async () => {
        return existsSync(path.join(dataDir, 'demo/past/shard-0')) || null;
      },
      { everyMs: 5 },
    );
    await killed.end('SIGKILL');
    t.false(existsSync(path.join(dataDir, 'demo/simulator.json')));

    const boards = [];
    const made = [];
    for (let start = 0; start < 2; start++) {
      const server = await startFor(t, 'demo', { dataDir, isLively: true });
      const { bots, key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
      made.push({ bots, key });
      const rows = await boardOf(key, server);
      boards.push(rows.map(({ traderId }) => traderId).sort());
      await server.command.end('SIGINT');
    }
    t.deepEqual(made[1], made[0]);
    t.deepEqual(boards[1], boards[0], 'the same traders');
    const { code, stdout } = await runHere(['verify', '--data-dir', dataDir]);
    t.is(code, 0, stdout);
  },
);

test.serial(
  'U35, U56: bots trade by their rules, end when they are closed, and realistic fills work at once',
  async (t) => {
    const server = await sharedDemo();
    const { key, baseUrl } = callerOf(server);
    const warnings: unknown[] = [];
    const log = { info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
    const keys = BOTS.map(() => key);
    const tradesOf = async () =>
      (await ask(key, 'GET', `${baseUrl}/portfolio/trades?limit=100`)).trades;
    // Which of the games a bot trades goes by the seed.
    for (let seed = 1; (await tradesOf()).length === 0 && seed < 50; seed++) {
      const bots = new LiveBots(baseUrl, { seed, keys, log });
      bots.start(0);
      await setTimeout(1000);
      await bots.close();
    }
    const trades = await tradesOf();
    t.true(trades.length > 0);
    for (const { statedProbPct, contracts } of trades) {
      t.true(statedProbPct >= 1 && contracts >= 10);
    }
    await setTimeout(1000);
    t.is((await tradesOf()).length, trades.length, 'closed bots place nothing');
    t.deepEqual(warnings, []);
    await takesForReal(t, server);
  },
);

longTest.serial(
  'W100, U56: an order of realistic fills waits in its queue for prints',
  async (t) => {
    await waitsInQueue(t, await sharedDemo());
  },
);

test.serial('U35: the demo and its bots end without a warning', async (t) => {
  const { command } = await sharedDemo();
  const exit = await command.end('SIGINT');
  t.is(exit.code, 0);
  t.notRegex(exit.stderr, /"level":"(warn|error)"/);
});

async function chooseRealistic(t: ExecutionContext, { dataDir, baseUrl }: Server): Promise<void> {
  const { email, password } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const signedIn = await fetch(new URL('/auth/v1/token?grant_type=password', baseUrl), {
    method: 'POST',
    body: JSON.stringify({ email, password }),
  });
  const { access_token: session } = (await signedIn.json()) as Json;
  const chosen = await request(session, 'PATCH', `${baseUrl}/me`, { realism: 'realistic' });
  t.is(chosen.status, 200, JSON.stringify(chosen.body));
}

/** The demo's user chooses realistic fills, and gets one that pays a fee. */
async function takesForReal(t: ExecutionContext, server: Server): Promise<void> {
  await chooseRealistic(t, server);
  const { get } = callerOf(server);
  const { place, filled } = queueOrders(server);
  const open = await get(TOTALS);
  const bought: string[] = [];
  const paid = await eventually(
    'an order takes under queue once the connections have opened again',
    async () => {
      for (const { id: instrumentId } of open.instruments) {
        bought.push(...(await place({ type: 'market', instrumentId })));
      }
      return await filled(bought, ({ fee }) => fee !== null);
    },
  );
  t.is(paid!.latencyMs, 150);
  t.true(paid.fill.fee.dollars > 0, JSON.stringify(paid.fill));
  t.regex(paid.fill.fee.table, /^kalshi, every market, from /);
}

const TOTALS = '/instruments?tradable=true&marketType=total&limit=20';

/** Places the user's orders, and finds their fills under `queue`. */
function queueOrders(server: Server) {
  const { key, baseUrl, post } = callerOf(server);
  /** The first fill in a queue's model of one of these orders that is wanted. */
  const filled = async (orderIds: readonly string[], isWanted: (fill: Json) => boolean) => {
    for (const orderId of orderIds) {
      const url = `${baseUrl}/portfolio/orders/${orderId}/receipt`;
      const { status, body } = await request(key, 'GET', url);
      if (status !== 200 || body.receipt.model !== 'queue') continue;
      const fill = body.receipt.fills.find(isWanted);
      if (fill !== undefined) return { ...body.receipt, fill };
    }
    return null;
  };
  const place = async (of: object): Promise<string[]> => {
    const order = { action: 'buy', side: 'yes', count: 5, idempotencyKey: randomUUID(), ...of };
    const { body } = await post(order);
    return body.order?.orderId === undefined ? [] : [body.order.orderId];
  };
  return { place, filled };
}

/** And some that wait in a queue. */
async function waitsInQueue(t: ExecutionContext, server: Server): Promise<void> {
  await chooseRealistic(t, server);
  const { get } = callerOf(server);
  const { place, filled } = queueOrders(server);
  const open = await get(TOTALS);
  // On many markets, so that one of them is soon met by a print of its venue.
  const resting: string[] = [];
  for (const { id: instrumentId } of open.instruments) {
    const { yesBids } = await get(`/instruments/${instrumentId}/book`);
    if (yesBids.length === 0) continue;
    const [limitPriceCents] = yesBids[0];
    const limit = { type: 'limit', timeInForce: 'gtc', limitPriceCents };
    resting.push(...(await place({ ...limit, instrumentId })));
  }
  t.true(resting.length > 0);
  // A price may have moved before an order arrived there, which then had nothing ahead of it.
  const found = await eventually('prints fill an order that had others ahead of it', async () => {
    return await filled(resting, ({ queue }) => queue !== null && queue.aheadAtArrival > 0);
  });
  t.true(found!.fill.queue.prints.length > 0, JSON.stringify(found!.fill));
}
