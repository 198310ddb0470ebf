import { statSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { open } from 'lmdb';
import { newUuid } from '../../../api/base/uuid.ts';
import { guardWrites } from '../../../api/identity/disk-guard.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';
import { DiskFull } from '../../../engine/log/disk-full.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { limitFiles, mayLimitFiles, unlimitFiles } from '../../engine/shard/limited-files.ts';

// Where files cannot be limited these are shown as skipped.
const limited = mayLimitFiles() ? test.serial : test.serial.skip;

limited('D8: a control store without room refuses what it cannot keep, and goes on', async (t) => {
  const dir = tempDir(t);
  const root = open<unknown, string>({ path: dir, maxDbs: 4 });
  guardWrites(root, dir);
  const table = root.openDB<string, number>({ name: 'table' });
  await root.put('format', 1);
  await table.put(0, 'first');
  limitFiles(t, statSync(path.join(dir, 'data.mdb')).size);
  const put = async (key: number) => await table.put(key, 'x'.repeat(300_000));
  const written: number[] = [];
  const refused = await t.throwsAsync(
    async () => {
      for (let key = 1; key < 100; key++) {
        await put(key);
        written.push(key);
      }
    },
    { instanceOf: DiskFull },
  );
  t.regex(refused.message, /^the data directory cannot be written: /);
  t.true(written.length > 0);
  t.is(table.get(0), 'first');
  for (const key of written) t.is(table.get(key)?.length, 300_000);
  unlimitFiles();
  await put(99);
  await Promise.all([101, 102, 103, 104, 105, 106, 107, 108].map(put)).catch((error: unknown) => {
    t.true(error instanceof DiskFull, 'many at once may have to come again');
  });
  await put(109);
  await table.remove(0);
  t.is(table.get(0), undefined);
  await root.close();
});

test.serial(
  'D8: two thousand sign-ups at once are no full disk, however much is written',
  async (t) => {
    const dir = tempDir(t);
    const store = new ControlStore(dir);
    const signUp = async (n: number) => {
      const user = newUser({ email: `${n}@example.com` }, 0);
      await store.addUser(user);
      const { key } = newKey(user.id, { scopes: ['portfolio:read'] }, 'cli', 0);
      await store.putKey({ ...key, label: 'x'.repeat(1000) });
    };
    const under: Promise<void>[] = [];
    for (let n = 0; n < 2000; n++) {
      under.push(signUp(n));
      // One a turn, so that something is under way all the time.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await t.notThrowsAsync(Promise.all(under));
    t.is([...store.keys.values()].length, 2000);
    await store.close();
    const again = new ControlStore(dir);
    t.is([...again.users.values()].length, 2000);
    t.is([...again.keys.values()].length, 2000);
    await again.close();
  },
);

limited(
  'a user, key or organization that the disk has no room for is none, and can come again',
  async (t) => {
    const dir = tempDir(t);
    const store = new ControlStore(dir);
    const user = newUser({ email: 'first@example.com' }, 0);
    await store.addUser(user);
    const { key: known } = newKey(user.id, {}, 'cli', 0);
    await store.putKey(known);
    const free = newOrganization({ slug: 'acme', name: 'Acme' }, 0);
    const { session } = newSession({ userId: user.id, isGuest: false }, Date.now());
    await store.sessions.add(session);
    const pair = { id: newUuid(0), userId: user.id, label: '', publicKeyPem: '', createdAtMs: 0 };
    await store.venueApiKeys.add(pair);
    limitFiles(t, statSync(path.join(dir, 'control', 'data.mdb')).size);
    // Until nothing goes any more: the file is longer than what is in use of it.
    const filled = async () => {
      const marketNames: string[] = [];
      for (let n = 1; n < 100; n++) {
        marketNames.push('x'.repeat(100_000 * n));
        await store.putNumbers({ marketNames, instrumentIds: [] });
      }
    };
    await t.throwsAsync(filled(), { instanceOf: DiskFull });
    for (const length of [100_000, 4000, 100]) {
      const full = async () => {
        for (;;) await store.passwords.put(newUuid(0), 'x'.repeat(length));
      };
      await t.throwsAsync(full(), { instanceOf: DiskFull });
    }
    const next = newUser({ email: 'next@example.com' }, 1);
    await t.throwsAsync(store.addUser(next), { instanceOf: DiskFull });
    t.is(store.userByEmail('next@example.com'), undefined);
    t.deepEqual(
      [...store.users.values()].map(({ id }) => id),
      [user.id],
    );
    await t.throwsAsync(store.changeUser(user.id, { plan: 'basic' }), { instanceOf: DiskFull });
    t.is(store.users.get(user.id)?.plan, 'none');
    await t.throwsAsync(store.organizations.add(free), { instanceOf: DiskFull });
    t.is(store.organizations.all.size, 0);
    const { key: refused } = newKey(user.id, {}, 'cli', 0);
    await t.throwsAsync(store.putKey(refused), { instanceOf: DiskFull });
    t.is(store.keyByHash(refused.hash), undefined);
    t.deepEqual(store.keysOf(user.id), [known]);
    const revoked = { ...known, revokedAtMs: 1 };
    await t.throwsAsync(store.putKey(revoked), { instanceOf: DiskFull });
    t.deepEqual(store.keyByHash(known.hash), revoked, 'a revoked key is revoked');
    await t.throwsAsync(store.sessions.end([session.id]), { instanceOf: DiskFull });
    t.is(store.sessions.get(session.id, Date.now()), undefined, 'an ended session has ended');
    await t.throwsAsync(store.venueApiKeys.remove(pair), { instanceOf: DiskFull });
    t.deepEqual(store.venueApiKeys.of(user.id), [], 'a revoked pair is revoked');
    unlimitFiles();
    await store.addUser(next);
    await store.organizations.add(free);
    await store.close();
  },
);
