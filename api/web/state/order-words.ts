/**
 * The outcome of an order, and of its preview, in words. Rules A75, A119, A121, U40, V10
 * (api/RULES.md).
 */
import type {
  ErrorCode,
  Order,
  OrderPlacement,
  OrderPreview,
  Trade,
  Venue,
} from '../../client/generated.js';
import {
  cents,
  clock,
  counted,
  duration,
  limitWords,
  money,
  signedMoney,
  whole,
} from './format.ts';
import type { OrderBody } from './ticket.ts';

export const VENUE_WORDS: Readonly<Record<Venue, string>> = {
  venue_a: 'Venue A',
  venue_b: 'Venue B',
  venue_c: 'Venue C',
  venue_c_intl: 'Venue C international',
};

/** Why an order would be refused, in the order in which the rules are checked (T100). */
const REFUSED_WORDS: Partial<Record<ErrorCode, string>> = {
  invalid_request:
    'So many contracts could win more than an account can hold, or the expiry has passed. Choose fewer contracts, or another time.',
  trading_off: 'Trading is switched off by the operator of this server.',
  insufficient_scope: 'Trading is switched off by the operator of this server.',
  rate_limited: 'You have placed as many orders as your limits allow for now. Wait a minute.',
  membership_required:
    'Opening a position needs the basic plan or a higher one. The operator of this server grants it. Your account has none.',
  instrument_not_found: 'This market has left the catalog.',
  no_tradable_listing:
    'This market is not listed on exactly one market of Venue A, so that nothing trades it.',
  trade_not_found: 'There is no such position.',
  already_closed:
    'The position is closed already, or an order to sell it is resting. Cancel that one first.',
  market_resolved: 'The market has its result. Trading has ended.',
  market_not_open: 'The market is not open: it is paused or closed, or has not opened yet.',
  no_liquidity:
    'There is no live price on that side now. A limit order can rest until there is one.',
  price_moved: 'The live price is beyond your bound.',
  would_take: 'It may only rest, and would trade at once at the live price.',
  insufficient_balance: 'It costs more than you can spend.',
};

export function refusedWords(code: ErrorCode | undefined): string {
  return (code && REFUSED_WORDS[code]) ?? `It would be refused (${code}).`;
}

/** The lines of a preview. */
export type PreviewWords = {
  sentence: string;
  kind: 'goes' | 'waits' | 'refused';
  lines: readonly { name: string; value: string }[];
};

type Details = {
  /** For a sell: the cost of its position; null if that is not known. */
  costDollars?: number | null;
  /** How long ago the answer came. */
  sinceMs?: number;
  /** For a buy: what can be spent, and the price of the side; null: not known. */
  cashDollars?: number | null;
  priceCents?: number | null;
};

export function previewWords(
  order: OrderBody,
  preview: OrderPreview,
  { costDollars = null, sinceMs = 0, cashDollars = null, priceCents = null }: Details = {},
): PreviewWords {
  const { would, code } = preview;
  if (would === 'refuse' || code !== undefined) {
    const isTooDear = code === 'insufficient_balance' && order.action === 'buy';
    const lines = isTooDear ? tooDearLines(order, cashDollars, priceCents) : [];
    return { sentence: refusedWords(code), kind: 'refused', lines };
  }
  if (!isPriced(preview)) return hiddenWords(order, preview);
  const kind = would === 'execute' ? 'goes' : 'waits';
  const sentence = wouldWords(order, preview);
  return {
    sentence,
    kind,
    lines: [
      ...preview.fills.map(({ priceCents, contracts, venue }) => ({
        name: `Fills at ${VENUE_WORDS[venue]}`,
        value: `${whole(contracts)} at ${cents(priceCents)}`,
      })),
      ...(order.action === 'buy' ? buyLines(order, preview) : sellLines(preview, costDollars)),
      ...feeAndAge(preview, sinceMs),
    ],
  };
}

