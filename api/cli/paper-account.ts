/** `paperbook account`, `equity` and `reset`. Rules A235, U12, U25, U48 (api/RULES.md). */
import type { Command } from 'commander';
import type { Account, EquityPoint, Realism } from 'paperbook/client';
import { PRESETS } from '../../engine/rules/realism.ts';
import { parseNamedObject } from '../base/validation.ts';
import type { RealismChange } from '../schemas/realism.ts';
import {
  type AccountFlags,
  answerBySession,
  answerOf,
  byKey,
  given,
  headersOf,
  type KeyFlags,
  ofAccount,
  ofKey,
  ofSession,
  type SessionFlags,
} from './account-connection.ts';
import { SessionFile } from './session-file.ts';
import { type Column, listOf, money, show, showRows } from './table.ts';
import { UsageError } from './usage.ts';

export function addPaperAccountCommands(program: Command): void {
  ofKey(program.command('account').description('the account: plan, points, runs'))
    .option(
      '--realism <choice>',
      'how real its fills are from now on: simple, realistic, or JSON of the parts to change',
    )
    .action(account);
  ofAccount(
    program.command('equity').description('net worth over time, in all runs of the account'),
  )
    .option('--window <window>', 'all, or a number of days; default 30d')
    .action(equity);
  ofSession(program.command('reset').description('reset the account to the start balance'))
    .option('--yes', 'confirm: cancel every order and close every trade')
    .action(reset);
}

async function account(options: KeyFlags & { realism?: string }): Promise<void> {
  if (options.realism !== undefined) return await changeRealism(options, options.realism);
  const { server, client } = byKey(options);
  const answer = await answerOf(server, client.getAccount());
  show(options, answer, ({ user, plan, points, balanceDollars, account, realism }) => {
    const who = [
      ['Name', user.displayName ?? '-'],
      ['Profile', user.private ? 'private' : 'public'],
      ['Plan', plan],
      ['Fills', realismText(realism)],
      ['Points', points],
    ] as const;
    if (account === null) {
      return `${listOf([...who, ['Balance', money(balanceDollars)]])}Nothing traded yet.\n`;
    }
    return listOf([...who, ...runOf(account)]);
  });
}

async function equity(options: AccountFlags & { window?: string }): Promise<void> {
  const { server, client } = byKey(options);
  const query = given({ window: options.window });
  const answer = await answerOf(server, client.getEquity({ query, ...headersOf(options) }));
  showRows(options, answer, 'points of net worth', answer.points, EQUITY_COLUMNS);
}

const EQUITY_COLUMNS: Column<EquityPoint>[] = [
  ['at', ({ at }) => at],
  ['run', ({ run }) => run],
  ['net worth', ({ netWorthDollars }) => money(netWorthDollars)],
  ['balance', ({ balanceDollars }) => money(balanceDollars)],
  ['open stake', ({ openStakeDollars }) => money(openStakeDollars)],
  ['realized', ({ realizedPnlDollars }) => money(realizedPnlDollars)],
];

/** By the session: a key changes no setting. Rule A141 (api/RULES.md). */
async function changeRealism(options: KeyFlags, choice: string): Promise<void> {
  if (options.keyFile !== undefined || options.server !== undefined) {
    throw new UsageError('--realism goes by the session: it takes no --key-file and no --server');
  }
  const realism = realismIn(choice);
  const file = new SessionFile(options.session);
  const answer = await answerBySession(file, (client) => client.changeMe({ body: { realism } }));
  show(options, answer, (changed) => {
    return `Orders from now on: ${realismText(changed.realism)}\n`;
  });
}

/** The server checks the parts. */
function realismIn(choice: string): RealismChange {
  if (Object.hasOwn(PRESETS, choice)) return choice as RealismChange;
  const about = `--realism is ${Object.keys(PRESETS).join(', ')}, or JSON such as {"fees":"venue"}`;
  if (!choice.trimStart().startsWith('{')) throw new UsageError(`${about}, not ${choice}`);
  try {
    return parseNamedObject(choice, '--realism') as RealismChange;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function realismText({ model, latencyMs: { min, max }, fees, liquidity }: Realism): string {
  const late = min === max ? `${min}` : `${min} to ${max}`;
  const shared = liquidity === 'market' ? 'sizes shared by all accounts' : 'sizes of its own';
  const paid = fees === 'venue' ? "the venue's fees" : 'no fees';
  const by = model === 'server' ? "the server's fill model" : `fill model ${model}`;
  return `${by}, ${late} ms later, ${paid}, ${shared}`;
}

async function reset(options: SessionFlags & { yes?: true }): Promise<void> {
  if (options.yes !== true) {
    throw new UsageError('a reset cancels every order and closes every trade: say --yes');
  }
  const file = new SessionFile(options.session);
  const answer = await answerBySession(file, (client) => client.resetAccount());
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
