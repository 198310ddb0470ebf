/**
 * What is said of markets, to whoever follows it: each tick of a venue or an operator, results of
 * games that void among them, and each catalog once the engine has it. Rule D46 (engine/RULES.md).
 *
 * A publisher goes on once every subscriber has returned; they are called in the order of their
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
  /** Lists are replaced at each change, so that one may end while an event is delivered. */
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

  /** Calls every subscriber of the kind, and throws what one throws. */
  publish(event: MarketEvent): void {
    for (const subscriber of this.#subscribers[event.kind]) subscriber.take(event as never);
  }

  /** @returns what ends the subscription */
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
