/** `paperbook feed`: inspects, records, merges, serves and replays feed files. Rules X1, F36, R36, N44 (feeds/FORMATS.md). */

import { once } from 'node:events';
import type { Command } from 'commander';
import { bboRows, inspectFeed } from '../../feeds/file/inspect.ts';
import { type MergeCounts, mergedLines, writeMerged } from '../../feeds/file/merge-feeds.ts';
import { startFileVenue } from '../../feeds/file-venue/server.ts';
import { jsonText, plain } from '../base/shown-text.ts';
import { loadConfig } from '../config/config.ts';
import { createLog } from './create-log.ts';
import { namingTheFile, port, speed } from './feed-options.ts';
import { record } from './feed-record.ts';
import { numberAboveZero } from './option-values.ts';
import { addReplayCommand } from './replay-command.ts';
import { stopRequest } from './stop.ts';
import { listOf, show } from './table.ts';

export function addFeedCommands(program: Command): void {
  const feed = program
    .command('feed')
    .description('work with feed files: recorded messages of venues');
  feed
    .command('inspect <file>')
    .description('describe the contents of a feed file, without an engine')
    .option('--json', 'print JSON on one line')
    .option(
      '--bbo <seconds>',
      'print the top of book as CSV, one line every N seconds',
      numberAboveZero,
    )
    .option('--skip-bad', 'count unreadable lines and continue')
    .action(namingTheFile(inspect));
  addReplayCommand(feed);
  addMergeCommand(feed);
  addRecordCommand(feed);
  addSimulateCommand(feed);
}

function addMergeCommand(feed: Command): void {
  feed
    .command('merge <file...>')
    .description('merge feed files in order of time')
    .option('--out <file>', 'the new file, gzipped if it ends in .gz; default: standard output')
    .option('--skip-bad', 'count unreadable lines and continue')
    .option('--json', 'print JSON on one line')
    .action(merge);
}

type MergeFlags = { out?: string; skipBad?: true; json?: true };

async function merge(files: string[], flags: MergeFlags): Promise<void> {
  const counts: MergeCounts = { lines: 0, skippedLines: 0 };
  const lines = mergedLines(files, { skipBad: flags.skipBad === true }, counts);
  if (flags.out === undefined) {
    for await (const line of lines) {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
    }
    if (counts.skippedLines > 0) process.stderr.write(`${counts.skippedLines} lines skipped\n`);
    return;
  }
  await writeMerged(flags.out, lines);
  show(flags, counts, (of) => listOf(Object.entries(of)));
}

function addRecordCommand(feed: Command): void {
  feed
    .command('record <file>')
    .description('record messages of PAPERBOOK_FEEDS venues for the markets of PAPERBOOK_CATALOG')
    .option('--config <file>', 'JSON file with configuration variables as keys')
    .option(
      '--rotate-minutes <n>',
      'start another file after this many minutes; each has its time in its name',
      numberAboveZero,
    )
    .option('--rotate-mb <n>', 'start another file after this many megabytes', numberAboveZero)
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(runRecord));
}

function addSimulateCommand(feed: Command): void {
  feed
    .command('simulate <file>')
    .description('serve a feed file over WebSocket as the recorded venues did')
    .option('--port <n>', 'port on this machine; 0 takes a free port', port, 0)
    .option('--speed <speed>', 'max, or feed seconds a second', speed, 1)
    .option('--skip-bad', 'count unreadable lines and continue')
    .option('--json', 'print JSON on one line')
    .action(namingTheFile(simulate));
}

type SimulateFlags = { port: number; speed: number | 'max'; skipBad?: true; json?: true };

/** Serves until it is stopped: a subscriber keeps the state at the file's end. */
async function simulate(file: string, flags: SimulateFlags): Promise<void> {
  const stopped = stopRequest();
  const served = await startFileVenue({
    path: file,
    port: flags.port,
    speed: flags.speed === 'max' ? null : flags.speed,
    skipBad: flags.skipBad === true,
  });
  try {
    show(flags, { feeds: served.feeds }, ({ feeds }) => `${jsonText({ feeds })}\n`);
    const isPlayed = await Promise.race([
      served.played.then(() => true),
      stopped.then(() => false),
    ]);
    if (isPlayed) process.stderr.write('paperbook: the whole file is sent\n');
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

type InspectOptions = { json?: true; bbo?: number; skipBad?: true };

async function inspect(file: string, { json, bbo, skipBad }: InspectOptions): Promise<void> {
  const options = { skipBad: skipBad === true };
  if (bbo === undefined) {
    const summary = await inspectFeed(file, options);
    process.stdout.write(`${jsonText(summary, json === true ? 0 : 2)}\n`);
    return;
  }
  for await (const row of bboRows(file, bbo, options)) {
    if (!process.stdout.write(`${plain(row)}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
}
