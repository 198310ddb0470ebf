/** In place of the ticket for a visitor: what a side costs, and how to buy it. Rule A163. */
import { cents } from '../../state/format.ts';
import { askOfSide } from '../../state/market-day.ts';
import { hash } from '../../state/route.ts';
import { signInHref } from '../../state/route-text.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';

type Props = { quote: ShownQuote | null; side: 'yes' | 'no' };

export function VisitorTicket({ quote, side }: Props) {
  const price = quote === null ? null : askOfSide(side, quote);
  return (
    <section id="ticket" class="ticket is-open" aria-label="Order ticket" tabIndex={-1}>
      <h2>Trade this market on paper</h2>
      <p>
        {price !== null &&
          `${side === 'yes' ? 'Yes' : 'No'} costs ${cents(price)} now and pays $1. `}
        An account begins with $100,000.00 of paper money.
      </p>
      <a class="button primary" href={signInHref(hash())}>
        Sign in or create an account
      </a>
    </section>
  );
}
