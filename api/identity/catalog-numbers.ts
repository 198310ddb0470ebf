/**
 * The names of markets and the ids of instruments by their numbers. They are stored in pieces, so
 * that a change writes the last piece of each list, and not every name of all time. A store of
 * before has a whole list as its value `numbers`; pieces follow its names. Rule K64
 * (feeds/FORMATS.md).
 */
import { invariant } from '../../engine/base/invariant.ts';
import { ControlDamage, type ControlTable } from './control-table.ts';
import type { CatalogNumbers, ControlValues } from './control-tables.ts';
import type { Change, ControlWriter } from './control-writer.ts';

const LISTS = ['marketNames', 'instrumentIds'] as const satisfies (keyof CatalogNumbers)[];
type List = (typeof LISTS)[number];
const PIECE_NAMES = 250;
const NUMBER_DIGITS = 10;

/** Null: a new store. Throws `ControlDamage`. */
export function readNumbers(
  values: ControlValues,
  names: ControlTable<string[]>,
): CatalogNumbers | null {
  const before = values.get('numbers');
  if (before === undefined) return null;
  const all = { marketNames: [...before.marketNames], instrumentIds: [...before.instrumentIds] };
  for (const list of LISTS) {
    for (const { key, value } of names.under(`${list}/`)) {
      if (key !== keyOf(list, all[list].length)) {
        throw new ControlDamage(`names [${key}] are not the next after ${all[list].length}`);
      }
      all[list].push(...value);
    }
  }
  return all;
}

const keyOf = (list: List, first: number) =>
  `${list}/${String(first).padStart(NUMBER_DIGITS, '0')}`;

/** Where the pieces of a list begin, how many names it has, and the last one. */
type Stored = { begins: number; count: number; last: string | undefined };

export class CatalogNumberTable {
  readonly #values: ControlValues;
  readonly #names: ControlTable<string[]>;
  readonly #writer: ControlWriter;
  /** Null: not read yet, or a new store. */
  #stored: Record<List, Stored> | null = null;

  constructor(values: ControlValues, names: ControlTable<string[]>, writer: ControlWriter) {
    this.#values = values;
    this.#names = names;
    this.#writer = writer;
  }

  /** Null: a new store. Throws `ControlDamage`. */
  read(): CatalogNumbers | null {
    const numbers = readNumbers(this.#values, this.#names);
    if (numbers === null) return null;
    const before = this.#values.get('numbers')!;
    this.#stored = storedOf(numbers, (list) => before[list].length);
    return numbers;
  }

  /** Another node has added names, or a change came to nothing. */
  forget(): void {
    this.#stored = null;
  }

  /** Names are only ever added. Resolves once they are on disk. */
  async put(numbers: CatalogNumbers): Promise<void> {
    const isNew = this.#stored === null && this.read() === null;
    const stored = this.#stored ?? storedOf(NO_NUMBERS, () => 0);
    const changes = isNew ? [this.#values.putting('numbers', NO_NUMBERS)] : [];
    for (const list of LISTS) changes.push(...this.#added(list, stored[list], numbers[list]));
    // Every start calls this, and the disk may be full.
    if (changes.length === 0) return;
    await this.#writer.write(changes);
    this.#stored = storedOf(numbers, (list) => stored[list].begins);
  }

  /** The changes of the pieces that have new names. */
  #added(list: List, { begins, count, last }: Stored, names: readonly string[]): Change[] {
    const isLonger = names.length >= count && (count === 0 || names[count - 1] === last);
    invariant(isLonger, 'the number of a name has changed');
    if (names.length === count) return [];
    const changes: Change[] = [];
    let first = count - ((count - begins) % PIECE_NAMES);
    for (; first < names.length; first += PIECE_NAMES) {
      changes.push({
        ...{ table: this.#names, key: keyOf(list, first) },
        value: names.slice(first, first + PIECE_NAMES),
        keep: () => undefined,
      });
    }
    return changes;
  }
}

const NO_NUMBERS: CatalogNumbers = { marketNames: [], instrumentIds: [] };

function storedOf(numbers: CatalogNumbers, beginsOf: (list: List) => number): Record<List, Stored> {
  const of = (list: List): Stored => {
    const { [list]: names } = numbers;
    return { begins: beginsOf(list), count: names.length, last: names.at(-1) };
  };
  return { marketNames: of('marketNames'), instrumentIds: of('instrumentIds') };
}
