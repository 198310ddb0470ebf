/**
 * The market data that connections have subscribed to: books as snapshots and deltas, tickers,
 * trades and life cycles. A numbered message is written for each subscription. A ticker has no
 * number, so it is published once for all subscriptions with the same sid. Changes in between two
 * looks count as one. Rule A216 (api/RULES.md).
 */
import { type MarketNumber, PAYOUT_CENTS, type Side } from '../../../engine/base/units.ts';
import type { Engine } from '../../base/engine.ts';
import type { Log } from '../../base/logger.ts';
import type { MarketBus, MarketEventOf } from '../../catalog/market-bus.ts';
import type { Book, LiveMarkets, Top, VenueTrade } from './live-markets.ts';
import type { VenueMarket, VenueMarkets } from './markets.ts';
import { dollars, fp, seconds, timeText } from './words.ts';

/** A subscription of a connection, as the feed sends to it. */
export interface Follower {
  readonly sid: number;
  /** Null: every market. */
  readonly tickers: ReadonlySet<string> | null;
  /** Prices of no are given as prices of yes. */
  readonly usesYesPrice: boolean;
  send(type: string, msg: string, id?: unknown): void;
  /** After all that was sent, it gets what is published to the topic. */
  follow(topic: string): void;
  unfollow(topic: string): void;
}

/** Sends a message to all followers of a topic. */
export type Publish = (topic: string, message: string) => void;

const LOOK_EVERY_MS = 20;
/** Each followed market is looked at once in so many looks, 2 s: a price also ends as time passes. */
const LOOKS_A_ROUND = 100;
const ASKED_MAX = 64;

type BookWatch = {
  market: VenueMarket;
  /** Null: not known yet. */
  book: Book | null;
  followers: Set<Follower>;
  /** They have no snapshot so far; the id of the command that asked, if it did. */
  waiting: Map<Follower, unknown>;
};

export type MarketFeedParts = {
  engine: Pick<Engine, 'nowMs'>;
  bus: MarketBus;
  markets: VenueMarkets;
  live: LiveMarkets;
  publish: Publish;
  log: Log;
};

export class MarketFeed {
  readonly #parts: MarketFeedParts;
  readonly #books = new Map<string, BookWatch>();
  readonly #tickers = new TickerFollowers();
  readonly #trades = new Set<Follower>();
  readonly #lifeCycles = new Set<Follower>();
  /** The last message of each market's ticker, without its time. */
  readonly #shown = new Map<string, string>();
  #changed = new Set<MarketNumber>();
  #round: Iterator<VenueMarket> = [].values();
  #known: Set<string> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  readonly #unfollow: () => void;

