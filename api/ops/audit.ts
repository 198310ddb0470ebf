/**
 * Checks the control store of a data directory, in use or not: users, keys, organizations, and the
 * numbering that the shards' rows use. Read only, in one snapshot.
 */
import path from 'node:path';
import { open } from 'lmdb';
import { Problems } from '../../engine/audit/problems.ts';
import { type Uuid, VENUES } from '../../engine/base/units.ts';
import { checkLmdbFile } from '../../engine/lmdb/lmdb-file.ts';
import { readNumbers } from '../identity/catalog-numbers.ts';
import { CLUSTER_VALUE, INDEX_NAMES } from '../identity/control-format.ts';
import { ControlDamage, type ControlTable, readingControl } from '../identity/control-table.ts';
import {
  type CatalogNumbers,
  type ControlTables,
  ControlValues,
  openControlTables,
} from '../identity/control-tables.ts';
import type { Key } from '../identity/keys.ts';
import type { Organization } from '../identity/organizations.ts';
import type { User } from '../identity/users.ts';
import { checkIndexes, type Rows } from './audit-indexes.ts';

export type ControlAudit = {
  users: number;
  keys: number;
  /** Ids of the accounts that a user or an organization owns. */
  owners: Uuid[];
  /** The id of its data directory; null: none. */
  directoryId: Uuid | null;
  /** Whether accounts may belong to organizations that are not in this store. */
  hasOutsideOrganizations: boolean;
  /** Null: no catalog was ever loaded. */
  numbers: CatalogNumbers | null;
  /** One line per problem. */
  problems: string[];
};

/** As `readControl`. */
export async function auditControl(dataDir: string): Promise<ControlAudit | null> {
  return await readControl(dataDir, auditTables);
}

/**
 * Reads the control store of a directory in one transaction. Null: there is no store yet. Throws
 * `LmdbFileError` on a file that would crash LMDB.
 */
export async function readControl<Found>(
  dataDir: string,
  read: (tables: ControlTables, values: ControlValues) => Found,
): Promise<Found | null> {
  const directory = path.join(dataDir, 'control');
  const file = checkLmdbFile(directory);
  if (file === null) return null;
  const root = open<Buffer, string>({
    path: directory,
    maxDbs: 32,
    readOnly: true,
    encoding: 'binary',
  });
  try {
    const tables = openControlTables({ root, entries: file.entries, isReadOnly: true });
    if (tables === null) return null;
    const transaction = readingControl('a read', () => root.useReadTransaction());
    try {
      // In one turn of the event loop, and so in this one transaction.
      return read(tables, new ControlValues(root));
    } finally {
      transaction.done();
    }
  } finally {
    await root.close();
  }
}

function auditTables(tables: ControlTables, values: ControlValues): ControlAudit {
  const problems = new Problems();
  const found = readTables(tables, problems);
  const numbers = numbersIn(tables, values, problems);
  for (const name of ['switches', CLUSTER_VALUE] as const) readValue(name, values, problems);
  const userIds = new Set(found.users.map(({ key }) => key));
  const organizationIds = new Set(found.organizations.map(({ key }) => key));
  checkUsers(found.users, problems);
  checkKeys(found.keys, userIds, problems);
  checkOrganizations(found.organizations, problems);
  checkReferences(found, userIds, organizationIds, problems);
  checkIndexes(tables, found, problems);
  if (numbers !== null) checkNumbers(numbers, problems);
  return {
    users: found.users.length,
    keys: found.keys.length,
    owners: [...userIds, ...organizationIds],
    directoryId: values.get('directoryId') ?? null,
    hasOutsideOrganizations: values.get('outsideOrganizations') === true,
    numbers,
    problems: problems.lines(),
  };
}

/** Null: a new store, or a damaged list. */
function numbersIn(
  { names }: ControlTables,
  values: ControlValues,
  problems: Problems,
): CatalogNumbers | null {
  try {
    return readNumbers(values, names);
  } catch (error) {
    if (!(error instanceof ControlDamage)) throw error;
    // A damaged piece of them is named with its table.
    if (!problems.lines().includes(error.message)) problems.add(error.message);
    return null;
  }
}

/** No check needs it. */
function readValue(
  name: 'switches' | typeof CLUSTER_VALUE,
  values: ControlValues,
  problems: Problems,
): void {
  try {
    values.get(name);
  } catch (error) {
    if (!(error instanceof ControlDamage)) throw error;
    problems.add(error.message);
  }
}

type AuditedRows = ReturnType<typeof readTables>;

