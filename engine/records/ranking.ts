/**
 * Traders in the order of a board: the highest value first, equal ones by their ids. Rule Y22
 * (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import type { TraderNumber, Traders } from './traders.ts';

export type Ranking = {
  /** By rank, from 0. */
  order: Uint32Array;
  /** Of each in that order; whole numbers. */
  values: Float64Array;
};

const DIGIT_BITS = 16;
const DIGITS = 2 ** DIGIT_BITS;
/** Values lie within 2^47 on both sides of 0: 1.4 trillion dollars. */
const OFFSET = 2 ** 47;

/** Traders by their ids; those that come are sorted in when they are first needed. */
export class IdOrder {
  readonly #traders: Traders;
  #order = new Uint32Array(0);
  #known = 0;

  constructor(traders: Traders) {
    this.#traders = traders;
  }

  get(): Uint32Array {
    const traders = this.#traders;
    if (traders.end === this.#known && !this.#hasHoles) return this.#order;
    const there: TraderNumber[] = [];
    for (let trader = 0; trader < traders.end; trader++)
      if (traders.has(trader)) there.push(trader);
    if (there.length !== this.#order.length) {
      const isOld = new Uint8Array(traders.end);
      for (const trader of this.#order) isOld[trader] = 1;
      const added = there.filter((trader) => isOld[trader] === 0);
      added.sort((a, b) => traders.compareIds(a, b));
      this.#order = this.#merged(this.#order, added);
    }
    this.#known = traders.end;
    return this.#order;
  }

  /** Numbers of other shards may still come in between. */
  get #hasHoles(): boolean {
    return this.#order.length < this.#traders.end;
  }

  #merged(order: Uint32Array, added: readonly TraderNumber[]): Uint32Array<ArrayBuffer> {
    const merged = new Uint32Array(order.length + added.length);
    let [from, to] = [0, 0];
    for (const trader of added) {
      while (from < order.length && this.#traders.compareIds(order[from]!, trader) < 0) {
        merged[to++] = order[from++]!;
      }
      merged[to++] = trader;
    }
    merged.set(order.subarray(from), to);
    invariant(to + order.length - from === merged.length, 'a trader was ranked twice');
    return merged;
  }
}

/** `members` in the order of their ids; a sort by digits keeps it where values are equal. */
export function ranked(
  members: Uint32Array<ArrayBuffer>,
  rankedBy: (trader: TraderNumber) => number,
): Ranking {
  const count = members.length;
  const keys = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const value = rankedBy(members[at]!);
    invariant(Number.isInteger(value) && Math.abs(value) < OFFSET, 'a board ranks no whole number');
    keys[at] = OFFSET - value;
  }
  let [order, sorted] = [members, keys];
  for (let shift = 1; shift <= 2 ** 32; shift *= DIGITS) {
    [order, sorted] = byDigit(order, sorted, shift);
  }
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) values[at] = OFFSET - sorted[at]!;
  return { order, values };
}

type Keyed = [order: Uint32Array<ArrayBuffer>, keys: Float64Array<ArrayBuffer>];

function byDigit(...[order, keys, shift]: [...Keyed, shift: number]): Keyed {
  const starts = new Uint32Array(DIGITS + 1);
  const digits = new Uint16Array(keys.length);
  for (let at = 0; at < keys.length; at++) {
    const digit = Math.floor(keys[at]! / shift) % DIGITS;
    digits[at] = digit;
    starts[digit + 1] = starts[digit + 1]! + 1;
  }
  // All alike, as the highest digits mostly are.
  if (keys.length > 0 && starts[digits[0]! + 1] === keys.length) return [order, keys];
  for (let digit = 0; digit < DIGITS; digit++)
    starts[digit + 1] = starts[digit + 1]! + starts[digit]!;
  const nextOrder = new Uint32Array(order.length);
  const nextKeys = new Float64Array(keys.length);
  for (let at = 0; at < keys.length; at++) {
    const digit = digits[at]!;
    const place = starts[digit]!;
    starts[digit] = place + 1;
    nextOrder[place] = order[at]!;
    nextKeys[place] = keys[at]!;
  }
  return [nextOrder, nextKeys];
}

/** The first place behind a value and the id of a trader who has, or had, it. */
export function placeBehind(
  { order, values }: Ranking,
  value: number,
  isBehind: (trader: TraderNumber) => boolean,
): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const own = values[middle]!;
    if (own < value || (own === value && isBehind(order[middle]!))) high = middle;
    else low = middle + 1;
  }
  return low;
}
