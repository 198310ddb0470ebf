/**
 * `paperbook records rebuild`: makes the records again from the facts. Rule Y4 (engine/RULES.md).
 */
import type { Command } from 'commander';
import { makeRecordsAnew } from '../ops/rebuild-records.ts';
import { show } from './table.ts';

export function addRecordsCommand(program: Command): void {
  program
    .command('records')
    .description('manage boards, picks and scores of a data directory')
    .command('rebuild <dir>')
    .description('rebuild the records of a data directory from its log; stop the server first')
    .option('--json', 'print JSON')
    .action(async (directory: string, { json }: { json?: true }) => {
      const counts = await makeRecordsAnew(directory);
      show(
        json === true ? { json } : {},
        { directory, ...counts },
        ({ facts, traders, trades }) => {
          return `${traders} accounts and ${trades} trades from ${facts} facts\n`;
        },
      );
    });
}
