/**
 * Commands to Kalshi and their answers: subscriptions, and fresh snapshots of markets whose book
 * was lost. Rules W22, W23, W33 to W35, W73, W80 (feeds/FORMATS.md).
 */

import { type Fields, fieldsOf, isPlace } from '../../reading/frame.ts';
import type { FrameReading, Outgoing } from '../../reading/venue.ts';
import { Batches } from '../shared/batches.ts';
import { errorCode, readError } from './messages.ts';

/** Kalshi limits the markets of one subscription (error 26); its clients use up to 256. */
const MARKETS_A_SUBSCRIPTION = 250;
/** Far more than a connection subscribes to. */
export const SIDS_MAX = 1_000;

const TOO_MANY_MARKETS = 26;
/** Timed out, asked too often, or failed for no reason of ours. */
const NOT_NOW: ReadonlySet<unknown> = new Set([1, 18, 27]);
/** The handshake was not signed: no subscription will do better. */
const UNAUTHORIZED = 9;

/** Combos end on a channel of their own. Neither channel takes a market filter. */
export const COMBO_LIFE_CYCLE = 'multivariate_market_lifecycle';
/** The channels that tell ends of markets; their messages have their names. */
const LIFE_CYCLES = ['market_lifecycle_v2', COMBO_LIFE_CYCLE] as const;
export type LifeCycle = (typeof LIFE_CYCLES)[number];

export function isLifeCycle(type: string): type is LifeCycle {
  return (LIFE_CYCLES as readonly string[]).includes(type);
}

/** Whether it is a multivariate market, as Kalshi calls its combos. */
function isCombo(ticker: string): boolean {
  return ticker.startsWith('KXMVE');
}

/** The known content of a subscription (`sid`). */
type Subscription = { books: Set<string>; channels: Set<string> };

/** The markets that a gap in a subscription has lost. */
export type Missed = { markets: readonly string[]; states: boolean };

