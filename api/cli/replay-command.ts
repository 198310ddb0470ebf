/**
 * `paperbook feed replay`: plays a feed file through its own engine, or into a running server.
 * Rules R1, R38 to R41 (feeds/FORMATS.md).
 */

import type { Command } from 'commander';
import type { FillModelName } from '../../engine/base/units.ts';
import { FILL_MODELS } from '../../engine/base/units.ts';
import { fillModelOf, settleOnOf } from '../config/config.ts';
import { fillModel, instant, names, namingTheFile, shards, speed } from './feed-options.ts';
import { defaultDataDir } from './option-values.ts';
import { replay } from './replay.ts';
import { sendFeed } from './replay-server.ts';
import type { ReplaySummary } from './summary.ts';
import { listOf, show } from './table.ts';
import { UsageError } from './usage.ts';

export function addReplayCommand(feed: Command): void {
  feed
    .command('replay <file>')
    .description('replay a feed file in a separate engine, or into a running server')
    .option('--catalog <file>', 'catalog file for the separate engine')
    .option('--server <url>', 'admin listener of a running server to replay into')
    .option('--close', "with --server: close the file's connections after the replay")
    .option('--orders <file>', 'orders file')
    .option('--shards <n>', 'worker threads (default 1)', shards)
    .option(
      '--data-dir <dir>',
      "keep the data directory here; with --server: the server's directory",
    )
    .option('--speed <speed>', 'max, or feed seconds a second', speed, 'max')
    .option('--from <time>', 'apply earlier lines at once, without their orders', instant)
    .option('--to <time>', 'stop after this time', instant)
    .option('--markets <names>', 'only these markets, separated by commas', names)
    .option(
      '--fill-model <name>',
      `${FILL_MODELS.join(', ')}; default PAPERBOOK_FILL_MODEL`,
      fillModel,
    )
    .option('--trades <file>', 'write every trade as CSV')
    .option('--skip-bad', 'count unreadable lines and continue')
    .option('--allow-jumps', 'accept times that jump, go back or are before 2000')
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(run));
}

type Flags = {
  catalog?: string;
  server?: string;
  close?: true;
  orders?: string;
  shards?: number;
  dataDir?: string;
  speed: number | 'max';
  from?: number;
  to?: number;
  markets?: string[];
  fillModel?: FillModelName;
  trades?: string;
  skipBad?: true;
  allowJumps?: true;
  json?: true;
};

async function run(feed: string, flags: Flags): Promise<void> {
  if (flags.from !== undefined && flags.to !== undefined && flags.from > flags.to) {
    throw new UsageError('--from must not be after --to');
  }
  const common = {
    feed,
    speed: flags.speed === 'max' ? null : flags.speed,
    fromMs: flags.from ?? null,
    toMs: flags.to ?? null,
    markets: flags.markets ?? null,
    skipBad: flags.skipBad === true,
    allowJumps: flags.allowJumps === true,
  };
  if (flags.server !== undefined) {
    refuseOf(flags, '--server', ['catalog', 'orders', 'shards', 'trades', 'fillModel']);
    const dataDir = flags.dataDir ?? defaultDataDir();
    const server = { dataDir, adminUrl: flags.server.replace(/\/+$/, '') };
    const summary = await sendFeed({ ...common, server, close: flags.close === true });
    show(flags, summary, (of) => listOf(Object.entries(of)));
    return;
  }
  if (flags.catalog === undefined) {
    throw new UsageError("required option '--catalog <file>' not specified, nor '--server <url>'");
  }
  refuseOf(flags, 'an engine of its own', ['close']);
  const summary = await replay({
    ...common,
    catalog: flags.catalog,
    orders: flags.orders ?? null,
    shards: flags.shards ?? 1,
    dataDir: flags.dataDir ?? null,
    trades: flags.trades ?? null,
    fillModel: flags.fillModel ?? fillModelOf(process.env),
    settleOn: settleOnOf(process.env),
  });
  show(flags, summary, readable);
}

/** An option that would change nothing is a mistake. */
function refuseOf(flags: Flags, where: string, without: readonly (keyof Flags)[]): void {
  for (const name of without) {
    if (flags[name] === undefined) continue;
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${option} is not for ${where}`);
  }
}

function readable(summary: ReplaySummary): string {
  const { accounts, orders, ...figures } = summary;
  const { refused, ...ended } = orders;
  const accountLines = accounts.map((of) => {
    const { account, balanceDollars, netWorthDollars, realizedPnlDollars } = of;
    const worth = `balance ${balanceDollars}, net worth ${netWorthDollars}`;
    return ['account', `${account}: ${worth}, realized ${realizedPnlDollars}`] as const;
  });
  return listOf([
    ...Object.entries({ ...figures, ...ended }),
    ...Object.entries(refused).map(([code, count]) => ['refused', `${code} ${count}`] as const),
    ...accountLines,
  ]);
}
