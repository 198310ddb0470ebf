/** What the public sees of picks, on a whole server: while they are hidden, and once they are not. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { longTest } from '../../../long-test.ts';
import { request as ask, type Json } from '../../../process/client.ts';
import { startWhole } from '../../whole-server.ts';

const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'];
/** A board rests for 2.4 s at most. Rule Y21 (engine/RULES.md). */
const BOARD_MS = 30_000;

/** A public trader on a server with three live markets, and what anyone sees of it. */
async function withTrader(t: ExecutionContext) {
  const server = await startWhole(t);
  const { adminToken, origin, instrumentIds, paperbook } = server;
  const send = async (token: string, method: string, url: string, body?: object): Promise<Json> => {
    let answer = await ask(token, method, url, body);
    // The records may still be opening.
    while (answer.status === 503 && answer.body.error.retryAfterSeconds !== undefined) {
      await sleep(100);
      answer = await ask(token, method, url, body);
    }
    t.true(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const credentials = { email: 'seen@example.com', password: 'correct horse' };
  const signedUp = await send('', 'POST', `${origin}/auth/v1/signup`, credentials);
  const { access_token: session, user } = signedUp;
  const admin = (method: string, path: string, body: object) =>
    send(adminToken, method, `${paperbook.adminUrl}/admin/${path}`, body);
  await admin('PATCH', `users/${user.id}`, { plan: 'basic' });
  const show = (body: object) => send(session, 'PATCH', `${origin}/v1/me`, body);
  await show({ private: false, displayName: 'seen' });
  const { token } = await send(session, 'POST', `${origin}/v1/api_keys`, { scopes: SCOPES });
  // Anyone else sees what a key without portfolio:read sees.
  const anyone = await send(session, 'POST', `${origin}/v1/api_keys`, { scopes: ['records:read'] });
  const get = (path: string) => send(anyone.token, 'GET', `${origin}/v1${path}`);
  const getOwn = (path: string) => send(token, 'GET', `${origin}/v1${path}`);
  let orders = 0;
  const buy = async (at: number, statedProbPct: number): Promise<string> => {
    const order = { action: 'buy', type: 'market', instrumentId: instrumentIds[at], side: 'yes' };
    const key = { idempotencyKey: `seen-${orders++}`, count: 5, statedProbPct };
    const { trade } = await send(token, 'POST', `${origin}/v1/portfolio/orders`, {
      ...{ ...order, ...key },
    });
    return trade.tradeId;
  };
  /** What boards, pages and the record say of it; null: it is not on that board. */
  const seen = async () => {
    const [board] = (await get('/eval?window=all')).rows;
    const [row] = (await get('/leaderboard?window=all')).rows;
    const { trader } = await get('/traders/seen');
    const { picks } = await get('/traders/seen/picks');
    const { record } = await get('/traders/seen/track-record');
    return {
      slate: board === undefined ? null : { picks: board.picks, value: board.value },
      counts: [row?.settledPicks ?? null, trader.settledPicks, picks.length, record.settledPicks],
      brier: record.brier,
      pnl: row?.pnlDollars ?? null,
    };
  };
  type Seen = Awaited<ReturnType<typeof seen>>;
  /** Once the boards have it. */
  const until = async (is: (now: Seen) => boolean): Promise<Seen> => {
    const endMs = Date.now() + BOARD_MS;
    for (;;) {
      const now = await seen();
      if (is(now) || Date.now() > endMs) return now;
      await sleep(200);
    }
  };
  const settle = (market: number, result: string) =>
    admin('POST', 'settlements', { market: `I${market}`, result });
  const mark = (tradeId: string, marks: object) =>
    admin('POST', 'marks', { tradeId, userId: user.id, ...marks });
  return { buy, settle, mark, until, show, get, getOwn };
}

test('Y87: settled legs of an open parlay are in no public figure, and come in together', async (t) => {
  const { buy, settle, mark, until, getOwn } = await withTrader(t);
  const legs = [await buy(0, 60), await buy(1, 70)];
  const parlayId = '0195d3a0-0000-7000-8000-00000000abcd';
  for (const tradeId of legs) await mark(tradeId, { parlayId });
  const later = await buy(0, 90);
  await settle(0, 'yes');
  // The later pick is the first that anyone can see; P&L counts both.
  const first = await until(({ slate, pnl }) => slate !== null && pnl === 5.7);
  t.deepEqual(first.slate, { picks: 1, value: 0.01 });
  t.like(first, { counts: [1, 1, 1, 1], brier: first.slate!.value, pnl: 5.7 });
  const own = (await getOwn('/me/eval?window=all')).picks.find(
    ({ inSlate }: { inSlate: boolean }) => inSlate,
  );
  t.is(own.tradeId, legs[0], 'to its owner the slate has what is hidden');
  t.not(own.tradeId, later);
  await settle(1, 'no');
  const both = await until(({ slate, counts }) => slate?.picks === 2 && counts[0] === 3);
  const brier = (0.4 ** 2 + 0.7 ** 2) / 2;
  t.true(Math.abs(both.slate!.value - brier) < 1e-9, JSON.stringify(both));
  t.like(both, { counts: [3, 3, 3, 3], brier: both.slate!.value });
  t.is(both.slate!.picks, 2);
});

longTest(
  'Y87: a Combine pick leaves its place to the next one, also when it is marked afterwards',
  async (t) => {
    const { buy, settle, mark, until } = await withTrader(t);
    const marked = await buy(0, 60);
    await buy(0, 80);
    await buy(1, 70);
    await settle(0, 'yes');
    await settle(1, 'yes');
    const before = await until(({ slate, counts }) => slate?.picks === 2 && counts[0] === 3);
    t.true(Math.abs(before.slate!.value - (0.4 ** 2 + 0.3 ** 2) / 2) < 1e-9);
    t.deepEqual(before.counts, [3, 3, 3, 3]);
    await mark(marked, { combine: true });
    const isOtherwise = (now: typeof before) => now.slate!.value !== before.slate!.value;
    const after = await until((now) => isOtherwise(now) && now.counts[0] === 2);
    t.is(after.slate!.picks, 2);
    t.true(Math.abs(after.slate!.value - (0.2 ** 2 + 0.3 ** 2) / 2) < 1e-9);
    t.like(after, { counts: [2, 2, 2, 2], brier: after.slate!.value, pnl: before.pnl });
  },
);

longTest(
  'Y87: picks placed while private are in no public figure until earlier trades are shown',
  async (t) => {
    const { buy, settle, until, show, get } = await withTrader(t);
    await show({ private: true });
    await buy(0, 60);
    await show({ private: false });
    await buy(0, 80);
    await settle(0, 'yes');
    const hidden = async () => {
      const { trader } = await get('/traders/seen');
      const { picks } = await get('/traders/seen/picks');
      const boards = [await get('/eval?window=all'), await get('/leaderboard?window=all')];
      return [trader.settledPicks, picks.length, ...boards.map(({ rows }) => rows.length)];
    };
    t.deepEqual(await hidden(), [1, 1, 0, 0]);
    await show({ showEarlierTrades: true });
    const shown = await until(({ slate, counts }) => slate !== null && counts[0] === 2);
    t.deepEqual(shown.slate, { picks: 1, value: (60 - 100) ** 2 / 10_000 });
    t.like(shown, { counts: [2, 2, 2, 2], brier: shown.slate!.value });
    await show({ showEarlierTrades: false });
    t.deepEqual(await hidden(), [1, 1, 0, 0]);
  },
);
