/**
 * A cluster as etcd knows it: which data it is of, who leads its shards, and what its members have.
 * Rules N110, N117, N167, N168 (engine/RULES.md).
 */
import { createHmac } from 'node:crypto';
import type { EtcdClient } from './etcd-client.ts';
import { identityKey, membersKey, readMembers } from './member-list.ts';
import { readHas } from './members.ts';
import { type PresentNode, presentNodes } from './node-presence.ts';
import { readHead } from './replicated-record.ts';
import {
  type ClusterNode,
  type LogKeys,
  type LogName,
  logKeys,
  shardKeys,
} from './shard-replica.ts';

/** What every node of a cluster must have alike. */
export type ClusterIdentity = {
  /** Of the data directory, which the nodes have copies of. */
  directory: string;
  shards: number;
  formatVersion: number;
  /** At which a segment of a log is closed. Facts name places in the log, which must be the same. */
  segmentBytes: number;
};

/** The first node says what the cluster is of. Throws for a node of another, and `EtcdFailure`. */
export async function joinCluster(
  etcd: EtcdClient,
  name: string,
  identity: ClusterIdentity,
  secret: string,
): Promise<void> {
  const mine = sealed(identity, secret);
  const found = await firstValue(etcd, identityKey(name), JSON.stringify(mine));
  refuseOther(name, mine, found);
}

/**
 * Says in etcd that the data of this node are those of the cluster. Throws if etcd knows the cluster,
 * and `EtcdFailure`. Rule O45 (api/RULES.md).
 */
export async function beginCluster(
  etcd: EtcdClient,
  name: string,
  identity: ClusterIdentity,
  secret: string,
): Promise<void> {
  const key = identityKey(name);
  const value = JSON.stringify(sealed(identity, secret));
  const { succeeded } = await etcd.transact([{ key, isAbsent: true }], [{ put: key, value }]);
  if (!succeeded) throw new Error(`etcd knows the cluster ${name}: bring this node in by a copy`);
}

/** Throws if there is no such cluster, or for data of another, and `EtcdFailure`. */
export async function checkCluster(
  etcd: EtcdClient,
  name: string,
  identity: ClusterIdentity,
  secret: string,
): Promise<void> {
  const [[found] = []] = await etcd.read([{ range: identityKey(name) }]);
  if (found === undefined) {
    throw new Error(
      `etcd knows no cluster ${name}: start its first node before. If etcd has lost its data, see ` +
        'paperbook cluster begin',
    );
  }
  refuseOther(name, sealed(identity, secret), found.value.toString());
}

type Sealed = ClusterIdentity & { seal: string };

function sealed(identity: ClusterIdentity, secret: string): Sealed {
  const seal = createHmac('sha256', secret).update(JSON.stringify(identity)).digest('hex');
  return { ...identity, seal };
}

function refuseOther(name: string, mine: Sealed, found: string): void {
  const theirs = JSON.parse(found) as Record<string, unknown>;
  for (const [field, value] of Object.entries(mine)) {
    if (theirs[field] === value) continue;
    if (field === 'seal') throw new Error(`the cluster ${name} has another secret`);
    throw new Error(
      `the cluster ${name} has ${NAMES[field as keyof ClusterIdentity]} ${theirs[field]}, and ` +
        `this node ${value}`,
    );
  }
}

const NAMES: { [F in keyof ClusterIdentity]: string } = {
  directory: 'the data directory',
  shards: 'this number of shards:',
  formatVersion: 'version of the format',
  segmentBytes: 'segments of so many bytes:',
};

/** The value of a key, which is put if there is none. */
async function firstValue(etcd: EtcdClient, key: string, value: string): Promise<string> {
  const { ranges } = await etcd.transact(
    [{ key, isAbsent: true }],
    [{ put: key, value }, { range: key }],
    [{ range: key }],
  );
  return ranges[0]?.[0]?.value.toString() ?? value;
}

/** A log as the cluster knows it; null: nobody leads it, and it has no head. */
export type LogInCluster = {
  leader: ClusterNode | null;
  epoch: number | null;
  lastFact: number | null;
};
export type ShardInCluster = LogInCluster & { shard: number };

export type ClusterStatus = {
  shards: ShardInCluster[];
  /** The log of control data, whose records count as its facts. */
  control: LogInCluster;
  members: MemberInCluster[];
  /** The nodes that are there. */
  nodes: PresentNode[];
};

/** A member; `facts`: by shard, the last one that its own disk has; null: it has not said so. */
export type MemberInCluster = ClusterNode & { facts: (number | null)[] };

/** Throws if there is no such cluster, and `EtcdFailure`. */
export async function shardsOf(etcd: EtcdClient, name: string): Promise<number> {
  const [[identity] = []] = await etcd.read([{ range: identityKey(name) }]);
  if (identity === undefined) throw new Error(`etcd knows no cluster ${name}`);
  return (JSON.parse(identity.value.toString()) as ClusterIdentity).shards;
}

/** Throws if there is no such cluster, and `EtcdFailure`. */
export async function clusterStatus(etcd: EtcdClient, name: string): Promise<ClusterStatus> {
  const shards: ShardInCluster[] = [];
  const has: Map<string, number>[] = [];
  const count = await shardsOf(etcd, name);
  const [found] = await etcd.read([{ range: membersKey(name) }]);
  for (let shard = 0; shard < count; shard++) {
    const keys = shardKeys(name, shard);
    shards.push({ shard, ...(await logStatus(etcd, keys)) });
    const [had] = await etcd.read([{ range: keys.has(''), end: keys.has('~') }]);
    has.push(readHas(keys, had));
  }
  const members = [...(readMembers(found) ?? [])].map(([node, address]) => ({
    ...{ node, address },
    facts: has.map((facts) => facts.get(node) ?? null),
  }));
  const control = await logStatus(etcd, logKeys(name, 'control'));
  return { shards, control, members, nodes: await presentNodes(etcd, name) };
}

async function logStatus(etcd: EtcdClient, keys: LogKeys): Promise<LogInCluster> {
  const [[head] = [], [leader] = []] = await etcd.read([
    { range: keys.head },
    { range: keys.leader },
  ]);
  const read = head === undefined ? null : readHead(head.value.toString());
  return {
    leader: leader === undefined ? null : (JSON.parse(leader.value.toString()) as ClusterNode),
    epoch: read?.epoch ?? null,
    lastFact: read?.number ?? null,
  };
}

/** Why a log that ends with this fact, or control record, cannot be continued from etcd; null: it can. */
export async function windowProblem(
  etcd: EtcdClient,
  name: string,
  log: LogName,
  number: number,
): Promise<string | null> {
  const { head, record, recordsEnd } = logKeys(name, log);
  const [[headAt] = [], [next] = []] = await etcd.read([
    { range: head },
    { range: record(number + 1), end: recordsEnd, limit: 1, keysOnly: true },
  ]);
  const last = headAt === undefined ? 0 : readHead(headAt.value.toString()).number;
  const place = log === 'control' ? 'record' : 'fact';
  if (last < number) return `has ${place} ${number}, and the cluster ends with ${place} ${last}`;
  if (last === number || next?.key === record(number + 1)) return null;
  return `ends with ${place} ${number}, and etcd no longer has the next one`;
}
