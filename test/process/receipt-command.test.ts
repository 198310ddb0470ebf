/** Receipts of fills, by the routes and the commands, at a whole server in this process. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { feeOf } from '../../api/operations/routes/receipts.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import { startWhole, type WholeServer } from '../api/whole-server.ts';
import { NOON_MS, quoteTick } from '../engine/fixtures.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { type Json, request } from './client.ts';
import { runHere } from './run-here.ts';
import { tempDir } from './server.ts';

const isoAt = (afterMs: number) => new Date(NOON_MS + afterMs).toISOString();

/** Somebody with a key, at a server whose market 0 has a book of two levels a side. */
async function started(t: ExecutionContext, catalog?: string) {
  const server = await startWhole(t, { PAPERBOOK_FILL_MODEL: 'queue' }, catalog);
  const send = (...ticks: Tick[]) => {
    for (const tick of ticks) server.paperbook.engine.tick(tick);
  };
  const on = { source: 0, market: 0 } as const;
  const depth = {
    yesBids: [[40, 10] as const, [39, 10] as const],
    yesAsks: [[43, 10] as const, [45, 10] as const],
  };
  send(quoteTick({ atMs: NOON_MS, yesBidContracts: 10, yesAskContracts: 10, depth }), {
    ...{ kind: 'levels', ...on, atMs: NOON_MS, repeats: false },
    levels: {
      yes: [
        [4000, 1000],
        [3900, 1000],
      ],
      no: [
        [5700, 1000],
        [5500, 1000],
      ],
    },
  });
  const print = (afterMs: number, price: number, contracts: number) => {
    const of = { side: 'yes', price, contracts, decrease: 0 } as const;
    send({ kind: 'print', ...on, atMs: NOON_MS + afterMs, ...of });
  };
  const { token, session, userId } = await keyOf(server);
  const call = async (method: string, where: string, body?: object) => {
    return await request(token, method, `${server.origin}/v1${where}`, body);
  };
  let orders = 0;
  const buy = async (fields: object): Promise<Json> => {
    const of = { action: 'buy', instrumentId: server.instrumentIds[0], side: 'yes' };
    const body = { ...of, ...fields, idempotencyKey: `k${orders++}` };
    const answer = await call('POST', '/portfolio/orders', body);
    t.is(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const keyFile = path.join(tempDir(t), 'key');
  writeFileSync(keyFile, token);
  const command = async (...args: string[]) => {
    return await runHere([...args, '--key-file', keyFile, '--server', server.origin]);
  };
  return { server, print, call, buy, command, session, userId };
}

async function keyOf(server: WholeServer) {
  const { origin, adminToken, paperbook } = server;
  const body = JSON.stringify({ email: 'trader@example.com', password: 'correct horse' });
  const signedUp = await fetch(`${origin}/auth/v1/signup`, { method: 'POST', body });
  const { access_token: session, user } = (await signedUp.json()) as Json;
  const place = `${paperbook.adminUrl}/admin/users/${user.id}`;
  await request(adminToken, 'PATCH', place, { plan: 'enterprise' });
  const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
  const made = await request(session, 'POST', `${origin}/v1/api_keys`, { scopes });
  return {
    token: made.body.token as string,
    session: session as string,
    userId: user.id as string,
  };
}

test.serial(
  'A156: a receipt says which levels were taken, or what was ahead in the queue',
  async (t) => {
    const { server, print, call, buy } = await started(t);
    const { trade } = await buy({ type: 'market', count: 15 });
    const taken = (await call('GET', `/portfolio/trades/${trade.tradeId}/receipt`)).body;
    t.like(taken.receipt, { version: 1, tradeId: trade.tradeId, model: 'queue', latencyMs: 0 });
    t.is(taken.receipt.acceptedAt, isoAt(0));
    t.is(taken.receipt.arrivedAt, isoAt(0));
    const [fill] = taken.receipt.fills;
    t.like(fill, { contracts: 15, liquidity: 'taker', venue: 'venue_a', queue: null, gapsMs: 0 });
    t.deepEqual(fill.levels, [
      [43, 10],
      [45, 5],
    ]);
    t.is(fill.quoteAgeMs, 0);

    const { order } = await buy({ type: 'limit', limitPriceCents: 40, count: 3 });
    const where = `/portfolio/orders/${order.orderId}/receipt`;
    const before = (await call('GET', where)).body.receipt;
    t.deepEqual([before.tradeId, before.fills], [null, []]);
    print(5000, 4000, 1250);
    print(6000, 4000, 700);
    await server.paperbook.engine.drained();
    const { receipt } = (await call('GET', where)).body;
    const of = { priceCents: 40, liquidity: 'maker', venue: 'venue_a', levels: null, fee: null };
    const known = { ...of, quoteAgeMs: 0, gapsMs: 0 };
    const queued = (aheadBefore: number, contracts: number, afterMs: number) => ({
      queue: { aheadAtArrival: 10, aheadBefore, prints: [{ at: isoAt(afterMs), contracts }] },
    });
    t.deepEqual(receipt.fills, [
      { ...known, at: isoAt(5000), contracts: 2, ...queued(10, 12.5, 5000) },
      { ...known, at: isoAt(6000), contracts: 1, ...queued(0, 7, 6000) },
    ]);
    const again = await call('GET', `/portfolio/orders/${order.orderId.toUpperCase()}/receipt`);
    t.deepEqual(again.body.receipt, receipt);
    const ofTrade = await call('GET', `/portfolio/trades/${receipt.tradeId}/receipt`);
    t.deepEqual(ofTrade.body.receipt, receipt);
    for (const [list, code] of [
      ['orders', 'order_not_found'],
      ['trades', 'trade_not_found'],
    ]) {
      const { status, body } = await call('GET', `/portfolio/${list}/nothing/receipt`);
      t.deepEqual([status, body.error.code], [404, code]);
    }
    const url = `${server.paperbook.adminUrl}/admin/venue-data`;
    await request(server.adminToken, 'PUT', url, { on: false });
    const dark = await call('GET', where);
    t.deepEqual([dark.status, dark.body.error.code], [403, 'venue_data_off']);
  },
);

test.serial(
  'A157, A158, A159: a receipt is signed, shown, and checked without a server',
  async (t) => {
    const { call, buy, command } = await started(t);
    const { trade } = await buy({ type: 'market', count: 12 });
    const place = `/portfolio/trades/${trade.tradeId}/receipt`;
    const exit = await command('receipt', trade.tradeId, '--json');
    t.is(exit.code, 0, exit.stderr);
    const answer = JSON.parse(exit.stdout);
    t.deepEqual(answer, (await call('GET', place)).body);
    t.is((await call('GET', place)).body.envelope.signature, answer.envelope.signature);
    const shown = await command('receipt', answer.receipt.orderId, '--order');
    t.regex(shown.stdout, /^Fill model +queue$/m);
    t.regex(shown.stdout, /taker at venue_a +10 at 43¢, 2 at 45¢ /);
    t.notRegex(shown.stdout, /^Fee of/m);
    t.regex((await command('receipt', trade.tradeId, '--order')).stderr, /order_not_found/);

    const dir = tempDir(t);
    const keys = path.join(dir, 'keys.json');
    writeFileSync(keys, JSON.stringify((await call('GET', '/track-record/keys')).body));
    const verified = async (content: object, ...args: string[]) => {
      const file = path.join(dir, 'receipt.json');
      writeFileSync(file, JSON.stringify(content));
      const { code, stdout } = await runHere(['verify-receipt', file, ...args, '--json']);
      return [code, JSON.parse(stdout).problem];
    };
    t.deepEqual(await verified(answer, '--keys', keys), [0, null]);
    t.deepEqual(await verified(answer), [0, null]);
    const [fill] = answer.receipt.fills;
    const cheaper = { ...answer.receipt, fills: [{ ...fill, priceCents: 43 }] };
    const changed = { ...answer, receipt: cheaper };
    t.deepEqual(await verified(changed), [1, 'receipt differs from the payload']);
    const { receipt: record, ...rest } = answer;
    const other = await verified({ ...rest, record });
    t.deepEqual(other, [1, 'it must have envelope, mode, receipt and nothing else']);
  },
);

const line = (fields: object) => ({
  ...{ venue: 'venue_a', series: null, from: '2020-01-01T00:00:00Z', schedule: 'kalshi' },
  ...{ taker: '0.07', maker: '0.0175', multiplier: '1', exponent: 1, ...fields },
});

test.serial(
  'A158, A240, U48: a receipt has the fee of each fill, with all that it takes to compute it again',
  async (t) => {
    const four = ['i0', 'i1', 'i2', 'i3'].map((slug) => instrument(slug, 'g1'));
    const catalog = JSON.parse(catalogOf([game('g1')], four));
    catalog.fees = [line({ from: '2019-01-01T00:00:00Z', taker: '0.09' }), line({})];
    const of = await started(t, JSON.stringify(catalog));
    const { server, print, call, buy, command, session } = of;
    const paid = await buy({ type: 'market', count: 1 });
    const realism = { fees: 'venue' };
    t.is((await request(session, 'PATCH', `${server.origin}/v1/me`, { realism })).status, 200);
    const { trade } = await buy({ type: 'market', count: 14 });
    const { order } = await buy({ type: 'limit', limitPriceCents: 40, count: 3 });
    print(5000, 4000, 1250);
    print(6000, 4000, 700);
    await server.paperbook.engine.drained();
    const receiptOf = async (where: string) =>
      (await call('GET', `/portfolio/${where}/receipt`)).body;

    const free = await receiptOf(`trades/${paid.trade.tradeId}`);
    t.is(free.receipt.fills[0].fee, null);
    const taken = await receiptOf(`trades/${trade.tradeId}`);
    const words = 'contracts × rate × price × (1 - price), each up to 0.000001';
    const table = 'kalshi, every market, from 2020-01-01';
    // The first contract of the level was taken before.
    t.deepEqual(taken.receipt.fills[0].fee, {
      ...{ dollars: 0.25, table, rate: '0.07' },
      formula:
        `${words}: 9 × 0.07 × 0.43 × 0.57 = 0.154413; 5 × 0.07 × 0.45 × 0.55 = 0.086625, ` +
        'together 0.241038, up to the cent 0.25',
    });
    t.is(taken.receipt.fills[0].fee.dollars, trade.feesDollars);
    const made = await receiptOf(`orders/${order.orderId}`);
    t.deepEqual(
      made.receipt.fills.map(({ fee }: Json) => fee),
      [
        {
          ...{ dollars: 0.01, table, rate: '0.0175' },
          formula: `${words}: 2 × 0.0175 × 0.4 × 0.6 = 0.0084, together 0.0084, up to the cent 0.01`,
        },
        {
          ...{ dollars: 0.01, table, rate: '0.0175' },
          formula:
            `${words}: 1 × 0.0175 × 0.4 × 0.6 = 0.0042, together 0.0042, less 0.0016 paid before, ` +
            'up to the cent 0.01',
        },
      ],
    );

    const charged = / +\$0\.25 +queue$/m;
    for (const list of ['trades', 'positions', 'portfolio']) {
      const { stdout } = await command(list);
      t.regex(stdout, / FEES +FILL MODEL$/m);
      t.regex(stdout, charged);
      t.regex(stdout, / - +queue$/m, 'the first paid none');
    }
    await request(session, 'PATCH', `${server.origin}/v1/me`, {
      realism: { latencyMs: { min: 60_000, max: 60_000 } },
    });
    t.notRegex((await command('orders')).stdout, /MEETS THE BOOK/);
    const { order: late } = await buy({ type: 'limit', limitPriceCents: 40, count: 3 });
    const pending = new RegExp(` MEETS THE BOOK .*\n${late.orderId} .* ${late.pendingUntil} `);
    t.regex((await command('orders')).stdout, pending);
    t.regex((await command('order', late.orderId)).stdout, /^Meets the book +2/m);

    const shown = await command('receipt', trade.tradeId);
    t.regex(shown.stdout, /^Fee of the fill at .+Z +\$0\.25$/m);
    t.regex(shown.stdout, /^Fee table +kalshi, every market, from 2020-01-01$/m);
    t.regex(shown.stdout, /^Formula .+ together 0\.241038, up to the cent 0\.25$/m);
    const file = path.join(tempDir(t), 'receipt.json');
    writeFileSync(file, JSON.stringify(taken));
    const checked = await runHere(['verify-receipt', file]);
    t.is(checked.code, 0, checked.stderr);
    t.true(checked.stdout.includes(shown.stdout), checked.stdout);
  },
);

test('A240: a formula follows the rounding of its venue, and says if the line gives another fee', (t) => {
  const fill = {
    ...{ atMs: NOON_MS, contracts: 10, priceCents: 40, levels: null },
    ...{ queue: null, quoteAgeMs: 0, gapsMs: null },
  } as const;
  const ofLine = (fields: object, more: object = {}) => {
    const fee = { cents: -3, paidBeforeMicros: 0, venueMarketId: 'S-1' };
    const table = [line({ venue: 'venue_b', series: 'S', ...fields })] as FeeEntry[];
    return feeOf(
      { ...fill, venue: 'venue_b', liquidity: 'maker', fee: { ...fee, ...more } },
      table,
    );
  };
  const american = { schedule: 'polymarket_us', maker: '-0.0125' };
  const table = 'polymarket_us, S, from 2020-01-01';
  const cents = "each to the cent, half to even, a taker's fill at most its sum to the cent";
  const words = `contracts × rate × price × (1 - price), ${cents}`;
  const formula = `${words}: 10 × -0.0125 × 0.4 × 0.6 = -0.03, together -0.03, up to the cent -0.03`;
  t.deepEqual(ofLine(american), { dollars: -0.03, table, rate: '-0.0125', formula });
  t.like(ofLine(american, { cents: -2 }), {
    dollars: -0.02,
    formula:
      `${formula}, but -0.02 was charged: ` +
      "the order's hold and the balance left no more, or the table has changed",
  });
  t.like(ofLine({ schedule: 'polymarket', multiplier: '2', exponent: 2 }, { cents: 0 }), {
    rate: '0',
    formula:
      'contracts × rate × (price × (1 - price))^2, each down to 0.00001: ' +
      '10 × 0 × (0.4 × 0.6)^2 = 0, together 0, up to the cent 0',
  });
  t.like(ofLine({ series: 'OTHER', venue: 'venue_c' }, { cents: 0 }), { table: null, rate: '0' });
  t.like(ofLine({}, { venueMarketId: null }), { dollars: -0.03, table: null, rate: null });
  t.like(ofLine({ multiplier: '0.5' }), { rate: '0.0175 × 0.5' });
});
