/**
 * Users whose address, name or id an operator searches for, a page at a time. The indexes of the
 * control store know whole addresses and names. For a part of one the users are searched, some in
 * each turn of the event loop, so that no request waits for it. Rule O20 (api/RULES.md).
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Uuid } from '../../engine/base/units.ts';
import { isUuid } from '../../engine/rules/ids.ts';
import type { IdPage } from '../base/paging.ts';
import type { UserTable } from './user-table.ts';
import type { User } from './users.ts';

type Users = Pick<UserTable, 'before' | 'get' | 'byEmail' | 'byName'>;
type Wanted = { search: string; before: Uuid | null; limit: number };

const LOOKED_AT_A_TURN = 100;
/** The bound of one page, whatever it finds. */
const LOOKED_AT_MAX = 20_000;

/**
 * The newest first. The first page begins with the users of exactly this address, name or id,
 * beside `limit` others.
 */
export async function searchUsers(
  users: Users,
  { search, before, limit }: Wanted,
): Promise<IdPage<User>> {
  const text = search.toLowerCase();
  const exact = exactly(users, text);
  const first = before === null ? exact : [];
  const found: User[] = [];
  const matches = ({ id, email, displayName }: User) =>
    !exact.some((user) => user.id === id) &&
    (email?.includes(text) || displayName?.toLowerCase().includes(text));
  let cursor = before;
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX; lookedAt += LOOKED_AT_A_TURN) {
    const some = users.before(cursor, LOOKED_AT_A_TURN);
    for (const user of some) {
      cursor = user.id;
      if (matches(user)) found.push(user);
      if (found.length === limit) return { rows: [...first, ...found], next: cursor };
    }
    if (some.length < LOOKED_AT_A_TURN) return { rows: [...first, ...found], next: null };
    await turn();
  }
  return { rows: [...first, ...found], next: cursor };
}

function exactly(users: Users, text: string): User[] {
  const found = [
    isUuid(text) ? users.get(text) : undefined,
    users.byEmail(text),
    users.byName(text),
  ].filter((user) => user !== undefined);
  return found.filter((user, at) => found.findIndex(({ id }) => id === user.id) === at);
}
