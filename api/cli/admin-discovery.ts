/**
 * `paperbook admin discover`: markets that a running server found at venues. Rules O27, O28
 * (api/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import type { Command } from 'commander';
import type { DiscoveryAnswer } from '../schemas/admin.ts';
import { ask, type Connect, connected } from './admin-connection.ts';
import { type Column, listOf, noneOf, show, tableOf } from './table.ts';

type Discovery = Static<typeof DiscoveryAnswer>;
type Entry = Discovery['entries'][number];

export function addDiscoverCommand(admin: Command): void {
  connected(
    admin.command('discover').description('show markets that the server discovered at venues'),
  )
    .option('--now', 'ask the venues now and wait for their answers')
    .action(async (options: Connect & { now?: true }) => {
      const method = options.now === true ? 'POST' : 'GET';
      const answer = (await ask(options, method, '/admin/discovery')) as Discovery;
      show(options, answer, ({ entries, discovered, retired }) =>
        [
          entries.length === 0
            ? noneOf('entries of PAPERBOOK_DISCOVER')
            : tableOf(entries, COLUMNS),
          listOf(Object.entries({ discovered, retired })),
        ].join('\n'),
      );
    });
}

const COLUMNS: Column<Entry>[] = [
  ['entry', ({ entry, venue }) => `${entry} ${venue}`],
  ['adapter', ({ adapter }) => adapter],
  ['last run', ({ lastRunAt }) => lastRunAt],
  ['found', ({ found }) => found],
  ['added', ({ added }) => added],
  ['changed', ({ changed }) => changed],
  ['joined', ({ joined }) => joined],
  ['apart', ({ apart }) => apart],
  ['address', ({ url }) => url, 'apart'],
  ['follows', ({ series, leagues }) => [...(series ?? []), ...(leagues ?? [])].join(', '), 'apart'],
  ['left out', ({ leftOut }) => wordsOf(leftOut), 'apart'],
  ['not joined', ({ apartGames }) => pairsOf(apartGames), 'apart'],
  ['problem', ({ problem, incomplete }) => problem ?? incompleteWords(incomplete), 'apart'],
];

function wordsOf(leftOut: Entry['leftOut']): string {
  const words = Object.entries(leftOut).map(([reason, count]) => `${count} ${reason}`);
  return words.length === 0 ? '-' : words.join('; ');
}

function pairsOf(apartGames: Entry['apartGames']): string {
  return apartGames.map(([one, other]) => `${one} and ${other}`).join('; ') || '-';
}

function incompleteWords(incomplete: string | null): string {
  return incomplete === null ? '-' : `incomplete: ${incomplete}`;
}
