/**
 * Checks a whole data directory, with or without a running server: every shard, then the control
 * store, then whether they agree. Rules D14, D16 (engine/RULES.md).
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Problems } from '../../engine/audit/problems.ts';
import { historyProblems } from '../../engine/history/verify.ts';
import { recordsProblems } from '../../engine/records/projection/check.ts';
import type { ShardVerification } from '../../engine/verify/verify.ts';
import { CHECKED_NAMES, readChecked } from '../data-dir/checked-file.ts';
import { type Meta, metaOf } from '../data-dir/data-dir.ts';
import { idProblem, isReplays } from '../data-dir/directory-id.ts';
import { POSITIONS_NAME, readPositions } from '../data-dir/shard-positions.ts';
import { readAdminToken } from '../identity/admin-token.ts';
import { lostKeys } from '../read-side/track-record-keys.ts';
import type { ControlAudit } from './audit.ts';
import { ownerlessLines } from './ownerless.ts';
import { type Part, verifyParts } from './part-verifier.ts';

type ShardCounts = Omit<
  ShardVerification,
  'accountIds' | 'marketNames' | 'instrumentIds' | 'outcomes' | 'openMarkets'
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

/** Throws `DataDirError` when `dataDir` is not a data directory. */
export async function verifyDataDir(dataDir: string): Promise<Verification> {
  const meta = metaOf(dataDir);
  // Before the shards, which a server may write on.
  const reached = positionsIn(dataDir);
  const { shards, control } = await readParts(dataDir, meta.shards);
  const notes = new Problems();
  const across = new Problems();
  for (const [shard, { found }] of shards.entries()) {
    checkNumbers({ shard, found }, control.found, across);
    const had = reached?.[shard] ?? 0;
    if (found === null || found.facts >= had || found.problems.length > 0) continue;
    across.add(
      `shard-${shard}: ends with fact ${found.facts}, and the directory had its fact ${had}: it is of ` +
        'an older copy',
    );
  }
  checkOutcomes(shards, { notes, across });
  checkOwners(dataDir, meta, shards, control.found, { notes, across });
  checkEntries(dataDir, meta, shards, control, { notes, across });
  checkSmallFiles(dataDir, across);
  const problems = [
    ...shards.flatMap((part, shard) => part.problems.map((line) => `shard-${shard}: ${line}`)),
    ...control.problems.map((line) => `control: ${line}`),
    ...historyProblems(path.join(dataDir, 'history'), meta.historyMadeAtMs ?? null).map(
      (line) => `history: ${line}`,
    ),
    ...recordsProblems(dataDir, meta.shards).map((line) => `records: ${line}`),
    ...across.lines(),
  ];
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

function readParts(dataDir: string, count: number): Promise<Parts> {
  return verifyParts(async (verifier) => {
    const shards: Part<ShardVerification>[] = [];
    for (let shard = 0; shard < count; shard++) {
      const directory = shardPath(dataDir, shard);
      shards.push(await verifier.verify({ part: 'shard', path: directory, shard, shards: count }));
    }
    // Last: it holds the numbers before a shard uses them.
    return { shards, control: await verifier.verify({ part: 'control', dataDir }) };
  });
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
  const { accountIds, marketNames, instrumentIds, outcomes, openMarkets, ...counts } =
    found ?? EMPTY;
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
  problems: [],
  accountIds: [],
  marketNames: [],
  instrumentIds: [],
  outcomes: [],
  openMarkets: [],
};
