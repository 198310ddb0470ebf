/** `paperbook cluster status`: who leads the logs of a cluster. Rules N117, N136 (engine/RULES.md). */
import type { Command } from 'commander';
import { clusterStatus, type LogInCluster } from '../../engine/replication/cluster.ts';
import { EtcdClient } from '../../engine/replication/etcd-client.ts';
import { loadConfig } from '../config/config.ts';
import { type Column, show, tableOf } from './table.ts';
import { UsageError } from './usage.ts';

export function addClusterCommand(program: Command): void {
  const cluster = program
    .command('cluster')
    .description('the cluster that PAPERBOOK_CLUSTER names');
  cluster
    .command('status')
    .description('show which node leads each shard, as etcd knows it')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const name = 'PAPERBOOK_CLUSTER';
      const { cluster: settings } = loadConfig({ [name]: process.env[name] }, null);
      if (settings === null) throw new UsageError(`${name} is not set`);
      const etcd = new EtcdClient(settings.etcd);
      try {
        const status = await clusterStatus(etcd, settings.name);
        if (status === null) throw new Error(`etcd knows no cluster ${settings.name}`);
        show(options, { cluster: settings.name, ...status }, ({ shards, control }) =>
          tableOf([...shards, { shard: 'control', ...control }], COLUMNS),
        );
      } finally {
        etcd.close();
      }
    });
}

const COLUMNS: Column<LogInCluster & { shard: number | 'control' }>[] = [
  ['shard', ({ shard }) => shard],
  ['leader', ({ leader }) => leader?.node ?? null],
  ['address', ({ leader }) => leader?.address ?? null],
  ['epoch', ({ epoch }) => epoch],
  ['last fact', ({ lastFact }) => lastFact],
];
