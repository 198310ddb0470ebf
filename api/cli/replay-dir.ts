/** Where a replay's engine keeps its state. Rule R14 (feeds/FORMATS.md). */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDataDir } from '../data-dir/data-dir.ts';

/** `release` is called with whether the replay was completed. */
export type Directory = { path: string; release(done: boolean): Promise<void> };

/** The data directory of one replay: removed at its end, or kept if the user asked for one. */
export async function takeDirectory(dataDir: string | null, shards: number): Promise<Directory> {
  if (dataDir === null) {
    const temporary = mkdtempSync(path.join(tmpdir(), 'paperbook-replay-'));
    const remove = async () => rmSync(temporary, { recursive: true, force: true });
    return { path: temporary, release: remove };
  }
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new Error(`--data-dir ${dataDir} is not empty: a replay starts from nothing`);
  }
  // A server may continue on this directory, and needs the shard count.
  const opened = await openDataDir(dataDir, {
    wanted: shards,
    byDefault: shards,
    fromReplay: true,
  });
  return {
    path: opened.path,
    async release(done) {
      // Half a replay is useless, and would block the next one.
      const left = done ? [] : readdirSync(opened.path);
      for (const name of left) rmSync(path.join(opened.path, name), { recursive: true });
      await opened.release();
    },
  };
}
