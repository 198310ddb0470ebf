/**
 * The `paperbook` command. CONTRACT.md section 9: exit codes 0 done, 1 failed, 2 bad usage; what
 * data there is goes to standard output, everything said about it to standard error.
 */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { addAdminCommands } from './admin.ts';
import { addBackupCommand } from './backup.ts';
import { addCatalogCommands } from './catalog.ts';
import { addDemoCommand } from './demo.ts';
import { addFeedCommands } from './feed.ts';
import { addServeCommand } from './serve.ts';
import { UsageError } from './usage.ts';
import { addVerifyCommand } from './verify.ts';

/** Runs one command and sets the exit code. Never rejects. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('paperbook')
    .description('Paper trading of prediction markets at live venue prices.')
    .exitOverride();
  addServeCommand(program);
  addDemoCommand(program);
  addFeedCommands(program);
  addCatalogCommands(program);
  addAdminCommands(program);
  addVerifyCommand(program);
  addBackupCommand(program);
  // Who reads may stop reading, as in `paperbook feed inspect FILE | head`: that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** Writes what went wrong, unless commander did, and tells how to exit. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`paperbook: ${message}\n`);
  return error instanceof ConfigError || error instanceof UsageError ? 2 : 1;
}
