/** A quote as it is shown: the prices that orders trade at, and where they moved. */
import type { Quote } from '../../client/generated.js';

export type Move = { to: 'up' | 'down'; atMs: number };
export type ShownQuote = {
  quote: Quote;
  /** The prices of venue_a, in the instrument's terms. */
  bidCents: number | null;
  askCents: number | null;
  /** The last change of each; null: it was a while ago. */
  bidMove: Move | null;
  askMove: Move | null;
  /** Why there is no price; null if there is one. */
  note: string | null;
};

/** So long a change is marked. */
const MARKED_MS = 900;

export function nextShown(before: ShownQuote | null, quote: Quote, nowMs: number): ShownQuote {
  const main = quote.venues.find(({ venue }) => venue === 'venue_a');
  const bidCents = main?.yesBidCents ?? null;
  const askCents = main?.yesAskCents ?? null;
  return {
    quote,
    bidCents,
    askCents,
    bidMove: moved(before?.bidCents, bidCents, nowMs) ?? before?.bidMove ?? null,
    askMove: moved(before?.askCents, askCents, nowMs) ?? before?.askMove ?? null,
    note: main === undefined ? (quote.omitted.find(isMain)?.note ?? 'not listed') : null,
  };
}

function isMain({ venue }: { venue: string }): boolean {
  return venue === 'venue_a';
}

function moved(before: number | null | undefined, now: number | null, nowMs: number): Move | null {
  if (before === undefined || before === null || now === null || before === now) return null;
  return { to: now > before ? 'up' : 'down', atMs: nowMs };
}

/** Without marks of changes from a while ago; the same one if there are none. */
export function settled(shown: ShownQuote, nowMs: number): ShownQuote {
  const bidMove = recent(shown.bidMove, nowMs);
  const askMove = recent(shown.askMove, nowMs);
  if (bidMove === shown.bidMove && askMove === shown.askMove) return shown;
  return { ...shown, bidMove, askMove };
}

function recent(move: Move | null, nowMs: number): Move | null {
  return move !== null && nowMs - move.atMs < MARKED_MS ? move : null;
}
