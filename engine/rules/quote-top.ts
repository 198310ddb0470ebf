/**
 * The top of a market's book, kept in place. A market is quoted many times a second, and an object
 * for each quote would fill the old generation of the heap. Rule D48 (engine/RULES.md).
 */

import { NO_PRICE } from '../base/units.ts';
import type { QuoteTick } from './messages.ts';
import type { Quote } from './reference-data.ts';

/** A copy of a quote without levels. */
export function topOf(tick: QuoteTick): QuoteTick {
  const { kind, atMs, source, market, crossed } = tick;
  const { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = tick;
  const prices = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
  return { kind, atMs, source, market, ...prices, crossed, ...(tick.unknown && { unknown: true }) };
}

/** Makes a copy of `topOf` a copy of a later quote of the market. */
export function replaceTop(kept: QuoteTick, tick: QuoteTick): void {
  kept.atMs = tick.atMs;
  kept.source = tick.source;
  kept.yesBidCents = tick.yesBidCents;
  kept.yesBidContracts = tick.yesBidContracts;
  kept.yesAskCents = tick.yesAskCents;
  kept.yesAskContracts = tick.yesAskContracts;
  kept.crossed = tick.crossed;
  if (tick.unknown !== kept.unknown) kept.unknown = tick.unknown === true;
}

/** Whether two quotes of a market say the same, except their time and their levels. */
export function isSameTop(a: QuoteTick, b: QuoteTick): boolean {
  return (
    a.yesBidCents === b.yesBidCents &&
    a.yesBidContracts === b.yesBidContracts &&
    a.yesAskCents === b.yesAskCents &&
    a.yesAskContracts === b.yesAskContracts &&
    a.crossed === b.crossed &&
    (a.unknown === true) === (b.unknown === true)
  );
}

/** Shows a quote of a market. `epoch` is the epoch of its connection. */
export function showQuote(market: { quote: Quote | null }, tick: QuoteTick, epoch: number): void {
  const { atMs, source, yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = tick;
  // A venue's finer prices can cross where whole cents do not; then `crossed` is true.
  const crossed = tick.crossed || (yesAskCents !== NO_PRICE && yesBidCents >= yesAskCents);
  const { quote } = market;
  if (quote === null) {
    const prices = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
    market.quote = { source, epoch, atMs, ...prices, crossed };
    return;
  }
  quote.source = source;
  quote.epoch = epoch;
  quote.atMs = atMs;
  quote.yesBidCents = yesBidCents;
  quote.yesBidContracts = yesBidContracts;
  quote.yesAskCents = yesAskCents;
  quote.yesAskContracts = yesAskContracts;
  quote.crossed = crossed;
}
