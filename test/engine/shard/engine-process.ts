/** Real shards in a temporary directory, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Catalog } from '../../../engine/core/messages.ts';
import { feedClock } from '../../../engine/shard/clock.ts';
import { Shards, type ShardsOptions } from '../../../engine/shard/shards.ts';
import { CATALOG, NOON_MS } from '../fixtures.ts';

export function tempDir(t: ExecutionContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Open, with the catalog of the fixtures, unless told another one, and venue data on. */
export async function openShards(
  dataDir: string,
  options: Partial<ShardsOptions> = {},
  catalog: Catalog = CATALOG,
): Promise<Shards> {
  const engine = new Shards({
    dataDir,
    shards: 1,
    durability: 'sync',
    checkpointEveryEvents: 40,
    queueDepthMax: 1000,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    clock: feedClock(),
    log: { info() {}, error() {} },
    ...options,
  });
  await engine.open();
  await engine.setCatalog(catalog);
  await engine.broadcast({ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false });
  return engine;
}
