/** The control stores of the nodes of a cluster, against an etcd in this process, and a real one. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ApiError } from '../../../api/base/errors.ts';
import { CONTROL_FINGERPRINT, controlCodec } from '../../../api/identity/control-format.ts';
import { readControlRecord, writeControlRecord } from '../../../api/identity/control-record.ts';
import type { FinalResult } from '../../../api/identity/control-tables.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { ReplicatedControl } from '../../../api/identity/replicated-control.ts';
import { newSession } from '../../../api/identity/sessions.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { newUser } from '../../../api/identity/users.ts';
import { etcdProgram, RealEtcd } from '../../../bench/lib/etcd.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { ControlReplica } from '../../../engine/replication/control-replica.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { steadyMs } from '../../../engine/replication/lease.ts';
import { membersKey, membersText } from '../../../engine/replication/member-list.ts';
import { addMember } from '../../../engine/replication/members.ts';
import { moveLead } from '../../../engine/replication/move-lead.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import type { Log } from '../../../engine/threads/logger.ts';
import { NotLeader } from '../../../engine/threads/unavailable.ts';
import { NOON_MS } from '../../engine/fixtures.ts';
import { EtcdDouble } from '../../engine/replication/etcd-double.ts';
import { contentsOf } from '../../engine/shard/control-contents.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { longTest } from '../../long-test.ts';

const SILENT: Log = { info() {}, error() {} };

class Node {
  readonly store: ControlStore;
  readonly replica: ControlReplica;
  readonly dir: string;

  constructor(
    t: ExecutionContext,
    urls: readonly string[],
    node: string,
    { cluster = 'test', leaseSeconds = 20, dir = tempDir(t), clock = steadyMs, log = SILENT } = {},
  ) {
    this.dir = dir;
    this.store = new ControlStore(dir);
    const target = this.store.joinCluster((parts) => new ReplicatedControl(parts));
    const settings = { name: cluster, node, address: `http://${node}`, etcd: urls, leaseSeconds };
    this.replica = new ControlReplica({ settings, target, log, steadyMs: clock });
    target.follow(this.replica);
  }

  get leads(): boolean {
    return this.replica.refusal() === null;
  }

  async close(): Promise<void> {
    await this.replica.close();
    await this.store.close();
  }
}

const leads = (node: Node) => eventually('a node leads', () => node.leads);

const person = (n: number) => newUser({ email: `${n}@example.com`, displayName: `Ann ${n}` }, n);

/** The keys of a user are in the order of their times. */
async function addKey(node: Node, userId: string, n = 0) {
  const made = newKey(userId, { scopes: ['portfolio:read'] }, 'cli', NOON_MS + n);
  await node.store.putKey(made.key);
  return made.key;
}

/** Everything that a store can be asked to write. */
async function writeAll(store: ControlStore): Promise<void> {
  const [ann, bob] = [person(1), person(2)];
  await store.addUser(ann, { passwordHash: 'scrypt of ann', subject: ['https://issuer', ann.id] });
  await store.addUser(bob);
  await store.changeUser(bob.id, { displayName: 'Bob', plan: 'basic' });
  const { key } = newKey(ann.id, { scopes: ['portfolio:read'] }, 'cli', NOON_MS);
  const { key: second } = newKey(ann.id, {}, 'cli', NOON_MS + 1);
  await store.putKeys([key, second]);
  await store.putKey({ ...key, revokedAtMs: NOON_MS });
  for (let n = 0; n < 3; n++) {
    const { session } = newSession({ userId: ann.id, isGuest: false }, NOON_MS + n);
    await store.sessions.add(session);
  }
  await store.changePassword(ann.id, 'another', store.sessions.ofUser(ann.id)[0]!);
  const acme = newOrganization({ slug: 'acme', name: 'Acme' }, NOON_MS);
  await store.organizations.add(acme);
  await store.organizations.change(acme.id, { name: 'Acme two' });
  const membership = { organizationId: acme.id, role: 'member', createdAtMs: NOON_MS } as const;
  for (const { id } of [ann, bob])
    await store.organizations.putMember({ ...membership, userId: id });
  await store.organizations.removeMember(acme.id, bob.id);
  const venueKey = { userId: ann.id, venue: 'venue_a', createdAtMs: NOON_MS } as const;
  await store.putVenueKey({ ...venueKey, venueKeyId: 'first' });
  await store.putVenueKey({ ...venueKey, userId: bob.id, venueKeyId: 'second' });
  await store.removeVenueKey({ ...venueKey, userId: bob.id, venueKeyId: 'second' });
  for (const [n, id] of [ann.id, bob.id].entries()) {
    const pair = { id: person(n).id, userId: ann.id, label: id, publicKeyPem: 'pem' };
    await store.venueApiKeys.add({ ...pair, createdAtMs: NOON_MS });
  }
  await store.venueApiKeys.remove(store.venueApiKeys.of(ann.id)[0]!);
  await store.realism.put(ann.id, PRESETS.realistic);
  await store.realism.put(bob.id, PRESETS.realistic);
  await store.realism.put(bob.id, PRESETS.simple);
  await store.putNumbers({ marketNames: ['venue_a/A', 'venue_a/B'], instrumentIds: ['i'] });
  await store.putNumbers({
    marketNames: ['venue_a/A', 'venue_a/B', 'venue_b/C'],
    instrumentIds: ['i'],
  });
  await store.putResult(RESULT);
  await store.putSwitches({ trading: false });
}

