/** What an operator decides of markets and cash. */
import test from 'ava';
import { IDS, NOW_MS } from '../../samples.ts';
import { type Api, startApi } from '../../support.ts';
import { startWhole } from '../../whole-server.ts';

const settle = (api: Api, market: string, result: unknown) =>
  api.admin('POST', '/admin/settlements', { body: { market, result } });
const adjust = (api: Api, userId: string, dollars: unknown) =>
  api.admin('POST', '/admin/adjustments', { body: { userId, dollars } });

async function buy(api: Api, count = 10): Promise<void> {
  const order = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count };
  const body = { ...order, idempotencyKey: 'one' };
  await api.call('POST', '/portfolio/orders', { body });
}

const account = async (api: Api) => (await api.call('GET', '/portfolio')).json.account;

test('O12: a bare name is venue_a’s; the first result counts, and the same again changes nothing', async (t) => {
  const api = await startApi(t);
  await buy(api);
  const first = await settle(api, 'T-LIONS', '0.645');
  t.is(first.status, 200);
  t.deepEqual(first.json, {
    market: 'venue_a/T-LIONS',
    outcome: 'scalar',
    yesPayoutCents: 64,
    noPayoutCents: 35,
    isNew: true,
    settledTrades: 1,
    correctedTrades: 0,
    canceledOrders: 0,
  });
  t.is((await account(api)).balanceDollars, 100_002.1);
  const again = await settle(api, 'venue_a/T-LIONS', '0.6450');
  t.like(again.json, { isNew: false, settledTrades: 0 });
  const other = await settle(api, 'T-LIONS', 'yes');
  t.is(other.status, 409);
  t.is(other.json.error.code, 'market_resolved');
  const { json } = await api.call('GET', '/instruments?tradable=true');
  t.false(json.instruments.some(({ id }: { id: string }) => id === IDS.lions));
  const logged = api.log.filter(({ message }) => message === 'market settled by the operator');
  t.is(logged.length, 2);
  t.like(logged[0]!.fields, { market: 'venue_a/T-LIONS', outcome: 'scalar', settledTrades: 1 });
});

test('O12: another venue’s market by its venue, and void without payouts', async (t) => {
  const api = await startApi(t);
  const { json } = await settle(api, 'venue_b/B-LIONS', 'void');
  t.like(json, { market: 'venue_b/B-LIONS', yesPayoutCents: null, noPayoutCents: null });
  t.like((await settle(api, 'T-LIONS', '1')).json, { outcome: 'yes', yesPayoutCents: 100 });
});

test('O26: a result is replaced with correct alone; trade, balance and log follow', async (t) => {
  const api = await startApi(t);
  await buy(api);
  const correct = (result: string, correct: unknown = true) => {
    return api.admin('POST', '/admin/settlements', {
      body: { market: 'T-LIONS', result, correct },
    });
  };
  const early = await correct('yes');
  t.is(early.status, 400);
  t.is(early.json.error.message, 'correct: the market has no result yet.');
  await settle(api, 'T-LIONS', 'yes');
  t.is((await correct('no', false)).status, 409);
  t.is((await correct('no', 1)).json.error.message, 'correct must be a boolean');
  const before = (await account(api)).balanceDollars;
  t.like((await correct('0.62')).json, {
    ...{ market: 'venue_a/T-LIONS', outcome: 'scalar', yesPayoutCents: 62, noPayoutCents: 38 },
    ...{ isNew: true, settledTrades: 0, correctedTrades: 1, canceledOrders: 0 },
  });
  t.is((await account(api)).balanceDollars, Math.round(100 * (before - 3.8)) / 100);
  const { trades } = (await api.call('GET', '/portfolio/trades')).json;
  t.like(trades[0], { status: 'settled', resolvedOutcome: null });
  t.like((await correct('0.62')).json, { isNew: false, correctedTrades: 0 });
  const did = 'result corrected by the operator';
  t.is(api.log.filter(({ message }) => message === did).length, 2);
});

test('O37: markets whose result was replaced, with the result that counts now', async (t) => {
  const api = await startApi(t);
  const listed = async () => (await api.admin('GET', '/admin/corrections')).json.corrections;
  const correct = (market: string, result: string) => {
    return api.admin('POST', '/admin/settlements', { body: { market, result, correct: true } });
  };
  await settle(api, 'T-LIONS', 'yes');
  await settle(api, 'venue_b/B-LIONS', 'yes');
  t.deepEqual(await listed(), [], 'a first result replaces none');
  await correct('T-LIONS', '0.62');
  await correct('T-LIONS', '0.62');
  const [lions, ...others] = await listed();
  t.deepEqual(others, []);
  t.like(lions, { market: 'venue_a/T-LIONS', outcome: 'scalar' });
  t.like(lions, { yesPayoutCents: 62, noPayoutCents: 38 });
  t.true(Date.parse(lions.resolvedAt) > 0);
  await correct('venue_b/B-LIONS', 'no');
  t.is((await listed())[0].market, 'venue_b/B-LIONS', 'the last one is first');
  await correct('T-LIONS', 'void');
  const { resolvedAt } = lions;
  t.like(await listed(), [
    { market: 'venue_a/T-LIONS', outcome: 'void', yesPayoutCents: null, resolvedAt },
    { market: 'venue_b/B-LIONS', outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 },
  ]);
});

