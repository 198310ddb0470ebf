/** Whether a market trades now, in words. Rules A46, A119 (api/RULES.md), T12, T18 (engine/RULES.md). */
import type { GameStatus, Instrument } from '../../client/generated.js';
import type { ShownQuote } from './shown-quote.ts';

export type MarketStatus = {
  word:
    | 'Tradable'
    /** It is open, and limit orders can rest. */
    | 'No live price'
    | 'Not open yet'
    | 'Paused'
    | 'Closed'
    | 'Resolved'
    | 'Not tradable'
    | 'Not known';
  /** A sentence where there is more to say. */
  detail: string | null;
  /** A date-time, where it is not open yet. */
  opensAt: string | null;
};

type Known = {
  /** Null: none arrived. */
  quote: ShownQuote | null;
  instrument: Pick<Instrument, 'listings'>;
  gameStatus: GameStatus | null;
  /** As of the answer that lists it. */
  isTradable: boolean | null;
  /** Whether no catalog lists it any more. */
  isDropped: boolean;
  /** Whether no price of it is live, because the connection to the server is lost. */
  isLost?: boolean;
};

const OPENS_AT = 'opens at ';
const CLOSED: Readonly<Record<string, Pick<MarketStatus, 'word' | 'detail'>>> = {
  'market resolved': {
    word: 'Resolved',
    detail: 'The market has its result. Trading has ended.',
  },
  'market paused': {
    word: 'Paused',
    detail: 'The venue has paused the market. It takes no order now.',
  },
  'market closed': {
    word: 'Closed',
    detail: 'The market waits for its result. It takes no order.',
  },
};
const NO_PRICE: Readonly<Record<string, string>> = {
  'no quote': 'The venue has sent no quote yet. A limit order can rest.',
  stale: 'The venue has been silent for too long. A limit order can rest.',
  crossed: 'Its bid is at or above its ask. A limit order can rest.',
};

/** The note of a quote without a price, where there is little room. */
export const NO_PRICE_WORDS: Readonly<Record<string, string>> = {
  'market resolved': 'settled',
  'market paused': 'paused',
  'market closed': 'closed',
  'no quote': 'no quote yet',
  stale: 'quote too old',
  crossed: 'bid above ask',
};

/** A date-time; null: the note says nothing of an opening. */
export function opensAtOf(note: string): string | null {
  return note.startsWith(OPENS_AT) ? note.slice(OPENS_AT.length) : null;
}

export function marketStatus({
  quote,
  instrument,
  gameStatus,
  isTradable,
  isDropped,
  isLost = false,
}: Known): MarketStatus {
  if (isLost) return status('Not known', 'The connection to the server is lost.');
  if (isDropped) return status('Not tradable', 'The market has left the catalog.');
  const homes = instrument.listings.filter(({ venue }) => venue === 'venue_a');
  if (gameStatus === 'cancelled') return status('Not tradable', 'The game is cancelled.');
  if (homes.length !== 1) {
    return status('Not tradable', 'It is not listed on exactly one market of Venue A.');
  }
  const note = quote === null ? (homes[0]!.note ?? '') : (quote.note ?? '');
  const opensAt = opensAtOf(note);
  if (opensAt !== null) return { word: 'Not open yet', detail: null, opensAt };
  if (quote === null) {
    if (isTradable === null) return status('Not known', 'There is no quote now.');
    return isTradable
      ? status('Tradable', null)
      : status('Not tradable', 'The venue has paused or closed it, or it has its result.');
  }
  const closed = CLOSED[note];
  if (closed !== undefined) return { ...closed, opensAt: null };
  if (note === '') return status('Tradable', null);
  return status('No live price', NO_PRICE[note] ?? `The quote says: ${note}.`);
}

function status(word: MarketStatus['word'], detail: string | null): MarketStatus {
  return { word, detail, opensAt: null };
}
