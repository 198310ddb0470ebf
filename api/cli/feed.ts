/** `paperbook feed`: reads and replays feed files. Rules X1, R1 (feeds/FORMATS.md). */
import { type Command, InvalidArgumentError } from 'commander';
import { FeedFileError } from '../../feeds/feed-line.ts';
import { startFileVenue } from '../../feeds/file-venue/server.ts';
import { bboRows, inspectFeed } from '../../feeds/inspect.ts';
import { fillModelOf, loadConfig } from '../config.ts';
import { createLog } from './create-log.ts';
import { record } from './record.ts';
import { replay } from './replay.ts';
import { stopRequest } from './stop.ts';
import type { ReplaySummary } from './summary.ts';
import { listOf, show } from './table.ts';

export function addFeedCommands(program: Command): void {
  const feed = program.command('feed').description('feed files: what venues sent, recorded');
  feed
    .command('inspect <file>')
    .description('what a feed file holds, read without an engine')
    .option('--json', 'print JSON on one line')
    .option('--bbo <seconds>', 'print the top of book as CSV, a line a boundary', wholeNumber)
    .option('--skip-bad', 'count lines that cannot be read and go on')
    .action(namingTheFile(inspect));
  feed
    .command('replay <file>')
    .description('run a feed file, and an orders file, through an engine of its own')
    .requiredOption('--catalog <file>', 'catalog file')
    .option('--orders <file>', 'orders file')
    .option('--shards <n>', 'worker threads', shards, 1)
    .option('--data-dir <dir>', 'keep the data directory here')
    .option('--speed <speed>', 'max, or feed seconds a second', speed, 'max')
    .option('--trades <file>', 'write every trade as CSV')
    .option('--skip-bad', 'count lines that cannot be read and go on')
    .option('--allow-jumps', 'take lines that are more than an hour ahead of those before')
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(runReplay));
  addRecordCommand(feed);
  addSimulateCommand(feed);
}

function addRecordCommand(feed: Command): void {
  feed
    .command('record <file>')
    .description(
      'write what the venues of PAPERBOOK_FEEDS send of the markets of PAPERBOOK_CATALOG',
    )
    .option('--config <file>', 'JSON file with configuration variables as keys')
    .option('--rotate-minutes <n>', 'begin another file, FILE-2, after so long', wholeNumber)
    .option('--rotate-mb <n>', 'begin another file after so many megabytes', wholeNumber)
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(runRecord));
}

function addSimulateCommand(feed: Command): void {
  feed
    .command('simulate <file>')
    .description('serve a feed file over WebSocket, as the venues that it was recorded of')
    .option('--port <n>', 'where it listens on this machine; 0 takes a free port', port, 0)
    .option('--speed <speed>', 'max, or feed seconds a second', speed, 1)
    .option('--skip-bad', 'count lines that cannot be read and go on')
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(simulate));
}

type SimulateFlags = { port: number; speed: number | 'max'; skipBad?: true; json?: true };

/** Serves until it is stopped: who has subscribed keeps what the file ended with. */
async function simulate(file: string, flags: SimulateFlags): Promise<void> {
  const stopped = stopRequest();
  const served = await startFileVenue({
    path: file,
    port: flags.port,
    speed: flags.speed === 'max' ? null : flags.speed,
    skipBad: flags.skipBad === true,
  });
  try {
    show(flags, { feeds: served.feeds }, ({ feeds }) => `${JSON.stringify({ feeds })}\n`);
    const isPlayed = await Promise.race([
      served.played.then(() => true),
      stopped.then(() => false),
    ]);
    if (isPlayed) process.stderr.write('paperbook: all of the file is sent\n');
    await stopped;
  } finally {
    await served.close();
  }
}

type RecordFlags = { config?: string; rotateMinutes?: number; rotateMb?: number; json?: true };

async function runRecord(file: string, flags: RecordFlags): Promise<void> {
  const stopped = stopRequest();
  const config = loadConfig(process.env, flags.config ?? null);
  const rotate = {
    afterMs: flags.rotateMinutes === undefined ? null : flags.rotateMinutes * 60_000,
    afterBytes: flags.rotateMb === undefined ? null : flags.rotateMb * 1_000_000,
  };
  const files = await record({ file, rotate, config, log: createLog(config.logLevel), stopped });
  show(flags, { files }, (found) =>
    found.files.map((each) => listOf(Object.entries(each))).join('\n\n'),
  );
}

/** Errors in a feed file give its line; the operator also needs to know which file it was. */
function namingTheFile<Options>(command: (file: string, options: Options) => Promise<void>) {
  return async (file: string, options: Options): Promise<void> => {
    try {
      await command(file, options);
    } catch (error) {
      throw error instanceof FeedFileError ? new Error(`${file}: ${error.message}`) : error;
    }
  };
}

type InspectOptions = { json?: true; bbo?: number; skipBad?: true };

async function inspect(file: string, { json, bbo, skipBad }: InspectOptions): Promise<void> {
  const options = { skipBad: skipBad === true };
  if (bbo === undefined) {
    const summary = await inspectFeed(file, options);
    process.stdout.write(`${JSON.stringify(summary, null, json === true ? 0 : 2)}\n`);
    return;
  }
  for await (const row of bboRows(file, bbo, options)) {
    if (!process.stdout.write(`${row}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
}

type ReplayFlags = {
  catalog: string;
  orders?: string;
  shards: number;
  dataDir?: string;
  speed: number | 'max';
  trades?: string;
  skipBad?: true;
  allowJumps?: true;
  json?: true;
};

async function runReplay(feed: string, flags: ReplayFlags): Promise<void> {
  const summary = await replay({
    feed,
    catalog: flags.catalog,
    orders: flags.orders ?? null,
    shards: flags.shards,
    dataDir: flags.dataDir ?? null,
    speed: flags.speed === 'max' ? null : flags.speed,
    skipBad: flags.skipBad === true,
    allowJumps: flags.allowJumps === true,
    trades: flags.trades ?? null,
    fillModel: fillModelOf(process.env),
  });
  show(flags, summary, readable);
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

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number above 0.');
  return Number(text);
}

function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (value > 65_535) throw new InvalidArgumentError('a whole number from 0 to 65535.');
  return value;
}

/** As PAPERBOOK_SHARDS. Rule D5 (engine/RULES.md). */
function shards(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 64) throw new InvalidArgumentError('a whole number from 1 to 64.');
  return count;
}

/** Not null for max: commander takes a null for an empty text. */
function speed(text: string): number | 'max' {
  if (text === 'max') return text;
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new InvalidArgumentError('max, or a number above 0.');
  }
  return value;
}
