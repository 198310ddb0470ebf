/** An account's realism: how it is set and shown, and that it reaches the engine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { loadConfig } from '../../../../api/config/config.ts';
import { newOrganization } from '../../../../api/identity/organizations.ts';
import { ControlStore } from '../../../../api/identity/store.ts';
import { Switches } from '../../../../api/identity/switches.ts';
import { BookNeeds } from '../../../../api/market-data/book-needs.ts';
import { changeRealism } from '../../../../api/operations/realism.ts';
import type { FillModelName } from '../../../../engine/base/units.ts';
import { PRESETS } from '../../../../engine/rules/realism.ts';
import { FakeEngine } from '../../fake-engine.ts';
import { IDS } from '../../samples.ts';
import { isRefused } from '../../signed-in.ts';
import { type Api, startApi } from '../../support.ts';

const env = { PAPERBOOK_FILL_MODEL: 'queue' };
const { simple, realistic } = PRESETS;

function order(key: string) {
  const buy = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 10 };
  return { ...buy, idempotencyKey: key };
}

/** What the engine was told of the last order's account. */
function realismSent(api: Api): unknown {
  const placed = api.engine.requests.findLast(({ kind }) => kind === 'place');
  return placed?.kind === 'place' ? placed.realism : undefined;
}

test('A90, A140, A141: people set a preset or parts of their realism, and orders from then on have it', async (t) => {
  const api = await startApi(t, { env });
  const token = await api.signIn();
  const change = (realism: unknown) => api.call('PATCH', '/me', { token, body: { realism } });
  const shown = async () => [
    (await api.call('GET', '/account')).json.realism,
    (await api.call('GET', '/me')).json.realism,
  ];
  t.deepEqual(await shown(), [simple, simple]);
  await api.call('POST', '/portfolio/orders', { body: order('a') });
  t.is(realismSent(api), null, 'the preset simple takes no byte of an order');

  t.deepEqual((await change('realistic')).json.realism, realistic);
  t.deepEqual(await shown(), [realistic, realistic]);
  await api.call('POST', '/portfolio/orders', { body: order('b') });
  t.deepEqual(realismSent(api), realistic);

  const ranged = { ...realistic, latencyMs: { min: 100, max: 250 } };
  t.deepEqual((await change({ latencyMs: { min: 100, max: 250 } })).json.realism, ranged);
  const parts = { model: 'book_depth', fees: 'none', liquidity: 'account' };
  t.deepEqual((await change(parts)).json.realism, { ...ranged, ...parts });
  const named = await api.call('PATCH', '/me', { token, body: { displayName: 'Momentum' } });
  t.like(named.json, { user: { displayName: 'Momentum' }, realism: { ...ranged, ...parts } });
  t.deepEqual((await change('simple')).json.realism, simple);
  await api.call('POST', '/portfolio/orders', { body: order('c') });
  t.is(realismSent(api), null);
});

test('A140: a bad realism is refused by the part that is wrong, and changes nothing', async (t) => {
  const api = await startApi(t, { env });
  const token = await api.signIn();
  const refusals: [unknown, string][] = [
    ['real', 'realism must be one of simple, realistic'],
    [7, 'realism must be a string'],
    [null, 'realism must be a string'],
    [['simple'], 'realism must be a string'],
    [{ model: 'best' }, 'realism.model must be one of server, top_of_book, book_depth, queue'],
    [{ latency: 5 }, 'unknown field "realism.latency"'],
    [{ latencyMs: 150 }, 'realism.latencyMs must be an object'],
    [{ latencyMs: { min: 1 } }, 'realism.latencyMs.max is required'],
    [{ latencyMs: { min: -1, max: 1 } }, 'realism.latencyMs.min must be at least 0'],
    [{ latencyMs: { min: 1, max: 60_001 } }, 'realism.latencyMs.max must be at most 60000'],
    [{ latencyMs: { min: 1.5, max: 2 } }, 'realism.latencyMs.min must be an integer'],
    [{ latencyMs: { min: 3, max: 2 } }, 'realism.latencyMs.min must be at most its max'],
    [{ fees: 'some' }, 'realism.fees must be one of none, venue'],
    [{ liquidity: 'all' }, 'realism.liquidity must be one of account, market'],
  ];
  for (const [realism, message] of refusals) {
    const body = { realism, displayName: 'Other' };
    const answer = await api.call('PATCH', '/me', { token, body });
    t.is(answer.status, 400, message);
    t.is(answer.json.error.message, message);
  }
  t.deepEqual((await api.call('GET', '/me')).json.realism, simple);
  t.is((await api.call('GET', '/me')).json.user.displayName, 'Owner');
});

test('A140: queue needs levels, and without a feed that tells them it is 409', async (t) => {
  const api = await startApi(t);
  const token = await api.signIn();
  const change = (realism: unknown) => api.call('PATCH', '/me', { token, body: { realism } });
  for (const realism of ['realistic', { model: 'queue' }]) {
    const answer = await change(realism);
    isRefused(t, answer, 409, 'not_configured');
    t.regex(answer.json.error.message, /levels, which the model queue needs/);
  }
  t.is((await change({ model: 'book_depth', fees: 'venue' })).status, 200);
  const onFeedClock = await startApi(t, { env: { PAPERBOOK_CLOCK: 'feed' } });
  const body = { realism: 'realistic' };
  const taken = await onFeedClock.call('PATCH', '/me', {
    token: await onFeedClock.signIn(),
    body,
  });
  t.is(taken.status, 200, 'a recorded file may tell them');
});

