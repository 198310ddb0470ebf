/** `paperbook serve`: the server, configured by the environment. Rules U2, G1 (api/RULES.md). */
import type { Command } from 'commander';
import { pino } from 'pino';
import { configHelp, loadConfig } from '../config.ts';
import { startPaperbook, takeDataDir } from '../main.ts';
import type { LogLevel } from '../settings.ts';
import { stopRequest } from './stop.ts';
import { outputColumns } from './table.ts';

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
      const server = await startPaperbook(config, await takeDataDir(config), log);
      log.info({ baseUrl: server.baseUrl, adminUrl: server.adminUrl }, 'listening');
      process.stdout.write(`Paperbook listens on ${server.baseUrl}\n`);
      log.info({ reason: await stopped }, 'stopping');
      await server.close();
      log.info({}, 'stopped');
    });
}

/**
 * JSON lines on standard error, written synchronously so that a crash loses none. A line that
 * cannot be written (full disk, closed terminal) is lost without stopping anything.
 */
export function createLog(level: LogLevel) {
  const named = { level: (label: string) => ({ level: label }) };
  const lines = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  lines.on('error', () => {});
  return pino({ level, base: null, formatters: named }, lines);
}

const UNWRITTEN_BYTES_MAX = 1024 * 1024;
