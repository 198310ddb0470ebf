/**
 * A market maker written against the venue's SDK trades a day that `feed simulate` serves. It is cut
 * off, repeats a request whose answer was lost, and in the end what it believes is what the server
 * says, to the cent. The lists are read on the history that the day leaves.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Fill, Settlement } from 'kalshi-typescript';
import { seededRandom } from '../../../../bench/lib/random.ts';
import { startFileVenue } from '../../../../feeds/file-venue/server.ts';
import { shareOf } from '../../../model/seeds.ts';
import { catalogOf, game, instrument } from '../../../process/catalogs.ts';
import { startOnFeedClock } from '../../on-feed-clock.ts';
import { type Connection, connected, newTrader, type Trader } from './venue-client.ts';

const SERIES = 'KXMAKER';
const EVENT = `${SERIES}-26NOV27`;
const [WON, LOST] = [`${EVENT}-AWY`, `${EVENT}-HOM`] as const;
const TICKERS = [WON, LOST];
const START_MS = Date.UTC(2026, 10, 27, 12);
const SECONDS = shareOf(100) < 100 ? 360 : 900;
const SPEED = 60;
/** Of the day, between two rounds of the maker: four seconds. However slow it is, it trades the day. */
const LINES_A_ROUND = 8;
const START_CENTS = 10_000_000;
const WAIT_MS = 60_000;

type DayTrade = { atMs: number; cents: number; contracts: number; side: 'yes' | 'no' };
type Day = { lines: string[]; trades: Map<string, DayTrade[]> };

/** Two markets whose prices walk, with a trade now and then, and their results. */
function makeDay(): Day {
  const random = seededRandom(7);
  const trades = new Map(TICKERS.map((ticker) => [ticker, [] as DayTrade[]]));
  const lines = ['{"format":"paperbook-feed","version":1}'];
  const mids = TICKERS.map(() => 50);
  let seq = 0;
  const say = (atMs: number, frame: object) => {
    const at = new Date(atMs).toISOString();
    const line = { at, venue: 'venue_a', adapter: 'native', frame: { seq: ++seq, ...frame } };
    lines.push(JSON.stringify(line));
  };
  for (let second = 0; second < SECONDS; second++) {
    const atMs = START_MS + second * 1000;
    for (const [at, market] of TICKERS.entries()) {
      mids[at] = Math.min(80, Math.max(20, mids[at]! + random.below(7) - 3));
      const [bid, ask] = [mids[at]! - 1, mids[at]! + 1];
      const sizes = { yesBidContracts: 50, yesAskContracts: 60 };
      say(atMs, { type: 'quote', market, yesBidCents: bid, yesAskCents: ask, ...sizes });
      if (second % 10 !== at) continue;
      const side = random.below(2) === 0 ? 'yes' : 'no';
      const traded = { cents: side === 'yes' ? ask : bid, contracts: 1 + random.below(9), side };
      trades.get(market)!.push({ atMs, ...traded } as DayTrade);
      const { cents: yesPriceCents, contracts } = traded;
      say(atMs, { type: 'trade', market, yesPriceCents, contracts, side });
    }
  }
  const endMs = START_MS + SECONDS * 1000;
  for (const [at, market] of TICKERS.entries()) {
    const result = at === 0 ? 'yes' : 'no';
    say(endMs, { type: 'status', market, status: 'resolved', result });
  }
  return { lines, trades };
}

const ends: (() => unknown)[] = [];
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

/** What the maker has not played yet waits for it. */
class Rounds {
  #lines = 0;
  #next = Promise.withResolvers<void>();

  /** Before each line of the day. */
  hold(): Promise<void> | null {
    this.#lines++;
    return this.#lines % LINES_A_ROUND === 0 ? this.#next.promise : null;
  }

