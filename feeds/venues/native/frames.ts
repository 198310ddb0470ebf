/**
 * Paperbook's own venue protocol, spoken by venue_b and the simulator. A book frame is a whole top of
 * book, or a whole book, or one level of the book before it. Live, a native frame without a usable
 * `seq` is a gap, because frames before it may be missing. Rules N1 to N11, W62, W71, W99, W100
 * (feeds/FORMATS.md).
 *
 * One extension: `resolved` may carry `"settlementValue":"0.64"` in place of a result, for a market
 * that pays something in between.
 */
import {
  GAME_STATUSES,
  type GameStatus,
  MARKET_STATUSES,
  type MarketStatus,
} from '../../../engine/base/units.ts';
import { bookSide, bookTick, unknownBook, wholeBookTick } from '../../reading/book.ts';
import { parseContractsE2, parseValueE4, priceE4OfCents } from '../../reading/decimal.ts';
import {
  type Fields,
  fieldsOf,
  isPlace,
  nameOf,
  pausedUnread,
  refused,
  resultOfValue,
  said,
  statusWithBook,
  undecided,
  wordOf,
} from '../../reading/frame.ts';
import { parseInstant } from '../../reading/instant.ts';
import type {
  AdapterOptions,
  BookTick,
  FrameReading,
  Level,
  StateTick,
  VenueAdapter,
  VenueTick,
} from '../../reading/venue.ts';
import { asAsk, KeptBooks } from '../shared/kept-books.ts';
import { Wanted } from '../shared/wanted.ts';

/** The frames of the protocol; each takes a number. An `error` of the simulator takes none. */
const NUMBERED: ReadonlySet<string> = new Set([
  'snapshot',
  'quote',
  'level',
  'trade',
  'status',
  'game',
  'heartbeat',
]);
const WHOLE_BOOKS: ReadonlySet<string> = new Set(['snapshot']);
const KNOWN_GAME_STATUSES: ReadonlySet<unknown> = new Set(GAME_STATUSES);
const KNOWN_MARKET_STATUSES: ReadonlySet<unknown> = new Set(MARKET_STATUSES);

/** An adapter of the native protocol; it needs no keys. */
export function nativeAdapter(options: AdapterOptions = {}): VenueAdapter {
  return new NativeAdapter(options);
}

class NativeAdapter implements VenueAdapter {
  readonly name = 'native';
  readonly contractDecimals = 0;
  readonly awaiting = 0;
  readonly marketsMax = Number.POSITIVE_INFINITY;
  readonly stateRequests = null;
  readonly tellsResults = true;
  readonly repeatsStatus = false;
  readonly beginsWithStatus = true;
  readonly keepalive = null;
  readonly wholeBooks = WHOLE_BOOKS;
  readonly books = 0;
  readonly recorded: boolean;
  readonly #depth: boolean;
  readonly #levels: boolean;
  readonly #wanted: Wanted;
  /** The last whole book of each market, while no level of it has changed. */
  readonly #whole = new Map<string, WholeBook>();
  /** Books of which levels have changed. */
  readonly #changed: KeptBooks;
  #lastSeq: number | null = null;

  constructor({ depth = false, levels = false, recorded = false }: AdapterOptions) {
    this.#depth = depth;
    this.#levels = levels;
    this.recorded = recorded;
    this.#wanted = new Wanted(recorded);
    this.#changed = new KeptBooks(depth);
  }

  read(frame: unknown): FrameReading {
    const fields = fieldsOf(frame);
    const reading = this.#readFields(fields);
    reading.venueAtMs = parseInstant(fields?.at);
    return reading;
  }

  subscribe(markets: readonly string[]): unknown[] {
    this.#wanted.add(markets);
    return this.ask(markets);
  }

  /** The protocol has no message for it. */
  unsubscribe(markets: readonly string[]): unknown[] {
    this.#wanted.remove(markets);
    for (const market of markets) this.#forget(market);
    return [];
  }

  ask(markets: readonly string[]): unknown[] {
    const levels = this.#levels ? { levels: true } : {};
    return [{ op: 'subscribe', markets: [...markets], ...levels }];
  }

  /** The next frame of the market has its whole top. */
  lose(market: string): unknown[] {
    this.#forget(market);
    return this.recorded ? [] : this.ask([market]);
  }

  headers(): Record<string, string> {
    return {};
  }

