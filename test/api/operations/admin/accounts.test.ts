/** A user's account, and markets by words, on the operator's listener. */
import test from 'ava';
import { marketsOf } from '../../../../api/operations/admin/markets.ts';
import { IDS } from '../../samples.ts';
import { type Api, type Json, startApi } from '../../support.ts';

async function buy(api: Api, count: number): Promise<void> {
  const order = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count };
  const body = { ...order, idempotencyKey: `buy-${count}` };
  await api.call('POST', '/portfolio/orders', { body });
}

/** Without the moment of the answer. */
const still = ({ asOf: _, ...answer }: Json) => answer;

test('A260: an operator sees the balance, the positions and the trades of a user, as the user does', async (t) => {
  const api = await startApi(t);
  const at = `/admin/users/${api.user.id}`;
  t.is((await api.admin('GET', `${at}/portfolio`)).json.account, null, 'before the first trade');
  for (const count of [10, 20, 30]) await buy(api, count);
  const own = await api.call('GET', '/portfolio');
  const seen = await api.admin(
    'GET',
    `${at.toUpperCase().replace('/ADMIN/USERS', '/admin/users')}/portfolio`,
  );
  t.is(seen.status, 200);
  t.is(seen.json.positions.length, 3);
  t.deepEqual(still(seen.json), still(own.json));

  const first = await api.admin('GET', `${at}/trades?limit=2`);
  t.deepEqual(
    first.json.trades.map(({ contracts }: Json) => contracts),
    [30, 20],
  );
  const next = await api.admin('GET', `${at}/trades?limit=2&cursor=${first.json.nextCursor}`);
  t.deepEqual(
    next.json.trades.map(({ contracts }: Json) => contracts),
    [10],
  );
  t.is(next.json.nextCursor, null);
  t.deepEqual((await api.admin('GET', `${at}/trades?status=settled`)).json.trades, []);
});

test('A260: a user that is not there is 404, and nobody sees an account without the token', async (t) => {
  const api = await startApi(t);
  const nobody = '/admin/users/0195d3a0-0000-7000-8000-00000000dead';
  for (const part of ['portfolio', 'trades']) {
    const missing = await api.admin('GET', `${nobody}/${part}`);
    t.is(missing.status, 404);
    t.is(missing.json.error.code, 'account_not_found');
    const path = `/admin/users/${api.user.id}/${part}`;
    t.is((await api.admin('GET', path, { token: null })).status, 401);
  }
  t.is((await api.admin('GET', `/admin/users/${api.user.id}/trades?limit=0`)).status, 400);
});

test('A261: markets are found by words, with the names that settle them', async (t) => {
  const api = await startApi(t);
  const find = async (query: string): Promise<Json[]> =>
    (await api.admin('GET', `/admin/markets${query}`)).json.markets;
  const found = await find('?search=lions');
  t.true(found.length > 0);
  for (const name of ['venue_a/T-LIONS', 'venue_b/B-LIONS']) {
    const row = found.find(({ market }) => market === name);
    t.regex(row?.yesLabel, /lions/i, name);
  }
  t.is(new Set(found.map(({ market }) => market)).size, found.length, 'each market once');
  const { market } = found[0]!;
  const settled = await api.admin('POST', '/admin/settlements', {
    body: { market, result: 'yes' },
  });
  t.is(settled.status, 200, 'the name is the one that O12 takes');
  t.deepEqual(await find('?search=nothing-has-this-name'), []);
  t.is((await find('?limit=1')).length, 1);
  t.is((await api.admin('GET', '/admin/markets?limit=51')).status, 400);
});

test('A261: a market of two instruments is there once, by the meaning of its own yes', (t) => {
  const entry = (label: string, oppositeLabel: string | null, polarity: 1 | -1, market = 'M') => ({
    instrument: {
      ...{ label, oppositeLabel, league: 'l', startsAt: '2026-01-01T00:00:00.000Z' },
      listings: [{ venue: 'venue_a', venueMarketId: market, polarity }],
    },
    game: null,
  });
  const [home, away] = [entry('Home', null, 1), entry('Away', null, -1)];
  for (const found of [
    [home, away],
    [away, home],
  ]) {
    const markets = marketsOf(found as never);
    t.is(markets.length, 1);
    t.like(markets[0], { market: 'venue_a/M', yesLabel: 'Home', gameStatus: null });
  }
  const alone = [entry('Away', 'Home', -1, 'N'), entry('Over', null, -1, 'O')];
  t.deepEqual(
    marketsOf(alone as never).map(({ yesLabel }) => yesLabel),
    ['Home', 'not: Over'],
  );
});
