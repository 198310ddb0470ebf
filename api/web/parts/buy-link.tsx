/** What a side costs, as a link to its order. Rule U37 (api/RULES.md). */
import { cents } from '../state/format.ts';
import { hrefOf } from '../state/route-text.ts';
import type { Move } from '../state/shown-quote.ts';

type Props = {
  instrumentId: string;
  side: 'yes' | 'no';
  /** The name of the market where it is not beside. */
  of: string;
  /** In cents; null: there is none now. */
  price: number | null;
  /** The last change of yes. */
  move: Move | null;
};

export function BuyLink({ instrumentId, side, of, price, move }: Props) {
  // When yes rises, no falls.
  const isUp = move !== null && (move.to === 'up') === (side === 'yes');
  const moved = move === null ? '' : isUp ? ' is-up' : ' is-down';
  return (
    <a class={`bet is-${side}`} href={hrefOf('market', instrumentId, { side })}>
      <span class="sr">Buy </span>
      {side === 'yes' ? 'Yes' : 'No'}
      <span class="sr"> of {of}</span>{' '}
      {price === null ? (
        <span class="price is-none">–</span>
      ) : (
        <span class={`price${moved}`}>{cents(price)}</span>
      )}
    </a>
  );
}
