/**
 * The `top_of_book` fill model: the displayed size does not bound a fill; the paper balance is the
 * limit. Rule T61 (engine/RULES.md).
 */
import type { Fill, Want } from './fill-model.ts';
import { askOf, type BookPrice } from './pricing.ts';

/** The live price is all that this model needs. */
export function topOfBook(price: BookPrice, { side, upToCents, contracts }: Want): Fill | null {
  const ask = askOf(price, side);
  if (ask === null || ask.priceCents > upToCents) return null;
  const { priceCents: askCents, market } = ask;
  const paidCents = askCents * contracts;
  return { contracts, askCents, paidCents, levels: null, market, consumption: null };
}
