/**
 * The control store: users, keys, sessions, organizations, catalog numbers, live switches and
 * request counts, in one LMDB environment at DATA_DIR/control. The main thread owns it and never
 * opens it twice. Rows that were asked for are in memory. The promise of a write resolves once it
 * is on disk. Rules D24, D70 (engine/RULES.md).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import type { EpochMs, FillModelName, MarketNumber, Uuid } from '../../engine/base/units.ts';
import { checkLmdbForWriting, OWNERS_ALONE } from '../../engine/lmdb/lmdb-file.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';
import type { ExecutionVenue } from '../base/common-schemas.ts';
import { CatalogNumberTable } from './catalog-numbers.ts';
import { REQUEST_COUNT, type RequestCount } from './control-format.ts';
import { ControlIndexes } from './control-indexes.ts';
import { ControlRows } from './control-rows.ts';
import { ControlDamage, readingControl } from './control-table.ts';
import {
  type CatalogNumbers,
  type ControlTables,
  ControlValues,
  type FinalResult,
  makeControlTables,
  openControlTables,
  type StoredSwitches,
} from './control-tables.ts';
import { ControlWriter } from './control-writer.ts';
import { CredentialVersions } from './credential-versions.ts';
import { GroupedRows } from './grouped-rows.ts';
import { KeyTable } from './key-table.ts';
import type { Key } from './keys.ts';
import { OrganizationTable } from './organization-table.ts';
import { RealismTable } from './realism-table.ts';
import type { ReplicatedControl, ReplicatedParts } from './replicated-control.ts';
import { SessionTable } from './session-table.ts';
import { PasswordTable, SubjectTable } from './sign-in-tables.ts';
import { UserTable } from './user-table.ts';
import type { User } from './users.ts';
import { VenueApiKeyTable } from './venue-api-key-book.ts';
import type { VenueKey } from './venue-keys.ts';

/** How a new user signs in: a hash of `passwords.ts`, or an issuer and its subject. */
type SignInData = { passwordHash?: string | undefined; subject?: readonly [string, string] };

/** What has followers beside the store: a value, or a table. */
type Followed = 'switches' | 'names' | 'results';

export class ControlStore {
  readonly users: UserTable;
  readonly keys: KeyTable;
  readonly organizations: OrganizationTable;
  readonly realism: RealismTable;
  /** By `userId/venue`. */
  readonly venueKeys: ControlRows<VenueKey>;
  /** Pairs that sign requests of the venue's own API. */
  readonly venueApiKeys: VenueApiKeyTable;
  readonly sessions: SessionTable;
  readonly passwords: PasswordTable;
  readonly subjects: SubjectTable;
  /** Of users with their venue keys, and of keys, for threads that have copies. */
  readonly versions = new CredentialVersions();
  readonly #root: RootDatabase<Buffer, string>;
  readonly #tables: ControlTables;
  readonly #writer: ControlWriter;
  readonly #values: ControlValues;
  readonly #numbers: CatalogNumberTable;
  readonly #results: ControlRows<FinalResult>;
  readonly #indexes: ControlIndexes;
  #replicated: ReplicatedControl | null = null;
  /** Of what another node has written, by its table. */
  readonly #onFollowed = new Map<Followed, (keys: string[]) => Promise<void>>();
  #onWord: ((name: string, word: string) => Promise<void>) | null = null;

