/** Prints of a market, from the lines of an export. Rule H15 (api/RULES.md). */
import type { Side } from '../../client/generated.js';

/** `side` is the taker's. */
export type Print = { at: string; yesPriceCents: number; contracts: number; side: Side };

const SHOWN_MAX = 12;

/** @param text NDJSON, the oldest first */
export function printsOf(text: string): Print[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Print);
}

/**
 * The newest prints, the newest first.
 *
 * @param since the prints of `from` and later, the oldest first
 */
export function withPrints(
  known: readonly Print[],
  since: readonly Print[],
  from: string,
): Print[] {
  const before = known.filter(({ at }) => Date.parse(at) < Date.parse(from));
  return [...since.toReversed(), ...before].slice(0, SHOWN_MAX);
}
