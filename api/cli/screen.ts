/** The terminal: its width, and one text that is redrawn as it changes. */

/** The least width of a terminal. */
export const TERMINAL_COLUMNS = 80;

/** The cursor goes to the top left, and the text below it is erased. */
const REDRAW = '\x1b[H\x1b[J';

/** The longest line of prose, in a pipe too. */
export function outputColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns : TERMINAL_COLUMNS;
}

export function redraw(text: string): void {
  process.stdout.write(REDRAW + text);
}
