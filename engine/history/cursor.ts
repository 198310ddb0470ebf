/** The cursors of the history's lists. Rule H8 (api/RULES.md). */

/** Written into a cursor, so that one of another list is refused. */
const MARKS = { quotes: 'q', candles: 'c' } as const;
export type PagedHistory = keyof typeof MARKS;

/** An opaque cursor of a place, which is a number of a row or the start of a candle. */
export function cursorText(list: PagedHistory, place: number): string {
  return Buffer.from(`${MARKS[list]}${place}`).toString('base64url');
}
