/**
 * Checks a whole data directory, with or without a running server: every shard, then the control
 * store, then whether they agree. Rules D14, D16, D97, D98, D106, T237 (engine/RULES.md).
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { Problems } from '../../engine/audit/problems.ts';
import { historyProblems } from '../../engine/history/verify.ts';
import { LogDamage } from '../../engine/log/log-format.ts';
import { segmentName, segmentsIn } from '../../engine/log/segment-file.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { TakenSizes } from '../../engine/verify/taken-sizes.ts';
import type { ShardVerification } from '../../engine/verify/verify.ts';
import { verifyRecords } from '../../engine/verify/verify-records.ts';
import { CHECKED_NAMES, readChecked } from '../data-dir/checked-file.ts';
import { type Meta, metaOf, VERIFIED } from '../data-dir/data-dir.ts';
import { idProblem, isReplays } from '../data-dir/directory-id.ts';
import { POSITIONS_NAME, readPositions } from '../data-dir/shard-positions.ts';
import { readAdminToken } from '../identity/admin-token.ts';
import { lostKeys } from '../read-side/track-record-keys.ts';
import type { ControlAudit } from './audit.ts';
import { ownerlessLines } from './ownerless.ts';
import { type Part, type PartVerifier, verifyParts } from './part-verifier.ts';

type ShardCounts = Omit<
  ShardVerification,
  | 'accountIds'
  | 'marketNames'
  | 'instrumentIds'
  | 'outcomes'
  | 'openMarkets'
  | 'taken'
  | 'notes'
  | 'verified'
>;

export type Verification = {
  /** No problem was found. */
  ok: boolean;
  /** A shard that was never opened has counts of 0. */
  shards: ({ shard: number } & ShardCounts)[];
  control: Pick<ControlAudit, 'users' | 'keys' | 'problems'> | null;
  /** Worth knowing, but not a problem. */
  notes: string[];
  /** One line per problem: the place, and the rule that is broken. */
  problems: string[];
};

export type VerifyOptions = {
  /** Keeps what was verified in the directory, for the next verification. */
  keeps: boolean;
  /** Uses nothing that an earlier one has kept. */
  isWhole: boolean;
  /** The process of several verifications, one at a time, which the caller closes; left out: its own. */
  verifier?: PartVerifier;
};

/**
 * Throws `DataDirError` when `dataDir` is not a data directory. Rules D97, D98 (engine/RULES.md).
 */
export async function verifyDataDir(
  dataDir: string,
  options: VerifyOptions = { keeps: false, isWhole: true },
): Promise<Verification> {
  const meta = metaOf(dataDir);
  // Before the shards, which a server may write on.
  const reached = positionsIn(dataDir);
  const { shards, control } = await readParts(dataDir, meta.shards, options);
  const notes = new Problems();
  const across = new Problems();
  for (const [shard, { found }] of shards.entries()) {
    checkNumbers({ shard, found }, control.found, across);
    const had = reached?.[shard] ?? 0;
    if (found === null || found.facts >= had || found.problems.length > 0) continue;
    if (segmentsIn(logIn(shardPath(dataDir, shard))).length === 0) {
      across.add(`shard-${shard}: log: ${LogDamage.missing(segmentName(0)).message}`);
      continue;
    }
    across.add(
      `shard-${shard}: ends with fact ${found.facts}, and the directory had its fact ${had}: it is of ` +
        'an older copy',
    );
  }
  checkOutcomes(shards, { notes, across });
  checkTaken(shards, across);
  checkOwners(dataDir, meta, shards, control.found, { notes, across });
  checkEntries(dataDir, meta, shards, control, { notes, across });
  checkSmallFiles(dataDir, across);
  const records = checkRecords(dataDir, shards, options, notes);
  const problems = [
    ...shards.flatMap((part, shard) => part.problems.map((line) => `shard-${shard}: ${line}`)),
    ...control.problems.map((line) => `control: ${line}`),
    ...historyProblems(path.join(dataDir, 'history'), meta.historyMadeAtMs ?? null).map(
      (line) => `history: ${line}`,
    ),
    ...records.map((line) => `records: ${line}`),
    ...across.lines(),
  ];
  for (const [shard, { found }] of shards.entries()) {
    for (const line of found?.notes ?? []) notes.add(`shard-${shard}: ${line}`);
  }
  return {
    ok: problems.length === 0,
    shards: shards.map((part, shard) => shardCounts(shard, part)),
    control: control.found === null ? null : controlCounts(control.found),
    notes: notes.lines(),
    problems,
  };
}

