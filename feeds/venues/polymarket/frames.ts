/**
 * Polymarket's market channel. A market here is an outcome's token with its own book: whole books,
 * and changes that state the new size of a level. There is no sequence, so no gap can show. Rules
 * W50 to W57, W62, W71, W84, W85 (feeds/FORMATS.md).
 */
import type { EpochMs, PriceE4, Side } from '../../../engine/base/units.ts';
import { bookSide, bookTick, isLevelPrice, unknownBook } from '../../reading/book.ts';
import { parseContractsE2, parsePriceE4 } from '../../reading/decimal.ts';
import { type Fields, fieldsOf, nameOf, refused, said, undecided } from '../../reading/frame.ts';
import type {
  AdapterOptions,
  FrameReading,
  Level,
  Outgoing,
  StatedTop,
  VenueAdapter,
  VenueTick,
} from '../../reading/venue.ts';
import { asAsk, KeptBooks } from '../shared/kept-books.ts';
import { unwanted, Wanted } from '../shared/wanted.ts';
import { polymarketStates } from './states.ts';

/** Beyond, the venue's connections become unreliable. */
const TOKENS_A_CONNECTION = 500;
/** In one frame; no venue has more, and the payload bounds them too. */
const MESSAGES_MAX = 10_000;

/** Messages that are understood and carry no price. */
const NO_PRICE: ReadonlySet<string> = new Set(['new_market']);
const WHOLE_BOOKS: ReadonlySet<string> = new Set(['book']);
/** The taker's side; the price is the token's. */
const TAKER_SIDES: ReadonlyMap<unknown, Side> = new Map<unknown, Side>([
  ['BUY', 'yes'],
  ['SELL', 'no'],
]);

/** An adapter for one connection; it needs no keys. */
export function polymarketAdapter(options: AdapterOptions = {}): VenueAdapter {
  return new PolymarketAdapter(options);
}

class PolymarketAdapter implements VenueAdapter {
  readonly name = 'polymarket';
  readonly contractDecimals = 2;
  readonly marketsMax = TOKENS_A_CONNECTION;
  readonly stateRequests = polymarketStates;
  /** `market_resolved` is not sent for every market. */
  readonly tellsResults = false;
  readonly repeatsStatus = false;
  readonly beginsWithStatus = false;
  readonly keepalive = { text: 'PING', everyMs: 10_000 };
  readonly wholeBooks = WHOLE_BOOKS;
  readonly recorded: boolean;
  /** Tokens without a price until a whole book arrives. */
  readonly #lostBooks = new Set<string>();
  /** Tokens whose book was asked for, since it is lost or its grid has changed. */
  readonly #awaited = new Set<string>();
  /** Tokens that have closed by no time of a catalog. */
  readonly #closes = new Set<string>();
  readonly #books: KeptBooks;
  readonly #wanted: Wanted;
  #hasSubscribed = false;

  constructor({ depth = false, recorded = false }: AdapterOptions) {
    this.#books = new KeptBooks(depth);
    this.recorded = recorded;
    this.#wanted = new Wanted(recorded);
  }

  get books(): number {
    return this.#books.size;
  }

  get awaiting(): number {
    return this.#awaited.size;
  }

