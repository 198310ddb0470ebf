/** Boards, traders, picks and evaluation over HTTP, on random facts. */
import test, { type ExecutionContext } from 'ava';
import { newUser, type User } from '../../../../api/identity/users.ts';
import { recordProblem } from '../../../../engine/records/track-record/track-record-signature.ts';
import {
  isListed,
  isPick,
  leaderboard,
  resultOf,
  roiPct,
  sumsOf,
} from '../../../engine/records/naive-records.ts';
import { randomWorld, writeLogs } from '../../../engine/records/random-facts.ts';
import { type Api, startApi } from '../../support.ts';

const SEED = 3;
/** By account: the first is private with trades, the second hides earlier ones. */
const PRIVATE = 0;
const HIDING = 3;

async function withRecords(t: ExecutionContext, steps = 500) {
  const world = randomWorld(SEED, steps);
  const api = await startApi(t);
  const users: User[] = [];
  for (const [at, { id }] of world.accounts.entries()) {
    const user = {
      ...newUser({ email: `t${at}@example.com`, displayName: `Trader ${at}`, plan: 'basic' }, 1),
      ...{ id, private: at === PRIVATE, showEarlierTrades: at !== HIDING },
    };
    await api.store.addUser(user);
    users.push(user);
  }
  writeLogs(api.dataDir, world, 1);
  const shown = new Map(
    users.map(({ id, private: isPrivate, showEarlierTrades }) => {
      return [id, { isPublic: !isPrivate, showsEarlier: showEarlierTrades }];
    }),
  );
  return { world, api, users, shown };
}

const get = (api: Api, path: string, token?: string) =>
  api.call('GET', path, token === undefined ? {} : { token });

async function refused(t: ExecutionContext, api: Api, path: string, status = 400): Promise<string> {
  const answer = await get(api, path);
  t.is(answer.status, status, path);
  return answer.json.error.code;
}

test('Y71, Y72: the leaderboard in pages, and what it refuses', async (t) => {
  const { world, api, shown } = await withRecords(t);
  const bidOf = () => null;
  const expected = leaderboard(world, shown, { kind: 'pnl', days: null, bidOf });
  const rows = [];
  let path = '/leaderboard?window=all&limit=2';
  for (;;) {
    const { json } = await get(api, path);
    t.is(json.kind, 'pnl');
    rows.push(...json.rows);
    if (json.nextCursor === null) break;
    path = `/leaderboard?window=all&limit=2&cursor=${json.nextCursor}`;
  }
  t.true(rows.length > 2);
  t.deepEqual(
    rows.map(({ rank, traderId, pnlDollars, roiPct: roi, settledPicks, resets, busts }) => {
      return { rank, traderId, pnlDollars, roi, settledPicks, resets, busts };
    }),
    expected.map(({ rank, trader, pnlCents, costCents, won, lost, void: voided, ...row }) => ({
      ...{ rank, traderId: trader, pnlDollars: pnlCents / 100, roi: roiPct(pnlCents, costCents) },
      ...{ settledPicks: won + lost + voided, resets: row.resets, busts: row.busts },
    })),
  );
  const cursor = path.split('cursor=')[1];
  for (const query of [
    ...['window=0d', 'window=3651d', 'window=1w', 'kind=luck', 'limit=101', 'cursor=abc'],
    ...[`cursor=${cursor}`, `window=all&kind=roi&cursor=${cursor}`],
  ]) {
    t.is(await refused(t, api, `/leaderboard?${query}`), 'invalid_request');
  }
  const { message } = (await get(api, '/leaderboard?window=1w')).json.error;
  const days = 'the days up to now in which trades were over: 1d to 3650d';
  t.is(message, `window must be all, or ${days}`);
});

test('Y73: a trader by id and by name, ignoring case', async (t) => {
  const { api, users } = await withRecords(t);
  const byId = await get(api, `/traders/${users[1]!.id}`);
  const byName = await get(api, '/traders/tRADER%201');
  t.deepEqual(byId.json, byName.json);
  t.is(byId.json.trader.displayName, 'Trader 1');
  t.is(await refused(t, api, '/traders/x'), 'invalid_request');
  for (const unknown of ['Trader%2099', '0195d3a0-0000-7000-8000-0000000000ff', 'Trader']) {
    t.is(await refused(t, api, `/traders/${unknown}`, 404), 'trader_not_found');
    t.is(await refused(t, api, `/traders/${unknown}/picks`, 404), 'trader_not_found');
  }
  const session = await api.signIn(users[1]!);
  const body = { displayName: 'TRADER 2' };
  const taken = await api.call('PATCH', '/me', { token: session, body });
  t.is(taken.status, 400);
  t.regex(taken.json.error.message, /displayName/);
});

