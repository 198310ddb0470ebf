/**
 * The data that a server opens in its data directory, and its reasons to refuse a start. Rules D14
 * (engine/RULES.md), A60 (api/RULES.md).
 */
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import { checkTlsFiles } from '../config/tls-files.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { refuseLostControl, settleDirectoryId } from '../data-dir/directory-id.ts';
import { ensureAdminToken } from './admin-token.ts';
import { ControlStore } from './store.ts';

type DataParts = {
  config: Pick<Config, 'dataDir' | 'tls' | 'organizationsUrl'>;
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

/** Rejects with one line for the operator if the directory or a TLS file cannot be used. */
export async function openData({ config, dataDir, log, stack }: DataParts): Promise<OpenData> {
  for (const line of dataDir.exposed) log.warn({ dataDir: config.dataDir }, line);
  refuseLostControl(config.dataDir);
  checkTlsFiles(config.tls);
  const adminToken = ensureAdminToken(config.dataDir);
  const identity = new ControlStore(config.dataDir);
  stack.add(() => identity.close());
  await settleDirectoryId(config.dataDir, identity, Date.now());
  if (config.organizationsUrl !== null) await identity.noteOutsideOrganizations();
  return { identity, adminToken };
}
