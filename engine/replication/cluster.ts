/**
 * A cluster as etcd knows it: which data it is of, and who leads its shards. Rules N110, N117
 * (engine/RULES.md).
 */
import { createHmac } from 'node:crypto';
import type { EtcdClient } from './etcd-client.ts';
import { type PresentNode, presentNodes } from './node-presence.ts';
import { readHead } from './replicated-record.ts';
import { type ClusterNode, logKeys } from './shard-replica.ts';

/** What every node of a cluster must have alike. */
export type ClusterIdentity = {
  /** Of the data directory, which the nodes have copies of. */
  directory: string;
  shards: number;
  formatVersion: number;
};

const identityKey = (name: string): string => `paperbook/${name}/identity`;

/** The first node says what the cluster is of. Throws for a node of another. */
export async function joinCluster(
  etcd: EtcdClient,
  name: string,
  identity: ClusterIdentity,
  secret: string,
): Promise<void> {
  const seal = createHmac('sha256', secret).update(JSON.stringify(identity)).digest('hex');
  const mine = { ...identity, seal };
  const key = identityKey(name);
  const found = await firstValue(etcd, key, JSON.stringify(mine));
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
  /** The nodes that are there. */
  nodes: PresentNode[];
};

/** Null: there is no such cluster. Throws `EtcdFailure`. */
export async function clusterStatus(etcd: EtcdClient, name: string): Promise<ClusterStatus | null> {
  const [[identity] = []] = await etcd.read([{ range: identityKey(name) }]);
  if (identity === undefined) return null;
  const { shards } = JSON.parse(identity.value.toString()) as ClusterIdentity;
  const logs = Array.from({ length: shards }, (_, shard) => `shard/${shard}` as const);
  const keys = [...logs, 'control' as const].map((log) => logKeys(name, log));
  const found = await etcd.read(
    keys.flatMap(({ head, leader }) => [{ range: head }, { range: leader }]),
  );
  const all = keys.map((_, at): LogInCluster => {
    const [head] = found[2 * at] ?? [];
    const [leader] = found[2 * at + 1] ?? [];
    const read = head === undefined ? null : readHead(head.value.toString());
    return {
      leader: leader === undefined ? null : (JSON.parse(leader.value.toString()) as ClusterNode),
      epoch: read?.epoch ?? null,
      lastFact: read?.number ?? null,
    };
  });
  return {
    shards: all.slice(0, -1).map((log, shard) => ({ shard, ...log })),
    control: all.at(-1)!,
    nodes: await presentNodes(etcd, name),
  };
}
