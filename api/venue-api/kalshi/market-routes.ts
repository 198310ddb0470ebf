/**
 * Market data: exchange, markets, books, trades, candlesticks, events, series and milestones. Rules
 * A205, A207, A208 (api/RULES.md).
 */
import { type TUnknown, Type } from '@sinclair/typebox';
import {
  type EpochMs,
  HOME_VENUE,
  instantOf,
  type MarketNumber,
  PAYOUT_CENTS,
  type Uuid,
} from '../../../engine/base/units.ts';
import type { TradeView } from '../../../engine/history/rows-text.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, open, type Route } from '../../dispatch/route.ts';
import type { ServerContext } from '../../operations/server-context.ts';
import type { EmbeddedHistory } from '../../read-side/history-source.ts';
import { type LiveMarkets, tradeId, type VenueTrade } from './live-markets.ts';
import {
  bookView,
  eventView,
  MARKET_STATES,
  type MarketState,
  marketView,
  milestoneView,
  type SeriesFee,
  seriesView,
  statusOf,
  timesOf,
  tradeView,
} from './market-views.ts';
import { idOf, type VenueEvent, type VenueMarket, type VenueMarkets } from './markets.ts';
import { invalidParameters, notFound } from './refusals.ts';
import { Asked, dollars, fp, pageOf, seconds } from './words.ts';

export type MarketContext = Pick<
  ServerContext,
  'engine' | 'fees' | 'history' | 'switches' | 'catalog'
> & { markets: VenueMarkets; live: LiveMarkets };

type Read<P> = {
  path: string;
  read: (asked: Asked) => P;
  run(call: { caller: Caller; param: string; query: P }): string | Promise<string>;
};

const SHARED = {
  method: 'GET',
  scope: 'markets:read',
  isPublic: true,
  query: NoQuery,
  response: Type.Unknown(),
} as const;

/** A read of what the venue shows: it needs the switch. */
function priced<P>({ path, read, run }: Read<P>): Route<Caller> {
  return keyed<Caller, typeof NoQuery, TUnknown, P>({
    ...SHARED,
    path,
    needs: 'venueData',
    mayBeUnavailable: true,
    readQuery: (text) => read(new Asked(text)),
    run,
  });
}

/** A read of what the catalog says, without prices. */
function unpriced<P>({ path, read, run }: Read<P>): Route<Caller> {
  const readQuery = (text: string) => read(new Asked(text));
  return keyed<Caller, typeof NoQuery, TUnknown, P>({ ...SHARED, path, readQuery, run });
}

const nothing = () => null;

export function marketRoutes(context: MarketContext): Route<Caller>[] {
  return [
    ...exchangeRoutes(context),
    ...tradeRoutes(context),
    ...bookRoutes(context),
    ...candleRoutes(context),
    listMarkets(context),
    getMarket(context),
    ...eventRoutes(context),
    ...seriesRoutes(context),
    ...milestoneRoutes(context),
  ];
}

function exchangeRoutes({ engine, switches }: MarketContext): Route<Caller>[] {
  const anyone = { method: 'GET', query: NoQuery, response: Type.Unknown() } as const;
  const hours = [{ open_time: '00:00', close_time: '00:00' }];
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
  const always = {
    ...{ start_time: '2020-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' },
    ...Object.fromEntries(days.map((day) => [day, hours])),
  };
  return [
    open({
      ...anyone,
      path: '/v2/exchange/status',
      run: () => {
        const isReady = engine.state() === 'ready';
        return JSON.stringify({
          exchange_active: isReady,
          trading_active: isReady && switches.trading,
          exchange_estimated_resume_time: null,
        });
      },
    }),
    open({
      ...anyone,
      path: '/v2/exchange/schedule',
      run: () =>
        JSON.stringify({ schedule: { standard_hours: [always], maintenance_windows: [] } }),
    }),
    open({
      ...anyone,
      path: '/v2/exchange/announcements',
      run: () => JSON.stringify({ announcements: [] }),
    }),
  ];
}

/** The venue's word for a filter, and the states that it takes. */
const STATES_OF: Readonly<Record<string, readonly MarketState[]>> = {
  unopened: ['initialized'],
  open: ['active'],
  paused: ['inactive'],
  closed: ['closed'],
  settled: ['finalized'],
  ...Object.fromEntries(MARKET_STATES.map((state) => [state, [state]])),
};

type Listed = { market: VenueMarket; state: MarketState };

