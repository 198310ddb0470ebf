/**
 * The `paperbook` command. Exit codes: 0 done, 1 failed, 2 bad usage. Data goes to standard output,
 * and all text about it to standard error. Rules U1, U73, U80, U92, U94 (api/RULES.md).
 */
import { Command, CommanderError } from 'commander';
import { plain, shortened } from '../base/shown-text.ts';
import { productVersion } from '../base/version.ts';
import { ConfigError } from '../config/config.ts';
import { refuseEmpty } from './option-values.ts';
import { inTypedNames } from './typed-names.ts';
import { UsageError } from './usage.ts';

/** The functions that add the commands of these names. */
type Group = {
  names: readonly string[];
  load: () => Promise<(program: Command) => void>;
  /** It prints something of every command, so that all are loaded. */
  needsAll?: true;
};

/** Loaded on demand: a command that calls a server starts in a fifth of the time of `serve`. */
export const GROUPS: readonly Group[] = [
  { names: ['serve'], load: async () => (await import('./serve.ts')).addServeCommand },
  { names: ['demo'], load: async () => (await import('./demo.ts')).addDemoCommand },
  { names: ['feed'], load: async () => (await import('./feed.ts')).addFeedCommands },
  { names: ['catalog'], load: async () => (await import('./catalog.ts')).addCatalogCommands },
  { names: ['admin'], load: async () => (await import('./admin.ts')).addAdminCommands },
  { names: ['verify'], load: async () => (await import('./verify.ts')).addVerifyCommand },
  {
    names: ['verify-record'],
    load: async () => (await import('./verify-record.ts')).addVerifyRecordCommand,
  },
  {
    names: ['verify-receipt'],
    load: async () => (await import('./verify-record.ts')).addVerifyReceiptCommand,
  },
  { names: ['fidelity'], load: async () => (await import('./fidelity.ts')).addFidelityCommand },
  { names: ['reconcile'], load: async () => (await import('./reconcile.ts')).addReconcileCommand },
  { names: ['log'], load: async () => (await import('./log.ts')).addLogCommand },
  { names: ['backup'], load: async () => (await import('./backup.ts')).addBackupCommand },
  { names: ['rebuild'], load: async () => (await import('./rebuild.ts')).addRebuildCommand },
  {
    names: ['records'],
    load: async () => (await import('./records-rebuild.ts')).addRecordsCommand,
  },
  { names: ['cluster'], load: async () => (await import('./cluster.ts')).addClusterCommand },
  { names: ['upgrade'], load: async () => (await import('./upgrade.ts')).addUpgradeCommand },
  {
    names: ['signup', 'login', 'logout', 'whoami'],
    load: async () => (await import('./account.ts')).addAccountCommands,
  },
  { names: ['keys'], load: async () => (await import('./keys.ts')).addKeysCommands },
  {
    names: ['quote', 'games', 'instruments', 'search'],
    load: async () => (await import('./markets.ts')).addMarketCommands,
  },
  { names: ['watch'], load: async () => (await import('./watch.ts')).addWatchCommand },
  { names: ['mcp'], load: async () => (await import('./mcp.ts')).addMcpCommand },
  { names: ['history'], load: async () => (await import('./history.ts')).addHistoryCommands },
  { names: ['backtest'], load: async () => (await import('./backtest.ts')).addBacktestCommand },
  {
    names: ['account', 'equity', 'reset'],
    load: async () => (await import('./paper-account.ts')).addPaperAccountCommands,
  },
  {
    names: ['portfolio', 'positions', 'trades', 'orders', 'order', 'receipt'],
    load: async () => (await import('./portfolio.ts')).addPortfolioCommands,
  },
  {
    names: ['leaderboard', 'trader', 'eval'],
    load: async () => (await import('./traders.ts')).addTraderCommands,
  },
  {
    names: ['buy', 'sell', 'amend', 'cancel'],
    load: async () => (await import('./orders.ts')).addOrderCommands,
  },
  {
    names: ['completion'],
    load: async () => (await import('./completion.ts')).addCompletionCommand,
    needsAll: true,
  },
];

/** A narrower column of explanations does not wrap. */
const HELP_COLUMN_MIN = 24;

/** Runs one command and sets the exit code. Never rejects. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('paperbook')
    .description('Paper trading of prediction markets at live venue prices.')
    .version(productVersion(), '-V, --version', 'print the version')
    // An option after a command belongs to that command, even if the one above has it too.
    .enablePositionalOptions()
    .configureHelp({ minWidthToWrap: HELP_COLUMN_MIN })
    .configureOutput({ outputError: (text, write) => write(shortened(text)) })
    .exitOverride();
  // The reader may stop early, as in `paperbook feed inspect FILE | head`: that is not an error.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    process.stderr.write(`paperbook: standard output cannot be written (${code})\n`);
    process.exit(1);
  });
  let running: Command | null = null;
  program.hook('preAction', (_, command) => {
    running = command;
    refuseEmpty(command);
  });
  try {
    const named = GROUPS.find(({ names }) => names.includes(argv[2] ?? ''));
    // Help, and an unknown name, need all commands.
    const isAlone = named !== undefined && named.needsAll !== true;
    for (const { load } of isAlone ? [named] : GROUPS) (await load())(program);
    refuseUnknown(program, argv.slice(2));
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    if (!(error instanceof CommanderError)) await show(error, argv[2], running);
  }
}

/** If the log is all that is written, an error of a server is a line of it (O23). */
async function show(
  error: unknown,
  group: string | undefined,
  running: Command | null,
): Promise<void> {
  const said = error instanceof Error ? error.message : String(error);
  const message = shortened(inTypedNames(said, running));
  if (group === 'serve') {
    const { createLog, outputIsLog } = await import('./create-log.ts');
    if (outputIsLog()) return createLog('error').error({}, message);
  }
  process.stderr.write(`paperbook: ${message.split('\n').map(plain).join('\n')}\n`);
}

/** Commander answers `--help` before it notices that the command does not exist. */
function refuseUnknown(program: Command, words: readonly string[]): void {
  let command = program;
  for (const word of words) {
    if (word === '--help' || word === '-h') continue;
    if (word === 'help' || word.startsWith('-') || command.commands.length === 0) return;
    const found = command.commands.find((known) => known.name() === word);
    if (found === undefined && command.registeredArguments.length > 0) return;
    if (found === undefined) command.error(`error: unknown command '${word}'`);
    command = found!;
  }
}

/** Commander has written its own errors. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof ConfigError || error instanceof UsageError ? 2 : 1;
}