  constructor(parts: MarketFeedParts) {
    this.#parts = parts;
    const { bus, live, markets } = parts;
    const ends = [
      bus.subscribe(['quote', 'trade', 'status', 'result'], ({ market }) => {
        if (this.#isFollowed) this.#changed.add(market);
      }),
      bus.subscribe(['status', 'closing', 'result'], (tick) => this.#lived(tick)),
      bus.subscribe(['catalog'], () => this.#created()),
      live.follow(
        bus,
        (market) => markets.ofNumber(market)?.ticker ?? null,
        (trade) => this.#traded(trade),
      ),
    ];
    this.#unfollow = () => {
      for (const end of ends) end();
    };
  }

  close(): void {
    this.#unfollow();
    this.#rest();
  }

  /** It gets a snapshot of each of these markets, and then their deltas. */
  followBooks(follower: Follower, tickers: Iterable<string>): void {
    for (const ticker of tickers) {
      this.#watchOf(ticker).waiting.set(follower, undefined);
    }
    this.#wake();
  }

  /** It gets one more snapshot of a market that it follows. */
  showBook(follower: Follower, ticker: string, id: unknown): void {
    const watch = this.#books.get(ticker);
    if (watch === undefined || !watch.followers.has(follower)) return;
    if (watch.book !== null) follower.send('orderbook_snapshot', snapshotOf(watch, follower), id);
  }

  leaveBooks(follower: Follower, tickers: Iterable<string>): void {
    for (const ticker of tickers) {
      const watch = this.#books.get(ticker);
      if (watch === undefined) continue;
      watch.followers.delete(follower);
      watch.waiting.delete(follower);
      if (watch.followers.size + watch.waiting.size === 0) this.#books.delete(ticker);
    }
  }

  /**
   * Also for one whose markets are others now.
   * @param shown it gets the present ticker of these markets; null: of all
   */
  followTickers(follower: Follower, shown: Iterable<string> | null): void {
    this.#showTickers(follower, shown);
    this.#tickers.delete(follower);
    this.#tickers.add(follower);
    this.#wake();
  }

  #showTickers(follower: Follower, shown: Iterable<string> | null): void {
    const { markets } = this.#parts;
    for (const ticker of shown ?? markets.all().map((one) => one.ticker)) {
      const text = this.#tickers.has(ticker) ? this.#shown.get(ticker) : undefined;
      if (text !== undefined) {
        follower.send('ticker', text + this.#timed());
        continue;
      }
      // It may have changed while nobody followed it.
      this.#shown.delete(ticker);
      const market = markets.find(ticker);
      if (market !== undefined) this.#changed.add(market.market);
    }
  }

  followTrades(follower: Follower): void {
    this.#trades.add(follower);
  }

  followLifeCycles(follower: Follower): void {
    this.#lifeCycles.add(follower);
    this.#known ??= new Set(this.#parts.markets.all().map(({ ticker }) => ticker));
  }

  leave(follower: Follower): void {
    this.#tickers.delete(follower);
    if (this.#tickers.size === 0) this.#shown.clear();
    this.#trades.delete(follower);
    this.#lifeCycles.delete(follower);
  }

  get #isFollowed(): boolean {
    return this.#books.size + this.#tickers.size > 0;
  }

  #watchOf(ticker: string): BookWatch {
    let watch = this.#books.get(ticker);
    if (watch === undefined) {
      const market = this.#parts.markets.get(ticker);
      watch = { market, book: null, followers: new Set(), waiting: new Map() };
      this.#books.set(ticker, watch);
    }
    return watch;
  }

  #wake(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    if (!this.#isFollowed) return this.#rest();
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const asked = this.#next();
      await Promise.all([this.#lookAtBooks(asked), this.#lookAtTickers(asked)]);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'market data of the venue API could not be asked for');
    } finally {
      this.#isLooking = false;
    }
  }

  /** The markets to ask about now: those with ticks, those that wait, and some in turn. */
  #next(): VenueMarket[] {
    const { markets } = this.#parts;
    const asked = new Set<VenueMarket>();
    for (const { market, waiting } of this.#books.values()) {
      if (waiting.size > 0 && asked.size < ASKED_MAX) asked.add(market);
    }
    for (const number of this.#changed) {
      if (asked.size >= ASKED_MAX) break;
      this.#changed.delete(number);
      const market = markets.ofNumber(number);
      if (market !== undefined && this.#isWanted(market)) asked.add(market);
    }
    const all =
      this.#tickers.size > 0 ? markets.all() : [...this.#books.values()].map((one) => one.market);
    for (let turn = Math.ceil(all.length / LOOKS_A_ROUND); turn > 0; turn--) {
      if (asked.size >= ASKED_MAX) break;
      const { value, done } = this.#round.next();
      if (done === true) this.#round = all.values();
      else if (this.#isWanted(value)) asked.add(value);
    }
    return [...asked];
  }

  #isWanted({ ticker }: VenueMarket): boolean {
    return this.#books.has(ticker) || this.#tickers.has(ticker);
  }

  async #lookAtBooks(asked: readonly VenueMarket[]): Promise<void> {
    const watches = asked.flatMap(({ ticker }) => this.#books.get(ticker) ?? []);
    await Promise.all(
      watches.map(async (watch) =>
        this.#showBook(watch, await this.#parts.live.book(watch.market)),
      ),
    );
  }

  #showBook(watch: BookWatch, book: Book): void {
    const { market, followers, waiting } = watch;
    if (watch.book !== null && followers.size > 0) {
      const atMs = this.#parts.engine.nowMs();
      const times = `"ts":"${timeText(atMs)}","ts_ms":${atMs}}`;
      for (const { side, cents, delta } of changesOf(watch.book, book)) {
        const head = `${nameOf(market)},"delta_fp":"${fp(delta)}","side":"${side}","price_dollars":`;
        for (const follower of followers) {
          const price = dollars(shownCents(side, cents, follower));
          follower.send('orderbook_delta', `${head}"${price}",${times}`);
        }
      }
    }
    watch.book = book;
    for (const [follower, id] of waiting) {
      followers.add(follower);
      follower.send('orderbook_snapshot', snapshotOf(watch, follower), id);
    }
    waiting.clear();
  }

