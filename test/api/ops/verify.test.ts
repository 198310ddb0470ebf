import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import { checkedText } from '../../../api/data-dir/checked-file.ts';
import type { Meta } from '../../../api/data-dir/data-dir.ts';
import { POSITIONS_NAME } from '../../../api/data-dir/shard-positions.ts';
import { ensureAdminToken } from '../../../api/identity/admin-token.ts';
import { CLUSTER_VALUE } from '../../../api/identity/control-format.ts';
import { ControlValues, openControlTables } from '../../../api/identity/control-tables.ts';
import { hashOfToken, newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { ownedKey } from '../../../api/identity/owned-ids.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { rebuildRecords } from '../../../engine/records/projection/check.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { openStore } from '../../../engine/shard/store/shard-store.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../../engine/fixtures.ts';
import { flip } from '../../engine/log/log-files.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { ALICE, BOB, openShard, plant, tradedShard } from '../../engine/shard/environment.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { sharedVerifier } from './shared-verifier.ts';

const verifyDataDir = sharedVerifier();

const SECTION = 'D16, verify';
const CONFIG = {
  ...{ quoteMaxAgeMs: 15_000, routingBandCents: 10, checkpointEveryFacts: 1000 },
  fillModel: 'top_of_book' as const,
};
const NUMBERS = { marketNames: CATALOG.marketNames, instrumentIds: CATALOG.instrumentIds };

/** A data directory of one shard, as a server leaves it; two people, one key. */
async function dataDirOf(
  t: ExecutionContext,
  change: ((control: ControlStore) => Promise<void>) | null = null,
): Promise<string> {
  const dir = tempDir(t);
  healthy ??= makeHealthy();
  cpSync(await healthy, dir, { recursive: true });
  if (change === null) return dir;
  const control = new ControlStore(dir);
  await change(control);
  await control.close();
  return dir;
}

/** Made once; each test has a copy. */
let healthy: Promise<string> | null = null;
const HEALTHY = mkdtempSync(path.join(tmpdir(), 'paperbook-healthy-'));
test.after.always('the directory that is copied', () => rmSync(HEALTHY, { recursive: true }));

async function makeHealthy(): Promise<string> {
  writeMeta(HEALTHY, 1);
  ensureAdminToken(HEALTHY);
  await tradedShard(path.join(HEALTHY, 'shard-0'));
  const control = new ControlStore(HEALTHY);
  await control.putNumbers(NUMBERS);
  for (const id of [ALICE, BOB]) {
    await control.addUser({ ...newUser({ email: `${id}@example.com` }, NOON_MS), id });
  }
  await control.putKey(newKey(ALICE, {}, 'cli', NOON_MS).key);
  await control.close();
  return HEALTHY;
}

function writeMeta(dir: string, shards: number, more: Partial<Meta> = {}): void {
  const meta = { format: 'paperbook-data', version: FORMAT_VERSION, shards, ...more };
  writeFileSync(path.join(dir, 'paperbook.json'), JSON.stringify(meta));
}

test.serial(
  `${SECTION}, D97, D98: a healthy directory; a run keeps what it verified, the next goes on, and a copy has none of it`,
  async (t) => {
    const dir = await dataDirOf(t);
    const options = { keeps: true, isWhole: false };
    const first = await verifyDataDir(dir, options);
    t.like(first, { ok: true, control: { users: 2, keys: 1 }, notes: [], problems: [] });
    t.like(first.shards, { length: 1, 0: { shard: 0, accounts: 2, closedTrades: 1 } });
    t.is(first.shards[0]!.verifiedBefore, 0);
    const again = await verifyDataDir(dir, options);
    t.like(again, { ok: true, problems: [] });
    t.is(again.shards[0]!.verifiedBefore, first.shards[0]!.facts);
    t.deepEqual(again.notes, []);
    const whole = await verifyDataDir(dir, { keeps: true, isWhole: true });
    t.deepEqual(whole, first);
    const copy = path.join(tempDir(t), 'copy');
    await backUp(dir, copy);
    t.false(existsSync(path.join(copy, 'verified')));
  },
);

test.serial('D97, D98: an older copy beside later verifications is never found good', async (t) => {
  const dir = await dataDirOf(t);
  rebuildRecords(dir, 1);
  const options = { keeps: true, isWhole: false };
  const copy = path.join(tempDir(t), 'copy');
  await backUp(dir, copy);
  const shard = await openShard(path.join(dir, 'shard-0'));
  shard.run([{ kind: 'adjust', atMs: NOON_MS + 1, account: ALICE, amountCents: 700 }]);
  await shard.close();
  rebuildRecords(dir, 1);
  t.like(await verifyDataDir(dir, options), { ok: true, notes: [] });
  for (const name of readdirSync(copy)) {
    rmSync(path.join(dir, name), { recursive: true, force: true });
    cpSync(path.join(copy, name), path.join(dir, name), { recursive: true });
  }
  const { ok, problems } = await verifyDataDir(dir, options);
  t.false(ok);
  t.regex(
    problems.join('\n'),
    /shard-0: log: ends with fact \d+, and fact \d+ was verified; --whole/,
  );
  const whole = await verifyDataDir(dir, { keeps: true, isWhole: true });
  t.deepEqual(
    whole.problems.filter((line) => !line.startsWith('records:')),
    [],
    'the copy itself is good',
  );
});

const NOBODY = '01234567-0000-7000-8000-000000000000';
const [HASH, KEY_ID] = ['ab'.repeat(32), '01234567-0000-7000-8000-000000000001'];
const OTHER_ID = '01234567-0000-7000-8000-000000000002';

/** One verification of faults that do not hide each other: each must be said. */
async function saysAll(
  t: ExecutionContext,
  dir: string,
  breaches: Record<string, RegExp>,
): Promise<void> {
  const { ok, problems } = await verifyDataDir(dir);
  t.false(ok);
  for (const [what, breach] of Object.entries(breaches)) {
    const isSaid = problems.some((problem) => breach.test(problem));
    t.true(isSaid, `${what}; found: ${problems.join('; ')}`);
  }
}

test.serial(`${SECTION}: keys, members and numbers that fit nobody and nothing`, async (t) => {
  const [market] = NUMBERS.marketNames;
  const dir = await dataDirOf(t, async (control) => {
    const [key] = [...control.keys.values()];
    await control.putKey({ ...key!, id: NOBODY });
    await control.putKey(newKey(OTHER_ID, {}, 'cli', NOON_MS).key);
    const { organizations } = control;
    const organization = newOrganization({ slug: 'desk', name: 'Desk' }, NOON_MS);
    await organizations.add(organization);
    const [role, organizationId] = ['member' as const, organization.id];
    await organizations.putMember({ organizationId, userId: NOBODY, role, createdAtMs: NOON_MS });
  });
  await renumber(dir, {
    marketNames: [market!, 'venue_a/T9', market!],
    instrumentIds: NUMBERS.instrumentIds.toReversed(),
  });
  await saysAll(t, dir, {
    'a key of nobody': /^control: keys \S+: its user \S+02 is missing$/,
    'one token of two keys': /^control: keys \S+: has the token of another key$/,
    'a member who is no user': /^control: memberships \S+: its user \S+00 is missing$/,
    'a market of another number':
      /^shard-0: market 1 is venue_a\/T2, and venue_a\/T9 in the control store$/,
    'an instrument of another number':
      /^shard-0: instrument 0 is ins_A+, and ins_D+ in the control store$/,
    'one market of two numbers': /^control: numbers: one market has two numbers$/,
  });
});

test.serial(`${SECTION}: numbers that do not cover a market of a shard`, async (t) => {
  const dir = await dataDirOf(t);
  await renumber(dir, { ...NUMBERS, marketNames: ['venue_a/T1'] });
  await saysAll(t, dir, {
    'a market': /^shard-0: market 1 is venue_a\/T2, and nothing in the control store$/,
  });
});

/** Other names, as a value of before they were in pieces. */
async function renumber(dir: string, numbers: typeof NUMBERS): Promise<void> {
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  const { names } = openControlTables({ root, entries: 0 })!;
  await Promise.all(names.keys({}).map((key) => names.remove(key)));
  new ControlValues(root).putSync('numbers', numbers);
  await root.close();
}

test.serial('D71: rows that no look-up finds, and look-ups that lead to no row', async (t) => {
  const dir = await dataDirOf(t);
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  const tables = openControlTables({ root, entries: 0 })!;
  const { users, keys, keyHashes, userNames, sessionOwners, sessionFamilies } = tables;
  users.putSync(NOBODY, { ...users.get(ALICE)!, id: NOBODY });
  users.putSync(OTHER_ID, { ...newUser({ email: 'n@b.c' }, NOON_MS), id: OTHER_ID });
  keys.putSync(KEY_ID, { ...newKey(ALICE, {}, 'cli', NOON_MS).key, id: KEY_ID });
  keyHashes.putSync(HASH, OTHER_ID);
  userNames.putSync(HASH, ALICE);
  sessionOwners.putSync(ownedKey(ALICE, NOBODY), NOBODY);
  sessionFamilies.putSync(HASH, NOBODY);
  await root.close();
  await saysAll(t, dir, {
    'an address of two users': /^control: users 0\S+: its address is used by another user$/,
    'a user whom no look-up finds':
      /^control: users \S+02: userEmails \[\S+\] does not lead to it$/,
    'a key whom no hash finds': /^control: keys 0\S+: keyHashes \[\S+\] does not lead to it$/,
    'a key whom no owner finds': /^control: keys 0\S+: keyOwners \[\S+\] does not lead to it$/,
    'a token that leads to a key of another one': new RegExp(
      `^control: keyHashes ${HASH}: ${OTHER_ID} has no such entry$`,
    ),
    'a name that is still taken by who gave it up': new RegExp(
      `^control: userNames ${HASH}: ${ALICE} has no such entry$`,
    ),
    'a session of an owner that leads to none':
      /^control: sessionOwners \S+: \S+ has no such entry$/,
    'a session of a family that leads to none': /^control: sessionFamilies /,
  });
});

test.serial('D109, D16: a damaged row of any table of the control store is named', async (t) => {
  const dir = await dataDirOf(t);
  const root = open<Buffer, string>({
    path: path.join(dir, 'control'),
    maxDbs: 32,
    encoding: 'binary',
  });
  const tables = Object.keys(openControlTables({ root, entries: 0 })!);
  for (const name of tables) {
    root.openDB<Buffer, string>({ name, encoding: 'binary' }).putSync('0', Buffer.alloc(20, 7));
  }
  const values = ['switches', CLUSTER_VALUE];
  for (const name of values) root.putSync(name, Buffer.alloc(20, 7));
  await root.close();
  t.true(tables.length > 20);
  const places = [...tables.map((name) => [name, '0']), ...values.map((name) => ['values', name])];
  const breaches = places.map(([table, key]) => {
    const line = `^control: control/data\\.mdb is damaged: ${table} \\[${key}\\] has changed since`;
    return [`${table} ${key}`, new RegExp(line)] as const;
  });
  await saysAll(t, dir, Object.fromEntries(breaches));
});

test.serial(
  'I69: two names of an earlier version that are the same now go on working',
  async (t) => {
    const [plain, wide] = ['Ann', '\uff21\uff4e\uff4e'];
    const dir = await dataDirOf(t, async (control) => {
      await control.changeUser(ALICE, { displayName: plain });
    });
    // As a version wrote it that compared names by case alone.
    const root = open<Buffer, string>({
      path: path.join(dir, 'control'),
      maxDbs: 32,
      encoding: 'binary',
    });
    const { users, userNames } = openControlTables({ root, entries: 0 })!;
    users.putSync(BOB, { ...users.get(BOB)!, displayName: wide });
    userNames.putSync(hashOfToken(wide.toLowerCase()), BOB);
    await root.close();
    const verify = async () => t.deepEqual((await verifyDataDir(dir)).problems, []);
    await verify();

    const control = new ControlStore(dir);
    t.is(control.users.byName(plain)?.id, ALICE);
    t.is(control.users.byName(wide)?.id, BOB);
    await control.changeUser(BOB, { private: false });
    await control.changeUser(ALICE, { showEarlierTrades: true });
    t.is(control.users.byName(plain)?.id, ALICE);
    // Who gives up a name takes nothing from the other.
    await control.changeUser(BOB, { displayName: 'Bob' });
    t.is(control.users.byName(plain)?.id, ALICE);
    t.is(control.users.byName(wide)?.id, ALICE, 'the name that is the same');
    await t.throwsAsync(control.changeUser(BOB, { displayName: wide }));
    await control.close();
    await verify();
  },
);

test.serial(`${SECTION}: shards that do not agree on a result`, async (t) => {
  const dir = await dataDirOf(t);
  await tradedShard(path.join(dir, 'shard-1'));
  writeMeta(dir, 2);
  const settleIn = async (shard: number, outcome: 'yes' | 'no') => {
    const opened = await openShard(path.join(dir, `shard-${shard}`));
    const pays = { outcome, yesPayoutCents: outcome === 'yes' ? 100 : 0 };
    const noPayoutCents = 100 - pays.yesPayoutCents;
    opened.run([{ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...pays, noPayoutCents }]);
    await opened.close();
  };
  await settleIn(0, 'yes');
  const { notes } = await verifyDataDir(dir);
  t.deepEqual(notes, ['shard-1: venue_a/T1 is open here, and has ended yes in another shard']);
  await settleIn(1, 'no');
  const { problems } = await verifyDataDir(dir);
  t.true(problems.includes('shard-1: venue_a/T1 ended no, and yes'), problems.join('; '));
});

test.serial('T237, D16: shards that took more of a level than it showed', async (t) => {
  const dir = await dataDirOf(t);
  writeMeta(dir, 2);
  const takeIn = async (shard: number, contracts: number) => {
    const opened = await openShard(path.join(dir, `shard-${shard}`), 1000, 'book_depth');
    // Each shard is alone here, so none of them knows what the other takes.
    const replies = opened.run([
      { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG },
      quoteTick({ yesAskCents: 43, yesAskContracts: 100 }),
      placeOrder({
        ...{ account: uuidOf(shard + 1), contracts, idempotencyKey: `takes-${contracts}` },
        realism: { ...PRESETS.simple, liquidity: 'market' },
      }),
    ]);
    t.true(replies.at(-1)?.ok, JSON.stringify(replies.at(-1)));
    await opened.close();
  };
  const taken = async () => {
    const { problems } = await verifyDataDir(dir);
    return problems.filter((line) => / were taken of /.test(line));
  };
  await takeIn(0, 60);
  await takeIn(1, 40);
  t.deepEqual(await taken(), []);
  await takeIn(1, 41);
  t.deepEqual(await taken(), [
    `venue_a/T1, ask of yes at 43: 141 contracts were taken of 100 that display ${NOON_MS} showed`,
  ]);
});

type Broken = [what: string, change: (dir: string) => void, breach: RegExp];
/** Faults of one directory that do not hide each other. A check of each change takes the first ones. */
const FILES: Broken[][] = [
  [
    [
      'a shard is missing',
      (dir) => rmSync(path.join(dir, 'shard-0'), { recursive: true }),
      /^shard-0: is missing$/,
    ],
    [
      'a shard too many',
      (dir) => mkdirSync(path.join(dir, 'shard-1')),
      /^shard-1: is none of the 1 shards of paperbook\.json$/,
    ],
    [
      'the admin token is not what was made',
      (dir) => flip(path.join(dir, 'admin.token'), 7, 1),
      /^\S+admin\.token does not hold an admin token: take the file away, and a start makes a new one$/,
    ],
  ],
  // Without a shard that can be read, nobody misses it.
  [
    [
      'the control store is missing',
      (dir) => rmSync(path.join(dir, 'control'), { recursive: true }),
      /^control: is missing$/,
    ],
  ],
  [
    [
      'the file of a shard was cut short',
      (dir) => truncateSync(fileOf(dir), 20_000),
      /^shard-0: \S+data\.mdb was cut short: it has \d+ bytes, not \d+$/,
    ],
  ],
  [
    [
      'the control store was cut short',
      (dir) => truncateSync(path.join(dir, 'control', 'data.mdb'), 8192),
      /^control: \S+data\.mdb was cut short: it has 8192 bytes, not \d+$/,
    ],
    [
      'the file of a shard was cut down to its first bytes',
      (dir) => truncateSync(fileOf(dir), 100),
      /^shard-0: \S+data\.mdb is no LMDB file: its meta pages cannot be read$/,
    ],
  ],
  [
    [
      'the pages of the control store are garbage',
      (dir) => overwrite(path.join(dir, 'control', 'data.mdb')),
      /^control: \S+ is damaged: of \d+ entries 0 can be read$/,
    ],
    [
      'the file of a shard is another',
      (dir) => writeFileSync(fileOf(dir), 'x'.repeat(100_000)),
      /^shard-0: \S+data\.mdb is no LMDB file: its meta pages cannot be read$/,
    ],
  ],
  [
    [
      'the pages of a shard are garbage',
      (dir) => overwrite(fileOf(dir)),
      /^shard-0: \S+ is damaged: of 3 tables 0 can be read$/,
    ],
  ],
];
/** Everything after the two meta pages. */
function overwrite(file: string): void {
  const fd = openSync(file, 'r+');
  const bytes = Buffer.alloc(statSync(file).size - 8192, 0xee);
  writeSync(fd, bytes, 0, bytes.length, 8192);
  closeSync(fd);
}

const fileOf = (dir: string) => path.join(dir, 'shard-0', 'data.mdb');

for (const faults of variantsOfRun(FILES)) {
  const title = faults.map(([what]) => what).join('; ');
  test.serial(`${SECTION}: ${title}`, async (t) => {
    const dir = await dataDirOf(t);
    for (const [, change] of faults) change(dir);
    await saysAll(t, dir, Object.fromEntries(faults.map(([what, , breach]) => [what, breach])));
  });
}

test.serial(
  'D106, D16: a fault of a log is named with its file, and no other file is blamed; other checks go on',
  async (t) => {
    const dir = await dataDirOf(t);
    rebuildRecords(dir, 1);
    const log = path.join(dir, 'shard-0', 'log');
    const file = path.join(log, '00000000.log');
    const { shards } = await verifyDataDir(dir);
    const { facts } = shards[0]!;
    const records = `records: ${dir}/records/records.db cannot be compared with the facts:`;

    flip(path.join(log, 'reserve'), 100, 1);
    const held = await verifyDataDir(dir);
    const line = 'log: reserve is damaged at byte 100: it is not zeros';
    t.deepEqual(held.problems, [`shard-0: ${line}`]);
    t.deepEqual(held.shards, [{ ...shards[0]!, problems: [line] }], 'all else is counted');
    flip(path.join(log, 'reserve'), 100, 1);

    flip(file, 20, 1);
    const damage = '00000000.log is damaged at byte 0: its header does not have its checksum';
    t.deepEqual((await verifyDataDir(dir)).problems, [
      `shard-0: log: ${damage}`,
      `${records} shard 0: ${damage}`,
    ]);
    rmSync(file);
    const gone = [
      'shard-0: log: 00000000.log is missing',
      `${records} it has fact ${facts} of shard 0, whose log ends with 0`,
    ];
    t.deepEqual((await verifyDataDir(dir)).problems, gone);

    // Before the first checkpoint only the noted place tells that there was a log.
    rmSync(path.join(dir, 'records'), { recursive: true });
    const shard = path.join(dir, 'shard-0');
    await plant(shard, ({ heads }) => heads.removeSync('head'));
    writeFileSync(path.join(dir, POSITIONS_NAME), checkedText({ facts: [facts] }));
    const { problems } = await verifyDataDir(dir);
    t.true(problems.includes(gone[0]!), problems.join('; '));
    t.false(problems.some((problem) => /older copy/.test(problem)));
    const store = { path: shard, shard: 0, durability: 'sync' as const, reached: facts };
    await t.throwsAsync(openStore({ ...CONFIG, ...store }), { message: '00000000.log is missing' });
    t.false(existsSync(file), 'a start makes no empty log in its place');
  },
);

test.serial(`${SECTION}: what is no breach is a note`, async (t) => {
  const dir = await dataDirOf(t);
  rmSync(path.join(dir, 'control'), { recursive: true });
  writeMeta(dir, 1, { fromReplay: true });
  t.like(await verifyDataDir(dir), {
    ok: true,
    control: null,
    notes: ['control: does not exist; a replay makes none'],
  });
  writeMeta(dir, 2, { fromReplay: true });
  const { notes } = await verifyDataDir(dir);
  t.deepEqual(notes[0], 'shard-1: is not there yet');
  rmSync(path.join(dir, 'shard-0'), { recursive: true });
  writeMeta(dir, 1);
  const fresh = await verifyDataDir(dir);
  t.deepEqual(fresh.notes, ['shard-0: is not there yet', 'control: is not there yet']);
  t.true(fresh.ok);
});

test.serial('D14, control/: an account of nobody is a breach', async (t) => {
  const dir = tempDir(t);
  writeMeta(dir, 1);
  await tradedShard(path.join(dir, 'shard-0'));
  const control = new ControlStore(dir);
  await control.putNumbers(NUMBERS);
  await control.close();
  const lines = [ALICE, BOB].map((id) => `shard-0: account ${id} is of no user or organization`);
  t.like(await verifyDataDir(dir), { ok: false, problems: lines, notes: [] });

  writeMeta(dir, 1, { fromReplay: true });
  t.like(await verifyDataDir(dir), { ok: true, problems: [], notes: lines }, "a replay's has such");

  writeMeta(dir, 1);
  const reopened = new ControlStore(dir);
  await reopened.noteOutsideOrganizations();
  await reopened.close();
  const outside = 'organizations that live elsewhere are not in the control store';
  t.like(await verifyDataDir(dir), { ok: true, problems: [], notes: lines }, outside);
});

test.serial('D14, control/: the store of another directory is a breach', async (t) => {
  const dir = await dataDirOf(t, (control) => control.putDirectoryId(ALICE));
  writeMeta(dir, 1, { id: ALICE });
  t.like(await verifyDataDir(dir), { ok: true, problems: [] });
  writeMeta(dir, 1, { id: BOB });
  const { ok, problems } = await verifyDataDir(dir);
  t.false(ok);
  t.is(problems.length, 1);
  t.regex(problems[0]!, new RegExp(`control is that of directory ${ALICE}, and .*${BOB}`));
});

test.serial(`${SECTION}: a directory that is no data directory`, async (t) => {
  const dir = tempDir(t);
  await t.throwsAsync(verifyDataDir(dir), {
    message: `${dir} is no data directory: it has no paperbook.json`,
  });
});
