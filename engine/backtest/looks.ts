/**
 * The rows of a market that a rule sees: the row of a moment and the rows after it, one per
 * instant. If several rows have one time, only the last counts, because frames are handled before
 * orders. Rules Z3 to Z6 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  NO_PRICE,
  oppositeSide,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
} from '../base/units.ts';
import type { Columns } from '../history/record-columns.ts';
import type { Look } from './task.ts';

/** The last row at `fromMs` or before it, then the last row of each later instant before `toMs`. */
export function* looksFrom(
  parts: Iterable<Columns>,
  fromMs: EpochMs,
  toMs: EpochMs,
): Generator<Look> {
  let pending: Look | null = null;
  for (const columns of parts) {
    const times = columns[0]!;
    for (let at = 0; at < times.length; at++) {
      const atMs = times[at]!;
      if (atMs >= toMs) {
        if (pending !== null) yield pending;
        return;
      }
      invariant(pending === null || atMs >= pending.atMs, 'the rows of a market go back in time');
      const isNext = pending !== null && atMs > pending.atMs && atMs > fromMs;
      if (isNext) yield pending!;
      pending = lookAt(columns, at);
    }
  }
  if (pending !== null) yield pending;
}

function lookAt(columns: Columns, at: number): Look {
  return {
    atMs: columns[0]![at]!,
    yesBidCents: columns[1]![at]!,
    yesAskCents: columns[2]![at]!,
    yesBidContracts: columns[3]![at]!,
    yesAskContracts: columns[4]![at]!,
  };
}

export const isTwoSided = ({ yesBidCents, yesAskCents }: Look): boolean =>
  yesBidCents !== NO_PRICE && yesAskCents !== NO_PRICE;

/** The ask of a side of the market; `NO_PRICE`: nothing is offered. */
export function askOf(look: Look, side: Side): PriceCents {
  if (side === 'yes') return look.yesAskCents;
  return look.yesBidCents === NO_PRICE ? NO_PRICE : PAYOUT_CENTS - look.yesBidCents;
}

/** The bid of a side of the market; `NO_PRICE`: there is no bid. */
export function bidOf(look: Look, side: Side): PriceCents {
  const ask = askOf(look, oppositeSide(side));
  return ask === NO_PRICE ? NO_PRICE : PAYOUT_CENTS - ask;
}

/** The contracts that are bid for at `bidOf`. */
export function bidContractsOf(look: Look, side: Side): number {
  return side === 'yes' ? look.yesBidContracts : look.yesAskContracts;
}
