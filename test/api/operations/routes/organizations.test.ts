import test from 'ava';
import { newOrganization, type Role } from '../../../../api/identity/organizations.ts';
import { PRESETS } from '../../../../engine/rules/realism.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import { sampleReply } from '../../fake-engine.ts';
import { RawConnection, request } from '../../raw-connection.ts';
import { IDS } from '../../samples.ts';
import { type Api, startApi, TRADER_SCOPES } from '../../support.ts';

const ID = '0195d3a0-0000-7000-8000-000000000001';
const BUY = {
  action: 'buy',
  type: 'market',
  idempotencyKey: 'k-1',
  instrumentId: IDS.lions,
  side: 'yes',
  count: 10,
};

/** The routes that the header acts on. Rule A20 (api/RULES.md). */
const ROUTES: [method: string, path: string, body?: object][] = [
  ['GET', '/portfolio'],
  ['GET', '/portfolio/trades'],
  ['GET', '/portfolio/orders'],
  ['GET', `/portfolio/orders/${ID}`],
  ['POST', '/portfolio/orders', BUY],
  ['DELETE', `/portfolio/orders/${ID}`],
];

async function addOrganization(api: Api, slug: string, role: Role | null = 'member') {
  const organization = newOrganization({ slug, name: `The ${slug}` }, Date.now());
  await api.store.organizations.add(organization);
  const membership = { organizationId: organization.id, userId: api.user.id, createdAtMs: 1 };
  if (role !== null) await api.store.organizations.putMember({ ...membership, role });
  return organization;
}

/** Every route with the header: its statuses and codes. */
async function sendAll(api: Api, header: string | null, token = api.token) {
  const headers: Record<string, string> = header === null ? {} : { 'x-service-org': header };
  const answers: { status: number; code: string | undefined; message: string | undefined }[] = [];
  for (const [method, path, body] of ROUTES) {
    const { status, json } = await api.call(method, path, { token, headers, body });
    answers.push({ status, code: json.error?.code, message: json.error?.message });
  }
  return answers;
}

test('I60, organization header: the call uses that organization`s sandbox', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme');
  await addOrganization(api, 'bear-club', null);
  await addOrganization(api, 'zoo');
  // Each route must succeed, also those that name an order which nobody placed.
  api.engine.reply = async (request) => sampleReply(request);
  for (const header of [id, id.toUpperCase()]) {
    for (const { status, message } of await sendAll(api, header)) t.is(status, 200, message);
  }
  t.deepEqual(api.engine.accounts, Array(2 * ROUTES.length).fill(id));
  for (const request of api.engine.requests) {
    t.is('account' in request ? request.account : null, id);
    const slug = 'organizationSlug' in request ? request.organizationSlug : 'acme';
    t.is(slug, 'acme', request.kind);
  }
});

test('I60, organization header: absent, the personal account', async (t) => {
  const api = await startApi(t);
  await addOrganization(api, 'acme');
  await sendAll(api, null);
  t.deepEqual(api.engine.accounts, Array(ROUTES.length).fill(api.user.id));
});

test('I62, organization header: 400, 404 and 403, never the personal account', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme', null);
  const cases: [header: string, status: number, code: string][] = [
    ['acme', 400, 'invalid_request'],
    ['', 400, 'invalid_request'],
    [`${id}0`, 400, 'invalid_request'],
    [`${id}, ${id}`, 400, 'invalid_request'],
    [`urn:uuid:${id}`, 400, 'invalid_request'],
    [ID, 404, 'organization_not_found'],
    [api.user.id, 404, 'organization_not_found'],
    [id, 403, 'organization_forbidden'],
  ];
  for (const [header, wanted, wantedCode] of cases) {
    for (const { status, code, message } of await sendAll(api, header)) {
      t.is(status, wanted, `'${header}': ${message}`);
      t.is(code, wantedCode);
      if (wanted === 400) t.is(message, 'X-Service-Org must be an organization id');
    }
  }
  t.deepEqual(api.engine.requests, []);
});

test('I62, organization header: two of them are no organization id', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme');
  for (const values of [
    [id, ID],
    [id, ''],
    ['', id],
  ]) {
    const raw = new RawConnection(t, api.port);
    const headers = values.map((value) => `X-Service-Org: ${value}\r\n`).join('');
    raw.send(request('GET', '/v1/portfolio', api, headers));
    await raw.until(({ text }) => text.includes('}}'));
    t.regex(raw.text, /^HTTP\/1.1 400 [\s\S]*X-Service-Org must be an organization id/);
  }
  t.deepEqual(api.engine.requests, []);
});

test('I65, organization header: membership counts from its first to its last moment', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme', 'owner');
  const headers = { 'x-service-org': id };
  t.is((await api.call('GET', '/portfolio', { headers })).status, 200);
  const removed = api.store.organizations.removeMember(id, api.user.id);
  t.is(
    (await api.call('GET', '/portfolio', { headers })).json.error.code,
    'organization_forbidden',
  );
  await removed;
});

