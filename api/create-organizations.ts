/** Where organizations live, by PAPERBOOK_ORGANIZATIONS_URL. Rules I60 to I66 (api/RULES.md). */
import type { Config } from './config.ts';
import type { ControlStore } from './identity/store.ts';
import type { Log } from './log.ts';
import { type Organizations, storedOrganizations } from './organizations.ts';
import { outsideOrganizations } from './outside-organizations.ts';

export function createOrganizations(
  { organizationsUrl }: Pick<Config, 'organizationsUrl'>,
  store: ControlStore,
  log: Log,
): Organizations {
  return organizationsUrl === null
    ? storedOrganizations(store)
    : outsideOrganizations({ url: organizationsUrl, users: store.users, log });
}
