/**
 * The control store: users, keys, organizations, catalog numbers and live switches, in one LMDB
 * environment at DATA_DIR/control. The main thread owns it and never opens it twice. Everything is in memory;
 * a promise of a write resolves once the write is on disk.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { Uuid } from '../../engine/core/units.ts';
import { ApiError, invalidRequest } from '../errors.ts';
import type { Key } from './keys.ts';
import { OrganizationTable } from './organization-table.ts';
import type { User } from './users.ts';
import type { ExecutionVenue, VenueKey } from './venue-keys.ts';

/** The append-only numbering of markets and instruments: `Catalog` in engine/core/messages.ts. */
export type CatalogNumbers = { marketNames: string[]; instrumentIds: string[] };

/** Switches as an operator last set them live; absent where never set. */
export type StoredSwitches = { venueData?: boolean; trading?: boolean };

const FORMAT = 1;

export class ControlStore {
  readonly users = new Map<Uuid, User>();
  readonly keys = new Map<Uuid, Key>();
  readonly organizations: OrganizationTable;
  /** By `userId/venue`. */
  readonly venueKeys = new Map<string, VenueKey>();
  readonly #keysByHash = new Map<string, Key>();
  readonly #usersByEmail = new Map<string, User>();
  readonly #root: RootDatabase<unknown, string>;
  readonly #userTable: Database<User, Uuid>;
  readonly #keyTable: Database<Key, Uuid>;
  readonly #venueKeyTable: Database<VenueKey, string>;

  /** Opens or makes `DATA_DIR/control`. Throws on a directory of another format. */
  constructor(dataDir: string) {
    const path = join(dataDir, 'control');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#root = open<unknown, string>({ path, maxDbs: 32 });
    const format = this.#root.get('format');
    if (format !== undefined && format !== FORMAT) {
      void this.#root.close();
      throw new Error(`${path} has format ${String(format)}; this version reads format ${FORMAT}`);
    }
    if (format === undefined) this.#root.putSync('format', FORMAT);
    this.#userTable = this.#root.openDB({ name: 'users' });
    this.#keyTable = this.#root.openDB({ name: 'keys' });
    this.#venueKeyTable = this.#root.openDB({ name: 'venueKeys' });
    this.organizations = new OrganizationTable(this.#root);
    for (const { value } of this.#userTable.getRange()) this.#keepUser(value);
    for (const { value } of this.#keyTable.getRange()) this.#keepKey(value);
    for (const { key, value } of this.#venueKeyTable.getRange()) this.venueKeys.set(key, value);
  }

  /** Adds a user. Throws `invalid_request` when the address or the name is taken. */
  async addUser(user: User): Promise<void> {
    if (this.#usersByEmail.has(user.email)) {
      throw invalidRequest('email is used by another user');
    }
    this.#refuseTakenName(user.id, user.displayName);
    await this.#writeUser(user);
  }

  /** Changes a user. Throws `account_not_found`, or `invalid_request` when the name is taken. */
  async changeUser(id: Uuid, change: Partial<User>): Promise<User> {
    const user = this.users.get(id);
    if (user === undefined) throw new ApiError('account_not_found', { message: 'No such user.' });
    this.#refuseTakenName(id, change.displayName ?? null);
    const changed = { ...user, ...change, id, email: user.email };
    await this.#writeUser(changed);
    return changed;
  }

  /** The user of that address, in any case. */
  userByEmail(email: string): User | undefined {
    return this.#usersByEmail.get(email.toLowerCase());
  }

  /** Adds or replaces a key; it counts from this moment, before the disk has it. */
  async putKey(key: Key): Promise<void> {
    this.#keepKey(key);
    await this.#keyTable.put(key.id, key);
    await this.#root.flushed;
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
    await this.#venueKeyTable.put(name, venueKey);
    await this.#root.flushed;
  }

  async removeVenueKey({ userId, venue }: VenueKey): Promise<void> {
    const name = `${userId}/${venue}`;
    this.venueKeys.delete(name);
    await this.#venueKeyTable.remove(name);
    await this.#root.flushed;
  }

  /** The numbering as last stored, null in a new directory. */
  numbers(): CatalogNumbers | null {
    return (this.#root.get('numbers') as CatalogNumbers | undefined) ?? null;
  }

  async putNumbers(numbers: CatalogNumbers): Promise<void> {
    await this.#put('numbers', numbers);
  }

  switches(): StoredSwitches {
    return (this.#root.get('switches') as StoredSwitches | undefined) ?? {};
  }

  async putSwitches(switches: StoredSwitches): Promise<void> {
    await this.#put('switches', switches);
  }

  /** Waits for what is being written and closes the environment. */
  async close(): Promise<void> {
    await this.#root.flushed;
    await this.#root.close();
  }

  async #put(name: string, value: unknown): Promise<void> {
    await this.#root.put(name, value);
    await this.#root.flushed;
  }

  async #writeUser(user: User): Promise<void> {
    this.#keepUser(user);
    await this.#userTable.put(user.id, user);
    await this.#root.flushed;
  }

  #keepUser(user: User): void {
    this.users.set(user.id, user);
    this.#usersByEmail.set(user.email, user);
  }

  #keepKey(key: Key): void {
    this.keys.set(key.id, key);
    this.#keysByHash.set(key.hash, key);
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
