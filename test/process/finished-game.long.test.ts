/** A game of the demo, played to its end: two minutes, most of it waiting. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { gamesBetween } from '../../feeds/simulator/schedule.ts';
import { type Json, request } from './client.ts';
import { callerOf, untilTaken } from './demo-caller.ts';
import { startFor, tempDir } from './server.ts';

test.serial(
  'N21, paperbook demo: a game that is over stays, final, for orders, backtests and records',
  async (t) => {
    t.timeout(240_000);
    const dataDir = path.join(tempDir(t), 'data');
    mkdirSync(path.join(dataDir, 'demo'), { recursive: true, mode: 0o700 });
    // Its first game of a few minutes has been played for 140 of its 240 seconds.
    const schedule = { seed: 1, firstStartMs: Date.now() - 260_000 };
    writeFileSync(path.join(dataDir, 'demo/simulator.json'), JSON.stringify(schedule));
    const [soonest] = gamesBetween(schedule, Date.now(), Date.now()).sort(
      (a, b) => a.resolvesAtMs - b.resolvesAtMs,
    );
    t.false(soonest!.cancelled);
    const demo = callerOf(await startFor(t, 'demo', { dataDir }));
    const { game, instruments } = await demo.get(`/games/${soonest!.slug}`);
    t.is(game.status, 'inprogress');
    const [{ id: instrumentId, label }] = instruments;
    const buy = { action: 'buy', type: 'market', instrumentId, side: 'yes', count: 1 };
    const bought = await untilTaken(async () => {
      return (await demo.post({ ...buy, idempotencyKey: 'bought' })).body;
    });

    const codes = new Set<string>();
    const statuses = new Set<string>();
    for (let tries = 0; !statuses.has('final') && Date.now() < soonest!.resolvesAtMs + 60_000; ) {
      const { instrument } = await demo.get(`/instruments/${instrumentId}`);
      statuses.add(instrument.gameStatus);
      if (Date.now() > soonest!.endsAtMs - 1000) {
        tries += 1;
        const { body } = await demo.post({ ...buy, idempotencyKey: `try-${tries}` });
        if (body.error !== undefined) codes.add(body.error.code);
      }
      await setTimeout(250);
    }
    t.deepEqual([...statuses], ['inprogress', 'final']);
    t.true(codes.has('market_not_open'));
    t.false(codes.has('instrument_not_found'), [...codes].join());

    // Until the catalog has been written again.
    await setTimeout(6000);
    const { games } = await demo.get('/games?status=final');
    t.deepEqual(
      games.map(({ slug }: Json) => slug),
      [soonest!.slug],
    );
    const trade = await eventually('the result', async () => {
      const { trades } = await demo.get('/portfolio/trades?status=settled&limit=100');
      return trades.find(({ tradeId }: Json) => tradeId === bought.trade.tradeId) ?? null;
    });
    const rule = { side: 'yes', entryMinutesBeforeStart: -3 };
    const body = { markets: { league: soonest!.league.name }, rule, stake: { contracts: 1 } };
    const tested = await request(demo.key, 'POST', `${demo.baseUrl}/backtest`, body);
    t.is(tested.status, 200);
    t.is(tested.body.summary.trades, 2, JSON.stringify(tested.body));
    const own = tested.body.trades.find((one: Json) => one.instrumentId === instrumentId);
    t.like(own, { label, result: trade.pnlDollars > 0 ? 'won' : 'lost' });
    const { picks: scored } = await eventually('a score', async () => {
      const answer = await demo.get('/me/eval?window=all');
      return answer.picks.length > 0 ? answer : null;
    });
    t.true(scored.some(({ tradeId }: Json) => tradeId === trade.tradeId));
  },
);
