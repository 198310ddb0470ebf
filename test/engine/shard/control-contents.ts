/** All that a control store serves. */
import type { ControlStore } from '../../../api/identity/store.ts';
import { NOON_MS } from '../fixtures.ts';

/** Its counts are of that month. */
export const MONTH = '2026-11';

export function contentsOf(store: ControlStore): object {
  const users = [...store.users.values()].map(({ id }) => id);
  return {
    users: [...store.users.values()],
    keys: [...store.keys.values()],
    venueKeys: [...store.venueKeys.values()],
    organizations: [...store.organizations.all.values()],
    memberships: users.map((id) => store.organizations.membershipsOf(id)),
    counts: [...store.requestsOf(MONTH).all()],
    sessions: users.flatMap((id) => {
      return store.sessions.ofUser(id).map((session) => store.sessions.get(session, NOON_MS));
    }),
    passwords: users.map((id) => store.passwords.get(id)),
    subjects: users.map((id) => store.subjects.get('https://issuer', id)),
    values: [store.directoryId, store.hasOutsideOrganizations, store.numbers(), store.switches()],
  };
}