/** Markets with their states, without prices. */
async function listed(
  { live, engine }: MarketContext,
  { user }: Caller,
  markets: readonly VenueMarket[],
) {
  const nowMs = engine.nowMs();
  const outcomes = await live.outcomes(user.id, markets);
  return markets.map((market, at) => {
    const told = live.told(market.market);
    const { closesAtMs } = timesOf(market, told.closesAtMs);
    const outcome = outcomes[at]!;
    const state = statusOf(market, told.status, outcome, nowMs, closesAtMs);
    return { market, outcome, state, closesAtMs };
  });
}

async function shown(context: MarketContext, caller: Caller, markets: readonly VenueMarket[]) {
  const { live, engine } = context;
  const [tops, outcomes] = await Promise.all([
    live.tops(markets),
    live.outcomes(caller.user.id, markets),
  ]);
  // Prices that were read while venue data was on are not sent once it is off.
  context.switches.requireVenueData();
  const nowMs = engine.nowMs();
  return markets.map((market, at) => {
    return marketView(market, { top: tops[at]!, outcome: outcomes[at]! }, { live, nowMs });
  });
}

function listMarkets(context: MarketContext): Route<Caller> {
  const { markets } = context;
  return priced({
    path: '/v2/markets',
    read: (query) => ({
      limit: query.integer('limit', { min: 1, max: 1000 }) ?? 100,
      cursor: query.text('cursor'),
      event: query.list('event_ticker', 10),
      series: query.text('series_ticker'),
      tickers: query.list('tickers', 1000),
      states: statesIn(query.list('status', 8)),
      closes: rangeIn(query, 'close'),
      created: rangeIn(query, 'created'),
      settles: rangeIn(query, 'settled'),
      // Updates are not known, so none is left out.
      updated: query.time('min_updated_ts'),
      combos: query.oneOf('mve_filter', ['only', 'exclude']),
    }),
    run: async ({ caller, query }) => {
      const { event, series, tickers, states, closes, created, settles } = query;
      const named =
        tickers === null
          ? markets.all()
          : tickers.flatMap((ticker) => markets.find(ticker) ?? []).sort(byTicker);
      const wanted = named.filter(
        (market) =>
          // A combination of several markets is none here.
          query.combos !== 'only' &&
          (event === null || event.includes(market.event)) &&
          (series === null || market.series === series) &&
          isIn(created, Math.max(0, market.entry.opensAtMs)),
      );
      const rows: Pick<Listed, 'market'>[] =
        states === null && closes === null && settles === null
          ? wanted.map((market) => ({ market }))
          : (await listed(context, caller, wanted)).filter(
              ({ state, closesAtMs, outcome }) =>
                (states === null || states.includes(state)) &&
                isIn(closes, closesAtMs) &&
                isIn(settles, outcome?.atMs ?? null),
            );
      const page = pageOf(rows, ({ market }) => market.ticker, query);
      const views = await shown(
        context,
        caller,
        page.rows.map(({ market }) => market),
      );
      return JSON.stringify({ markets: views, cursor: page.cursor });
    },
  });
}

type Range = { fromMs: EpochMs; toMs: EpochMs };

/** `min_…_ts` and `max_…_ts`; null: neither is given. */
function rangeIn(query: Asked, of: 'close' | 'created' | 'settled'): Range | null {
  const [from, to] = [query.time(`min_${of}_ts`), query.time(`max_${of}_ts`)];
  if (from === null && to === null) return null;
  return { fromMs: from ?? Number.NEGATIVE_INFINITY, toMs: to ?? Number.POSITIVE_INFINITY };
}

/** A time that is not known is in no range. */
function isIn(range: Range | null, atMs: EpochMs | null): boolean {
  return range === null || (atMs !== null && atMs >= range.fromMs && atMs <= range.toMs);
}

const byTicker = (a: VenueMarket, b: VenueMarket) => (a.ticker < b.ticker ? -1 : 1);

function statesIn(words: string[] | null): MarketState[] | null {
  if (words === null) return null;
  return words.flatMap((word) => {
    const states = STATES_OF[word];
    if (states === undefined) {
      throw invalidParameters(`status must be one of ${Object.keys(STATES_OF).join(', ')}`);
    }
    return states;
  });
}

function getMarket(context: MarketContext): Route<Caller> {
  return priced({
    path: '/v2/markets/{ticker}',
    read: nothing,
    run: async ({ caller, param }) => {
      const [market] = await shown(context, caller, [context.markets.get(param)]);
      return JSON.stringify({ market });
    },
  });
}

