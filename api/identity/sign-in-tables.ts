/** Sign-in data of users in the control store, apart from the user objects, which are shown. */
import type { Uuid } from '../../engine/rules/units.ts';
import type { ControlTable } from './control-table.ts';
import { hashOfToken } from './keys.ts';

/** Hashes of passwords: `passwords.ts`. A user without one cannot sign in with a password. */
export class PasswordTable {
  readonly #table: ControlTable<string>;
  /** Hashes not on disk yet. */
  readonly #pending = new Map<Uuid, string>();

  constructor(table: ControlTable<string>) {
    this.#table = table;
    table.check();
  }

  get(userId: Uuid): string | null {
    return this.#pending.get(userId) ?? this.#table.get(userId) ?? null;
  }

  /** Effective at once, before it is on disk. Throws when the disk is full. */
  put(userId: Uuid, hash: string): Promise<void> {
    const written = this.#table.put(userId, hash);
    this.#pending.set(userId, hash);
    return this.#settle(userId, hash, written);
  }

  async #settle(userId: Uuid, hash: string, written: Promise<unknown>): Promise<void> {
    try {
      await written;
      await this.#table.flushed;
    } finally {
      if (this.#pending.get(userId) === hash) this.#pending.delete(userId);
    }
  }
}

/** Maps persons of an outside auth server to users. */
export class SubjectTable {
  readonly #users = new Map<string, Uuid>();
  readonly #table: ControlTable<Uuid>;

  constructor(table: ControlTable<Uuid>) {
    this.#table = table;
    for (const { key, value } of table.entries()) this.#users.set(key, value);
  }

  get(issuer: string, subject: string): Uuid | undefined {
    return this.#users.get(keyOf(issuer, subject));
  }

  /** Effective at once, before it is on disk. */
  async put(issuer: string, subject: string, userId: Uuid): Promise<void> {
    const key = keyOf(issuer, subject);
    this.#users.set(key, userId);
    await this.#table.put(key, userId);
    await this.#table.flushed;
  }
}

/** Subjects can have any length and are unique only within their issuer. */
const keyOf = (issuer: string, subject: string) => hashOfToken(`${issuer}\n${subject}`);
