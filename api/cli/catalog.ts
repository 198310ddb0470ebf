/** `paperbook catalog check`: reads a catalog file and says all that is wrong with it. */
import type { Command } from 'commander';
import { catalogErrorText, loadCatalog } from '../../feeds/catalog.ts';

export function addCatalogCommands(program: Command): void {
  const catalog = program.command('catalog').description('catalog files');
  catalog
    .command('check <file>')
    .description('check a catalog file; every error is named with its place')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const reading = await loadCatalog(file);
      if (!reading.ok && json !== true) {
        throw new Error(`${file} has errors:\n${catalogErrorText(reading.errors)}`);
      }
      const { games, instruments } = reading.ok ? reading.catalog : { games: [], instruments: [] };
      const summary = {
        ok: reading.ok,
        games: games.length,
        instruments: instruments.length,
        errors: reading.ok ? [] : reading.errors,
      };
      const line = `${summary.games} games and ${summary.instruments} instruments, no errors`;
      process.stdout.write(`${json === true ? JSON.stringify(summary) : line}\n`);
      if (!reading.ok) process.exitCode = 1;
    });
}
