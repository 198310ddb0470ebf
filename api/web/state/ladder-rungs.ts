/** The levels of a book, one below the other. Rules A84, U41 (api/RULES.md). */
import type { Book } from '../../client/generated.js';

export type Rung = {
  side: 'ask' | 'bid';
  cents: number;
  contracts: number;
  /** With all levels between it and the best price. */
  total: number;
  /** `total` in percent of the larger of both sides. */
  sharePct: number;
};
type Sides = Pick<Book, 'yesBids' | 'yesAsks'>;

/** Levels of each side on the page; those further away are rarely met. */
const SHOWN_MAX = 8;

/** Whether there is more than the best prices, which the quote has too. */
export function hasDepth({ yesBids, yesAsks }: Sides): boolean {
  return yesBids.length > 1 || yesAsks.length > 1;
}

/** From the dearest ask down to the lowest bid: the best prices meet in the middle. */
export function rungsOf({ yesBids, yesAsks }: Sides): Rung[] {
  const asks = totaled('ask', yesAsks);
  const bids = totaled('bid', yesBids);
  const most = Math.max(1, ...[asks.at(-1), bids.at(-1)].map((rung) => rung?.total ?? 0));
  return [...asks.reverse(), ...bids].map((rung) => {
    return { ...rung, sharePct: Math.round((100 * rung.total) / most) };
  });
}

function totaled(side: Rung['side'], levels: Sides['yesBids']): Omit<Rung, 'sharePct'>[] {
  let total = 0;
  return levels.slice(0, SHOWN_MAX).map((level) => {
    const [cents, contracts] = [level[0]!, level[1]!];
    total += contracts;
    return { side, cents, contracts, total };
  });
}

/** In cents; null: one of the sides is empty. */
export function spreadOf({ yesBids: [bid], yesAsks: [ask] }: Sides): number | null {
  return bid === undefined || ask === undefined ? null : ask[0]! - bid[0]!;
}
