/** Where organizations live, by PAPERBOOK_ORGANIZATIONS_URL. Rules I60 to I66 (api/RULES.md). */

import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import { type Organizations, storedOrganizations } from './organization-access.ts';
import { outsideOrganizations } from './outside-organizations.ts';
import type { ControlStore } from './store.ts';

export function createOrganizations(
  { organizationsUrl }: Pick<Config, 'organizationsUrl'>,
  store: ControlStore,
  log: Log,
): Organizations {
  return organizationsUrl === null
    ? storedOrganizations(store)
    : outsideOrganizations({
        ...{ url: organizationsUrl, log },
        ...{ users: store.users, realism: store.realism },
      });
}
