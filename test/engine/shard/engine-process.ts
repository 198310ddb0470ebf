/** Real shards in a temporary directory, for tests. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { digest } from '../../../engine/audit/digest.ts';
import type { FillModelName } from '../../../engine/base/units.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { PlaceOrder, Tick } from '../../../engine/rules/messages.ts';
import { feedClock } from '../../../engine/shard/callers/clock.ts';
import { hashOfDigests } from '../../../engine/shard/callers/merge-reports.ts';
import { shardOfAccount } from '../../../engine/shard/callers/shard-of.ts';
import { Shards, type ShardsOptions } from '../../../engine/shard/callers/shards.ts';
import { CATALOG, NOON_MS } from '../fixtures.ts';
import { openShard } from './environment.ts';

export function tempDir(t: ExecutionContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Open, with the catalog of the fixtures, unless another one is given, and venue data on. */
export async function openShards(
  dataDir: string,
  options: Partial<ShardsOptions> = {},
  catalog: Catalog = CATALOG,
): Promise<Shards> {
  const engine = new Shards({
    dataDir,
    shards: 1,
    durability: 'sync',
    checkpointEveryFacts: 40,
    queueDepthMax: 1000,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    clock: feedClock(),
    log: { info() {}, error() {} },
    ...options,
  });
  await engine.open().catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  await engine.setCatalog(catalog);
  await engine.broadcast({ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false });
  return engine;
}

/** A trade in a market without a number: a fault of ours, from which nothing may go on. */
export async function breakShard(engine: Shards, account: string): Promise<void> {
  const trade = { kind: 'trade', yesPriceCents: 40, contracts: 1, side: 'yes' } as const;
  engine.tick({ ...trade, atMs: NOON_MS, source: 0, market: 999 });
  const query = { kind: 'portfolio', atMs: NOON_MS, account, organizationSlug: null } as const;
  await engine.call(account, query).catch(() => undefined);
}

/** Open again, after the messages of every start. */
export async function untilReady(engine: Shards): Promise<void> {
  while (engine.state() !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));
  await engine.drained();
}

/**
 * What a stop leaves of shards that got these messages, of which each account's are its shard's. They
 * are made without a thread.
 */
export async function stoppedShards(
  dataDir: string,
  shards: number,
  messages: readonly (Tick | PlaceOrder)[],
): Promise<void> {
  for (let at = 0; at < shards; at++) {
    const shard = await openShard(path.join(dataDir, `shard-${at}`));
    const its = messages.filter((message) => {
      return !('account' in message) || shardOfAccount(message.account, shards) === at;
    });
    const catalog = { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG } as const;
    const refused = shard.run([catalog, ...its]).find((reply) => reply?.ok === false);
    if (refused?.ok === false) throw new Error(refused.message);
    await shard.close();
  }
}

/** The directory of shards that are open, as a crash at this moment would leave it. */
export function crashedCopy(t: ExecutionContext, dataDir: string): string {
  const copy = tempDir(t);
  const filter = (file: string) => path.basename(file) !== 'lock.mdb';
  cpSync(dataDir, copy, { recursive: true, filter });
  return copy;
}

/** The `stateHash` of what the disk has, found as a start finds it. Nobody has it open. */
export async function hashOnDisk(dataDir: string, fillModel?: FillModelName): Promise<string> {
  const digests: string[] = [];
  for (const name of readdirSync(dataDir).sort()) {
    const shard = await openShard(path.join(dataDir, name), 1000, fillModel);
    digests.push(JSON.stringify(digest(shard.state)));
    await shard.abandon();
  }
  return hashOfDigests(digests);
}
