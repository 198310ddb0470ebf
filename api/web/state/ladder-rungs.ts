/** The levels of a book side by side. Rule A84 (api/RULES.md). */
import type { Book } from '../../client/generated.js';

export type Level = { cents: number; contracts: number };
/** A step of the ladder: the bid and the ask at the same distance from the top. */
export type Rung = { bid: Level | null; ask: Level | null };
type Sides = Pick<Book, 'yesBids' | 'yesAsks'>;

/** Whether there is more than the best prices, which the quote has too. */
export function hasDepth({ yesBids, yesAsks }: Sides): boolean {
  return yesBids.length > 1 || yesAsks.length > 1;
}

export function rungsOf({ yesBids, yesAsks }: Sides): Rung[] {
  const count = Math.max(yesBids.length, yesAsks.length);
  return Array.from({ length: count }, (_, at) => {
    return { bid: levelOf(yesBids[at]), ask: levelOf(yesAsks[at]) };
  });
}

function levelOf(level: readonly number[] | undefined): Level | null {
  return level === undefined ? null : { cents: level[0]!, contracts: level[1]! };
}
