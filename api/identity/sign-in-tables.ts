/** Sign-in data of users in the control store, apart from the user objects, which are shown. */
import type { Uuid } from '../../engine/base/units.ts';
import { ControlRows } from './control-rows.ts';
import type { ControlTable } from './control-table.ts';
import type { Change, ControlWriter } from './control-writer.ts';
import { hashOfToken } from './keys.ts';

/** Hashes of passwords: `passwords.ts`. A user without one cannot sign in with a password. */
export class PasswordTable {
  readonly #table: ControlTable<string>;
  /** Hashes not on disk yet. */
  readonly #pending = new Map<Uuid, string>();
  readonly #writer: ControlWriter;

  constructor(table: ControlTable<string>, writer: ControlWriter) {
    this.#table = table;
    this.#writer = writer;
  }

  get(userId: Uuid): string | null {
    return this.#pending.get(userId) ?? this.#table.get(userId) ?? null;
  }

  /** Effective at once, before it is on disk. Throws when the disk is full. */
  async put(userId: Uuid, hash: string): Promise<void> {
    await this.#writer.write([this.putting(userId, hash)]);
  }

  /** A change came to nothing. */
  forget(userId: Uuid): void {
    this.#pending.delete(userId);
  }

  putting(userId: Uuid, hash: string): Change {
    return {
      ...{ table: this.#table, key: userId, value: hash },
      keep: () => void this.#pending.set(userId, hash),
      settle: () => {
        if (this.#pending.get(userId) === hash) this.#pending.delete(userId);
      },
    };
  }
}

/** Maps persons of an outside auth server to users. */
export class SubjectTable {
  readonly #users: ControlRows<Uuid>;
  readonly #writer: ControlWriter;

  constructor(table: ControlTable<Uuid>, writer: ControlWriter) {
    this.#users = new ControlRows(table);
    this.#writer = writer;
  }

  get(issuer: string, subject: string): Uuid | undefined {
    return this.#users.get(keyOf(issuer, subject));
  }

  /** Effective at once, before it is on disk. */
  async put(issuer: string, subject: string, userId: Uuid): Promise<void> {
    await this.#writer.write([this.putting(issuer, subject, userId)]);
  }

  /** By the hash of issuer and subject: the row is read from disk again. */
  forget(key: string): void {
    this.#users.forget(key);
  }

  putting(issuer: string, subject: string, userId: Uuid): Change {
    return this.#users.putting(keyOf(issuer, subject), userId);
  }
}

/** Subjects can have any length and are unique only within their issuer. */
const keyOf = (issuer: string, subject: string) => hashOfToken(`${issuer}\n${subject}`);
