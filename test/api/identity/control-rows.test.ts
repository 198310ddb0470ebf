/** Which rows of the control store are in memory, and what is written to disk together. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import type { HttpContext } from '../../../api/http/http-context.ts';
import { ControlRows } from '../../../api/identity/control-rows.ts';
import { ControlDamage, ControlTable } from '../../../api/identity/control-table.ts';
import { openControlTables } from '../../../api/identity/control-tables.ts';
import { type Change, ControlWriter } from '../../../api/identity/control-writer.ts';
import { keyNow, keyReader } from '../../../api/identity/key-access.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { OwnedIds, ownedKey } from '../../../api/identity/owned-ids.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';
import { newestMeta } from '../../../engine/lmdb/lmdb-file.ts';
import { NOON_MS, uuidOf } from '../../engine/fixtures.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';

const DAY_MS = 86_400_000;

/** A table that counts how often it is read, and what writes its rows. */
function tableIn(t: ExecutionContext) {
  const dir = tempDir(t);
  const root = open<Buffer, string>({ path: dir, maxDbs: 4, encoding: 'binary' });
  t.teardown(() => root.close());
  const writer = new ControlWriter(root, dir);
  const table = new ControlTable<string>(
    root.openDB({ name: 'table', encoding: 'binary' }),
    'table',
  );
  const read: string[] = [];
  const readOne = table.read.bind(table);
  table.read = (key) => {
    read.push(key);
    return readOne(key);
  };
  /** The check of a snapshot that begins now, which the rows keep, a step at a time. */
  function* checkFor(rows: ControlRows<string>) {
    const snapshot = root.useReadTransaction();
    const kept = rows.keepChecked();
    yield* table.check(snapshot, table.count, kept.take);
    kept.end();
    snapshot.done();
  }
  return {
    ...{ table, read, checkFor },
    write: (changes: readonly Change[]) => writer.write(changes),
  };
}

test('D70: a row is read once, and nothing is kept of what does not exist', (t) => {
  const { table, read } = tableIn(t);
  table.putSync('a', 'A');
  const rows = new ControlRows(table);
  t.deepEqual(read, []);
  for (let at = 0; at < 3; at++) t.is(rows.get('a'), 'A');
  t.deepEqual(read, ['a']);
  for (let at = 0; at < 2; at++) t.is(rows.get('none'), undefined);
  t.deepEqual(read, ['a', 'none', 'none']);
  t.false(rows.has('none'));
  table.putSync('none', 'here now');
  t.is(rows.get('none'), 'here now');
});

test('A242: a row that a check has read is in memory, unless it has changed since the snapshot', async (t) => {
  const { table, read, write, checkFor } = tableIn(t);
  for (const key of ['a', 'b', 'c', 'd', 'e']) table.putSync(key, `old ${key}`);
  const rows = new ControlRows(table);
  const check = checkFor(rows);
  check.next();
  const written = [
    write([rows.putting('b', 'new b')]),
    write([rows.removing('c')]),
    write([rows.removing('d')]),
  ];
  await Promise.all(written);
  await write([rows.putting('d', 'again')]);
  // As another node of a cluster writes.
  table.putSync('e', 'of another node');
  rows.forget('e');
  while (check.next().done !== true);
  const now = () => ['a', 'b', 'c', 'd', 'e'].map((key) => rows.get(key));
  t.deepEqual(now(), ['old a', 'new b', undefined, 'again', 'of another node']);
  t.deepEqual(read, ['c', 'e'], 'the others are in memory');
  t.true(rows.has('a'));
  rows.forget('a');
  t.deepEqual(now(), ['old a', 'new b', undefined, 'again', 'of another node']);
  t.deepEqual(read, ['c', 'e', 'a', 'c'], 'what is kept of a row is forgotten with it');
});

test('a change is effective at once, and stays so as it comes to disk', async (t) => {
  const { table, write } = tableIn(t);
  const rows = new ControlRows(table);
  await write([rows.putting('a', 'A')]);
  const gone = write([rows.removing('a')]);
  t.is(rows.get('a'), undefined);
  t.false(rows.has('a'));
  const back = write([rows.putting('a', 'again')]);
  t.is(rows.get('a'), 'again');
  const goneAgain = write([rows.removing('a')]);
  for (const step of [gone, back, goneAgain]) {
    t.is(rows.get('a'), undefined);
    t.deepEqual([...rows.values()], []);
    await step;
  }
  t.is(rows.get('a'), undefined);
  t.false(table.has('a'));
});

