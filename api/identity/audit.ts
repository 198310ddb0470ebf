/**
 * Checks the control store of a data directory, in use or not: users, keys, organizations, and the
 * numbering that the shards' rows are written in. Read only, in one snapshot.
 */
import path from 'node:path';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';
import { Problems } from '../../engine/audit/problems.ts';
import { checkLmdbFile } from '../../engine/lmdb/lmdb-file.ts';
import { type Uuid, VENUES } from '../../engine/rules/units.ts';
import type { Key } from './keys.ts';
import type { Membership, Organization } from './organizations.ts';
import type { Session } from './sessions.ts';
import type { CatalogNumbers } from './store.ts';
import type { User } from './users.ts';
import type { VenueKey } from './venue-keys.ts';

export type ControlAudit = {
  users: number;
  keys: number;
  /** Ids of the accounts that somebody may trade on. */
  owners: Uuid[];
  /** Of the data directory that it belongs to; null: none. */
  directoryId: Uuid | null;
  /** An account may be of an organization that is not in here. */
  hasOutsideOrganizations: boolean;
  /** Null: no catalog was ever loaded. */
  numbers: CatalogNumbers | null;
  /** One line a breach. */
  problems: string[];
};

/** Null: there is none yet. Throws `LmdbFileError` on a file that LMDB could not survive. */
export async function auditControl(dataDir: string): Promise<ControlAudit | null> {
  const directory = path.join(dataDir, 'control');
  const file = checkLmdbFile(directory);
  if (file === null) return null;
  const root = open<unknown, string>({ path: directory, maxDbs: 32, readOnly: true });
  const tables = openTables(root);
  const transaction = root.useReadTransaction();
  try {
    const problems = new Problems();
    const found = readTables(tables, transaction);
    // The first thing written, and found unless the pages that lead there cannot be read.
    const isReadable = root.get('format', { transaction }) !== undefined || file.entries === 0;
    problems.check(
      isReadable,
      directory,
      `is damaged: none of ${file.entries} entries can be read`,
    );
    const numbers = root.get('numbers', { transaction }) as CatalogNumbers | undefined;
    const userIds = new Set(found.users.map(({ key }) => key));
    const organizationIds = new Set(found.organizations.map(({ key }) => key));
    checkUsers(found.users, problems);
    checkKeys(found.keys, userIds, problems);
    checkOrganizations(found.organizations, problems);
    checkReferences(found, userIds, organizationIds, problems);
    if (numbers !== undefined) checkNumbers(numbers, problems);
    return {
      users: found.users.length,
      keys: found.keys.length,
      owners: [...userIds, ...organizationIds],
      directoryId: (root.get('directoryId', { transaction }) as Uuid | undefined) ?? null,
      hasOutsideOrganizations: root.get('outsideOrganizations', { transaction }) === true,
      numbers: numbers ?? null,
      problems: problems.lines(),
    };
  } finally {
    transaction.done();
    await root.close();
  }
}

type ControlRows = ReturnType<typeof readTables>;

/** Before the transaction begins, which knows no table that came later. */
function openTables(root: RootDatabase<unknown, string>) {
  return {
    users: openTable<User>(root, 'users'),
    keys: openTable<Key>(root, 'keys'),
    venueKeys: openTable<VenueKey>(root, 'venueKeys'),
    organizations: openTable<Organization>(root, 'organizations'),
    memberships: openTable<Membership>(root, 'memberships'),
    sessions: openTable<Session>(root, 'sessions'),
    passwords: openTable<string>(root, 'passwords'),
    subjects: openTable<Uuid>(root, 'subjects'),
  };
}

function readTables(tables: ReturnType<typeof openTables>, transaction: Transaction) {
  const rows = <T>(table: Database<T, string> | undefined): Rows<T> => {
    return table === undefined ? [] : [...table.getRange({ transaction })];
  };
  return {
    users: rows(tables.users),
    keys: rows(tables.keys),
    venueKeys: rows(tables.venueKeys),
    organizations: rows(tables.organizations),
    memberships: rows(tables.memberships),
    sessions: rows(tables.sessions),
    passwords: rows(tables.passwords),
    subjects: rows(tables.subjects),
  };
}

function openTable<T>(root: RootDatabase<unknown, string>, name: string) {
  return root.openDB<T, string>({ name }) as Database<T, string> | undefined;
}

type Rows<T> = readonly { key: string; value: T }[];

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

/** Whoever a row is about is there. */
function checkReferences(
  found: ControlRows,
  userIds: Set<Uuid>,
  organizationIds: Set<Uuid>,
  problems: Problems,
): void {
  const checkUser = (row: string, userId: Uuid) => {
    problems.check(userIds.has(userId), row, `its user ${userId} is missing`);
  };
  for (const { key, value } of found.venueKeys) checkUser(`venueKeys ${key}`, value.userId);
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
