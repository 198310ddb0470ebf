/**
 * The layout of table rows in the pages of a checkpoint, one after another: the number of the row,
 * a word whose bit n is set when word n of the row is not zero, and these words. Most words of a
 * row are zero, because a number of whole cents leaves its lower half empty.
 */
import { invariant } from '../base/invariant.ts';

/** The most stored words of a row: a bit for each. */
export const ROW_WORDS_MAX = 32;
/** The words before the row's own. */
export const PAGE_FORM = ['row', 'present'] as const;
const BEFORE_WORDS = PAGE_FORM.length;

/** The most words that a row of `count` words takes in a page. */
export const pageWordsOf = (count: number): number => BEFORE_WORDS + count;

/** Writes `count` words of `words`, from `from` on, as a row at `at`; returns its end. */
export function putRow(
  page: Uint32Array,
  at: number,
  row: number,
  words: Uint32Array,
  from: number,
  count: number,
): number {
  let present = 0;
  let end = at + BEFORE_WORDS;
  for (let word = 0; word < count; word++) {
    const value = words[from + word]!;
    if (value === 0) continue;
    present |= 1 << word;
    page[end++] = value;
  }
  page[at] = row;
  page[at + 1] = present;
  return end;
}

/** Reads the row at `at` into `to`, from `from` on; returns where the next row begins. */
export function takeRow(
  page: Uint32Array,
  at: number,
  to: Uint32Array,
  from: number,
  count: number,
): number {
  invariant(at + BEFORE_WORDS <= page.length, 'a page ends inside a row');
  const present = page[at + 1]!;
  let end = at + BEFORE_WORDS;
  for (let word = 0; word < count; word++) {
    to[from + word] = (present >>> word) & 1 ? page[end++]! : 0;
  }
  invariant(end <= page.length, 'a page ends inside a row');
  invariant(
    count === ROW_WORDS_MAX || present >>> count === 0,
    'a row has more words than columns',
  );
  return end;
}
