/**
 * One sale of a position at the market, however often it is sent: all under one idempotency key, so
 * that it is sold once.
 */
import type { MarketSell } from '../../client/generated.js';
import { CallError } from './call-error.ts';

export class SellAttempt {
  readonly #tradeId: string;
  readonly #key: string;
  #unanswered: MarketSell | null = null;

  constructor(tradeId: string, key: string) {
    this.#tradeId = tradeId;
    this.#key = key;
  }

  /** Whether an order may have been placed whose answer did not arrive. */
  get isUnanswered(): boolean {
    return this.#unanswered !== null;
  }

  /**
   * The order to send. An order without an answer is sent again unchanged. Another order under its
   * key would be refused, and it may have sold the position.
   *
   * @param floorCents at least so many cents a contract; null: at any price
   */
  order(floorCents: number | null): MarketSell {
    this.#unanswered ??= {
      action: 'sell',
      type: 'market',
      tradeId: this.#tradeId,
      idempotencyKey: this.#key,
      ...(floorCents === null ? {} : { minPriceCents: floorCents }),
    };
    return this.#unanswered;
  }

  /** The least that the order that may be on its way takes for a contract. */
  get floorCents(): number | null {
    return this.#unanswered?.minPriceCents ?? null;
  }

  /** It has failed. A refused order is not placed, and its key is not used up. */
  failed(error: unknown): void {
    const status = error instanceof CallError ? error.status : null;
    if (status !== null && status >= 400 && status < 500) this.#unanswered = null;
  }
}