export class KalshiCommands {
  readonly #batches = new Batches(MARKETS_A_SUBSCRIPTION, (id, market_tickers) => ({
    id,
    cmd: 'subscribe',
    params: {
      channels: ['orderbook_delta', 'trade'],
      market_tickers,
      // Kalshi announced that true becomes the default. Prices of no would then mean another
      // thing.
      use_yes_price: false,
    },
  }));
  readonly #subscriptions = new Map<number, Subscription>();
  /** Markets without a price until the requested snapshot arrives. */
  readonly #awaited = new Set<string>();
  /** Markets whose snapshot was asked for beside the book that is kept. */
  readonly #compared = new Set<string>();
  /** Ids of the commands that asked. */
  readonly #asked = new Set<number>();
  #seesLifeCycle = false;
  #seesCombos = false;

  get awaiting(): number {
    return this.#awaited.size;
  }

  /** Whether the market has no price until its snapshot arrives. */
  awaits(market: string): boolean {
    return this.#awaited.has(market);
  }

  /** Whether a snapshot of the market was asked for. */
  hasAsked(market: string): boolean {
    return this.#awaited.has(market) || this.#compared.has(market);
  }

  subscribe(markets: readonly string[]): unknown[] {
    const commands = this.#batches.subscribe(markets);
    if (markets.length > 0 && !this.#seesLifeCycle) {
      this.#seesLifeCycle = true;
      // This channel takes no market filter: it sends every market there is.
      const params = { channels: ['market_lifecycle_v2'] };
      commands.push({ id: this.#batches.nextId(), cmd: 'subscribe', params });
    }
    if (!this.#seesCombos && markets.some(isCombo)) {
      this.#seesCombos = true;
      const params = { channels: [COMBO_LIFE_CYCLE] };
      commands.push({ id: this.#batches.nextId(), cmd: 'subscribe', params });
    }
    return commands;
  }

  /** A `subscribed` or an `ok`: the content of a subscription. */
  acknowledged(fields: Fields): void {
    const message = fieldsOf(fields.msg);
    const sid = message?.sid ?? fields.sid;
    const { channel } = message ?? {};
    if (!isPlace(sid) || typeof channel !== 'string') return;
    this.saw(sid, channel);
    if (channel !== 'orderbook_delta') return;
    for (const market of this.#batches.marketsOf(fields.id) ?? []) this.saw(sid, channel, market);
  }

  /** The subscription carries this channel, and the book of this market. */
  saw(sid: unknown, channel: string, book?: string): void {
    if (!isPlace(sid)) return;
    let subscription = this.#subscriptions.get(sid);
    if (subscription === undefined) {
      if (this.#subscriptions.size >= SIDS_MAX) return;
      subscription = { books: new Set(), channels: new Set() };
      this.#subscriptions.set(sid, subscription);
    }
    subscription.channels.add(channel);
    if (book !== undefined) subscription.books.add(book);
  }

  /**
   * The markets that a gap in this subscription has lost. Null: they are not known, or were asked
   * for once already, so only a new connection helps.
   */
  missedOn(sid: number): Missed | null {
    const subscription = this.#subscriptions.get(sid);
    if (subscription === undefined) return null;
    const { books, channels } = subscription;
    const markets = [...books];
    if (markets.length === 0 && channels.has('orderbook_delta')) return null;
    if (markets.some((market) => this.#awaited.has(market))) return null;
    return { markets, states: LIFE_CYCLES.some((channel) => channels.has(channel)) };
  }

  /** These markets have no book until a snapshot arrives. */
  expect(markets: readonly string[]): void {
    for (const market of markets) this.#awaited.add(market);
  }

  /** Asks for the snapshots of markets that have lost their book. */
  askBooks(sid: number, markets: readonly string[]): Outgoing[] {
    this.expect(markets);
    return this.#snapshotsOf(sid, markets).map((message) => ({ message, afterMs: 0 }));
  }

  /** Asks for the snapshot of a market that has lost its book, on the subscription that carries it. */
  askLost(market: string): unknown[] {
    this.expect([market]);
    return this.#onTheirSids([market]);
  }

  /** Asks for snapshots beside the books that are kept. */
  askToCompare(markets: readonly string[]): unknown[] {
    for (const market of markets) this.#compared.add(market);
    return this.#onTheirSids(markets);
  }

  #onTheirSids(markets: readonly string[]): unknown[] {
    return [...this.#subscriptions].flatMap(([sid, { books }]) => {
      return this.#snapshotsOf(
        sid,
        markets.filter((market) => books.has(market)),
      );
    });
  }

  #snapshotsOf(sid: number, markets: readonly string[]): unknown[] {
    const commands: unknown[] = [];
    for (let first = 0; first < markets.length; first += MARKETS_A_SUBSCRIPTION) {
      const market_tickers = markets.slice(first, first + MARKETS_A_SUBSCRIPTION);
      const id = this.#batches.nextId();
      this.#asked.add(id);
      const params = { sids: [sid], market_tickers, action: 'get_snapshot' };
      commands.push({ id, cmd: 'update_subscription', params });
    }
    return commands;
  }

  /** A snapshot has arrived, good or bad. */
  answered(market: string): void {
    const wasAsked = this.#awaited.delete(market);
    if (!this.#compared.delete(market) && !wasAsked) return;
    if (this.#awaited.size + this.#compared.size === 0) this.#asked.clear();
  }

  /** An `error`: a subscription that was refused is tried in another way. */
  failed(fields: Fields): FrameReading {
    const message = fieldsOf(fields.msg);
    const reading = readError(message);
    const id = fields.id as number;
    if (this.#asked.has(id)) reading.drop = 'the venue refused a snapshot';
    if (this.#batches.marketsOf(id) === undefined) return reading;
    const code = errorCode(message);
    if (code === TOO_MANY_MARKETS) {
      const { send, overflow } = this.#batches.tooMany(id);
      return { ...reading, send, overflow };
    }
    if (NOT_NOW.has(code)) return { ...reading, send: this.#batches.again(id) };
    if (code === UNAUTHORIZED) return reading;
    return { ...reading, send: this.#batches.refused(id, 0) };
  }

  clear(): void {
    this.#batches.clear();
    this.#subscriptions.clear();
    this.#awaited.clear();
    this.#compared.clear();
    this.#asked.clear();
    this.#seesLifeCycle = false;
    this.#seesCombos = false;
  }
}
