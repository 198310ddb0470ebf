/**
 * Tracks which rows of a table a checkpoint writes, and keeps them as they were when it began. It
 * writes the rows changed since the last checkpoint, and a part of `TURNS` of the others in turn.
 * So `CHECKPOINTS_KEPT` checkpoints contain every row, and the work of one depends on the changes.
 */

import { invariant } from '../base/invariant.ts';
import { grown } from '../base/typed-arrays.ts';
import { pageWordsOf, putRow, takeRow } from './row-pages.ts';

/** Rows that have their turn together. */
export const BLOCK_ROWS = 128;
/** Every row has its turn once in so many checkpoints. */
export const TURNS = 8;
/**
 * The newest checkpoints that contain every row together. One more than turns: a row that changes
 * while its turn is being written is left to the next checkpoint.
 */
export const CHECKPOINTS_KEPT = TURNS + 1;

/** Marks of rows. `FIRST` and `SECOND` take turns to mean "changed since it began". */
const CLEAN = 0;
const FIRST = 1;
const SECOND = 2;
/** The row was in a loaded page. */
const LOADED = 3;

const KEPT_ROWS_MIN = 64;

/** The words of a table's row; the stored words are first. */
type Rows = { readonly words: Uint32Array; readonly rowWords: number };

export class RowChanges {
  readonly #storedWords: number;
  /** By row. */
  #marks = new Uint8Array(0);
  /** Marks rows changed since the newest checkpoint began; the other mark is for the one before. */
  #changed: typeof FIRST | typeof SECOND = FIRST;
  /** The checkpoint has passed the rows below `#next`, and writes none from `#end` on. */
  #next = 0;
  #end = 0;
  #turn = 0;
  /** Rows that changed before they were written: the number of each, and its words before that. */
  #kept = new Uint32Array(0);
  #keptFrom = 0;
  #keptEnd = 0;

  constructor(storedWords: number) {
    this.#storedWords = storedWords;
  }

  grow(capacity: number): void {
    this.#marks = grown(this.#marks, new Uint8Array(capacity));
  }

  /** Call before a row changes. */
  mark(row: number, words: Uint32Array, rowWords: number): void {
    const mark = this.#marks[row];
    if (mark === this.#changed) return;
    if (mark !== CLEAN) this.#keep(row, words, row * rowWords);
    this.#marks[row] = this.#changed;
  }

  /** Begins the checkpoint with this number, of the rows below `size`. */
  begin(checkpoint: number, size: number): void {
    const isTaken = this.#next >= this.#end && this.#keptFrom === this.#keptEnd;
    invariant(isTaken, 'a row was never taken');
    this.#changed = this.#changed === FIRST ? SECOND : FIRST;
    this.#next = 0;
    this.#end = size;
    this.#turn = checkpoint % TURNS;
  }

  /** Puts rows into the page from `at` on; returns where they end, or `at` when none are left. */
  take(page: Uint32Array, at: number, { words, rowWords }: Rows): number {
    const count = this.#storedWords;
    let end = at;
    while (end + pageWordsOf(count) <= page.length) {
      if (this.#keptFrom < this.#keptEnd) {
        const from = this.#keptFrom;
        end = putRow(page, end, this.#kept[from]!, this.#kept, from + 1, count);
        this.#keptFrom += 1 + count;
        continue;
      }
      const row = this.#nextToTake();
      if (row === this.#end) break;
      end = putRow(page, end, row, words, row * rowWords, count);
    }
    return end;
  }

  /** Loads the rows of a page, except rows from `size` on: the table was larger then. */
  load(page: Uint32Array, { words, rowWords }: Rows, size: number): void {
    for (let at = 0; at < page.length; ) {
      const row = page[at]!;
      if (row < size) {
        this.#marks[row] = LOADED;
        at = takeRow(page, at, words, row * rowWords, this.#storedWords);
      } else {
        at = takeRow(page, at, new Uint32Array(this.#storedWords), 0, this.#storedWords);
      }
    }
  }

  /** The first row below `size` that no page contained, or `size`. From now on changes count. */
  endLoad(size: number): number {
    for (let row = 0; row < size; row++) {
      if (this.#marks[row] !== LOADED) return row;
      this.#marks[row] = CLEAN;
    }
    return size;
  }

  /** The next row that the checkpoint writes and that has not changed; `#end`: there is none. */
  #nextToTake(): number {
    const marks = this.#marks;
    const end = this.#end;
    for (let row = this.#next; row < end; row++) {
      const mark = marks[row];
      if (mark === this.#changed) continue;
      if (mark === CLEAN && ((row / BLOCK_ROWS) | 0) % TURNS !== this.#turn) continue;
      marks[row] = CLEAN;
      this.#next = row + 1;
      return row;
    }
    this.#next = end;
    return end;
  }

  #keep(row: number, words: Uint32Array, from: number): void {
    const count = this.#storedWords;
    if (this.#keptFrom === this.#keptEnd) {
      this.#keptFrom = 0;
      this.#keptEnd = 0;
    }
    if (this.#keptEnd + 1 + count > this.#kept.length) {
      const length = Math.max(this.#kept.length * 2, KEPT_ROWS_MIN * (1 + count));
      this.#kept = grown(this.#kept, new Uint32Array(length));
    }
    const at = this.#keptEnd;
    this.#kept[at] = row;
    for (let word = 0; word < count; word++) this.#kept[at + 1 + word] = words[from + word]!;
    this.#keptEnd = at + 1 + count;
  }
}
