/** What an orders file means: its accounts, its order among the frames, and the ids of what it makes. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { readOrdersFile } from '../../api/cli/orders-file.ts';
import { accountIdOf, orderIdOf } from '../../api/cli/replay-ids.ts';
import type { ReplaySummary } from '../../api/cli/summary.ts';
import { collect } from '../feeds/golden.ts';
import { files, ORDER } from './files.ts';
import { command, feedLine, HEADER, run, tradeRows } from './harness.ts';
import { at, buy, quote } from './scenario.ts';

test('R3, R5, R7: an account is a name, begins with the start balance, has no hard trade limits, and cancels limit orders of its own; at one instant frames come first, and after the last one orders have their own time', async (t) => {
  const feed = [
    HEADER,
    feedLine(at(0), quote('A', 40, 43)),
    feedLine(at(1), quote('A', 50, 53)),
    feedLine(at(2), quote('A', 60, 63)),
  ];
  const soon = { ...ORDER, at: at(0.5) };
  const longest = 'x'.repeat(128);
  const many = Array.from({ length: 120 }, (_, number) => {
    const order = { idempotencyKey: `k${number}`, ...buy('A', 'yes', 1) };
    return { ...soon, account: 'many', order };
  });
  const cancel = (key: string) => ({ at: at(0.5), account: 'ann', cancel: key });
  const cancels = [cancel('nothing'), cancel('k'), { ...cancel('k'), account: 'bob' }];
  const later = [1, 2, 7].map((seconds) => {
    const order = { idempotencyKey: `at-${seconds}`, ...buy('A', 'yes', 1) };
    return { at: at(seconds), account: 'cat', order };
  });
  const orders = [{ ...soon, account: longest }, ...many, soon, ...cancels, ...later];
  const made = files(t, { feed, orders });
  const trades = `${made.work}/trades.csv`;
  const summary = await run({ ...made, trades });
  t.like(summary.orders, { executed: 125, refused: { order_not_found: 3 } });
  t.deepEqual(
    summary.accounts.map(({ account, balanceDollars }) => [account, balanceDollars]),
    [
      ['ann', 99_995.7],
      ['bob', 100_000],
      ['cat', 99_998.21],
      ['many', 99_948.4],
      [longest, 99_995.7],
    ],
  );
  t.deepEqual(
    tradeRows(trades)
      .filter(({ account }) => account === 'cat')
      .map(({ openedAt, entryCents }) => [openedAt, entryCents])
      .sort(),
    [
      [at(1), '53'],
      [at(2), '63'],
      [at(7), '63'],
    ],
  );
  for (const account of ['', `${longest}x`]) {
    const made = files(t, { orders: [{ ...ORDER, account }] });
    const reading = collect(readOrdersFile(made.orders));
    await t.throwsAsync(reading, { message: /line 1: account must/ });
  }
});

test('R8: ids come from the names and keys of the file, and the time of a line', (t) => {
  // SHA-256 of "account/ann" begins with 3be 2 fb3 81d20c0e2858; of its 2 two bits count: 10.
  const ann = accountIdOf('ann');
  t.is(ann, '00000000-0000-73be-afb3-81d20c0e2858');
  const atMs = 0x0123_4567_89ab;
  const hash = createHash('sha256').update(`${ann}/k`).digest('hex');
  const order = orderIdOf(ann, 'k', atMs);
  t.true(order.startsWith(`01234567-89ab-7${hash.slice(0, 3)}-`));
  t.true(order.endsWith(`${hash.slice(4, 7)}-${hash.slice(7, 19)}`));
});

test('R1, R10: the command prints the summary, in which a replayed key counts nowhere', async (t) => {
  const dear = { idempotencyKey: 'dear', ...buy('A', 'yes', 1_000_000_000) };
  const orders = [ORDER, ORDER, { ...ORDER, account: 'abe', order: dear }];
  const made = files(t, { orders });
  const { code, stdout, stderr } = await command(
    ...[made.feed, '--catalog', made.catalog, '--orders', made.orders, '--shards', '2', '--json'],
  );
  t.deepEqual([code, stderr], [0, '']);
  const printed: ReplaySummary = JSON.parse(stdout);
  const { stateHash, elapsedMs, ticksPerSecond, ...rest } = printed;
  t.regex(stateHash, /^[0-9a-f]{64}$/);
  t.true(Number.isInteger(elapsedMs) && Number.isInteger(ticksPerSecond));
  const account = { heldDollars: 0, realizedPnlDollars: 0, restingOrders: 0 };
  t.deepEqual(rest, {
    ...{ frames: 3, ticks: 3, skipped: 0, trades: 1 },
    orders: {
      ...{ executed: 1, resting: 0, canceled: 0, expired: 0 },
      refused: { insufficient_balance: 1 },
    },
    accounts: [
      {
        ...account,
        ...{ account: 'abe', balanceDollars: 100_000, openStakeDollars: 0 },
        ...{ netWorthDollars: 100_000, openPositions: 0 },
      },
      {
        ...account,
        ...{ account: 'ann', balanceDollars: 99_995.7, openStakeDollars: 4.3 },
        ...{ netWorthDollars: 99_999.8, openPositions: 1 }, // 10 at a bid of 41
      },
    ],
  });
});
