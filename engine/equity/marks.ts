/**
 * The worth of positions at each point: at the live bid of that moment, or at cost if there was
 * none. Rules A93 (api/RULES.md), M21 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type Cents, type EpochMs, NO_PRICE, type PriceCents } from '../base/units.ts';
import type { MarketTops, TopsQuestion } from '../history/questions.ts';
import { costCents } from '../rules/ledger.ts';
import { complement } from '../rules/pricing.ts';
import type { EquityPoints, HeldAt } from './points.ts';

type AskTops = (question: TopsQuestion) => Promise<MarketTops[]>;
type Asked = TopsQuestion['markets'][number];

/** The limit of one question. The history records again after it. */
const TOPS_MAX = 250;

/** Net worth in cents at each point, all positions at cost. */
export function worthAtCost({ money }: EquityPoints): Cents[] {
  return money.balance.map((cents, point) => cents + money.held[point]! + money.stake[point]!);
}

/** Net worth in cents at each point. `nowMs`: later than every point. Rejects as `tops` does. */
export async function worthAtBids(
  points: EquityPoints,
  tops: AskTops,
  nowMs: EpochMs,
): Promise<Cents[]> {
  const worth = worthAtCost(points);
  for (const sides of batchesOf(points.held)) {
    const markets = sides.map(({ market, point }): Asked => {
      return { market, atMs: point.map((each) => points.atMs[each]!) };
    });
    const answers = await tops({ nowMs, markets });
    invariant(answers.length === sides.length, 'the history left out a market');
    for (const [index, held] of sides.entries()) addMarks(worth, held, answers[index]!);
  }
  return worth;
}

function* batchesOf(held: readonly HeldAt[]): Generator<HeldAt[]> {
  let batch: HeldAt[] = [];
  let tops = 0;
  for (const side of held) {
    if (batch.length > 0 && tops + side.point.length > TOPS_MAX) {
      yield batch;
      batch = [];
      tops = 0;
    }
    batch.push(side);
    tops += side.point.length;
  }
  if (batch.length > 0) yield batch;
}

/** Puts the bid in the place of the cost, if there was a bid. */
function addMarks(worth: Cents[], { side, point, contracts, cents }: HeldAt, tops: MarketTops) {
  for (const [index, at] of point.entries()) {
    const bid: PriceCents =
      side === 'yes' ? tops.yesBidCents[index]! : complement(tops.yesAskCents[index]!);
    if (bid === NO_PRICE) continue;
    worth[at]! += costCents(bid, contracts[index]!) - cents[index]!;
  }
}
