/** `paperbook fidelity`: how near paper fills come to the market's. Rules X10 to X14, X22 (feeds/FORMATS.md). */
import type { Command } from 'commander';
import { fidelity, ORDERS_A_MOMENT } from '../fidelity/fidelity.ts';
import { fidelityTables } from '../fidelity/fidelity-tables.ts';
import { numberAboveZero, wholeNumber } from './option-values.ts';
import { replay, WHOLE_FILE } from './replay.ts';
import { show, tableOf } from './table.ts';
import { UsageError } from './usage.ts';

const ORDERS = 3600;

/** Its cancel after 10 s is sent by then. */
const LATENCY_MAX_MS = 5000;

type Flags = { seed: number; orders: number; latency: number; json?: true };

export function addFidelityCommand(program: Command): void {
  program
    .command('fidelity <file...>')
    .description('compare paper fills with the market in feed files of order books')
    .option('--seed <n>', 'draws the moments and sides of the orders', wholeNumber, 1)
    .option('--orders <n>', 'resting orders a file', numberAboveZero, ORDERS)
    .option('--latency <ms>', 'orders meet the book so much later, up to 5000', wholeNumber, 0)
    .option('--json', 'print JSON on one line')
    .action(run);
}

async function run(files: string[], flags: Flags): Promise<void> {
  if (flags.latency > LATENCY_MAX_MS) {
    throw new UsageError(`--latency is at most ${LATENCY_MAX_MS} ms, not ${flags.latency}`);
  }
  const found = await fidelity({
    files,
    seed: flags.seed,
    moments: Math.ceil(flags.orders / ORDERS_A_MOMENT),
    latencyMs: flags.latency,
    replay: (options) => replay({ ...WHOLE_FILE, ...options }),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  show(flags, found, (of) =>
    fidelityTables(of)
      .map(({ title, columns, rows }) => {
        const cells = columns.map((name, at) => {
          return [name, (row: (typeof rows)[number]) => row[at]!] as const;
        });
        return `${title}\n${tableOf(rows, cells)}`;
      })
      .join('\n'),
  );
}
