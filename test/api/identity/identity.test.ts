import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import { CatalogNumberTable } from '../../../api/identity/catalog-numbers.ts';
import { ControlDamage, ControlTable } from '../../../api/identity/control-table.ts';
import {
  type ControlTables,
  ControlValues,
  openControlTables,
} from '../../../api/identity/control-tables.ts';
import { keyStatus, newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { Switches } from '../../../api/identity/switches.ts';
import { newUser } from '../../../api/identity/users.ts';
import { FakeEngine } from '../fake-engine.ts';

const NOW_MS = Date.parse('2026-11-21T05:00:00Z');

function temporaryDir(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'paperbook-identity-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('I1: svc_sk_ and 43 characters, kept hashed', (t) => {
  const tokens = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const { key, token } = newKey('0195d3a0-0000-7000-8000-000000000001', {}, 'cli', NOW_MS);
    t.regex(token, /^svc_sk_[A-Za-z0-9_-]{43}$/);
    t.is(key.hash, createHash('sha256').update(token).digest('hex'));
    t.is(key.tokenPrefix, token.slice(0, 16));
    t.false(JSON.stringify(key).includes(token));
    tokens.add(token);
  }
  t.is(tokens.size, 20);
});

test('I3: active, rotating, expired, revoked', (t) => {
  const { key } = newKey('u', { expiresInDays: 1 }, 'web', NOW_MS);
  const endMs = NOW_MS + 86_400_000;
  t.is(keyStatus(key, endMs - 1), 'active');
  t.is(keyStatus(key, endMs), 'expired');
  t.is(keyStatus({ ...key, rotatedAtMs: NOW_MS }, NOW_MS), 'rotating');
  t.is(keyStatus({ ...key, rotatedAtMs: NOW_MS }, endMs), 'expired');
  t.is(keyStatus({ ...key, revokedAtMs: NOW_MS }, endMs), 'revoked');
});

test('the control store finds everything again after it was closed', async (t) => {
  const directory = temporaryDir(t);
  const first = new ControlStore(directory);
  const user = newUser({ email: 'A@b.c', displayName: 'Ann', plan: 'desk' }, NOW_MS);
  await first.addUser(user);
  const { key, token } = newKey(user.id, { label: 'bot', expiresInDays: 3 }, 'cli', NOW_MS);
  await first.putKey(key);
  await first.putKey({ ...key, revokedAtMs: NOW_MS });
  await first.changeUser(user.id, { private: false });
  const organization = newOrganization({ slug: 'acme', name: 'Acme' }, NOW_MS);
  const gone = newOrganization({ slug: 'gone', name: 'Gone' }, NOW_MS + 1);
  for (const one of [organization, gone]) {
    await first.organizations.add(one);
    await first.organizations.putMember({
      organizationId: one.id,
      userId: user.id,
      role: 'owner',
      createdAtMs: NOW_MS,
    });
  }
  await first.organizations.removeMember(gone.id, user.id);
  const venueKeys = (['venue_a', 'venue_c_intl'] as const).map((venue) => {
    return { userId: user.id, venue, venueKeyId: 'k', createdAtMs: NOW_MS };
  });
  for (const venueKey of venueKeys) await first.putVenueKey(venueKey);
  await first.removeVenueKey(venueKeys[1]!);
  t.is(first.numbers(), null);
  t.deepEqual(first.switches(), {});
  const numbers = { marketNames: ['venue_a/T-1'], instrumentIds: ['ins_000000000001'] };
  await first.putNumbers(numbers);
  await first.putSwitches({ trading: false });
  await first.close();

  const second = new ControlStore(directory);
  t.teardown(() => second.close());
  t.deepEqual([...second.users.values()], [{ ...user, private: false }]);
  t.deepEqual([...second.keys.values()], [{ ...key, revokedAtMs: NOW_MS }]);
  t.is(second.keyByHash(key.hash)?.id, key.id);
  t.is(second.userByEmail('a@B.C')?.id, user.id);
  t.deepEqual([...second.organizations.all.values()], [organization, gone]);
  t.deepEqual(second.organizations.membershipsOf(user.id), [
    { organizationId: organization.id, userId: user.id, role: 'owner', createdAtMs: NOW_MS },
  ]);
  t.deepEqual([...second.venueKeys.values()], [venueKeys[0]]);
  t.deepEqual(second.numbers(), numbers);
  t.deepEqual(second.switches(), { trading: false });
  for (const file of readdirSync(join(directory, 'control'))) {
    t.false(readFileSync(join(directory, 'control', file)).includes(token), file);
  }
});

test('I34, I51: one address and one display name belong to one user', async (t) => {
  const store = new ControlStore(temporaryDir(t));
  t.teardown(() => store.close());
  const ann = newUser({ email: 'ann@b.c', displayName: 'Ann' }, NOW_MS);
  const both = [
    store.addUser(ann),
    store.addUser(newUser({ email: 'ANN@b.c' }, NOW_MS)),
    store.addUser(newUser({ email: 'x@b.c', displayName: 'ANN' }, NOW_MS)),
  ];
  const settled = await Promise.allSettled(both);
  t.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  await store.changeUser(ann.id, { displayName: 'ann' });
  t.is(store.users.get(ann.id)?.displayName, 'ann');
  t.is([...store.users.values()].length, 1);
});