test('a removal that waits for the disk hides the row, whatever was put in between', async (t) => {
  const { table, write } = tableIn(t);
  const rows = new ControlRows(table);
  await write([rows.putting('a', 'A')]);
  const first = rows.removing('a');
  const firstGone = write([first]);
  await firstGone;
  await write([rows.putting('a', 'again')]);
  const second = rows.removing('a');
  const third = rows.removing('a');
  second.keep();
  third.keep();
  second.settle();
  t.is(rows.get('a'), undefined, 'the third is not on disk yet');
  third.settle();
  t.is(rows.get('a'), 'again', 'as the disk has it');
});

test('rows of before the start come in order of keys, then those added in their order', async (t) => {
  const { table, write } = tableIn(t);
  for (const key of ['c', 'a', 'e']) table.putSync(key, `old ${key}`);
  const rows = new ControlRows(table);
  const written = [
    write([rows.putting('d', 'new d')]),
    write([rows.putting('b', 'new b')]),
    write([rows.putting('c', 'changed c')]),
    write([rows.removing('e')]),
  ];
  const all = ['old a', 'changed c', 'new d', 'new b'];
  t.deepEqual([...rows.values()], all);
  await Promise.all(written);
  t.deepEqual([...rows.values()], all);
  t.deepEqual([...new ControlRows(table).values()], ['old a', 'new b', 'changed c', 'new d']);
});

test('the ids of an owner are its own, in the order of their creation', async (t) => {
  const { table, write } = tableIn(t);
  const [ann, bob] = [uuidOf(1), uuidOf(2)];
  const ids = [5, 3, 4].map((name) => uuidOf(name));
  const owned = new OwnedIds(table);
  t.is(owned.of(ann).size, 0);
  const [first, second, third] = ids.map((id) => write([owned.putting(ownedKey(ann, id), id)]));
  await write([owned.putting(ownedKey(bob, ids[0]!), ids[0]!)]);
  t.deepEqual([...owned.of(ann)], ids);
  await Promise.all([first, second, third]);
  const reopened = new OwnedIds(table);
  t.deepEqual([...reopened.of(ann)], ids.toSorted());
  const gone = write([reopened.removing(ownedKey(ann, uuidOf(3)))]);
  t.deepEqual([...reopened.of(ann)], [uuidOf(4), uuidOf(5)]);
  await gone;
  t.deepEqual([...new OwnedIds(table).of(ann)], [uuidOf(4), uuidOf(5)]);
  t.deepEqual([...reopened.of(bob)], [ids[0]]);
});

test('D71: a user, a key and a session each come to disk in one transaction', async (t) => {
  const dir = tempDir(t);
  const store = new ControlStore(dir);
  t.teardown(() => store.close());
  const fd = openSync(path.join(dir, 'control', 'data.mdb'), 'r');
  t.teardown(() => closeSync(fd));
  const written = async (write: Promise<unknown>) => {
    const before = newestMeta(fd, 'data.mdb').transaction;
    await write;
    return newestMeta(fd, 'data.mdb').transaction - before;
  };
  const user = newUser({ email: 'a@b.c', displayName: 'Ann' }, NOON_MS);
  t.is(await written(store.addUser(user)), 1);
  t.is(await written(store.changeUser(user.id, { displayName: 'Eve' })), 1);
  t.is(await written(store.putKey(newKey(user.id, {}, 'cli', NOON_MS).key)), 1);
  const { session } = newSession({ userId: user.id, isGuest: false }, NOON_MS);
  t.is(await written(store.sessions.add(session)), 1);
  t.is(await written(store.sessions.end([session.id])), 1);
});