/** What it would cost at the price now, or at its limit, and what there is. Rule U40. */
function tooDearLines(
  { count = 0, limitPriceCents }: OrderBody,
  cashDollars: number | null,
  priceCents: number | null,
) {
  const eachCents = limitPriceCents ?? priceCents;
  return [
    ...(eachCents === null
      ? []
      : [{ name: `Cost at ${cents(eachCents)}`, value: money((count * eachCents) / 100) }]),
    ...(cashDollars === null ? [] : [{ name: 'Your cash', value: money(cashDollars) }]),
  ];
}

/** The fields that exist while venue data is on. */
type Priced = OrderPreview & {
  would: NonNullable<OrderPreview['would']>;
  fills: NonNullable<OrderPreview['fills']>;
  costDollars: number;
  feeDollars: number;
};

function isPriced(preview: OrderPreview): preview is Priced {
  const { would, fills, costDollars, feeDollars } = preview;
  return would !== null && fills !== null && costDollars !== null && feeDollars !== null;
}

/** While venue data is off: the parts that follow without a price. Rule V10. */
function hiddenWords(order: OrderBody, { holdDollars }: OrderPreview): PreviewWords {
  const { action, type, side, count = 0 } = order;
  const held = { name: 'Held while it rests', value: money(holdDollars) };
  const payout = { name: `Payout if all of it fills and ${side} wins`, value: money(count) };
  const isBuy = action === 'buy';
  return {
    sentence: 'While venue data is off, prices and the preview are hidden.',
    kind: 'waits',
    lines: [...(isBuy && type === 'limit' ? [held] : []), ...(isBuy ? [payout] : [])],
  };
}

/** The worst price that the preview has for it; null: it would not fill, or prices are hidden. */
export function previewedCents({ action }: OrderBody, { fills }: OrderPreview): number | null {
  if (fills === null || fills.length === 0) return null;
  const prices = fills.map(({ priceCents }) => priceCents);
  return (action === 'buy' ? Math.max : Math.min)(...prices);
}

const filledIn = ({ fills }: Priced) => fills.reduce((sum, { contracts }) => sum + contracts, 0);

function wouldWords({ action, count = 0, timeInForce }: OrderBody, preview: Priced): string {
  const filled = filledIn(preview);
  const isPart = action === 'buy' && filled > 0 && filled < count;
  switch (preview.would) {
    case 'execute':
      return isPart
        ? `Would fill ${whole(filled)} of ${whole(count)} now and cancel the rest.`
        : 'Would fill now.';
    case 'rest':
      return isPart
        ? `Would fill ${whole(filled)} of ${whole(count)} now. The rest would wait for its price.`
        : 'Would rest until its price is reached.';
    case 'cancel':
      return `Would not fill now, and so be canceled (${timeInForce}).`;
    default:
      return '';
  }
}

function buyLines(order: OrderBody, preview: Priced) {
  const { costDollars, holdDollars } = preview;
  const filled = filledIn(preview);
  const rests = holdDollars > 0 ? (order.count ?? 0) - filled : 0;
  const payoutDollars = filled + rests;
  return [
    { name: 'Cost', value: money(costDollars) },
    ...(order.type === 'market'
      ? []
      : [{ name: 'Held while it rests', value: money(holdDollars) }]),
    {
      name: `Payout if ${rests > 0 ? 'all of it fills and ' : ''}${order.side} wins`,
      value: money(payoutDollars),
    },
    { name: 'Profit then', value: signedMoney(payoutDollars - costDollars - holdDollars) },
  ];
}

function sellLines({ fills }: Priced, costDollars: number | null) {
  if (fills.length === 0) return [];
  const proceedsCents = fills.reduce((sum, { priceCents, contracts }) => {
    return sum + priceCents * contracts;
  }, 0);
  const proceedsDollars = proceedsCents / 100;
  return [
    { name: 'Proceeds', value: money(proceedsDollars) },
    ...(costDollars === null
      ? []
      : [{ name: 'Profit or loss', value: signedMoney(proceedsDollars - costDollars) }]),
  ];
}