function contents(store: ControlStore): object {
  const users = [...store.users.values()];
  return {
    ...contentsOf(store),
    results: [...store.results()],
    realism: users.map(({ id }) => store.realism.of(id)),
    pairs: users.map(({ id }) => store.venueApiKeys.of(id)),
    found: users.map(({ email, displayName }) => [
      store.userByEmail(email!),
      store.users.byName(displayName!),
    ]),
    keysOf: users.map(({ id }) => store.keysOf(id)),
  };
}

type Run = (t: ExecutionContext, urls: readonly string[], cluster: string) => Promise<void>;
const EACH: [string, Run][] = [
  [
    'N130, N132: whatever the leader writes, a follower has, in memory and on disk',
    async (t, urls, cluster) => {
      const one = new Node(t, urls, 'one', { cluster });
      await leads(one);
      const two = new Node(t, urls, 'two', { cluster });
      await two.replica.ready;
      await eventually('both are current', () => one.replica.isCurrent && two.replica.isCurrent);
      // The follower has asked for what is to change.
      t.deepEqual(contents(two.store), contents(one.store));
      await writeAll(one.store);
      // The last change is answered once every node has it.
      const expected = contents(one.store);
      t.deepEqual(contents(two.store), expected);
      const error = await t.throwsAsync(addKey(two, person(1).id), { instanceOf: NotLeader });
      t.is(error?.leader, 'http://one');
      await Promise.all([one.close(), two.close()]);
      for (const { dir } of [one, two]) {
        const store = new ControlStore(dir);
        t.deepEqual(contents(store), expected);
        t.deepEqual(problemsOf(store), []);
        await store.close();
      }
    },
  ],
  [
    'N133, N134: a node that leads next has every key, and an end is answered once all have it',
    async (t, urls, cluster) => {
      const one = new Node(t, urls, 'one', { cluster });
      await leads(one);
      const two = new Node(t, urls, 'two', { cluster });
      await two.replica.ready;
      await eventually('both are current', () => one.replica.isCurrent && two.replica.isCurrent);
      const user = person(1);
      await one.store.addUser(user);
      for (let n = 0; n < 10; n++) {
        const key = await addKey(one, user.id, n);
        await eventually('a new key is known', () => two.store.keys.get(key.id) !== undefined);
        await one.store.putKey({ ...key, revokedAtMs: n + 1 });
        t.is(two.store.keys.get(key.id)?.revokedAtMs, n + 1);
        const { session } = newSession({ userId: user.id, isGuest: false }, Date.now());
        await one.store.sessions.add(session);
        await one.store.sessions.end([session.id]);
        t.is(two.store.sessions.get(session.id, Date.now()), undefined);
      }
      const keys = one.store.keysOf(user.id);
      await one.close();
      await leads(two);
      t.deepEqual(two.store.keysOf(user.id), keys);
      await addKey(two, user.id, 11);
      t.is(two.store.keysOf(user.id).length, 11);
      await two.close();
    },
  ],
];

function problemsOf(store: ControlStore): string[] {
  const check = store.check();
  for (;;) {
    const { done, value } = check.next();
    if (done === true) return value;
  }
}

for (const [title, run] of EACH) {
  test(title, async (t) => {
    const etcd = await EtcdDouble.start();
    await run(t, [etcd.url], 'test');
    etcd.stop();
  });
}

if (etcdProgram !== null) {
  longTest('with a real etcd of three members: as with the one of the tests', async (t) => {
    const etcd = await RealEtcd.start(3);
    t.teardown(() => etcd.stop());
    for (const [at, [, run]] of EACH.entries()) await run(t, etcd.urls, `cluster-${at}`);
  });
}