function bookRoutes({ markets, live, switches }: MarketContext): Route<Caller>[] {
  const all = 100;
  return [
    priced({
      path: '/v2/markets/orderbooks',
      read: (query) => {
        const tickers = query.list('tickers', 100);
        if (tickers === null) throw invalidParameters('tickers is required');
        return { tickers };
      },
      run: async ({ query: { tickers } }) => {
        const asked = tickers.map((ticker) => markets.get(ticker));
        const books = await Promise.all(asked.map((market) => live.book(market)));
        switches.requireVenueData();
        const orderbooks = books.map((book, at) => {
          return { ticker: asked[at]!.ticker, orderbook_fp: bookView(book, all) };
        });
        return JSON.stringify({ orderbooks });
      },
    }),
    priced({
      path: '/v2/markets/{ticker}/orderbook',
      // 0: all levels.
      read: (query) => query.integer('depth', { min: 0, max: 100 }) || all,
      run: async ({ param, query: depth }) => {
        const book = await live.book(markets.get(param));
        switches.requireVenueData();
        return JSON.stringify({ orderbook_fp: bookView(book, depth) });
      },
    }),
  ];
}

function historyOf({ history }: MarketContext): EmbeddedHistory {
  if (history.kind !== 'embedded') throw new ApiError('not_configured');
  return history;
}

function tradeRoutes(context: MarketContext): Route<Caller>[] {
  const { markets, live, engine, switches } = context;
  return [
    priced({
      path: '/v2/markets/trades',
      read: (query) => ({
        limit: query.integer('limit', { min: 1, max: 1000 }) ?? 100,
        cursor: query.text('cursor'),
        ticker: query.text('ticker'),
        minMs: query.time('min_ts') ?? 0,
        // Inclusive.
        endMs: (query.time('max_ts') ?? Number.POSITIVE_INFINITY) + 1000,
        isBlock: query.flag('is_block_trade'),
      }),
      run: async ({ caller, query }) => {
        const { limit, cursor, ticker, minMs, endMs, isBlock } = query;
        if (ticker !== null) markets.get(ticker);
        // No list has block trades.
        if (isBlock) return JSON.stringify({ trades: [], cursor: '' });
        if (ticker === null) {
          const recent = live.recentTrades();
          const rows = recent.filter(({ atMs }) => atMs >= minMs && atMs < endMs);
          const page = pageOf(rows, ({ id }) => id, { limit, cursor });
          return JSON.stringify({ trades: page.rows.map(tradeView), cursor: page.cursor });
        }
        const { market } = markets.get(ticker);
        const from = cursor === null ? null : Number(cursor);
        if (from !== null && !Number.isSafeInteger(from))
          throw invalidParameters('cursor is malformed');
        const answer = await historyOf(context).ask(caller.user.id, {
          ...{ kind: 'trades', market, polarity: 1, instrumentId: null, venue: HOME_VENUE },
          ...{ fromMs: minMs, toMs: endMs, nowMs: engine.nowMs(), limit, cursor: from },
        });
        switches.requireVenueData();
        const trades = tradesIn(ticker, JSON.parse(answer.text) as TradeView[]);
        const next = answer.next === null ? '' : String(answer.next);
        return JSON.stringify({ trades: trades.map(tradeView), cursor: next });
      },
    }),
  ];
}

/** Newest first. All of one moment are there, and are counted from the first. */
function tradesIn(ticker: string, rows: readonly TradeView[]): VenueTrade[] {
  let nth = 0;
  return rows
    .toReversed()
    .map((row, at, all): VenueTrade => {
      nth = at > 0 && all[at - 1]!.at === row.at ? nth + 1 : 0;
      const atMs = instantOf(row.at)!;
      const id = tradeId(ticker, atMs, nth);
      const { yesPriceCents, contracts, side } = row;
      return { id, ticker, atMs, yesCents: yesPriceCents, contracts, taker: side };
    })
    .reverse();
}

const INTERVAL_OF: Readonly<Record<number, '1m' | '1h' | '1d'>> = { 1: '1m', 60: '1h', 1440: '1d' };
const CANDLES_MAX = 5000;

type Window = {
  startMs: EpochMs;
  endMs: EpochMs;
  minutes: number;
  /** One that was closed before comes first. */
  hasLatest: boolean;
};

