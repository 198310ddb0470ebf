/** `paperbook records rebuild`: the records again from the facts. Rule Y4 (engine/RULES.md). */
import type { Command } from 'commander';
import { makeRecordsAnew } from '../ops/rebuild-records.ts';
import { show } from './table.ts';

export function addRecordsCommand(program: Command): void {
  program
    .command('records')
    .description('boards, picks and scores of a data directory')
    .command('rebuild <dir>')
    .description('make the records of a data directory anew from its log; no server may be running')
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
