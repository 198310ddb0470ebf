/**
 * `paperbook backup`: copies a data directory, in use or not. Rules D17, D32
 * (engine/RULES.md).
 */
import type { Command } from 'commander';
import { backUp } from '../ops/backup.ts';
import { defaultDataDir } from './option-values.ts';

export function addBackupCommand(program: Command): void {
  program
    .command('backup <dir>')
    .description(
      'copy a data directory; the server may run. A later backup there copies only new data',
    )
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .option('--json', 'print JSON')
    .action(async (dir: string, { dataDir, json }: { dataDir: string; json?: true }) => {
      const done = await backUp(dataDir, dir);
      const shards = `${done.shards} ${done.shards === 1 ? 'shard' : 'shards'}`;
      const line = `${dir}: ${shards}, ${done.files} files, ${done.bytes} bytes`;
      process.stdout.write(`${json === true ? JSON.stringify(done) : line}\n`);
    });
}
