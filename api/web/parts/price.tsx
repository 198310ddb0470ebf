/** A price in cents; a tick changes its text and its class, never its size. */

import { cents } from '../state/format.ts';
import type { Move } from '../state/shown-quote.ts';

type Props = {
  /** Null: there is none. */
  price: number | null;
  /** Its last change, for as long as that is marked. */
  move?: Move | null;
  /** Of no price. */
  why?: string | null;
};

export function Price({ price, move = null, why = null }: Props) {
  if (price === null) {
    return (
      <span class="price is-none" title={why ?? undefined}>
        <span aria-hidden="true">–</span>
        <span class="sr">none</span>
      </span>
    );
  }
  const moved = move === null ? '' : ` is-${move.to}`;
  return <span class={`price${moved}`}>{cents(price)}</span>;
}
