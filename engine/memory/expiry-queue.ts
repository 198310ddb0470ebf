/**
 * Which resting order expires next: a binary heap by (expiry, placement). The entry of an order
 * that ended early is removed when it reaches the top. Once such entries are the majority, all of
 * them are removed. Rule T45 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { EpochMs } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import type { Values } from './columns.ts';

type Times = { expiresAtMs: EpochMs; sequence: number };
type Entry<Order> = Times & { order: Order };
type Orders<Order extends number> = {
  readonly live: number;
  readonly col: { readonly sequence: Values<Order, number> };
  isLive(row: number): boolean;
};

export class ExpiryQueue<Order extends number> {
  readonly #orders: Orders<Order>;
  readonly #isDue: ((order: Order, atMs: EpochMs) => boolean) | null;
  #heap: Entry<Order>[] = [];

  /** `isDue`: whether an order of the queue still falls due at its time; left out: all do. */
  constructor(orders: Orders<Order>, isDue?: (order: Order, atMs: EpochMs) => boolean) {
    this.#orders = orders;
    this.#isDue = isDue ?? null;
  }

  get size(): number {
    return this.#heap.length;
  }

  add(entry: Entry<Order>): void {
    invariant(Number.isSafeInteger(entry.expiresAtMs), 'an expiry is not in whole milliseconds');
    invariant(entry.expiresAtMs > 0, 'an order without an expiry is queued');
    invariant(this.#isCurrent(entry), 'an order that is done is queued');
    if (this.#heap.length > 1024 && this.#heap.length > 2 * this.#orders.live) this.#compact();
    this.#heap.push(entry);
    this.#up(this.#heap.length - 1);
  }

  /** The next order that has expired at `nowMs`, or `NO_ROW`. It is returned until it ends. */
  nextDue(nowMs: EpochMs): Order | typeof NO_ROW {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#isCurrent(top)) return top.expiresAtMs <= nowMs ? top.order : NO_ROW;
      this.#removeTop();
    }
    return NO_ROW;
  }

  /** When the next order falls due; infinite if none does. */
  nextMs(): EpochMs {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#isCurrent(top)) return top.expiresAtMs;
      this.#removeTop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The order that falls due next; it waits no longer. */
  take(): Order {
    const top = this.#heap[0];
    invariant(top !== undefined && this.#isCurrent(top), 'an order is taken where none is due');
    this.#removeTop();
    return top.order;
  }

  clear(): void {
    this.#heap = [];
  }

  /** Queued orders; `inOrder` false: the heap would end them in the wrong order. */
  waiting(): { orders: Order[]; inOrder: boolean } {
    const orders = this.#heap.filter((entry) => this.#isCurrent(entry)).map(({ order }) => order);
    const inOrder = this.#heap.every((entry, at) => {
      return at === 0 || byTime(this.#heap[(at - 1) >> 1]!, entry) <= 0;
    });
    return { orders, inOrder };
  }

  #isCurrent({ order, sequence, expiresAtMs }: Entry<Order>): boolean {
    const isIts = this.#orders.isLive(order) && this.#orders.col.sequence.get(order) === sequence;
    return isIts && (this.#isDue?.(order, expiresAtMs) ?? true);
  }

  #compact(): void {
    this.#heap = this.#heap.filter((entry) => this.#isCurrent(entry)).sort(byTime);
  }

  #removeTop(): void {
    const last = this.#heap.pop()!;
    if (this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#down(0);
  }

  #up(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (byTime(this.#heap[at]!, this.#heap[parent]!) >= 0) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(from: number): void {
    let at = from;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const entry = this.#heap[child];
        if (entry !== undefined && byTime(entry, this.#heap[least]!) < 0) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const entry = this.#heap[a]!;
    this.#heap[a] = this.#heap[b]!;
    this.#heap[b] = entry;
  }
}

function byTime(a: Times, b: Times): number {
  return a.expiresAtMs - b.expiresAtMs || a.sequence - b.sequence;
}