  async #lookAtTickers(asked: readonly VenueMarket[]): Promise<void> {
    if (this.#tickers.size === 0) return;
    const tops = await this.#parts.live.tops(asked);
    for (const [at, market] of asked.entries()) {
      const text = this.#tickerText(market, tops[at]!);
      const before = this.#shown.get(market.ticker);
      if (before === text) continue;
      this.#shown.set(market.ticker, text);
      const whole = text + this.#timed();
      for (const [sid, topic] of this.#tickers.topicsOf(market.ticker)) {
        this.#parts.publish(topic, messageOf('ticker', sid, whole));
      }
    }
  }

  #tickerText(market: VenueMarket, top: Top): string {
    const { bidCents, bidContracts, askCents, askContracts, lastCents } = top;
    const { contracts, tradedCents, lastContracts } = this.#parts.live.told(market.market);
    const [bid, ask] = [bidCents ?? 0, askCents ?? PAYOUT_CENTS];
    const [bids, asks] = [
      bidCents === null ? 0 : bidContracts,
      askCents === null ? 0 : askContracts,
    ];
    // As text at once: an object of it would cost as much as all that is asked for it.
    return (
      `${nameOf(market)},"price_dollars":"${dollars(lastCents ?? 0)}",` +
      `"yes_bid_dollars":"${dollars(bid)}","yes_ask_dollars":"${dollars(ask)}",` +
      `"volume_fp":"${fp(contracts)}","open_interest_fp":"0.00",` +
      `"dollar_volume":${Math.trunc(tradedCents / 100)},"dollar_open_interest":0,` +
      `"yes_bid_size_fp":"${fp(bids)}","yes_ask_size_fp":"${fp(asks)}",` +
      `"last_trade_size_fp":"${fp(lastContracts)}"`
    );
  }

  #timed(): string {
    const atMs = this.#parts.engine.nowMs();
    return `,"ts":${seconds(atMs)},"ts_ms":${atMs},"time":"${timeText(atMs)}"}`;
  }

  #traded({ id, ticker, atMs, yesCents, contracts, taker }: VenueTrade): void {
    if (this.#trades.size === 0) return;
    const text = JSON.stringify({
      ...{ trade_id: id, market_ticker: ticker, yes_price_dollars: dollars(yesCents) },
      ...{ no_price_dollars: dollars(PAYOUT_CENTS - yesCents), count_fp: fp(contracts) },
      ...{ taker_side: taker, taker_outcome_side: taker },
      ...{ taker_book_side: taker === 'yes' ? 'bid' : 'ask', is_block_trade: false },
      ...{ ts: seconds(atMs), ts_ms: atMs },
    });
    for (const follower of this.#trades) if (wants(follower, ticker)) follower.send('trade', text);
  }

  #lived(tick: MarketEventOf<'status' | 'closing' | 'result'>): void {
    const market = this.#parts.markets.ofNumber(tick.market);
    if (market === undefined) return;
    const say = (event_type: string, fields: object) =>
      this.#tell({ market_ticker: market.ticker, event_type, ...fields });
    const at = seconds(tick.atMs);
    if (tick.kind === 'status') {
      const isOpen = tick.status === 'open';
      say(isOpen ? 'activated' : 'deactivated', { is_deactivated: !isOpen });
    } else if (tick.kind === 'closing') {
      if (tick.closesAtMs !== null)
        say('close_date_updated', { close_ts: seconds(tick.closesAtMs) });
    } else {
      const { outcome, yesPayoutCents } = tick;
      const result = outcome === 'void' ? 'scalar' : outcome;
      const settlement_value = dollars(yesPayoutCents);
      say('determined', { result, settlement_value, determination_ts: at });
      say('settled', { settled_ts: at });
    }
  }

  /** Markets that a catalog has added, and those that it has dropped. */
  #created(): void {
    for (const ticker of this.#shown.keys()) {
      if (this.#parts.markets.find(ticker) === undefined) this.#shown.delete(ticker);
    }
    if (this.#known === null || this.#lifeCycles.size === 0) {
      this.#known = null;
      return;
    }
    for (const { ticker, entry } of this.#parts.markets.all()) {
      if (this.#known.has(ticker)) continue;
      this.#known.add(ticker);
      this.#tell({
        ...{ market_ticker: ticker, event_type: 'created', open_ts: seconds(entry.opensAtMs) },
        ...{ price_level_structure: 'linear_cent' },
      });
    }
  }

  #tell(message: object): void {
    const text = JSON.stringify(message);
    for (const follower of this.#lifeCycles) follower.send('market_lifecycle_v2', text);
  }
}

