/**
 * `node bench/main.ts [SUITE...] [--stream FILE] [--json FILE] [--quick]`, or `fidelity FILE...`:
 * measures, prints a table per suite, and writes the figures. Without a name every suite runs except `profile`, which has no figures.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadNow, machine, machineText } from './lib/machine.ts';
import { type Figures, type Suite, tableText } from './lib/report.ts';
import { backtest } from './suites/backtest.ts';
import { coverage } from './suites/coverage.ts';
import { entry } from './suites/entry.ts';
import { feed } from './suites/feed.ts';
import { type FidelitySizes, fills } from './suites/fidelity.ts';
import { growth } from './suites/growth.ts';
import { history } from './suites/history.ts';
import { http } from './suites/http.ts';
import { lists } from './suites/lists.ts';
import { match, matchStream } from './suites/match.ts';
import { memory } from './suites/memory.ts';
import { nodes } from './suites/nodes.ts';
import { overload } from './suites/overload.ts';
import { page } from './suites/page.ts';
import { profile } from './suites/profile.ts';
import { queue } from './suites/queue.ts';
import { records } from './suites/records.ts';
import { recovery } from './suites/recovery.ts';
import { replayed } from './suites/replay.ts';
import { scale } from './suites/scale.ts';
import { search } from './suites/search.ts';
import { settlement } from './suites/settle.ts';
import { shard } from './suites/shard.ts';
import { stream } from './suites/stream.ts';
import { tick } from './suites/tick.ts';
import { venueApi } from './suites/venue-api.ts';
import { verify } from './suites/verify.ts';

/** A suite with any type of sizes. */
type AnySuite = { name: string; about: string; start: Start };
type Start = (quick: boolean, progress: (line: string) => void) => ReturnType<Suite<never>['run']>;

const SUITES: readonly AnySuite[] = [
  named(match),
  named(tick),
  named(queue),
  named(fills),
  named(shard),
  named(http),
  named(entry),
  named(growth),
  named(stream),
  named(venueApi),
  named(memory),
  named(recovery),
  named(verify),
  named(scale),
  named(nodes),
  named(overload),
  named(search),
  named(lists),
  named(history),
  named(replayed),
  named(feed),
  named(backtest),
  named(settlement),
  named(records),
  named(coverage),
  named(page),
  named(profile),
];

const USAGE = [
  'usage: npm run bench -- [SUITE...] [--stream FILE] [--json FILE] [--quick]',
  '       npm run bench -- fidelity FILE... [--json FILE] [--quick]',
  ...SUITES.map(({ name, about }) => `  ${name.padEnd(9)} ${about}`),
  '  --stream FILE  with match alone: a stream of flash1-dev/matching-engine-benchmark instead',
  '  --json FILE  write the figures; other suites already in FILE stay',
  '  --quick      small sizes: to look, not to quote',
].join('\n');

/** The content of the `--json` file, by suite: when and where the figures were measured. */
type Taken = {
  takenAt: string;
  quick: boolean;
  machine: string;
  loadBefore: number;
  figures: Figures;
};

await main();

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const { json, quick, stream: streamFile } = values;
  const chosen =
    streamFile === undefined ? chosenSuites(positionals) : [ofStream(positionals, streamFile)];
  out(`machine: ${machineText(machine())}; load before: ${loadNow()}`);
  if (quick) out('quick sizes: to look, not to quote');
  for (const { name, start } of chosen) {
    const loadBefore = loadNow();
    const { tables, figures } = await start(quick, (line) => process.stderr.write(`${line}\n`));
    for (const table of tables) out(`\n${tableText(table)}`);
    if (json === undefined || Object.keys(figures).length === 0) continue;
    const takenAt = new Date().toISOString();
    writeFigures(json, name, {
      takenAt,
      quick,
      machine: machineText(machine()),
      loadBefore,
      figures,
    });
  }
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'string' },
        stream: { type: 'string' },
        quick: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return misused((error as Error).message);
  }
}

function chosenSuites(names: readonly string[]): readonly AnySuite[] {
  if (names.length === 0) return SUITES.filter(({ name }) => name !== profile.name);
  const after = names.slice(1).filter((name) => SUITES.every((suite) => suite.name !== name));
  if (names[0] === fills.name && after.length > 0) return [ofRecordings(names.slice(1))];
  return names.map(
    (name) => SUITES.find((suite) => suite.name === name) ?? misused(`there is no suite ${name}`),
  );
}

/** What follows `fidelity` are recordings, unless all of it are names of suites. */
function ofRecordings(files: readonly string[]): AnySuite {
  const ofFiles = (sizes: FidelitySizes) => ({ ...sizes, files });
  return named({ ...fills, full: ofFiles(fills.full), quick: ofFiles(fills.quick) });
}

function ofStream(names: readonly string[], file: string): AnySuite {
  const isMatch = names.length === 1 && names[0] === match.name;
  if (!isMatch) misused('--stream is for match alone');
  const start: Start = (quick, progress) => {
    return matchStream(file, (quick ? match.quick : match.full).rounds, progress);
  };
  return { name: `${match.name} ${path.basename(file)}`, about: match.about, start };
}

function writeFigures(file: string, suite: string, taken: Taken): void {
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
  writeFileSync(file, `${JSON.stringify({ ...known, [suite]: taken }, rounded, 2)}\n`);
}

/** Six digits are more than any measurement here has. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
}

function named<Sizes>({ name, about, full, quick, run }: Suite<Sizes>): AnySuite {
  return { name, about, start: (isQuick, progress) => run(isQuick ? quick : full, progress) };
}

function misused(message: string): never {
  process.stderr.write(`bench: ${message}\n${USAGE}\n`);
  process.exit(2);
}

function out(text: string): void {
  process.stdout.write(`${text}\n`);
}
