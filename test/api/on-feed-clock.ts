/** A server in this process with one shard, on the feed's clock, whose prices may be seen. */
import path from 'node:path';
import type { Log } from '../../api/base/logger.ts';
import { loadConfig } from '../../api/config/config.ts';
import { type Paperbook, startPaperbook, takeDataDir } from '../../api/main.ts';

type Place = {
  /** The data directory goes into it. */
  directory: string;
  catalogFile: string;
  log: Log;
  /** With `PAPERBOOK_SHARDS` where a test is about more than one shard. */
  env: Readonly<Record<string, string>>;
};

/** The owner of a resource: a test, or another collector of ends. */
export type Ending = { teardown(end: () => unknown): void };

/** It ends with the test. */
export async function startOnFeedClock(
  t: Ending,
  { directory, catalogFile, log, env }: Place,
): Promise<{ paperbook: Paperbook; dataDir: string }> {
  const dataDir = path.join(directory, 'data');
  const config = loadConfig(
    {
      PAPERBOOK_PORT: '0',
      PAPERBOOK_ADMIN_PORT: '0',
      PAPERBOOK_SHARDS: '1',
      PAPERBOOK_CLOCK: 'feed',
      PAPERBOOK_VENUE_DATA: 'on',
      PAPERBOOK_DATA_DIR: dataDir,
      PAPERBOOK_CATALOG: catalogFile,
      ...env,
    },
    null,
  );
  const paperbook = await startPaperbook(config, await takeDataDir(config), log);
  t.teardown(() => paperbook.close());
  return { paperbook, dataDir: config.dataDir };
}
