/**
 * The data that a server opens in its data directory, and its reasons to refuse a start. Rules D14
 * (engine/RULES.md), G8 (api/RULES.md).
 */
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import { readChecked } from '../data-dir/checked-file.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { refuseLostControl, settleDirectoryId } from '../data-dir/directory-id.ts';
import { ensureAdminToken } from './admin-token.ts';
import { refuseDamagedKey } from './signing-key.ts';
import { ControlStore } from './store.ts';

type DataParts = {
  config: Pick<Config, 'dataDir' | 'outsideAuth' | 'organizationsUrl'>;
  dataDir: Pick<DataDir, 'exposed'>;
  log: Log;
  stack: CleanupStack;
};

export type OpenData = {
  /** Users, keys, organizations, settings. */
  identity: ControlStore;
  /** The bearer token of the admin listener. */
  adminToken: string;
};

/** Rejects with one line for the operator if the directory cannot be used. */
export async function openData({ config, dataDir, log, stack }: DataParts): Promise<OpenData> {
  for (const line of dataDir.exposed) log.warn({ dataDir: config.dataDir }, line);
  refuseLostControl(config.dataDir);
  refuseDamaged(config);
  const adminToken = ensureAdminToken(config.dataDir);
  const identity = new ControlStore(config.dataDir);
  stack.add(() => identity.close());
  await settleDirectoryId(config.dataDir, identity, Date.now());
  if (config.organizationsUrl !== null) await identity.noteOutsideOrganizations();
  return { identity, adminToken };
}

/** Small files that a start reads later, after it has opened shards. */
function refuseDamaged({ dataDir, outsideAuth }: DataParts['config']): void {
  if (outsideAuth === null) refuseDamagedKey(dataDir);
  const later = [
    ...(['track-record-key.json', 'track-record-keys.json'] as const),
    ...(['contradicted.json', 'market-states.json'] as const),
  ];
  for (const name of later) readChecked(dataDir, name);
}
