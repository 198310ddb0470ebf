/**
 * Traders in the order of a board: by their values, equal ones by their ids. Rule Y22
 * (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { firstIndex } from '../../base/sorted.ts';
import type { Uuid } from '../../base/units.ts';
import { keysOf, sorted, valuesOf } from '../maths/radix.ts';
import type { TraderIds, TraderNumber } from '../store/trader-ids.ts';
import { uuidBytes } from '../store/uuid-bytes.ts';

export type Ranking = {
  /** By rank, from 0. */
  order: Uint32Array;
  /** The value of each in that order. */
  values: Float64Array;
  /** Whether the least value is first. */
  isAscending: boolean;
};

/** Traders by their ids; new traders are sorted in when they are first needed. */
export class IdOrder {
  readonly #ids: TraderIds;
  #order: Uint32Array = new Uint32Array(0);
  #places = new Uint32Array(0);

  constructor(ids: TraderIds) {
    this.#ids = ids;
  }

  get count(): number {
    return this.#order.length;
  }

  /** The place of each trader in the order of ids, by number. */
  places(): Uint32Array {
    const ids = this.#ids;
    if (ids.count === this.#order.length) return this.#places;
    const added = new Uint32Array(ids.count - this.#order.length);
    const isOld = new Uint8Array(ids.end);
    for (const trader of this.#order) isOld[trader] = 1;
    let at = 0;
    for (let trader = 0; trader < ids.end; trader++) {
      if (isOld[trader] === 0 && ids.has(trader)) added[at++] = trader;
    }
    invariant(at === added.length, 'a trader is counted twice');
    this.#order = this.#merged(this.#order, this.#sorted(added));
    this.#places = new Uint32Array(ids.end);
    for (let place = 0; place < this.#order.length; place++) {
      this.#places[this.#order[place]!] = place;
    }
    return this.#places;
  }

  #sorted(added: Uint32Array<ArrayBuffer>): Uint32Array {
    const ids = this.#ids;
    const keys = new Uint32Array(2 * added.length);
    for (let at = 0; at < added.length; at++) ids.putKey(added[at]!, keys, at);
    const { items } = sorted({ items: added, keys });
    // Only ids that begin alike are not in order yet.
    let isSorted = true;
    for (let at = 1; at < items.length && isSorted; at++) {
      isSorted = ids.compare(items[at - 1]!, items[at]!) < 0;
    }
    return isSorted ? items : items.sort((a, b) => ids.compare(a, b));
  }

  #merged(order: Uint32Array, added: Uint32Array): Uint32Array {
    if (order.length === 0) return added;
    const merged = new Uint32Array(order.length + added.length);
    let [from, to] = [0, 0];
    for (const trader of added) {
      while (from < order.length && this.#ids.compare(order[from]!, trader) < 0) {
        merged[to++] = order[from++]!;
      }
      merged[to++] = trader;
    }
    merged.set(order.subarray(from), to);
    invariant(to + order.length - from === merged.length, 'a trader was ranked twice');
    return merged;
  }
}

export type Members = {
  /** One more than the highest number. */
  end: TraderNumber;
  isMember(trader: TraderNumber): boolean;
  rankedBy(trader: TraderNumber): number;
  isAscending: boolean;
};

/** Visits each trader once, in the order of their numbers. The ids may be in any other order. */
export function ranked(ids: IdOrder, { end, isMember, rankedBy, isAscending }: Members): Ranking {
  const sign = isAscending ? 1 : -1;
  const places = ids.places();
  const byId = new Uint32Array(ids.count).fill(NOBODY);
  const valueById = new Float64Array(ids.count);
  for (let trader = 0; trader < end; trader++) {
    if (!isMember(trader)) continue;
    const place = places[trader]!;
    byId[place] = trader;
    valueById[place] = sign * rankedBy(trader);
  }
  let count = 0;
  for (let place = 0; place < byId.length; place++) {
    if (byId[place] === NOBODY) continue;
    byId[count] = byId[place]!;
    valueById[count] = valueById[place]!;
    count++;
  }
  const keys = keysOf(valueById.subarray(0, count));
  const { items: order, keys: inOrder } = sorted({ items: byId.slice(0, count), keys });
  const values = valuesOf(inOrder);
  invariant(!Number.isNaN(values[count - 1] ?? 0), 'a board ranks a value that is no number');
  for (let at = 0; at < count; at++) values[at] = sign * values[at]! + 0;
  return { order, values, isAscending };
}

/** No trader has so high a number. */
const NOBODY = 2 ** 32 - 1;

/** The first place after a value and the id of a trader who has, or had, it. */
export function placeBehind(
  { order, values, isAscending }: Ranking,
  value: number,
  isBehind: (trader: TraderNumber) => boolean,
): number {
  const sign = isAscending ? 1 : -1;
  return firstIndex(order, (trader, at) => {
    const by = sign * (values[at]! - value);
    return by > 0 || (by === 0 && isBehind(trader));
  });
}

/** Whether a trader is after the trader of an id, in the order of ids. */
export function isBehindId(ids: TraderIds, id: Uuid): (trader: TraderNumber) => boolean {
  const bytes = uuidBytes(id);
  return (trader) => ids.compareToBytes(trader, bytes) > 0;
}
