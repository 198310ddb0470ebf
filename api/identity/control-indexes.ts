/**
 * The indexes of the control store, each an id by its lookup key. Addresses and names are hashed,
 * because they can have any length, and errors name the keys of a table. Rules D71
 * (engine/RULES.md), I68 (api/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';
import { sameName } from '../base/shown-text.ts';
import type { INDEX_NAMES } from './control-format.ts';
import { ControlRows } from './control-rows.ts';
import type { ControlTables } from './control-tables.ts';
import type { Change } from './control-writer.ts';
import { hashOfToken, type Key } from './keys.ts';
import { OwnedIds, ownedKey } from './owned-ids.ts';
import type { Session } from './sessions.ts';
import type { User } from './users.ts';

export type IndexName = (typeof INDEX_NAMES)[number];

/**
 * The entry of a row in an index. `isShared`: another row may have it in its place, and a row of an
 * earlier version may lack it.
 */
export type IndexEntry = { index: IndexName; key: string; isShared?: true };

/** Owns the sessions of all guests. */
export const GUESTS = 'guest';

export const emailKey = (email: string) => hashOfToken(email.toLowerCase());
/**
 * The lookup keys of a name: the name ignoring case, then the form that people take for the same.
 * Earlier versions compared names only by the first, so two of them may now be the same. Rule I68
 * (api/RULES.md).
 */
export function nameKeys(displayName: string): string[] {
  const own = displayName.toLowerCase();
  const same = sameName(displayName);
  return (same === own ? [own] : [own, same]).map(hashOfToken);
}
export const sessionOwner = ({ userId, isGuest }: Session) => (isGuest ? GUESTS : userId);

export function entriesOfUser({ email, displayName }: User): IndexEntry[] {
  const entries: IndexEntry[] = [];
  if (email !== null) entries.push({ index: 'userEmails', key: emailKey(email) });
  const [own, same] = displayName === null ? [] : nameKeys(displayName);
  if (own !== undefined) entries.push({ index: 'userNames', key: own });
  if (same !== undefined) entries.push({ index: 'userNames', key: same, isShared: true });
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

  /** The changes when the entries of row `id` are replaced. */
  changes(id: Uuid, before: readonly IndexEntry[], after: readonly IndexEntry[]): Change[] {
    const lacks = (entries: readonly IndexEntry[], { index, key }: IndexEntry) =>
      !entries.some((entry) => entry.index === index && entry.key === key);
    // For names only.
    const isHeld = ({ key, isShared }: IndexEntry) =>
      isShared === true && this.userNames.get(key) !== id;
    return [
      ...before
        .filter((entry) => lacks(after, entry) && !isHeld(entry))
        .map(({ index, key }) => this[index].removing(key)),
      ...after
        .filter((entry) => lacks(before, entry))
        .map(({ index, key }) => this[index].putting(key, id)),
    ];
  }
}
