/** `leaderboard`, `trader` and `eval`, at a server in this process. */
import test from 'ava';
import { newUser } from '../../api/identity/users.ts';
import { randomWorld, writeLogs } from '../engine/records/random-facts.ts';
import { onTerminal, startTrader } from './trader-commands.ts';

test.serial('U22: boards, a trader with picks, and evaluation, as the routes answer', async (t) => {
  const { api, command, json, fails } = await startTrader(t, {});
  const world = randomWorld(3, 400);
  for (const [at, { id }] of world.accounts.entries()) {
    const input = { email: `t${at}@example.com`, displayName: `Trader ${at}` };
    await api.store.addUser({ ...newUser(input, 1), id, private: false, showEarlierTrades: true });
  }
  writeLogs(api.dataDir, world, 1);
  const board = await json('leaderboard', '--window', 'all', '--kind', 'roi', '--all');
  t.deepEqual(board, (await api.call('GET', '/leaderboard?window=all&kind=roi&limit=100')).json);
  t.true(board.rows.length > 3);
  const first = await command('leaderboard', '--window', 'all', '--limit', '1');
  t.regex(first.stdout, /^RANK +TRADER +NAME +P&L/);
  t.regex(first.stderr, /^more with --cursor \S+, or --all\n$/);
  const trader = await json('trader', 'trader 1', '--limit', '2');
  t.is(trader.trader.displayName, 'Trader 1');
  t.is(trader.picks.length, 2);
  t.regex((await command('trader', 'Trader 1')).stdout, /Picks +\d+ won, \d+ lost, \d+ void/);
  t.regex(await fails('trader', 'nobody'), /^paperbook: trader_not_found/);
  const scored = await json('eval', '--window', 'all', '--metric', 'pnl', '--all');
  t.is(scored.metric, 'pnl');
  t.regex((await command('eval', '--window', 'all')).stdout, /^RANK +TRADER +NAME +PICKS +GAMES/);
  t.deepEqual((await json('eval', '--own')).picks, []);
  for (const words of [['leaderboard', '--window', 'all'], ['trader', 'Trader 1'], ['eval']]) {
    const { stdout } = await onTerminal(() => command(...words));
    for (const line of stdout.split('\n')) t.true(line.length <= 80, line);
  }
});
