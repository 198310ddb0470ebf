/** Real shards in a temporary directory, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import { feedClock } from '../../../engine/shard/callers/clock.ts';
import { Shards, type ShardsOptions } from '../../../engine/shard/callers/shards.ts';
import { CATALOG, NOON_MS } from '../fixtures.ts';

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
