/** `paperbook serve`: the server, configured by the environment. CONTRACT.md sections 8 and 9. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { configHelp, loadConfig } from '../config.ts';
import { startPaperbook, takeDataDir } from '../main.ts';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('start the server')
    .option('--config <file>', 'JSON file with the variables below as keys')
    .addHelpText('after', `\nEnvironment variables:\n${configHelp()}`)
    .action(async ({ config: file }: { config?: string }) => {
      const log = createLog('info');
      const stopped = stopSignal();
      const config = loadConfig(process.env, file ?? null);
      const server = await startPaperbook(config, await takeDataDir(config), log);
      log.info({ baseUrl: server.baseUrl, adminUrl: server.adminUrl }, 'listening');
      process.stdout.write(`Paperbook listens on ${server.baseUrl}\n`);
      await stopped;
      await server.close();
    });
}

/** JSON lines on standard error, written at once so that a crash loses none. */
export function createLog(level: 'info' | 'warn') {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}

/**
 * A Ctrl-C can arrive twice: from the terminal, and from npm, which passes it on. A second signal
 * within this time is that echo, and not someone who wants to wait no longer.
 */
const ECHO_MS = 1000;

/**
 * Resolves at the first SIGINT or SIGTERM; a later one ends the process at once. Asked for before a
 * start, so that a signal during it stops what was started instead of cutting it off.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const onSignal = () => {
      firstMs ??= Date.now();
      if (Date.now() - firstMs > ECHO_MS) process.exit(1);
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}
