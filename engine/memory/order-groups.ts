/**
 * Order groups: a cap on the contracts that the orders of a group trade within a rolling window, and
 * what they have traded in it, and which of them latch. They are tables, which checkpoints write. Rules
 * T202 to T204, T217 to T222 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type AccountRow, type Contracts, type EpochMs, NO_ROW, type Uuid } from '../base/units.ts';
import { Table } from './table.ts';
import { UuidIndex } from './uuid-index.ts';

export const GROUP_COLUMNS = {
  id: 'uuid',
  account: 'i32',
  contractsLimit: 'u32',
  windowSeconds: 'u32',
} as const;
/** What a group traded at a moment. */
export const GROUP_FILL_COLUMNS = { atMs: 'f64', group: 'i32', contracts: 'u32' } as const;

/** A group that latches. Few do: the others have no row. */
export const LATCH_COLUMNS = { group: 'i32', isTriggered: 'u8' } as const;

export type GroupRow = number & { readonly __unit: 'GroupRow' };
type FillRow = number & { readonly __unit: 'GroupFillRow' };
type Units = { account: AccountRow; contractsLimit: Contracts };
type LatchRow = number & { readonly __unit: 'GroupLatchRow' };
type LatchUnits = { group: GroupRow };
type FillUnits = { atMs: EpochMs; group: GroupRow; contracts: Contracts };

export type OrderGroup = {
  id: Uuid;
  contractsLimit: Contracts;
  windowSeconds: number;
};

/** The fills of a group, the oldest first, and their sum. */
type Traded = { fills: FillRow[]; contracts: Contracts };

const SECOND_MS = 1000;

export class OrderGroups {
  readonly groups: Table<typeof GROUP_COLUMNS, Record<never, never>, GroupRow, Units> = new Table(
    'order_groups',
    GROUP_COLUMNS,
    {},
    'account',
  );
  readonly fills: Table<typeof GROUP_FILL_COLUMNS, Record<never, never>, FillRow, FillUnits> =
    new Table('group_fills', GROUP_FILL_COLUMNS, {}, 'group');
  readonly latches: Table<typeof LATCH_COLUMNS, Record<never, never>, LatchRow, LatchUnits> =
    new Table('group_latches', LATCH_COLUMNS, {}, 'group');
  readonly #latchOf = new Map<GroupRow, LatchRow>();
  readonly #ids = new UuidIndex<GroupRow>(this.groups);
  readonly #ofAccount = new Map<AccountRow, GroupRow[]>();
  readonly #traded = new Map<GroupRow, Traded>();
  /** Groups whose orders have traded since `takeFilled`. */
  readonly #filled = new Set<GroupRow>();

  /** The row of the account's group, or `NO_ROW`. */
  find(account: AccountRow, id: Uuid): GroupRow | typeof NO_ROW {
    const row = this.#ids.find(id);
    if (row === NO_ROW || this.groups.col.account.get(row) !== account) return NO_ROW;
    return row;
  }

  /** The groups of an account, in any order. */
  of(account: AccountRow): readonly GroupRow[] {
    return this.#ofAccount.get(account) ?? NO_GROUPS;
  }

  at(row: GroupRow): OrderGroup {
    const { contractsLimit, windowSeconds } = this.groups.col;
    return {
      id: this.idOf(row),
      contractsLimit: contractsLimit.get(row),
      windowSeconds: windowSeconds.get(row),
    };
  }

  idOf(row: GroupRow): Uuid {
    return this.#ids.idOf(row);
  }

