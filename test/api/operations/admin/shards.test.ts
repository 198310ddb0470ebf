/** GET /admin/shards and /admin/problems. Rules O18, O19 (api/RULES.md). */
import test from 'ava';
import { RecentLines } from '../../../../api/base/recent-lines.ts';
import type { ShardStatus } from '../../../../engine/shard/callers/shard-status.ts';
import { ask } from '../../../process/client.ts';
import { NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';
import { startWhole } from '../../whole-server.ts';

const NONE = { fills: 0, contracts: 0 };
const OPEN: ShardStatus = {
  state: 'open',
  problem: null,
  restartProblem: null,
  repaired: null,
  lastFailure: null,
  queued: 3,
  queuedMax: 2048,
  progress: {
    lastNumber: 1200,
    logBytes: 90_000,
    checkpointNumber: 1000,
    checkpointAtMs: NOW_MS - 5000,
  },
  batches: { batches: 40, p50Ms: 0.4, p99Ms: 2.5 },
  orders: {
    outcomes: { placed: 0, executed: 0, canceled: 0, expired: 0, refused: 0 },
    fills: { top_of_book: NONE, book_depth: NONE, queue: NONE },
  },
};

const SHOWN = {
  shard: 0,
  state: 'open',
  problem: null,
  lastFact: 1200,
  logBytes: 90_000,
  factsSinceCheckpoint: 200,
  checkpointAt: new Date(NOW_MS - 5000).toISOString(),
  checkpointAgeMs: 5000,
  batches: { minutes: 5, count: 40, p50Ms: 0.4, p99Ms: 2.5 },
  queued: 3,
  queuedMax: 2048,
  lastFailure: null,
};

test('O18: /admin/shards shows each shard', async (t) => {
  const api = await startApi(t);
  api.engine.currentStatuses = [
    OPEN,
    {
      ...OPEN,
      progress: { ...OPEN.progress!, checkpointNumber: 0, checkpointAtMs: 0 },
      batches: { batches: 0, p50Ms: null, p99Ms: null },
    },
  ];
  const { shards } = (await api.admin('GET', '/admin/shards')).json;
  t.deepEqual(shards, [
    SHOWN,
    {
      ...SHOWN,
      shard: 1,
      factsSinceCheckpoint: 1200,
      checkpointAt: null,
      checkpointAgeMs: null,
      batches: { minutes: 5, count: 0, p50Ms: null, p99Ms: null },
    },
  ]);
});

test('O18: /admin/shards shows what is wrong with a shard, and when it failed', async (t) => {
  const api = await startApi(t);
  const lastFailure = { atMs: NOW_MS, reason: 'Error: a fault' };
  api.engine.currentStatuses = [
    { ...OPEN, state: 'restarting', problem: 'data.mdb is damaged', progress: null, lastFailure },
    { ...OPEN, state: 'restarting', restartProblem: 'failed 3 times in a row: Error: a fault' },
  ];
  const { shards } = (await api.admin('GET', '/admin/shards')).json;
  t.like(shards[0], {
    state: 'restarting',
    problem: 'data.mdb is damaged',
    lastFact: null,
    logBytes: null,
    factsSinceCheckpoint: null,
    checkpointAt: null,
    lastFailure: { at: new Date(NOW_MS).toISOString(), reason: 'Error: a fault' },
  });
  t.is(shards[1].problem, 'failed 3 times in a row: Error: a fault');
});

test('O18, O19: a whole server shows its own shards and problems', async (t) => {
  const { adminToken, paperbook } = await startWhole(t, { PAPERBOOK_SHARDS: '2' });
  const { shards } = await ask(adminToken, 'GET', `${paperbook.adminUrl}/admin/shards`);
  t.is(shards.length, 2);
  for (const [shard, { lastFact, ...shown }] of shards.entries()) {
    t.like(shown, { shard, state: 'open', problem: null, lastFailure: null });
    t.true(lastFact > 0 && shown.batches.count > 0 && shown.batches.p99Ms > 0);
  }
  const { log } = await ask(adminToken, 'GET', `${paperbook.adminUrl}/admin/problems`);
  t.deepEqual(log, []);
});

test('O19: /admin/problems has what is wrong now, and the last warnings and errors', async (t) => {
  const api = await startApi(t);
  api.engine.currentProblems = ['shard 0: no space left'];
  api.context.log.info({}, 'all is well');
  api.context.log.warn({ venue: 'venue_a', tries: 3, of: null }, 'venue connection lost');
  api.context.log.error(
    { err: new Error('no space left') },
    'the last use of a key was not written',
  );
  const { problems, log } = (await api.admin('GET', '/admin/problems')).json;
  t.deepEqual(problems, ['shard 0: no space left']);
  t.is(log.length, 2);
  t.like(log[0], {
    level: 'error',
    message: 'the last use of a key was not written',
    times: 1,
    details: { err: 'Error: no space left' },
  });
  t.like(log[1], {
    level: 'warn',
    message: 'venue connection lost',
    details: { venue: 'venue_a', tries: '3', of: 'null' },
  });
  t.is(log[1].at, log[1].firstAt);
  t.is(api.log.length, 3, 'the log itself has them all');
});

const NO_LOG = { info() {}, warn() {}, error() {} };

test('O19: equal lines count as one, with the time of the first and the last', (t) => {
  const lines = new RecentLines(NO_LOG);
  lines.warn({ feed: 1 }, 'lost');
  lines.warn({ feed: 2 }, 'lost');
  lines.error({ feed: 1 }, 'lost');
  lines.warn({ feed: 1 }, 'lost');
  const shown = lines.lines().map(({ level, details, times }) => [level, details.feed, times]);
  t.deepEqual(shown, [
    ['warn', '1', 2],
    ['error', '1', 1],
    ['warn', '2', 1],
  ]);
  const { firstAtMs, lastAtMs } = lines.lines()[0]!;
  t.true(firstAtMs <= lastAtMs && lastAtMs <= Date.now());
});

test('O19: a hundred lines are kept, none of them long', (t) => {
  const lines = new RecentLines(NO_LOG);
  for (let at = 0; at < 150; at++) lines.warn({ at, text: 'x'.repeat(10_000) }, 'y'.repeat(10_000));
  const kept = lines.lines();
  t.is(kept.length, 100);
  t.deepEqual([kept[0]!.details.at, kept.at(-1)!.details.at], ['149', '50']);
  t.is(kept[0]!.details.text!.length, 500);
  t.is(kept[0]!.message.length, 500);
  t.true(kept[0]!.message.endsWith('…'));
});
