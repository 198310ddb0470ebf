/**
 * `paperbook admin shards` and `problems`: the state of the shards, and recent failures. Rules O18,
 * O19 (api/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import type { Command } from 'commander';
import type { ProblemsAnswer, ShardsAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected } from './admin-connection.ts';
import { type Column, show, tableOf } from './table.ts';

type Shard = Static<typeof ShardsAnswer>['shards'][number];
type Problems = Static<typeof ProblemsAnswer>;

export function addShardsCommand(admin: Command): void {
  connected(
    admin.command('shards').description('show log, checkpoint and pace of each shard'),
  ).action(async (options: Connect) => {
    const answer = (await ask(options, 'GET', '/admin/shards')) as Static<typeof ShardsAnswer>;
    show(options, answer, ({ shards }) => tableOf(shards, SHARD_COLUMNS));
  });
}

export function addProblemsCommand(admin: Command): void {
  connected(
    admin.command('problems').description('list current problems and the last warnings of the log'),
  ).action(async (options: Connect) => {
    const answer = (await ask(options, 'GET', '/admin/problems')) as Problems;
    show(options, answer, ({ problems, log }) =>
      [
        problems.length === 0 ? NO_PROBLEM : tableOf(problems, PROBLEM_COLUMNS),
        log.length === 0 ? NO_WARNING : tableOf(log, LOG_COLUMNS),
      ].join('\n'),
    );
  });
}

const SHARD_COLUMNS: Column<Shard>[] = [
  ['shard', ({ shard }) => shard],
  ['state', ({ state }) => state],
  ['facts', ({ lastFact }) => lastFact],
  ['log mb', ({ logBytes }) => (logBytes === null ? null : Number((logBytes / 1e6).toFixed(1)))],
  ['to replay', ({ factsSinceCheckpoint }) => factsSinceCheckpoint],
  ['p50 ms', ({ batches }) => batches.p50Ms],
  ['p99 ms', ({ batches }) => batches.p99Ms],
  ['queued', ({ queued }) => queued],
  ['checkpoint', ({ checkpointAt }) => checkpointAt],
  ['problem', ({ problem }) => problem, 'apart'],
  [
    'last failure',
    ({ lastFailure }) => (lastFailure === null ? null : `${lastFailure.at} ${lastFailure.reason}`),
    'apart',
  ],
];

const NO_PROBLEM = 'No problem is known.\n';
const NO_WARNING = 'The log has no warning or error since the start of the server.\n';

const PROBLEM_COLUMNS: Column<string>[] = [['wrong now', (problem) => problem]];

const LOG_COLUMNS: Column<Problems['log'][number]>[] = [
  ['at', ({ at }) => at],
  ['times', ({ times }) => times],
  ['level', ({ level }) => level],
  ['message', ({ message }) => message],
  ['details', ({ details }) => textOf(details), 'apart'],
];

const textOf = (details: Readonly<Record<string, string>>) =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
