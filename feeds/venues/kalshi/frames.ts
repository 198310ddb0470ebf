/**
 * Kalshi's WebSocket v2. Books are kept from a snapshot and its increments. Both sides are bids,
 * and the yes ask is 1 minus the best no bid. Rules W22 to W26, W33, W62, W71, W73, W74, W80, W81,
 * W93 (feeds/FORMATS.md).
 *
 * `seq` counts per `sid` over all markets of the subscription, for every message type. Live, a gap
 * costs the books of its subscription, and fresh snapshots are asked for. If the lost markets are
 * not known, the connection starts over. A recording of some markets has jumps that are no loss.
 */
import type { EpochMs, Side } from '../../../engine/base/units.ts';
import { isLevelPrice, unknownBook } from '../../reading/book.ts';
import { parseDeltaE2 } from '../../reading/decimal.ts';
import {
  type Fields,
  fieldsOf,
  isPlace,
  nameOf,
  refused,
  said,
  undecided,
  unreadState,
} from '../../reading/frame.ts';
import type {
  AdapterOptions,
  FrameReading,
  ResultTick,
  SettleOn,
  StateTick,
  VenueAdapter,
} from '../../reading/venue.ts';
import { KeptBooks } from '../shared/kept-books.ts';
import { type Signer, signerOf, type VenueKeys } from '../shared/keys.ts';
import { unwanted, Wanted } from '../shared/wanted.ts';
import { isLifeCycle, KalshiCommands, type LifeCycle, type Missed, SIDS_MAX } from './commands.ts';
import {
  bestPrices,
  bidLevels,
  firstOf,
  gridOf,
  lifecycleTick,
  NO_PRICE,
  priceIn,
  tickerTick,
  tradeTick,
  venueTime,
} from './messages.ts';
import { kalshiStates } from './states.ts';

const WS_PATH = '/trade-api/ws/v2';
/** Messages that always take a number. Life cycle messages do since 2026, tickers never. */
const NUMBERED: ReadonlySet<string> = new Set(['orderbook_snapshot', 'orderbook_delta', 'trade']);

const WHOLE_BOOKS: ReadonlySet<string> = new Set(['orderbook_snapshot']);

/** The life-cycle events that say how a market ends, or take that back. */
const ENDS = ['determined', 'disputed', 'amended', 'settled'] as const;
type End = (typeof ENDS)[number];
const isEnd = (event: unknown): event is End => ENDS.includes(event as End);
const isDoubt = (event: End) => event === 'disputed' || event === 'amended';

