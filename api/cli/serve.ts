/** `paperbook serve`: the server, configured by the environment. Rules U2, G1, O23, O35 (api/RULES.md). */
import type { Command } from 'commander';
import { configHelp, loadConfig } from '../config/config.ts';
import { startPaperbook, takeDataDir } from '../main.ts';
import { createLog, logProcess, sayReady } from './create-log.ts';
import { outputColumns } from './screen.ts';
import { stopRequest } from './stop.ts';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('start the server')
    .option('--config <file>', 'JSON file with the variables below as keys')
    .addHelpText('after', () => `\nEnvironment variables:\n${configHelp(outputColumns())}`)
    .action(async ({ config: file }: { config?: string }) => {
      const stopped = stopRequest();
      const config = loadConfig(process.env, file ?? null);
      const log = createLog(config.logLevel);
      logProcess(log);
      const server = await startPaperbook(config, await takeDataDir(config), log);
      const { baseUrl, adminUrl } = server;
      log.info({ baseUrl, adminUrl }, 'listening');
      sayReady(`Paperbook listens on ${baseUrl}`, { baseUrl, adminUrl });
      log.info({ reason: await stopped }, 'stopping');
      await server.close();
      log.info({}, 'stopped');
    });
}
