/**
 * Fields of Kalshi's messages, today's fixed-point form and the integer cents of before 2026.
 * Nothing here keeps state. Rules W24 to W32, W72, W75, W80 to W83, W117 (feeds/FORMATS.md).
 */
import type { EpochMs, PriceE4, Side } from '../../../engine/base/units.ts';
import { bookSide, bookTick, isLevelPrice } from '../../reading/book.ts';
import {
  parseContractsE2,
  parsePriceE4,
  parseValueE4,
  priceE4OfCents,
} from '../../reading/decimal.ts';
import {
  type Fields,
  fieldsOf,
  isPlace,
  nameOf,
  refused,
  resultOfValue,
} from '../../reading/frame.ts';
import { parseInstant } from '../../reading/instant.ts';
import type { BookTick, FrameReading, Level, StateTick, VenueTick } from '../../reading/venue.ts';
import type { BestPrices } from '../shared/kept-books.ts';

/** Messages that are understood and carry no price. */
export const NO_PRICE: ReadonlySet<string> = new Set([
  'subscribed',
  'unsubscribed',
  'ok',
  'list_subscriptions',
  'event_lifecycle',
  'event_fee_update',
  'fill',
  'market_position',
  'user_order',
  'order_group_updates',
  'rfq_created',
  'rfq_deleted',
  'quote_created',
  'quote_accepted',
  'quote_executed',
]);

/** The channel broke or its buffer ran over: updates are lost, only a new subscription helps. */
const TERMINAL_ERRORS: ReadonlySet<unknown> = new Set([10, 25]);

/** The bids of one side. A side whose key is absent is empty; null: not readable. */
export function bidLevels(message: Fields, side: Side): Level[] | null {
  const dollars = firstOf(message, `${side}_dollars_fp`, `${side}_dollars`);
  const pairs = dollars ?? message[side];
  const priceOf = dollars === undefined ? priceE4OfCents : parsePriceE4;
  return bookSide(pairs ?? [], (pair) => {
    if (!Array.isArray(pair)) return null;
    const price = priceOf(pair[0]);
    const size = parseContractsE2(pair[1]);
    return price === null || size === null ? null : { price, size };
  });
}