test('I51: a name that was given up is free, here and after a restart', async (t) => {
  const dir = tempDir(t);
  const first = new ControlStore(dir);
  const [ann, bob] = ['ann@b.c', 'bob@b.c'].map((email) => newUser({ email }, NOON_MS));
  await Promise.all([first.addUser(ann!), first.addUser(bob!)]);
  await first.changeUser(ann!.id, { displayName: 'Ace' });
  await t.throwsAsync(first.changeUser(bob!.id, { displayName: 'ACE' }), {
    message: /another user/,
  });
  await Promise.all([
    first.changeUser(ann!.id, { displayName: null }),
    first.changeUser(bob!.id, { displayName: 'ACE' }),
  ]);
  await first.close();
  const second = new ControlStore(dir);
  t.teardown(() => second.close());
  await t.throwsAsync(second.changeUser(ann!.id, { displayName: 'ace' }), { message: /another/ });
  await second.changeUser(bob!.id, { displayName: 'ace' });
  t.is(second.users.get(bob!.id)?.displayName, 'ace');
});

test('sessions, and keys of a user, are found again after a restart', async (t) => {
  const dir = tempDir(t);
  const first = new ControlStore(dir);
  const userId = uuidOf(1);
  const made = [0, 1, 2].map((at) => newSession({ userId, isGuest: false }, NOON_MS + at).session);
  for (const session of made) await first.sessions.add(session);
  const { session: guest } = newSession({ userId: uuidOf(2), isGuest: true }, NOON_MS);
  await first.sessions.add(guest);
  const { key } = newKey(userId, {}, 'cli', NOON_MS);
  await first.putKey(key);
  await first.sessions.end([made[1]!.id]);
  await first.close();
  const { sessions, ...store } = new ControlStore(dir);
  t.deepEqual(sessions.ofUser(userId), [made[0]!.id, made[2]!.id]);
  t.deepEqual(sessions.byFamily(guest.familyHash), guest);
  t.is(sessions.byFamily(made[1]!.familyHash), undefined);
  t.is(sessions.get(made[1]!.id, NOON_MS), undefined);
  t.deepEqual([...store.keys.of(userId)], [key]);
});

test('new sessions end the idle ones, however many there are', async (t) => {
  const dir = tempDir(t);
  const store = new ControlStore(dir);
  t.teardown(() => store.close());
  const { session: live } = newSession({ userId: uuidOf(9), isGuest: false }, NOON_MS);
  await store.sessions.put({ ...live, refreshedAtMs: NOON_MS + 31 * DAY_MS });
  const idle = Array.from({ length: 70 }, (_, at) =>
    newSession({ userId: uuidOf(at), isGuest: at % 2 === 0 }, NOON_MS + at),
  );
  await Promise.all(idle.map(({ session }) => store.sessions.put(session)));
  for (let at = 0; at < 5; at++) {
    const { session } = newSession({ userId: uuidOf(8), isGuest: false }, NOON_MS + 31 * DAY_MS);
    await store.sessions.add(session);
  }
  t.deepEqual(
    idle.filter(({ session }) => store.sessions.byFamily(session.familyHash) !== undefined),
    [],
  );
  t.is(store.sessions.byFamily(live.familyHash)?.id, live.id);
  t.is(store.sessions.ofUser(uuidOf(8)).length, 5);
});

test('A19: the caller of a key is the same object until key or owner changes', async (t) => {
  const store = new ControlStore(tempDir(t));
  t.teardown(() => store.close());
  const user = newUser({ email: 'ann@b.c' }, NOON_MS);
  await store.addUser(user);
  const { key, token } = newKey(user.id, {}, 'cli', NOON_MS);
  await store.putKey(key);
  const read = keyReader(store, (error) => t.fail(String(error)));
  const onlyHeader = (name: string) => (name === 'x-service-key' ? token : '');
  const caller = () => read({ onlyHeader } as unknown as HttpContext)!;
  caller();
  const first = caller();
  t.is(caller(), first);
  t.is(keyNow(store, first), first.key);
  const renamed = await store.changeUser(user.id, { private: true });
  const second = caller();
  t.is(second.user, renamed);
  t.is(caller(), second);
  const revoked = { ...second.key, revokedAtMs: NOON_MS };
  const revoking = store.putKey(revoked);
  t.is(keyNow(store, second), revoked);
  t.throws(caller, { code: 'invalid_token' });
  await revoking;
});

