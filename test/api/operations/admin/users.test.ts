/** Pages of users and keys on the admin listener, and the search of users. Rule O20 (api/RULES.md). */
import test from 'ava';
import { newKey } from '../../../../api/identity/keys.ts';
import { searchUsers } from '../../../../api/identity/user-search.ts';
import { newUser, type User } from '../../../../api/identity/users.ts';
import { type Api, type Json, startApi } from '../../support.ts';

async function addUsers(api: Api, count: number): Promise<User[]> {
  const users = Array.from({ length: count }, (_, at) =>
    newUser({ email: `u${at}@example.com`, displayName: `User ${at}` }, Date.now() + at),
  );
  await Promise.all(users.map((user) => api.store.addUser(user)));
  return users;
}

const get = async (api: Api, path: string): Promise<Json> => (await api.admin('GET', path)).json;
const emailsOf = ({ users }: Json) => users.map(({ email }: Json) => email);

test('O20: /admin/users is a page, the newest first', async (t) => {
  const api = await startApi(t);
  const added = await addUsers(api, 60);
  const newest = [...added.map(({ email }) => email)].reverse();
  const first = await get(api, '/admin/users');
  t.deepEqual(emailsOf(first), newest.slice(0, 50));
  const second = await get(api, `/admin/users?cursor=${first.nextCursor}`);
  t.deepEqual(emailsOf(second), [...newest.slice(50), api.user.email]);
  t.is(second.nextCursor, null);
  const whole = await get(api, '/admin/users?limit=61');
  t.is(whole.users.length, 61);
  t.is(whole.nextCursor, null, 'nothing follows it');
  const small = await get(api, '/admin/users?limit=2');
  t.deepEqual(emailsOf(small), newest.slice(0, 2));
  for (const query of ['limit=0', 'limit=501', 'cursor=x', `cursor=${api.user.id.toUpperCase()}`]) {
    t.is((await api.admin('GET', `/admin/users?${query}`)).status, 400, query);
  }
});

test('O20: search finds a part of an address or a name, whatever its case', async (t) => {
  const api = await startApi(t);
  await addUsers(api, 250);
  const found = async (search: string) =>
    emailsOf(await get(api, `/admin/users?search=${encodeURIComponent(search)}`));
  t.deepEqual(
    await found('U24'),
    ['u249', 'u248', 'u247', 'u246', 'u245', 'u244', 'u243', 'u242', 'u241', 'u240', 'u24'].map(
      (name) => `${name}@example.com`,
    ),
  );
  t.deepEqual(await found('ser 17'), [
    ...Array.from({ length: 10 }, (_, at) => `u${179 - at}@example.com`),
    'u17@example.com',
  ]);
  t.deepEqual(await found('nobody'), []);
  t.deepEqual(await found('owner'), ['owner@example.com']);
});

test('O20: who has exactly that address, name or id comes first', async (t) => {
  const api = await startApi(t);
  const added = await addUsers(api, 30);
  const search = async (text: string, more = '') =>
    emailsOf(await get(api, `/admin/users?search=${encodeURIComponent(text)}${more}`));
  t.deepEqual((await search('User 1')).slice(0, 2), ['u1@example.com', 'u19@example.com']);
  t.deepEqual(await search('U7@EXAMPLE.COM'), ['u7@example.com']);
  t.deepEqual(await search(added[3]!.id.toUpperCase()), ['u3@example.com']);
  const page = await get(api, '/admin/users?search=user%201&limit=1');
  t.deepEqual(emailsOf(page), ['u1@example.com', 'u19@example.com']);
  const next = await get(api, `/admin/users?search=user%201&limit=3&cursor=${page.nextCursor}`);
  t.deepEqual(
    emailsOf(next),
    ['u18', 'u17', 'u16'].map((name) => `${name}@example.com`),
  );
});

test('O20: a search looks at 20,000 users a page, and gives way to requests meanwhile', async (t) => {
  const users = Array.from({ length: 20_150 }, (_, at) =>
    newUser({ email: `${at === 0 ? 'first' : at}@example.com` }, at + 1),
  );
  let reads = 0;
  const table = {
    before: (id: string | null, max: number) => {
      reads++;
      const end = id === null ? users.length : users.findIndex((user) => user.id === id);
      return users.slice(Math.max(0, end - max), end).reverse();
    },
    get: () => undefined,
    byEmail: () => undefined,
    byName: () => undefined,
  };
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const page = await searchUsers(table, { search: 'first', before: null, limit: 10 });
  clearInterval(timer);
  t.deepEqual(page.rows, []);
  t.is(page.next, users[150]!.id);
  t.is(reads, 200);
  t.true(turns > 0);
  const next = await searchUsers(table, { search: 'first', before: page.next, limit: 10 });
  t.deepEqual(next, { rows: [users[0]!], next: null });
});

test('O20: /admin/keys is a page, of all or of a user', async (t) => {
  const api = await startApi(t);
  const [ann] = await addUsers(api, 1);
  const keys = Array.from(
    { length: 5 },
    (_, at) => newKey(ann!.id, { label: `k${at}` }, 'cli', Date.now() + at).key,
  );
  await api.store.putKeys(keys);
  const labels = ({ keys }: Json) => keys.map(({ label }: Json) => label);
  for (const whose of ['', `&userId=${ann!.id}`]) {
    const first = await get(api, `/admin/keys?limit=3${whose}`);
    t.deepEqual(labels(first), ['k4', 'k3', 'k2'], whose);
    const next = await get(api, `/admin/keys?limit=3${whose}&cursor=${first.nextCursor}`);
    t.deepEqual(labels(next), whose === '' ? ['k1', 'k0', 'Untitled key'] : ['k1', 'k0']);
    t.is(next.nextCursor, null);
  }
});
