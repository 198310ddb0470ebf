/** `paperbook upgrade`: the format of a data directory. Rule D34 (engine/RULES.md). */
import type { Command } from 'commander';
import { type Upgraded, upgrade } from '../upgrade.ts';
import { show } from './table.ts';

export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade <dir>')
    .description('bring a data directory to the format of this version; the original stays')
    .option('--json', 'print JSON')
    .action(async (dir: string, { json }: { json?: true }) => {
      const done = await upgrade(dir);
      show(json === true ? { json } : {}, done, lineOf);
    });
}

function lineOf({ directory, version }: Upgraded): string {
  return `${directory} has version ${version} of the format, and so has this program: nothing to do\n`;
}
