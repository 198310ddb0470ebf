/** The receipt of a trade or of an order, and its check. Rule U50 (api/RULES.md). */
import type { SignedReceipt } from '../../client/generated.js';
import { type AccountId, ofAccount } from './account-id.ts';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';
import { SignedCheck } from './signed-check.ts';

export type ReceiptOf = { tradeId: string } | { orderId: string };

/** Each dialog has its own. */
export class ReceiptState {
  readonly receipt: Loader<[], SignedReceipt>;
  readonly check = new SignedCheck();

  constructor(of: ReceiptOf, account: AccountId) {
    this.receipt = new Loader(async () => {
      const signed =
        'tradeId' in of
          ? await call('getTradeReceipt', { path: of, ...ofAccount(account) })
          : await call('getOrderReceipt', { path: of, ...ofAccount(account) });
      this.check.forget();
      return signed;
    });
  }
}
