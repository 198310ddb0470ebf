/** Checks that the indexes of a control store and its rows agree, both ways. Rule D71 (engine/RULES.md). */
import type { Problems } from '../../engine/audit/problems.ts';
import type { Uuid } from '../../engine/rules/units.ts';
import { INDEX_NAMES } from './control-format.ts';
import {
  entriesOfKey,
  entriesOfSession,
  entriesOfUser,
  type IndexEntry,
  type IndexName,
} from './control-indexes.ts';
import type { Key } from './keys.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';

/** The rows of a table, in order of keys. */
export type Rows<T> = readonly { key: string; value: T }[];

type Indexed = {
  users: Rows<User>;
  keys: Rows<Key>;
  sessions: Rows<Session>;
  indexes: Record<IndexName, Rows<Uuid>>;
};

export function checkIndexes(found: Indexed, problems: Problems): void {
  const left = Object.fromEntries(
    INDEX_NAMES.map((name) => [
      name,
      new Map(found.indexes[name].map(({ key, value }) => [key, value])),
    ]),
  ) as Record<IndexName, Map<string, Uuid>>;
  const checkRow = (row: string, id: Uuid, entries: readonly IndexEntry[]) => {
    for (const { index, key } of entries) {
      const isThere = left[index].get(key) === id;
      problems.check(isThere, row, `${index} [${key}] does not lead to it`);
      if (isThere) left[index].delete(key);
    }
  };
  for (const { key, value } of found.users) checkRow(`users ${key}`, key, entriesOfUser(value));
  for (const { key, value } of found.keys) checkRow(`keys ${key}`, key, entriesOfKey(value));
  for (const { key, value } of found.sessions) {
    checkRow(`sessions ${key}`, key, entriesOfSession(value));
  }
  for (const name of INDEX_NAMES) {
    for (const [key, id] of left[name]) problems.add(`${name} ${key}: ${id} has no such entry`);
  }
}
