/**
 * Results that differ from the result of their market. The first counts (S6), so a later one
 * changes nothing. It is logged, counted, and a problem until the market is corrected, or the venue
 * withdraws it. A result after a game has voided the market counts too. Rules S18, S19
 * (engine/RULES.md), O24 (api/RULES.md).
 */
import { type MarketNumber, PAYOUT_CENTS } from '../../engine/base/units.ts';
import { isSameResult } from '../../engine/rules/corrections.ts';
import type { MarketResult, ResultTick } from '../../engine/rules/messages.ts';
import type { Log } from '../base/log.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

const SHOWN_MAX = 20;

export type ContradictedResultsParts = {
  /** By market number, the result of each at the start; null: none. */
  results: readonly (MarketResult | null)[];
  marketName(market: MarketNumber): string;
  log: Log;
};

export class ContradictedResults {
  readonly #parts: ContradictedResultsParts;
  readonly #has = new Map<MarketNumber, MarketResult>();
  /** The venue's result, which differs from its market's. */
  readonly #said = new Map<MarketNumber, MarketResult>();
  #count = 0;

  constructor(parts: ContradictedResultsParts) {
    this.#parts = parts;
    for (const [market, result] of parts.results.entries()) {
      if (result !== null) this.#has.set(market, result);
    }
  }

  /** @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['result'], (tick) => this.take(tick));
  }

  /** Since the start; a repeated result of a venue counts once. */
  get count(): number {
    return this.#count;
  }

  problems(): string[] {
    const lines = [...this.#said].slice(0, SHOWN_MAX).map(([market, said]) => {
      const name = this.#parts.marketName(market);
      const has = this.#has.get(market)!;
      const ended = has.outcome === 'void' ? 'is void' : `has the result ${textOf(has)}`;
      const word = textOf(said);
      return (
        `market ${name} ${ended}, and its venue says ${word}: ` +
        `paperbook admin settle ${name} ${word} --correct replaces it`
      );
    });
    const more = this.#said.size - lines.length;
    return more > 0 ? [...lines, `${more} more markets have results that contradict`] : lines;
  }

  take(tick: ResultTick): void {
    const { market } = tick;
    const has = this.#has.get(market);
    // The result of an operator or of a voided game is the market's result from then on.
    if (has === undefined || tick.source === OPERATOR_SOURCE) {
      this.#has.set(market, tick);
      this.#said.delete(market);
      return;
    }
    if (isSameResult(has, tick)) {
      this.#said.delete(market);
      return;
    }
    const said = this.#said.get(market);
    if (said !== undefined && isSameResult(said, tick)) return;
    this.#said.set(market, tick);
    this.#count++;
    const named = { market: this.#parts.marketName(market), has: textOf(has), says: textOf(tick) };
    this.#parts.log.warn(named, 'a venue contradicts the result of a market; nothing is changed');
  }
}

/** As an operator gives it, to the cent that it pays. */
function textOf({ outcome, yesPayoutCents, noPayoutCents }: MarketResult): string {
  if (outcome !== 'scalar') return outcome;
  // Both sides are rounded down. A cent that neither side gets is half a cent of yes.
  const isExact = yesPayoutCents + noPayoutCents === PAYOUT_CENTS;
  return `0.${String(yesPayoutCents).padStart(2, '0')}${isExact ? '' : '5'}`;
}
