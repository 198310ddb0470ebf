/** `paperbook serve`: the server, configured by the environment. CONTRACT.md sections 8 and 9. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { configHelp, loadConfig } from '../config.ts';
import { type Paperbook, startPaperbook, takeDataDir } from '../main.ts';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('start the server')
    .option('--config <file>', 'JSON file with the variables below as keys')
    .addHelpText('after', `\nEnvironment variables:\n${configHelp()}`)
    .action(async ({ config: file }: { config?: string }) => {
      const log = createLog('info');
      const config = loadConfig(process.env, file ?? null);
      const server = await startPaperbook(config, await takeDataDir(config), log);
      log.info({ baseUrl: server.baseUrl, adminUrl: server.adminUrl }, 'listening');
      process.stdout.write(`Paperbook listens on ${server.baseUrl}\n`);
      await untilStopped(server);
    });
}

/** JSON lines on standard error, written at once so that a crash loses none. */
export function createLog(level: 'info' | 'warn') {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}

/** Waits for SIGINT or SIGTERM, then closes the server; a second signal ends it at once. */
export async function untilStopped(server: Pick<Paperbook, 'close'>): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await server.close();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
}