test('D24, D70: a damaged row is an error of those who ask for it, and of the check', async (t) => {
  const dir = tempDir(t);
  const store = new ControlStore(dir);
  const [ann, bob] = ['ann@b.c', 'bob@b.c'].map((email) => newUser({ email }, NOON_MS));
  for (const user of [ann!, bob!]) await store.addUser(user);
  const [hers, his] = [ann!, bob!].map(({ id }) => newKey(id, {}, 'cli', NOON_MS).key);
  await store.putKeys([hers!, his!]);
  const { session } = newSession({ userId: ann!.id, isGuest: false }, NOON_MS);
  await store.sessions.add(session);
  await store.close();
  damage(dir, (tables) => {
    for (const [table, id] of [
      ['users', ann!.id],
      ['keys', hers!.id],
      ['sessions', session.id],
    ] as const) {
      const value = Buffer.from(tables(table).get(id)!);
      value[value.length - 1]! ^= 1;
      tables(table).putSync(id, value);
    }
  });
  const damaged = new ControlStore(dir);
  t.teardown(() => damaged.close());
  const is = (what: string) => ({
    instanceOf: ControlDamage,
    message: `control/data.mdb is damaged: ${what} has changed since it was written`,
  });
  t.throws(() => damaged.users.get(ann!.id), is(`users [${ann!.id}]`));
  t.throws(() => damaged.userByEmail('ann@b.c'), is(`users [${ann!.id}]`));
  t.throws(() => damaged.keyByHash(hers!.hash), is(`keys [${hers!.id}]`));
  t.throws(() => damaged.sessions.get(session.id, NOON_MS), is(`sessions [${session.id}]`));
  t.deepEqual(damaged.users.get(bob!.id), bob);
  t.deepEqual(damaged.keyByHash(his!.hash), his);
  const next = newSession({ userId: bob!.id, isGuest: false }, NOON_MS + 40 * DAY_MS);
  await t.notThrowsAsync(damaged.sessions.add(next.session));
  const checking = damaged.check();
  let step = checking.next();
  while (step.done !== true) step = checking.next();
  t.deepEqual(
    step.value,
    [`users [${ann!.id}]`, `keys [${hers!.id}]`, `sessions [${session.id}]`].map(
      (what) => is(what).message,
    ),
  );
});

test('D24: an entry of an index that leads to another row, or to none, is damage', async (t) => {
  const dir = tempDir(t);
  const store = new ControlStore(dir);
  const [ann, bob] = ['ann@b.c', 'bob@b.c'].map((email) => newUser({ email }, NOON_MS));
  for (const user of [ann!, bob!]) await store.addUser(user);
  const { key } = newKey(ann!.id, {}, 'cli', NOON_MS);
  await store.putKey(key);
  await store.close();
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  const { userEmails, keys } = openControlTables({ root, entries: 0 })!;
  const [first] = userEmails.entries();
  userEmails.putSync(first!.key, first!.value === ann!.id ? bob!.id : ann!.id);
  await keys.remove(key.id);
  await root.close();
  const damaged = new ControlStore(dir);
  t.teardown(() => damaged.close());
  const holder = first!.value === ann!.id ? ann! : bob!;
  t.throws(() => damaged.userByEmail(holder.email!), {
    instanceOf: ControlDamage,
    message: /userEmails \[\S+\] is not the address of users \[\S+\]$/,
  });
  const missing = { instanceOf: ControlDamage, message: /keys \[\S+\] is missing, and in key/ };
  t.throws(() => damaged.keyByHash(key.hash), missing);
  t.throws(() => damaged.keysOf(ann!.id), missing);
});

/** Changes bytes of the tables of a closed store. */
function damage(
  dir: string,
  change: (table: (name: string) => ReturnType<typeof bytesOf>) => void,
): void {
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  change((name) => bytesOf(root, name));
  void root.close();
}

const bytesOf = (root: ReturnType<typeof open<Buffer, string>>, name: string) =>
  root.openDB<Buffer, string>({ name, encoding: 'binary' });

test('D104: a control store whose lock file cannot be written is refused', (t) => {
  const dir = tempDir(t);
  mkdirSync(path.join(dir, 'control', 'lock.mdb'), { recursive: true });
  t.throws(() => new ControlStore(dir), {
    message: /^control\/lock\.mdb cannot be written \(EISDIR\)/,
  });
});
