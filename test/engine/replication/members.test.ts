import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../bench/lib/eventually.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { membersKey, readMembers } from '../../../engine/replication/member-list.ts';
import { addMember, removeMember } from '../../../engine/replication/members.ts';
import { moveLead } from '../../../engine/replication/move-lead.ts';
import { NodePresence } from '../../../engine/replication/node-presence.ts';
import {
  logKeys,
  type ReplicaState,
  ShardReplica,
  shardKeys,
} from '../../../engine/replication/shard-replica.ts';
import { Deposed } from '../../../engine/threads/unavailable.ts';
import { EtcdDouble } from './etcd-double.ts';

const JOINING = { isEmpty: false, shards: 1 };

class Node {
  readonly etcd: EtcdClient;
  readonly replica: ShardReplica;
  readonly following: Promise<boolean>;
  readonly name: string;
  state: ReplicaState | null = null;
  leads = false;
  error: Error | null = null;

  /** It ends with the test, also with one that fails. */
  constructor(t: ExecutionContext, url: string, node: string) {
    t.teardown(() => this.end());
    this.name = node;
    this.etcd = new EtcdClient([url]);
    this.replica = new ShardReplica(
      {
        ...{
          etcd: this.etcd,
          cluster: 'test',
          log: 'shard/0' as const,
          leaseSeconds: 2,
          waitMs: 20_000,
        },
        self: { node, address: `http://${node}` },
        steadyMs: () => performance.now(),
        renewed() {},
        changed: (state) => {
          this.state = state;
        },
      },
      { number: 0, checksum: 0 },
    );
    this.following = this.replica.follow(async () => undefined);
    this.following.then(
      (leads) => {
        this.leads = leads;
      },
      (error: Error) => {
        this.error = error;
      },
    );
  }

  /** A second call does nothing. */
  async end(): Promise<void> {
    await this.replica.end();
    await this.following.catch(() => undefined);
    this.etcd.close();
  }
}

/** An etcd, and a client of it, which end with the test after its nodes. */
async function start(t: ExecutionContext): Promise<{ server: EtcdDouble; etcd: EtcdClient }> {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  t.teardown(() => {
    etcd.close();
    server.stop();
  });
  return { server, etcd };
}

async function members(etcd: EtcdClient) {
  const [found] = await etcd.read([{ range: membersKey('test') }]);
  return readMembers(found);
}

test('N163, N165: a leader does not leave; a node that has left follows nothing until it comes again', async (t) => {
  const { server, etcd } = await start(t);
  const names = ['one', 'two'];
  for (const node of names) await addMember(etcd, 'test', { node, address: '' }, JOINING);
  const one = new Node(t, server.url, 'one');
  await eventually('the first leads', () => one.leads);
  const two = new Node(t, server.url, 'two');
  await eventually('the second follows', () => two.state?.isCaughtUp === true);
  await etcd.transact([], [{ put: shardKeys('test', 0).has('two'), value: '0' }]);
  await t.throwsAsync(removeMember(etcd, 'test', 'one', 1), { message: /^one leads shard 0: / });
  await t.throwsAsync(removeMember(etcd, 'test', 'three', 1), { message: /has no node three/ });
  await removeMember(etcd, 'test', 'two', 1);
  t.deepEqual([...(await members(etcd))!.keys()], ['one']);
  t.false(server.keys.some((key) => key.includes('/has/')));
  await eventually('the second is told', () => two.error !== null);
  t.true(two.error instanceof Deposed);
  t.regex(two.error!.message, /has left the cluster test; paperbook cluster join/);
  await one.end();
  const late = new Node(t, server.url, 'two');
  await eventually('it does not lead either', () => late.error !== null);
  await addMember(etcd, 'test', { node: 'two', address: '' }, JOINING);
  const again = new Node(t, server.url, 'two');
  await eventually('it leads now', () => again.leads);
  await Promise.all([two.end(), late.end(), again.end()]);
});

test('N165: a node that leads the control log does not leave', async (t) => {
  const { server, etcd } = await start(t);
  await addMember(etcd, 'test', { node: 'one', address: '' }, JOINING);
  const { leader, has } = logKeys('test', 'control');
  const leads = { put: leader, value: JSON.stringify({ node: 'one', address: '' }) };
  await etcd.transact([], [leads, { put: has('one'), value: '7' }]);
  await t.throwsAsync(removeMember(etcd, 'test', 'one', 1), {
    message: /^one leads the control data: stop it, or move/,
  });
  await etcd.transact([], [{ remove: leader }]);
  await removeMember(etcd, 'test', 'one', 1);
  t.deepEqual(
    server.keys.filter((key) => key.includes('/control/')),
    [],
  );
});

test('N146: a node that runs does not leave, and one that starts meanwhile stays a member', async (t) => {
  const { etcd } = await start(t);
  for (const node of ['one', 'two']) await addMember(etcd, 'test', { node, address: '' }, JOINING);
  const self = { node: 'two', address: 'http://two' };
  const of = { etcd, cluster: 'test', self, leaseSeconds: 20 };
  const present = () => new NodePresence({ ...of, steadyMs: () => performance.now() }, 0);
  const leave = () => removeMember(etcd, 'test', 'two', 1);
  const runs = {
    message: /^two runs: stop it, and run this again\. A node that was killed counts/,
  };
  const first = present();
  await first.entered;
  await t.throwsAsync(leave(), runs);
  await first.end();
  const transact = etcd.transact.bind(etcd);
  let second: NodePresence | null = null;
  etcd.transact = async (...args) => {
    etcd.transact = transact;
    second = present();
    await second.entered;
    return await transact(...args);
  };
  await t.throwsAsync(leave(), runs);
  t.is((await members(etcd))?.size, 2);
  await second!.end();
  await leave();
  t.deepEqual([...(await members(etcd))!.keys()], ['one']);
});

