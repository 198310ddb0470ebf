/**
 * Polymarket US markets WebSocket. Every message is a whole state: no increments and no sequence,
 * so nothing is kept and no gap can show. Rules W41 to W48, W16, W62, W86 (feeds/FORMATS.md).
 *
 * The venue's own pages disagree on names and types. So both snake_case and camelCase are read, and
 * both names and numbers of enums.
 */
import type { EpochMs, MarketStatus, Side } from '../../../engine/base/units.ts';
import { bookSide, bookTick, unknownBook, wholeBookTick } from '../../reading/book.ts';
import { parseContractsE2, parsePriceE4 } from '../../reading/decimal.ts';
import {
  type Fields,
  fieldsOf,
  nameOf,
  refused,
  said,
  statusWithBook,
  unreadState,
} from '../../reading/frame.ts';
import { parseInstant } from '../../reading/instant.ts';
import type {
  AdapterOptions,
  FrameReading,
  Level,
  VenueAdapter,
  VenueTick,
} from '../../reading/venue.ts';
import { Batches } from '../shared/batches.ts';
import { type Signer, signerOf, type VenueKeys } from '../shared/keys.ts';
import { Wanted } from '../shared/wanted.ts';
import { polymarketUsStates } from './states.ts';

const WS_PATH = '/v1/ws/markets';
const SLUGS_A_SUBSCRIPTION = 100;
/** The venue may have refused for being asked too often. */
const RETRY_MS = 1_000;
/** Sizes of a lite message are not stated: its depths count levels, not contracts. */
const SIZE_UNKNOWN = 0;

/** Enum numbers are the numbers of the venue's instrument states. */
const STATES: ReadonlyMap<unknown, MarketStatus> = new Map<unknown, MarketStatus>([
  ['OPEN', 'open'],
  [1, 'open'],
  ['PREOPEN', 'paused'],
  [2, 'paused'],
  ['SUSPENDED', 'paused'],
  [3, 'paused'],
  ['HALTED', 'paused'],
  [6, 'paused'],
  ['PENDING', 'paused'],
  [8, 'paused'],
  ['CLOSED', 'closed'],
  [0, 'closed'],
  ['EXPIRED', 'closed'],
  [4, 'closed'],
  ['TERMINATED', 'closed'],
  [5, 'closed'],
  ['MATCH_AND_CLOSE_AUCTION', 'closed'],
  [7, 'closed'],
]);

const WHOLE_BOOKS: ReadonlySet<string> = new Set(['marketData', 'marketDataLite']);

/** The price is of yes: a buyer of the book takes yes, whatever name the intent has. */
const TAKER_SIDES: ReadonlyMap<unknown, Side> = new Map<unknown, Side>([
  ['ORDER_SIDE_BUY', 'yes'],
  [1, 'yes'],
  ['ORDER_SIDE_SELL', 'no'],
  [2, 'no'],
]);

/**
 * An adapter for one connection; with keys its handshake is signed.
 * @throws when only one of the keys is given or the private key is not an Ed25519 one.
 */
export function polymarketUsAdapter(
  keys: VenueKeys = {},
  options: AdapterOptions = {},
): VenueAdapter {
  return new PolymarketUsAdapter(signerOf('polymarket_us', 'ed25519', keys), options);
}

class PolymarketUsAdapter implements VenueAdapter {
  readonly name = 'polymarket_us';
  readonly contractDecimals = 2;
  readonly awaiting = 0;
  readonly marketsMax = Number.POSITIVE_INFINITY;
  readonly stateRequests = polymarketUsStates;
  readonly tellsResults = false;
  readonly repeatsStatus = true;
  readonly beginsWithStatus = true;
  /** Without a word from its client for longer the venue ends the connection. */
  readonly keepalive = { text: '{"keep_alive":{}}', everyMs: 30_000 };
  readonly wholeBooks = WHOLE_BOOKS;
  readonly #signer: Signer | null;
  readonly books = 0;
  readonly recorded: boolean;
  readonly #depth: boolean;
  readonly #wanted: Wanted;
  readonly #subscriptions: Readonly<Record<string, Batches>>;