test('N132: writes of a leader that was deposed come to nothing, on disk and in memory', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node(t, [etcd.url], 'one', { leaseSeconds: 60 });
  await leads(one);
  const [user, taken] = [person(1), person(2)];
  await one.store.addUser(user);
  const key = await addKey(one, user.id);
  const two = new Node(t, [etcd.url], 'two', { leaseSeconds: 60 });
  await two.replica.ready;
  // As its time would.
  etcd.expire();
  const refused = [
    one.store.addUser(taken),
    one.store.changeUser(user.id, { displayName: 'Other' }),
    one.store.putKey({ ...key, revokedAtMs: 1 }),
    one.store.putSwitches({ trading: false }),
  ];
  t.is(one.store.userByEmail('2@example.com')?.id, taken.id, 'effective at once');
  for (const write of refused) {
    const refusal = await t.throwsAsync(write, { instanceOf: NotLeader });
    t.is(refusal?.leader, null, 'it may have been done');
  }
  t.is(one.store.userByEmail('2@example.com'), undefined);
  t.is(one.store.users.byName('Ann 2'), undefined);
  t.is(one.store.users.get(user.id)?.displayName, 'Ann 1');
  t.deepEqual(one.store.switches(), {});
  t.deepEqual([...one.store.users.values()], [user]);
  const leadsAgain = (node: Node) => node.leads && node.replica.isCurrent;
  await eventually('a node leads', () => leadsAgain(one) || leadsAgain(two));
  const [next, other] = leadsAgain(one) ? [one, two] : [two, one];
  t.is(next.store.keys.get(key.id)?.revokedAtMs, null);
  await next.store.addUser(taken);
  await eventually(
    'the other has it',
    () => other.store.userByEmail('2@example.com') !== undefined,
  );
  await Promise.all([one.close(), two.close()]);
  etcd.stop();
});

test('N132: a leader that was stopped for longer than its lease refuses changes before it has heard of it', async (t) => {
  const etcd = await EtcdDouble.start();
  let stoppedMs = 0;
  const one = new Node(t, [etcd.url], 'one', { clock: () => steadyMs() + stoppedMs });
  await leads(one);
  // No other code runs until the clock is back.
  stoppedMs = 20_000;
  t.true(one.replica.refusal() instanceof NotLeader);
  stoppedMs = 0;
  t.is(one.replica.refusal(), null);
  await one.close();
  etcd.stop();
});

test('N166: the lead of the control data moves to the named node, and no change is lost', async (t) => {
  const etcd = await EtcdDouble.start();
  const client = new EtcdClient([etcd.url], 10_000);
  const names = ['one', 'two'];
  for (const node of names) {
    await addMember(client, 'test', { node, address: '' }, { isEmpty: false, shards: 1 });
  }
  const one = new Node(t, [etcd.url], 'one', { leaseSeconds: 2 });
  await leads(one);
  const two = new Node(t, [etcd.url], 'two', { leaseSeconds: 2 });
  await two.replica.ready;
  const taken: string[] = [];
  let n = 0;
  let isMoved = false;
  const moved = moveLead(client, 'test', 'control', 'two').finally(() => {
    isMoved = true;
  });
  while (!isMoved) {
    const user = person(++n);
    const node = two.leads ? two : one;
    await Promise.resolve()
      .then(() => node.store.addUser(user))
      .then(() => taken.push(user.id), refusedByLeader);
    await sleep(10);
  }
  await moved;
  await eventually('the named node leads', () => two.leads);
  t.false(one.leads);
  t.true(taken.length > 0);
  await two.store.addUser(person(++n));
  for (const id of taken) t.true(two.store.users.has(id));
  await eventually('the other one follows', () => {
    return [...one.store.users.values()].length === [...two.store.users.values()].length;
  });
  await Promise.all([one.close(), two.close()]);
  client.close();
  etcd.stop();
});

