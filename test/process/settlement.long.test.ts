/** A server that is killed while the trades of a result settle. Rule S15 (engine/RULES.md). */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type MarketNumber, marketName } from '../../engine/base/units.ts';
import { readFacts } from '../../engine/readers/read-facts.ts';
import { BLANK_ORDER, type PlaceOrder } from '../../engine/rules/messages.ts';
import { quoteTick, uuidOf } from '../engine/fixtures.ts';
import { openShard } from '../engine/shard/environment.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { allRows, ask, centsOf, type Json, NoAnswer, request } from './client.ts';
import { eventually, run, type Server, startFor, tempDir } from './server.ts';

const HOLDERS = 8;
const TRADES_EACH = 3000;
const TRADES = HOLDERS * TRADES_EACH;
const ASK_CENTS = 43;
const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };
const SCOPES = ['portfolio:read', 'markets:read', 'trade:write'];

type Person = { id: string; token: string };

test.serial('S15, D2: killed amid a settlement, each trade settles once', async (t) => {
  t.timeout(300_000);
  const dir = tempDir(t);
  const dataDir = path.join(dir, 'data');
  const catalog = path.join(dir, 'catalog.json');
  const instruments = [instrument('settled', 'g1'), instrument('other', 'g1')];
  writeFileSync(catalog, catalogOf([game('g1')], instruments));
  const start = () =>
    startFor(t, 'serve', { dataDir, env: { PAPERBOOK_CATALOG: catalog, PAPERBOOK_SHARDS: '1' } });

  const first = await start();
  const holders = await Promise.all(Array.from({ length: HOLDERS }, (_, at) => person(first, at)));
  const bot = await person(first, HOLDERS);
  const listed = await allRows(bot.token, `${first.baseUrl}/instruments`, 'instruments', 100);
  const idOf = (slug: string) => listed.find((of: Json) => of.slug === slug).id as string;
  t.is((await first.command.end('SIGINT')).code, 0);
  await openTrades(t, dataDir, holders, idOf('settled'));

  const second = await start();
  const acknowledged: string[] = [];
  const orders = placeUntilKilled(second, bot, idOf('other'), acknowledged);
  await eventually('an order', async () => acknowledged.length > 0 || null, { everyMs: 1 });
  const settled = await admin(second, 'POST', '/admin/settlements', SETTLED_YES);
  t.like(settled, { isNew: true, settledTrades: TRADES });
  await second.command.end('SIGKILL');
  await orders;
  const left = await verified(t, dataDir);
  t.true(left.openPositions > 0 && left.openPositions < TRADES, `${left.openPositions} are left`);

  const third = await start();
  const asked = holders[0]!;
  t.is((await ask(asked.token, 'GET', `${third.baseUrl}/portfolio`)).positionsCount, 0);
  await eventually('all settled', async () => {
    const { openPositions, problems } = await admin(third, 'GET', '/admin/audit');
    t.deepEqual(problems, []);
    return openPositions === 0 ? true : null;
  });
  for (const { token } of holders) {
    const { account } = await ask(token, 'GET', `${third.baseUrl}/portfolio`);
    t.is(centsOf(account.balanceDollars), 10_000_000 + TRADES_EACH * (100 - ASK_CENTS));
  }
  const trades = await allRows(asked.token, `${third.baseUrl}/portfolio/trades`, 'trades');
  t.is(new Set(trades.map(({ tradeId }) => tradeId)).size, TRADES_EACH);
  t.true(trades.every(({ status, pnlDollars }) => status === 'settled' && pnlDollars === 0.57));
  const resting = await allRows(bot.token, `${third.baseUrl}/portfolio/orders`, 'orders');
  const known = new Set(resting.map(({ orderId }) => orderId));
  t.deepEqual(
    acknowledged.filter((orderId) => !known.has(orderId)),
    [],
  );
  t.is((await third.command.end('SIGINT')).code, 0);
  t.like(await verified(t, dataDir), { openPositions: 0, restingOrders: resting.length });
  t.is(settledOnce(dataDir), TRADES);
});

const SETTLED_YES = { market: 'SETTLED', result: 'yes' };

async function admin(server: Server, method: string, where: string, body?: object): Promise<Json> {
  const token = readFileSync(path.join(server.dataDir, 'admin.token'), 'utf8').trim();
  return await ask(token, method, server.adminUrl + where, body);
}

async function person(server: Server, at: number): Promise<Person> {
  const { user } = await admin(server, 'POST', '/admin/users', {
    email: `person-${at}@example.com`,
    plan: 'enterprise',
    tradeLimits: { key: WIDE, account: WIDE },
  });
  const key = { userId: user.id, scopes: SCOPES };
  return { id: user.id, token: (await admin(server, 'POST', '/admin/keys', key)).token };
}

/** Without HTTP, on the files of a server that has stopped. */
async function openTrades(
  t: ExecutionContext,
  dataDir: string,
  holders: readonly Person[],
  instrumentId: string,
): Promise<void> {
  const shard = await openShard(path.join(dataDir, 'shard-0'), 300_000);
  const atMs = shard.state.nowMs;
  const { number } = shard.state.marketsByName.get(marketName('venue_a', 'SETTLED'))!;
  shard.run([quoteTick({ atMs, market: number as MarketNumber, yesAskCents: ASK_CENTS })]);
  for (const [holder, { id: account }] of holders.entries()) {
    for (let at = 0; at < TRADES_EACH; at += 100) {
      const orders = Array.from({ length: 100 }, (_, next): PlaceOrder => {
        const key = holder * TRADES_EACH + at + next;
        return {
          ...BLANK_ORDER,
          ...{ atMs, account, instrumentId, side: 'yes', contracts: 1 },
          ...{ orderId: uuidOf(2 * key, atMs), idempotencyKey: `open-${key}` },
        };
      });
      if (!shard.run(orders).every(({ ok }) => ok)) t.fail('a trade was not opened');
    }
  }
  await shard.close();
}

/** @param acknowledged takes the ids of orders as they are acknowledged */
async function placeUntilKilled(
  { baseUrl }: Server,
  { token }: Person,
  instrumentId: string,
  acknowledged: string[],
): Promise<void> {
  const terms = { action: 'buy', type: 'limit', side: 'yes', count: 1, limitPriceCents: 1 };
  try {
    for (let at = 0; ; at++) {
      const order = { ...terms, instrumentId, idempotencyKey: `bot-${at}` };
      const { status, body } = await request(token, 'POST', `${baseUrl}/portfolio/orders`, order);
      if (status === 200) acknowledged.push(body.order.orderId);
    }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
  }
}

/** What the directory has, which must hold every invariant. */
async function verified(t: ExecutionContext, dataDir: string): Promise<Json> {
  const { code, stdout, stderr } = await run(['verify', '--data-dir', dataDir, '--json']);
  t.is(code, 0, stdout + stderr);
  return JSON.parse(stdout).shards[0];
}

/** How many trades have settled, none of them twice. */
function settledOnce(dataDir: string): number {
  const trades = new Set<string>();
  for (const { fact } of readFacts({ dataDir, shard: 0 }, 0)) {
    if (fact.kind !== 'trade_settled') continue;
    if (trades.has(fact.trade)) throw new Error(`${fact.trade} has settled twice`);
    trades.add(fact.trade);
  }
  return trades.size;
}
