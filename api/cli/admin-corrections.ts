/**
 * `paperbook admin settle`, `corrections`, `adjust` and `mark`. Rules O12, O13, O17, O26, O37
 * (api/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import type { Command } from 'commander';
import type { CorrectionsAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected, print } from './admin-connection.ts';
import { type Column, helpNotes, showRows } from './table.ts';
import { UsageError } from './usage.ts';

export function addCorrectionCommands(admin: Command): void {
  addMarkCommand(admin);
  connected(
    admin
      .command('settle <market> <result>')
      .description('settle a market: NAME on venue_a, or venue_b/NAME'),
  )
    .option('--correct', 'replace the result that the market has')
    .addHelpText(
      'after',
      helpNotes(
        'The result is yes, no, void, or the worth of yes, such as 0.645. A market settles once: the ' +
          'same result again changes nothing, another one is refused. With --correct it replaces the ' +
          'result. Every trade that the market settled takes the new result. Each balance moves by ' +
          'the difference, below zero if it was spent.',
      ),
    )
    .action(async (market: string, result: string, options: Connect & { correct?: true }) => {
      const body = { market, result, correct: options.correct };
      print(options, await ask(options, 'POST', '/admin/settlements', body));
    });
  connected(
    admin.command('corrections').description('list the markets whose result was replaced'),
  ).action(async (options: Connect) => {
    const answer = (await ask(options, 'GET', '/admin/corrections')) as Corrections;
    showRows(options, answer, 'corrections', answer.corrections, CORRECTION_COLUMNS);
  });
  connected(
    admin
      .command('adjust <userId> <dollars>')
      .description('add dollars to a personal account, or take them, as in -12.50'),
  )
    .addHelpText(
      'after',
      helpNotes(
        'Profit and loss leave adjustments out. Each call adjusts the balance once more. If no ' +
          'answer arrives, look at paperbook log --account USER_ID before you ask again.',
      ),
    )
    .action(async (userId: string, text: string, options: Connect) => {
      const body = { userId, dollars: dollarsIn(text) };
      print(options, await ask(options, 'POST', '/admin/adjustments', body));
    });
}

type Corrections = Static<typeof CorrectionsAnswer>;

const CORRECTION_COLUMNS: Column<Corrections['corrections'][number]>[] = [
  ['market', ({ market }) => market],
  ['result', ({ outcome }) => outcome],
  ['yes pays', ({ yesPayoutCents }) => yesPayoutCents],
  ['first result', ({ resolvedAt }) => resolvedAt],
];

type MarkFlags = Connect & { parlay?: string; combine?: true; user?: string };

function addMarkCommand(admin: Command): void {
  connected(
    admin
      .command('mark <tradeId>')
      .description('mark a trade as a leg of a parlay, or of a Combine'),
  )
    .option('--parlay <id>', 'the parlay, a uuid')
    .option('--combine', 'the trade is part of a Combine')
    .option('--user <userId>', 'account of the trade; finds a trade that is over at once')
    .action(async (tradeId: string, options: MarkFlags) => {
      const { parlay: parlayId, combine, user: userId } = options;
      if (parlayId === undefined && combine === undefined) {
        throw new UsageError('give --parlay or --combine');
      }
      const body = { tradeId, userId, parlayId, combine };
      print(options, await ask(options, 'POST', '/admin/marks', body));
    });
}

function dollarsIn(text: string): number {
  if (/^[+-]?\d{1,14}(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new UsageError(`${text} is not an amount of dollars, such as 100 or -12.50`);
}