/** Reads each table but the indexes up to the first damaged entry. Rule D109 (engine/RULES.md). */
function readTables(tables: ControlTables, problems: Problems) {
  const rows = <T>(table: ControlTable<T>): Rows<T> => {
    const read: { key: string; value: T }[] = [];
    try {
      for (const entry of table.entries()) read.push(entry);
    } catch (error) {
      if (!(error instanceof ControlDamage)) throw error;
      problems.add(error.message);
    }
    return read;
  };
  const found = {
    users: rows(tables.users),
    keys: rows(tables.keys),
    venueKeys: rows(tables.venueKeys),
    organizations: rows(tables.organizations),
    memberships: rows(tables.memberships),
    sessions: rows(tables.sessions),
    passwords: rows(tables.passwords),
    subjects: rows(tables.subjects),
    venueApiKeys: rows(tables.venueApiKeys),
  };
  const readElsewhere = new Set<string>([...Object.keys(found), ...INDEX_NAMES]);
  for (const table of Object.values<ControlTable<unknown>>(tables)) {
    if (!readElsewhere.has(table.name)) rows(table);
  }
  return found;
}

function checkUsers(users: Rows<User>, problems: Problems): void {
  const emails = new Set<string>();
  const names = new Set<string>();
  for (const { key, value: user } of users) {
    const subject = `users ${key}`;
    problems.check(user.id === key, subject, `holds user ${user.id}`);
    const { email } = user;
    if (email !== null) {
      problems.check(email === email.toLowerCase(), subject, 'its address is not in lower case');
      problems.check(!emails.has(email), subject, 'its address is used by another user');
      emails.add(email);
    }
    const name = user.displayName?.toLowerCase();
    if (name === undefined) continue;
    problems.check(!names.has(name), subject, 'its display name is used by another user');
    names.add(name);
  }
}

function checkKeys(keys: Rows<Key>, users: Set<Uuid>, problems: Problems): void {
  const hashes = new Set<string>();
  for (const { key: id, value: key } of keys) {
    const subject = `keys ${id}`;
    problems.check(key.id === id, subject, `holds key ${key.id}`);
    problems.check(users.has(key.userId), subject, `its user ${key.userId} is missing`);
    problems.check(/^[0-9a-f]{64}$/.test(key.hash), subject, 'has no hash');
    problems.check(!hashes.has(key.hash), subject, 'has the token of another key');
    hashes.add(key.hash);
  }
}

function checkOrganizations(organizations: Rows<Organization>, problems: Problems): void {
  const slugs = new Set<string>();
  for (const { key, value: organization } of organizations) {
    const subject = `organizations ${key}`;
    problems.check(organization.id === key, subject, `holds organization ${organization.id}`);
    const isFree = !slugs.has(organization.slug);
    problems.check(isFree, subject, 'its slug is used by another organization');
    slugs.add(organization.slug);
  }
}

/** Checks that the users and organizations that rows refer to exist. */
function checkReferences(
  found: AuditedRows,
  userIds: Set<Uuid>,
  organizationIds: Set<Uuid>,
  problems: Problems,
): void {
  const checkUser = (row: string, userId: Uuid) => {
    problems.check(userIds.has(userId), row, `its user ${userId} is missing`);
  };
  for (const { key, value } of found.venueKeys) checkUser(`venueKeys ${key}`, value.userId);
  for (const { key, value } of found.venueApiKeys) checkUser(`venueApiKeys ${key}`, value.userId);
  for (const { key } of found.passwords) checkUser(`passwords ${key}`, key);
  for (const { key, value } of found.subjects) checkUser(`subjects ${key}`, value);
  for (const { key, value } of found.sessions) {
    if (!value.isGuest) checkUser(`sessions ${key}`, value.userId);
  }
  for (const { key, value } of found.memberships) {
    checkUser(`memberships ${key}`, value.userId);
    const { organizationId: id } = value;
    const isKnown = organizationIds.has(id);
    problems.check(isKnown, `memberships ${key}`, `its organization ${id} is missing`);
  }
}

function checkNumbers({ marketNames, instrumentIds }: CatalogNumbers, problems: Problems): void {
  for (const [number, name] of marketNames.entries()) {
    const venue = name.slice(0, name.indexOf('/'));
    const isName = (VENUES as readonly string[]).includes(venue);
    problems.check(isName, `numbers, market ${number}`, `${name} is at no venue`);
  }
  for (const [what, names] of [
    ['market', marketNames],
    ['instrument', instrumentIds],
  ] as const) {
    const isUnique = new Set(names).size === names.length;
    problems.check(isUnique, 'numbers', `one ${what} has two numbers`);
  }
}
