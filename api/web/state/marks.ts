/** What a position is worth at the live quote: as the account is marked. Rules M21, A78. */
import type { Position } from '../../client/generated.js';
import type { ShownQuote } from './shown-quote.ts';

/** Marked at the quote: the account's own marks are of the moment at which it was asked for. */
export function markedNow(position: Position, quote: ShownQuote | null): Position {
  // While venue data is off an account has no mark.
  if (position.markCents === undefined || quote === null) return position;
  const { bidCents, askCents } = quote;
  const { instrumentSide, contracts, costDollars } = position;
  const noBidCents = askCents === null ? null : 100 - askCents;
  const markCents = instrumentSide === 'yes' ? bidCents : noBidCents;
  const valueDollars = markCents === null ? costDollars : (markCents * contracts) / 100;
  return {
    ...position,
    markCents,
    valueDollars,
    unrealizedPnlDollars: valueDollars - costDollars,
  };
}