/** The first of the named fields that has a value. */
export function firstOf(message: Fields, ...names: string[]): unknown {
  for (const name of names) {
    const value = message[name];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** A price from its dollar field, or else from its field in cents. */
export function priceIn(message: Fields, dollars: string, cents: string): PriceE4 | null {
  const text = firstOf(message, dollars);
  return text === undefined ? priceE4OfCents(message[cents]) : parsePriceE4(text);
}

/** `ts_ms`, or `ts` in seconds or as a text, or `time`. */
export function venueTime(message: Fields | null): EpochMs | null {
  if (message === null) return null;
  const { ts_ms: ms, ts, time } = message;
  if (Number.isSafeInteger(ms)) return ms as number;
  if (Number.isSafeInteger(ts)) return (ts as number) * 1000;
  return parseInstant(ts) ?? parseInstant(time) ?? decidedAt(message);
}

/** The whole top of book of a market; older tickers state no sizes, which are then 0. */
export function tickerTick(market: string, message: Fields): BookTick | null {
  const bid = sideOf(message, 'yes_bid');
  const ask = sideOf(message, 'yes_ask');
  return bid === undefined || ask === undefined ? null : bookTick(market, bid, ask);
}

/**
 * The best prices that a ticker states. Prices in whole cents alone are left out, because they are
 * no prices of a finer book.
 */
export function bestPrices(message: Fields): BestPrices {
  const best = (name: 'yes_bid' | 'yes_ask') => {
    const price = parsePriceE4(message[`${name}_dollars`]);
    if (price === null) return undefined;
    return isLevelPrice(price) ? price : null;
  };
  return { bid: best('yes_bid'), ask: best('yes_ask') };
}

/** A block trade was made beside the book, at a price that no other trader could have. Rule W82. */
const BLOCK_TRADE = 'block trade';

/** A trade; a text tells why it is none. */
export function tradeTick(market: string, message: Fields): VenueTick | string {
  if (message.is_block_trade === true) return BLOCK_TRADE;
  const yesPrice = yesPriceOf(message);
  const size = parseContractsE2(firstOf(message, 'count_fp', 'count'));
  if (yesPrice === null || size === null) return 'unreadable price or size';
  const takerSide = firstOf(message, 'taker_side', 'taker_outcome_side', 'side');
  if (takerSide !== 'yes' && takerSide !== 'no') return 'unreadable side';
  return { kind: 'trade', market, yesPrice, size, takerSide };
}

/** The ticks of a market's life-cycle event; null: nothing we keep. A text is its problem. */
export function lifecycleTick(market: string, message: Fields): VenueTick | null | string {
  switch (message.event_type) {
    case 'activated':
      return { kind: 'status', market, status: 'open' };
    case 'deactivated':
      return { kind: 'status', market, status: 'paused' };
    case 'determined':
      return provisional(resultTick(market, message)) ?? 'determined without a result';
    case 'amended':
      // The amended result, or the word that there will be one.
      return provisional(resultTick(market, message)) ?? doubted(market, 'amended');
    case 'disputed':
      // A result beside it is the one that is disputed.
      return doubted(market, 'disputed');
    case 'settled':
      // May only say that payouts are done. The result then came with `determined`.
      return resultTick(market, message);
    case 'close_date_updated': {
      const closesAtMs = secondsMs(message.close_ts);
      return closesAtMs === null ? 'unreadable close_ts' : { kind: 'closing', market, closesAtMs };
    }
    case 'created':
    case 'metadata_updated':
      return null;
    default:
      return 'unknown event_type';
  }
}

/** The venue doubts the result that it told. Rule W75 (feeds/FORMATS.md). */
export function doubted(market: string, doubt: string): StateTick {
  return { kind: 'status', market, status: 'closed', doubt };
}

/** The venue may still dispute or amend it. */
export function provisional(tick: StateTick | null | string): StateTick | null | string {
  if (tick === null || typeof tick === 'string' || tick.kind !== 'result') return tick;
  return { ...tick, provisional: true };
}

/** Rounding of the venue's own; more is a contradiction. */
const TOLERANCE: PriceE4 = 10;

/** Kalshi publishes no example of a result. `result` decides; without it the value decides. */
export function resultTick(market: string, message: Fields): StateTick | null | string {
  const { result } = message;
  const stated = firstOf(message, 'settlement_value', 'settlement_value_dollars');
  const value = stated === undefined || stated === '' ? null : parseValueE4(stated);
  // Old frames have whole cents.
  const isCentOrDollar = message.settlement_value === 1 && result !== 'yes' && result !== 'no';
  const isUnread = value === null && stated !== undefined && stated !== '';
  if (isUnread || isCentOrDollar) return 'unreadable settlement_value';
  switch (result) {
    case 'yes':
    case 'no':
      // A settlement cannot be taken back, so a contradiction settles nothing.
      if (value !== null && Math.abs(value - (result === 'yes' ? 10_000 : 0)) > TOLERANCE) {
        return 'result and settlement_value disagree';
      }
      return { kind: 'result', market, outcome: result, yesValue: null };
    case 'void':
      return { kind: 'result', market, outcome: 'void', yesValue: null };
    case 'scalar':
    case '':
    case null:
    case undefined:
      if (value !== null) return resultOfValue(market, value);
      return result === 'scalar' ? 'scalar result without a settlement_value' : null;
    default:
      return 'unknown result';
  }
}

/**
 * Whether a yes price is on the grid of a market, by its price ranges or else by the name of its
 * structure; null: it is not known.
 */
export function gridOf(message: Fields): ((yesPrice: PriceE4) => boolean) | null {
  const { price_ranges: ranges, price_level_structure: structure } = message;
  if (!Array.isArray(ranges) || ranges.length === 0) {
    const step = STEPS.get(structure);
    return step === undefined ? null : (price) => price % step === 0;
  }
  const read = ranges.map((range: unknown) => {
    const fields = fieldsOf(range);
    const [from, to, step] = [fields?.start, fields?.end, fields?.step].map(parsePriceE4);
    return { from, to, step };
  });
  if (read.some(({ from, to, step }) => from == null || to == null || !step)) return null;
  return (price) => {
    return read.some(({ from, to, step }) => {
      return price >= from! && price <= to! && (price - from!) % step! === 0;
    });
  };
}

/** Of the structures with one step. */
const STEPS: ReadonlyMap<unknown, PriceE4> = new Map<unknown, PriceE4>([
  ['linear_cent', 100],
  ['deci_cent', 10],
]);

function secondsMs(seconds: unknown): EpochMs | null {
  return isPlace(seconds) && seconds <= LAST_DATE_SECONDS ? seconds * 1000 : null;
}

/** The last second of the year 9999. */
const LAST_DATE_SECONDS = Date.UTC(10_000, 0) / 1000 - 1;

function decidedAt({ determination_ts: determined, settled_ts: settled }: Fields): EpochMs | null {
  const seconds = settled ?? determined;
  return Number.isSafeInteger(seconds) ? (seconds as number) * 1000 : null;
}

function yesPriceOf(message: Fields): PriceE4 | null {
  const yes = firstOf(message, 'yes_price_dollars');
  if (yes !== undefined) return parsePriceE4(yes);
  return priceE4OfCents(firstOf(message, 'yes_price', 'price'));
}

/** Null is an absent side, undefined a side that is not readable. */
function sideOf(message: Fields, name: 'yes_bid' | 'yes_ask'): Level | null | undefined {
  if (firstOf(message, `${name}_dollars`, name) === undefined) return null;
  const price = priceIn(message, `${name}_dollars`, name);
  const stated = firstOf(message, `${name}_size_fp`, `${name}_size`);
  const size = stated === undefined ? 0 : parseContractsE2(stated);
  return price === null || size === null ? undefined : { price, size };
}

/** The number of an `error`; null without one. */
export function errorCode(message: Fields | null): number | null {
  return Number.isSafeInteger(message?.code) ? (message!.code as number) : null;
}

/** An `error`. Some end the subscription, which is a gap. */
export function readError(message: Fields | null): FrameReading {
  const code = errorCode(message);
  const text = nameOf(message?.msg) ?? 'no message';
  const reading = refused('error', `error ${code ?? 'without a code'}: ${text}`);
  reading.jump = TERMINAL_ERRORS.has(code);
  return reading;
}
