/**
 * Signed receipts of fills: why an order was filled at its price, and what it paid. Rules A156, A157,
 * A240 (api/RULES.md).
 */
import { dollarsOf, isoOf } from '../../../engine/base/units.ts';
import type {
  OrderReceipt,
  ReceiptFill,
  ReceiptQuestion,
} from '../../../engine/readers/receipts.ts';
import { signRecord } from '../../../engine/records/track-record/track-record-signature.ts';
import { type FeeEntry, feeEntryFor, NO_TABLE } from '../../../engine/rules/fees.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import { chargedFee, levelFees } from '../../../engine/rules/order-fees.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { RECEIPT_EXAMPLE, type Receipt, ReceiptAnswer } from '../../schemas/receipts.ts';
import { OrderId, TradeId } from '../../schemas/trading.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'events' | 'fees' | 'trackRecordKeys'>;

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
  { events, fees, trackRecordKeys }: Context,
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
      const receipt = receiptOf(found, fees());
      const envelope = signRecord(receipt, trackRecordKeys.current);
      return JSON.stringify({ receipt, envelope, mode: 'paper' });
    },
  });
}

function receiptOf(
  { orderId, tradeId, model, latencyMs, ...rest }: OrderReceipt,
  table: readonly FeeEntry[],
): Receipt {
  return {
    ...{ version: 1, orderId, tradeId, model, latencyMs },
    acceptedAt: isoOf(rest.acceptedAtMs),
    arrivedAt: rest.arrivedAtMs === null ? null : isoOf(rest.arrivedAtMs),
    fills: rest.fills.map((told) => {
      const { atMs, levels, queue, ...fill } = told;
      return {
        ...{ ...fill, at: isoOf(atMs), fee: feeOf(told, table) },
        levels: levels === null ? null : levels.map(([cents, contracts]) => [cents, contracts]),
        queue: queue === null ? null : queueOf(queue),
      };
    }),
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

/** The fee as it was charged, and how the table in use comes to it. Rule A240. */
export function feeOf(
  fill: ReceiptFill,
  table: readonly FeeEntry[],
): Receipt['fills'][number]['fee'] {
  if (fill.fee === null) return null;
  const { cents, paidBeforeMicros, venueMarketId } = fill.fee;
  const dollars = dollarsOf(cents);
  if (venueMarketId === null) return { dollars, table: null, rate: null, formula: NAMELESS };
  const { venue, atMs, liquidity, contracts, priceCents } = fill;
  const line = feeEntryFor(table, { venue, venueMarketId, atMs });
  const entry = line ?? NO_TABLE;
  const levels = fill.levels ?? [[priceCents, contracts]];
  const ofLevels = levelFees(entry, levels, liquidity);
  const charged = chargedFee(entry, ofLevels, paidBeforeMicros).cents;
  const rate = rateOf(entry, liquidity);
  const parts = levels.map(([priced, of], nth) => {
    return `${of} × ${rate} × ${spreadOf(entry, priced)} = ${decimals(ofLevels[nth]!)}`;
  });
  const due = ofLevels.reduce((sum, micros) => sum + micros, 0);
  const words = [
    `contracts × rate × ${spread('price', '(1 - price)', entry)}, ${ROUNDED[entry.schedule]}`,
    parts.join('; '),
    `together ${decimals(due)}`,
    ...(paidBeforeMicros === 0 ? [] : [`less ${decimals(paidBeforeMicros)} paid before`]),
    `up to the cent ${dollarsOf(charged)}`,
  ];
  const formula = `${words[0]}: ${words.slice(1).join(', ')}`;
  return {
    ...{ dollars, rate, table: line === null ? null : nameOf(line) },
    formula: charged === cents ? formula : `${formula}, ${otherwise(dollars)}`,
  };
}

const NAMELESS = 'the catalog does not name the market of this fill any more';
const otherwise = (dollars: number) =>
  `but ${dollars} was charged: the order's hold and the balance left no more, or the table has changed`;

/** How a venue rounds the fee of a level. Rules F22, F24, F25 (feeds/FORMATS.md). */
const ROUNDED = {
  kalshi: 'each up to 0.000001',
  polymarket: 'each down to 0.00001',
  polymarket_us: "each to the cent, half to even, a taker's fill at most its sum to the cent",
} as const satisfies Record<FeeEntry['schedule'], string>;

function rateOf({ schedule, multiplier, taker, maker }: FeeEntry, role: 'taker' | 'maker'): string {
  // Its makers pay nothing, whatever the line says. Rule F25 (feeds/FORMATS.md).
  if (schedule === 'polymarket' && role === 'maker') return '0';
  const rate = role === 'taker' ? taker : maker;
  return Number(multiplier) === 1 ? rate : `${rate} × ${multiplier}`;
}

function spreadOf(entry: FeeEntry, cents: number): string {
  return spread(`${dollarsOf(cents)}`, `${dollarsOf(100 - cents)}`, entry);
}

function spread(price: string, rest: string, { exponent }: FeeEntry): string {
  return exponent === 1 ? `${price} × ${rest}` : `(${price} × ${rest})^${exponent}`;
}

function nameOf({ schedule, series, from }: FeeEntry): string {
  return `${schedule}, ${series ?? 'every market'}, from ${from.replace(/T00:00:00(\.0+)?Z$/, '')}`;
}

/** An amount in dollars, without trailing zeros. */
function decimals(micros: number): string {
  return String(Number((micros / 1e6).toFixed(6)));
}
