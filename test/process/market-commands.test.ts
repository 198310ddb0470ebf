/** Commands that look things up, trade by name, and fit a terminal, at a server in this process. */
import test from 'ava';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { IDS, sampleCatalog } from '../api/samples.ts';
import type { Json } from '../api/support.ts';
import { onTerminal, startTrader } from './trader-commands.ts';

const idsOf = (rows: Json[]) => rows.map(({ id }) => id);

test.serial('U13: games and instruments, filtered as the routes filter', async (t) => {
  const { api, command, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
  const games = await json('games');
  t.deepEqual(games, (await api.call('GET', '/games')).json);
  t.deepEqual(idsOf(games.games), ['game_00000000A0', 'game_00000000B0']);
  t.deepEqual(idsOf((await json('games', '--from', '2026-11-22')).games), ['game_00000000B0']);
  t.deepEqual(idsOf((await json('games', '--to', '2026-11-21')).games), ['game_00000000D0']);
  t.is((await json('games', '--status', 'final')).count, 0);
  t.is((await json('games', '--league', 'cup')).count, 0);
  t.regex(await fails('games', '--from', 'soon'), /^paperbook: invalid_request: --from must be a/);
  const turned = await fails('games', '--from', '2026-11-22', '--to', '2026-11-21');
  t.is(turned.trim(), 'paperbook: invalid_request: --from must not be after --to');
  const table = await command('games');
  t.regex(table.stdout, /^GAME +MATCHUP +LEAGUE +STARTS +STATUS +INSTRUMENTS\n/);
  t.regex(
    table.stdout,
    /\ngame_00000000A0 +Bears at Lions +nfl +2026-11-21T08:00:\S+ +scheduled +2\n/,
  );

  const { old, lions, bears, total, outright } = IDS;
  const all = await json('instruments');
  t.deepEqual(all, (await api.call('GET', '/instruments')).json);
  t.deepEqual(idsOf(all.instruments), [old, lions, bears, total, outright]);
  const found = async (...flags: string[]) =>
    idsOf((await json('instruments', ...flags)).instruments);
  t.deepEqual(await found('--tradable'), [old, lions, bears, outright]);
  t.deepEqual(await found('--no-tradable'), [total]);
  t.deepEqual(await found('--priced'), [old, lions, bears, outright]);
  t.deepEqual(await found('--no-priced'), [total]);
  t.deepEqual(await found('--tradable', '--no-priced'), []);
  t.deepEqual(await found('--game', 'game_00000000A0'), [lions, bears]);
  t.deepEqual(await found('--type', 'total'), [total]);
  t.deepEqual(await found('--league', 'cup'), [outright]);
  t.deepEqual(await found('--status', 'final'), []);
  const none = await command('instruments', '--status', 'final');
  t.like(none, { code: 0, stdout: '', stderr: 'No instruments found.\n' });
  t.like(await command('trades'), { code: 0, stdout: '', stderr: 'No trades found.\n' });
  t.regex((await command('positions')).stdout, /^Open positions +0\n/, 'no headings alone');
  const wrong = await command('instruments', '--limit', 'ten');
  t.like(wrong, { code: 2, stdout: '' });
  t.regex(wrong.stderr, /'--limit <n>' argument 'ten' is invalid\. It is not a whole number/);
  const rows = await command('instruments', '--type', 'outright');
  const row = `${outright}  Lions win the season  outright  cup     2027-02-01T00:00:00.000Z  -`;
  t.true(rows.stdout.includes(row), rows.stdout);
});

test.serial(
  'A235, U79, U80: equity prints the points of the account, or that there is none; refusals name what was typed',
  async (t) => {
    const { api, command, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
    const nothing = { code: 0, stdout: '', stderr: 'No points of net worth found.\n' };
    t.like(await command('equity'), nothing);
    t.is((await command('buy', IDS.lions, 'yes', '10')).code, 0);
    const { points, run } = await json('equity', '--window', 'all');
    t.deepEqual([points.at(-1).run, run], [1, 1]);
    const now = (await api.call('GET', '/account')).json.account;
    t.is(points.at(-1).netWorthDollars, now.netWorthDollars);
    const { stdout } = await command('equity');
    t.regex(stdout, /^AT +RUN +NET WORTH +BALANCE +OPEN STAKE +REALIZED\n\d{4}-/);
    t.regex(stdout, /\n\S+Z +1 +\$[\d,.]+ +\$[\d,.]+ +\$[\d,.]+ +\$0\.00\n$/);
    t.regex(
      await fails('equity', '--window', '0d'),
      /^paperbook: invalid_request: --window must be/,
    );
    for (const name of ['equity', 'watch']) {
      const { code, stderr } = await command(name, '--org', 'x');
      t.is(code, 2);
      t.regex(stderr, /'--org <organizationId>' argument 'x' is invalid\. It is not the id of an/);
    }
    for (const [args, says] of [
      [['buy', IDS.lions, 'yes', '0'], '<count> must be at least 1'],
      [['buy', 'lions', 'yes', '1'], '<instrument> must be '],
      [['buy', IDS.lions, 'yes', '1', '--max', '0'], '--max must be at least 1'],
      [['buy', IDS.lions, 'yes', '1', '--prob', '100'], '--prob must be at most 99'],
      [['buy', IDS.lions, 'yes', '1', '--limit', '9', '--group', 'g'], '--group must be a uuid'],
      [['buy', IDS.lions, 'yes', '1', '--idempotency-key', 'a b'], '--idempotency-key must be '],
      [
        ['buy', IDS.lions, 'yes', '1', '--limit', '9', '--tif', 'ioc', '--post-only'],
        '--post-only belongs to ',
      ],
      [['sell', '--instrument', 'lions'], '--instrument must be '],
      [['sell', 'lions'], '<tradeId> must be a uuid'],
    ] as const) {
      const refusal = (await fails(...args)).split('\n').at(-2)!;
      t.true(refusal.startsWith(`paperbook: invalid_request: ${says}`), refusal);
    }
  },
);

test.serial('U13: search takes words as they are typed, best match first', async (t) => {
  const { command, json } = await startTrader(t, { catalog: sampleCatalog() });
  const found = await json('search', 'hawks', 'over');
  t.deepEqual(idsOf(found.instruments), [IDS.total]);
  t.is((await json('search', 'lions', '--limit', '1')).count, 1);
  t.deepEqual(idsOf((await json('search', 'lions', '--league', 'cup')).instruments), [
    IDS.outright,
  ]);
  // Of a game alone: the outright has none.
  const scheduled = await json('search', 'lions', '--status', 'scheduled');
  t.true(scheduled.count > 0 && !idsOf(scheduled.instruments).includes(IDS.outright));
  t.is((await json('search', 'lions', '--status', 'final')).count, 0);
  const none = await command('search', 'zebras');
  t.like(none, { code: 0, stdout: '', stderr: 'No instruments found.\n' });
});

test.serial('U13: lists come by the page, or with --all as one', async (t) => {
  const { command, json } = await startTrader(t, { catalog: sampleCatalog() });
  const first = await command('instruments', '--limit', '2');
  const [, cursor] = /^more with --cursor (\S+), or --all\n$/.exec(first.stderr) ?? [];
  t.is(first.stdout.split('\n').length, 4);
  const second = await json('instruments', '--limit', '2', '--cursor', cursor!);
  t.deepEqual(idsOf(second.instruments), [IDS.bears, IDS.total]);
  const all = await json('instruments', '--limit', '2', '--all');
  t.like(all, { count: 5, nextCursor: null });
  t.is(all.instruments.length, 5);
  const games = await command('games', '--all', '--limit', '1');
  t.is(games.stderr, '');
  t.is(games.stdout.split('\n').length, 4);
});

test.serial('U13: orders by status, and one of them with everything about it', async (t) => {
  const { command, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
  const place = (limit: string, ...more: string[]) =>
    json('buy', IDS.lions, 'yes', '10', '--limit', limit, ...more);
  const { order: rested } = await place('7', '--prob', '60');
  const { order: filled } = await place('50');
  const { order: missed } = await place('7', '--tif', 'ioc');
  const statuses = async (...flags: string[]) =>
    (await json('orders', ...flags)).orders.map(({ orderId }: Json) => orderId);
  // The clock of this engine does not move, so that they are as old as each other.
  const all = [missed.orderId, filled.orderId, rested.orderId].sort().reverse();
  t.deepEqual(await statuses(), all);
  t.deepEqual(await statuses('--status', 'resting'), [rested.orderId]);
  t.deepEqual(await statuses('--status', 'executed'), [filled.orderId]);
  t.deepEqual(await statuses('--all', '--limit', '1'), all);
  const { order: other } = await json('buy', IDS.bears, 'no', '5', '--limit', '9');
  t.deepEqual(await statuses('--instrument', IDS.bears), [other.orderId]);
  const { idempotencyKey } = await place('8');
  t.is((await statuses('--idempotency-key', idempotencyKey)).length, 1);
  t.deepEqual(await statuses('--to', '2026-11-21'), []);
  t.is((await statuses('--from', '2026-11-21')).length, 5);
  const opened = async (...flags: string[]) => (await json('trades', ...flags)).trades.length;
  t.is(await opened('--instrument', IDS.lions, '--from', '2026-11-21'), 1);
  t.is(await opened('--instrument', IDS.bears), 0);
  t.is(await opened('--to', '2026-11-21'), 0);
  const { stdout } = await command('orders', '--status', 'resting', '--instrument', IDS.lions);
  t.regex(stdout, /^ORDER +LABEL +ACTION +SIDE +CONTRACTS +FILLED +LIMIT ¢ +STATUS +PLACED\n/);
  t.regex(
    stdout,
    new RegExp(`\n${rested.orderId}  Lions to beat Bears  buy +yes +10 +0 +7 +resting`),
  );

  t.is((await json('order', rested.orderId)).order.orderId, rested.orderId);
  t.is(
    (await command('order', rested.orderId)).stdout,
    [
      `Order        ${rested.orderId}`,
      `Instrument   Lions to beat Bears (${IDS.lions})`,
      'What         buy 10 yes at 7¢, gtc',
      'Status       resting',
      'Filled       0 of 10',
      'Fill model   top_of_book',
      'Fees         -',
      'Holds        $0.70',
      'Probability  60%',
      `Placed       ${rested.createdAt} by api`,
      'Trade        -',
      '',
    ].join('\n'),
  );
  const { stdout: executed } = await command('order', filled.orderId);
  t.regex(executed, /\nFilled +10 of 10 at 43¢\n/);
  t.true(executed.endsWith(`\nTrade        ${filled.tradeId}\n`));
  t.regex((await command('order', missed.orderId)).stdout, /\nStatus +canceled, \S/);
  t.regex(await fails('order', IDS.lions), /^paperbook: order_not_found: /);
});

test.serial('U14: sell --instrument sells the one open position on it', async (t) => {
  const { command, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
  const buy = async (id: string, side = 'yes') => (await json('buy', id, side, '10')).trade.tradeId;
  t.is(
    await fails('sell', '--instrument', IDS.lions),
    `paperbook: no open position on ${IDS.lions}\n`,
  );
  const other = await buy(IDS.bears);
  const first = await buy(IDS.lions);
  const sold = await json('sell', '--instrument', IDS.lions);
  t.like(sold, { status: 'executed', trade: { tradeId: first, status: 'closed' } });
  const again = await fails('sell', '--instrument', IDS.lions);
  t.is(again, `paperbook: no open position on ${IDS.lions}\n`);

  const [yes, no] = [await buy(IDS.lions), await buy(IDS.lions, 'no')];
  const several = (await fails('sell', '--instrument', IDS.lions)).split('\n');
  t.is(several.shift(), `paperbook: 2 open positions on ${IDS.lions}; name one:`);
  t.deepEqual(several.sort(), ['', `  ${yes}  10 yes`, `  ${no}  10 no`].sort());
  const open = await json('trades', '--status', 'open');
  const openIds = open.trades.map(({ tradeId }: Json) => tradeId);
  t.deepEqual(openIds.sort(), [other, yes, no].sort(), 'nothing was sold');
  for (const [args, message] of [
    [[], 'sell takes either a trade id or --instrument'],
    [[yes, '--instrument', IDS.lions], 'sell takes either a trade id or --instrument'],
    [
      ['--instrument', IDS.bears, '--idempotency-key', 'k'],
      '--idempotency-key needs a trade id: a sold position is closed',
    ],
  ] as const) {
    const { code, stderr } = await command('sell', ...args);
    t.deepEqual([code, stderr], [2, `paperbook: ${message}\n`]);
  }
});

test.serial('U14: a sale that was not answered is repeated by its trade', async (t) => {
  const { api, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
  const { trade } = await json('buy', IDS.lions, 'yes', '10');
  const { reply } = api.engine;
  api.engine.reply = async (request) => {
    if (request.kind === 'place') throw new Error('a fault of the test');
    return await reply(request);
  };
  const stderr = await fails('sell', '--instrument', IDS.lions);
  const advice = `The same command with ${trade.tradeId} in place of --instrument and --idempotency`;
  t.true(stderr.includes(`it may have been placed. ${advice}-key `), stderr);
});

test.serial('U71, U72: amend changes an order under one key; post-only and groups', async (t) => {
  const { api, command, json, fails } = await startTrader(t, { catalog: sampleCatalog() });
  const limit = ['--limit', '30', '--post-only'];
  const { order } = await json('buy', IDS.lions, 'yes', '10', ...limit);
  t.like(order, { status: 'resting', postOnly: true });
  t.regex(await fails('buy', IDS.lions, 'yes', '1', '--limit', '60', '--post-only'), /would_take/);
  const change = ['--contracts', '4', '--idempotency-key', 'once'];
  t.like(await json('amend', order.orderId, ...change), { order: { contracts: 4 } });
  const { stdout, stderr } = await command('amend', order.orderId, '--limit', '31');
  t.is(stdout, `resting: buy 4 yes at 31¢, 0 filled\norder ${order.orderId}\n`);
  t.regex(stderr, /^idempotency key \S+\n$/);
  t.like(await json('amend', order.orderId, ...change), { order: { limitCents: 31 } });
  const { reply } = api.engine;
  api.engine.reply = async (request) => {
    if (request.kind === 'amend') throw new Error('a fault of the test');
    return await reply(request);
  };
  t.regex(await fails('amend', order.orderId, '--limit', '32'), /--idempotency-key \S+ shows/);
  t.is((await command('amend', order.orderId)).code, 2);
  t.is((await command('buy', IDS.lions, 'yes', '1', '--post-only')).code, 2);
  const unknown = ['--group', order.orderId];
  t.regex(await fails('buy', IDS.lions, 'yes', '1', ...unknown), /order_group_not_found/);
});

const WIDE = 'Northumberland Wanderers and District Association Football Club';

/** Names as long as venues have them. */
function wideCatalog(): Catalog {
  const { games, instruments, ...rest } = sampleCatalog();
  const team = { code: 'NWDAFC', name: WIDE };
  const league = 'international-friendly-matches-of-clubs';
  return {
    ...rest,
    games: games.map((game) => ({ ...game, league, home: team, away: team })),
    instruments: instruments.map((instrument) => ({
      ...instrument,
      league,
      label: `${WIDE} to beat ${WIDE} by more than 1.5`,
      marketType: 'player_prop',
    })),
  };
}

test.serial('U12: no command prints a line wider than its terminal', async (t) => {
  const { command, json } = await startTrader(t, { catalog: wideCatalog() });
  const { trade } = await json('buy', IDS.lions, 'yes', '1000');
  const inAYear = new Date(Date.parse('2026-11-21T05:00:00Z') + 360 * 86_400_000).toISOString();
  const limit = ['buy', IDS.bears, 'no', '90000', '--limit', '1', '--expires', inAYear];
  const { order } = await json(...limit);
  await json('keys', 'create', '--trade', '--label', WIDE);
  for (const args of [
    ['quote', IDS.lions, IDS.total],
    ['games'],
    ['instruments'],
    ['search', 'wanderers'],
    ['portfolio'],
    ['trades'],
    ['orders'],
    ['order', order.orderId],
    ['whoami'],
    ['keys', 'list'],
    ['buy', IDS.outright, 'yes', '12345'],
    limit,
    ['sell', trade.tradeId],
    ['sell', '--instrument', IDS.outright],
    ['cancel', order.orderId],
  ]) {
    const { code, stdout, stderr } = await onTerminal(() => command(...args));
    t.is(code, 0, stderr);
    for (const line of stdout.split('\n')) {
      t.true(line.length <= 80, `${args.join(' ')} prints ${line.length} columns: ${line}`);
    }
    const isWhole = stdout.replaceAll(/\s+/g, ' ').includes('Northumberland');
    t.true(isWhole || ['whoami', 'cancel'].includes(args[0]!) || limit === args, stdout);
  }
});
