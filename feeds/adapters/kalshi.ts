/**
 * Kalshi's WebSocket v2. Books are kept from a snapshot and its increments; both sides are bids,
 * and the yes ask is 1 minus the best no bid. Rules W22 to W26, W33 (feeds/FORMATS.md).
 *
 * `seq` counts per `sid` over all markets of the subscription, whatever the message type. The
 * reading of a frame says whether there was a gap before it; the books here do not change for it.
 * Live, the connection then starts over. A recording of some markets has jumps that are no loss.
 * Live, a frame whose place in the sequence cannot be read is a gap too, since frames before it may
 * be missing.
 */
import type { EpochMs, Side } from '../../engine/rules/units.ts';
import { BidLadder, bookTick, isLevelPrice, unknownBook } from '../book.ts';
import { parseDeltaE2 } from '../decimal.ts';
import type { AdapterOptions, BookTick, FrameReading, Level, VenueAdapter } from '../venue.ts';
import { type Fields, fieldsOf, isPlace, nameOf, refused, said } from './frame.ts';
import {
  bidLevels,
  firstOf,
  lifecycleTick,
  NO_PRICE,
  priceIn,
  readError,
  tickerTick,
  tradeTick,
  venueTime,
} from './kalshi-messages.ts';
import { type Signer, signerOf, type VenueKeys } from './keys.ts';
import { unwanted, Wanted } from './wanted.ts';

const WS_PATH = '/trade-api/ws/v2';
/** Kalshi limits the markets of one subscription (error 26); its clients use up to 256. */
const MARKETS_A_SUBSCRIPTION = 250;
/** Far above any real catalog. The bound keeps a venue's frames from filling the memory. */
const BOOKS_MAX = 100_000;
/** Over all books, about 120 MB: 200 levels in each of 10,000 markets. */
const LEVELS_MAX = 2_000_000;
const SIDS_MAX = 1_000;

/** Messages that always take a number. Those of the life cycle do since 2026, tickers never. */
const NUMBERED: ReadonlySet<string> = new Set(['orderbook_snapshot', 'orderbook_delta', 'trade']);

type Book = { yes: BidLadder; no: BidLadder };

/** The frames that say something of one market. */
type MarketType =
  | 'orderbook_snapshot'
  | 'orderbook_delta'
  | 'ticker'
  | 'trade'
  | 'market_lifecycle_v2';

/**
 * An adapter for one connection; with keys its handshake is signed, as Kalshi always wants it.
 * @throws when only one of the keys is given or the private key is not an RSA one.
 */
export function kalshiAdapter(keys: VenueKeys = {}, options: AdapterOptions = {}): VenueAdapter {
  return new KalshiAdapter(signerOf('kalshi', 'rsa', keys), options);
}

class KalshiAdapter implements VenueAdapter {
  readonly name = 'kalshi';
  readonly contractDecimals = 2;
  /** The venue does not document a second one: reused request ids, other verbs, a channel twice. */
  readonly subscribesAgain = false;
  readonly keepalive = null;
  readonly recorded: boolean;
  readonly #signer: Signer | null;
  readonly #depth: boolean;
  readonly #books = new Map<string, Book>();
  readonly #lastSeq = new Map<number, number>();
  readonly #wanted: Wanted;
  /** Over all books. */
  #levels = 0;
  #nextCommand = 1;

  constructor(signer: Signer | null, { depth = false, recorded = false }: AdapterOptions) {
    this.#signer = signer;
    this.#depth = depth;
    this.recorded = recorded;
    this.#wanted = new Wanted(recorded);
  }

  get books(): number {
    return this.#books.size;
  }

  read(frame: unknown): FrameReading {
    const fields = fieldsOf(frame);
    const type = nameOf(fields?.type);
    if (fields === null || type === null) return refused('unreadable', 'no type');
    const jump = this.#jumps(type, fields);
    const reading = this.#readType(type, fields);
    reading.jump ||= jump;
    return reading;
  }