test('N147: a node that has left logs it once, however often it tries, and again after it was back', async (t) => {
  const etcd = await EtcdDouble.start();
  const client = new EtcdClient([etcd.url], 10_000);
  const joining = { isEmpty: false, shards: 1 };
  for (const node of ['one', 'two']) {
    await addMember(client, 'test', { node, address: '' }, joining);
  }
  const one = new Node(t, [etcd.url], 'one');
  await leads(one);
  const logged: unknown[] = [];
  const log: Log = { info() {}, error: (...line: unknown[]) => void logged.push(line) };
  const two = new Node(t, [etcd.url], 'two', { log });
  await two.replica.ready;
  // As for a node that did not reach etcd when it left.
  const left = membersText(new Map([['one', '']]));
  const key = membersKey('test');
  const leave = async () => {
    await client.transact([], [{ put: key, value: left }]);
    const count = logged.length;
    await eventually('it is told', () => logged.length > count);
    // Each try says that the node is there.
    const tried = etcd.writes + 3;
    await eventually('it has tried again', () => etcd.writes >= tried);
  };
  await leave();
  t.is(logged.length, 1);
  await addMember(client, 'test', { node: 'two', address: '' }, joining);
  await eventually('it follows', () => two.replica.problems().length === 0);
  await leave();
  t.is(logged.length, 2);
  await Promise.all([one.close(), two.close()]);
  client.close();
  etcd.stop();
});

function refusedByLeader(error: unknown): void {
  if (!(error instanceof NotLeader)) throw error;
}

test('N132: a write whose answer is lost is stored once', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node(t, [etcd.url], 'one');
  await leads(one);
  for (let n = 0; n < 5; n++) {
    etcd.loseAnswers('kv/txn', 1);
    await one.store.addUser(person(n));
  }
  const two = new Node(t, [etcd.url], 'two');
  await two.replica.ready;
  t.deepEqual(contents(two.store), contents(one.store));
  t.is([...two.store.users.values()].length, 5);
  await Promise.all([one.close(), two.close()]);
  etcd.stop();
});

test('N135: a node that cannot know which keys have ended lets nobody in, and holds up no end', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node(t, [etcd.url], 'one', { leaseSeconds: 2 });
  await leads(one);
  const user = person(1);
  await one.store.addUser(user);
  const key = await addKey(one, user.id);
  // It reaches etcd by a way of its own, which is cut.
  const cut = await EtcdDouble.start();
  const two = new Node(t, [cut.url], 'two', { leaseSeconds: 2 });
  await eventually('it leads a cluster of its own', () => two.leads && two.replica.isCurrent);
  t.is(two.store.keys.get(key.id), undefined);
  cut.isCut = true;
  await eventually('its time is over', () => !two.replica.isCurrent);
  const refused = t.throws(() => two.store.keys.get(key.id), { instanceOf: ApiError });
  t.regex(refused!.message, /cannot know now which keys/);
  t.like(refused, { status: 503, code: 'not_leader', leader: null });
  t.throws(() => two.store.sessions.get(key.id, 1), { message: /cannot know now which keys/ });
  cut.isCut = false;
  await eventually('it is back', () => two.replica.isCurrent);
  t.is(two.store.keys.get(key.id), undefined);
  await Promise.all([one.close(), two.close()]);
  etcd.stop();
  cut.stop();
});

const RESULT: FinalResult = {
  ...{ market: 7, atMs: NOON_MS, outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 },
  ...{ by: 'venue', correction: 0 },
};

test('N131: a record has these bytes', (t) => {
  const golden = JSON.parse(readFileSync('test/golden/control-record.json', 'utf8'));
  const changes = [
    { table: 'users', key: 'a user', packed: controlCodec.pack({ ...person(1), id: 'a user' }) },
    { table: 'userEmails', key: 'ä', packed: controlCodec.pack('a user') },
    { table: 'keyOwners', key: 'a user/a key', packed: null },
    { table: 'values', key: 'switches', packed: controlCodec.pack({ trading: false }) },
    { table: 'results', key: '0000000007', packed: controlCodec.pack(RESULT) },
  ] as const;
  const bytes = writeControlRecord(
    changes.map(({ table, ...rest }) => ({ table: { name: table }, ...rest })),
  );
  t.is(golden.fingerprint, CONTROL_FINGERPRINT, 'a new layout: write it again');
  t.is(bytes.toString('hex'), golden.hex);
  const read = readControlRecord(bytes);
  t.deepEqual(
    read.map(({ packed, ...rest }) => ({ ...rest, packed: packed && Buffer.from(packed) })),
    changes.map(({ packed, ...rest }) => ({ ...rest, packed: packed && Buffer.from(packed) })),
  );
  t.throws(() => readControlRecord(bytes.subarray(0, -1)), { message: /is not whole/ });
  const other = Buffer.from(bytes);
  other.writeUInt32LE(1, 0);
  t.throws(() => readControlRecord(other), { message: /has layout 1, and this program/ });
  const counts = [{ table: { name: 'requests' }, key: '', packed: null }];
  t.throws(() => writeControlRecord(counts), { message: /rows of requests are in no record/ });
});
