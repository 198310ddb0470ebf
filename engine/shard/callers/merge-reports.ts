/** Merges the reports of all shards. Rules D11, D12 (engine/RULES.md). */
import { createHash } from 'node:crypto';
import type { AuditReport } from '../../audit/audit.ts';
import type { digest } from '../../audit/digest.ts';
import { invariant } from '../../base/invariant.ts';
import type { EpochMs, SourceNumber } from '../../base/units.ts';
import type { ResultTick, Settled, SettleMarket } from '../../rules/messages.ts';
import type { OpenReport } from '../store/open-report.ts';

/** `isFollowing`: another node leads the shard, which was checked as this node has it. */
export type ShardAudit = AuditReport & { isFollowing: boolean };

/** `following`: the shards that were checked as this node has them. Rule O46 (api/RULES.md). */
export type AuditOfShards = AuditReport & { following: number[] };

/** @param reports of each shard */
export function sumOfAudits(reports: readonly ShardAudit[]): AuditOfShards {
  const total: AuditOfShards = {
    ...{ accounts: 0, restingOrders: 0, openPositions: 0 },
    ...{ problems: [], following: [] },
  };
  for (const [shard, report] of reports.entries()) {
    if (report.isFollowing) total.following.push(shard);
    total.accounts += report.accounts;
    total.restingOrders += report.restingOrders;
    total.openPositions += report.openPositions;
    total.problems.push(...report.problems);
  }
  return total;
}

/** @param texts the answer of each shard to a settlement */
export function sumOfSettled(texts: readonly string[]): string {
  const total: Settled = {
    isNew: false,
    ...{ settledTrades: 0, correctedTrades: 0, canceledOrders: 0 },
  };
  for (const text of texts) {
    const { isNew, settledTrades, correctedTrades, canceledOrders } = JSON.parse(text) as Settled;
    total.isNew ||= isNew;
    total.settledTrades += settledTrades;
    total.correctedTrades += correctedTrades;
    total.canceledOrders += canceledOrders;
  }
  return JSON.stringify(total);
}

/**
 * sha-256 over results, game statuses and the accounts' canonical lines: equal for equal
 * histories. Rule D12 (engine/RULES.md).
 *
 * @param texts the answer of each shard to a digest query
 */
export function hashOfDigests(texts: readonly string[]): string {
  const digests = texts.map((text) => JSON.parse(text) as ReturnType<typeof digest>);
  const accounts = digests.flatMap((shard) => shard.accounts);
  accounts.sort((a, b) => (a.account < b.account ? -1 : 1));
  const hash = createHash('sha256');
  invariant(digests.length > 0, 'a hash is asked for of no shard');
  for (const line of digests[0]!.referenceData) hash.update(line).update('\n');
  let last = '';
  for (const { account, line } of accounts) {
    invariant(account !== last, 'two shards have one account');
    last = account;
    hash.update(line).update('\n');
  }
  return hash.digest('hex');
}

/**
 * A crash may happen between the commits of two shards, and few venues send a result again. A shard
 * that is out of order may lack any result. The ticks carry source 0, which has no quote yet that
 * they could revive.
 */
export function unevenResults(reports: (OpenReport | null)[], atMs: EpochMs): ResultTick[] {
  const all = reports.flatMap((report) => (report === null ? [] : [report.results]));
  const markets = Math.max(0, ...all.map((results) => results.length));
  const ticks: ResultTick[] = [];
  for (let market = 0; market < markets; market++) {
    const known = all.find((results) => results[market] != null)?.[market];
    if (known == null || reports.every((report) => report?.results[market] != null)) continue;
    ticks.push({ kind: 'result', atMs, source: 0 as SourceNumber, market, ...known });
  }
  return ticks;
}

/** By market number, the highest correction count of any shard. */
export function correctionsIn(reports: (OpenReport | null)[]): number[] {
  const most: number[] = [];
  for (const report of reports) {
    for (const [market, count] of (report?.corrections ?? []).entries()) {
      most[market] = Math.max(most[market] ?? 0, count);
    }
  }
  return most;
}

/**
 * The last corrections that some shards lack because a crash happened in between. Rule S25
 * (engine/RULES.md).
 */
export function unevenCorrections(reports: (OpenReport | null)[], atMs: EpochMs): SettleMarket[] {
  const commands: SettleMarket[] = [];
  for (const [market, correction] of correctionsIn(reports).entries()) {
    if (reports.every((report) => (report?.corrections[market] ?? 0) === correction)) continue;
    const has = reports.find((report) => report?.corrections[market] === correction);
    const result = has?.results[market];
    invariant(result != null, 'a market was corrected that has no result');
    commands.push({ kind: 'settle', atMs, market, ...result, correction });
  }
  return commands;
}