/** Pairs that people take for the same name. */
const SAME: [string, string][] = [
  ['Ann Lee', 'ann lee'],
  ['Ann Lee', '\uff21\uff4e\uff4e \uff2c\uff45\uff45'],
  ['Ann Lee', 'Ann\u00a0Lee'],
  ['Ann Lee', 'Ann\u2003  Lee'],
  ['Ren\u00e9', 'Rene\u0301'],
  ['Strasse', 'STRA\u1e9eE'],
  ['Strasse', 'Stra\u00dfe'],
  ['Office 2', 'O\ufb03ce \u00b2'],
  ['Heart \u2764', 'Heart \u2764\ufe0f'],
  ['\u03c3\u03c3', '\u03a3\u03c2'],
];

test('I68: names that people take for the same belong to one user, who is found by any', async (t) => {
  for (const [first, second] of [...SAME, ...SAME.map(([a, b]) => [b, a] as const)]) {
    const store = new ControlStore(temporaryDir(t));
    t.teardown(() => store.close());
    const ann = newUser({ email: 'ann@b.c', displayName: first }, NOW_MS);
    const eve = newUser({ email: 'eve@b.c' }, NOW_MS + 1);
    await Promise.all([store.addUser(ann), store.addUser(eve)]);
    const refused = { message: /^displayName is used by another user/ };
    const again = newUser({ email: 'x@b.c', displayName: second }, NOW_MS);
    await t.throwsAsync(store.addUser(again), refused, second);
    await t.throwsAsync(store.changeUser(eve.id, { displayName: second }), refused, second);
    for (const name of [first, second]) t.is(store.users.byName(name)?.id, ann.id, name);
    // One may take another form of one's own name, and gives up all of them together.
    await store.changeUser(ann.id, { displayName: second });
    for (const name of [first, second]) t.is(store.users.byName(name)?.id, ann.id, name);
    await store.changeUser(ann.id, { displayName: 'Someone else' });
    for (const name of [first, second]) t.is(store.users.byName(name), undefined, name);
    await store.changeUser(eve.id, { displayName: first });
    t.is(store.users.byName(second)?.id, eve.id);
  }
});

test('D23: a control store of another format is refused and left as it is', async (t) => {
  const directory = temporaryDir(t);
  await new ControlStore(directory).close();
  const other = open({ path: join(directory, 'control'), maxDbs: 8 });
  await other.put('format', 1);
  await other.close();
  t.throws(() => new ControlStore(directory), {
    message: 'control/data.mdb has version 1 of the format, and this is version 2',
  });
});

test('D24: a value that is elsewhere or misses a bit is refused, by table and key', async (t) => {
  const directory = temporaryDir(t);
  const tables = open<Buffer, string>({ path: join(directory, 'control'), encoding: 'binary' });
  t.teardown(() => tables.close());
  const table = tables.openDB<Buffer, string>({ name: 'users', encoding: 'binary' });
  const users = new ControlTable<string>(table, 'users');
  for (const name of ['ann', 'bob', 'eve']) users.putSync(name, `of ${name}`);
  const check = (checked: ControlTable<string>) => {
    const snapshot = tables.useReadTransaction();
    try {
      return [...checked.check(snapshot, checked.count)].length;
    } finally {
      snapshot.done();
    }
  };
  t.is(users.get('ann'), 'of ann');
  t.is(check(users), 3);
  const refused = (key: string, value: Buffer) => {
    const before = table.get(key)!;
    table.putSync(key, value);
    const is = {
      instanceOf: ControlDamage,
      message: `control/data.mdb is damaged: users [${key}] has changed since it was written`,
    };
    t.throws(() => users.get(key), is);
    t.throws(() => check(users), is);
    t.throws(() => [...users.entries()], is);
    table.putSync(key, before);
  };
  const value = Buffer.from(table.get('ann')!);
  for (let bit = 0; bit < 8 * value.length; bit++) {
    const other = Buffer.from(value);
    other[bit >> 3]! ^= 1 << (bit & 7);
    refused('ann', other);
  }
  refused('bob', value);
  t.throws(() => new ControlTable<string>(table, 'keys').get('ann'), { message: /keys \[ann\]/ });
  const getStats = () => ({ entryCount: 4 });
  const lacking = new ControlTable<string>(Object.assign(table, { getStats }), 'users');
  t.throws(() => check(lacking), { message: /of 4 users 3 can be read$/ });
});

test('V7: configured, else as set live, else default', async (t) => {
  const store = new ControlStore(temporaryDir(t));
  t.teardown(() => store.close());
  const log = { info() {}, warn() {}, error() {} };
  const others = { selfReset: false, fillModel: 'top_of_book' } as const;
  const switchesOf = (venueData: boolean | null, trading: boolean | null) =>
    new Switches({ venueData, trading, ...others }, store, new FakeEngine(), log);
  t.like(switchesOf(null, null), { venueData: false, trading: true });
  await switchesOf(null, null).set('venueData', true);
  await switchesOf(null, null).set('trading', false);
  t.like(switchesOf(null, null), { venueData: true, trading: false });
  t.like(switchesOf(false, true), { venueData: false, trading: true });
});

