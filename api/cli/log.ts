/**
 * `paperbook log`: the facts of a data directory, with or without a running server. It reads only
 * the log and changes nothing. Rule U11 (api/RULES.md), rules D22, D31 (engine/RULES.md).
 */
import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import type { Uuid } from '../../engine/base/units.ts';
import { LogDamage, LogMismatch } from '../../engine/log/log-format.ts';
import { shownFact } from '../../engine/readers/fact.ts';
import { followFacts, type LoggedFact, readFacts } from '../../engine/readers/read-facts.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import { shardOfAccount } from '../../engine/shard/callers/shard-of.ts';
import { jsonText } from '../base/shown-text.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { FACT_HEADING, factLine } from './fact-text.ts';
import { defaultDataDir, wholeNumber } from './option-values.ts';
import { stopRequest } from './stop.ts';
import { columnsOfOutput } from './table.ts';
import { UsageError } from './usage.ts';

type LogFlags = {
  dataDir: string;
  shard?: number;
  after: number;
  account?: Uuid;
  follow?: true;
  json?: true;
};

export function addLogCommand(program: Command): void {
  program
    .command('log')
    .description('print the facts of a data directory, one per line; the server may run')
    .option('--data-dir <dir>', 'data directory', defaultDataDir())
    .option('--shard <n>', 'only facts of this shard', wholeNumber)
    .option('--after <seq>', 'only facts of a shard after this number', wholeNumber, 0)
    .option('--account <id>', 'only facts of this account', accountId)
    .option('--follow', 'print new facts until Ctrl-C')
    .option('--json', 'print JSON, one object per line')
    .action(printLog);
}

async function printLog(flags: LogFlags): Promise<void> {
  const shards = shardsOf(flags);
  const stop = new AbortController();
  if (flags.follow === true) void stopRequest().then(() => stop.abort());
  if (flags.json !== true) await printLine(FACT_HEADING);
  const last = new Map(shards.map((shard) => [shard, flags.after]));
  for (const fact of byTime(shards.map((shard) => factsOf(flags, shard)))) {
    if (stop.signal.aborted) return;
    last.set(fact.shard, fact.number);
    await print(flags, fact);
  }
  if (flags.follow !== true) return;
  await Promise.all(
    shards.map(async (shard) => {
      try {
        const facts = followFacts({ dataDir: flags.dataDir, shard }, last.get(shard)!, stop);
        for await (const fact of facts) await print(flags, fact);
      } catch (error) {
        // The remaining ones would keep the process alive.
        stop.abort();
        throw ofShard(shard, error as Error);
      }
    }),
  );
}

function* factsOf({ dataDir, after }: LogFlags, shard: number): Generator<LoggedFact> {
  try {
    yield* readFacts({ dataDir, shard }, after);
  } catch (error) {
    throw ofShard(shard, error as Error);
  }
}

/** Adds the shard to an error that names only the file of its log. */
function ofShard(shard: number, error: Error): Error {
  const isOfLog = error instanceof LogDamage || error instanceof LogMismatch;
  return isOfLog ? new Error(`shard-${shard}/log/${error.message}`) : error;
}

/** The shards to read. The facts of an account are in one shard only. */
function shardsOf({ dataDir, shard, account }: LogFlags): number[] {
  const { shards } = metaOf(dataDir);
  if (shard !== undefined && shard >= shards) {
    throw new UsageError(`--shard ${shard}: ${dataDir} has shards 0 to ${shards - 1}`);
  }
  const home = account === undefined ? undefined : shardOfAccount(account, shards);
  if (home !== undefined && shard !== undefined && home !== shard) {
    throw new UsageError(`--shard ${shard}: account ${account} is in shard ${home}`);
  }
  const only = shard ?? home;
  return only === undefined ? [...Array(shards).keys()] : [only];
}

/** Each shard's facts stay in order; of the shards' next facts the earliest is first. */
function* byTime(sources: Generator<LoggedFact>[]): Generator<LoggedFact> {
  const next = sources.map((source) => ({ source, result: source.next() }));
  for (;;) {
    const left = next.filter(({ result }) => result.done !== true);
    if (left.length === 0) return;
    const first = left.reduce((best, other) => (atMsOf(other) < atMsOf(best) ? other : best));
    yield first.result.value as LoggedFact;
    first.result = first.source.next();
  }
}

function atMsOf({ result }: { result: IteratorResult<LoggedFact> }): number {
  return result.value.fact.atMs;
}

async function print({ account, json }: LogFlags, fact: LoggedFact): Promise<void> {
  const isOf = 'account' in fact.fact && fact.fact.account === account;
  if (account !== undefined && !isOf) return;
  await printLine(json === true ? jsonText(shownFact(fact)) : factLine(fact, columnsOfOutput()));
}

async function printLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}

function accountId(text: string): Uuid {
  if (!isUuid(text)) throw new InvalidArgumentError('It is not a uuid.');
  return text.toLowerCase();
}
