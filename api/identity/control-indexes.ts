/**
 * The indexes of the control store, each an id by what it is looked up by. Addresses and names are
 * hashed: they can have any length, and errors name the keys of a table. Rule D71 (engine/RULES.md).
 */
import type { Uuid } from '../../engine/rules/units.ts';
import type { INDEX_NAMES } from './control-format.ts';
import { ControlRows } from './control-rows.ts';
import type { ControlTables } from './control-tables.ts';
import type { Change } from './control-writer.ts';
import { hashOfToken, type Key } from './keys.ts';
import { OwnedIds, ownedKey } from './owned-ids.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';

export type IndexName = (typeof INDEX_NAMES)[number];

/** What an index holds of a row. */
export type IndexEntry = { index: IndexName; key: string };

/** Owns the sessions of all guests. */
export const GUESTS = 'guest';

export const emailKey = (email: string) => hashOfToken(email.toLowerCase());
export const nameKey = (displayName: string) => hashOfToken(displayName.toLowerCase());
export const sessionOwner = ({ userId, isGuest }: Session) => (isGuest ? GUESTS : userId);

export function entriesOfUser({ email, displayName }: User): IndexEntry[] {
  const entries: IndexEntry[] = [];
  if (email !== null) entries.push({ index: 'userEmails', key: emailKey(email) });
  if (displayName !== null) entries.push({ index: 'userNames', key: nameKey(displayName) });
  return entries;
}

export function entriesOfKey({ id, userId, hash }: Key): IndexEntry[] {
  return [
    { index: 'keyHashes', key: hash },
    { index: 'keyOwners', key: ownedKey(userId, id) },
  ];
}

export function entriesOfSession(session: Session): IndexEntry[] {
  return [
    { index: 'sessionFamilies', key: session.familyHash },
    { index: 'sessionOwners', key: ownedKey(sessionOwner(session), session.id) },
  ];
}

export class ControlIndexes {
  readonly userEmails: ControlRows<Uuid>;
  readonly userNames: ControlRows<Uuid>;
  readonly keyHashes: ControlRows<Uuid>;
  readonly keyOwners: OwnedIds;
  readonly sessionFamilies: ControlRows<Uuid>;
  readonly sessionOwners: OwnedIds;

  constructor(tables: Pick<ControlTables, IndexName>) {
    this.userEmails = new ControlRows(tables.userEmails);
    this.userNames = new ControlRows(tables.userNames);
    this.keyHashes = new ControlRows(tables.keyHashes);
    this.keyOwners = new OwnedIds(tables.keyOwners);
    this.sessionFamilies = new ControlRows(tables.sessionFamilies);
    this.sessionOwners = new OwnedIds(tables.sessionOwners);
  }

  /** What changes when the entries of row `id` are others. */
  changes(id: Uuid, before: readonly IndexEntry[], after: readonly IndexEntry[]): Change[] {
    const lacks = (entries: readonly IndexEntry[], { index, key }: IndexEntry) =>
      !entries.some((entry) => entry.index === index && entry.key === key);
    return [
      ...before
        .filter((entry) => lacks(after, entry))
        .map(({ index, key }) => this[index].removing(key)),
      ...after
        .filter((entry) => lacks(before, entry))
        .map(({ index, key }) => this[index].putting(key, id)),
    ];
  }
}
