/**
 * Events of markets, for every subscriber: each tick of a venue or an operator, including results
 * of games that void; and each catalog once the engine has it. Rule D46 (engine/RULES.md).
 *
 * A publisher continues once every subscriber has returned; they are called in the order of their
 * subscriptions.
 */
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { Tick } from '../../engine/rules/messages.ts';

/** The engine has the catalog. */
export type CatalogInUse = { kind: 'catalog'; catalog: Catalog };
export type MarketEvent = Tick | CatalogInUse;
export type MarketEventKind = MarketEvent['kind'];

export type MarketEventOf<K extends MarketEventKind> = Extract<MarketEvent, { kind: K }>;
type Subscriber = { take(event: never): void };

/** The kinds of ticks that name a market. */
export const MARKET_TICK_KINDS = ['quote', 'trade', 'status', 'closing', 'result'] as const;
/** Every kind of tick. */
export const TICK_KINDS = [...MARKET_TICK_KINDS, 'game', 'heartbeat', 'down', 'time'] as const;

export class MarketBus {
  /**
   * Lists are replaced at each change, so that a subscription may end while an event is delivered.
   */
  readonly #subscribers: Record<MarketEventKind, readonly Subscriber[]> = {
    quote: [],
    trade: [],
    status: [],
    closing: [],
    result: [],
    game: [],
    heartbeat: [],
    down: [],
    time: [],
    catalog: [],
  };

  /** Calls every subscriber of the kind, and throws a subscriber's error. */
  publish(event: MarketEvent): void {
    for (const subscriber of this.#subscribers[event.kind]) subscriber.take(event as never);
  }

  /** @returns the function that ends the subscription */
  subscribe<K extends MarketEventKind>(
    kinds: readonly K[],
    take: (event: MarketEventOf<K>) => void,
  ): () => void {
    const own: Subscriber = { take };
    const lists = this.#subscribers;
    for (const kind of kinds) lists[kind] = [...lists[kind], own];
    return () => {
      for (const kind of kinds) lists[kind] = lists[kind].filter((other) => other !== own);
    };
  }
}
