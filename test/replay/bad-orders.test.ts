/** Orders files that cannot be read, and orders that are refused. */
import path from 'node:path';
import test from 'ava';
import { readOrdersFile } from '../../api/cli/orders-file.ts';
import { collect } from '../feeds/golden.ts';
import { variantsOfRun } from '../model/seeds.ts';
import { runHere } from '../process/run-here.ts';
import { files, ORDER } from './files.ts';
import { figures, HEADER, run, writeLines } from './harness.ts';
import { at, buy } from './scenario.ts';

/** `paperbook feed replay ...` in this process. */
const commandHere = (...args: string[]) => runHere(['feed', 'replay', ...args]);

for (const [what, line, message] of [
  ['no JSON', '{"at":', 'not JSON'],
  ['an array', '[]', 'the body must be an object'],
  ['no account', { ...ORDER, account: undefined }, 'account is required'],
  ['an unknown field', { ...ORDER, note: 'x' }, 'unknown field "note"'],
  ['an order and a cancel', { ...ORDER, cancel: 'k' }, 'unknown field "order"'],
  ['neither', { at: at(2), account: 'ann' }, 'order is required'],
  [
    'a time without a zone',
    { ...ORDER, at: '2026-01-15T12:00:02' },
    'at must be a date-time with a zone',
  ],
  ['a leap second', { ...ORDER, at: '2026-01-15T23:59:60Z' }, 'at must be a date-time with a zone'],
  ['a number for a time', { ...ORDER, at: 1 }, 'at must be a string'],
  ['an earlier time', { ...ORDER, at: at(0.999) }, 'at is earlier than on the line before'],
] as const) {
  // A replay that is stopped by one of them: the next test.
  test(`R2: ${what} stops the reading of an orders file with its line`, async (t) => {
    const { orders } = files(t, { orders: [ORDER, '', line, ORDER] });
    const reading = collect(readOrdersFile(orders));
    await t.throwsAsync(reading, { message: `${orders} line 3: ${message}` });
  });
}

test.serial('R2: a bad one stops a replay with exit code 1, an absent one too', async (t) => {
  const made = files(t, { orders: [ORDER, { ...ORDER, at: at(0) }] });
  const args = [made.feed, '--catalog', made.catalog, '--json', '--orders'];
  // Lines of a feed are passed over on request; what was to be traded never is.
  t.deepEqual(await commandHere(...args, made.orders, '--skip-bad'), {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `paperbook: ${made.orders} line 2: at is earlier than on the line before\n`,
  });
  const absent = path.join(made.work, 'absent.jsonl');
  await t.throwsAsync(collect(readOrdersFile(absent)), {
    message: `${absent} cannot be read (ENOENT)`,
  });
});

test('R2: an empty one is none', async (t) => {
  const { catalog, orders, work } = files(t, { orders: [] });
  const blank = writeLines(work, 'blank.jsonl', ['', ' \r', '']);
  for (const none of [orders, blank]) t.deepEqual(await collect(readOrdersFile(none)), []);
  const feed = writeLines(work, 'empty.jsonl', [HEADER]);
  const nothing = { frames: 0, ticks: 0, skipped: 0, trades: 0, accounts: [] };
  t.like(await run({ feed, catalog, orders: blank }), nothing);
});

test('R4, R6: what the body says is refused by code, and stops nothing', async (t) => {
  const { order } = ORDER;
  const nobodys = '01890000-0000-7000-8000-000000000000';
  const lines: [object, string][] = [
    [{ ...order, count: 0 }, 'invalid_request'],
    [{ ...order, idempotencyKey: 'b', price: 1 }, 'invalid_request'],
    [{ ...order, idempotencyKey: 'c', sellOf: 5 }, 'invalid_request'],
    [{ ...order, idempotencyKey: 'd', execution: 'venue_a' }, 'insufficient_scope'],
    [{ ...order, idempotencyKey: 'd', execution: 'venue_c_intl' }, 'insufficient_scope'],
    [{ ...order, idempotencyKey: 'd', execution: 'venue_c' }, 'us_not_eligible'],
    [{ action: 'sell', type: 'market', idempotencyKey: 'e', sellOf: 'x' }, 'trade_not_found'],
    [{ action: 'sell', type: 'market', idempotencyKey: 'f', tradeId: nobodys }, 'trade_not_found'],
    [order, ''],
    [
      { action: 'sell', type: 'market', idempotencyKey: 'g', sellOf: 'k', tradeId: nobodys },
      'invalid_request',
    ],
  ];
  const orders = lines.map(([body]) => ({ ...ORDER, order: body }));
  const summary = await run(files(t, { orders }));
  const expected: Record<string, number> = {};
  for (const [, code] of lines) if (code !== '') expected[code] = (expected[code] ?? 0) + 1;
  t.deepEqual(summary.orders, {
    executed: 1,
    resting: 0,
    canceled: 0,
    expired: 0,
    refused: expected,
  });
});

test('R9: the figures do not hang on who shares a shard', async (t) => {
  const orders = [
    ...['ann', 'bob', 'cat', 'dan', 'eve', 'fay'].flatMap((account) => [
      { ...ORDER, at: at(1), account },
      {
        at: at(1),
        account,
        order: {
          idempotencyKey: 'brief',
          ...buy('A', 'yes', 10, { limitPriceCents: 30, expiresAt: at(1.2) }),
        },
      },
    ]),
    // Between two frames, so that only an order says that 1.2 s have come.
    { ...ORDER, at: at(1.5), account: 'gus' },
    // Long after the last frame, so that only an order says that the quotes are stale.
    { ...ORDER, at: at(600), account: 'gus' },
  ];
  const made = files(t, { orders });
  const one = figures(await run(made));
  t.is(one.orders.expired, 6);
  for (const { account, netWorthDollars } of one.accounts) t.is(netWorthDollars, 100_000, account);
  for (const shards of variantsOfRun([2, 4]))
    t.deepEqual(figures(await run({ ...made, shards })), one);
});
