/** `paperbook reconcile`: real orders beside what paper says of them. Rules X16 to X20 (feeds/FORMATS.md). */
import type { Command } from 'commander';
import {
  type Filled,
  type Reconciled,
  type Reconciliation,
  reconcile,
} from '../fidelity/reconcile.ts';
import { replay, WHOLE_FILE } from './replay.ts';
import { accountIdOf } from './replay-ids.ts';
import { listOf, show, tableOf } from './table.ts';

type Flags = { fills: string; feed: string; catalog: string; json?: true };

export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description('replay orders that you really had, and compare paper fills with the real ones')
    .requiredOption('--fills <csv>', 'your fills at the venue')
    .requiredOption('--feed <file>', 'feed file of that time')
    .requiredOption('--catalog <file>', 'catalog file of its markets')
    .option('--json', 'print JSON on one line')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { fills, feed, catalog } = flags;
  const found = await reconcile({
    ...{ fills, feed, catalog, accountIdOf },
    play: (options) => replay({ ...WHOLE_FILE, ...options }),
  });
  show(flags, found, readable);
}

function readable({ orders, summary }: Reconciliation): string {
  const { contracts, feeDollars, gap } = summary;
  const orderTable = tableOf(orders, [
    ['order', ({ orderId, line }) => orderId ?? `line ${line}`],
    ['market', ({ ticker }) => ticker],
    ['wanted', wantedOf],
    ['real', ({ real }) => filledOf(real)],
    ['paper', ({ paper }) => filledOf(paper)],
    ['real fee', ({ real }) => real.feeDollars.toFixed(4)],
    ['paper fee', ({ paper }) => paper.feeDollars.toFixed(4)],
    ['filled at', ({ real }) => real.at],
    ['paper s later', ({ gap: of }) => (of === null ? '-' : (of.ms / 1000).toFixed(3))],
    ['result', ({ outcome, reason }) => (reason === null ? RESULTS[outcome] : reason)],
  ]);
  const notPlayed = Object.entries(summary.notPlayed).map(([why, count]) => `${why} ${count}`);
  const figures = listOf([
    ['Orders', summary.orders],
    ['Filled by paper', `${summary.filled}, in part ${summary.partly}, missed ${summary.missed}`],
    ['Not played', notPlayed.join(', ') || '-'],
    ['Contracts', `real ${contracts.real}, paper ${contracts.paper}`],
    ['Fees', `real $${feeDollars.real.toFixed(4)}, paper $${feeDollars.paper.toFixed(4)}`],
    ['Paper cost more', gap === null ? '-' : `${gap.costCents} cents a contract`],
    ['Fees of paper higher', gap === null ? '-' : `${gap.feeCents} cents a contract`],
    ['Paper later (median)', gap === null ? '-' : `${gap.ms / 1000} s`],
  ]);
  const moves = tableOf(summary.markouts, [
    ['after s', ({ afterMs }) => afterMs / 1000],
    ['filled', ({ filled }) => filled],
    ['missed', ({ missed }) => missed],
    ['filled less missed', ({ gap: of }) => of],
  ]);
  const title =
    'Cents that the mid moved for the holder after the real fills, of the contracts that paper filled or missed';
  return [orderTable, figures, `${title}\n${moves}`].join('\n');
}

const RESULTS = {
  filled: 'filled',
  partly: 'in part',
  missed: 'missed',
  not_played: 'not played',
} as const;

function wantedOf({ action, side, real, limitDollars }: Reconciled): string {
  const limit = limitDollars === null ? 'at market' : `at ${limitDollars}`;
  return `${action} ${real.contracts} ${side} ${limit}`;
}

function filledOf({ contracts, priceDollars }: Filled): string {
  return priceDollars === null ? '-' : `${contracts} at ${Number(priceDollars.toFixed(4))}`;
}
