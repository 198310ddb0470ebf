/** Checks that the indexes of a control store and its rows agree, both ways. Rule D71 (engine/RULES.md). */
import type { Problems } from '../../engine/audit/problems.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { INDEX_NAMES } from '../identity/control-format.ts';
import {
  entriesOfKey,
  entriesOfSession,
  entriesOfUser,
  type IndexName,
} from '../identity/control-indexes.ts';
import { ControlDamage, type ControlTable } from '../identity/control-table.ts';
import type { ControlTables } from '../identity/control-tables.ts';
import type { Key } from '../identity/keys.ts';
import type { Session } from '../identity/sessions.ts';
import type { User } from '../identity/users.ts';

/** The rows of a table, in order of keys. */
export type Rows<T> = readonly { key: string; value: T }[];

type IndexedRows = { users: Rows<User>; keys: Rows<Key>; sessions: Rows<Session> };

/** In one transaction with the reading of the rows. */
export function checkIndexes(tables: ControlTables, rows: IndexedRows, problems: Problems): void {
  const leading = new Map<IndexName, number>(INDEX_NAMES.map((name) => [name, 0]));
  for (const { row, id, entries } of indexedRows(rows)) {
    for (const { index, key, isShared } of entries) {
      const isThere = idAt(tables[index], key) === id;
      const isFound = isThere || isShared === true;
      problems.check(isFound, `${row} ${id}`, `${index} [${key}] does not lead to it`);
      if (isThere) leading.set(index, leading.get(index)! + 1);
    }
  }
  for (const name of INDEX_NAMES) {
    const stored = countOf(tables[name], problems);
    // Each entry that a row has exists. So a higher count means entries without a row.
    if (stored !== leading.get(name)) nameOthers(name, tables[name], rows, problems);
  }
}

function* indexedRows({ users, keys, sessions }: IndexedRows) {
  for (const { key: id, value } of users) yield { row: 'users', id, entries: entriesOfUser(value) };
  for (const { key: id, value } of keys) yield { row: 'keys', id, entries: entriesOfKey(value) };
  for (const { key: id, value } of sessions) {
    yield { row: 'sessions', id, entries: entriesOfSession(value) };
  }
}

/** Undefined also if the entry is damaged: the count of its table shows it. */
function idAt(table: ControlTable<Uuid>, key: string): Uuid | undefined {
  try {
    return table.get(key);
  } catch (error) {
    if (error instanceof ControlDamage) return undefined;
    throw error;
  }
}

/** How many entries there are, up to the first damaged one. */
function countOf(table: ControlTable<Uuid>, problems: Problems): number {
  let count = 0;
  try {
    for (const _ of table.entries()) count++;
  } catch (error) {
    if (!(error instanceof ControlDamage)) throw error;
    problems.add(error.message);
  }
  return count;
}

/** Entries of an index that no row has. */
function nameOthers(
  name: IndexName,
  table: ControlTable<Uuid>,
  rows: IndexedRows,
  problems: Problems,
): void {
  const had = new Map<string, Uuid>();
  for (const { id, entries } of indexedRows(rows)) {
    for (const { index, key, isShared } of entries) {
      if (index === name && (isShared !== true || !had.has(key))) had.set(key, id);
    }
  }
  try {
    for (const { key, value: id } of table.entries()) {
      problems.check(had.get(key) === id, `${name} ${key}`, `${id} has no such entry`);
    }
  } catch (error) {
    // Already named.
    if (!(error instanceof ControlDamage)) throw error;
  }
}
