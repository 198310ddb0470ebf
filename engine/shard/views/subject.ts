/**
 * What an order, a position or a trade is about, as the wire shows it. Rules V3, S8 (api/RULES.md,
 * engine/RULES.md).
 */
import type { CatalogInstrument, MarketOutcome } from '../../rules/messages.ts';
import type { ShardState } from '../../rules/state.ts';
import { oppositeSide, type Side } from '../../rules/units.ts';

/** The label is the newest the catalog gave; a dropped instrument keeps its last. */
export function instrumentText({ instruments }: ShardState, number: number): string {
  const { id, entry } = instruments[number]!;
  if (entry === null) return `"instrumentId":"${id}","instrumentLabel":null`;
  let text = instrumentTexts.get(entry);
  if (text === undefined) {
    text = `"instrumentId":"${id}","instrumentLabel":${JSON.stringify(entry.label)}`;
    instrumentTexts.set(entry, text);
  }
  return text;
}

/** By the catalog's entry, which is dropped when a later catalog replaces it. */
const instrumentTexts = new WeakMap<CatalogInstrument, string>();

/** Venue data: present only while the switch is on. Rule V3 (api/RULES.md). */
export function marketTickerText({ markets, switches }: ShardState, number: number): string {
  if (!switches.venueData) return '';
  return `,"marketTicker":${JSON.stringify(markets[number]!.ticker)}`;
}

/** A price, which is venue data too. */
export function venuePriceText({ switches }: ShardState, name: string, cents: number | null) {
  return switches.venueData ? `,"${name}":${cents}` : '';
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