  reset(): void {
    this.#lastSeq = null;
    this.#wanted.clear();
    this.#whole.clear();
    this.#changed.clear();
  }

  #readFields(fields: Fields | null): FrameReading {
    const type = nameOf(fields?.type);
    if (fields === null || type === null) return refused('unreadable', 'no type');
    const jump = this.#jumps(type, fields.seq);
    const reading = this.#wanted.kept(this.#readBook(type, fields));
    reading.jump = jump;
    return reading;
  }

  #readBook(type: string, fields: Fields): FrameReading {
    const market = nameOf(fields.market);
    if (market === null) return readType(type, fields);
    switch (type) {
      case 'snapshot':
        return this.#snapshot(market, fields);
      case 'quote':
        return this.#told(market, readQuote(market, fields), null);
      case 'level':
        return this.#level(market, fields);
      default:
        return readType(type, fields);
    }
  }

  #snapshot(market: string, fields: Fields): FrameReading {
    const yesBids = bookSide(fields.yesBids, levelOf);
    const yesAsks = bookSide(fields.yesAsks, levelOf);
    const isRead = yesBids !== null && yesAsks !== null;
    const book = isRead
      ? wholeBookTick(market, yesBids, yesAsks, this.#depth)
      : unknownBook(market);
    const status = statusOrResult(market, fields);
    if (typeof status === 'string') {
      const end = unreadEnd(market, fields.status, status);
      return this.#lost('snapshot', market, status, [...end, unknownBook(market)]);
    }
    const ticks = status.kind === 'status' ? statusWithBook(status.status, book) : [status, book];
    if (!isRead) return this.#lost('snapshot', market, 'unreadable levels', ticks);
    return this.#told(market, said('snapshot', ticks), { yesBids, yesAsks });
  }

  /** One level of a book that has come whole. Rule W99 (feeds/FORMATS.md). */
  #level(market: string, fields: Fields): FrameReading {
    const price = priceE4OfCents(fields.priceCents);
    const size = wholeContractsE2(fields.contracts);
    const { side } = fields;
    const isRead = price !== null && size !== null && (side === 'yes' || side === 'no');
    if (!isRead) return this.#lost('level', market, 'unreadable price, size or side');
    const problem = this.#keepWhole(market);
    if (problem !== null) return this.#lost('level', market, problem);
    const change = size - this.#changed.sizeAt(market, side, price);
    this.#changed.set(market, side, price, size);
    const reading = said('level', [this.#changed.tickOf(market)]);
    if (this.#levels) reading.levels = { kind: 'change', market, side, price, change, size };
    return reading;
  }

  /** The last whole book is kept level by level from now on. A text tells why it is not. */
  #keepWhole(market: string): string | null {
    if (this.#changed.has(market)) return null;
    const whole = this.#whole.get(market);
    if (whole === undefined) return 'level before snapshot';
    this.#whole.delete(market);
    return this.#changed.replace(market, whole.yesBids, whole.yesAsks.map(asAsk));
  }

  /** A frame has told a book. `whole`: all of it, or null for its top alone. */
  #told(market: string, reading: FrameReading, whole: WholeBook | null): FrameReading {
    this.#forget(market);
    const hasRoom = this.#wanted.has(market) && this.#whole.size < BOOKS_MAX;
    if (whole !== null && hasRoom) this.#whole.set(market, whole);
    if (!this.#levels) return reading;
    reading.levels =
      whole === null
        ? { kind: 'unknown', market }
        : { kind: 'book', market, yes: whole.yesBids, no: whole.yesAsks.map(asAsk) };
    return reading;
  }

  /** Nobody knows the book, and a live connection asks for it. */
  #lost(
    type: string,
    market: string,
    reason: string,
    ticks: VenueTick[] = [unknownBook(market)],
  ): FrameReading {
    const reading = refused(type, reason, ticks);
    const asked = this.lose(market);
    if (type === 'level' && asked.length > 0) {
      reading.send = asked.map((message) => ({ message, afterMs: 0 }));
    }
    return reading;
  }

  #forget(market: string): void {
    this.#whole.delete(market);
    this.#changed.forget(market);
  }

  #jumps(type: string, seq: unknown): boolean {
    if (!isPlace(seq)) return !this.recorded && (seq !== undefined || NUMBERED.has(type));
    const last = this.#lastSeq;
    this.#lastSeq = seq;
    return last !== null && seq !== last + 1;
  }
}

