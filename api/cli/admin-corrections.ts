/** `paperbook admin settle` and `admin adjust`. Rules O12, O13 (api/RULES.md). */
import type { Command } from 'commander';
import { ask, type Connect, connected, print } from './admin-connection.ts';
import { UsageError } from './usage.ts';

export function addCorrectionCommands(admin: Command): void {
  connected(
    admin
      .command('settle <market> <result>')
      .description('give a market its result, for good: of venue_a, or as venue_b/NAME'),
  )
    .addHelpText(
      'after',
      '\nThe result is yes, no, void, or what yes is worth, such as 0.645. A market settles once: the\n' +
        'same result again changes nothing, another one is refused.',
    )
    .action(async (market: string, result: string, options: Connect) =>
      print(options, await ask(options, 'POST', '/admin/settlements', { market, result })),
    );
  connected(
    admin
      .command('adjust <userId> <dollars>')
      .description('add dollars to a personal account, or take them, as in -12.50'),
  )
    .addHelpText(
      'after',
      '\nProfit and loss leave adjustments out. It is done each time that it is asked for: without an\n' +
        'answer look at paperbook log --account USER_ID before you ask again.',
    )
    .action(async (userId: string, text: string, options: Connect) => {
      const body = { userId, dollars: dollarsIn(text) };
      print(options, await ask(options, 'POST', '/admin/adjustments', body));
    });
}

function dollarsIn(text: string): number {
  if (/^[+-]?\d{1,14}(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new UsageError(`${text} is no amount of dollars, such as 100 or -12.50`);
}
