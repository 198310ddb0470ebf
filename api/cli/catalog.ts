/** `paperbook catalog`: creates catalog files, adds to them, and reports every error in one. */

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { catalogProblem, loadCatalog } from '../../feeds/catalog/catalog.ts';
import { catalogJsonSchema } from '../../feeds/catalog/catalog-schema.ts';
import { mergeCatalogs } from '../../feeds/catalog/merge-catalogs.ts';
import { apartGames } from '../../feeds/venues/shared/assemble.ts';
import { jsonText, plain } from '../base/shown-text.ts';
import { checkedText, readCatalogFile } from './catalog-file.ts';
import { addDiscoverCommand } from './discover.ts';
import { UsageError } from './usage.ts';
import { writeWhole } from './whole-file.ts';

export function addCatalogCommands(program: Command): void {
  const catalog = program.command('catalog').description('catalog files');
  addDiscoverCommand(catalog);
  addImportCommand(catalog);
  addSchemaCommand(catalog);
  catalog
    .command('check <file>')
    .description('check a catalog file; every error is named with its place')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const reading = await loadCatalog(file);
      if (!reading.ok && json !== true) {
        throw new Error(catalogProblem(file, reading.errors));
      }
      const { games, instruments } = reading.ok ? reading.catalog : { games: [], instruments: [] };
      const apart = reading.ok ? apartGames(reading.catalog) : [];
      const summary = {
        ok: reading.ok,
        games: games.length,
        instruments: instruments.length,
        errors: reading.ok ? [] : reading.errors,
        notJoined: apart,
      };
      const line = `${summary.games} games and ${summary.instruments} instruments, no errors`;
      process.stdout.write(`${json === true ? jsonText(summary) : plain(line)}\n`);
      if (json !== true) {
        for (const [one, other] of apart) process.stdout.write(`not joined: ${one} and ${other}\n`);
      }
      if (!reading.ok) process.exitCode = 1;
    });
}

function addImportCommand(catalog: Command): void {
  catalog
    .command('import <file...>')
    .description('add catalog files to a catalog; - is standard input')
    .option('--into <catalog>', 'the catalog, created if missing (PAPERBOOK_CATALOG)')
    .option('--json', 'print JSON')
    .action(async (files: string[], options: { into?: string; json?: boolean }) => {
      const into = options.into ?? process.env.PAPERBOOK_CATALOG;
      if (into === undefined || into === '') {
        throw new UsageError('name the catalog by --into or PAPERBOOK_CATALOG');
      }
      let merged = existsSync(into) ? await readCatalogFile(into) : { games: [], instruments: [] };
      for (const file of files) merged = mergeCatalogs(merged, await readCatalogFile(file));
      const text = checkedText(merged, into);
      await writeWhole(into, (unfinished) => writeFile(unfinished, text));
      const summary = { games: merged.games.length, instruments: merged.instruments.length };
      const line = `${into}: ${summary.games} games and ${summary.instruments} instruments`;
      process.stdout.write(`${options.json === true ? jsonText(summary) : plain(line)}\n`);
    });
}

function addSchemaCommand(catalog: Command): void {
  catalog
    .command('schema')
    .description('print the JSON Schema of a catalog file')
    .action(() => {
      process.stdout.write(`${JSON.stringify(catalogJsonSchema(), null, 2)}\n`);
    });
}
