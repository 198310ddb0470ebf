/**
 * Sells several positions, one after another, each at its bid or better and once. Rule U42
 * (api/RULES.md).
 */
import type { OrderRequest, Position } from '../../client/generated.js';
import { SellAttempt } from './sell-attempt.ts';

export type SellAllParts = {
  newKey(): string;
  /** The bid of its side now; null: there is none, and it is not sold. */
  floorOf(position: Position): number | null;
  /** While venue data is off no bid is shown, and each is sold at the bid of the moment. */
  isBlind: boolean;
  /** Rejects if it is refused, or has no answer. */
  sell(order: OrderRequest): Promise<{ pnlDollars: number | null }>;
};

export type SoldAll = {
  sold: number;
  /** Of what was sold; in whole cents. */
  pnlDollars: number;
  /** Positions without a bid. */
  withoutBid: number;
  /** The refusals, in the order of the positions. */
  errors: readonly unknown[];
};

/** Its positions and keys stay the same, so that what has no answer is sent again unchanged. */
export class SellAll {
  readonly #parts: SellAllParts;
  readonly #left: Map<Position, SellAttempt>;
  #sold = 0;
  #pnlCents = 0;

  constructor(positions: readonly Position[], parts: SellAllParts) {
    this.#parts = parts;
    this.#left = new Map(
      positions.map((one) => [one, new SellAttempt(one.tradeId, parts.newKey())]),
    );
  }

  /** @param onSold after each sale, with how many are sold */
  async run(onSold: (sold: number) => void): Promise<SoldAll> {
    const errors: unknown[] = [];
    let withoutBid = 0;
    for (const [position, attempt] of [...this.#left]) {
      const floorCents = this.#parts.floorOf(position);
      if (floorCents === null && !this.#parts.isBlind && !attempt.isUnanswered) {
        withoutBid++;
        continue;
      }
      try {
        const { pnlDollars } = await this.#parts.sell(attempt.order(floorCents));
        this.#left.delete(position);
        this.#pnlCents += Math.round(100 * (pnlDollars ?? 0));
        onSold(++this.#sold);
      } catch (error) {
        attempt.failed(error);
        errors.push(error);
      }
    }
    return { sold: this.#sold, pnlDollars: this.#pnlCents / 100, withoutBid, errors };
  }
}