test('N165: a node that takes the lead while it leaves stays a member', async (t) => {
  const { etcd } = await start(t);
  for (const node of ['one', 'two']) await addMember(etcd, 'test', { node, address: '' }, JOINING);
  const transact = etcd.transact.bind(etcd);
  const { leader } = shardKeys('test', 0);
  let puts = 0;
  etcd.transact = async (...args) => {
    if (args[0].length > 0 && ++puts === 1) {
      await transact([], [{ put: leader, value: JSON.stringify({ node: 'two', address: '' }) }]);
    }
    return await transact(...args);
  };
  await t.throwsAsync(removeMember(etcd, 'test', 'two', 1), { message: /^two leads shard 0/ });
  t.is((await members(etcd))?.size, 2);
});

test('N166: the lead moves to the node that was named, once that node is ready', async (t) => {
  const { server, etcd } = await start(t);
  const names = ['one', 'two', 'three'];
  for (const node of names) await addMember(etcd, 'test', { node, address: '' }, JOINING);
  const move = (node: string, seconds = 20) => moveLead(etcd, 'test', 'shard/0', node, seconds);
  await t.throwsAsync(move('two'), { message: 'nobody leads shard 0 now' });
  const one = new Node(t, server.url, 'one');
  await eventually('the first leads', () => one.leads);
  const two = new Node(t, server.url, 'two');
  await t.throwsAsync(move('one'), { message: 'one leads shard 0 already' });
  await t.throwsAsync(move('four'), { message: 'the cluster test has no node four' });
  // The third does not run: the first leads on.
  await t.throwsAsync(move('three', 1), { message: /^three does not lead shard 0 after 1 second/ });
  t.is(one.state?.movingTo, null);
  const payload = Buffer.from('a');
  await one.replica.append({ firstNumber: 1, count: 1, atMs: 1, position: 1, payload });
  const three = new Node(t, server.url, 'three');
  const moved = move('three');
  await eventually('the first is asked', () => one.state?.movingTo === 'three');
  await t.throwsAsync(move('two'), { message: 'the lead of shard 0 moves already' });
  await t.throwsAsync(one.replica.release(), { instanceOf: Deposed, message: /moves to three/ });
  await moved;
  await eventually('the third leads', () => three.leads);
  t.false(two.leads);
  t.deepEqual(
    server.keys.filter((key) => /move|ready/.test(key)),
    [],
  );
  await Promise.all([one.end(), two.end(), three.end()]);
});

test('N121: a node that is to lead and ends before holds up the lead for one lease, and the command says who leads then', async (t) => {
  const { server, etcd } = await start(t);
  const names = ['one', 'two', 'three'];
  for (const node of names) await addMember(etcd, 'test', { node, address: '' }, JOINING);
  const one = new Node(t, server.url, 'one');
  await eventually('the first leads', () => one.leads);
  const three = new Node(t, server.url, 'three');
  await eventually('the third follows', () => three.state?.isCaughtUp === true);
  // The second has answered, and runs no more; nor does the command.
  const { move, ready } = shardKeys('test', 0);
  const lease = await etcd.grant(60);
  const [begun, answered] = [move, ready].map((put) => ({ put, value: 'two', lease }));
  await etcd.transact([], [begun!, answered!]);
  await eventually('the first is asked', () => one.state?.movingTo === 'two');
  await t.throwsAsync(one.replica.release(), { instanceOf: Deposed });
  await eventually('the third leads', () => three.leads);
  t.false(server.keys.some((key) => key === move || key === ready));
  const next = new Node(t, server.url, 'one');
  await eventually('the first follows', () => next.state?.isCaughtUp === true);
  t.is(three.state?.movingTo, null, 'that move is over');

  const failed = t.throwsAsync(moveLead(etcd, 'test', 'shard/0', 'two', 60), {
    message: 'two has not taken the lead of shard 0: one leads it now',
  });
  await eventually('the next move has begun', async () => {
    const [[found] = []] = await etcd.read([{ range: move }]);
    if (found === undefined) return false;
    await etcd.transact([], [{ put: ready, value: 'two', lease: found.lease }]);
    return true;
  });
  await eventually('the third is asked', () => three.state?.movingTo === 'two');
  await t.throwsAsync(three.replica.release(), { instanceOf: Deposed });
  await failed;
  await Promise.all([one.end(), next.end(), three.end()]);
});

test('N166: a node that was not named does not take the lead meanwhile, and may later', async (t) => {
  const { server, etcd } = await start(t);
  const { move } = shardKeys('test', 0);
  const lease = await etcd.grant(60);
  await etcd.transact([], [{ put: move, value: 'two', lease }]);
  const one = new Node(t, server.url, 'one');
  await eventually('it follows', () => one.state?.isCaughtUp === true);
  // Many looks.
  await sleep(500);
  t.false(one.leads);
  await etcd.revoke(lease);
  await eventually('it leads', () => one.leads);
  await one.end();
});
