/** Where a replay's engine keeps its state. Rule R14 (feeds/FORMATS.md). */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDataDir } from '../data-dir.ts';

/** `release` takes whether the replay came to its end. */
export type Directory = { path: string; release(done: boolean): Promise<void> };

/** The data directory of one replay: removed at its end, or kept where one was asked for. */
export async function takeDirectory(dataDir: string | null, shards: number): Promise<Directory> {
  if (dataDir === null) {
    const temporary = mkdtempSync(path.join(tmpdir(), 'paperbook-replay-'));
    const remove = async () => rmSync(temporary, { recursive: true, force: true });
    return { path: temporary, release: remove };
  }
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new Error(`--data-dir ${dataDir} is not empty: a replay starts from nothing`);
  }
  // A server may go on from here: it has to find the shard count.
  const opened = await openDataDir(dataDir, {
    wanted: shards,
    byDefault: shards,
    fromReplay: true,
  });
  return {
    path: opened.path,
    async release(done) {
      // Half a replay is of no use, and would stand in the way of the next one.
      const left = done ? [] : readdirSync(opened.path);
      for (const name of left) rmSync(path.join(opened.path, name), { recursive: true });
      await opened.release();
    },
  };
}
