/** A price in cents; a tick changes its text and its class, never its size. */

import { cents } from '../state/format.ts';
import type { Move } from '../state/shown-quote.ts';

type Props = {
  /** Null: there is none. */
  price: number | null;
  move?: Move;
  /** Another one with each change, so that the mark of the move begins again. */
  beat?: number;
  /** Of no price. */
  why?: string | null;
};

export function Price({ price, move = null, beat = 0, why = null }: Props) {
  if (price === null) {
    return (
      <span class="price is-none" title={why ?? undefined}>
        <span aria-hidden="true">–</span>
        <span class="sr">none</span>
      </span>
    );
  }
  const moved = move === null ? '' : ` is-${move} beat-${beat % 2}`;
  return <span class={`price${moved}`}>{cents(price)}</span>;
}