type Findings = { notes: Problems; across: Problems };

const shardPath = (dataDir: string, shard: number) => path.join(dataDir, `shard-${shard}`);

type Parts = { shards: Part<ShardVerification>[]; control: Part<ControlAudit> };

/** Large logs are worth a process each. */
const LARGE_LOG_BYTES = 2 ** 25;

async function readParts(
  dataDir: string,
  count: number,
  { keeps, isWhole, verifier: given }: VerifyOptions,
): Promise<Parts> {
  const numbers = Array.from({ length: count }, (_, shard) => shard);
  const verify = (verifier: PartVerifier, shard: number) => {
    const file = path.join(dataDir, VERIFIED, `shard-${shard}`);
    return verifier.verify<ShardVerification>({
      ...{ part: 'shard', path: shardPath(dataDir, shard), shard, shards: count },
      keeping: keeps ? { file, isWhole } : null,
    });
  };
  const readAll = async (verifier: PartVerifier): Promise<Parts> => {
    const isLarge = numbers.some((shard) => logBytes(shardPath(dataDir, shard)) > LARGE_LOG_BYTES);
    const shards: Part<ShardVerification>[] = [];
    if (isLarge && count > 1) {
      // As many at once as there are cores, each in a process of its own.
      const left = [...numbers];
      const work = async () => {
        await verifyParts(async (own) => {
          for (let shard = left.shift(); shard !== undefined; shard = left.shift()) {
            shards[shard] = await verify(own, shard);
          }
        });
      };
      await Promise.all(Array.from({ length: Math.min(availableParallelism(), count) }, work));
    } else {
      for (const shard of numbers) shards.push(await verify(verifier, shard));
    }
    // Last: it holds the numbers before a shard uses them.
    return { shards, control: await verifier.verify<ControlAudit>({ part: 'control', dataDir }) };
  };
  return given === undefined ? await verifyParts(readAll) : await readAll(given);
}

function logBytes(directory: string): number {
  const log = logIn(directory);
  if (!existsSync(log)) return 0;
  return readdirSync(log).reduce((sum, name) => sum + statSync(path.join(log, name)).size, 0);
}

/** Each run compares every row. It folds only the facts that the last run has not. Rule D98. */
function checkRecords(
  dataDir: string,
  shards: readonly Part<ShardVerification>[],
  { keeps, isWhole }: VerifyOptions,
  notes: Problems,
): string[] {
  const logs = (of: 'before' | 'now') => shards.map(({ found }) => found?.verified[of] ?? null);
  const directory = path.join(dataDir, VERIFIED);
  const keeping = keeps ? { directory, isWhole, before: logs('before'), now: logs('now') } : null;
  const found = verifyRecords(dataDir, shards.length, keeping);
  for (const line of found.notes) notes.add(`records: ${line}`);
  return found.problems;
}

/** The control store writes numbers to disk before a shard gets them. */
function checkNumbers(
  { shard, found }: { shard: number; found: ShardVerification | null },
  control: ControlAudit | null,
  across: Problems,
): void {
  if (found === null || control === null) return;
  const numbers = control.numbers ?? { marketNames: [], instrumentIds: [] };
  for (const [what, named, known] of [
    ['market', found.marketNames, numbers.marketNames],
    ['instrument', found.instrumentIds, numbers.instrumentIds],
  ] as const) {
    const at = named.findIndex((name, number) => known[number] !== name);
    if (at === -1) continue;
    const there = known[at] ?? 'nothing';
    across.add(`shard-${shard}: ${what} ${at} is ${named[at]}, and ${there} in the control store`);
  }
}

/** The same holds for users; shards and store must belong to one directory. */
function checkOwners(
  dataDir: string,
  meta: Meta,
  shards: Part<ShardVerification>[],
  control: ControlAudit | null,
  { notes, across }: Findings,
): void {
  if (control === null) return;
  const wrong = idProblem(dataDir, meta, control.directoryId);
  if (wrong !== null) across.add(wrong);
  const owners = new Set(control.owners);
  // A server that continues from a replay's directory has accounts without a registered owner.
  const mayBeNobodys = meta.fromReplay === true || control.hasOutsideOrganizations;
  for (const [shard, { found }] of shards.entries()) {
    const lines = ownerlessLines(found?.accountIds ?? [], (id) => owners.has(id));
    for (const line of lines) (mayBeNobodys ? notes : across).add(`shard-${shard}: ${line}`);
  }
}

/**
 * Every shard gets every result. If a crash kept a result from a shard, it arrives at the next
 * start.
 */
