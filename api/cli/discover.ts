/** `paperbook catalog discover`: creates a catalog from a venue's listing. Rules K20, K30 (feeds/FORMATS.md). */
import { type Command, Option } from 'commander';
import {
  boundedText,
  jsonProblem,
  parseJson,
  readProblem,
} from '../../engine/base/bounded-json.ts';
import { VENUES, type Venue } from '../../engine/base/units.ts';
import type { CatalogFile } from '../../feeds/catalog/catalog-schema.ts';
import { discover } from '../../feeds/venues/discover.ts';
import type { Answer } from '../../feeds/venues/discovered-answers.ts';
import { restPages } from '../../feeds/venues/discovery-rest.ts';
import { plain, plainJson } from '../base/shown-text.ts';
import { checkedText, readCatalogFile } from './catalog-file.ts';
import { UsageError } from './usage.ts';

type DiscoverOptions = {
  venue: Venue;
  from?: string[];
  url?: string;
  into?: string;
  combos?: boolean;
};

export function addDiscoverCommand(catalog: Command): void {
  catalog
    .command('discover')
    .description("make a catalog from a venue's REST API or from saved answers")
    .addOption(
      new Option('--venue <venue>', 'venue of the markets').choices(VENUES).makeOptionMandatory(),
    )
    .option('--from <file...>', 'saved answers of the REST API: markets, events, series')
    .option('--url <address>', 'base URL of the REST API, or a market list with a query')
    .option('--into <catalog>', 'add to this catalog and join its games')
    .option('--combos', 'also take markets that combine several others')
    .action(async (options: DiscoverOptions) => {
      const { venue, from, url, into, combos = false } = options;
      if ((from === undefined) === (url === undefined)) {
        throw new UsageError('give either --from or --url');
      }
      const base = into === undefined ? undefined : await readCatalogFile(into);
      const isShown = url !== undefined && process.stderr.isTTY;
      // One answer is in memory at a time.
      const answers = from === undefined ? restPages(url!, { combos }) : answersIn(from);
      const found = await discover(venue, answers, {
        ...(base === undefined ? {} : { base }),
        combos,
        needsAll: from !== undefined,
        onAnswer: (name, { kept, isFound }) => {
          if (!isFound) say(`${name}: no market, passed over`);
          if (isShown) say(`${kept} markets`);
        },
      });
      const { catalog, incomplete, leftOut, apart, joined } = found;
      const text = checkedText(catalog, 'the found catalog');
      for (const [reason, count] of leftOut) say(`${count} markets left out: ${reason}`);
      for (const [reason, count] of apart) say(`${count} markets joined to no game: ${reason}`);
      for (const [one, other] of found.apartGames) say(`not joined: ${one} and ${other}`);
      if (joined > 0) say(`${joined} listings joined instruments of other venues`);
      if (incomplete !== null) say(`incomplete: ${incomplete}; the markets before it are kept`);
      say(summaryOf(catalog));
      process.stdout.write(plainJson(text));
    });
}

async function* answersIn(files: readonly string[]): AsyncGenerator<Answer> {
  for (const file of files) yield await read(file);
}

async function read(file: string): Promise<Answer> {
  let text: string;
  try {
    text = await boundedText(file);
  } catch (error) {
    throw new Error(`${file}: ${readProblem(error)}`);
  }
  try {
    return { name: file, body: parseJson(text) };
  } catch (error) {
    throw new Error(`${file}: ${jsonProblem(error)}`);
  }
}

function summaryOf({ games, instruments, fees = [] }: CatalogFile): string {
  return `${games.length} games, ${instruments.length} instruments, ${fees.length} lines of fees`;
}

function say(line: string): void {
  process.stderr.write(`${plain(line)}\n`);
}