test('Y74: a private trader looks like one who has never traded, at once', async (t) => {
  const { world, api, users } = await withRecords(t);
  const idle = newUser({ email: 'idle@example.com', displayName: 'Idle', plan: 'basic' }, 1);
  await api.store.addUser(idle);
  const seen = async ({ id, displayName }: User) => {
    const { json: trader } = await get(api, `/traders/${id}`);
    const { json: picks } = await get(api, `/traders/${id}/picks`);
    const text = JSON.stringify({ trader, picks });
    return text.replaceAll(id, 'ID').replaceAll(displayName!, 'NAME');
  };
  t.true(world.trades.some(({ trader }) => trader === users[PRIVATE]!.id));
  t.is(await seen(users[PRIVATE]!), await seen(idle));
  // And whoever goes private looks the same in the next answer.
  const [, public1] = users;
  t.not(await seen(public1!), await seen(idle));
  const { json: board } = await get(api, '/leaderboard?window=all');
  t.true(board.rows.some((row: { traderId: string }) => row.traderId === public1!.id));
  await api.store.changeUser(public1!.id, { private: true });
  t.is(await seen(public1!), await seen(idle));
  for (const path of [
    '/leaderboard?window=all',
    '/leaderboard?kind=net_worth',
    '/eval?window=all',
  ]) {
    const { text } = await get(api, path);
    t.false(text.includes(public1!.id), path);
    t.false(text.includes(users[PRIVATE]!.id), path);
  }
});

test('Y75: hidden earlier trades hide every number', async (t) => {
  const { world, api, users, shown } = await withRecords(t);
  for (const [at, { id, createdAtMs }] of users.entries()) {
    if (at === PRIVATE) continue;
    const { trader } = (await get(api, `/traders/${id}`)).json;
    const sums = sumsOf(world, id, Number.NEGATIVE_INFINITY);
    const numbersShown = isListed(world, id, shown);
    t.is(trader.numbersShown, numbersShown);
    t.is(trader.since, new Date(createdAtMs).toISOString());
    t.is(trader.pnlDollars, numbersShown ? sums.pnlCents / 100 : null);
    t.is(trader.rank === null, !numbersShown);
    const account = world.accounts[at]!;
    t.is(trader.busts, account.busts);
    t.deepEqual(
      trader.resetHistory,
      account.resets.map(({ atMs, run }) => ({ at: new Date(atMs).toISOString(), run })),
    );
    const picks = world.trades.filter((trade) => trade.trader === id && isPick(trade, world));
    const seen = picks.filter(({ placedPrivate }) => numbersShown || !placedPrivate);
    t.is(trader.settledPicks, seen.length);
  }
  t.false(isListed(world, users[HIDING]!.id, shown));
});

test('Y76, Y77: picks as the public and as their owner sees them', async (t) => {
  const { world, api, users } = await withRecords(t);
  const owner = users[HIDING]!;
  const session = await api.signIn(owner);
  const own = (await get(api, `/traders/${owner.id}/picks?limit=100`, session)).json.picks;
  const all = world.trades.filter((trade) => trade.trader === owner.id && isPick(trade, world));
  t.true(all.some(({ placedPrivate }) => placedPrivate));
  t.deepEqual(
    own,
    all.reverse().map((trade) => ({
      pickId: trade.id,
      side: trade.instrumentSide,
      result: resultOf(trade),
      stakeDollars: trade.costCents / 100,
      pnlDollars: (trade.end!.proceedsCents - trade.costCents) / 100,
      openedAt: new Date(trade.openedAtMs).toISOString(),
      closedAt: new Date(trade.end!.atMs).toISOString(),
      instrumentId: world.catalog.instruments[trade.instrument]!.id,
      marketLabel: world.catalog.instruments[trade.instrument]!.label,
      placedPrivate: trade.placedPrivate,
      shown: !trade.placedPrivate,
    })),
  );
  const others = (await get(api, `/traders/${owner.id}/picks?limit=100`)).json.picks;
  t.deepEqual(
    others.map(({ pickId }: { pickId: string }) => pickId),
    all.filter(({ placedPrivate }) => !placedPrivate).map(({ id }) => id),
  );
  t.false('shown' in others[0]);
  const page = (await get(api, `/traders/${owner.id}/picks?limit=1`)).json;
  const next = await get(api, `/traders/${owner.id}/picks?limit=1&cursor=${page.nextCursor}`);
  t.is(next.json.picks[0].pickId, others[1].pickId);
  const foreign = Buffer.from(users[1]!.id).toString('base64url');
  t.is(await refused(t, api, `/traders/${owner.id}/picks?cursor=${foreign}`), 'invalid_request');
});