test('V4: prices stop first here and start here last', async (t) => {
  const store = new ControlStore(temporaryDir(t));
  t.teardown(() => store.close());
  const engine = new FakeEngine();
  const log = { info() {}, warn() {}, error() {} };
  const others = { selfReset: false, fillModel: 'top_of_book' } as const;
  const config = { venueData: true, trading: true, ...others };
  const switches = new Switches(config, store, engine, log);
  const shown: [said: boolean, here: boolean][] = [];
  engine.broadcast = async ({ venueData }) => {
    shown.push([venueData, switches.venueData]);
  };
  await Promise.all([
    switches.set('venueData', false),
    switches.set('venueData', true),
    switches.set('venueData', false),
  ]);
  t.deepEqual(shown, [
    [false, false],
    [true, false],
    [false, false],
  ]);
  t.false(switches.venueData);
  t.deepEqual(store.switches(), { venueData: false });
});

test('K64: names of numbers are stored in pieces, of which a change writes the last', async (t) => {
  const directory = temporaryDir(t);
  const first = new ControlStore(directory);
  t.is(first.numbers(), null);
  const empty = { marketNames: [], instrumentIds: [] };
  await first.putNumbers(empty);
  t.deepEqual(first.numbers(), empty, 'a store that a server has used');
  const names = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  let numbers = empty as { marketNames: string[]; instrumentIds: string[] };
  for (const count of [1, 249, 250, 251, 700, 1503]) {
    const marketNames = names(count, 'venue_a/T');
    numbers = { marketNames, instrumentIds: names(count - 1, 'ins_') };
    await first.putNumbers(numbers);
    t.deepEqual(first.numbers(), numbers, String(count));
  }
  const other = { ...numbers, marketNames: names(1503, 'venue_a/U') };
  await t.throwsAsync(first.putNumbers(other), { message: /number of a name has changed/ });
  const fewer = { ...numbers, instrumentIds: [] };
  await t.throwsAsync(first.putNumbers(fewer), { message: /number of a name has changed/ });
  await first.close();
  t.deepEqual(await piecesIn(directory), [7, 7]);

  // As a store of before has them: all of them in one value.
  await inPieces(directory, async (tables, values) => {
    for (const key of tables.names.keys({})) await tables.names.remove(key);
    values.putSync('numbers', numbers);
  });
  const later = new ControlStore(directory);
  t.deepEqual(later.numbers(), numbers);
  const more = { ...numbers, marketNames: names(1760, 'venue_a/T') };
  await later.putNumbers(more);
  await later.close();
  t.deepEqual(await piecesIn(directory), [2, 0], 'only what is new is in pieces');
  const again = new ControlStore(directory);
  t.deepEqual(again.numbers(), more);
  await again.close();
  await inPieces(directory, async ({ names: pieces }) => {
    await pieces.remove(pieces.keys({})[0]!);
  });
  const damaged = new ControlStore(directory);
  t.teardown(() => damaged.close());
  t.throws(() => damaged.numbers(), { message: /damaged: names \[.*\] are not the next/ });
});

test('K64: a change writes the pieces that have new names, and no earlier one', async (t) => {
  const written: string[][] = [];
  const write = async (changes: { key: string }[]) => {
    written.push(changes.map(({ key }) => key.replace(/0+(?=\d)/, '')));
  };
  const values = { get: () => undefined, putting: (key: string) => ({ key }) };
  const table = new CatalogNumberTable(...([values, {}, { write }] as never as TableParts));
  const names = (count: number) => Array.from({ length: count }, (_, at) => `venue_a/T${at}`);
  for (const count of [600, 601, 760]) {
    await table.put({ marketNames: names(count), instrumentIds: [] });
  }
  t.deepEqual(written, [
    ['numbers', ...[0, 250, 500].map((first) => `marketNames/${first}`)],
    ['marketNames/500'],
    ['marketNames/500', 'marketNames/750'],
  ]);
});

type TableParts = ConstructorParameters<typeof CatalogNumberTable>;

/** How many pieces of each list a store has. */
async function piecesIn(directory: string): Promise<number[]> {
  const keys: string[] = [];
  await inPieces(directory, async ({ names }) => void keys.push(...names.keys({})));
  return ['marketNames/', 'instrumentIds/'].map(
    (list) => keys.filter((key) => key.startsWith(list)).length,
  );
}

async function inPieces(
  directory: string,
  act: (tables: ControlTables, values: ControlValues) => Promise<void>,
): Promise<void> {
  const root = open<Buffer, string>({
    path: join(directory, 'control'),
    ...{ maxDbs: 32, encoding: 'binary' as const },
  });
  await act(openControlTables({ root, entries: 0 })!, new ControlValues(root));
  await root.close();
}
