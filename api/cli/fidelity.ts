/** `paperbook fidelity`: how near paper fills come to the market's. Rules X10 to X14 (feeds/FORMATS.md). */
import type { Command } from 'commander';
import { type Fidelity, fidelity, type ModelRate } from '../fidelity/fidelity.ts';
import { PLACES, SIZES } from '../fidelity/virtual-orders.ts';
import { wholeNumber } from './feed-options.ts';
import { replay, WHOLE_FILE } from './replay.ts';
import { show, tableOf } from './table.ts';

const ORDERS = 3600;
/** One of each place and size. */
const ORDERS_A_MOMENT = PLACES.length * SIZES.length;

type Flags = { seed: number; orders: number; json?: true };

export function addFidelityCommand(program: Command): void {
  program
    .command('fidelity <file...>')
    .description('compare paper fills with the market in feed files of order books')
    .option('--seed <n>', 'draws the moments and sides of the orders', wholeNumber, 1)
    .option('--orders <n>', 'resting orders a file', wholeNumber, ORDERS)
    .option('--json', 'print JSON on one line')
    .action(run);
}

async function run(files: string[], flags: Flags): Promise<void> {
  const found = await fidelity({
    files,
    seed: flags.seed,
    moments: Math.ceil(flags.orders / ORDERS_A_MOMENT),
    replay: (options) => replay({ ...WHOLE_FILE, ...options }),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  show(flags, found, readable);
}

function readable({ windows, fillRates, markouts, takerCosts, toldApart }: Fidelity): string {
  const rates = tableOf(fillRates, [
    ['order', ({ place }) => PLACE_NAMES[place]],
    ['contracts', ({ contracts }) => contracts],
    ['within s', ({ withinMs }) => withinMs / 1000],
    ['orders', ({ orders }) => orders],
    ['market %', ({ low, high }) => between(low, high)],
    ['top_of_book', ({ top_of_book }) => modelled(top_of_book)],
    ['book_depth', ({ book_depth }) => modelled(book_depth)],
  ]);
  const moves = tableOf(markouts, [
    ['after s', ({ afterMs }) => afterMs / 1000],
    ['market', ({ market }) => cents(market)],
    ['top_of_book', ({ top_of_book }) => cents(top_of_book)],
    ['book_depth', ({ book_depth }) => cents(book_depth)],
  ]);
  const costs = tableOf(takerCosts, [
    ['contracts', ({ contracts }) => contracts],
    ['orders', ({ orders }) => orders],
    ['top_of_book', ({ top_of_book }) => cents(top_of_book)],
    ['book_depth', ({ book_depth }) => cents(book_depth)],
  ]);
  const told = `${percent(toldApart)}% of the cancels say which order they were`;
  return [
    `Resting orders filled whole, in percent (${windows} ${windows === 1 ? 'file' : 'files'}; ${told})`,
    rates,
    'Cents that the mid moved for the holder after a fill, single contracts that joined the best price',
    moves,
    'Cents a contract that a market order cost more than its levels',
    costs,
  ].join('\n');
}

const PLACE_NAMES = {
  joined: 'at the best price',
  improved: 'one cent better',
  one_below: 'one cent worse',
} as const;

function between(low: number, high: number): string {
  const [from, to] = [percent(low), percent(high)];
  return from === to ? from : `${from}..${to}`;
}

function modelled({ rate, gap, interval }: ModelRate): string {
  const reach = interval === null ? '' : ` ±${percent((interval.high - interval.low) / 2)}`;
  return `${percent(rate)} (${signed(gap * 100, 1)}${reach})`;
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

function cents(value: number | null): string {
  return value === null ? '-' : signed(value, 2);
}

function signed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) > 0 ? `+${text}` : text.replace(/^-(0\.?0*)$/, '$1');
}
