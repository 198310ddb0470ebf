/**
 * Joins the cluster of the settings. Without one this file is not loaded. Rules N101, N110
 * (engine/RULES.md).
 */
import { readFileSync } from 'node:fs';
import type { Uuid } from '../../engine/base/units.ts';
import { joinCluster } from '../../engine/replication/cluster.ts';
import { EtcdClient, EtcdFailure } from '../../engine/replication/etcd-client.ts';
import { Replicator } from '../../engine/replication/replicator.ts';
import type { MakeReplicator } from '../../engine/shard/callers/shard-client.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import type { Log } from '../base/logger.ts';
import type { ClusterConfig } from '../config/settings.ts';

/** A start waits so long for etcd, which may start at the same time. */
const JOIN_MAX_MS = 20_000;
const SECRET_BYTES_MIN = 16;

type Joining = { directory: Uuid; shards: number; log: Log };

/** Rejects with one clear line for the operator. */
export async function replicatorsOf(
  { secretFile, ...settings }: ClusterConfig,
  { directory, shards, log }: Joining,
): Promise<MakeReplicator> {
  const { formatVersion } = identityOf(0);
  const etcd = new EtcdClient(settings.etcd);
  try {
    const identity = { directory, shards, formatVersion };
    await join(() => joinCluster(etcd, settings.name, identity, readSecret(secretFile)));
  } finally {
    etcd.close();
  }
  return (shard, changed) => new Replicator(settings, shard, log, changed);
}

async function join(ask: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + JOIN_MAX_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isWaiting = error instanceof EtcdFailure && performance.now() < untilMs;
      if (!isWaiting) throw new Error(`PAPERBOOK_CLUSTER: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function readSecret(file: string): string {
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