  make(account: AccountRow, { id, contractsLimit, windowSeconds }: OrderGroup): void {
    invariant(this.#ids.find(id) === NO_ROW, 'an order group was made twice');
    const row = this.groups.claim();
    const to = this.groups.change(row);
    to.account.set(row, account);
    to.contractsLimit.set(row, contractsLimit);
    to.windowSeconds.set(row, windowSeconds);
    this.#ids.set(row, id);
    this.#show(row);
  }

  /** From now on it stays as it is triggered, until it is reset. */
  latch(row: GroupRow): void {
    if (this.#latchOf.has(row)) return;
    const latch = this.latches.claim();
    const to = this.latches.change(latch);
    to.group.set(latch, row);
    to.isTriggered.set(latch, 0);
    this.#latchOf.set(row, latch);
  }

  isLatched(row: GroupRow): boolean {
    return this.#latchOf.has(row);
  }

  isTriggered(row: GroupRow): boolean {
    const latch = this.#latchOf.get(row);
    return latch !== undefined && this.latches.col.isTriggered.get(latch) === 1;
  }

  /** Of a group that latches. */
  setTriggered(row: GroupRow, isTriggered: boolean): void {
    const latch = this.#latchOf.get(row)!;
    this.latches.change(latch).isTriggered.set(latch, isTriggered ? 1 : 0);
  }

  setLimit(row: GroupRow, contractsLimit: Contracts): void {
    this.groups.change(row).contractsLimit.set(row, contractsLimit);
  }

  /** Its window begins again. */
  forgetFills(row: GroupRow): void {
    this.#forget(row);
    this.#traded.set(row, { fills: [], contracts: 0 });
  }

  remove(row: GroupRow): void {
    this.#forget(row);
    const latch = this.#latchOf.get(row);
    if (latch !== undefined) {
      this.latches.release(latch);
      this.#latchOf.delete(row);
    }
    this.#traded.delete(row);
    this.#filled.delete(row);
    const account = this.groups.col.account.get(row);
    const left = this.of(account).filter((other) => other !== row);
    if (left.length === 0) this.#ofAccount.delete(account);
    else this.#ofAccount.set(account, left);
    this.#ids.remove(row);
    this.groups.release(row);
  }

  /** An order of the group traded. Fills that left its window are forgotten. */
  filled(row: GroupRow, atMs: EpochMs, contracts: Contracts): void {
    const traded = this.#traded.get(row)!;
    const { fills } = traded;
    const { col } = this.fills;
    const gone = fills.findIndex((fill) => col.atMs.get(fill) > this.#since(row, atMs));
    for (const fill of fills.splice(0, gone === -1 ? fills.length : gone)) {
      traded.contracts -= col.contracts.get(fill);
      this.fills.release(fill);
    }
    traded.contracts += contracts;
    this.#filled.add(row);
    const last = fills.at(-1);
    if (last !== undefined && col.atMs.get(last) === atMs) {
      const change = this.fills.change(last);
      change.contracts.set(last, col.contracts.get(last) + contracts);
      return;
    }
    const fill = this.fills.claim();
    const to = this.fills.change(fill);
    to.atMs.set(fill, atMs);
    to.group.set(fill, row);
    to.contracts.set(fill, contracts);
    fills.push(fill);
  }

  /** The groups whose orders have traded since the last call; null: none. */
  takeFilled(): readonly GroupRow[] | null {
    if (this.#filled.size === 0) return null;
    const filled = [...this.#filled];
    this.#filled.clear();
    return filled;
  }

  /** The contracts that its orders have traded within its window. */
  tradedContracts(row: GroupRow, nowMs: EpochMs): Contracts {
    const { fills, contracts } = this.#traded.get(row)!;
    const { col } = this.fills;
    const sinceMs = this.#since(row, nowMs);
    let sum = contracts;
    for (const fill of fills) {
      if (col.atMs.get(fill) > sinceMs) break;
      sum -= col.contracts.get(fill);
    }
    return sum;
  }

  /** The same, with what has left its window since its last fill. */
  storedContracts(row: GroupRow): Contracts {
    return this.#traded.get(row)!.contracts;
  }

  isReached(row: GroupRow, nowMs: EpochMs, further: Contracts = 0): boolean {
    return this.tradedContracts(row, nowMs) + further >= this.groups.col.contractsLimit.get(row);
  }

  /** Whether it refuses new orders. */
  refuses(row: GroupRow, nowMs: EpochMs): boolean {
    return this.isTriggered(row) || this.isReached(row, nowMs);
  }

  /** The clock went back: every window begins again. */
  clearFills(): void {
    for (const row of this.#traded.keys()) this.forgetFills(row);
  }

  /** After a load. */
  rebuild(): void {
    for (const row of this.groups.rows()) {
      this.#ids.add(row);
      this.#show(row);
    }
    for (const latch of this.latches.rows()) {
      const row = this.latches.col.group.get(latch);
      invariant(this.#traded.has(row), 'a latch is of no order group');
      this.#latchOf.set(row, latch);
    }
    const { atMs, contracts, group } = this.fills.col;
    const fills = [...this.fills.rows()].sort((a, b) => atMs.get(a) - atMs.get(b));
    for (const fill of fills) {
      const traded = this.#traded.get(group.get(fill));
      invariant(traded !== undefined, 'a fill is of no order group');
      traded.fills.push(fill);
      traded.contracts += contracts.get(fill);
    }
  }

  /** The fills at this moment and before it have left the window. */
  #since(row: GroupRow, nowMs: EpochMs): EpochMs {
    return nowMs - this.groups.col.windowSeconds.get(row) * SECOND_MS;
  }

  #forget(row: GroupRow): void {
    for (const fill of this.#traded.get(row)!.fills) this.fills.release(fill);
  }

  #show(row: GroupRow): void {
    const account = this.groups.col.account.get(row);
    this.#ofAccount.set(account, [...this.of(account), row]);
    this.#traded.set(row, { fills: [], contracts: 0 });
  }
}

const NO_GROUPS: readonly GroupRow[] = [];
