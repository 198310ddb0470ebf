/** A terminal that shows one text, redrawn as it changes. */

/** The cursor goes to the top left, and the text below it is erased. */
const REDRAW = '\x1b[H\x1b[J';

export function redraw(text: string): void {
  process.stdout.write(REDRAW + text);
}
