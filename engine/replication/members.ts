/**
 * The members of a cluster, which etcd keeps the records for, and what each of them has of each
 * log on its own disk. Rules N146, N160, N163, N165 (engine/RULES.md).
 */
import type { Compare, EtcdClient, KeyValue, Operation } from './etcd-client.ts';
import { type Members, membersKey, membersText, readMembers, sameMembers } from './member-list.ts';
import { presenceKey } from './node-presence.ts';
import { type ClusterNode, type LogKeys, logKeys, logsOf } from './shard-replica.ts';

/** By the name of the node: the number of the last fact of a log that its own disk has for certain. */
export function readHas(keys: LogKeys, found: readonly KeyValue[] = []): Map<string, number> {
  const { length } = keys.has('');
  return new Map(found.map(({ key, value }) => [key.slice(length), Number(value.toString())]));
}

/**
 * Makes a node a member. `isEmpty`: it may have less than it had before. Throws `EtcdFailure`.
 */
export async function addMember(
  etcd: EtcdClient,
  cluster: string,
  { node, address }: ClusterNode,
  { isEmpty, shards }: { isEmpty: boolean; shards: number },
): Promise<void> {
  const forget = isEmpty ? hasOf(cluster, node, shards) : [];
  await changeMembers(etcd, cluster, (members) => {
    if (members.get(node) === address && !isEmpty) return null;
    return { members: new Map([...members, [node, address]]), compares: [], also: forget };
  });
}

/**
 * Ends the membership of a node: records that it lacks may be deleted from etcd. Throws an error if it
 * is no member, leads a log or runs, and `EtcdFailure`.
 */
export async function removeMember(
  etcd: EtcdClient,
  cluster: string,
  node: string,
  shards: number,
): Promise<void> {
  const logs = logsOf(shards);
  const leaders = logs.map((log) => logKeys(cluster, log).leader);
  const presence = presenceKey(cluster, node);
  await changeMembers(etcd, cluster, async (members) => {
    if (!members.has(node)) throw new Error(`the cluster ${cluster} has no node ${node}`);
    const found = await etcd.read([...leaders, presence].map((range) => ({ range })));
    const compares: Compare[] = leaders.map((key, nth) => {
      const [at] = found[nth] ?? [];
      if (at === undefined) return { key, isAbsent: true };
      if ((JSON.parse(at.value.toString()) as ClusterNode).node !== node) {
        return { key, createRevision: at.createRevision };
      }
      throw new Error(
        `${node} leads ${logs[nth] === 'control' ? 'the control data' : `shard ${nth}`}: stop it, ` +
          'or move the lead by paperbook cluster move',
      );
    });
    if (found.at(-1)?.length !== 0) {
      throw new Error(
        `${node} runs: stop it, and run this again. A node that was killed counts as one that runs ` +
          'for one lease',
      );
    }
    compares.push({ key: presence, isAbsent: true });
    const left = new Map([...members].filter(([name]) => name !== node));
    return { members: left, compares, also: hasOf(cluster, node, shards) };
  });
}

type Change = {
  members: Members;
  compares: readonly Compare[];
  also: readonly Operation[];
};

/** Tries again while others change the members. `change`: null if there is nothing to change. */
async function changeMembers(
  etcd: EtcdClient,
  cluster: string,
  change: (members: Members) => Promise<Change> | Change | null,
): Promise<void> {
  const key = membersKey(cluster);
  for (;;) {
    const [found = []] = await etcd.read([{ range: key }]);
    const changed = await change(readMembers(found) ?? new Map());
    if (changed === null) return;
    const done = await etcd.transact(
      [sameMembers(cluster, found), ...changed.compares],
      [{ put: key, value: membersText(changed.members) }, ...changed.also],
    );
    if (done.succeeded) return;
  }
}

function hasOf(cluster: string, node: string, shards: number): Operation[] {
  return logsOf(shards).map((log) => ({ remove: logKeys(cluster, log).has(node) }));
}
