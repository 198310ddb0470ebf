/** Signed receipts of fills: why an order was filled at its price. Rules A156, A157 (api/RULES.md). */
import { isoOf } from '../../../engine/base/units.ts';
import type { OrderReceipt, ReceiptQuestion } from '../../../engine/readers/receipts.ts';
import { signRecord } from '../../../engine/records/track-record/track-record-signature.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { RECEIPT_EXAMPLE, type Receipt, ReceiptAnswer } from '../../schemas/receipts.ts';
import { OrderId, TradeId } from '../../schemas/trading.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'events' | 'trackRecordKeys'>;

const OF_ORDER = {
  path: '/portfolio/orders/{orderId}/receipt',
  operationId: 'getOrderReceipt',
  summary: 'How an order was filled, signed',
  param: OrderId,
  notFound: 'order_not_found',
  of: (order: string): ReceiptQuestion['of'] => ({ order: order as never }),
} as const;
const OF_TRADE = {
  path: '/portfolio/trades/{tradeId}/receipt',
  operationId: 'getTradeReceipt',
  summary: 'How the order that opened a trade was filled, signed',
  param: TradeId,
  notFound: 'trade_not_found',
  of: (trade: string): ReceiptQuestion['of'] => ({ trade: trade as never }),
} as const;

export function receiptRoutes(context: Context): Route<Caller>[] {
  return [receiptRoute(context, OF_ORDER), receiptRoute(context, OF_TRADE)];
}

function receiptRoute(
  { events, trackRecordKeys }: Context,
  { path, notFound, of, ...about }: typeof OF_ORDER | typeof OF_TRADE,
): Route<Caller> {
  return ofAccount({
    method: 'GET',
    path,
    about: {
      ...about,
      tag: 'Portfolio',
      description:
        'Each fill with the levels that it took, or with the queue that it waited in, and its fee. ' +
        'Signed as a track record is: `paperbook verify-receipt` checks it offline.',
      example: RECEIPT_EXAMPLE,
    },
    errors: [notFound],
    scope: 'portfolio:read',
    needs: 'venueData',
    mayBeUnavailable: true,
    query: NoQuery,
    response: ReceiptAnswer,
    run: async ({ caller, account, param }) => {
      if (!isUuid(param)) throw new ApiError(notFound);
      const found = await events.receipt(caller.user.id, account.id, of(param.toLowerCase()));
      if (found === null) throw new ApiError(notFound);
      const receipt = receiptOf(found);
      const envelope = signRecord(receipt, trackRecordKeys.current);
      return JSON.stringify({ receipt, envelope, mode: 'paper' });
    },
  });
}

function receiptOf({ orderId, tradeId, model, latencyMs, ...rest }: OrderReceipt): Receipt {
  return {
    ...{ version: 1, orderId, tradeId, model, latencyMs },
    acceptedAt: isoOf(rest.acceptedAtMs),
    arrivedAt: rest.arrivedAtMs === null ? null : isoOf(rest.arrivedAtMs),
    fills: rest.fills.map(({ atMs, levels, queue, ...fill }) => ({
      ...{ ...fill, at: isoOf(atMs), fee: null },
      levels: levels === null ? null : levels.map(([cents, contracts]) => [cents, contracts]),
      queue: queue === null ? null : queueOf(queue),
    })),
  };
}

function queueOf({
  aheadAtArrivalE2,
  aheadBeforeE2,
  prints,
}: NonNullable<OrderReceipt['fills'][number]['queue']>) {
  const contracts = (e2: number | null) => (e2 === null ? null : e2 / 100);
  return {
    aheadAtArrival: contracts(aheadAtArrivalE2),
    aheadBefore: contracts(aheadBeforeE2),
    prints: prints.map(({ atMs, contractsE2 }) => {
      return { at: isoOf(atMs), contracts: contractsE2 / 100 };
    }),
  };
}
