/** An index beside a plain list of its entries, played at random and crashed. */
import { isDeepStrictEqual } from 'node:util';
import { INDEX_CLASS, type IndexClass } from '../../../engine/index/entry.ts';
import { type IndexHead, RecordIndex } from '../../../engine/index/record-index.ts';
import { MemoryRunStore } from './memory-run-store.ts';

export const SEED = [0x1234567, 0x89abcdef, 0x42, 0xfedcba98];
const CLASSES = Object.values(INDEX_CLASS);
const LISTED = CLASSES.filter((of) => of !== INDEX_CLASS.key);
const ACCOUNTS = 6;

export type ModelEntry = {
  account: number;
  class: IndexClass;
  words: readonly [number, number, number, number];
  record: number;
  offset: number;
};

/** Words of a seeded sequence (xorshift). */
export function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

export function addTo(index: RecordIndex, entry: ModelEntry): void {
  const [w0, w1, w2, w3] = entry.words;
  index.add(entry.account, entry.class, w0, w1, w2, w3, entry.record, entry.offset);
}

/** Seals all entries in memory, and returns the head that is then on disk. */
export function sealed(index: RecordIndex, store: MemoryRunStore): IndexHead {
  const seal = index.beginSeal();
  for (const _ of seal.write) store.flush();
  const { head } = seal;
  store.flush();
  index.endSeal();
  return head;
}

export class IndexModel {
  readonly #random: (below: number) => number;
  readonly #store = new MemoryRunStore();
  #index = new RecordIndex(this.#store, SEED);
  /** Of the newest checkpoint, and how many of the entries it covers. */
  #head: IndexHead | null = null;
  #covered = 0;
  readonly #entries: ModelEntry[] = [];
  readonly #byName = new Map<string, ModelEntry[]>();
  readonly problems: string[] = [];
  /** The highest level that a run had. */
  level = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  /** Plays so many turns, and returns how many seals came to their end. */
  play({ turns, adds }: { turns: number; adds: number }): number {
    let seals = 0;
    for (let turn = 0; turn < turns && this.problems.length === 0; turn++) {
      this.#addSome(this.#random(8) === 0 ? adds * 8 : adds);
      this.#compare(5);
      if (this.#random(4) > 0 && this.#seal()) seals++;
      if (this.#random(16) === 0) this.#restart();
    }
    return seals;
  }

  /** A seal during which entries are added and answers are right; false: it crashed. */
  #seal(): boolean {
    const covers = this.#entries.length;
    const seal = this.#index.beginSeal();
    const crashAt = this.#random(4) === 0 ? this.#random(seal.steps + 2) : -1;
    let steps = 0;
    for (;;) {
      if (steps === crashAt) return this.#restart();
      if (seal.write.next().done === true) break;
      steps++;
      if (this.#random(20) === 0) this.#addSome(40);
      if (this.#random(20) === 0) this.#compare(2);
      if (this.#random(2) === 0) this.#store.flush(this.#random(this.#store.pending + 1));
    }
    if (steps > seal.steps) this.problems.push(`${steps} steps, not ${seal.steps} at most`);
    const { head } = seal;
    this.#store.flush();
    this.#head = structuredClone(head);
    this.#covered = covers;
    this.level = Math.max(this.level, ...head.runs.map(({ level }) => level));
    if (this.#random(10) === 0) return this.#restart();
    this.#index.endSeal();
    return true;
  }

  /**
   * A crash, after which some pending writes may be on disk. Then a start, which plays the log
   * again.
   */
  #restart(): false {
    this.#store.flush(this.#random(this.#store.pending + 1));
    this.#store.crash();
    this.#index = new RecordIndex(this.#store, [0, 0, 0, 0]);
    if (this.#head !== null) this.#index.load(structuredClone(this.#head));
    for (const entry of this.#entries.slice(this.#covered)) addTo(this.#index, entry);
    return false;
  }

  #addSome(most: number): void {
    const random = this.#random;
    for (let left = random(most); left > 0; left--) {
      const number = this.#entries.length;
      const isKey = random(3) === 0;
      // Most entries are of one account; a few share their names.
      const entry: ModelEntry = {
        account: random(2) === 0 ? 3 : random(ACCOUNTS),
        class: isKey ? INDEX_CLASS.key : LISTED[random(LISTED.length)]!,
        words: [isKey ? random(2 ** 32) : number >>> 8, random(8) * 2 ** 29, random(3), number],
        record: random(2 ** 16) * 2 ** 32 + random(2 ** 32),
        offset: random(2 ** 32),
      };
      if (random(50) === 0 && number > 0) {
        const { account, class: of, words } = this.#entries[random(number)]!;
        Object.assign(entry, { account, class: of, words });
      }
      this.#entries.push(entry);
      const name = nameOf(entry.account, entry.class, entry.words);
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), entry]);
      addTo(this.#index, entry);
    }
  }

  /** Some names that are there, some that are not, and some lists. */
  #compare(times: number): void {
    const random = this.#random;
    for (let time = 0; time < times && this.#entries.length > 0; time++) {
      const { account, class: of, words } = this.#entries[random(this.#entries.length)]!;
      this.#compareFound(account, of, words);
      this.#compareFound(random(ACCOUNTS), of, [words[0], words[1], 7, random(2 ** 32)]);
    }
    const some = LISTED.filter(() => random(3) > 0);
    const before = this.#entries[random(this.#entries.length)]?.words ?? null;
    this.#compareList(random(ACCOUNTS), some, random(2) === 0 ? null : before);
  }

  #compareFound(account: number, of: IndexClass, words: ModelEntry['words']): void {
    const entries = this.#byName.get(nameOf(account, of, words)) ?? [];
    const places = entries.map(({ record, offset }) => ({ record, offset }));
    const found = this.#index.find(account, of, ...words);
    if (!isDeepStrictEqual(sortedPlaces(found), sortedPlaces(places))) {
      this.problems.push(`finds ${JSON.stringify(found)}, not ${JSON.stringify(places)}`);
    }
  }

  #compareList(
    account: number,
    classes: readonly IndexClass[],
    before: ModelEntry['words'] | null,
  ): void {
    const wanted = this.#entries
      .filter((entry) => entry.account === account && classes.includes(entry.class))
      .filter(({ words }) => before === null || compareWords(words, before) < 0)
      .sort((one, other) => compareWords(other.words, one.words));
    const listed = [...this.#index.newestFirst(account, classes, before)];
    const shownNames = listed.map(({ w0, w1, w2, w3 }) => [w0, w1, w2, w3]);
    const places = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
    const isEqual =
      isDeepStrictEqual(
        shownNames,
        wanted.map(({ words }) => [...words]),
      ) &&
      isDeepStrictEqual(
        places(listed.map((row) => [row.class, row.record, row.offset])),
        places(wanted.map((entry) => [entry.class, entry.record, entry.offset])),
      );
    if (!isEqual) this.problems.push(`lists ${listed.length} entries, not ${wanted.length}`);
  }
}

function nameOf(account: number, of: IndexClass, words: ModelEntry['words']): string {
  return [account, of, ...words].join(' ');
}

function compareWords(one: ModelEntry['words'], other: ModelEntry['words']): number {
  const at = one.findIndex((word, number) => word !== other[number]);
  return at === -1 ? 0 : one[at]! - other[at]!;
}

function sortedPlaces(places: readonly { record: number; offset: number }[]) {
  return [...places].sort((one, other) => one.record - other.record || one.offset - other.offset);
}
