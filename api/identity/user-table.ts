/** The users in the control store, by id, address and display name. */
import type { Uuid } from '../../engine/base/units.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import { type ControlIndexes, emailKey, entriesOfUser, nameKeys } from './control-indexes.ts';
import { ControlRows, type KeptRow } from './control-rows.ts';
import { ControlDamage, type ControlTable } from './control-table.ts';
import type { Change, ControlWriter } from './control-writer.ts';
import type { Plan, User } from './users.ts';

export class UserTable {
  readonly #rows: ControlRows<User>;
  readonly #indexes: ControlIndexes;
  readonly #writer: ControlWriter;
  /** Called with every user who is added or changed, once that is on disk. */
  onWritten: (user: User) => void = () => {};

  /** `onChanged`: called with the id of each user who has changed. */
  constructor(
    table: ControlTable<User>,
    indexes: ControlIndexes,
    writer: ControlWriter,
    onChanged: (id: Uuid) => void,
  ) {
    this.#rows = new ControlRows(table, onChanged);
    this.#indexes = indexes;
    this.#writer = writer;
  }

  get(id: Uuid): User | undefined {
    return this.#rows.get(id);
  }

  /** The row of a user, as it is now. */
  kept(id: Uuid): KeptRow<User> | undefined {
    return this.#rows.kept(id);
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(id: Uuid): void {
    this.#rows.forget(id);
  }

  has(id: Uuid): boolean {
    return this.#rows.has(id);
  }

  /** All users, the oldest first, in one turn of the event loop. */
  values(): Generator<User> {
    return this.#rows.values();
  }

  /** Up to `max` users on disk after an id, without keeping them in memory. */
  after(id: Uuid, max: number): User[] {
    return this.#rows.keysAfter(id, max).flatMap((key) => this.#rows.peek(key) ?? []);
  }

  /** Up to `max` users from before an id, or the newest, without keeping them in memory. */
  before(id: Uuid | null, max: number): User[] {
    return this.#rows.keysBefore(id, max).flatMap((key) => this.#rows.peek(key) ?? []);
  }

  /** The user with that display name ignoring case, else a user whose name is the same. */
  byName(name: string): User | undefined {
    for (const key of nameKeys(name)) {
      const id = this.#indexes.userNames.get(key);
      if (id === undefined) continue;
      const user = this.#rows.get(id);
      if (user !== undefined && nameKeys(user.displayName ?? '').includes(key)) return user;
      throw new ControlDamage(`userNames [${key}] is not the name of users [${id}]`);
    }
    return undefined;
  }

  /** The user of that address, ignoring case. */
  byEmail(email: string): User | undefined {
    const key = emailKey(email);
    const id = this.#indexes.userEmails.get(key);
    if (id === undefined) return undefined;
    const user = this.#rows.get(id);
    if (user !== undefined && emailKey(user.email ?? '') === key) return user;
    throw new ControlDamage(`userEmails [${key}] is not the address of users [${id}]`);
  }

  /**
   * Adds a user. Throws `invalid_request` when the address or the name is in use, or when its own
   * limits are not allowed by its plan.
   *
   * @param others changes that are written with it
   */
  async add(user: User, others: readonly Change[] = []): Promise<void> {
    if (user.email !== null && this.#indexes.userEmails.has(emailKey(user.email))) {
      throw invalidRequest('email is used by another user');
    }
    this.#refuseTakenName(user.id, user.displayName);
    refuseOwnLimits(user.plan, user);
    await this.#write(user, undefined, others);
  }

  /** Changes a user. Throws `account_not_found`, or `invalid_request` as `add` does. */
  async change(id: Uuid, change: Partial<User>): Promise<User> {
    const user = this.#rows.get(id);
    if (user === undefined) throw new ApiError('account_not_found', { message: 'No such user.' });
    this.#refuseTakenName(id, change.displayName ?? null);
    refuseOwnLimits(change.plan ?? user.plan, change);
    const changed = { ...user, ...change, id, email: user.email };
    await this.#write(changed, user);
    return changed;
  }

  /** Another node has added or changed users. */
  followed(ids: readonly Uuid[]): void {
    for (const id of ids) {
      const user = this.#rows.get(id);
      if (user !== undefined) this.onWritten(user);
    }
  }

  async #write(
    user: User,
    before: User | undefined,
    others: readonly Change[] = [],
  ): Promise<void> {
    const entries = before === undefined ? [] : entriesOfUser(before);
    const changes = [
      this.#rows.putting(user.id, user),
      ...this.#indexes.changes(user.id, entries, entriesOfUser(user)),
      ...others,
    ];
    // A change may take rights from a user.
    await this.#writer.write(changes, before !== undefined);
    this.onWritten(user);
  }

  #refuseTakenName(id: Uuid, displayName: string | null): void {
    if (displayName === null) return;
    for (const key of nameKeys(displayName)) {
      const holder = this.#indexes.userNames.get(key);
      if (holder === undefined || holder === id) continue;
      throw invalidRequest('displayName is used by another user, or looks like a used name');
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
