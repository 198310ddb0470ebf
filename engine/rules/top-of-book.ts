/**
 * The `top_of_book` fill model: the displayed size does not bound a fill; the paper balance is the
 * limit. Rule T61 (engine/RULES.md).
 */
import type { FillModel } from './fill-model.ts';
import { askOf } from './pricing.ts';
import { REJECTIONS } from './rejections.ts';

export function topOfBook(): FillModel {
  return {
    name: 'top_of_book',
    sharesSizes: false,
    noLiquidity: REJECTIONS.no_liquidity,
    // The live price is all that this model needs.
    quoteSeen() {},
    tradePrinted() {},
    orderArrives(_context, _book, price, { side, upToCents, contracts }) {
      const ask = askOf(price, side);
      if (ask === null || ask.priceCents > upToCents) return null;
      const { priceCents: askCents, market } = ask;
      const paidCents = askCents * contracts;
      return { contracts, askCents, paidCents, levels: null, market, consumption: null };
    },
    modelOf: () => 'top_of_book',
    queues: null,
    displayed: () => null,
    consume() {},
  };
}
