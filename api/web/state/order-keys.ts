/**
 * The idempotency keys of orders from the page: one for the content of a ticket, until the server
 * has placed it. So an order that is sent again after a lost answer, or a refusal, is placed once.
 * If the same order is sent again after its placing, it is another order. Rules T90 to T96
 * (engine/RULES.md).
 */
import type { AccountId } from './account-id.ts';
import type { OrderBody } from './ticket.ts';

export class OrderKeys {
  readonly #make: () => string;
  /** Keys of orders that were sent and not placed, as far as the page knows. */
  readonly #unplaced = new Map<string, string>();

  constructor(make: () => string) {
    this.#make = make;
  }

  /** To send the order with; each account has its own keys. */
  keyOf(order: OrderBody, account: AccountId): string {
    const content = contentOf(order, account);
    const known = this.#unplaced.get(content);
    if (known !== undefined) return known;
    const made = this.#make();
    this.#unplaced.set(content, made);
    return made;
  }

  /** The server has answered that it is placed, or was. */
  placed(order: OrderBody, account: AccountId): void {
    this.#unplaced.delete(contentOf(order, account));
  }
}

/** The fields are in the order of the ticket, which is always the same. */
function contentOf(order: OrderBody, account: AccountId): string {
  return JSON.stringify([account, order]);
}
