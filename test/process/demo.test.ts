/** The demo at first sight: past games, public bots, and a first start that is killed. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { BOTS } from '../../api/cli/demo-bots.ts';
import { type Json, request } from './client.ts';
import { callerOf } from './demo-caller.ts';
import { runHere } from './run-here.ts';
import { Command, eventually, startFor, tempDir } from './server.ts';

test.serial(
  'U33, U34, U35, U36, paperbook demo: killed amid its first start, it has a past and bots at the next',
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

    const first = await startFor(t, 'demo', { dataDir, isLively: true });
    const startedAtMs = Date.now();
    const demo = callerOf(first);
    const { account } = await demo.get('/portfolio');
    t.is(account, null, 'the demo’s user has not traded');
    const { rows } = await eventually('a board of all bots', async () => {
      const { status, body } = await request(
        demo.key,
        'GET',
        `${demo.baseUrl}/leaderboard?window=all`,
      );
      return status === 200 && body.rows.length === BOTS.length ? body : null;
    });
    for (const { displayName } of rows) t.regex(displayName, / Bot$/);
    const { rows: scored } = await demo.get('/eval?window=all');
    t.true(scored.length > 4, JSON.stringify(scored));
    const { picks } = await demo.get(`/traders/${rows[0].traderId}/picks`);
    t.true(picks.length > 3);

    const { games: over } = await demo.get('/games?status=final&limit=100');
    t.true(over.length > 20);
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

    const tradesSince = async (atMs: number) => {
      const { stdout } = await runHere(['log', '--json', '--data-dir', dataDir]);
      const facts = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      return facts.filter(({ kind, at }) => kind === 'trade_opened' && Date.parse(at) > atMs);
    };
    await eventually(
      'a bot’s trade',
      async () => (await tradesSince(startedAtMs)).length > 0 || null,
      {
        everyMs: 1000,
      },
    );
    const exit = await first.command.end('SIGINT');
    t.like(exit, { code: 0, stderr: '' });

    const { bots } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
    t.is(bots.length, BOTS.length);
    const trades = (await tradesSince(0)).length;
    const second = await startFor(t, 'demo', { dataDir, isLively: true });
    const kept = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
    t.deepEqual(kept.bots, bots);
    t.is(kept.key, demo.key);
    t.true((await tradesSince(0)).length >= trades);
    await second.command.end('SIGINT');
    const { code, stdout } = await runHere(['verify', dataDir]);
    t.is(code, 0, stdout);
  },
);