function candleWindow(query: Asked): Window {
  const [startMs, endMs] = [query.time('start_ts'), query.time('end_ts')];
  const minutes = query.integer('period_interval', { min: 1, max: 1440 });
  if (startMs === null) throw invalidParameters('start_ts is required');
  if (endMs === null) throw invalidParameters('end_ts is required');
  if (minutes === null || INTERVAL_OF[minutes] === undefined) {
    throw invalidParameters('period_interval must be 1, 60 or 1440');
  }
  if (endMs < startMs) throw invalidParameters('end_ts must not be before start_ts');
  if ((endMs - startMs) / (minutes * 60_000) > CANDLES_MAX) {
    throw invalidParameters(`the window must have at most ${CANDLES_MAX} candlesticks`);
  }
  return { startMs, endMs, minutes, hasLatest: query.flag('include_latest_before_start') };
}

function candleRoutes(context: MarketContext): Route<Caller>[] {
  const { markets } = context;
  return [
    priced({
      path: '/v2/series/{series}/markets/{ticker}/candlesticks',
      read: candleWindow,
      run: async ({ caller, param, query }) => {
        const [series, ticker] = param.split('/') as [string, string];
        const market = markets.get(ticker);
        if (market.series !== series) throw notFound(`no market of series ${series}`);
        const candlesticks = await candlesOf(context, caller, market, query);
        return JSON.stringify({ ticker, candlesticks });
      },
    }),
    priced({
      path: '/v2/markets/candlesticks',
      read: (query) => {
        const tickers = query.list('market_tickers', 100);
        if (tickers === null) throw invalidParameters('market_tickers is required');
        return { ...candleWindow(query), tickers };
      },
      run: async ({ caller, query: { tickers, ...window } }) => {
        const found = [];
        for (const ticker of tickers) {
          const candlesticks = await candlesOf(context, caller, markets.get(ticker), window);
          found.push({ market_ticker: ticker, candlesticks });
        }
        return JSON.stringify({ markets: found });
      },
    }),
    priced({
      path: '/v2/series/{series}/events/{event}/candlesticks',
      read: candleWindow,
      run: async ({ caller, param, query }) => {
        const [series, name] = param.split('/') as [string, string];
        const event = markets.events().get(name);
        if (event?.series !== series) throw notFound(`no event of series ${series}`);
        const market_candlesticks = [];
        for (const market of event.markets) {
          market_candlesticks.push(await candlesOf(context, caller, market, query));
        }
        return JSON.stringify({
          market_tickers: event.markets.map(({ ticker }) => ticker),
          market_candlesticks,
          adjusted_end_ts: seconds(query.endMs),
        });
      },
    }),
  ];
}

type Ohlc = { open: number; high: number; low: number; close: number };
type CandleView = {
  end: string;
  bid: Ohlc | null;
  ask: Ohlc | null;
  trades: (Ohlc & { contracts: number; vwapCents: number | null }) | null;
};

async function candlesOf(
  context: MarketContext,
  { user }: Caller,
  { market }: VenueMarket,
  { startMs, endMs, minutes, hasLatest }: Window,
) {
  const intervalMs = minutes * 60_000;
  const latest = hasLatest ? await latestBefore(context, user.id, market, startMs) : null;
  const answer = await historyOf(context).ask(user.id, {
    ...{ kind: 'candles', market, polarity: 1, instrumentId: null, venue: HOME_VENUE },
    ...{ fromMs: Math.max(0, startMs - intervalMs), toMs: endMs, nowMs: context.engine.nowMs() },
    ...{ interval: INTERVAL_OF[minutes]!, limit: CANDLES_MAX + 2, cursor: null, tag: '' },
  });
  context.switches.requireVenueData();
  const { candles } = JSON.parse(answer.text) as { candles: CandleView[] };
  const views: object[] = [];
  let previous = latest;
  const add = (endAtMs: EpochMs, { bid, ask, price, contracts }: Shown) => {
    const before = previous === null ? {} : { previous_dollars: dollars(previous) };
    views.push({
      ...{ end_period_ts: seconds(endAtMs), yes_bid: bid, yes_ask: ask },
      ...{ price: { ...price, ...before }, volume_fp: fp(contracts), open_interest_fp: fp(0) },
    });
  };
  const shownFirst = Math.ceil(startMs / intervalMs) * intervalMs;
  const isThere = candles.some(({ end }) => instantOf(end) === shownFirst);
  if (latest !== null && !isThere && shownFirst <= endMs) {
    add(shownFirst, { bid: NO_OHLC, ask: NO_OHLC, price: {}, contracts: 0 });
  }
  for (const { end, bid, ask, trades } of candles) {
    const endAtMs = instantOf(end)!;
    if (endAtMs >= startMs && endAtMs <= endMs) {
      const quoted = { bid: ohlcView(bid ?? EMPTY_BID), ask: ohlcView(ask ?? EMPTY_ASK) };
      add(endAtMs, { ...quoted, price: priceView(trades), contracts: trades?.contracts ?? 0 });
    }
    previous = trades?.close ?? previous;
  }
  return views;
}

