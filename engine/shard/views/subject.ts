/** What an order, a position or a trade is about, as the wire shows it. */
import type { MarketOutcome } from '../../core/messages.ts';
import type { ShardState } from '../../core/state.ts';
import { oppositeSide, type Side } from '../../core/units.ts';

/** The label is the newest the catalog gave; a dropped instrument keeps its last. */
export function instrumentOf({ instruments }: ShardState, number: number) {
  const { id, entry } = instruments[number]!;
  return { instrumentId: id, instrumentLabel: entry?.label ?? null };
}

/** Venue data: present only while the switch is on. SPEC.md section 1, rule 7. */
export function marketTicker({ markets, switches }: ShardState, number: number) {
  return switches.venueData ? { marketTicker: markets[number]!.ticker } : {};
}

/** A market's yes or no in the instrument's terms; null when neither side won. */
export function outcomeFor(
  outcome: MarketOutcome | null,
  side: Side,
  instrumentSide: Side,
): Side | null {
  if (outcome !== 'yes' && outcome !== 'no') return null;
  return side === instrumentSide ? outcome : oppositeSide(outcome);
}
