import test from 'ava';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { CANCEL_ALL_MAX } from '../../../engine/rules/decide.ts';
import type { CancelAll } from '../../../engine/rules/messages.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { uuidOf } from '../../engine/fixtures.ts';
import { ok } from '../fake-engine.ts';
import { IDS } from '../samples.ts';
import { type Api, startApi } from '../support.ts';

const PATH = '/portfolio/orders';
const BUY = { action: 'buy', type: 'limit', side: 'yes', count: 1, limitPriceCents: 5 };

async function rest(api: Api, key: string, instrumentId = IDS.lions, headers = {}) {
  const body = { ...BUY, instrumentId, idempotencyKey: key };
  const { json } = await api.call('POST', PATH, { body, headers });
  return json.order.orderId as string;
}

test('A74: all resting orders are canceled, in the order in which they were placed', async (t) => {
  const api = await startApi(t);
  const ids = [await rest(api, 'a'), await rest(api, 'b', IDS.bears), await rest(api, 'c')];
  const { status, json, headers } = await api.call('DELETE', PATH);
  t.is(status, 200);
  t.deepEqual(json, { canceled: ids, count: 3, mode: 'paper' });
  t.is(headers.get('cache-control'), 'no-store');
  const { orders } = (await api.call('GET', `${PATH}?status=canceled`)).json;
  t.is(orders.length, 3);
  t.deepEqual((await api.call('DELETE', PATH)).json, { canceled: [], count: 0, mode: 'paper' });
});

test('A74: those on one instrument; what is not an instrument is refused', async (t) => {
  const api = await startApi(t);
  const [lions, bears] = [await rest(api, 'a'), await rest(api, 'b', IDS.bears)];
  const of = (id: string) => api.call('DELETE', `${PATH}?instrumentId=${id}`);
  t.deepEqual((await of(IDS.bears)).json.canceled, [bears]);
  t.like((await of('nonsense')).json.error, { code: 'invalid_request' });
  t.like(await of('ins_ZZZZZZZZZZZZ'), { status: 404 });
  t.like((await api.call('DELETE', `${PATH}?instrument=x`)).json.error, {
    message: 'unknown query parameter "instrument"',
  });
  t.deepEqual((await api.call('DELETE', PATH)).json.canceled, [lions]);
});

test('A74, I60: orders of an organization, and not the personal ones', async (t) => {
  const api = await startApi(t);
  const organization = newOrganization({ slug: 'acme', name: 'Acme' }, 1);
  await api.store.organizations.add(organization);
  const membership = { organizationId: organization.id, userId: api.user.id };
  await api.store.organizations.putMember({ ...membership, role: 'member', createdAtMs: 1 });
  const headers = { 'x-service-org': organization.id };
  const own = await rest(api, 'own');
  const theirs = await rest(api, 'theirs', IDS.lions, headers);
  t.deepEqual((await api.call('DELETE', PATH, { headers })).json.canceled, [theirs]);
  t.deepEqual((await api.call('DELETE', PATH)).json.canceled, [own]);
});

test('T112, A74: it works while trading is off', async (t) => {
  const api = await startApi(t);
  const id = await rest(api, 'a');
  await api.switches.set('trading', false);
  t.deepEqual((await api.call('DELETE', PATH)).json.canceled, [id]);
});

test('T131: more than fits in one batch takes several, which count once', async (t) => {
  const api = await startApi(t);
  const ids = Array.from({ length: CANCEL_ALL_MAX * 2 + 1 }, (_, n) => uuidOf(n));
  const left = [...ids];
  const asked: CancelAll[] = [];
  api.engine.reply = async (command) => {
    asked.push(command as CancelAll);
    const canceled = left.splice(0, CANCEL_ALL_MAX);
    return ok({ canceled, count: canceled.length, mode: 'paper' });
  };
  const { json } = await api.call('DELETE', PATH);
  t.deepEqual(json, { canceled: ids, count: ids.length, mode: 'paper' });
  t.deepEqual(
    asked.map(({ counting }) => counting !== null),
    [true, false, false],
  );
});

test('A74: an engine that cannot take the rest is a 503', async (t) => {
  const api = await startApi(t);
  let asked = 0;
  api.engine.reply = async () => {
    if (asked++ > 0) throw new Unavailable('Answers no more.');
    return ok({ canceled: Array.from({ length: CANCEL_ALL_MAX }, (_, n) => uuidOf(n)) });
  };
  t.is((await api.call('DELETE', PATH)).status, 503);
});