/** Those of tickers: a topic for each sid, of a market or of all. A change of one is published to its own. */
class TickerFollowers {
  /** Their markets as they follow them; null: all. */
  readonly #followed = new Map<Follower, ReadonlySet<string> | null>();
  /** How many follow, by sid, of each ticker; of `ALL_MARKETS` those of all. */
  readonly #sids = new Map<string, Map<number, number>>();

  get size(): number {
    return this.#followed.size;
  }

  add(follower: Follower): void {
    const { sid, tickers } = follower;
    this.#followed.set(follower, tickers);
    for (const ticker of tickers ?? [ALL_MARKETS]) {
      let counts = this.#sids.get(ticker);
      if (counts === undefined) {
        counts = new Map();
        this.#sids.set(ticker, counts);
      }
      counts.set(sid, (counts.get(sid) ?? 0) + 1);
      follower.follow(topicOf(ticker, sid));
    }
  }

  delete(follower: Follower): void {
    const tickers = this.#followed.get(follower);
    if (tickers === undefined) return;
    this.#followed.delete(follower);
    const { sid } = follower;
    for (const ticker of tickers ?? [ALL_MARKETS]) {
      const counts = this.#sids.get(ticker)!;
      const left = counts.get(sid)! - 1;
      if (left > 0) counts.set(sid, left);
      else counts.delete(sid);
      if (counts.size === 0) this.#sids.delete(ticker);
      follower.unfollow(topicOf(ticker, sid));
    }
  }

  has(ticker: string): boolean {
    return this.#sids.has(ALL_MARKETS) || this.#sids.has(ticker);
  }

  *topicsOf(ticker: string): Iterable<[sid: number, topic: string]> {
    for (const key of [ALL_MARKETS, ticker]) {
      for (const sid of this.#sids.get(key)?.keys() ?? []) yield [sid, topicOf(key, sid)];
    }
  }
}

/** No ticker of a market. */
const ALL_MARKETS = '*';
const topicOf = (ticker: string, sid: number) => `venue ticker ${sid} ${ticker}`;

/** A message without a number. */
export function messageOf(type: string, sid: number, msg: string): string {
  return `{"type":"${type}","sid":${sid},"msg":${msg}}`;
}

const wants = ({ tickers }: Follower, ticker: string) => tickers === null || tickers.has(ticker);
/** No ticker has a character that JSON escapes. Rule A205. */
const nameOf = ({ ticker, marketId }: VenueMarket) =>
  `{"market_ticker":"${ticker}","market_id":"${marketId}"`;

function shownCents(side: Side, cents: number, { usesYesPrice }: Follower): number {
  return side === 'no' && usesYesPrice ? PAYOUT_CENTS - cents : cents;
}

/** The key of a side without a level is absent. */
function snapshotOf({ market, book }: BookWatch, follower: Follower): string {
  const sides = (['yes', 'no'] as const).flatMap((side) => {
    const levels = book![side].map(([cents, contracts]) => {
      return [dollars(shownCents(side, cents, follower)), fp(contracts)];
    });
    levels.sort(([a], [b]) => (a! < b! ? -1 : 1));
    return levels.length === 0 ? [] : `,"${side}_dollars_fp":${JSON.stringify(levels)}`;
  });
  return `${nameOf(market)}${sides.join('')}}`;
}

function changesOf(before: Book, after: Book) {
  return (['yes', 'no'] as const).flatMap((side) => {
    const [was, is] = [new Map(before[side]), new Map(after[side])];
    const changes: { side: Side; cents: number; delta: number }[] = [];
    for (const cents of new Set([...was.keys(), ...is.keys()])) {
      const delta = (is.get(cents) ?? 0) - (was.get(cents) ?? 0);
      if (delta !== 0) changes.push({ side, cents, delta });
    }
    return changes;
  });
}
