/** What the account can spend, and its worth at the quotes of now. Rule U38 (api/RULES.md). */
import { portfolio } from '../state/account.ts';
import { money } from '../state/format.ts';
import { useQuotes } from '../state/quotes.ts';
import { hrefOf } from '../state/route-text.ts';
import { fundsOf } from '../state/totals.ts';

/** Of more positions the quotes would leave no room for those of a view. */
const QUOTED_MAX = 40;

export function Funds() {
  const { value: known } = portfolio;
  const positions = known?.positions ?? [];
  const quoted = positions.length > QUOTED_MAX ? [] : positions;
  const quotes = useQuotes(quoted.map(({ instrumentId }) => instrumentId));
  if (known === null) return null;
  const { cashDollars, netWorthDollars } = fundsOf(known, quotes);
  return (
    <a class="funds" href={hrefOf('portfolio')}>
      <span class="funds-one">
        Cash <strong>{money(cashDollars)}</strong>
      </span>
      <span class="funds-one">
        Net worth <strong>{money(netWorthDollars)}</strong>
      </span>
    </a>
  );
}
