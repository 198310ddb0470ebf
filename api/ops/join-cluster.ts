/**
 * Joins the cluster of the settings. Without one this file is not loaded. Rules N101, N110, N130, N160
 * (engine/RULES.md), O48 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import type { Uuid } from '../../engine/base/units.ts';
import { checkCluster, joinCluster } from '../../engine/replication/cluster.ts';
import { ClusterWatch } from '../../engine/replication/cluster-watch.ts';
import { ControlReplica } from '../../engine/replication/control-replica.ts';
import { EtcdClient, EtcdFailure } from '../../engine/replication/etcd-client.ts';
import { steadyMs } from '../../engine/replication/lease.ts';
import { addMember } from '../../engine/replication/members.ts';
import { NodePresence } from '../../engine/replication/node-presence.ts';
import { Replicator } from '../../engine/replication/replicator.ts';
import { ClusterSecrets } from '../../engine/replication/secrets.ts';
import type { MakeReplicator } from '../../engine/shard/callers/shard-client.ts';
import type { ShardStatus } from '../../engine/shard/callers/shard-status.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/logger.ts';
import type { ClusterConfig } from '../config/settings.ts';
import { ReplicatedControl } from '../identity/replicated-control.ts';
import type { ControlStore } from '../identity/store.ts';
import { clusterIdentityOf } from './cluster-identity.ts';
import { SharedKeys } from './shared-keys.ts';

/** A start waits so long for etcd, and for a leader, which may start at the same time. */
const JOIN_MAX_MS = 20_000;
const LOOKS_EVERY_MS = 200;
const SECRET_BYTES_MIN = 16;

type Joining = {
  dataDir: string;
  directory: Uuid;
  shards: number;
  /** Whether this server signs access tokens. */
  signsTokens: boolean;
  identity: Pick<ControlStore, 'joinCluster'>;
  log: Log;
  stack: CleanupStack;
};

export type JoinedCluster = {
  /** What opens the shards, for a bounded time. */
  openInTime: typeof openInTime;
  replicator: MakeReplicator;
  watch: ClusterWatch;
  sharedKeys: SharedKeys;
};

/**
 * Resolves once this node leads the control data, or has all of the leader's. Rejects with one clear
 * line for the operator.
 */
export async function joinOf(
  { secretFile, ...settings }: ClusterConfig,
  { dataDir, directory, shards, signsTokens, identity, log, stack }: Joining,
): Promise<JoinedCluster> {
  const etcd = new EtcdClient(settings.etcd);
  stack.add(async () => etcd.close());
  const alike = clusterIdentityOf(dataDir, { directory, shards });
  const target = identity.joinCluster((parts) => new ReplicatedControl(parts));
  const sharedKeys = await join(async () => {
    const secret = readSecret(secretFile);
    await (target.hasBeenInCluster ? checkCluster : joinCluster)(
      etcd,
      settings.name,
      alike,
      secret,
    );
    await target.noteCluster();
    const secrets = new ClusterSecrets(etcd, settings.name, secret);
    const keys = new SharedKeys({ secrets, dataDir, signsTokens, log });
    await keys.join();
    return keys;
  });
  stack.add(async () => sharedKeys.close());
  const presence = presenceOf(settings, etcd, target.last().number);
  stack.add(() => presence.end());
  await join(() => presence.entered);
  // Before it, a second server with the name of a node would change the address of that node.
  await join(() => addMember(etcd, settings.name, settings, { isEmpty: false, shards }));
  const control = new ControlReplica({ settings, target, log, presence });
  target.follow(control);
  stack.add(() => control.close());
  await readyInTime(control);
  return {
    openInTime,
    replicator: (shard, changed) => new Replicator(settings, shard, log, changed),
    watch: new ClusterWatch(settings, log),
    sharedKeys,
  };
}

function presenceOf(
  { name: cluster, node, address, leaseSeconds }: Omit<ClusterConfig, 'secretFile'>,
  etcd: EtcdClient,
  applied: number,
): NodePresence {
  const self = { node, address };
  const givesUpAfterMs = JOIN_MAX_MS;
  return new NodePresence({ etcd, cluster, self, leaseSeconds, steadyMs, givesUpAfterMs }, applied);
}

async function join<T>(ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + JOIN_MAX_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isWaiting = error instanceof EtcdFailure && performance.now() < untilMs;
      if (!isWaiting) throw new Error(`PAPERBOOK_CLUSTER: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, LOOKS_EVERY_MS));
    }
  }
}

async function readyInTime(control: ControlReplica): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), JOIN_MAX_MS);
  const first = await Promise.race([control.ready, late]);
  clearTimeout(timer);
  if (first !== 'late') return;
  const why = control.problems().join('; ') || 'no node leads the control data';
  throw new Error(`PAPERBOOK_CLUSTER: ${why}`);
}

/**
 * What opens the shards, unless etcd does not answer one of them for so long. Rejects with one clear
 * line for the operator then.
 */
export async function openInTime<T>(
  opening: Promise<T>,
  statuses: () => readonly Pick<ShardStatus, 'state' | 'problem'>[],
  nowMs = () => performance.now(),
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let sinceMs: number | null = null;
  const look = () => {
    const found = statuses();
    const shard = found.findIndex(({ state, problem }) => state === 'opening' && problem !== null);
    sinceMs = shard === -1 ? null : (sinceMs ?? nowMs());
    if (sinceMs === null || nowMs() - sinceMs <= JOIN_MAX_MS) return;
    reject(new Error(`PAPERBOOK_CLUSTER: shard ${shard}: ${found[shard]!.problem}`));
  };
  const timer = setInterval(look, LOOKS_EVERY_MS);
  try {
    return await Promise.race([opening, late]);
  } finally {
    clearInterval(timer);
  }
}

/** Throws an error for the operator. */
export function readSecret(file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`secretFile ${file} cannot be read: ${(error as Error).message}`);
  }
  if (secret.length < SECRET_BYTES_MIN) {
    throw new Error(`secretFile ${file} has fewer than ${SECRET_BYTES_MIN} characters`);
  }
  return secret;
}