  play(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

/** A venue with the day, and a server that is connected to it; both end with the file's tests. */
async function startDay() {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-maker-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  const day = makeDay();
  const file = path.join(directory, 'day.jsonl');
  writeFileSync(file, `${day.lines.join('\n')}\n`);
  const rounds = new Rounds();
  const hold = () => rounds.hold();
  const venue = await startFileVenue({ path: file, port: 0, speed: SPEED, hold });
  ends.push(() => venue.close());
  const catalogFile = path.join(directory, 'catalog.json');
  const listed = TICKERS.map((ticker, at) => {
    const made = instrument(`i${at}`, 'g1');
    return { ...made, listings: [{ ...made.listings[0], venueMarketId: ticker }] };
  });
  writeFileSync(catalogFile, catalogOf([game('g1')], listed));
  const env = {
    PAPERBOOK_VENUE_API: 'kalshi',
    PAPERBOOK_FEEDS: JSON.stringify(venue.feeds),
    PAPERBOOK_QUOTE_MAX_AGE_MS: '60000',
  };
  const log = { info() {}, warn() {}, error() {} };
  const { paperbook } = await startOnFeedClock(
    { teardown: (end) => ends.push(end) },
    { directory, catalogFile, log, env },
  );
  return { paperbook, origin: new URL(paperbook.baseUrl).origin, venue, day, rounds };
}

let started: ReturnType<typeof startDay> | null = null;

/** The day begins with the first test, since it passes meanwhile. */
function theDay(): ReturnType<typeof startDay> {
  started ??= startDay();
  return started;
}

const cents = (text: string) => Math.round(Number(text) * 100);

async function until(isDone: () => Promise<boolean> | boolean, what: () => string): Promise<void> {
  for (let waited = 0; waited < WAIT_MS; waited += 20) {
    if (await isDone()) return;
    await sleep(20);
  }
  throw new Error(`waited in vain: ${what()}`);
}

type Side = 'bid' | 'ask';
type Own = { id: string; cents: number; contracts: number };
type Taken = {
  order: string;
  market: string;
  side: Side;
  contracts: number;
  cents: number;
  feeCents: number;
};

/** What the maker knows, of messages alone; after a reconnection also of the list of fills. */
class Maker {
  readonly trader: Trader;
  readonly fills = new Map<string, Taken>();
  readonly positions = new Map<string, number>();
  readonly own = new Map<string, Own>();
  readonly results = new Map<string, string>();
  balanceCents = START_CENTS;
  /** Of this connection, by market: the contracts at each price of both sides. */
  books = new Map<string, Record<'yes' | 'no', Map<number, number>>>();
  problems: string[] = [];
  /** The fills that messages told, and of each order what all known ones come to. */
  readonly told = new Set<string>();
  readonly #filledOf = new Map<string, number>();
  /** What orders show as filled, of this connection: their fills come with that, or just after. */
  #shown = new Map<string, number>();
  #read = 0;
  #seqs = new Map<number, number>();
  #socket: Connection | null = null;
  #orders = 0;

  constructor(trader: Trader) {
    this.trader = trader;
  }

  async connect(origin: string): Promise<void> {
    this.#socket?.close();
    const socket = await connected({ teardown: () => undefined }, origin, this.trader);
    this.#socket = socket;
    this.#read = 0;
    this.#shown = new Map();
    this.#seqs = new Map();
    this.books = new Map();
    const market_tickers = TICKERS;
    const channels = ['fill', 'user_orders', 'market_lifecycle_v2'];
    socket.send('subscribe', { channels: ['orderbook_delta'], market_tickers });
    socket.send('subscribe', { channels, market_tickers });
    await socket.until(() => socket.of('subscribed').length === 4);
    await socket.until(() => socket.of('orderbook_snapshot').length === 2);
    // What was missed meanwhile is in the lists.
    for (const fill of await this.allFills()) this.#filled(takenOf(fill), fill.trade_id);
    const { data } = await this.trader.orders.getOrders(...Array(4).fill(undefined), 'resting');
    const resting = new Set(data.orders.map(({ order_id: id }) => id));
    for (const [name, { id }] of this.own) if (!resting.has(id)) this.own.delete(name);
  }

  close(): void {
    this.#socket?.close();
  }

  async allFills(): Promise<Fill[]> {
    const fills: Fill[] = [];
    for (let cursor: string | undefined; cursor !== ''; ) {
      const { data } = await this.trader.portfolio.getFills(
        ...([undefined, undefined, undefined, undefined, 7, cursor] as const),
      );
      fills.push(...data.fills);
      cursor = data.cursor;
    }
    return fills;
  }

  /** Takes what has come. */
  read(): void {
    const { messages } = this.#socket!;
    const shownBefore = this.#shown;
    this.#shown = new Map();
    for (; this.#read < messages.length; this.#read++) this.#take(messages[this.#read]);
    for (const [id, contracts] of shownBefore) {
      const filled = this.#filledOf.get(id) ?? 0;
      if (filled < contracts)
        this.problems.push(`${id} shows ${contracts}, and ${filled} are told`);
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: messages of the venue
  #take({ type, sid, seq, msg }: any): void {
    if (seq !== undefined && sid !== undefined) {
      const expected = (this.#seqs.get(sid) ?? 0) + 1;
      if (seq !== expected) this.problems.push(`sid ${sid} has ${seq} after ${expected - 1}`);
      this.#seqs.set(sid, seq);
    }
    switch (type) {
      case 'orderbook_snapshot': {
        const of = (rows: [string, string][] = []) => {
          return new Map(rows.map(([price, count]) => [cents(price), Number(count)]));
        };
        const { yes_dollars_fp: yes, no_dollars_fp: no } = msg;
        this.books.set(msg.market_ticker, { yes: of(yes), no: of(no) });
        return;
      }
      case 'orderbook_delta': {
        const levels = this.books.get(msg.market_ticker)![msg.side as 'yes' | 'no'];
        const price = cents(msg.price_dollars);
        const left = (levels.get(price) ?? 0) + Number(msg.delta_fp);
        if (left < 0) this.problems.push('a level has fewer than no contracts');
        if (left === 0) levels.delete(price);
        else levels.set(price, left);
        return;
      }
      case 'fill':
        if (this.told.has(msg.trade_id)) this.problems.push(`${msg.trade_id} was told twice`);
        this.told.add(msg.trade_id);
        return this.#filled(takenOf({ ...msg, ticker: msg.market_ticker }), msg.trade_id);
      case 'user_order':
        this.#shown.set(msg.order_id, Number(msg.fill_count_fp));
        if (msg.status === 'resting') return;
        for (const [name, { id }] of this.own) if (id === msg.order_id) this.own.delete(name);
        return;
      case 'market_lifecycle_v2':
        if (msg.event_type === 'determined') this.#determined(msg.market_ticker, msg.result);
    }
  }

  #filled(fill: Taken, id: string): void {
    if (this.fills.has(id)) return;
    this.fills.set(id, fill);
    const { order, market, side, contracts, cents: yesCents, feeCents } = fill;
    this.#filledOf.set(order, (this.#filledOf.get(order) ?? 0) + contracts);
    const held = this.positions.get(market) ?? 0;
    const closes = Math.min(contracts, Math.max(0, side === 'bid' ? -held : held));
    const opens = contracts - closes;
    const price = side === 'bid' ? yesCents : 100 - yesCents;
    this.balanceCents += closes * (100 - price) - opens * price - feeCents;
    this.positions.set(market, held + (side === 'bid' ? contracts : -contracts));
  }

  #determined(market: string, result: string): void {
    if (this.results.has(market)) return;
    this.results.set(market, result);
  }

  /** After its results: what is held pays out. */
  settle(): void {
    for (const [market, result] of this.results) {
      const held = this.positions.get(market) ?? 0;
      this.balanceCents += Math.max(0, result === 'yes' ? held : -held) * 100;
      this.positions.set(market, 0);
    }
  }

  /** Joins the best price of both sides of a market, by an amend or by another order. */
  async quote(market: string, round: number): Promise<void> {
    const book = this.books.get(market);
    if (book === undefined || book.yes.size === 0 || book.no.size === 0) return;
    const [bid, ask] = [Math.max(...book.yes.keys()), 100 - Math.max(...book.no.keys())];
    if (bid >= ask) return;
    for (const [side, price] of [['bid', bid] as const, ['ask', ask] as const]) {
      const name = `${market} ${side}`;
      const known = this.own.get(name);
      if (known?.cents === price) continue;
      if (known !== undefined && round % 2 === 0) {
        if (await this.#amended(market, side, known, price)) known.cents = price;
        else this.own.delete(name);
        continue;
      }
      if (known !== undefined) {
        await this.trader.orders.cancelOrderV2(known.id);
        this.own.delete(name);
      }
      await this.#place(market, side, price, round);
    }
  }

  async #amended(market: string, side: Side, own: Own, price: number): Promise<boolean> {
    const { status } = await this.trader.orders.amendOrderV2(own.id, {
      ...{ ticker: market, side, price: priceText(price), count: `${own.contracts}.00` },
    });
    return status === 200;
  }

  async #place(market: string, side: Side, price: number, round: number): Promise<void> {
    const contracts = 1 + (round % 5);
    const body = {
      ...{ ticker: market, side, price: priceText(price), count: `${contracts}.00` },
      ...{ client_order_id: `maker-${this.#orders++}`, post_only: true },
      time_in_force: 'good_till_canceled' as const,
      self_trade_prevention_type: 'taker_at_cross' as const,
    };
    const { status, data } = await this.trader.orders.createOrderV2(body);
    if (status !== 201) return;
    let id = data.order_id;
    if (round % 7 === 0) {
      // As if its answer had been lost.
      const again = await this.trader.orders.createOrderV2(body);
      if (again.status !== 409) this.problems.push(`a client id was taken twice: ${again.status}`);
      const path = `/portfolio/orders?ticker=${market}&limit=200&unknown=1`;
      const { json } = await this.trader.call('GET', path);
      const found = json.orders.filter((order: { client_order_id: string }) => {
        return order.client_order_id === body.client_order_id;
      });
      if (found.length !== 1) this.problems.push(`an order is there ${found.length} times`);
      id = found[0]?.order_id;
      if (found[0]?.status !== 'resting') return;
    }
    this.own.set(`${market} ${side}`, { id, cents: price, contracts });
  }

  /** All of its orders, as one request. */
  async cancelAll(): Promise<void> {
    const orders = [...this.own.values()].map(({ id }) => ({ order_id: id }));
    this.own.clear();
    if (orders.length > 0) await this.trader.orders.batchCancelOrdersV2({ orders });
  }
}

const priceText = (price: number) => `0.${String(price).padStart(2, '0')}00`;

type Told = 'order_id' | 'ticker' | 'book_side' | 'count_fp' | 'yes_price_dollars' | 'fee_cost';

function takenOf(fill: Pick<Fill, Told>): Taken {
  return {
    ...{ order: fill.order_id, market: fill.ticker, side: fill.book_side as Side },
    contracts: Number(fill.count_fp),
    ...{ cents: cents(fill.yes_price_dollars), feeCents: cents(fill.fee_cost) },
  };
}

let maker: Maker;

test.serial(
  'A217, A223: what a market maker believes after a day is what the server says, to the cent',
  async (t) => {
    const { paperbook, origin, venue, rounds } = await theDay();
    const trader = await newTrader({ origin, paperbook }, 'enterprise');
    maker = new Maker(trader);
    let isPlayed = false;
    const played = venue.played.then(() => {
      isPlayed = true;
    });
    await maker.connect(origin);
    for (let round = 1; !isPlayed; round++) {
      maker.read();
      for (const market of TICKERS) await maker.quote(market, round);
      if (round % 5 === 0) await maker.cancelAll();
      if (round % 4 === 0) await maker.connect(origin);
      rounds.play();
      await sleep(40);
    }
    await played;
    t.true(maker.fills.size > 0, 'nothing traded');
    await maker.connect(origin);
    const ends = async () => {
      maker.read();
      const { data } = await trader.portfolio.getPositions();
      const { data: resting } = await trader.orders.getOrders(
        ...([undefined, undefined, undefined, undefined, 'resting'] as const),
      );
      const isFlat = data.market_positions.every(({ position_fp: held }) => Number(held) === 0);
      const settled = await settlements(trader);
      return isFlat && resting.orders.length === 0 && settled.length > 0;
    };
    await until(ends, () => 'the day does not end');
    for (const { ticker, market_result } of await settlements(trader)) {
      maker.results.set(ticker, market_result!);
    }
    const fills = await maker.allFills();
    t.deepEqual(
      fills.map(({ trade_id: id }) => id).sort(),
      [...maker.fills.keys()].sort(),
      'every fill was told, and told once',
    );
    for (const row of await settlements(trader)) {
      const held = maker.positions.get(row.ticker)!;
      t.is(Number(row.yes_count_fp) - Number(row.no_count_fp), held, row.ticker);
    }
    maker.settle();
    t.deepEqual(maker.problems, []);
    t.is((await trader.portfolio.getBalance()).data.balance, maker.balanceCents);
    const { data } = await trader.portfolio.getPositions();
    const realized = data.market_positions.reduce(
      (sum, one) => sum + cents(one.realized_pnl_dollars),
      0,
    );
    t.is(realized, maker.balanceCents - START_CENTS);
    const audit = await paperbook.engine.audit();
    t.deepEqual(audit.problems, []);
    maker.close();
  },
);

async function settlements(trader: Trader): Promise<Settlement[]> {
  return (await trader.portfolio.getSettlements()).data.settlements;
}

test.serial('A207: trades of a day are listed by market and time, page by page', async (t) => {
  const { day } = await theDay();
  const { trader } = maker;
  for (const ticker of TICKERS) {
    const all = day.trades.get(ticker)!.toReversed();
    const seen = [];
    for (let cursor: string | undefined; cursor !== ''; ) {
      const { data } = await trader.markets.getTrades(10, cursor, ticker);
      t.true(data.trades.length <= 10);
      seen.push(...data.trades);
      cursor = data.cursor;
    }
    t.deepEqual(
      seen.map((trade) => [
        ...[trade.ticker, Date.parse(trade.created_time), cents(trade.yes_price_dollars)],
        ...[cents(trade.no_price_dollars), trade.count_fp, trade.taker_side],
      ]),
      all.map(({ atMs, cents: yes, contracts, side }) => {
        return [ticker, atMs, yes, 100 - yes, `${contracts}.00`, side];
      }),
    );
    t.is(new Set(seen.map(({ trade_id: id }) => id)).size, all.length);
    const [min, max] = [START_MS / 1000 + 100, START_MS / 1000 + 200];
    const { data } = await trader.markets.getTrades(1000, undefined, ticker, min, max);
    const within = all.filter(({ atMs }) => atMs >= min * 1000 && atMs < (max + 1) * 1000);
    t.is(data.trades.length, within.length);
    t.true(within.length > 5);
  }
});

test.serial('A207: candlesticks of a day add up to its trades', async (t) => {
  const { day } = await theDay();
  const { trader } = maker;
  const [start, end] = [START_MS / 1000, START_MS / 1000 + SECONDS];
  const { data } = await trader.markets.getMarketCandlesticks(SERIES, WON, start, end, 1);
  t.is(data.ticker, WON);
  const all = day.trades.get(WON)!;
  let previous: string | null = null;
  for (const candle of data.candlesticks) {
    const toMs = candle.end_period_ts * 1000;
    const within = all.filter(({ atMs }) => atMs >= toMs - 60_000 && atMs < toMs);
    const sum = within.reduce((total, { contracts }) => total + contracts, 0);
    t.is(candle.volume_fp, `${sum}.00`, String(candle.end_period_ts));
    const prices = within.map((trade) => trade.cents);
    const { open_dollars, close_dollars, high_dollars, low_dollars } = candle.price;
    t.deepEqual(
      [open_dollars, close_dollars, high_dollars, low_dollars].map((text) => cents(text!)),
      [prices[0]!, prices.at(-1)!, Math.max(...prices), Math.min(...prices)],
    );
    if (previous !== null) t.is(candle.price.previous_dollars, previous);
    previous = close_dollars!;
    const { yes_bid: bid, yes_ask: ask } = candle;
    t.true(cents(bid.low_dollars!) <= cents(bid.open_dollars!));
    t.true(cents(bid.close_dollars!) < cents(ask.close_dollars!));
  }
  t.is(data.candlesticks.length, SECONDS / 60);
});

test.serial(
  'A210: fills and settlements are filtered, and each page follows the last',
  async (t) => {
    const { trader } = maker;
    const all = await maker.allFills();
    for (const ticker of TICKERS) {
      const { data } = await trader.portfolio.getFills(
        ticker,
        undefined,
        undefined,
        undefined,
        1000,
      );
      t.deepEqual(
        data.fills,
        all.filter((fill) => fill.ticker === ticker),
      );
    }
    const [first] = all;
    const { data: ofOrder } = await trader.portfolio.getFills(undefined, first!.order_id);
    t.deepEqual(
      ofOrder.fills,
      all.filter(({ order_id: id }) => id === first!.order_id),
    );
    const at = first!.ts!;
    const times = [undefined, undefined, at, at] as const;
    const { data: then } = await trader.portfolio.getFills(...times, 1000);
    t.deepEqual(
      then.fills,
      all.filter(({ ts }) => ts === at),
    );
    const rows = await settlements(trader);
    for (const row of rows) {
      const isWon = row.ticker === WON;
      t.like(row, {
        ...{ event_ticker: EVENT, market_result: isWon ? 'yes' : 'no', value: isWon ? 100 : 0 },
        settled_time: new Date(START_MS + SECONDS * 1000).toISOString(),
      });
      const count = isWon ? row.yes_count_fp : row.no_count_fp;
      t.is(row.revenue, Number(count) * 100);
      const { data } = await trader.portfolio.getSettlements(10, undefined, row.ticker);
      t.deepEqual(data.settlements, [row]);
    }
    const before = START_MS / 1000 + SECONDS - 5;
    const early = [10, undefined, undefined, undefined, undefined, before] as const;
    t.deepEqual((await trader.portfolio.getSettlements(...early)).data.settlements, []);
  },
);

test.serial('A223: orders of a page may be canceled before the next page is read', async (t) => {
  const { paperbook, origin } = await theDay();
  const trader = await newTrader({ origin, paperbook }, 'enterprise');
  const { trader: rich } = maker;
  const { data: first } = await rich.orders.getOrders(
    ...([undefined, undefined, undefined, undefined, 'canceled', 2] as const),
  );
  t.is(first.orders.length, 2);
  // A cursor of another account names nothing here.
  const refused = await trader.call('GET', `/portfolio/orders?limit=2&cursor=${first.cursor}`);
  t.is(refused.status, 400);
  t.is(refused.json.error.code, 'invalid_parameters');
  // A row that has left the filter still says where the page ended.
  const executed = await rich.call(
    'GET',
    `/portfolio/orders?status=executed&limit=200&cursor=${first.cursor}`,
  );
  t.is(executed.status, 200, JSON.stringify(executed.json));
});