  constructor(signer: Signer | null, options: AdapterOptions) {
    const { depth = false, recorded = false, lite = false } = options;
    this.#signer = signer;
    this.#depth = depth;
    this.recorded = recorded;
    this.#wanted = new Wanted(recorded);
    this.#subscriptions = {
      book: batchesOf('book', lite ? 'MARKET_DATA_LITE' : 'MARKET_DATA'),
      trade: batchesOf('trade', 'TRADE'),
    };
  }

  read(frame: unknown): FrameReading {
    const fields = fieldsOf(frame);
    const reading = this.#readFields(fields);
    reading.venueAtMs = timeOf(fields);
    return reading;
  }

  #readFields(fields: Fields | null): FrameReading {
    if (fields === null) return refused('unreadable', 'not an object');
    if (fields.error !== undefined) return this.#failed(fields);
    return this.#wanted.kept(readMessage(fields, this.#depth));
  }

  subscribe(markets: readonly string[]): unknown[] {
    this.#wanted.add(markets);
    return Object.values(this.#subscriptions).flatMap((batches) => batches.subscribe(markets));
  }

  unsubscribe(markets: readonly string[]): unknown[] {
    this.#wanted.remove(markets);
    return Object.entries(this.#subscriptions).flatMap(([name, batches]) => {
      return batches.without(markets).flatMap(({ ended, message }) => {
        const end = { unsubscribe: { requestId: `${name}-${ended}` } };
        return message === null ? [end] : [end, message];
      });
    });
  }

  /** A subscription begins with whole states; the one before would send each of them twice. */
  ask(markets: readonly string[]): unknown[] {
    return this.#subscriptions.book!.renewed(markets).flatMap(({ ended, message }) => {
      return [{ unsubscribe: { requestId: `book-${ended}` } }, message];
    });
  }

  lose(market: string): unknown[] {
    return this.recorded ? [] : this.ask([market]);
  }

  headers(nowMs: EpochMs): Record<string, string> {
    if (this.#signer === null) return {};
    const timestamp = String(nowMs);
    return {
      'X-PM-Access-Key': this.#signer.keyId,
      'X-PM-Timestamp': timestamp,
      'X-PM-Signature': this.#signer.sign(`${timestamp}GET${WS_PATH}`),
    };
  }

  reset(): void {
    this.#wanted.clear();
    for (const batches of Object.values(this.#subscriptions)) batches.clear();
  }

  /** A subscription that was refused is tried again in halves; errors have no numbers. */
  #failed(fields: Fields): FrameReading {
    const reading = refused('error', `error: ${nameOf(fields.error) ?? 'no message'}`);
    const requestId = nameOf(either(fields, 'requestId', 'request_id'));
    const [, name, number] = /^(book|trade)-(\d{1,9})$/.exec(requestId ?? '') ?? [];
    const batches = this.#subscriptions[name ?? ''];
    const id = Number(number);
    if (batches?.marketsOf(id) === undefined) return reading;
    return { ...reading, send: batches.refused(id, RETRY_MS) };
  }
}

function batchesOf(name: string, type: string): Batches {
  return new Batches(SLUGS_A_SUBSCRIPTION, (id, marketSlugs) => ({
    subscribe: {
      requestId: `${name}-${id}`,
      subscriptionType: `SUBSCRIPTION_TYPE_${type}`,
      marketSlugs,
    },
  }));
}

function readMessage(fields: Fields, depth: boolean): FrameReading {
  const full = either(fields, 'marketData', 'market_data');
  if (full !== undefined) return readMarketData(fieldsOf(full), depth);
  const lite = either(fields, 'marketDataLite', 'market_data_lite');
  if (lite !== undefined) return readLite(fieldsOf(lite));
  if (fields.trade !== undefined) return readTrade(fieldsOf(fields.trade));
  if (fields.heartbeat !== undefined) return said('heartbeat', []);
  return refused('unreadable', 'unknown message');
}

function readMarketData(data: Fields | null, depth: boolean): FrameReading {
  const market = slugOf(data);
  if (data === null || market === null) return refused('marketData', 'no market slug');
  const bids = bookSide(data.bids ?? [], levelOf);
  const offers = bookSide(data.offers ?? [], levelOf);
  const isRead = bids !== null && offers !== null;
  const book = isRead ? wholeBookTick(market, bids, offers, depth) : unknownBook(market);
  const hasState = data.state !== undefined && data.state !== null;
  const status = hasState ? statusOf(data.state) : undefined;
  if (hasState && status === undefined) {
    const ticks = [unknownBook(market), unreadState(market, data.state)];
    return refused('marketData', 'unknown state', ticks);
  }
  const ticks = status === undefined ? [book] : statusWithBook(status, book);
  return isRead ? said('marketData', ticks) : refused('marketData', 'unreadable levels', ticks);
}

function readLite(data: Fields | null): FrameReading {
  const market = slugOf(data);
  if (data === null || market === null) return refused('marketDataLite', 'no market slug');
  const bid = liteSide(either(data, 'bestBid', 'best_bid'));
  const ask = liteSide(either(data, 'bestAsk', 'best_ask'));
  if (bid === undefined || ask === undefined) {
    return refused('marketDataLite', 'unreadable price', [unknownBook(market)]);
  }
  // Its lastTradePx repeats with every message and is no trade of this moment.
  return said('marketDataLite', [bookTick(market, bid, ask)]);
}

function readTrade(data: Fields | null): FrameReading {
  const market = slugOf(data);
  if (data === null || market === null) return refused('trade', 'no market slug');
  const yesPrice = parsePriceE4(amountOf(data.price));
  const size = parseContractsE2(amountOf(data.quantity));
  if (yesPrice === null || size === null) return refused('trade', 'unreadable price or size');
  const takerSide = TAKER_SIDES.get(fieldsOf(data.taker)?.side);
  if (takerSide === undefined) return refused('trade', 'unreadable side');
  const tick: VenueTick = { kind: 'trade', market, yesPrice, size, takerSide };
  return said('trade', [tick]);
}

/** A lite message states none. */
function timeOf(fields: Fields | null): EpochMs | null {
  if (fields === null) return null;
  const full = fieldsOf(either(fields, 'marketData', 'market_data'));
  if (full !== null) return parseInstant(either(full, 'transactTime', 'transact_time'));
  const trade = fieldsOf(fields.trade);
  return trade === null ? null : parseInstant(either(trade, 'tradeTime', 'trade_time'));
}

function either(fields: Fields, camel: string, snake: string): unknown {
  return fields[camel] ?? fields[snake] ?? undefined;
}

function slugOf(data: Fields | null): string | null {
  return data === null ? null : nameOf(either(data, 'marketSlug', 'market_slug'));
}

function statusOf(state: unknown): MarketStatus | undefined {
  return STATES.get(typeof state === 'string' ? state.replace(/^MARKET_STATE_/, '') : state);
}

/** An amount is `{"value":"0.55",…}`, a quantity may be the bare text. */
function amountOf(value: unknown): unknown {
  const fields = fieldsOf(value);
  return fields === null ? value : fields.value;
}

function levelOf(entry: unknown): Level | null {
  const fields = fieldsOf(entry);
  const price = parsePriceE4(amountOf(fields?.px));
  const size = parseContractsE2(amountOf(fields?.qty));
  return price === null || size === null ? null : { price, size };
}

/** Null is an absent side, undefined a side that is not readable. */
function liteSide(value: unknown): Level | null | undefined {
  if (value === undefined) return null;
  const price = parsePriceE4(amountOf(value));
  return price === null ? undefined : { price, size: SIZE_UNKNOWN };
}
