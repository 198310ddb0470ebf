/** The cursors of the history's lists. Rules H8, P8 (api/RULES.md). */

/** An opaque cursor of a place of a query, which is a number of a row or the start of a candle. */
export function cursorText(tag: string, place: number): string {
  return Buffer.from(`${tag}${place}`, 'latin1').toString('base64url');
}
