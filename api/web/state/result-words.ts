/** Results of markets in words. Rules A254, U52 (api/RULES.md). */
import type { Instrument, Quote } from '../../client/generated.js';
import { cents } from './format.ts';

export type Result = NonNullable<Quote['result']>;

/** `Yes`, `No`, `Void`, `62¢`: how the question ended. */
export function resultWord({ outcome, yesPaysCents }: Result): string {
  switch (outcome) {
    case 'yes':
      return 'Yes';
    case 'no':
      return 'No';
    case 'void':
      return 'Void';
    case 'scalar':
      return yesPaysCents === null ? 'Settled' : cents(yesPaysCents);
    default:
      return outcome satisfies never;
  }
}

/** `Won`, `Lost`: the subject of a question on who wins. */
export function winnerWord(result: Result): string {
  if (result.outcome === 'yes') return 'Won';
  return result.outcome === 'no' ? 'Lost' : resultWord(result);
}

type Question = Pick<Instrument, 'oppositeLabel' | 'marketType' | 'subject' | 'home' | 'away'>;

/** What happened, in a sentence. */
export function resultSentence(result: Result, question: Question): string {
  const { outcome, yesPaysCents } = result;
  if (outcome === 'void') return 'It is void: whoever held it got the cost back.';
  if (outcome === 'scalar') {
    if (yesPaysCents === null) return 'It settled at a value between yes and no.';
    return `A contract of yes paid ${cents(yesPaysCents)}, one of no ${cents(100 - yesPaysCents)}.`;
  }
  const winner = winnerOf(result, question);
  if (winner !== null) return `${winner} won.`;
  return outcome === 'yes' ? 'It happened.' : 'It did not happen.';
}

/** The team that won, where the question is which of two does; null: it is another one, or a tie can be. */
export function winnerOf(
  { outcome }: Result,
  { marketType, subject, home, away, oppositeLabel }: Question,
): string | null {
  if (marketType !== 'moneyline' || subject === null) return null;
  if (outcome === 'yes') return subject.name;
  // Without an opposite, as where games can be drawn, the other side need not have won.
  if (outcome !== 'no' || oppositeLabel === null || home === null || away === null) return null;
  return subject.code === home.code ? away.name : home.name;
}