/** The frames that say something of one market. */
type MarketType = 'orderbook_snapshot' | 'orderbook_delta' | 'ticker' | 'trade' | LifeCycle;

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
  readonly marketsMax = Number.POSITIVE_INFINITY;
  readonly stateRequests: VenueAdapter['stateRequests'] = (base, markets) =>
    kalshiStates(base, markets, this.#settleOn);
  readonly tellsResults = true;
  readonly repeatsStatus = false;
  readonly beginsWithStatus = false;
  readonly keepalive = null;
  readonly wholeBooks = WHOLE_BOOKS;
  readonly recorded: boolean;
  readonly #signer: Signer | null;
  readonly #books: KeptBooks;
  readonly #commands = new KalshiCommands();
  readonly #lastSeq = new Map<number, number>();
  readonly #wanted: Wanted;
  readonly #settleOn: SettleOn;
  readonly #levels: boolean;
  /** The last word of a result since nothing was missed: a `settled` may not repeat it. */
  readonly #told = new Map<string, ResultTick>();

  constructor(signer: Signer | null, options: AdapterOptions) {
    const { depth = false, levels = false, recorded = false, settleOn = 'determined' } = options;
    this.#levels = levels;
    this.#settleOn = settleOn;
    this.#signer = signer;
    this.#books = new KeptBooks(depth);
    this.recorded = recorded;
    this.#wanted = new Wanted(recorded);
  }

  get books(): number {
    return this.#books.size;
  }

  get awaiting(): number {
    return this.#commands.awaiting;
  }

  read(frame: unknown): FrameReading {
    const fields = fieldsOf(frame);
    const reading = this.#readFields(fields);
    reading.venueAtMs = venueTime(fieldsOf(fields?.msg));
    return reading;
  }

  subscribe(markets: readonly string[]): unknown[] {
    this.#wanted.add(markets);
    return this.#commands.subscribe(markets);
  }

  unsubscribe(markets: readonly string[]): unknown[] {
    this.#wanted.remove(markets);
    for (const market of markets) {
      this.#books.forget(market);
      this.#told.delete(market);
    }
    return this.#commands.unsubscribe(markets);
  }

  ask(markets: readonly string[]): unknown[] {
    return this.#commands.askToCompare(markets);
  }

  lose(market: string): unknown[] {
    this.#books.forget(market);
    if (!this.#wanted.has(market)) return [];
    const asked = this.#commands.askLost(market);
    return this.recorded ? [] : asked;
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
    this.#commands.clear();
    this.#lastSeq.clear();
    this.#wanted.clear();
    this.#told.clear();
  }

  #readFields(fields: Fields | null): FrameReading {
    const type = nameOf(fields?.type);
    if (fields === null || type === null) return refused('unreadable', 'no type');
    if (!this.#jumps(type, fields)) return this.#readType(type, fields);
    const missed = this.#missedBefore(fields);
    const reading =
      missed === null
        ? this.#readType(type, fields)
        : this.#mended(missed, fields.sid as number, () => this.#readType(type, fields));
    reading.jump = true;
    return reading;
  }

  #jumps(type: string, { sid, seq, msg }: Fields): boolean {
    if (!isPlace(sid) || !isPlace(seq)) {
      return !this.recorded && (seq !== undefined || NUMBERED.has(type));
    }
    if (type === 'unsubscribed') {
      this.#lastSeq.delete(sid);
      this.#commands.ended(sid);
      return false;
    }
    const last = this.#lastSeq.get(sid);
    // Whether a requested snapshot continues the sequence is not documented.
    const isAnswer = type === 'orderbook_snapshot' && this.#commands.hasAsked(marketOf(msg));
    // Whether an `ok` takes a number, or states the last one, is not documented either.
    if ((isAnswer || type === 'ok') && last !== undefined && seq <= last) return false;
    const full = last === undefined && this.#lastSeq.size >= SIDS_MAX;
    if (full) this.#lastSeq.clear();
    this.#lastSeq.set(sid, seq);
    // The positions dropped here could have shown a gap.
    if (last === undefined) return full && !this.recorded;
    return seq !== last + 1;
  }

  /** The markets that were lost before a frame that jumps; null: they are not known. */
  #missedBefore({ sid, seq }: Fields): Missed | null {
    return this.recorded || !isPlace(sid) || !isPlace(seq) ? null : this.#commands.missedOn(sid);
  }

  /** Reads the frame after a gap, and asks for the books that the gap has cost. */
  #mended({ markets, states }: Missed, sid: number, read: () => FrameReading): FrameReading {
    const lost = markets.filter((market) => this.#books.has(market));
    for (const market of lost) this.#books.forget(market);
    // What was missed may have taken a result back.
    if (states) this.#told.clear();
    this.#commands.expect(markets);
    const reading = read();
    // The frame itself may have been one of the snapshots.
    const unknown = lost.filter((market) => !this.#books.has(market));
    reading.ticks = [...unknown.map(unknownBook), ...reading.ticks];
    const asked = this.#commands.askBooks(
      sid,
      markets.filter((market) => this.#commands.awaits(market)),
    );
    reading.send = [...(reading.send ?? []), ...asked];
    reading.resync = true;
    if (states) reading.missedStates = true;
    return reading;
  }

  #readType(type: string, fields: Fields): FrameReading {
    if (NO_PRICE.has(type)) {
      this.#commands.acknowledged(fields);
      return said(type, []);
    }
    const message = fieldsOf(fields.msg);
    if (type === 'error') return this.#failed(fields);
    const market = nameOf(message?.market_ticker);
    switch (type) {
      case 'orderbook_snapshot':
      case 'orderbook_delta':
      case 'ticker':
      case 'trade':
      case 'market_lifecycle_v2':
      case 'multivariate_market_lifecycle':
        if (message === null || market === null) return refused(type, 'no market_ticker');
        return this.#readMarket(type, market, message, fields.sid);
      default:
        return refused(type, 'unknown type');
    }
  }

  #failed(fields: Fields): FrameReading {
    const reading = this.#commands.failed(fields);
    if (reading.overflow !== undefined) this.#wanted.remove(reading.overflow);
    return reading;
  }

  #readMarket(type: MarketType, market: string, message: Fields, sid: unknown): FrameReading {
    if (!this.#wanted.has(market)) {
      // Life-cycle frames arrive for every market of the venue, subscribed to or not.
      return isLifeCycle(type) ? said(type, []) : unwanted(type);
    }
    switch (type) {
      case 'orderbook_snapshot':
        return this.#snapshot(market, message, sid);
      case 'orderbook_delta':
        return this.#delta(market, message, sid);
      case 'ticker':
        return this.#ticker(market, message);
      case 'trade': {
        this.#commands.saw(sid, type);
        const tick = tradeTick(market, message);
        if (typeof tick === 'string') return refused(type, tick);
        return said(type, [tick]);
      }
      case 'market_lifecycle_v2':
      case 'multivariate_market_lifecycle':
        this.#commands.saw(sid, type);
        return this.#lifecycle(type, market, message);
      default:
        return type satisfies never;
    }
  }

  #snapshot(market: string, message: Fields, sid: unknown): FrameReading {
    const type = 'orderbook_snapshot';
    this.#commands.saw(sid, 'orderbook_delta', market);
    this.#commands.answered(market);
    const yes = bidLevels(message, 'yes');
    const no = bidLevels(message, 'no');
    if (yes === null || no === null) return this.#lost(type, market);
    const problem = this.#books.replace(market, yes, no);
    if (problem === 'too many levels') return this.#lost(type, market, problem);
    if (problem !== null) return refused(type, problem);
    const reading = said(type, [this.#books.tickOf(market)]);
    if (this.#levels) reading.levels = { kind: 'book', market, yes, no };
    return reading;
  }

  #delta(market: string, message: Fields, sid: unknown): FrameReading {
    const type = 'orderbook_delta';
    if (!this.#books.has(market)) {
      if (this.#commands.awaits(market)) return said(type, []);
      return this.#askedAgain(refused(type, 'delta before snapshot'), market, sid);
    }
    const price = priceIn(message, 'price_dollars', 'price');
    const delta = parseDeltaE2(firstOf(message, 'delta_fp', 'delta'));
    const { side } = message;
    if (price === null || !isLevelPrice(price) || delta === null || !isSide(side)) {
      return this.#askedAgain(this.#lost(type, market), market, sid);
    }
    const kept = this.#books.add(market, side, price, delta);
    if (!kept && delta > 0) return this.#askedAgain(this.#lost(type, market), market, sid);
    if (this.#books.isOverfull) return this.#lost(type, market, 'too many levels');
    if (!kept) return this.#belowZero(type, market, sid);
    const reading = said(type, [this.#books.tickOf(market)]);
    if (this.#levels) {
      const size = this.#books.sizeAt(market, side, price);
      reading.levels = { kind: 'change', market, side, price, change: delta, size };
    }
    return reading;
  }

  /** The book is not the venue's. A recording has no better one. */
  #belowZero(type: string, market: string, sid: unknown): FrameReading {
    const reason = 'delta takes a level below zero';
    if (this.recorded) {
      return this.#withBook(market, refused(type, reason, [this.#books.tickOf(market)]));
    }
    return this.#askedAgain(this.#lost(type, market, reason), market, sid);
  }

  /** The reading and, live, a request for the lost book. */
  #askedAgain(reading: FrameReading, market: string, sid: unknown): FrameReading {
    if (!this.recorded && isPlace(sid)) reading.send = this.#commands.askBooks(sid, [market]);
    return reading;
  }

  #ticker(market: string, message: Fields): FrameReading {
    // Tickers have no sequence. An old one could bring back a price that later deltas removed. So a
    // market with a book, or with a lost book, takes no price from tickers.
    if (this.#books.has(market)) {
      const stated = bestPrices(message);
      if (stated.bid === undefined && stated.ask === undefined) return said('ticker', []);
      const agrees = this.#books.agrees(market, stated);
      return { ...said('ticker', []), stated: [{ market, agrees }] };
    }
    if (this.#commands.awaits(market)) return said('ticker', []);
    const tick = tickerTick(market, message);
    if (tick === null) return this.#lost('ticker', market);
    return said('ticker', [tick]);
  }

  #lifecycle(type: LifeCycle, market: string, message: Fields): FrameReading {
    const { event_type: event } = message;
    if (event === 'price_level_structure_updated') return this.#regrid(type, market, message);
    const tick = lifecycleTick(market, message);
    if (!isEnd(event)) {
      if (typeof tick !== 'string') return said(type, tick === null ? [] : [tick]);
      // The close has moved to a time that only the venue knows, or something else has changed.
      const isClose = event === 'close_date_updated';
      return this.#missed(refused(type, tick, isClose ? [] : [unreadState(market, event)]), market);
    }
    if (typeof tick === 'string') {
      this.#told.delete(market);
      const end = undecided(market, tick);
      return this.#missed(
        refused(type, tick, [isDoubt(event) ? { ...end, doubt: event } : end]),
        market,
      );
    }
    return this.#ended(type, market, event, tick as StateTick | null);
  }

  /** What the end of a market pays now, by `settleOn`. */
  #ended(type: LifeCycle, market: string, event: End, tick: StateTick | null): FrameReading {
    const told = this.#told.get(market);
    if (event !== 'settled') {
      // A doubt takes back the word before it.
      if (tick?.kind !== 'result') this.#told.delete(market);
      else this.#told.set(market, tick);
      const isPaid = this.#settleOn === 'determined' || tick?.kind !== 'result';
      const reading = said(type, [isPaid ? tick! : { kind: 'status', market, status: 'closed' }]);
      return tick?.kind === 'result' ? reading : this.#missed(reading, market);
    }
    if (tick?.kind === 'result') this.#told.set(market, tick);
    if (tick !== null) return said(type, [tick]);
    if (told === undefined) {
      return this.#missed(said(type, [undecided(market, 'settled without a result')]), market);
    }
    if (this.#settleOn === 'determined') return this.#missed(said(type, []), market);
    const { provisional: _, ...final } = told;
    return said(type, [final]);
  }

  /** The frame has not said how the market ended: it is asked for, live. */
  #missed(reading: FrameReading, market: string): FrameReading {
    if (!this.recorded) reading.missedStates = [market];
    return reading;
  }

  /** The levels that are not on the new grid are gone, and nothing tells what replaced them. */
  #regrid(type: LifeCycle, market: string, message: Fields): FrameReading {
    if (!this.#books.has(market)) return said(type, []);
    const isOnGrid = gridOf(message);
    if (isOnGrid !== null) this.#books.keepGrid(market, isOnGrid);
    const reading = this.#withBook(market, said(type, [this.#books.tickOf(market)]));
    if (this.recorded) return reading;
    const send = this.#commands.askLost(market);
    return { ...reading, send: send.map((message) => ({ message, afterMs: 0 })) };
  }

  /** The frame changed a kept book in another way than by one level. */
  #withBook(market: string, reading: FrameReading): FrameReading {
    if (this.#levels) reading.levels = { kind: 'book', market, ...this.#books.bidsOf(market) };
    return reading;
  }

  /** After an update that cannot be read the book is unknown until the next snapshot. */
  #lost(type: string, market: string, reason = 'unreadable price, size or side'): FrameReading {
    this.#books.forget(market);
    const reading = refused(type, reason, [unknownBook(market)]);
    if (this.#levels) reading.levels = { kind: 'unknown', market };
    return reading;
  }
}

function isSide(value: unknown): value is Side {
  return value === 'yes' || value === 'no';
}

/** The market of a message; empty without one. */
function marketOf(message: unknown): string {
  return nameOf(fieldsOf(message)?.market_ticker) ?? '';
}