/** Far above any real catalog. The bound keeps a venue's frames from filling the memory. */
const BOOKS_MAX = 100_000;

type WholeBook = { yesBids: readonly Level[]; yesAsks: readonly Level[] };

/** A frame that is not of a book, or names no market. */
function readType(type: string, fields: Fields): FrameReading {
  if (type === 'heartbeat') return said(type, []);
  if (type === 'game') return readGame(fields);
  const market = nameOf(fields.market);
  switch (type) {
    case 'snapshot':
    case 'quote':
    case 'level':
      return refused(type, 'no market');
    case 'trade':
      return market === null ? refused(type, 'no market') : readTrade(market, fields);
    case 'status': {
      if (market === null) return refused(type, 'no market');
      const tick = statusOrResult(market, fields);
      if (typeof tick !== 'string') return said(type, [tick]);
      return refused(type, tick, unreadEnd(market, fields.status, tick));
    }
    default:
      return refused(type, 'unknown type');
  }
}

function readQuote(market: string, fields: Fields): FrameReading {
  const bid = sideOf(fields.yesBidCents, fields.yesBidContracts);
  const ask = sideOf(fields.yesAskCents, fields.yesAskContracts);
  if (bid === undefined || ask === undefined) {
    return refused('quote', 'unreadable price or size', [unknownBook(market)]);
  }
  const book: BookTick = bookTick(market, bid, ask);
  return said('quote', [book]);
}

function readTrade(market: string, fields: Fields): FrameReading {
  const yesPrice = priceE4OfCents(fields.yesPriceCents);
  const size = wholeContractsE2(fields.contracts);
  const { side } = fields;
  if (yesPrice === null || size === null) return refused('trade', 'unreadable price or size');
  if (side !== 'yes' && side !== 'no') return refused('trade', 'unreadable side');
  const tick: VenueTick = { kind: 'trade', market, yesPrice, size, takerSide: side };
  return said('trade', [tick]);
}

function readGame(fields: Fields): FrameReading {
  const game = nameOf(fields.game);
  if (game === null) return refused('game', 'no game');
  if (!KNOWN_GAME_STATUSES.has(fields.status)) {
    const detail = `game ${game}: ${wordOf(fields.status)}`;
    return { ...refused('game', 'unknown status of a game'), detail };
  }
  const status = fields.status as GameStatus;
  return said('game', [{ kind: 'game', game, status }]);
}

/** A status that cannot be used stops the market: a result that cannot be paid, or an unknown word. */
function unreadEnd(market: string, status: unknown, reason: string): VenueTick[] {
  return status === 'resolved' ? [undecided(market, reason)] : pausedUnread(market, status);
}

/** The tick of a `status` and, when it is `resolved`, of its result; a text is its problem. */
export function statusOrResult(
  market: string,
  { status, result, settlementValue }: Fields,
): StateTick | string {
  if (KNOWN_MARKET_STATUSES.has(status)) {
    return { kind: 'status', market, status: status as MarketStatus };
  }
  if (status !== 'resolved') return 'unknown status';
  if (result === 'yes' || result === 'no' || result === 'void') {
    const stated = settlementValue ?? null;
    const isSame = parseValueE4(stated) === (result === 'yes' ? 10_000 : 0);
    if (stated !== null && result !== 'void' && !isSame) {
      return 'result and settlementValue disagree';
    }
    return { kind: 'result', market, outcome: result, yesValue: null };
  }
  if (result !== undefined && result !== null) return 'unknown result';
  const yesValue = parseValueE4(settlementValue);
  if (yesValue === null) return 'resolved without a result';
  return resultOfValue(market, yesValue);
}

/** `[cents, contracts]`; null when it is not that. */
function levelOf(pair: unknown): Level | null {
  return Array.isArray(pair) ? (sideOf(pair[0], pair[1]) ?? null) : null;
}

/** A price with its size; null is an empty side (null or absent), undefined is not readable. */
function sideOf(cents: unknown, contracts: unknown): Level | null | undefined {
  if (cents === null || cents === undefined) return null;
  const price = priceE4OfCents(cents);
  const size = wholeContractsE2(contracts);
  return price === null || size === null ? undefined : { price, size };
}

function wholeContractsE2(value: unknown): number | null {
  return typeof value === 'number' ? parseContractsE2(value) : null;
}