test('A182, A183: a verdict on own picks, and what realistic fills alone give', async (t) => {
  const { world, api, users, shown } = await withRecords(t);
  for (const user of users) {
    const session = await api.signIn(user);
    const { json } = await get(api, '/me/eval?window=all', session);
    const decided = json.picks.filter(
      ({ outcome }: { outcome: number | null }) => outcome !== null,
    );
    const found = (await get(api, '/me/verdict?window=all', session)).json;
    t.true(found.games <= decided.length);
    if (found.basis === 'pnl_after_fees' && decided.length > 0) {
      const pnl = decided.reduce(
        (sum: number, pick: { pnlAfterFeesDollars: number }) => sum + pick.pnlAfterFeesDollars,
        0,
      );
      t.true(Math.abs(found.mean - pnl / decided.length) < 1e-9);
    }
    t.is(found.simpleOnly, false);
    const few = (await get(api, '/me/eval?window=all&fills=realistic', session)).json.picks;
    const ids = new Set(world.trades.filter((one) => one.realistic).map(({ id }) => id as string));
    t.deepEqual(
      few.map(({ tradeId }: { tradeId: string }) => tradeId),
      json.picks
        .map(({ tradeId }: { tradeId: string }) => tradeId)
        .filter((id: string) => ids.has(id)),
    );
  }
  const none = { kind: 'pnl', days: null, bidOf: () => null } as const;
  const expected = leaderboard(world, shown, { ...none, fills: 'realistic' });
  const { json } = await get(api, '/leaderboard?window=all&fills=realistic&limit=100');
  t.deepEqual(
    json.rows.map((row: { traderId: string; pnlDollars: number }) => [
      row.traderId,
      row.pnlDollars,
    ]),
    expected.map(({ trader, pnlCents }) => [trader, pnlCents / 100]),
  );
  const [best] = expected;
  const record = await get(api, `/traders/${best!.trader}/track-record?fills=realistic`);
  t.is(record.json.record.fills, 'realistic');
  t.is(recordProblem(record.json, null), null);
  t.is(await refused(t, api, '/leaderboard?fills=simple'), 'invalid_request');
});

test('A182: without a pick the verdict is open, and says what is missing', async (t) => {
  const api = await startApi(t);
  const { json } = await get(api, '/me/verdict');
  t.deepEqual(json, {
    verdict: 'not_yet',
    ...{ basis: 'pnl_after_fees', mean: null, interval: null, games: 0, gamesNeeded: null },
    simpleOnly: false,
    notes: [...json.notes.slice(0, -1), 'no pick was placed under realistic fills'],
    mode: 'paper',
  });
});

