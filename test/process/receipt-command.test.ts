/** Receipts of fills, by the routes and the commands, at a whole server in this process. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Tick } from '../../engine/rules/messages.ts';
import { startWhole, type WholeServer } from '../api/whole-server.ts';
import { NOON_MS, quoteTick } from '../engine/fixtures.ts';
import { type Json, request } from './client.ts';
import { runHere } from './run-here.ts';
import { tempDir } from './server.ts';

const isoAt = (afterMs: number) => new Date(NOON_MS + afterMs).toISOString();

/** Somebody with a key, at a server whose market 0 has a book of two levels a side. */
async function started(t: ExecutionContext) {
  const server = await startWhole(t, { PAPERBOOK_FILL_MODEL: 'queue' });
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
  const token = await keyOf(server);
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
  return { server, print, call, buy, command };
}

async function keyOf(server: WholeServer): Promise<string> {
  const { origin, adminToken, paperbook } = server;
  const body = JSON.stringify({ email: 'trader@example.com', password: 'correct horse' });
  const signedUp = await fetch(`${origin}/auth/v1/signup`, { method: 'POST', body });
  const { access_token: session, user } = (await signedUp.json()) as Json;
  const place = `${paperbook.adminUrl}/admin/users/${user.id}`;
  await request(adminToken, 'PATCH', place, { plan: 'enterprise' });
  const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
  const made = await request(session, 'POST', `${origin}/v1/api_keys`, { scopes });
  return made.body.token;
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
