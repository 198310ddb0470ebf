/** The traders of trader-day.ts on a server of their own, into which the recorded day is played. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import type { Uuid } from '../../engine/base/units.ts';
import { allRows, ask, request } from '../process/client.ts';
import { runHere } from '../process/run-here.ts';
import { type Server, startFor } from '../process/server.ts';
import { tempDir, writeLines } from './harness.ts';
import type { OrderLine } from './outcome.ts';
import { PROFILES } from './trader-day.ts';

const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };
const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];

export type Trader = { name: string; id: Uuid; session: string; key: string };
export type Running = {
  t: ExecutionContext;
  /** Of the recorded day. */
  dir: URL;
  server: Server;
  traders: Trader[];
  /** As orders are placed: the trade that an order of this account and key opened. */
  opened: Map<string, string>;
  /** By the id of an order that did not fill at once, its account and key. */
  resting: Map<string, string>;
  /** In the order of placing; the code is null if the order was taken. */
  answers: { line: OrderLine; code: string | null }[];
};

export const tokenOf = (traders: readonly Trader[], named: string) =>
  traders.find(({ name }) => name === named)!.key;

/** Signs up everyone; each has a key of plan enterprise. */
export async function startRunning(t: ExecutionContext, dir: URL): Promise<Running> {
  const env = {
    PAPERBOOK_CATALOG: fileURLToPath(new URL('catalog.json', dir)),
    ...{ PAPERBOOK_CLOCK: 'feed', PAPERBOOK_VENUE_DATA: 'on', PAPERBOOK_SHARDS: '2' },
  };
  const server = await startFor(t, 'serve', { env });
  const { dataDir, adminUrl, baseUrl } = server;
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const traders: Trader[] = [];
  for (const name of Object.keys(PROFILES)) {
    const who = { email: `${name}@example.com`, password: 'a password of the test' };
    const signUp = new URL('/auth/v1/signup', baseUrl).href;
    const { access_token: session, user } = await ask('none', 'POST', signUp, who);
    const limits = { plan: 'enterprise', tradeLimits: { key: WIDE, account: WIDE } };
    await ask(admin, 'PATCH', `${adminUrl}/admin/users/${user.id}`, limits);
    const key = { userId: user.id, scopes: SCOPES };
    const { token } = await ask(admin, 'POST', `${adminUrl}/admin/keys`, key);
    await ask(session, 'PATCH', `${baseUrl}/me`, { displayName: name });
    traders.push({ name, id: user.id, session, key: token });
  }
  return { t, dir, server, traders, opened: new Map(), resting: new Map(), answers: [] };
}

/** Plays the lines of the feed file after one time, up to another. */
export async function play(
  { t, dir, server }: Running,
  fromMs: number,
  toMs: number,
): Promise<void> {
  const feed = gunzipSync(readFileSync(new URL('feed.jsonl.gz', dir))).toString();
  const [header, ...lines] = feed.trimEnd().split('\n');
  const part = lines.filter((line) => {
    const atMs = Date.parse(JSON.parse(line).at);
    return atMs > fromMs && atMs <= toMs;
  });
  const file = writeLines(tempDir(t), 'part.jsonl', [header, ...part]);
  const args = ['feed', 'replay', file, '--server', server.adminUrl, '--json'];
  const { code, stdout, stderr } = await runHere(args, {
    env: { PAPERBOOK_DATA_DIR: server.dataDir },
  });
  t.is(code, 0, stderr);
  t.like(JSON.parse(stdout), { frames: part.length, skipped: 0 });
}

export async function place(running: Running, line: OrderLine): Promise<void> {
  const { server, traders, opened, resting, answers } = running;
  const { sellOf, ...order } = line.order!;
  const sold = sellOf === undefined ? {} : { tradeId: opened.get(`${line.account} ${sellOf}`) };
  const url = `${server.baseUrl}/portfolio/orders`;
  const body = { ...order, ...sold };
  const { status, body: answer } = await request(tokenOf(traders, line.account), 'POST', url, body);
  const trade = answer.trade ?? null;
  const name = `${line.account} ${order.idempotencyKey}`;
  if (trade !== null) opened.set(name, trade.tradeId);
  else if (status === 200) resting.set(answer.order.orderId, name);
  answers.push({ line, code: status === 200 ? null : answer.error.code });
}

/** Notes which trades the orders opened that rested at first. */
export async function noteFills(
  { server, opened, resting }: Running,
  { key }: Trader,
): Promise<void> {
  const orders = await allRows(key, `${server.baseUrl}/portfolio/orders`, 'orders');
  for (const { orderId, tradeId, action } of orders) {
    const name = resting.get(orderId);
    if (name !== undefined && tradeId !== null && action === 'buy') opened.set(name, tradeId);
  }
}