test('Y78, Y79, Y80: own evaluation, and the board of it', async (t) => {
  const { world, api, users } = await withRecords(t);
  const settledOf = ({ id }: User) =>
    world.trades.filter(({ trader, end }) => trader === id && end?.how === 'settled');
  // Some of whose trades ended together.
  const user = users.find((each) => {
    const ends = settledOf(each).map(({ end }) => end!.atMs);
    return new Set(ends).size < ends.length;
  });
  const session = await api.signIn(user!);
  const { json } = await get(api, '/me/eval?window=all', session);
  const settled = settledOf(user!);
  t.is(json.picks.length, settled.length);
  // Of trades that ended together the newest opened comes first.
  const inOrder = settled.toReversed().sort((a, b) => b.end!.atMs - a.end!.atMs);
  t.deepEqual(
    json.picks.map(({ tradeId }: { tradeId: string }) => tradeId),
    inOrder.map(({ id }) => id),
  );
  t.true(json.picks.every((pick: { forecastProb: number }) => pick.forecastProb > 0));
  await api.switches.set('venueData', false);
  const off = (await get(api, '/me/eval?window=all', session)).json.picks;
  for (const { forecastProb, forecastSource, outcome, brier } of off) {
    t.is(forecastProb === null, forecastSource === 'entry_price');
    t.is(brier === null, outcome === null);
  }
  const board = (await get(api, '/eval?window=all&metric=pnl&limit=3')).json;
  t.is(board.metric, 'pnl');
  t.true(board.rows.length > 1);
  for (const row of board.rows) t.is(row.interval === null, typeof row.intervalNote === 'string');
  t.is(await refused(t, api, '/eval?metric=luck'), 'invalid_request');
});

test('Y81: a track record of the visible picks, signed; none of who hides or does not exist', async (t) => {
  const { world, api, users, shown } = await withRecords(t);
  const answers = [];
  for (const { id } of users) {
    const { status, json, text } = await get(api, `/traders/${id}/track-record`);
    if (!isListed(world, id, shown)) {
      const nobody = await get(api, '/traders/0195d3a0-0000-7000-8000-0000000000ff/track-record');
      t.is(status, 404);
      t.is(text, nobody.text);
      continue;
    }
    t.is(recordProblem(json, (await get(api, '/track-record/keys')).json.keys), null);
    const altered = { ...json, record: { ...json.record, won: json.record.won + 1 } };
    t.not(recordProblem(altered, null), null);
    const afterMs = Date.parse(json.record.to) - 90 * 86_400_000;
    const picks = world.trades.filter((trade) => {
      return trade.trader === id && isPick(trade, world) && trade.end!.atMs > afterMs;
    });
    t.is(json.record.settledPicks, picks.length);
    const pnlCents = picks.reduce(
      (sum, { end, costCents }) => sum + end!.proceedsCents - costCents,
      0,
    );
    t.is(json.record.pnlDollars, pnlCents / 100);
    t.true(Array.isArray(json.record.bySeries));
    answers.push(json);
  }
  t.true(answers.length > 2);
  await api.switches.set('venueData', false);
  const { record } = (await get(api, `/traders/${answers[0].record.traderId}/track-record`)).json;
  t.false('bySeries' in record);
  t.is(record.brier, answers[0].record.brier);
});

test('Y87: boards, track records and the slate are of the same picks', async (t) => {
  const { world, api, users, shown } = await withRecords(t, 1200);
  const rowOf = async (path: string, id: string) => {
    const { rows } = (await get(api, `${path}&window=90d&limit=100`)).json;
    return rows.find(({ traderId }: { traderId: string }) => traderId === id);
  };
  let hidden = 0;
  for (const { id } of users.filter((user) => isListed(world, user.id, shown))) {
    const { record } = (await get(api, `/traders/${id}/track-record`)).json;
    const { settledPicks, won, lost, void: voided } = record;
    const counted = await rowOf('/leaderboard?kind=net_worth', id);
    t.like(counted, { settledPicks, won, lost, void: voided });
    for (const [metric, name] of [
      ['brier', 'brier'],
      ['log_loss', 'logLoss'],
      ['clv', 'clvCents'],
    ] as const) {
      const row = await rowOf(`/eval?metric=${metric}`, id);
      // Sums of logarithms depend on the order in which they are added.
      const by = metric === 'log_loss' ? 1e-12 : 0;
      t.true(Math.abs((row?.value ?? 0) - (record[name] ?? 0)) <= by, `${metric} of ${id}`);
    }
    const row = await rowOf('/eval?metric=pnl', id);
    t.is(row?.games ?? 0, record.games);
    t.is((await rowOf('/eval?metric=brier', id))?.skill ?? null, record.skill);
    const owned = (await get(api, '/me/eval?window=90d', await api.signIn(userOf(users, id)))).json;
    hidden += owned.picks.length - settledPicks;
  }
  t.true(hidden > 0, 'the owner alone sees the others');
});

const userOf = (users: readonly User[], id: string) => users.find((user) => user.id === id)!;