type Shown = { bid: object; ask: object; price: object; contracts: number };

/** The close of the last candle with a trade before a time, in cents; null: there is none. */
async function latestBefore(
  context: MarketContext,
  asker: Uuid,
  market: MarketNumber,
  beforeMs: EpochMs,
): Promise<number | null> {
  const answer = await historyOf(context).ask(asker, {
    ...{ kind: 'trades', market, polarity: 1, instrumentId: null, venue: HOME_VENUE },
    ...{ fromMs: 0, toMs: beforeMs, nowMs: context.engine.nowMs(), limit: 1, cursor: null },
  });
  const [last] = JSON.parse(answer.text) as TradeView[];
  return last?.yesPriceCents ?? null;
}

const NO_OHLC = { open_dollars: null, low_dollars: null, high_dollars: null, close_dollars: null };

const flat = (cents: number): Ohlc => ({ open: cents, high: cents, low: cents, close: cents });
const EMPTY_BID = flat(0);
const EMPTY_ASK = flat(PAYOUT_CENTS);

function ohlcView({ open: first, high, low, close }: Ohlc) {
  return {
    ...{ open_dollars: dollars(first), low_dollars: dollars(low) },
    ...{ high_dollars: dollars(high), close_dollars: dollars(close) },
  };
}

/** The prices are absent where nothing traded, as the venue leaves them out. */
function priceView(trades: CandleView['trades']) {
  if (trades === null) return {};
  const { high, low, close, vwapCents } = trades;
  return {
    ...ohlcView(trades),
    ...{ mean_dollars: dollars(vwapCents ?? close), min_dollars: dollars(low) },
    max_dollars: dollars(high),
  };
}

function eventRoutes(context: MarketContext): Route<Caller>[] {
  const { markets } = context;
  return [
    priced({
      path: '/v2/events',
      read: (query) => ({
        limit: query.integer('limit', { min: 1, max: 200 }) ?? 200,
        cursor: query.text('cursor'),
        series: query.text('series_ticker'),
        tickers: query.list('tickers', 200),
        states: statesIn(query.list('status', 8)),
        minCloseMs: query.time('min_close_ts') ?? Number.NEGATIVE_INFINITY,
        isNested: query.flag('with_nested_markets'),
        hasMilestones: query.flag('with_milestones'),
      }),
      run: async ({ caller, query }) => {
        const { series, tickers, states, isNested, minCloseMs } = query;
        let found = [...markets.events().values()].filter(
          (event) =>
            (series === null || event.series === series) &&
            (tickers === null || tickers.includes(event.event)),
        );
        if (states !== null || minCloseMs !== Number.NEGATIVE_INFINITY) {
          const all = await listed(
            context,
            caller,
            found.flatMap((event) => event.markets),
          );
          const fitting = new Set(
            all
              .filter(
                ({ state, closesAtMs }) =>
                  (states === null || states.includes(state)) && closesAtMs >= minCloseMs,
              )
              .map(({ market }) => market.event),
          );
          found = found.filter(({ event }) => fitting.has(event));
        }
        const page = pageOf(found, ({ event }) => event, query);
        const events = [];
        for (const event of page.rows) {
          const nested = isNested ? { markets: await shown(context, caller, event.markets) } : {};
          events.push({ ...eventView(event), ...nested });
        }
        const milestones = query.hasMilestones ? milestonesOf(context, page.rows) : [];
        return JSON.stringify({ events, milestones, cursor: page.cursor });
      },
    }),
    priced({
      path: '/v2/events/{event}',
      read: (query) => query.flag('with_nested_markets'),
      run: async ({ caller, param, query: isNested }) => {
        const event = eventNamed(context, param);
        const views = await shown(context, caller, event.markets);
        const view = eventView(event);
        return JSON.stringify(
          isNested
            ? { event: { ...view, markets: views }, markets: [] }
            : { event: view, markets: views },
        );
      },
    }),
    unpriced({
      path: '/v2/events/{event}/metadata',
      read: nothing,
      run: ({ param }) => {
        const event = eventNamed(context, param);
        const market_details = event.markets.map(({ ticker }) => {
          return { market_ticker: ticker, image_url: '', color_code: '' };
        });
        return JSON.stringify({
          ...{ image_url: '', featured_image_url: '', market_details, settlement_sources: [] },
        });
      },
    }),
  ];
}