  /**
   * Opens or creates `DATA_DIR/control`. Throws `ControlDamage`; `FormatMismatch` on a directory
   * of another format.
   */
  constructor(dataDir: string) {
    const path = join(dataDir, 'control');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const entries = checkLmdbForWriting(path)?.entries ?? 0;
    const root = open<Buffer, string>({
      path,
      maxDbs: 32,
      encoding: 'binary',
      ...OWNERS_ALONE,
    });
    this.#root = root;
    this.#writer = new ControlWriter(root, path);
    try {
      this.#tables = openControlTables({ root, entries }) ?? makeControlTables(root);
      this.#values = new ControlValues(root);
      this.#numbers = new CatalogNumberTable(this.#values, this.#tables.names, this.#writer);
      const indexes = new ControlIndexes(this.#tables);
      this.#indexes = indexes;
      this.organizations = new OrganizationTable(this.#tables, this.#writer);
      this.#results = new ControlRows(this.#tables.results);
      const onChanged = (id: Uuid) => this.versions.changed(id);
      this.realism = new RealismTable(this.#tables.realism, this.#writer, onChanged);
      this.users = new UserTable(this.#tables.users, indexes, this.#writer, onChanged);
      this.keys = new KeyTable(this.#tables, indexes, this.#writer, onChanged);
      this.venueApiKeys = new VenueApiKeyTable(this.#tables, this.#writer);
      this.sessions = new SessionTable(this.#tables.sessions, indexes, this.#writer);
      this.passwords = new PasswordTable(this.#tables.passwords, this.#writer);
      this.subjects = new SubjectTable(this.#tables.subjects, this.#writer);
      this.venueKeys = new ControlRows(this.#tables.venueKeys, (name) => {
        onChanged(name.slice(0, name.indexOf('/')));
      });
    } catch (error) {
      void root.close();
      throw error;
    }
  }

  /**
   * Checks every present entry of every table, one per step; returns a line for each damaged table.
   * What requests need of users and keys is in memory then. Rules D70 (engine/RULES.md), A242
   * (api/RULES.md).
   */
  check(): Generator<undefined, string[]> {
    const { users, keys } = this;
    const { keyHashes } = this.#indexes;
    return damageIn(this.#root, this.#tables, { users, keys, keyHashes });
  }

  /** Adds a user, with its sign-in data or without: `UserTable.add`. */
  addUser(user: User, { passwordHash, subject }: SignInData = {}): Promise<void> {
    return this.users.add(user, [
      ...(passwordHash === undefined ? [] : [this.passwords.putting(user.id, passwordHash)]),
      ...(subject === undefined ? [] : [this.subjects.putting(...subject, user.id)]),
    ]);
  }

  /** Changes a user: `UserTable.change`. */
  changeUser(id: Uuid, change: Partial<User>): Promise<User> {
    return this.users.change(id, change);
  }

  /** The user of that address, ignoring case. */
  userByEmail(email: string): User | undefined {
    return this.users.byEmail(email);
  }

  /** Changes a password, and ends all of the user's sessions except `spared`. */
  async changePassword(userId: Uuid, hash: string, spared: Uuid | null): Promise<void> {
    const others = this.sessions.ofUser(userId).filter((id) => id !== spared);
    await this.#writer.write([
      this.passwords.putting(userId, hash),
      ...this.sessions.ending(others),
    ]);
  }

  /** Adds or replaces a key: `KeyTable.put`. */
  putKey(key: Key): Promise<void> {
    return this.keys.put([key]);
  }

  /** Adds or replaces keys, all of them or none: `KeyTable.put`. */
  putKeys(keys: readonly Key[]): Promise<void> {
    return this.keys.put(keys);
  }

  /** A key was used: known at once, and on disk a little later. */
  noteUse(key: Key, nowMs: EpochMs, onWriteFailed: (error: unknown) => void): void {
    this.keys.noteUse(key, nowMs, onWriteFailed);
  }

  /** A user's keys of any status, the oldest first. */
  keysOf(userId: Uuid): Key[] {
    return this.keys.of(userId);
  }

  /** The key whose token has this hash, of any status. */
  keyByHash(hash: string): Key | undefined {
    return this.keys.byHash(hash);
  }

  /** The counts of requests of a month, `2026-11`. Throws `ControlDamage`. */
  requestsOf(month: string): GroupedRows<RequestCount> {
    return new GroupedRows(this.#tables.requests, `${month}/`, REQUEST_COUNT);
  }

  /** Drops up to `max` entries of counts of earlier months; returns how many it dropped. */
  async dropRequestsBefore(month: string, max: number): Promise<number> {
    const { requests } = this.#tables;
    const keys = requests.keys({ end: month, limit: max });
    await Promise.all(keys.map((key) => requests.remove(key)));
    await requests.flushed;
    return keys.length;
  }

  /** The user's credential at a venue. */
  venueKey(userId: Uuid, venue: ExecutionVenue): VenueKey | undefined {
    return this.venueKeys.get(`${userId}/${venue}`);
  }

  /** Adds or replaces a user's credential at its venue. */
  async putVenueKey(venueKey: VenueKey): Promise<void> {
    const name = `${venueKey.userId}/${venueKey.venue}`;
    await this.#writer.write([this.venueKeys.putting(name, venueKey)]);
  }

  async removeVenueKey({ userId, venue }: VenueKey): Promise<void> {
    await this.#writer.write([this.venueKeys.removing(`${userId}/${venue}`)]);
  }

  /** The id of its data directory; null: written by a version without ids. */
  get directoryId(): Uuid | null {
    return this.#values.get('directoryId') ?? null;
  }

  async putDirectoryId(id: Uuid): Promise<void> {
    await this.#writer.write([this.#values.putting('directoryId', id)]);
  }

  /** Whether organizations ever lived elsewhere: accounts may belong to some not stored here. */
  get hasOutsideOrganizations(): boolean {
    return this.#values.get('outsideOrganizations') === true;
  }

  async noteOutsideOrganizations(): Promise<void> {
    if (this.hasOutsideOrganizations) return;
    await this.#writer.write([this.#values.putting('outsideOrganizations', true)]);
  }

  /** The numbering as last stored, null in a new directory. */
  numbers(): CatalogNumbers | null {
    return this.#numbers.read();
  }

  async putNumbers(numbers: CatalogNumbers): Promise<void> {
    await this.#numbers.put(numbers);
  }

  switches(): StoredSwitches {
    return this.#values.get('switches') ?? {};
  }

  /**
   * Whether an account has chosen another fill model than the server's, now or before. A choice may
   * differ since the server has another model. Rule T158 (engine/RULES.md).
   */
  followsBooks(server: FillModelName): boolean {
    return this.switches().followsBooks === true || this.realism.hasOther(server);
  }

  async putSwitches(switches: StoredSwitches): Promise<void> {
    await this.#writer.write([this.#values.putting('switches', switches)], true);
  }

  /**
   * Makes this the store of a node of a cluster: its log has each change first.
   *
   * @param replicate makes the replicated form, which a server without a cluster does not load
   */
  joinCluster(replicate: (parts: ReplicatedParts) => ReplicatedControl): ReplicatedControl {
    const [tables, values, indexes] = [this.#tables, this.#values, this.#indexes];
    const replicated = replicate({
      ...{ writer: this.#writer, tables, values },
      forget: {
        users: (id) => this.users.forget(id),
        keys: (id) => this.keys.forget(id),
        venueKeys: (name) => this.venueKeys.forget(name),
        organizations: (id) => this.organizations.forget(id),
        memberships: (key) => this.organizations.forgetMember(key),
        sessions: (id) => this.sessions.forget(id),
        passwords: (id) => this.passwords.forget(id),
        subjects: (key) => this.subjects.forget(key),
        userEmails: (key) => indexes.userEmails.forget(key),
        userNames: (key) => indexes.userNames.forget(key),
        keyHashes: (key) => indexes.keyHashes.forget(key),
        keyOwners: (key) => indexes.keyOwners.forget(key),
        sessionFamilies: (key) => indexes.sessionFamilies.forget(key),
        sessionOwners: (key) => indexes.sessionOwners.forget(key),
        realism: (account) => this.realism.forget(account),
        venueApiKeys: (id) => this.venueApiKeys.forget(id),
        venueApiKeyOwners: (key) => this.venueApiKeys.forgetOwned(key),
        names: () => this.#numbers.forget(),
        results: (key) => this.#results.forget(key),
        values: () => this.#numbers.forget(),
      },
      // Names of its own catalog may wait for it.
      leads: () => {
        void this.#onFollowed.get('names')?.([]);
        void this.#onFollowed.get('results')?.([]);
      },
      followed: async (keysOf) => {
        this.users.followed(keysOf('users'));
        // Nothing waits for a catalog.
        if (keysOf('names').length > 0) void this.#onFollowed.get('names')?.([]);
        if (keysOf('values').includes('switches')) await this.#onFollowed.get('switches')?.([]);
        const results = keysOf('results');
        if (results.length > 0) await this.#onFollowed.get('results')?.(results);
      },
      heard: async (name, word) => await this.#onWord?.(name, word),
    });
    this.#replicated = replicated;
    this.#writer.replicateBy(replicated);
    return replicated;
  }

  /** The result of a market by the cluster. Rule N139 (engine/RULES.md). */
  result(market: MarketNumber): FinalResult | undefined {
    return this.#results.get(resultKey(market));
  }

  /** Those of all markets. Read them within one turn of the event loop. */
  results(): Generator<FinalResult> {
    return this.#results.values();
  }

  /** Resolves once the cluster has it. Rejects with `NotLeader` where another node leads. */
  async putResult(result: FinalResult): Promise<void> {
    await this.#writer.write([this.#results.putting(resultKey(result.market), result)]);
  }

  /** Resolves once every node that is there has all that was written here. Rejects as N134 says. */
  async everywhere(): Promise<void> {
    await this.#replicated?.everywhere();
  }

  /** Tells the node that leads the control data, if the cluster can be asked now. */
  async say(name: string, word: string): Promise<void> {
    await this.#replicated?.say(name, word);
  }

  /** Calls `run` with what other nodes say while this one leads. It rejects what is said again. */
  onWord(run: (name: string, word: string) => Promise<void>): void {
    this.#onWord = run;
  }

  /** Why no control data are written here now; null: they are. Rule N132 (engine/RULES.md). */
  refusal(): Unavailable | null {
    return this.#replicated?.refusal() ?? null;
  }

  /** Whether numbers and switches may be another node's. */
  get isReplicated(): boolean {
    return this.#replicated !== null;
  }

  /** Why control data cannot be written or followed now, one line each. */
  problems(): string[] {
    return this.#replicated?.problems() ?? [];
  }

  /**
   * Calls `run` when another node has set a switch, or has added names of the catalog or results, with
   * the keys of the results. Also when this node may add names and results from then on. It must not
   * reject.
   */
  onFollowed(what: Followed, run: (keys: string[]) => Promise<void>): void {
    this.#onFollowed.set(what, run);
  }

  /** Waits for pending writes and closes the environment. */
  async close(): Promise<void> {
    // A full disk must not keep the other parts open: a lost use is no lost key.
    await this.keys.close().catch(() => undefined);
    await this.#root.flushed;
    await this.#root.close();
  }
}

const MARKET_DIGITS = 10;

/** The key of the result of a market. */
const resultKey = (market: MarketNumber): string => String(market).padStart(MARKET_DIGITS, '0');

/** The market of such a key. */
export const marketOfKey = (key: string): MarketNumber => Number(key);

/**
 * Checks every entry of one snapshot, one per step; returns a line for each damaged table. The
 * snapshot is held until it ends, so end it even if it is not needed any more.
 */
function* damageIn(
  root: RootDatabase<Buffer, string>,
  tables: ControlTables,
  keepers: Partial<Record<keyof ControlTables, Pick<KeyTable, 'keepChecked'>>>,
): Generator<undefined, string[]> {
  const problems: string[] = [];
  const snapshot = readingControl('a read', () => root.useReadTransaction());
  const kept = new Map(
    Object.entries(keepers).map(([name, rows]) => [name, rows.keepChecked()] as const),
  );
  try {
    // Counted now, before a turn of the event loop lets others write.
    const counted = Object.values(tables).map((table) => ({ table, count: table.count }));
    for (const { table, count } of counted) {
      try {
        yield* table.check(snapshot, count, kept.get(table.name)?.take);
      } catch (error) {
        if (!(error instanceof ControlDamage)) throw error;
        problems.push(error.message);
      }
    }
  } finally {
    snapshot.done();
    for (const { end } of kept.values()) end();
  }
  return problems;
}