function checkOutcomes(shards: Part<ShardVerification>[], { notes, across }: Findings): void {
  const first = new Map<string, string>();
  for (const [shard, { found }] of shards.entries()) {
    for (const [number, outcome] of (found?.outcomes ?? []).entries()) {
      const name = found!.marketNames[number]!;
      const known = first.get(name);
      if (outcome === null) continue;
      if (known === undefined) first.set(name, outcome);
      else if (known !== outcome)
        across.add(`shard-${shard}: ${name} ended ${outcome}, and ${known}`);
    }
  }
  for (const [shard, { found }] of shards.entries()) {
    for (const number of found?.openMarkets ?? []) {
      const name = found!.marketNames[number]!;
      const known = first.get(name);
      if (known === undefined) continue;
      notes.add(`shard-${shard}: ${name} is open here, and has ended ${known} in another shard`);
    }
  }
}

/** No display gave more than it showed, over all shards. Rule T237 (engine/RULES.md). */
function checkTaken(shards: Part<ShardVerification>[], across: Problems): void {
  const sizes = new TakenSizes();
  for (const { found } of shards) if (found !== null) sizes.addAll(found.taken);
  const names = shards.find(({ found }) => found !== null)?.found?.marketNames ?? [];
  for (const { market, rule } of sizes.problems()) across.add(`${names[market]}, ${rule}`);
}

/** A start creates every shard, and then the numbers: a shard missing after that was lost. */
function checkEntries(
  dataDir: string,
  meta: Meta,
  shards: Part<ShardVerification>[],
  control: Part<ControlAudit>,
  { notes, across }: Findings,
): void {
  for (const [shard, { found, problems }] of shards.entries()) {
    if (found !== null || problems.length > 0) continue;
    if (control.found?.numbers != null) across.add(`shard-${shard}: is missing`);
    else notes.add(`shard-${shard}: is not there yet`);
  }
  for (const name of readdirSync(dataDir)) {
    const number = /^shard-(\d+)$/.exec(name)?.[1];
    if (number === undefined || Number(number) < meta.shards) continue;
    across.add(`${name}: is none of the ${meta.shards} shards of paperbook.json`);
  }
  if (control.found !== null || control.problems.length > 0) return;
  if (isReplays(meta)) notes.add('control: does not exist; a replay makes none');
  else if (shards.some(({ found }) => found !== null)) across.add('control: is missing');
  else notes.add('control: is not there yet');
}

/**
 * The noted places of the shards; null: nobody knows. A damaged file is named with the other small
 * ones.
 */
function positionsIn(dataDir: string): readonly number[] | null {
  try {
    return readPositions(dataDir);
  } catch {
    return null;
  }
}

/** Rule D36. The catalog of the demo is created again at each start. */
function checkSmallFiles(dataDir: string, across: Problems): void {
  const token = path.join(dataDir, 'admin.token');
  const reads: (() => unknown)[] = CHECKED_NAMES.map((name) => () => readChecked(dataDir, name));
  try {
    for (const line of lostKeys(dataDir)) across.add(line);
  } catch {
    // A damaged file is named below.
  }
  if (existsSync(token)) reads.push(() => ({ token: readAdminToken(dataDir) }));
  if (metaOf(dataDir).hasPositions === true && !existsSync(path.join(dataDir, POSITIONS_NAME))) {
    across.add(`${POSITIONS_NAME} is missing`);
  }
  for (const read of reads) {
    try {
      read();
    } catch (error) {
      across.add((error as Error).message);
    }
  }
}

function shardCounts(shard: number, { found, problems }: Part<ShardVerification>) {
  const {
    accountIds,
    marketNames,
    instrumentIds,
    outcomes,
    openMarkets,
    taken,
    notes,
    verified,
    ...counts
  } = found ?? EMPTY;
  return { shard, ...counts, problems };
}

function controlCounts({ users, keys, problems }: ControlAudit) {
  return { users, keys, problems };
}

const EMPTY: ShardVerification = {
  accounts: 0,
  restingOrders: 0,
  openPositions: 0,
  limitOrders: 0,
  marketOrders: 0,
  closedTrades: 0,
  facts: 0,
  checkpointFacts: 0,
  recordsBehind: 0,
  verifiedBefore: 0,
  verified: { before: null, now: null },
  notes: [],
  problems: [],
  accountIds: [],
  marketNames: [],
  instrumentIds: [],
  outcomes: [],
  openMarkets: [],
  taken: new Float64Array(0),
};