function feeAndAge({ feeDollars, quoteAgeMs }: Priced, sinceMs: number) {
  return [
    { name: 'Venue fee, if you chose to pay it', value: money(feeDollars) },
    {
      name: 'Age of the quote',
      value: quoteAgeMs === null ? 'no quote' : duration(quoteAgeMs + sinceMs),
    },
  ];
}

/** Its outcome, in a sentence. */
export function placedWords(placement: OrderPlacement): string {
  const { status, replayed, originalCreatedAt, order, trade } = placement;
  const before =
    replayed && originalCreatedAt !== null
      ? `Placed before, at ${clock.seconds(originalCreatedAt)}; nothing new was placed. `
      : '';
  if (status === 'resting' && order !== null) return before + restingWords(order);
  if (status === 'canceled') return before + canceledWords(order);
  return before + (trade === null ? 'Filled.' : filledWords(placement, trade));
}

type CancelReason = NonNullable<Order['cancelReason']>;
/** The words after `canceled`. */
export const CANCEL_WORDS: Readonly<Record<CancelReason, string>> = {
  canceled_by_owner: 'by its owner',
  ioc_not_filled: 'there was no price for it at once',
  fok_not_filled: 'there was no price for all of it at once',
  market_resolved: 'its market has a result',
  position_closed: 'its position was closed',
  account_reset: 'the account was reset',
  expired: 'it expired',
  instrument_dropped: 'its market has left the catalog',
  disconnected: 'the connection that placed it has ended',
  no_liquidity: 'there was too little to trade with when it met the book',
  price_moved: 'the price was beyond your bound when it met the book',
  would_take: 'it may only rest, and would have traded at once when it met the book',
  order_group_limit: 'the orders of its group have traded as much as the limit of the group',
};

function canceledWords(order: Order | null): string {
  const reason = order?.cancelReason ?? null;
  const why = reason === null ? '' : `: ${CANCEL_WORDS[reason]}`;
  const filled = order?.filledContracts ?? 0;
  return filled > 0
    ? `${whole(filled)} filled, the rest canceled${why}.`
    : `Canceled${why}. Nothing was spent.`;
}

function filledWords({ action, order, fillPriceCents, fillVenue }: OrderPlacement, trade: Trade) {
  const at = fillPriceCents == null ? '' : ` at ${cents(fillPriceCents)}`;
  const where = fillVenue === null || fillVenue === 'venue_a' ? '' : ` (${VENUE_WORDS[fillVenue]})`;
  if (action === 'sell') {
    const result = trade.pnlDollars === null ? '' : `, ${signedMoney(trade.pnlDollars)}`;
    return `Sold ${counted(trade.contracts, 'contract')} of ${trade.instrumentSide}${at}${where}${result}.`;
  }
  const filled = order?.filledContracts ?? trade.contracts;
  const rest = order === null ? 0 : order.contracts - filled;
  const tail = rest > 0 ? ` The other ${whole(rest)} were canceled.` : '';
  return (
    `Bought ${counted(filled, 'contract')} of ${trade.instrumentSide}${at}${where} ` +
    `for ${money(trade.costDollars)}.${tail}`
  );
}

function restingWords(order: Order): string {
  const { action, remainingContracts, filledContracts, instrumentSide, limitCents } = order;
  const until = order.expiresAt === null ? '' : ` until ${clock.full(order.expiresAt)}`;
  const holds = order.holdDollars > 0 ? `, and holds ${money(order.holdDollars)}` : '';
  const filled = filledContracts > 0 ? `${whole(filledContracts)} filled. ` : '';
  const what = `${action} ${counted(remainingContracts, 'contract')} of ${instrumentSide}`;
  if (order.pendingUntil !== null) {
    const when = clock.full(order.pendingUntil);
    return `On its way: ${what} at ${limitWords(limitCents)} meets the book at ${when}${holds}.`;
  }
  return `${filled}Rests: ${what} at ${limitWords(limitCents)} or better${until}${holds}.`;
}
