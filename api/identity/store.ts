/**
 * The control store: users, keys, sessions, organizations, catalog numbers, live switches and
 * request counts, in one LMDB environment at DATA_DIR/control. The main thread owns it and never
 * opens it twice. Everything is in memory; the promise of a write resolves once it is on disk.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { open, type RootDatabase } from 'lmdb';
import { checkLmdbFile, OWNERS_ALONE } from '../../engine/lmdb/lmdb-file.ts';
import type { EpochMs, Uuid } from '../../engine/rules/units.ts';
import { ApiError, invalidRequest } from '../errors.ts';
import {
  type CatalogNumbers,
  type ControlTables,
  ControlValues,
  makeControlTables,
  openControlTables,
  type StoredSwitches,
} from './control-tables.ts';
import { guardWrites } from './disk-guard.ts';
import { KeyUses } from './key-uses.ts';
import type { Key } from './keys.ts';
import { OrganizationTable } from './organization-table.ts';
import { RequestPieces } from './request-pieces.ts';
import { SessionTable } from './session-table.ts';
import { PasswordTable, SubjectTable } from './sign-in-tables.ts';
import type { Plan, User } from './users.ts';
import type { ExecutionVenue, VenueKey } from './venue-keys.ts';

export class ControlStore {
  readonly users = new Map<Uuid, User>();
  readonly keys = new Map<Uuid, Key>();
  readonly organizations: OrganizationTable;
  /** By `userId/venue`. */
  readonly venueKeys = new Map<string, VenueKey>();
  readonly sessions: SessionTable;
  readonly passwords: PasswordTable;
  readonly subjects: SubjectTable;
  readonly requests: RequestPieces;
  /** In the order of their creation; most users have one. */
  readonly #keysOfUser = new Map<Uuid, Uuid[]>();
  readonly #keysByHash = new Map<string, Key>();
  readonly #usersByEmail = new Map<string, User>();
  readonly #root: RootDatabase<Buffer, string>;
  readonly #tables: ControlTables;
  readonly #uses = new KeyUses((ids) => this.putKeys(ids.map((id) => this.keys.get(id)!)));
  readonly #values: ControlValues;

  /**
   * Opens or creates `DATA_DIR/control`. Throws `ControlDamage`; `FormatMismatch` on a directory
   * of another format.
   */
  constructor(dataDir: string) {
    const path = join(dataDir, 'control');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const entries = checkLmdbFile(path)?.entries ?? 0;
    const root = open<Buffer, string>({
      path,
      maxDbs: 32,
      encoding: 'binary',
      ...OWNERS_ALONE,
    });
    this.#root = root;
    guardWrites(root, path);
    try {
      this.#tables = openControlTables({ root, entries }) ?? makeControlTables(root);
      this.#values = new ControlValues(root);
      this.organizations = new OrganizationTable(this.#tables);
      this.sessions = new SessionTable(this.#tables.sessions);
      this.passwords = new PasswordTable(this.#tables.passwords);
      this.subjects = new SubjectTable(this.#tables.subjects);
      this.requests = new RequestPieces(this.#tables.requests);
      for (const { value } of this.#tables.users.entries()) this.#keepUser(value);
      for (const { value } of this.#tables.keys.entries()) this.#keepKey(value);
      for (const { key, value } of this.#tables.venueKeys.entries()) {
        this.venueKeys.set(key, value);
      }
    } catch (error) {
      void root.close();
      throw error;
    }
  }

  /**
   * Adds a user. Throws `invalid_request` when the address or the name is in use, or when its own
   * limits are not allowed by its plan.
   */
  async addUser(user: User): Promise<void> {
    if (user.email !== null && this.#usersByEmail.has(user.email)) {
      throw invalidRequest('email is used by another user');
    }
    this.#refuseTakenName(user.id, user.displayName);
    refuseOwnLimits(user.plan, user);
    await this.#writeUser(user);
  }

  /** Changes a user. Throws `account_not_found`, or `invalid_request` as `addUser` does. */
  async changeUser(id: Uuid, change: Partial<User>): Promise<User> {
    const user = this.users.get(id);
    if (user === undefined) throw new ApiError('account_not_found', { message: 'No such user.' });
    this.#refuseTakenName(id, change.displayName ?? null);
    refuseOwnLimits(change.plan ?? user.plan, change);
    const changed = { ...user, ...change, id, email: user.email };
    await this.#writeUser(changed);
    return changed;
  }

  /** The user of that address, ignoring case. */
  userByEmail(email: string): User | undefined {
    return this.#usersByEmail.get(email.toLowerCase());
  }

  /** Changes a password, and ends all of the user's sessions except `spared`. */
  async changePassword(userId: Uuid, hash: string, spared: Uuid | null): Promise<void> {
    // Begun in one turn of the event loop, and so in one transaction.
    const written = this.passwords.put(userId, hash);
    const others = this.sessions.ofUser(userId).filter((id) => id !== spared);
    await Promise.all([written, this.sessions.end(others)]);
  }

  /** Adds or replaces a key; effective at once, before it is on disk. */
  putKey(key: Key): Promise<void> {
    return this.putKeys([key]);
  }

  /** `putKey` of several, all of them or none. */
  async putKeys(keys: readonly Key[]): Promise<void> {
    for (const key of keys) this.#keepKey(key);
    await this.#tables.keys.putAll(keys.map((key) => [key.id, key]));
    await this.#root.flushed;
  }

  /** A key was used: known at once, and on disk a little later. */
  noteUse(key: Key, nowMs: EpochMs, onWriteFailed: (error: unknown) => void): void {
    this.#keepKey({ ...key, lastUsedAtMs: nowMs });
    this.#uses.note(key.id, onWriteFailed);
  }

  /** A user's keys, whatever their status, the oldest first. */
  keysOf(userId: Uuid): Key[] {
    return (this.#keysOfUser.get(userId) ?? []).map((id) => this.keys.get(id)!);
  }

  /** The key whose token has this hash, whatever its status. */
  keyByHash(hash: string): Key | undefined {
    return this.#keysByHash.get(hash);
  }

  /** The user's credential at a venue. */
  venueKey(userId: Uuid, venue: ExecutionVenue): VenueKey | undefined {
    return this.venueKeys.get(`${userId}/${venue}`);
  }

  /** Adds or replaces a user's credential at its venue. */
  async putVenueKey(venueKey: VenueKey): Promise<void> {
    const name = `${venueKey.userId}/${venueKey.venue}`;
    this.venueKeys.set(name, venueKey);
    await this.#tables.venueKeys.put(name, venueKey);
    await this.#root.flushed;
  }

  async removeVenueKey({ userId, venue }: VenueKey): Promise<void> {
    const name = `${userId}/${venue}`;
    this.venueKeys.delete(name);
    await this.#tables.venueKeys.remove(name);
    await this.#root.flushed;
  }

  /** The id of its data directory; null: written by a version without ids. */
  get directoryId(): Uuid | null {
    return this.#values.get('directoryId') ?? null;
  }

  async putDirectoryId(id: Uuid): Promise<void> {
    await this.#values.put('directoryId', id);
  }

  /** Whether organizations ever lived elsewhere: accounts may belong to some not stored here. */
  get hasOutsideOrganizations(): boolean {
    return this.#values.get('outsideOrganizations') === true;
  }

  async noteOutsideOrganizations(): Promise<void> {
    if (!this.hasOutsideOrganizations) await this.#values.put('outsideOrganizations', true);
  }

  /** The numbering as last stored, null in a new directory. */
  numbers(): CatalogNumbers | null {
    return this.#values.get('numbers') ?? null;
  }

  async putNumbers(numbers: CatalogNumbers): Promise<void> {
    // Every start calls this. It writes only what has changed, since the disk may be
    // full.
    if (isDeepStrictEqual(numbers, this.numbers())) return;
    await this.#values.put('numbers', numbers);
  }

  switches(): StoredSwitches {
    return this.#values.get('switches') ?? {};
  }

  async putSwitches(switches: StoredSwitches): Promise<void> {
    await this.#values.put('switches', switches);
  }

  /** Waits for pending writes and closes the environment. */
  async close(): Promise<void> {
    // A full disk must not keep the rest from being closed: a lost use is no lost key.
    await this.#uses.close().catch(() => undefined);
    await this.#root.flushed;
    await this.#root.close();
  }

  async #writeUser(user: User): Promise<void> {
    // Throws at once when the disk is full: no user may exist in memory that a restart would lose.
    const written = this.#tables.users.put(user.id, user);
    this.#keepUser(user);
    await written;
    await this.#root.flushed;
  }

  #keepUser(user: User): void {
    this.users.set(user.id, user);
    if (user.email !== null) this.#usersByEmail.set(user.email, user);
  }

  #keepKey(key: Key): void {
    const known = this.keys.size;
    this.keys.set(key.id, key);
    const isNew = this.keys.size > known;
    this.#keysByHash.set(key.hash, key);
    const ids = this.#keysOfUser.get(key.userId);
    if (ids === undefined) this.#keysOfUser.set(key.userId, [key.id]);
    else if (isNew) ids.push(key.id);
  }

  #refuseTakenName(id: Uuid, displayName: string | null): void {
    if (displayName === null) return;
    const wanted = displayName.toLowerCase();
    for (const user of this.users.values()) {
      if (user.id !== id && user.displayName?.toLowerCase() === wanted) {
        throw invalidRequest('displayName is used by another user');
      }
    }
  }
}

/** Only an enterprise account may have its own limits. Rule Q12 (api/RULES.md). */
function refuseOwnLimits(plan: Plan, given: Partial<User>): void {
  if (plan === 'enterprise') return;
  for (const field of ['tradeLimits', 'requestLimits'] as const) {
    if ((given[field] ?? null) === null) continue;
    throw invalidRequest(`${field} are for accounts of plan enterprise, not of plan ${plan}`);
  }
}