test('T158: the first choice of another model has sizes and levels told, and so does each start', async (t) => {
  const api = await startApi(t, { env: { PAPERBOOK_CLOCK: 'feed' } });
  const token = await api.signIn();
  const raised: string[] = [];
  api.context.bookNeeds.raise = () => void raised.push('raised');
  const change = (realism: unknown) => api.call('PATCH', '/me', { token, body: { realism } });
  const told = () => {
    return api.engine.broadcasts.filter((command) => 'followsBooks' in command);
  };
  await change({ latencyMs: { min: 5, max: 5 }, fees: 'venue', model: 'top_of_book' });
  t.deepEqual([told().length, raised.length], [0, 0], 'the model of the server needs nothing more');
  await change('realistic');
  t.like(told()[0], { kind: 'switches', followsBooks: true });
  t.deepEqual([told().length, raised.length], [1, 1]);
  t.true(api.store.switches().followsBooks, 'it is told again after a start');
});

test('A141: an owner sets the realism of an organization, a member does not', async (t) => {
  const api = await startApi(t, { env });
  const token = await api.signIn();
  const [own, joined, other] = ['acme', 'bear', 'club'].map((slug) => {
    return newOrganization({ slug, name: slug }, Date.now());
  });
  for (const each of [own!, joined!, other!]) await api.store.organizations.add(each);
  const member = { userId: api.user.id, createdAtMs: 1 };
  const { organizations } = api.store;
  await organizations.putMember({ ...member, organizationId: own!.id, role: 'owner' });
  await organizations.putMember({ ...member, organizationId: joined!.id, role: 'member' });
  const body = { realism: 'realistic' };
  const change = (id: string) => api.call('PATCH', `/organizations/${id}`, { token, body });
  const changed = await change(own!.id.toUpperCase());
  const { id, slug, name } = own!;
  t.deepEqual(changed.json, {
    organization: { id, slug, name, role: 'owner', realism: realistic },
  });
  const listed = (await api.call('GET', '/organizations')).json.organizations;
  t.deepEqual(
    listed.map((each: { realism: unknown }) => each.realism),
    [realistic, simple],
  );
  await api.call('POST', '/portfolio/orders', {
    body: order('a'),
    headers: { 'x-service-org': id },
  });
  t.deepEqual(realismSent(api), realistic);
  await api.call('POST', '/portfolio/orders', { body: order('b') });
  t.is(realismSent(api), null, 'the personal account has its own');

  isRefused(t, await change(joined!.id), 403, 'organization_forbidden');
  isRefused(t, await change(other!.id), 403, 'organization_forbidden');
  isRefused(t, await change(api.user.id), 404, 'organization_not_found');
  isRefused(t, await change('acme'), 404, 'organization_not_found');
  const byKey = await api.call('PATCH', `/organizations/${id}`, { body });
  isRefused(t, byKey, 401, 'session_required');
});

test('A142: an operator shows and sets the realism of a user or an organization', async (t) => {
  const api = await startApi(t, { env });
  const path = (id: string) => `/admin/realism/${id}`;
  const accountId = api.user.id;
  t.deepEqual((await api.admin('GET', path(accountId))).json, { accountId, realism: simple });
  const body = { realism: { fees: 'venue' } };
  const set = await api.admin('PUT', path(accountId.toUpperCase()), { body });
  t.deepEqual(set.json, { accountId, realism: { ...simple, fees: 'venue' } });
  t.deepEqual((await api.call('GET', '/account')).json.realism, { ...simple, fees: 'venue' });
  const organization = newOrganization({ slug: 'acme', name: 'Acme' }, Date.now());
  await api.store.organizations.add(organization);
  t.is((await api.admin('PUT', path(organization.id), { body })).status, 200);
  const nobody = '0195d3a0-0000-7000-8000-000000000001';
  isRefused(t, await api.admin('PUT', path(nobody), { body }), 404, 'account_not_found');
  isRefused(t, await api.admin('PUT', path(accountId), { body: {} }), 400, 'invalid_request');
});

test('D107: the realism of accounts is on disk before the answer, and simple has no row', async (t) => {
  const api = await startApi(t, { env });
  const token = await api.signIn();
  const onDisk = async () => {
    const copy = new ControlStore(api.context.config.dataDir);
    const found = copy.realism.of(api.user.id);
    await copy.close();
    return found;
  };
  await api.call('PATCH', '/me', { token, body: { realism: 'realistic' } });
  t.deepEqual(await onDisk(), realistic);
  await api.call('PATCH', '/me', { token, body: { realism: 'simple' } });
  t.is(await onDisk(), null);
});

test('T158: accounts keep the model that they chose while the server has another one than before', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-realism-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const store = new ControlStore(directory);
  t.teardown(() => store.close());
  const log = { info() {}, warn() {}, error() {} };
  const begun = async (fillModel: FillModelName) => {
    const engine = new FakeEngine();
    let followsBooks: boolean | undefined;
    engine.broadcast = async (command) => {
      if (command.kind === 'switches') followsBooks = command.followsBooks;
    };
    const env = { PAPERBOOK_FILL_MODEL: fillModel, PAPERBOOK_CLOCK: 'feed' };
    const config = loadConfig(env, null);
    const switches = new Switches(config, store, engine, log);
    await switches.announce();
    const bookNeeds = new BookNeeds(fillModel, store.followsBooks(fillModel));
    return { followsBooks, context: { config, identity: store, switches, bookNeeds, log } };
  };
  const account = '01a21fc9-19d5-79bb-a2d1-b3c4d946572f';
  await changeRealism((await begun('queue')).context, account, 'realistic');
  t.is((await begun('queue')).followsBooks, undefined, 'the server itself follows books');
  const { followsBooks, context } = await begun('top_of_book');
  t.true(followsBooks);
  t.true(context.bookNeeds.levels);
  await changeRealism(context, account, 'simple');
  t.true((await begun('top_of_book')).followsBooks, 'orders of before still rest in queues');
});
