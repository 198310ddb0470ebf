/** Headers of responses as text, built once and written unchanged. */

// An import of `node:http` also loads the client of `fetch`: 60 ms of CPU at each start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Response headers in wire format, each preceded by a line end. They are built once and joined,
 * because a call into native code for every header costs more than the rest of a response.
 */
export type HeaderLines = string & { readonly headerLines: true };

/** Names and values in turn. Throws on a value that would end its line. */
export function headerLines(pairs: readonly string[]): HeaderLines {
  let lines = '';
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1]!;
    if (/[\r\n]/.test(value)) throw new Error(`the header ${pairs[i]} has a line end in it`);
    lines += `\r\n${pairs[i]}: ${value}`;
  }
  return lines as HeaderLines;
}

/** `200 OK` by its number. */
export const statusLines: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);
