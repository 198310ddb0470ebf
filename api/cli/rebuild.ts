/** `paperbook rebuild`: rebuilds damaged checkpoints from the log. Rule D33 (engine/RULES.md). */
import type { Command } from 'commander';
import { type RebuiltShard, rebuild } from '../ops/rebuild.ts';
import { show } from './table.ts';

export function addRebuildCommand(program: Command): void {
  program
    .command('rebuild <dir>')
    .description('rebuild damaged checkpoints of a data directory from its log')
    .option('--json', 'print JSON')
    .action(async (dir: string, { json }: { json?: true }) => {
      const shards = await rebuild(dir);
      show(json === true ? { json } : {}, { directory: dir, shards }, (done) =>
        done.shards.map(lineOf).join(''),
      );
    });
}

function lineOf({ shard, facts, kept, problems }: RebuiltShard): string {
  if (facts === null) return `shard-${shard}: is whole and stays unchanged\n`;
  const was = problems.map((problem) => `shard-${shard}: was wrong: ${problem}\n`).join('');
  const old = kept === null ? '' : `; the old file is ${kept}`;
  return `${was}shard-${shard}: rebuilt from ${facts} facts${old}\n`;
}
