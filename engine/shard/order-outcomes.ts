/**
 * How orders ended since the last checkpoint, as rows and not as objects. One quote may end
 * thousands of orders, and most outcomes are read only once, by the next checkpoint.
 */

import { orderIdWord, type PlacedBytes } from '../format/placement-bytes.ts';
import { Table } from '../memory/table.ts';
import { UuidIndex } from '../memory/uuid-index.ts';
import { copyUuid, uuidAt } from '../memory/uuid-words.ts';
import { CANCEL_REASONS, type OrderOutcome } from '../rules/events.ts';
import type { OutcomeIds } from '../rules/finished-records.ts';
import { invariant } from '../rules/invariant.ts';
import type { AccountRow, Uuid } from '../rules/units.ts';

const STATUSES = ['executed', 'canceled', 'expired'] as const;
const STATUS_CODES = { executed: 0, canceled: 1, expired: 2 } as const;
const NO_VENUE = 255;

export type EndedOrder = { account: AccountRow; orderId: Uuid; outcome: OrderOutcome };

export class Outcomes {
  readonly #table = new Table(
    'outcomes',
    {
      id: 'uuid',
      trade: 'uuid',
      atMs: 'f64',
      account: 'i32',
      filledContracts: 'u32',
      status: 'u8',
      reason: 'u8',
      fillPriceCents: 'u8',
      venue: 'u8',
    },
    {},
    'account',
  );
  #index = new UuidIndex(this.#table);
  /** Rows below this are in the index. The others are added at the next search. */
  #indexed = 0;
  /** By row. */
  #taken = new Uint8Array(0);

  get size(): number {
    return this.#table.size;
  }

  add(account: AccountRow, ids: OutcomeIds, outcome: Omit<OrderOutcome, 'tradeId'>): void {
    invariant(account >= 0, 'an order of no account ended');
    const row = this.#table.claim();
    const col = this.#table.change(row);
    const { orders, order, positions, position } = ids;
    copyUuid(col.id, row, orders, order);
    // No uuid is all zeros.
    if (position === null) col.trade.set(row, 0, 0, 0, 0);
    else copyUuid(col.trade, row, positions, position);
    col.atMs.set(row, outcome.atMs);
    col.account.set(row, account);
    col.filledContracts.set(row, outcome.filledContracts ?? 0);
    col.status.set(row, STATUS_CODES[outcome.status]);
    col.reason.set(row, outcome.reason === null ? 0 : CANCEL_REASONS.indexOf(outcome.reason) + 1);
    col.fillPriceCents.set(row, outcome.fillPriceCents ?? 0);
    col.venue.set(row, outcome.venue ?? NO_VENUE);
  }

  /** Drops all of them and keeps the memory: about as many come until the next checkpoint. */
  clear(): void {
    this.#table.clear();
    this.#index = new UuidIndex(this.#table);
    this.#indexed = 0;
    this.#taken.fill(0);
  }

  find(orderId: Uuid): OrderOutcome | undefined {
    this.#indexAll();
    const row = this.#index.find(orderId);
    return row < 0 ? undefined : this.#outcomeOf(row);
  }

  /** The outcome of an order, to be written with its placement; `left` then omits it. */
  take(placed: PlacedBytes): OrderOutcome | undefined {
    this.#indexAll();
    const word = (at: 0 | 1 | 2 | 3) => orderIdWord(placed, at);
    const row = this.#index.findWords(word(0), word(1), word(2), word(3));
    if (row < 0) return undefined;
    if (this.#taken.length < this.size) {
      const taken = new Uint8Array(this.size);
      taken.set(this.#taken);
      this.#taken = taken;
    }
    invariant(this.#taken[row] !== 1, 'the end of an order was taken twice');
    this.#taken[row] = 1;
    return this.#outcomeOf(row);
  }

  /** The outcomes that were not written with a placement. */
  *left(): Generator<EndedOrder> {
    for (let row = 0; row < this.size; row++) if (this.#taken[row] !== 1) yield this.#entryOf(row);
  }

  *entries(): Generator<EndedOrder> {
    for (let row = 0; row < this.size; row++) yield this.#entryOf(row);
  }

  #indexAll(): void {
    while (this.#indexed < this.size) this.#index.add(this.#indexed++);
  }

  #entryOf(row: number): EndedOrder {
    const account = this.#table.col.account.get(row) as AccountRow;
    return { account, orderId: this.#index.idOf(row), outcome: this.#outcomeOf(row) };
  }

  #outcomeOf(row: number): OrderOutcome {
    const { col } = this.#table;
    const { trade } = col;
    const hasTrade = (trade.word(row, 0) | trade.word(row, 1) | trade.word(row, 2)) !== 0;
    const venue = col.venue.get(row);
    return {
      atMs: col.atMs.get(row),
      status: STATUSES[col.status.get(row)]!,
      reason: CANCEL_REASONS[col.reason.get(row) - 1] ?? null,
      fillPriceCents: col.fillPriceCents.get(row) || null,
      venue: venue === NO_VENUE ? null : venue,
      tradeId: hasTrade ? uuidAt(trade, row) : null,
      filledContracts: col.filledContracts.get(row) || null,
    };
  }
}
