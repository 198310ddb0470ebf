/** What came of an order, and what would come of one, in words. Rules A119, A121 (api/RULES.md). */
import type {
  ErrorCode,
  Order,
  OrderPlacement,
  OrderPreview,
  Trade,
  Venue,
} from '../../client/generated.js';
import { cents, clock, counted, duration, money, signedMoney, whole } from './format.ts';
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
    'So many contracts could win more than an account can hold, or the expiry is not ahead. Choose fewer, or another time.',
  trading_off: 'Trading is switched off by the operator of this server.',
  insufficient_scope: 'Trading is switched off by the operator of this server.',
  rate_limited: 'You have placed as many orders as your limits allow for now. Wait a minute.',
  membership_required:
    'Opening a position needs the basic plan or a higher one, which the operator of this server grants. Your account has none.',
  instrument_not_found: 'This market is in the catalog no more.',
  no_tradable_listing:
    'This market is not listed on exactly one market of Venue A, so that nothing trades it.',
  trade_not_found: 'There is no such position.',
  already_closed:
    'The position is closed already, or an order to sell it is resting. Cancel that one first.',
  market_resolved: 'The market has its result: nothing trades any more.',
  market_not_open: 'The market is not open: it is paused or closed, or has not opened yet.',
  no_liquidity:
    'There is no live price on that side now. A limit order can rest until there is one.',
  price_moved: 'The live price is beyond the bound that you have set.',
  insufficient_balance: 'It costs more than you can spend.',
};

export function refusedWords(code: ErrorCode | undefined): string {
  return (code && REFUSED_WORDS[code]) ?? `It would be refused (${code}).`;
}

const HIDDEN = 'Prices are hidden while venue data is off.';

/** Of a preview: what one would see, a line each. */
export type PreviewWords = {
  sentence: string;
  kind: 'goes' | 'waits' | 'refused';
  lines: readonly { name: string; value: string }[];
};

type Details = {
  /** Of a sell: what its position cost; null where that is not known. */
  costDollars?: number | null;
  /** How long ago the answer came. */
  sinceMs?: number;
};

export function previewWords(
  order: OrderBody,
  preview: OrderPreview,
  { costDollars = null, sinceMs = 0 }: Details = {},
): PreviewWords {
  const { would, code, holdDollars } = preview;
  const fills = fillsOf(preview);
  const isRefused = would === 'refuse' || (would === null && code !== undefined);
  if (isRefused) return { sentence: refusedWords(code), kind: 'refused', lines: [] };
  if (would === null) {
    return { sentence: HIDDEN, kind: 'waits', lines: heldLines(order, holdDollars) };
  }
  const kind = would === 'execute' ? 'goes' : 'waits';
  const sentence = wouldWords(order, preview);
  return {
    sentence,
    kind,
    lines: [
      ...fills.map(({ priceCents, contracts, venue }) => ({
        name: `Fills at ${VENUE_WORDS[venue]}`,
        value: `${whole(contracts)}${priceCents === undefined ? '' : ` at ${cents(priceCents)}`}`,
      })),
      ...(order.action === 'buy' ? buyLines(order, preview) : sellLines(preview, costDollars)),
      ...feeAndAge(preview, sinceMs),
    ],
  };
}

/** The worst price that the preview has for it; null: it would not fill, or prices are hidden. */
export function previewedCents({ action }: OrderBody, preview: OrderPreview): number | null {
  const prices = fillsOf(preview).map(({ priceCents }) => priceCents ?? null);
  if (prices.length === 0 || prices.includes(null)) return null;
  return (action === 'buy' ? Math.max : Math.min)(...(prices as number[]));
}

/** While venue data is off it is not said what would fill (V3). */
function fillsOf({ fills }: OrderPreview): OrderPreview['fills'] {
  return fills ?? [];
}

function wouldWords({ action, count = 0, timeInForce }: OrderBody, preview: OrderPreview): string {
  const filled = fillsOf(preview).reduce((sum, { contracts }) => sum + contracts, 0);
  const isPart = action === 'buy' && filled > 0 && filled < count;
  switch (preview.would) {
    case 'execute':
      return isPart
        ? `Would fill ${whole(filled)} of ${whole(count)} now and cancel the rest.`
        : 'Would fill now.';
    case 'rest':
      return isPart
        ? `Would fill ${whole(filled)} of ${whole(count)} now; the rest would wait for its price.`
        : 'Would rest until its price comes.';
    case 'cancel':
      return `Would not fill now, and so be canceled (${timeInForce}).`;
    default:
      return '';
  }
}

function heldLines({ type }: OrderBody, holdDollars: number) {
  return type === 'market' ? [] : [{ name: 'Held while it rests', value: money(holdDollars) }];
}

function buyLines(order: OrderBody, preview: OrderPreview) {
  const { holdDollars } = preview;
  const costDollars = preview.costDollars ?? null;
  const filled = fillsOf(preview).reduce((sum, { contracts }) => sum + contracts, 0);
  const rests = holdDollars > 0 ? (order.count ?? 0) - filled : 0;
  const payoutDollars = filled + rests;
  const profitDollars = costDollars === null ? null : payoutDollars - costDollars - holdDollars;
  return [
    ...(costDollars === null ? [] : [{ name: 'Cost', value: money(costDollars) }]),
    ...heldLines(order, holdDollars),
    {
      name: `Payout if ${rests > 0 ? 'all of it fills and ' : ''}${order.side} wins`,
      value: money(payoutDollars),
    },
    ...(profitDollars === null ? [] : [{ name: 'Profit then', value: signedMoney(profitDollars) }]),
  ];
}

function sellLines(preview: OrderPreview, costDollars: number | null) {
  const fills = fillsOf(preview);
  const proceedsCents = fills.reduce((sum, { priceCents, contracts }) => {
    return sum + (priceCents ?? Number.NaN) * contracts;
  }, 0);
  if (fills.length === 0 || Number.isNaN(proceedsCents)) return [];
  const proceedsDollars = proceedsCents / 100;
  return [
    { name: 'Proceeds', value: money(proceedsDollars) },
    ...(costDollars === null
      ? []
      : [{ name: 'Profit or loss', value: signedMoney(proceedsDollars - costDollars) }]),
  ];
}

function feeAndAge({ feeDollars, quoteAgeMs }: OrderPreview, sinceMs: number) {
  const age = quoteAgeMs === null ? 'no quote' : duration((quoteAgeMs ?? 0) + sinceMs);
  return [
    ...(feeDollars == null
      ? []
      : [{ name: 'Fee at the venue (paper pays none)', value: money(feeDollars) }]),
    ...(quoteAgeMs === undefined ? [] : [{ name: 'Age of the quote', value: age }]),
  ];
}

/** What came of it, in a sentence. */
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
/** Behind `canceled`. */
export const CANCEL_WORDS: Readonly<Record<CancelReason, string>> = {
  canceled_by_owner: 'by its owner',
  ioc_not_filled: 'there was no price for it at once',
  fok_not_filled: 'there was no price for all of it at once',
  market_resolved: 'its market has a result',
  position_closed: 'its position was closed',
  account_reset: 'the account was reset',
  expired: 'its time was over',
  instrument_dropped: 'its market has left the catalog',
  disconnected: 'the connection that placed it has ended',
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
  return `${filled}Rests: ${what} at ${cents(limitCents)} or better${until}${holds}.`;
}