test('A17: scope, query and body, organization, switch', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme', null);
  await api.switches.set('trading', false);
  const headers = { 'x-service-org': id };
  const codeOf = async (path: string, token: string, body?: object) => {
    const method = body === undefined ? 'GET' : 'POST';
    return (await api.call(method, path, { token, headers, body })).json.error.message;
  };
  const reader = await api.addKey({ scopes: ['markets:read'] });
  t.regex(await codeOf('/portfolio', reader), /lacks the scope/);
  t.regex(await codeOf('/portfolio?x=1', api.token), /unknown query parameter/);
  t.regex(await codeOf('/portfolio/orders', api.token, {}), /is required/);
  const execution = { ...BUY, execution: 'venue_a' };
  t.regex(await codeOf('/portfolio/orders', api.token, execution), /lacks the scope/);
  t.is(await codeOf('/portfolio/orders', api.token, BUY), 'This key cannot use that organization.');
  const membership = { organizationId: id, userId: api.user.id, role: 'member' } as const;
  await api.store.organizations.putMember({ ...membership, createdAtMs: 1 });
  t.is(await codeOf('/portfolio/orders', api.token, BUY), 'Trading with keys is switched off.');
});

test('A20, organization header: routes that act on no account take no notice of the header', async (t) => {
  const api = await startApi(t);
  for (const header of ['', 'acme', ID]) {
    for (const path of ['/me', '/organizations', '/games', '/instruments', '/status']) {
      t.is((await api.call('GET', path, { headers: { 'x-service-org': header } })).status, 200);
    }
  }
});

test('I61, T27: what an organization places is private', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme');
  await api.store.changeUser(api.user.id, { private: false });
  await sendAll(api, id);
  await sendAll(api, null);
  const [inAcme, personal] = api.engine.requests.filter(({ kind }) => kind === 'place');
  t.like(inAcme, { account: id, placedPrivate: true });
  t.like(personal, { account: api.user.id, placedPrivate: false });
});

test('I61, A38, plan: the plan of the key`s owner opens positions there too', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme');
  for (const [plan, role, mayOpen] of [
    ['none', 'owner', false],
    ['none', 'member', false],
    ['basic', 'member', true],
    ['basic', 'owner', true],
  ] as const) {
    const token = await api.addKey({ scopes: TRADER_SCOPES! }, plan);
    const userId = [...api.store.users.values()].at(-1)!.id;
    const membership = { organizationId: id, userId, role, createdAtMs: 1 } as const;
    await api.store.organizations.putMember(membership);
    await sendAll(api, id, token);
    const placed = api.engine.requests.filter(({ kind }) => kind === 'place').at(-1);
    t.like(placed, { account: id, mayOpen }, plan);
  }
});

test('I61, L8: a key`s are its owner`s in every account, the account`s its own', async (t) => {
  const api = await startApi(t);
  const own = { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 };
  const wide = { newPerMinute: 7, newPerDay: 8, closingPerMinute: 9 };
  await api.store.changeUser(api.user.id, {
    plan: 'enterprise',
    tradeLimits: { key: own, account: wide },
  });
  const acme = await addOrganization(api, 'acme');
  const zoo = await addOrganization(api, 'zoo');
  await api.store.organizations.change(zoo.id, { tradeLimits: { account: own } });
  const countings = async (header: string | null) => {
    await sendAll(api, header);
    return api.engine.requests.slice(-ROUTES.length).flatMap((request) => {
      return 'counting' in request ? [request.counting!] : [];
    });
  };
  const [keyId] = [...api.store.keys.values()].map(({ id }) => id);
  const common = { keyId: keyId!, keyLimits: own, elsewhere: null };
  const both = (accountLimits: object) => Array(2).fill({ ...common, accountLimits });
  t.deepEqual(await countings(null), both(wide));
  t.deepEqual(await countings(acme.id), both(ACCOUNT_LIMITS));
  t.deepEqual(await countings(zoo.id), both(own));
  t.deepEqual(new Set(api.engine.owners), new Set([api.user.id]));

  await api.store.changeUser(api.user.id, { plan: 'basic' });
  for (const counting of await countings(zoo.id)) {
    t.like(counting, { keyLimits: KEY_LIMITS, accountLimits: own }, 'only enterprise');
  }
});

test('Q8: a call in a sandbox counts for the owner of its key, with their limits', async (t) => {
  const api = await startApi(t);
  const { id } = await addOrganization(api, 'acme');
  const answers = [null, id].map(async (header) => {
    const headers: Record<string, string> = header === null ? {} : { 'x-service-org': header };
    const { status, headers: said } = await api.call('GET', '/portfolio', { headers });
    return [status, said.get('ratelimit-limit'), said.get('service-quota-limit')];
  });
  t.deepEqual(await Promise.all(answers), Array(2).fill([200, '60', '10000']));
  const { json } = await api.call('GET', '/usage');
  t.is(json.month.used, 2, 'both');
  t.is(json.key.requestsThisMonth, 2);
});

test('A59, GET /organizations: the organizations of the key, by slug, with the role', async (t) => {
  const api = await startApi(t);
  const none = await api.call('GET', '/organizations');
  t.deepEqual(none.json, { organizations: [], count: 0, mode: 'paper' });
  t.is(none.headers.get('cache-control'), 'no-store');
  const zoo = await addOrganization(api, 'zoo', 'owner');
  const acme = await addOrganization(api, 'acme');
  await addOrganization(api, 'strangers', null);
  const token = await api.addKey({ scopes: ['markets:read'] });
  const realism = PRESETS.simple;
  t.deepEqual((await api.call('GET', '/organizations')).json, {
    organizations: [
      { id: acme.id, slug: 'acme', name: 'The acme', role: 'member', realism },
      { id: zoo.id, slug: 'zoo', name: 'The zoo', role: 'owner', realism },
    ],
    count: 2,
    mode: 'paper',
  });
  t.is((await api.call('GET', '/organizations', { token })).json.count, 0, 'any valid key');
  t.is((await api.call('GET', '/organizations', { token: null })).status, 401);
  t.is((await api.call('GET', '/organizations?limit=1')).status, 400);
});
