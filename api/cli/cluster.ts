/**
 * `paperbook cluster`: the cluster of PAPERBOOK_CLUSTER, as its operator sees and changes it. Rules
 * N117, N136, N146, N165 to N168 (engine/RULES.md).
 */
import type { Command } from 'commander';
import {
  clusterStatus,
  type LogInCluster,
  type MemberInCluster,
  shardsOf,
} from '../../engine/replication/cluster.ts';
import { EtcdClient } from '../../engine/replication/etcd-client.ts';
import { removeMember } from '../../engine/replication/members.ts';
import { moveLead } from '../../engine/replication/move-lead.ts';
import { makeRoom } from '../../engine/replication/space.ts';
import { loadConfig } from '../config/config.ts';
import type { ClusterConfig } from '../config/settings.ts';
import { beginWith } from '../ops/begin-cluster.ts';
import { bringIntoCluster } from '../ops/bring-into-cluster.ts';
import { defaultDataDir } from './option-values.ts';
import { type Column, show, tableOf, wrapped } from './table.ts';
import { UsageError } from './usage.ts';

type Json = { json?: true };
type Joining = Json & { from: string; dataDir: string };

export function addClusterCommand(program: Command): void {
  const cluster = program
    .command('cluster')
    .description('the cluster that PAPERBOOK_CLUSTER names');
  const verb = (name: string, description: string) =>
    cluster.command(name).description(description).option('--json', 'print JSON');
  verb(
    'status',
    'show which node leads each shard and what each member has, as etcd knows it',
  ).action((options: Json) =>
    inCluster(async (etcd, { name }) => {
      const found = { cluster: name, ...(await clusterStatus(etcd, name)) };
      show(options, found, ({ shards, control, members }) =>
        [
          tableOf([...shards, { shard: 'control', ...control }], LOG_COLUMNS),
          tableOf(members, MEMBER_COLUMNS),
        ].join('\n'),
      );
    }),
  );
  verb('begin', 'begin the cluster again with the data of this node, after etcd has lost its own')
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .action(async ({ dataDir, ...options }: Omit<Joining, 'from'>) => {
      const settings = clusterSettings();
      const { name, node } = settings;
      const ends = await beginWith(settings, dataDir);
      show(options, { cluster: name, node, logs: Object.fromEntries(ends) }, () =>
        wrapped(
          [
            `${name} begins with the data of ${node}. Start its server now`,
            ...ends.map(([log, last]) => `${log.replace('/', ' ')}: up to ${last}`),
          ].join('\n'),
        ),
      );
    });
  verb('join', 'bring a new node, or one that was away too long, into the cluster, from a copy')
    .requiredOption('--from <dir>', 'a backup of a node of the cluster')
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .action(async ({ from, dataDir, ...options }: Joining) => {
      const settings = clusterSettings();
      const { shards, files, bytes } = await bringIntoCluster(settings, dataDir, from);
      const done = { cluster: settings.name, node: settings.node, shards, files, bytes };
      show(options, done, ({ cluster: name, node }) =>
        wrapped(
          `${node} is a member of ${name}: ${files} files, ${bytes} bytes copied. Start its server now`,
        ),
      );
    });
  verb(
    'leave [node]',
    'end the membership of a node, which must be stopped; left out: of this node',
  ).action((named: string | undefined, options: Json) =>
    inCluster(async (etcd, { name, node: self }) => {
      const node = named ?? self;
      await removeMember(etcd, name, node, await shardsOf(etcd, name));
      show(options, { cluster: name, node }, () => wrapped(`${node} has left ${name}`));
    }),
  );
  verb(
    'move <shard> <node>',
    'have another node lead a shard, or the control data as control; no order is lost',
  ).action((text: string, node: string, options: Json) =>
    inCluster(async (etcd, { name }) => {
      const shard = text === 'control' ? text : Number(text);
      const shards = await shardsOf(etcd, name);
      if (shard !== 'control' && (!/^\d+$/.test(text) || shard >= shards)) {
        throw new UsageError(`the cluster ${name} has shards 0 to ${shards - 1}, and control`);
      }
      await moveLead(etcd, name, shard === 'control' ? shard : `shard/${shard}`, node);
      const subject = shard === 'control' ? 'the control data' : `shard ${shard}`;
      show(options, { cluster: name, shard, node }, () => wrapped(`${node} leads ${subject}`));
    }),
  );
  verb('trim', 'delete from etcd what every member has, and give etcd room').action(
    (options: Json) =>
      inCluster(async (etcd, { name, etcd: urls }) => {
        const made = await makeRoom(urls, name, await shardsOf(etcd, name));
        show(options, { cluster: name, ...made }, ({ deleted, upTo, defragmented, silent }) =>
          wrapped(
            [
              ...silent.map((why) => `a member of etcd was left out: ${why}`),
              `${deleted} records deleted, ${defragmented} members of etcd defragmented`,
              ...upTo.map((fact, shard) => `shard ${shard}: every member has fact ${fact}`),
            ].join('\n'),
          ),
        );
      }),
  );
}

function clusterSettings(): ClusterConfig {
  const name = 'PAPERBOOK_CLUSTER';
  const { cluster } = loadConfig({ [name]: process.env[name] }, null);
  if (cluster === null) throw new UsageError(`${name} is not set`);
  return cluster;
}

async function inCluster(
  run: (etcd: EtcdClient, settings: ClusterConfig) => Promise<void>,
): Promise<void> {
  const settings = clusterSettings();
  const etcd = new EtcdClient(settings.etcd);
  try {
    await etcd.reach();
    await run(etcd, settings);
  } finally {
    etcd.close();
  }
}

const LOG_COLUMNS: Column<LogInCluster & { shard: number | 'control' }>[] = [
  ['shard', ({ shard }) => shard],
  ['leader', ({ leader }) => leader?.node ?? null],
  ['address', ({ leader }) => leader?.address ?? null],
  ['epoch', ({ epoch }) => epoch],
  ['last fact', ({ lastFact }) => lastFact],
];

const MEMBER_COLUMNS: Column<MemberInCluster>[] = [
  ['member', ({ node }) => node],
  ['address', ({ address }) => address],
  ['has facts up to, by shard', ({ facts }) => facts.map((fact) => fact ?? '-').join(' ')],
];