function eventNamed({ markets }: MarketContext, name: string): VenueEvent {
  const event = markets.events().get(name);
  if (event === undefined) throw notFound(`no event ${JSON.stringify(name.slice(0, 128))}`);
  return event;
}

function seriesRoutes({ markets, fees, live }: MarketContext): Route<Caller>[] {
  const viewOf = (
    name: string,
    events: readonly VenueEvent[],
    lines: readonly SeriesFee[],
    hasVolume: boolean,
  ) => {
    const view = seriesView(name, events, lines);
    if (!hasVolume) return view;
    const all = events.flatMap((event) => event.markets);
    const contracts = all.reduce((sum, { market }) => sum + live.told(market).contracts, 0);
    return { ...view, volume_fp: fp(contracts) };
  };
  return [
    unpriced({
      path: '/v2/series',
      read: (query) => ({
        category: query.text('category'),
        tags: query.list('tags', 20),
        hasVolume: query.flag('include_volume'),
      }),
      run: ({ query: { category, tags, hasVolume } }) => {
        const lines = fees();
        const series = [...markets.series()]
          .map(([name, events]) => viewOf(name, events, lines, hasVolume))
          .filter(
            (one) =>
              (category === null || one.category === category) &&
              (tags === null || (one.tags?.some((tag) => tags.includes(tag)) ?? false)),
          );
        return JSON.stringify({ series });
      },
    }),
    unpriced({
      path: '/v2/series/{series}',
      read: (query) => query.flag('include_volume'),
      run: ({ param, query: hasVolume }) => {
        const events = markets.series().get(param);
        if (events === undefined)
          throw notFound(`no series ${JSON.stringify(param.slice(0, 128))}`);
        return JSON.stringify({ series: viewOf(param, events, fees(), hasVolume) });
      },
    }),
  ];
}

/** The games of these events, each once. */
function milestonesOf({ engine }: MarketContext, events: Iterable<VenueEvent>) {
  const byGame = new Map<string, VenueEvent[]>();
  for (const event of events) {
    const game = event.markets[0]?.entry.game;
    if (game === undefined || game === null) continue;
    const known = byGame.get(game.id);
    if (known === undefined) byGame.set(game.id, [event]);
    else known.push(event);
  }
  return [...byGame].flatMap(([id, ofGame]) => {
    return milestoneView(idOf(`milestone ${id}`), ofGame, engine.nowMs()) ?? [];
  });
}

function milestoneRoutes(context: MarketContext): Route<Caller>[] {
  const { markets } = context;
  const all = () => milestonesOf(context, markets.events().values());
  return [
    unpriced({
      path: '/v2/milestones',
      read: (query) => {
        const limit = query.integer('limit', { min: 1, max: 500 });
        if (limit === null) throw invalidParameters('limit is required');
        const from = query.text('minimum_start_date');
        const fromMs = from === null ? 0 : (instantOf(from) ?? null);
        if (fromMs === null) throw invalidParameters('minimum_start_date must be a date-time');
        return {
          ...{ limit, cursor: query.text('cursor'), fromMs },
          ...{ category: query.text('category'), type: query.text('type') },
          ...{ event: query.text('related_event_ticker'), source: query.text('source_id') },
          competition: query.text('competition'),
        };
      },
      run: ({ query }) => {
        const { fromMs, category, type, event, source, competition } = query;
        const rows = all().filter(
          (one) =>
            instantOf(one.start_date)! >= fromMs &&
            (category === null || one.category.toLowerCase() === category.toLowerCase()) &&
            (type === null || one.type === type) &&
            (source === null || one.source_id === source) &&
            (competition === null ||
              one.details.league?.toLowerCase() === competition.toLowerCase()) &&
            (event === null || one.related_event_tickers.includes(event)),
        );
        const { rows: milestones, cursor } = pageOf(rows, ({ id }) => id, query);
        return JSON.stringify({ milestones, cursor });
      },
    }),
    unpriced({
      path: '/v2/milestones/{id}',
      read: nothing,
      run: ({ param }) => {
        const milestone = all().find(({ id }) => id === param.toLowerCase());
        if (milestone === undefined) throw notFound('no such milestone');
        return JSON.stringify({ milestone });
      },
    }),
  ];
}
