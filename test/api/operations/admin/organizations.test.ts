import test from 'ava';
import { startApi } from '../../support.ts';

const NOBODY = '0195d3a0-0000-7000-8000-000000000001';

test('I64, O7, admin org: made, changed, listed', async (t) => {
  const api = await startApi(t);
  const body = { slug: 'acme', name: 'Acme & Co' };
  const { organization } = (await api.admin('POST', '/admin/organizations', { body })).json;
  t.like(organization, { ...body, tradeLimits: null });
  const path = `/admin/organizations/${organization.id}`;
  const limits = { newPerMinute: 1, newPerDay: 2, closingPerMinute: 3 };
  const change = { name: 'Acme', tradeLimits: { account: limits } };
  const changed = await api.admin(
    'PATCH',
    path.toUpperCase().replace(/^.*\//, '/admin/organizations/'),
    {
      body: change,
    },
  );
  t.deepEqual(changed.json.organization, { ...organization, ...change });
  t.is((await api.admin('PATCH', path, { body: { slug: 'acme' } })).status, 200, 'its own slug');
  await api.admin('POST', '/admin/organizations', { body: { slug: 'zoo', name: 'Zoo' } });

  const refusals: [method: string, path: string, body: object, message: string][] = [
    [
      'POST',
      '/admin/organizations',
      { slug: 'acme', name: 'x' },
      'slug is used by another organization',
    ],
    ['PATCH', path, { slug: 'zoo' }, 'slug is used by another organization'],
    ['POST', '/admin/organizations', { slug: 'new' }, 'name is required'],
    [
      'POST',
      '/admin/organizations',
      { slug: 'new', name: ' ' },
      'name must be one line of 1 to 128 characters, none of them control, bidi or zero-width',
    ],
    ['PATCH', path, { owner: 'me' }, 'unknown field "owner"'],
    ['PATCH', path, { tradeLimits: { key: limits } }, 'unknown field "tradeLimits.key"'],
  ];
  for (const slug of ['', 'Acme', '-a', 'a-', 'a b', 'a'.repeat(65)]) {
    refusals.push([
      'POST',
      '/admin/organizations',
      { slug, name: 'x' },
      'slug must be 1 to 64 small letters, digits and dashes, no dash at an end',
    ]);
  }
  for (const [method, where, sent, message] of refusals) {
    const answer = await api.admin(method, where, { body: sent });
    t.is(answer.status, 400, message);
    t.is(answer.json.error.message, message);
  }
  const unknown = await api.admin('PATCH', `/admin/organizations/${NOBODY}`, { body: {} });
  t.is(unknown.json.error.code, 'organization_not_found');
  const { organizations } = (await api.admin('GET', '/admin/organizations')).json;
  t.deepEqual(
    organizations.map(({ slug, members }: { slug: string; members: object[] }) => [slug, members]),
    [
      ['acme', []],
      ['zoo', []],
    ],
  );
});

test('O7, admin org: members come, change their role, and go', async (t) => {
  const api = await startApi(t);
  const body = { slug: 'acme', name: 'Acme' };
  const { id } = (await api.admin('POST', '/admin/organizations', { body })).json.organization;
  const members = `/admin/organizations/${id}/members`;
  const userId = api.user.id;
  const roleNow = async () => (await api.call('GET', '/organizations')).json.organizations[0]?.role;
  const add = (role: string, who = userId) =>
    api.admin('PUT', members, { body: { userId: who, role } });
  const { member } = (await add('member', userId.toUpperCase())).json;
  t.like(member, { userId, role: 'member' });
  t.is(await roleNow(), 'member');
  t.deepEqual((await add('owner')).json, {
    organizationId: id,
    member: { ...member, role: 'owner' },
  });
  t.is(await roleNow(), 'owner');
  const listed = (await api.admin('GET', '/admin/organizations')).json.organizations;
  t.deepEqual(listed[0].members, [{ ...member, role: 'owner' }]);

  t.is((await add('boss')).json.error.message, 'role must be one of owner, member');
  t.is((await add('member', NOBODY)).json.error.code, 'account_not_found');
  const nowhere = `/admin/organizations/${NOBODY}/members`;
  const lost = await api.admin('PUT', nowhere, { body: { userId, role: 'member' } });
  t.is(lost.json.error.code, 'organization_not_found');
  t.is((await api.admin('DELETE', `${nowhere}?userId=${userId}`)).status, 404);

  t.is((await api.admin('DELETE', `${members}?userId=${userId}`)).json.member.role, 'owner');
  t.is(await roleNow(), undefined);
  const again = await api.admin('DELETE', `${members}?userId=${userId}`);
  t.is(again.json.error.message, 'No such member.');
});

test('I66: organizations that live elsewhere are not kept here: admin org says so', async (t) => {
  const env = { PAPERBOOK_ORGANIZATIONS_URL: 'http://127.0.0.1:9/' };
  const api = await startApi(t, { env });
  const members = `/admin/organizations/${NOBODY}/members`;
  const routes: [method: string, path: string, body?: object][] = [
    ['GET', '/admin/organizations'],
    ['POST', '/admin/organizations', { slug: 'acme', name: 'Acme' }],
    ['PATCH', `/admin/organizations/${NOBODY}`, { name: 'Acme' }],
    ['PUT', members, { userId: api.user.id, role: 'member' }],
    ['DELETE', `${members}?userId=${api.user.id}`],
  ];
  for (const [method, path, body] of routes) {
    const answer = await api.admin(method, path, { body });
    t.is(answer.status, 400, `${method} ${path}`);
    t.regex(answer.json.error.message, /live in the service of PAPERBOOK_ORGANIZATIONS_URL/);
  }
  t.is(api.store.organizations.all.size, 0);
});

test('I54, O8: a venue key is a public id, set, replaced and removed', async (t) => {
  const api = await startApi(t);
  const userId = api.user.id;
  const set = (body: object) => api.admin('PUT', '/admin/venue-keys', { body });
  const at = { userId, venue: 'venue_a' };
  t.like((await set({ ...at, venueKeyId: 'first' })).json.venueKey, { ...at, venueKeyId: 'first' });
  const { venueKey } = (await set({ ...at, venueKeyId: 'second' })).json;
  t.deepEqual((await api.admin('GET', '/admin/venue-keys')).json, { venueKeys: [venueKey] });

  const refusals: [body: object, message: string][] = [
    [{ ...at, venue: 'venue_c', venueKeyId: 'k' }, 'venue must be one of venue_a, venue_c_intl'],
    [{ ...at, venueKeyId: 'a b' }, 'venueKeyId must be 1 to 128 visible ASCII characters'],
    [{ ...at, venueKeyId: 'k', secret: 's' }, 'unknown field "secret"'],
    [{ ...at, userId: NOBODY, venueKeyId: 'k' }, 'No such user.'],
  ];
  for (const [body, message] of refusals) t.is((await set(body)).json.error.message, message);

  const path = `/admin/venue-keys?userId=${userId.toUpperCase()}&venue=venue_a`;
  t.deepEqual((await api.admin('DELETE', path)).json, { venueKey });
  t.is((await api.admin('DELETE', path)).json.error.code, 'key_not_found');
  t.is((await api.admin('DELETE', `${path}_x`)).status, 400);
});