  read(frame: unknown): FrameReading {
    if (!Array.isArray(frame)) return this.#readMessage(frame);
    if (frame.length > MESSAGES_MAX) {
      const reading = refused('unreadable', 'too many messages in a frame');
      return { ...reading, venueAtMs: newest(frame.map(timeOf)) };
    }
    return merged(frame.map((message) => this.#readMessage(message)));
  }

  subscribe(tokens: readonly string[]): unknown[] {
    if (tokens.length === 0) return [];
    this.#wanted.add(tokens);
    const first = !this.#hasSubscribed;
    this.#hasSubscribed = true;
    const kind = first ? { type: 'market' } : { operation: 'subscribe' };
    return [{ assets_ids: [...tokens], ...kind, custom_feature_enabled: true }];
  }

  unsubscribe(tokens: readonly string[]): unknown[] {
    this.#wanted.remove(tokens);
    for (const token of tokens) {
      this.#books.forget(token);
      for (const set of [this.#lostBooks, this.#awaited, this.#closes]) set.delete(token);
    }
    return [{ assets_ids: [...tokens], operation: 'unsubscribe', custom_feature_enabled: true }];
  }

  headers(): Record<string, string> {
    return {};
  }

  /** Only a new subscription or the venue's next trade brings a whole book again. */
  ask(tokens: readonly string[]): unknown[] {
    return ['unsubscribe', 'subscribe'].map((operation) => {
      return { assets_ids: [...tokens], operation, custom_feature_enabled: true };
    });
  }

  lose(token: string): unknown[] {
    this.#books.forget(token);
    if (!this.#wanted.has(token)) return [];
    this.#lostBooks.add(token);
    return this.#asked(token).map(({ message }) => message);
  }

  reset(): void {
    this.#books.clear();
    this.#wanted.clear();
    this.#lostBooks.clear();
    this.#awaited.clear();
    this.#closes.clear();
    this.#hasSubscribed = false;
  }

  #asked(token: string): Outgoing[] {
    if (this.recorded) return [];
    this.#awaited.add(token);
    return this.ask([token]).map((message) => ({ message, afterMs: 0 }));
  }

  #readMessage(message: unknown): FrameReading {
    const reading = this.#readFields(fieldsOf(message));
    reading.venueAtMs = timeOf(message);
    return reading;
  }

  #readFields(fields: Fields | null): FrameReading {
    if (fields === null) return refused('unreadable', 'not an object');
    // First books may have no type.
    const type = nameOf(fields.event_type) ?? ('bids' in fields ? 'book' : null);
    if (type === null) return refused('unreadable', 'no event_type');
    return this.#readType(type, fields);
  }

  #readType(type: string, fields: Fields): FrameReading {
    if (NO_PRICE.has(type)) return said(type, []);
    if (type === 'market_resolved') return this.#resolved(fields);
    if (type === 'price_change') return this.#priceChange(fields);
    const token = nameOf(fields.asset_id);
    switch (type) {
      case 'book':
      case 'best_bid_ask':
      case 'tick_size_change':
      case 'last_trade_price':
        if (token === null) return refused(type, 'no asset_id');
        if (!this.#wanted.has(token)) return unwanted(type);
        if (type === 'book') return this.#book(token, fields);
        if (type === 'tick_size_change') return this.#regrid(token, fields);
        return type === 'best_bid_ask' ? this.#top(token, fields) : tradeOf(token, fields);
      default:
        return refused(type, 'unknown type');
    }
  }

  #book(token: string, fields: Fields): FrameReading {
    const bids = bookSide(fields.bids ?? fields.buys ?? [], levelOf);
    const asks = bookSide(fields.asks ?? fields.sells ?? [], levelOf);
    // The same answer would be given again.
    const isAnswer = this.#awaited.delete(token);
    if (bids === null || asks === null) {
      return this.#lost('book', token, 'unreadable levels', isAnswer);
    }
    const problem = this.#books.replace(token, bids, asks.map(asAsk));
    if (problem !== null) return this.#lost('book', token, problem);
    this.#lostBooks.delete(token);
    return said('book', [this.#books.tickOf(token), ...this.#closing(token)]);
  }

  /** The levels that are not on the new grid are gone, and nothing tells what replaced them. */
  #regrid(token: string, fields: Fields): FrameReading {
    const type = 'tick_size_change';
    if (!this.#books.has(token)) return said(type, []);
    const step = tickSizeOf(fields.new_tick_size);
    if (step === null) return this.#lost(type, token, 'unreadable tick size');
    this.#books.keepGrid(token, (price) => price % step === 0);
    const send = this.#asked(token);
    const reading = said(type, [this.#books.tickOf(token)]);
    return send.length === 0 ? reading : { ...reading, send };
  }

  /** If the venue shows a token's book, the venue tells when it closes. */
  #closing(token: string): VenueTick[] {
    if (this.#closes.has(token)) return [];
    this.#closes.add(token);
    return [{ kind: 'closing', market: token, closesAtMs: null }];
  }

  /** Level changes, of one token or of both tokens of a market, in any of the venue's forms. */
  #priceChange(fields: Fields): FrameReading {
    const type = 'price_change';
    const changes = changesIn(fields);
    if (changes === null) return refused(type, 'no changes');
    const readings = new Map<string, FrameReading>();
    const last = new Map<string, Fields>();
    let isNameless = false;
    for (const change of changes) {
      const token = nameOf(change?.asset_id) ?? nameOf(fields.asset_id);
      if (token === null || change === null) {
        isNameless = true;
        continue;
      }
      // Both tokens are sent even if only one was subscribed to.
      if (!this.#wanted.has(token)) continue;
      readings.set(token, followed(readings.get(token), this.#change(token, change)));
      last.set(token, change);
    }
    if (isNameless) return this.#nameless(type, [...readings.keys()]);
    if (readings.size === 0) return unwanted(type);
    const reading = { ...merged([...readings.values()]), type };
    // A change states the top after the whole frame.
    const stated = [...last].flatMap(([token, change]) => this.#stated(token, change));
    return stated.length === 0 ? reading : { ...reading, stated };
  }

  /** A change that names no token may be of any token of its frame. */
  #nameless(type: string, tokens: readonly string[]): FrameReading {
    const reason = 'no asset_id';
    const lost = tokens.map((token) => this.#lost(type, token, reason));
    return lost.length === 0 ? refused(type, reason) : { ...merged(lost), type };
  }

  /** The stated best prices of a kept book. */
  #stated(token: string, fields: Fields): StatedTop[] {
    const stated = { bid: bestOf(fields.best_bid), ask: bestOf(fields.best_ask) };
    if (stated.bid === undefined && stated.ask === undefined) return [];
    if (!this.#books.has(token)) return [];
    return [{ market: token, agrees: this.#books.agrees(token, stated) }];
  }

  #change(token: string, change: Fields): FrameReading {
    const type = 'price_change';
    // Until a book has arrived, and after one was lost, only the stated top of a change is known.
    if (!this.#books.has(token)) return this.#top(token, change, type);
    const price = priceOf(change.price);
    const size = parseContractsE2(change.size);
    const side = change.side === 'BUY' ? 'yes' : 'no';
    const isReadable = price !== null && isLevelPrice(price) && size !== null;
    if (!isReadable || !TAKER_SIDES.has(change.side)) {
      return this.#lost(type, token, 'unreadable price, size or side');
    }
    this.#books.set(token, side, side === 'yes' ? price : 10_000 - price, size);
    if (this.#books.isOverfull) return this.#lost(type, token, 'too many levels');
    return said(type, [this.#books.tickOf(token)]);
  }

  /** The venue's own top of book. A book says more, and may be newer. */
  #top(token: string, fields: Fields, type = 'best_bid_ask'): FrameReading {
    if (this.#books.has(token)) {
      const stated = this.#stated(token, fields);
      return stated.length === 0 ? said(type, []) : { ...said(type, []), stated };
    }
    if (fields.best_bid === undefined && fields.best_ask === undefined) {
      return refused(type, 'change before a book');
    }
    if (this.#lostBooks.has(token)) return said(type, []);
    const bid = topSide(fields.best_bid);
    const ask = topSide(fields.best_ask);
    if (bid === undefined || ask === undefined) return this.#lost(type, token, 'unreadable price');
    return said(type, [bookTick(token, bid, ask), ...this.#closing(token)]);
  }

  #resolved(fields: Fields): FrameReading {
    const type = 'market_resolved';
    const winner = nameOf(fields.winning_asset_id);
    const listed = Array.isArray(fields.assets_ids) ? fields.assets_ids : [];
    if (winner === null) return this.#noWinner(type, listed, 'no winning_asset_id');
    if (listed.length > 0 && !listed.includes(winner)) {
      return this.#noWinner(type, listed, 'winning_asset_id is not in assets_ids');
    }
    const tokens = new Set([winner, ...listed].map(nameOf));
    const ticks: VenueTick[] = [];
    for (const token of tokens) {
      if (token === null || !this.#wanted.has(token)) continue;
      const outcome = token === winner ? 'yes' : 'no';
      ticks.push({ kind: 'result', market: token, outcome, yesValue: null });
    }
    return said(type, ticks);
  }

  /** Without a winner among the outcomes nobody is paid, and the market is over all the same. */
  #noWinner(type: string, listed: readonly unknown[], reason: string): FrameReading {
    const tokens = listed.map(nameOf).filter((token) => token !== null && this.#wanted.has(token));
    const ticks = tokens.map((token) => undecided(token!, reason));
    const reading = refused(type, reason, ticks);
    if (!this.recorded) reading.missedStates = tokens as string[];
    return reading;
  }

  /** The venue's present book is unknown until it arrives whole. */
  #lost(type: string, token: string, reason: string, wasAsked = false): FrameReading {
    this.#books.forget(token);
    const reading = refused(type, reason, [unknownBook(token)]);
    if (reason.startsWith('too many')) return reading;
    this.#lostBooks.add(token);
    const send = wasAsked ? [] : this.#asked(token);
    return send.length === 0 ? reading : { ...reading, send };
  }
}

/** One reading of a frame that has several messages. */
function merged(readings: readonly FrameReading[]): FrameReading {
  const send = readings.flatMap((reading) => reading.send ?? []);
  const stated = readings.flatMap((reading) => reading.stated ?? []);
  const missedStates = readings.flatMap((reading) => (reading.missedStates ?? []) as string[]);
  return {
    type: readings[0]?.type ?? 'empty',
    ticks: readings.flatMap(({ ticks }) => ticks),
    venueAtMs: newest(readings.map(({ venueAtMs }) => venueAtMs)),
    rejected: readings.find(({ rejected }) => rejected !== null)?.rejected ?? null,
    jump: false,
    ...(send.length === 0 ? {} : { send }),
    ...(stated.length === 0 ? {} : { stated }),
    ...(missedStates.length === 0 ? {} : { missedStates }),
  };
}

/** The changes of one token in a frame: its last book, and all else that they say and ask for. */
function followed(before: FrameReading | undefined, after: FrameReading): FrameReading {
  if (before === undefined) return after;
  const isNewer = after.ticks.some(({ kind }) => kind === 'book');
  const kept = before.ticks.filter(({ kind }) => kind !== 'book' || !isNewer);
  return merged([{ ...before, ticks: kept }, after]);
}

/** `price_changes`, before September 2025 `changes`, or the one change of the message itself. */
function changesIn(fields: Fields): (Fields | null)[] | null {
  const list = fields.price_changes ?? fields.changes;
  if (list === undefined) return fields.price === undefined ? null : [fields];
  return Array.isArray(list) && list.length > 0 ? list.map(fieldsOf) : null;
}

function tradeOf(token: string, fields: Fields): FrameReading {
  const type = 'last_trade_price';
  const yesPrice = priceOf(fields.price);
  const size = parseContractsE2(fields.size);
  const takerSide = TAKER_SIDES.get(fields.side);
  if (yesPrice === null || size === null) return refused(type, 'unreadable price or size');
  if (takerSide === undefined) return refused(type, 'unreadable side');
  return said(type, [{ kind: 'trade', market: token, yesPrice, size, takerSide }]);
}

/** `.48` is how the venue's pages write 0.48. */
function priceOf(value: unknown): PriceE4 | null {
  return parsePriceE4(typeof value === 'string' && value.startsWith('.') ? `0${value}` : value);
}

function levelOf(entry: unknown): Level | null {
  const fields = fieldsOf(entry);
  const price = priceOf(fields?.price);
  const size = parseContractsE2(fields?.size);
  return price === null || size === null ? null : { price, size };
}

/** Null is an empty side, undefined a side that is not readable. Sizes are not stated. */
function topSide(value: unknown): Level | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  const price = statedPrice(value);
  return price === null ? undefined : { price, size: 0 };
}

/** Null is an empty side, undefined a side that is not stated, or cannot be read. */
function bestOf(value: unknown): PriceE4 | null | undefined {
  const price = value === undefined ? null : statedPrice(value);
  if (price === null) return undefined;
  return isLevelPrice(price) ? price : null;
}

/** A best price or a step, also as a number. Rules W84, W101 (feeds/FORMATS.md). */
function statedPrice(value: unknown): PriceE4 | null {
  return priceOf(typeof value === 'number' ? String(value) : value);
}

/** Null: it is no step of prices. */
function tickSizeOf(value: unknown): PriceE4 | null {
  const step = statedPrice(value);
  return step !== null && isLevelPrice(step) ? step : null;
}

/** Null if no message states one. */
function newest(times: readonly (EpochMs | null)[]): EpochMs | null {
  return times.reduce<EpochMs | null>(
    (last, atMs) => (atMs === null ? last : Math.max(last ?? 0, atMs)),
    null,
  );
}

/** Milliseconds, as a text or a number. */
function timeOf(message: unknown): EpochMs | null {
  const timestamp = fieldsOf(message)?.timestamp;
  // An object may have a `toString` that is no function.
  const text = typeof timestamp === 'string' || typeof timestamp === 'number' ? `${timestamp}` : '';
  return /^\d{12,14}$/.test(text) ? Number(text) : null;
}
