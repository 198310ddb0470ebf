/** Orders and trades in words. */
import type { Order, Trade } from '../../client/generated.js';
import { limitWords, signedMoney, whole } from './format.ts';

type Labeled = Pick<Trade, 'instrumentId' | 'instrumentLabel'>;
export function labelOf({ instrumentLabel, instrumentId }: Labeled): string {
  return instrumentLabel ?? instrumentId ?? 'a market that is no longer listed';
}

/** The state of a trade, in a word or two. Rules A116 (api/RULES.md), T4, S8 (engine/RULES.md). */
export function outcomeOf({ status, resolvedOutcome, instrumentSide }: Trade): string {
  switch (status) {
    case 'open':
      return 'Open';
    case 'closed':
      return 'Sold';
    case 'void':
      return 'Void';
    case 'reset':
      return 'Reset';
    case 'settled':
      if (resolvedOutcome === null) return 'Settled at a value between yes and no';
      // Both are of the instrument. `boughtSide` is of the venue's market, whose yes may be its no.
      return resolvedOutcome === instrumentSide ? 'Won' : 'Lost';
    default:
      return status satisfies never;
  }
}

/** `buy 10 yes of Otters to beat Herons at 43¢ or less` */
export function orderWords(order: Order): string {
  const { action, limitCents } = order;
  const bound = action === 'buy' ? 'or less' : 'or more';
  return `${action} ${holdingWords(order)} at ${limitWords(limitCents)} ${bound}`;
}

/** `10 yes of Otters to beat Herons` */
export function holdingWords(of: Order | Trade): string {
  return `${whole(of.contracts)} ${of.instrumentSide} of ${labelOf(of)}`;
}

/** `+$3.20 profit`, `−$3.20 loss`, `$0.00`: a sign and a word. */
export function pnlWords(dollars: number): string {
  const word = dollars > 0 ? ' profit' : dollars < 0 ? ' loss' : '';
  return signedMoney(dollars) + word;
}
