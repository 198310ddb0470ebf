/** `paperbook account` and `reset`. Rules U12, U25 (api/RULES.md). */
import type { Command } from 'commander';
import type { Account } from 'paperbook/client';
import {
  answerOf,
  byKey,
  bySession,
  type KeyFlags,
  ofKey,
  ofSession,
  type SessionFlags,
} from './account-connection.ts';
import { SessionFile } from './session-file.ts';
import { listOf, money, show } from './table.ts';
import { UsageError } from './usage.ts';

export function addPaperAccountCommands(program: Command): void {
  ofKey(program.command('account').description('the account: plan, points, runs')).action(account);
  ofSession(program.command('reset').description('reset the account to the start balance'))
    .option('--yes', 'confirm: cancel every order and close every trade')
    .action(reset);
}

async function account(options: KeyFlags): Promise<void> {
  const { server, client } = byKey(options);
  const answer = await answerOf(server, client.getAccount());
  show(options, answer, ({ user, plan, points, balanceDollars, account }) => {
    const who = [
      ['Name', user.displayName ?? '-'],
      ['Profile', user.private ? 'private' : 'public'],
      ['Plan', plan],
      ['Points', points],
    ] as const;
    if (account === null) {
      return `${listOf([...who, ['Balance', money(balanceDollars)]])}Nothing traded yet.\n`;
    }
    return listOf([...who, ...runOf(account)]);
  });
}

async function reset(options: SessionFlags & { yes?: true }): Promise<void> {
  if (options.yes !== true) {
    throw new UsageError('a reset cancels every order and closes every trade: say --yes');
  }
  const { server, client } = bySession(new SessionFile(options.session));
  const answer = await answerOf(server, client.resetAccount());
  show(options, answer, ({ account }) => listOf(runOf(account)));
}

function runOf(account: Account): [name: string, value: string | number][] {
  const { resetBlockedBy, nextResetAt } = account;
  const next = nextResetAt === null ? '' : `, until ${nextResetAt}`;
  return [
    ['Run', `${account.run}, since ${account.runStartedAt}`],
    ['Net worth', money(account.netWorthDollars)],
    ['Balance', money(account.balanceDollars)],
    ['Profit or loss', money(account.pnlSinceResetDollars)],
    ['In all runs', money(account.lifetimePnlDollars)],
    ['Busts', account.busts],
    ['Reset', resetBlockedBy === null ? 'possible' : `${resetBlockedBy}${next}`],
  ];
}
