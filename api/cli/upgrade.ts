/** `paperbook upgrade`: the format of a data directory. Rule D34 (engine/RULES.md). */
import type { Command } from 'commander';
import { type Upgraded, upgrade } from '../ops/upgrade.ts';
import { show } from './table.ts';

export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade <dir>')
    .description('convert a data directory to the format of this version; the original stays')
    .option('--json', 'print JSON')
    .action(async (dir: string, { json }: { json?: true }) => {
      const done = await upgrade(dir);
      show(json === true ? { json } : {}, done, lineOf);
    });
}

function lineOf({ directory, version, shards, control }: Upgraded): string {
  const parts = [`${shards} ${shards === 1 ? 'shard' : 'shards'}`];
  if (control !== null) parts.push('the control store');
  return (
    `${directory} has version ${version} of the format (${parts.join(' and ')}), and so has this ` +
    'program: nothing to do\n'
  );
}
