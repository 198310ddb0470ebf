/** A quote as it is shown: the prices that orders trade at, and where they moved. */
import type { Quote } from '../../client/generated.js';

export type Move = 'up' | 'down' | null;
export type ShownQuote = {
  quote: Quote;
  /** Those of venue_a, in the instrument's terms. */
  bidCents: number | null;
  askCents: number | null;
  /** Where the last change of each went. */
  bidMove: Move;
  askMove: Move;
  /** Of changes: two that follow each other differ. */
  bidBeat: number;
  askBeat: number;
  /** Why there is no price; null where there is one. */
  note: string | null;
};

export function nextShown(before: ShownQuote | null, quote: Quote): ShownQuote {
  const main = quote.venues.find(({ venue }) => venue === 'venue_a');
  const bidCents = main?.yesBidCents ?? null;
  const askCents = main?.yesAskCents ?? null;
  const bid = moved(before?.bidCents ?? null, bidCents);
  const ask = moved(before?.askCents ?? null, askCents);
  return {
    quote,
    bidCents,
    askCents,
    bidMove: bid ?? before?.bidMove ?? null,
    askMove: ask ?? before?.askMove ?? null,
    bidBeat: (before?.bidBeat ?? 0) + (bid === null ? 0 : 1),
    askBeat: (before?.askBeat ?? 0) + (ask === null ? 0 : 1),
    note: main === undefined ? (quote.omitted.find(isMain)?.note ?? 'not listed') : null,
  };
}

function isMain({ venue }: { venue: string }): boolean {
  return venue === 'venue_a';
}

function moved(before: number | null, now: number | null): Move {
  if (before === null || now === null || before === now) return null;
  return now > before ? 'up' : 'down';
}
