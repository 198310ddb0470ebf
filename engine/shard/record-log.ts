/**
 * Records as bytes, one behind the other, found by a uuid and listed by account. They come by the
 * thousand and are read seldom; as bytes they cost the garbage collector nothing.
 */

import { ByteReader, ByteWriter } from '../format/bytes.ts';
import type { Compiled } from '../format/layout.ts';
import { Table } from '../memory/table.ts';
import { UuidIndex } from '../memory/uuid-index.ts';
import { invariant } from '../rules/invariant.ts';
import type { AccountRow, Uuid } from '../rules/units.ts';
import { NO_ROW } from '../rules/units.ts';

export class RecordLog<T> {
  readonly #format: Compiled<T>;
  readonly #bytes = new ByteWriter();
  /** `at`: where its bytes begin; `older`: the record before it of the same account. */
  readonly #table = new Table(
    'record log',
    { id: 'uuid', account: 'i32', at: 'u32' },
    { older: 'i32' },
    'account',
  );
  readonly #index = new UuidIndex(this.#table);
  /** By account row. */
  readonly #newest = new Map<AccountRow, number>();

  constructor(format: Compiled<T>) {
    this.#format = format;
  }

  /** Rows are numbered from 0 in the order of adding. */
  get size(): number {
    return this.#table.size;
  }

  add(account: AccountRow, id: Uuid, record: T): number {
    invariant(account >= 0, 'a record has no account');
    const row = this.#table.claim();
    const col = this.#table.change(row);
    col.account.set(row, account);
    col.at.set(row, this.#bytes.length);
    this.#table.derived.older.set(row, this.#newest.get(account) ?? NO_ROW);
    this.#newest.set(account, row);
    this.#index.set(row, id);
    this.#format.write(this.#bytes, record);
    return row;
  }

  /** The row of an id, or `NO_ROW`. */
  find(id: Uuid): number {
    return this.#index.find(id);
  }

  get(row: number): T {
    return this.#format.read(new ByteReader(this.bytesOf(row)));
  }

  /** As they were written; good as long as the log. */
  bytesOf(row: number): Uint8Array {
    const { at } = this.#table.col;
    invariant(row >= 0 && row < this.size, 'a record was read that is not there');
    const end = row + 1 < this.size ? at.get(row + 1) : this.#bytes.length;
    return this.#bytes.view(at.get(row), end);
  }

  accountOf(row: number): AccountRow {
    return this.#table.col.account.get(row) as AccountRow;
  }

  idOf(row: number): Uuid {
    return this.#index.idOf(row);
  }

  /** Account rows, in their order. */
  accounts(): AccountRow[] {
    return [...this.#newest.keys()].sort((a, b) => a - b);
  }

  /** Rows of one account, newest first. */
  *rowsOf(account: AccountRow): Generator<number> {
    const { older } = this.#table.col;
    for (let row = this.#newest.get(account) ?? NO_ROW; row !== NO_ROW; row = older.get(row)) {
      yield row;
    }
  }
}
