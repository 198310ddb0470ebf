/**
 * How markets are, by their numbers: what a venue last said of each, and whether it is over. A market
 * is over once it has a result, by a venue, by an operator or by a game that voids it, and nothing
 * opens it again. Rules A46 (api/RULES.md), S16 (engine/RULES.md).
 */
import type { MarketNumber, MarketStatus } from '../../engine/base/units.ts';
import type { MarketBus } from './market-bus.ts';

export class MarketStates {
  /** A market that is missing here is open. */
  readonly #statuses = new Map<MarketNumber, MarketStatus>();
  readonly #over: Set<MarketNumber>;

  /** `over`: the markets that had their result before. */
  constructor(over: Iterable<MarketNumber> = []) {
    this.#over = new Set(over);
  }

  /** @returns what ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['status', 'result'], (tick) => {
      if (tick.kind === 'result') this.#over.add(tick.market);
      else this.#statuses.set(tick.market, tick.status);
    });
  }

  /** Whether orders may name it, as far as its venue goes. */
  isOpen(market: MarketNumber): boolean {
    return !this.#over.has(market) && (this.#statuses.get(market) ?? 'open') === 'open';
  }

  isOver(market: MarketNumber): boolean {
    return this.#over.has(market);
  }

  /** Those that are over. */
  over(): MarketNumber[] {
    return [...this.#over];
  }
}