test('O12: unknown markets are 404, results that are none 400', async (t) => {
  const api = await startApi(t);
  for (const market of ['B-LIONS', 'venue_b/T-LIONS', 'venue_a/', 'venue_z/T-LIONS']) {
    const answer = await settle(api, market, 'yes');
    t.is(answer.status, 404, market);
    t.is(answer.json.error.code, 'market_not_found');
    t.regex(answer.json.error.message, /^No catalog has ever listed the market venue_[ab]\//);
  }
  for (const result of ['maybe', '1.5', '-0.1', '0.64555', '64', '0,5', 'YES']) {
    const answer = await settle(api, 'T-LIONS', result);
    t.is(answer.status, 400, result);
    t.regex(answer.json.error.message, /^result must be yes, no, void, or the worth of yes/);
  }
  t.is((await settle(api, 'T-LIONS', 0.5)).json.error.message, 'result must be a string');
  await buy(api);
  t.is((await account(api)).openPositions, 1, 'nothing is settled');
});

test('O13, M9: dollars are added and taken, to the cent, and are no profit', async (t) => {
  const api = await startApi(t);
  const { id } = api.user;
  t.is((await adjust(api, id, 1)).json.error.code, 'account_not_found');
  t.regex((await adjust(api, id, 1)).json.error.message, /has not traded yet/);
  await buy(api);
  const given = await adjust(api, id.toUpperCase(), 250.07);
  t.deepEqual(given.json, {
    userId: id,
    dollars: 250.07,
    balanceDollars: 100_000 - 4.3 + 250.07,
    adjustmentsInRunDollars: 250.07,
  });
  await adjust(api, id, -0.07);
  const after = await account(api);
  t.is(after.balanceDollars, 100_245.7);
  t.is(after.adjustmentsInRunDollars, 250);
  // Marked at the bid of 40, as before.
  t.is(after.pnlSinceResetDollars, -0.3);
  t.is(
    100_000 + after.adjustmentsInRunDollars,
    after.balanceDollars + after.heldDollars + after.openStakeDollars,
  );
  const logged = api.log.filter(({ message }) => message === 'cash adjusted by the operator');
  t.deepEqual(
    logged.map(({ fields }) => (fields as { dollars: number }).dollars),
    [250.07, -0.07],
  );
});

test('O13: never below nothing to spend, and no amount that is none', async (t) => {
  const api = await startApi(t);
  const { id } = api.user;
  await buy(api);
  const { balanceDollars } = await account(api);
  t.is(balanceDollars, 99_995.7);
  const refused = await adjust(api, id, -99_995.71);
  t.is(refused.status, 409);
  t.like(refused.json.error, {
    code: 'insufficient_balance',
    message: 'The account has less to spend than dollars takes.',
  });
  t.is((await adjust(api, id, -balanceDollars)).json.balanceDollars, 0);
  for (const dollars of [0, 0.001, 1.005, 1e300]) {
    const answer = await adjust(api, id, dollars);
    t.is(answer.status, 400, `${dollars}`);
    t.regex(answer.json.error.message, /^dollars must be an amount other than 0/);
  }
  const tooMuch = await adjust(api, id, 90_071_992_547_409);
  t.is(tooMuch.json.error.message, 'dollars: the account would hold more than can be counted');
  const nobody = await adjust(api, '0195d3a0-0000-7000-8000-000000000001', 1);
  t.is(nobody.status, 404);
  t.is(nobody.json.error.message, 'No such user.');
});

test.serial('O12, O13: a whole server settles and adjusts over its shards', async (t) => {
  const { paperbook, adminToken, instrumentIds, audit } = await startWhole(t);
  const admin = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const url = paperbook.adminUrl + path;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, ...((await answer.json()) as Record<string, unknown>) };
  };
  t.like(await admin('/admin/settlements', { market: 'I0', result: 'no' }), {
    status: 200,
    market: 'venue_a/I0',
    isNew: true,
  });
  const reply = await paperbook.engine.quote(instrumentIds[0]!, NOW_MS);
  t.true(reply.ok && reply.body.includes('market resolved'));
  t.like(await admin('/admin/settlements', { market: 'I0', result: 'yes' }), { status: 409 });
  t.deepEqual((await audit()).problems, []);
});