  subscribe(markets: readonly string[]): unknown[] {
    const commands: unknown[] = [];
    for (let first = 0; first < markets.length; first += MARKETS_A_SUBSCRIPTION) {
      commands.push(
        this.#command({
          channels: ['orderbook_delta', 'trade'],
          market_tickers: markets.slice(first, first + MARKETS_A_SUBSCRIPTION),
          // Kalshi announced that true becomes the default. Prices of no would then mean another
          // thing.
          use_yes_price: false,
        }),
      );
    }
    this.#wanted.add(markets);
    // This channel takes no market filter: it sends every market there is.
    if (markets.length > 0) commands.push(this.#command({ channels: ['market_lifecycle_v2'] }));
    return commands;
  }

  headers(nowMs: EpochMs): Record<string, string> {
    if (this.#signer === null) return {};
    const timestamp = String(nowMs);
    return {
      'KALSHI-ACCESS-KEY': this.#signer.keyId,
      'KALSHI-ACCESS-TIMESTAMP': timestamp,
      'KALSHI-ACCESS-SIGNATURE': this.#signer.sign(`${timestamp}GET${WS_PATH}`),
    };
  }

  reset(): void {
    this.#books.clear();
    this.#levels = 0;
    this.#lastSeq.clear();
    this.#wanted.clear();
    this.#nextCommand = 1;
  }

  #command(params: object): unknown {
    return { id: this.#nextCommand++, cmd: 'subscribe', params };
  }

  #jumps(type: string, { sid, seq }: Fields): boolean {
    if (!isPlace(sid) || !isPlace(seq)) {
      return !this.recorded && (seq !== undefined || NUMBERED.has(type));
    }
    if (type === 'unsubscribed') {
      this.#lastSeq.delete(sid);
      return false;
    }
    const last = this.#lastSeq.get(sid);
    const full = last === undefined && this.#lastSeq.size >= SIDS_MAX;
    if (full) this.#lastSeq.clear();
    this.#lastSeq.set(sid, seq);
    // `ok` states the position of its subscription; whether it takes a number is not documented.
    if (type === 'ok') return false;
    // The positions dropped here could have shown a gap.
    if (last === undefined) return full && !this.recorded;
    return seq !== last + 1;
  }

  #readType(type: string, fields: Fields): FrameReading {
    if (NO_PRICE.has(type)) return said(type, [], null);
    const message = fieldsOf(fields.msg);
    if (type === 'error') return readError(message);
    const market = nameOf(message?.market_ticker);
    switch (type) {
      case 'orderbook_snapshot':
      case 'orderbook_delta':
      case 'ticker':
      case 'trade':
      case 'market_lifecycle_v2':
        if (message === null || market === null) return refused(type, 'no market_ticker');
        return this.#readMarket(type, market, message);
      default:
        return refused(type, 'unknown type');
    }
  }

  #readMarket(type: MarketType, market: string, message: Fields): FrameReading {
    if (!this.#wanted.has(market)) {
      // Life-cycle frames come for every market of the venue, subscribed to or not.
      return type === 'market_lifecycle_v2' ? said(type, [], null) : unwanted(type);
    }
    switch (type) {
      case 'orderbook_snapshot':
        return this.#snapshot(market, message);
      case 'orderbook_delta':
        return this.#delta(market, message);
      case 'ticker':
        return this.#ticker(market, message);
      case 'trade': {
        const tick = tradeTick(market, message);
        if (typeof tick === 'string') return refused(type, tick);
        return said(type, [tick], venueTime(message));
      }
      case 'market_lifecycle_v2':
        return this.#lifecycle(market, message);
      default:
        return type satisfies never;
    }
  }

  #snapshot(market: string, message: Fields): FrameReading {
    const yes = bidLevels(message, 'yes');
    const no = bidLevels(message, 'no');
    if (yes === null || no === null) return this.#lost('orderbook_snapshot', market);
    this.#forget(market);
    if (this.#books.size >= BOOKS_MAX) return refused('orderbook_snapshot', 'too many markets');
    if (this.#levels + yes.length + no.length > LEVELS_MAX) {
      return this.#lost('orderbook_snapshot', market, 'too many levels');
    }
    const book: Book = { yes: new BidLadder(), no: new BidLadder() };
    for (const { price, size } of yes) book.yes.add(price, size);
    for (const { price, size } of no) book.no.add(price, size);
    this.#books.set(market, book);
    this.#levels += levelsOf(book);
    return said('orderbook_snapshot', [this.#tickOf(market, book)], venueTime(message));
  }

  #delta(market: string, message: Fields): FrameReading {
    const book = this.#books.get(market);
    if (book === undefined) return refused('orderbook_delta', 'delta before snapshot');
    const price = priceIn(message, 'price_dollars', 'price');
    const delta = parseDeltaE2(firstOf(message, 'delta_fp', 'delta'));
    const { side } = message;
    if (price === null || !isLevelPrice(price) || delta === null || !isSide(side)) {
      return this.#lost('orderbook_delta', market);
    }
    const before = levelsOf(book);
    const kept = book[side].add(price, delta);
    this.#levels += levelsOf(book) - before;
    if (!kept && delta > 0) return this.#lost('orderbook_delta', market);
    if (this.#levels > LEVELS_MAX) return this.#lost('orderbook_delta', market, 'too many levels');
    const top = this.#tickOf(market, book);
    if (!kept) return refused('orderbook_delta', 'delta takes a level below zero', [top]);
    return said('orderbook_delta', [top], venueTime(message));
  }

  #tickOf(market: string, book: Book): BookTick {
    const tick = topOf(market, book);
    if (this.#depth) tick.depth = { yesBids: book.yes.levels(), yesAsks: asksOf(book.no) };
    return tick;
  }

  #ticker(market: string, message: Fields): FrameReading {
    // Tickers have no sequence. An old one could bring back a price that later deltas removed. So a
    // market with a book takes no price from tickers.
    if (this.#books.has(market)) return said('ticker', [], venueTime(message));
    const tick = tickerTick(market, message);
    if (tick === null) return this.#lost('ticker', market);
    return said('ticker', [tick], venueTime(message));
  }

  #lifecycle(market: string, message: Fields): FrameReading {
    const tick = lifecycleTick(market, message);
    if (typeof tick === 'string') return refused('market_lifecycle_v2', tick);
    return said('market_lifecycle_v2', tick === null ? [] : [tick], venueTime(message));
  }

  /** After an update that cannot be read the book is unknown until the next snapshot. */
  #lost(type: string, market: string, reason = 'unreadable price, size or side'): FrameReading {
    this.#forget(market);
    return refused(type, reason, [unknownBook(market)]);
  }

  #forget(market: string): void {
    const book = this.#books.get(market);
    if (book === undefined) return;
    this.#levels -= levelsOf(book);
    this.#books.delete(market);
  }
}

function isSide(value: unknown): value is Side {
  return value === 'yes' || value === 'no';
}

function levelsOf({ yes, no }: Book): number {
  return yes.length + no.length;
}

function topOf(market: string, book: Book): BookTick {
  const no = book.no.best();
  const ask = no === null ? null : { price: 10_000 - no.price, size: no.size };
  return bookTick(market, book.yes.best(), ask);
}

function asksOf(noBids: BidLadder): Level[] {
  return noBids.levels().map(({ price, size }) => ({ price: 10_000 - price, size }));
}
