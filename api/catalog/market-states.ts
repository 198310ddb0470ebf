/**
 * The states of markets by number: a venue's last status of each, and whether it is over. A market
 * is over once it has a result, by a venue, by an operator or by a game that voids it. Nothing
 * opens it again. Rules A46 (api/RULES.md), S16, T143 (engine/RULES.md).
 */
import { NumberSet } from '../../engine/base/number-set.ts';
import type { EpochMs, MarketNumber, MarketStatus } from '../../engine/base/units.ts';
import { venueClosingMs } from '../../engine/rules/closing.ts';
import type { MarketBus } from './market-bus.ts';

export class MarketStates {
  /** A market that is missing here is open. */
  readonly #statuses = new Map<MarketNumber, MarketStatus>();
  /** When their venues close them, if the venues have said so. */
  readonly #closings = new Map<MarketNumber, EpochMs>();
  readonly #over: NumberSet;

  /** `over`: the markets that had their result before. */
  constructor(over: Iterable<MarketNumber> = []) {
    this.#over = new NumberSet(over);
  }

  /** @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['status', 'closing', 'result'], (tick) => {
      const { market } = tick;
      if (tick.kind === 'result') {
        this.#over.add(market);
        // Nothing opens it again, whatever its venue says.
        this.#statuses.delete(market);
        this.#closings.delete(market);
        return;
      }
      if (this.#over.has(market)) return;
      if (tick.kind === 'status') this.#statuses.set(market, tick.status);
      this.#closings.set(market, venueClosingMs(this.#closings.get(market) ?? null, tick));
    });
  }

  /** When the venue closes it, infinite if no time does; null: the venue has not said. */
  venueClosesAtMs(market: MarketNumber): EpochMs | null {
    return this.#closings.get(market) ?? null;
  }

  /** Its venue's last status. */
  status(market: MarketNumber): MarketStatus {
    return this.#statuses.get(market) ?? 'open';
  }

  /** Whether orders may name it, by its venue's status. */
  isOpen(market: MarketNumber): boolean {
    return !this.#over.has(market) && this.status(market) === 'open';
  }

  isOver(market: MarketNumber): boolean {
    return this.#over.has(market);
  }

  /** The markets that their venues have closed, without a result. */
  closed(): MarketNumber[] {
    return [...this.#statuses].flatMap(([market, status]) => (status === 'closed' ? market : []));
  }

  /** The markets that are over. */
  over(): MarketNumber[] {
    return [...this.#over];
  }
}
