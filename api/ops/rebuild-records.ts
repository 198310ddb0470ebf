/** Makes the records of a data directory again, while no server runs. Rule Y4 (engine/RULES.md). */
import { type RecordsCounts, rebuildRecords } from '../../engine/records/projection/check.ts';
import { metaOf } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { takeLock } from '../data-dir/directory-lock.ts';

/** Throws `DataDirError` with a message for the operator. */
export async function makeRecordsAnew(dataDir: string): Promise<RecordsCounts> {
  const { shards } = metaOf(dataDir);
  const lock = await takeLock(dataDir).catch((error: Error) => {
    throw new DataDirError(`${dataDir} ${error.message}: stop it first`);
  });
  try {
    return rebuildRecords(dataDir, shards);
  } catch (error) {
    throw new DataDirError(`${dataDir}: the records end where ${(error as Error).message}`);
  } finally {
    await lock.release();
  }
}
