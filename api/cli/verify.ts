/** `paperbook verify`: checks every invariant of a data directory. Rules D16, D97 (engine/RULES.md). */
import type { Command } from 'commander';
import { type Verification, verifyDataDir } from '../ops/verify.ts';
import { defaultDataDir } from './option-values.ts';
import { show, wrapped } from './table.ts';

type Options = { dataDir: string; whole?: boolean; json?: true };

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check every invariant of a data directory, in use or not; exit 1 on a breach')
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .option('--whole', 'check again what an earlier run has checked')
    .option('--json', 'print JSON')
    .action(async ({ dataDir, whole = false, ...options }: Options) => {
      const found = await verifyDataDir(dataDir, { keeps: true, isWhole: whole });
      show(options, found, (answer) => wrapped(textOf(answer)));
      if (!found.ok) process.exitCode = 1;
    });
}

function textOf({ shards, control, notes, problems }: Verification): string {
  const parts = shards.map(
    (shard) =>
      `shard-${shard.shard}: ${shard.accounts} accounts, ${shard.restingOrders} resting orders, ` +
      `${shard.openPositions} open positions, ${shard.limitOrders + shard.marketOrders} orders, ` +
      `${shard.closedTrades} closed trades, ${shard.facts} facts, checkpoint at fact ${shard.checkpointFacts}, ` +
      `${shard.recordsBehind} records after it` +
      (shard.verifiedBefore === 0
        ? ''
        : `; an earlier run checked facts 1 to ${shard.verifiedBefore}: this one compared their bytes ` +
          'and their index alone (--whole checks them again)'),
  );
  if (control !== null) parts.push(`control: ${control.users} users, ${control.keys} keys`);
  const result =
    problems.length === 0
      ? ['every invariant holds']
      : [`${problems.length === 1 ? '1 breach' : `${problems.length} breaches`}:`, ...problems];
  return [...parts, ...notes.map((note) => `note: ${note}`), ...result].join('\n');
}
