/**
 * Asks the leader of a shard, or of the control data, to hand it over to another node. Rules N121, N166
 * (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdClient, ignoreFailure } from './etcd-client.ts';
import { membersKey, readMembers } from './member-list.ts';
import { type ClusterNode, type LogName, logKeys } from './shard-replica.ts';

/** If nobody answers, all is as before after so long. */
const MOVE_SECONDS = 20;
const LOOK_EVERY_MS = 100;

/**
 * Resolves once the node leads the log. Throws an error with a line for the operator if it does not
 * within the time, and `EtcdFailure`.
 */
export async function moveLead(
  etcd: EtcdClient,
  cluster: string,
  log: LogName,
  node: string,
  seconds = MOVE_SECONDS,
): Promise<void> {
  const { leader, move } = logKeys(cluster, log);
  const subject = subjectOf(log);
  const leads = async () => {
    const [[at] = []] = await etcd.read([{ range: leader }]);
    return at === undefined ? null : (JSON.parse(at.value.toString()) as ClusterNode).node;
  };
  const [members] = await etcd.read([{ range: membersKey(cluster) }]);
  if (readMembers(members)?.has(node) !== true) {
    throw new Error(`the cluster ${cluster} has no node ${node}`);
  }
  const before = await leads();
  if (before === node) throw new Error(`${node} leads ${subject} already`);
  if (before === null) throw new Error(`nobody leads ${subject} now`);
  const lease = await etcd.grant(seconds);
  try {
    const begun = await etcd.transact(
      [{ key: move, isAbsent: true }],
      [{ put: move, value: node, lease }],
    );
    if (!begun.succeeded) throw new Error(`the lead of ${subject} moves already`);
    const untilMs = performance.now() + seconds * 1000;
    while (performance.now() < untilMs) {
      const now = await leads();
      if (now === node) return;
      if (now !== null && now !== before) {
        throw new Error(`${node} has not taken the lead of ${subject}: ${now} leads it now`);
      }
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(
      `${node} does not lead ${subject} after ${seconds} seconds: it must run and have all records`,
    );
  } finally {
    await etcd.revoke(lease).catch(ignoreFailure);
  }
}

/** A log as operators name it. */
const subjectOf = (log: LogName): string =>
  log === 'control' ? 'the control data' : log.replace('/', ' ');
