/** An amount in dollars. */
import { money, signedMoney } from '../state/format.ts';

/** @param signed of profit and loss: with its sign, and in its color */
export function Money({ dollars, signed = false }: { dollars: number; signed?: boolean }) {
  if (!signed) return <span class="number">{money(dollars)}</span>;
  const kind = dollars > 0 ? ' is-gain' : dollars < 0 ? ' is-loss' : '';
  return <span class={`number${kind}`}>{signedMoney(dollars)}</span>;
}
