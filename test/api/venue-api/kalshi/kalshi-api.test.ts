/** The venue's own API, used by the venue's SDK. */
import test, { type ExecutionContext } from 'ava';
import { VenueApiKeyBook } from '../../../../api/identity/venue-api-key-book.ts';
import type { HistorySource } from '../../../../api/read-side/history-source.ts';
import { NOON_MS } from '../../../engine/fixtures.ts';
import { startApi } from '../../support.ts';
import {
  AWAY,
  type Called,
  DARK,
  EVENT,
  HOME,
  INVERSE,
  newTrader,
  order,
  venueServer as server,
} from './venue-client.ts';

function isRefused(t: ExecutionContext, called: Called, status: number, code: string): void {
  t.is(called.status, status, JSON.stringify(called.json));
  t.is(called.json.error.code, code, JSON.stringify(called.json));
  t.is(typeof called.json.error.message, 'string');
}

test.serial(
  'A202: a request is signed with milliseconds, method and path, without the query',
  async (t) => {
    const trader = await newTrader(await server());
    t.is((await trader.portfolio.getBalance()).status, 200);
    t.is((await trader.call('GET', '/portfolio/fills?limit=5')).status, 200);
    const path = '/portfolio/balance';
    const other = trader.headers('GET', '/trade-api/v2/portfolio/fills');
    const refused = async (headers: Record<string, string>) => {
      const called = await trader.call('GET', path, { headers });
      isRefused(t, called, 401, 'authentication_error');
      return called.json.error.details;
    };
    t.is(await refused(other), 'INCORRECT_API_KEY_SIGNATURE');
    const { origin } = await server();
    const without = await fetch(`${origin}/trade-api/v2${path}`);
    t.is(without.status, 401);
    t.regex(await without.text(), /"code":"authentication_error"/);
    t.is(await refused({ 'KALSHI-ACCESS-KEY': trader.user.id }), 'NOT_FOUND');
    t.is(await refused({ 'KALSHI-ACCESS-SIGNATURE': 'AAAA' }), 'INCORRECT_API_KEY_SIGNATURE');
    const stranger = await newTrader(await server());
    const theirs = trader.headers('GET', `/trade-api/v2${path}`)['KALSHI-ACCESS-SIGNATURE']!;
    const forged = await stranger.call('GET', path, {
      headers: { 'KALSHI-ACCESS-SIGNATURE': theirs },
    });
    isRefused(t, forged, 401, 'authentication_error');
  },
);

test.serial(
  'A202: clocks may differ by 5 seconds, and a repeated request is taken again',
  async (t) => {
    const trader = await newTrader(await server());
    for (const byMs of [-4000, 4000]) {
      const atMs = Date.now() + byMs;
      t.is((await trader.call('GET', '/portfolio/balance', { atMs })).status, 200);
    }
    for (const byMs of [-20_000, 20_000]) {
      const atMs = Date.now() + byMs;
      const called = await trader.call('GET', '/portfolio/balance', { atMs });
      isRefused(t, called, 401, 'authentication_error');
    }
    const headers = trader.headers('GET', '/trade-api/v2/portfolio/balance');
    for (let sent = 0; sent < 3; sent++) {
      t.is((await trader.call('GET', '/portfolio/balance', { headers })).status, 200);
    }
  },
);

test.serial(
  'A201, A202: a revoked pair fails at once, also with a signature that was good',
  async (t) => {
    const { paperbook } = await server();
    const trader = await newTrader(await server());
    const headers = trader.headers('GET', '/trade-api/v2/portfolio/balance');
    t.is((await trader.call('GET', '/portfolio/balance', { headers })).status, 200);
    await new VenueApiKeyBook(paperbook.identity).revoke(trader.user.id, trader.keyId);
    const called = await trader.call('GET', '/portfolio/balance', { headers });
    isRefused(t, called, 401, 'authentication_error');
  },
);

test.serial(
  'A203, A204: refusals have the form of the venue, and unknown parameters are left alone',
  async (t) => {
    const trader = await newTrader(await server());
    isRefused(t, await trader.call('GET', '/no/such'), 404, 'not_found');
    isRefused(t, await trader.call('PUT', '/portfolio/balance'), 405, 'method_not_allowed');
    isRefused(t, await trader.call('GET', '/markets/NONE'), 404, 'not_found');
    isRefused(t, await trader.call('GET', '/markets?limit=0'), 400, 'invalid_parameters');
    const bad = await trader.call('POST', '/portfolio/events/orders', { body: { ticker: AWAY } });
    isRefused(t, bad, 400, 'invalid_parameters');
    t.regex(bad.json.error.details, /side/);
    t.is((await trader.call('GET', '/markets?no_such=1')).status, 200);
    isRefused(
      t,
      await trader.call('GET', '/portfolio/fills?subaccount=2'),
      400,
      'invalid_parameters',
    );
  },
);

test.serial(
  'A205: markets are the home listings with a ticker of the venue, in pages',
  async (t) => {
    const trader = await newTrader(await server());
    const { data } = await trader.markets.getMarkets();
    const all = [DARK, INVERSE, AWAY, HOME];
    t.deepEqual(
      data.markets.map(({ ticker }) => ticker),
      all,
    );
    t.is(data.cursor, '');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { data: page } = await trader.markets.getMarkets(3, cursor);
      seen.push(...page.markets.map(({ ticker }) => ticker));
      cursor = page.cursor;
    } while (cursor !== '');
    t.deepEqual(seen, all);
    const { data: one } = await trader.markets.getMarket(AWAY);
    t.like(one.market, {
      ...{ ticker: AWAY, event_ticker: EVENT, status: 'active', result: '' },
      ...{ yes_bid_dollars: '0.4000', yes_bid_size_fp: '100.00', yes_ask_dollars: '0.4300' },
      ...{
        no_bid_dollars: '0.5700',
        no_ask_dollars: '0.6000',
        price_level_structure: 'linear_cent',
      },
    });
    const { data: dark } = await trader.markets.getMarket(DARK);
    t.like(dark.market, { yes_bid_dollars: '0.0000', yes_ask_dollars: '1.0000' });
    const { data: inverse } = await trader.markets.getMarket(INVERSE);
    t.like(inverse.market, { yes_bid_dollars: '0.4000', yes_ask_dollars: '0.4300' });
    const named = await trader.call('GET', `/markets?event_ticker=${EVENT}&status=open`);
    t.is(named.json.markets.length, 2);
    t.is((await trader.call('GET', '/markets?status=settled')).json.markets.length, 0);
  },
);

test.serial('A205, A206: books have bids of both sides, the best last', async (t) => {
  const trader = await newTrader(await server());
  const { data } = await trader.markets.getMarketOrderbook(AWAY);
  const book = { yes_dollars: [['0.4000', '100.00']], no_dollars: [['0.5700', '100.00']] };
  t.deepEqual(data.orderbook_fp, book);
  t.deepEqual((await trader.markets.getMarketOrderbook(INVERSE)).data.orderbook_fp, book);
  const { data: several } = await trader.markets.getMarketOrderbooks([AWAY, DARK]);
  t.deepEqual(several.orderbooks, [
    { ticker: AWAY, orderbook_fp: book },
    { ticker: DARK, orderbook_fp: { yes_dollars: [], no_dollars: [] } },
  ]);
});

test.serial('A208: events, series, milestones, and what the exchange says', async (t) => {
  const trader = await newTrader(await server());
  const { data: events } = await trader.events.getEvents();
  t.true(events.events.some(({ event_ticker: name }) => name === EVENT));
  const { data: event } = await trader.events.getEvent(EVENT, true);
  t.is(event.event.markets?.length, 2);
  t.is((await trader.markets.getSeries('KXTESTGAME')).data.series.ticker, 'KXTESTGAME');
  t.is((await trader.markets.getSeriesList('Sports')).data.series.length, 3);
  const { data: milestones } = await trader.milestones.getMilestones(10);
  t.is(milestones.milestones.length, 1);
  const [milestone] = milestones.milestones;
  t.true(milestone!.related_event_tickers.includes(EVENT));
  const { data: again } = await trader.milestones.getMilestone(milestone!.id);
  t.is(again.milestone.id, milestone!.id);
  t.like((await trader.exchange.getExchangeStatus()).data, { trading_active: true });
  const { data: hours } = await trader.exchange.getExchangeSchedule();
  t.is(hours.schedule.standard_hours[0]!.monday.length, 1);
  const { data: limits } = await trader.account.getAccountApiLimits();
  t.true(limits.read.bucket_capacity > 0);
  const { data: keys } = await trader.keys.getApiKeys();
  t.like(keys.api_keys[0], { api_key_id: trader.keyId, name: 'bot' });
});

test.serial('A207: trades and candlesticks of a market, in windows that are checked', async (t) => {
  const trader = await newTrader(await server());
  t.deepEqual((await trader.markets.getTrades(100, undefined, AWAY)).data.trades, []);
  const { data } = await trader.markets.getMarketCandlesticks('KXTESTGAME', AWAY, 0, 60, 1);
  t.deepEqual(data, { ticker: AWAY, candlesticks: [] });
  const path = `/series/KXTESTGAME/markets/${AWAY}/candlesticks`;
  for (const query of [
    '',
    '?start_ts=5&end_ts=1&period_interval=1',
    '?start_ts=1&end_ts=2&period_interval=7',
  ]) {
    isRefused(t, await trader.call('GET', path + query), 400, 'invalid_parameters');
  }
  isRefused(
    t,
    await trader.call(
      'GET',
      `/series/KXNONE/markets/${AWAY}/candlesticks?start_ts=1&end_ts=2&period_interval=1`,
    ),
    404,
    'not_found',
  );
});

test.serial('A227: filters of lists are obeyed or refused', async (t) => {
  const trader = await newTrader(await server());
  const tickersOf = async (query: string) => {
    const { markets } = (await trader.call('GET', `/markets?${query}`)).json;
    return markets.map(({ ticker }: { ticker: string }) => ticker);
  };
  const all = await tickersOf('');
  t.true(all.length > 3);
  t.deepEqual(await tickersOf('mve_filter=exclude'), all);
  t.deepEqual(await tickersOf('mve_filter=only'), []);
  t.deepEqual(await tickersOf('max_created_ts=32503680000'), all);
  t.deepEqual(await tickersOf('min_created_ts=32503680000'), []);
  t.deepEqual(await tickersOf('min_settled_ts=1'), []);
  for (const query of ['mve_filter=some', 'min_settled_ts=x', 'max_created_ts=-1']) {
    isRefused(t, await trader.call('GET', `/markets?${query}`), 400, 'invalid_parameters');
  }
});

test.serial('A203, A227: a time of expiry that is over is refused by its own name', async (t) => {
  const trader = await newTrader(await server());
  for (const expiration_time of [5, 9_007_199_254_740_991]) {
    const body = order({ expiration_time });
    const called = await trader.call('POST', '/portfolio/events/orders', { body });
    isRefused(t, called, 400, 'invalid_parameters');
    t.regex(called.json.error.details, /^expiration_time /);
  }
});

test('A227: block trades, volumes and the price before a window are obeyed', async (t) => {
  const day = (minute: number) => new Date(NOON_MS + minute * 60_000).toISOString();
  const history: HistorySource = {
    kind: 'embedded',
    ask: async (_, question) => {
      if (question.kind === 'trades') {
        const isBefore = question.toMs > NOON_MS;
        const trade = { at: day(0), yesPriceCents: 41, contracts: 7, side: 'no', venue: 'venue_a' };
        return { text: JSON.stringify(isBefore ? [trade] : []), next: null };
      }
      const prices = { open: 45, high: 46, low: 44, close: 44 };
      const trades = { ...prices, contracts: 3, vwapCents: 45 };
      const candle = { end: day(30), bid: null, ask: null, trades };
      return { text: JSON.stringify({ candles: [candle] }), next: null };
    },
    tops: async () => [],
    marketNumber: () => undefined,
  };
  const api = await startApi(t, { env: { PAPERBOOK_VENUE_API: 'kalshi' }, history });
  const { origin } = new URL(api.baseUrl);
  const trader = await newTrader({ origin, paperbook: { identity: api.store } });
  const startS = NOON_MS / 1000 + 601;
  const window = `start_ts=${startS}&end_ts=${startS + 3600}&period_interval=1`;
  const path = `/markets/candlesticks?market_tickers=T-LIONS&${window}`;
  const candlesOf = async (query: string) => {
    const { json } = await trader.call('GET', path + query);
    return json.markets[0].candlesticks;
  };
  t.is((await candlesOf('')).length, 1);
  const [first, second] = await candlesOf('&include_latest_before_start=true');
  t.like(first, { end_period_ts: startS + 59, price: { previous_dollars: '0.4100' } });
  t.deepEqual([first.yes_bid.close_dollars, first.volume_fp], [null, '0.00']);
  t.like(second.price, { previous_dollars: '0.4100', close_dollars: '0.4400' });
  const read = async (url: string) => (await trader.call('GET', url)).json;
  const market = api.context.catalog.instruments().find(({ homeMarkets }) => {
    return api.catalog.marketName(homeMarkets[0] ?? -1) === 'venue_a/T-LIONS';
  })!.homeMarkets[0]!;
  api.bus.publish({
    ...({ kind: 'trade', source: 0, atMs: NOON_MS, market } as const),
    ...({ yesPriceCents: 41, contracts: 7, side: 'no' } as const),
  });
  t.is((await read('/markets/trades')).trades.length, 1);
  t.is((await read('/markets/trades?is_block_trade=false')).trades.length, 1);
  t.deepEqual((await read('/markets/trades?is_block_trade=true')).trades, []);
  const { series } = await read('/series?include_volume=true');
  const traded = series.filter(({ volume_fp }: { volume_fp: string }) => volume_fp === '7.00');
  t.is(traded.length, 1);
  const at = `/series/${traded[0].ticker}`;
  t.is((await read(`${at}?include_volume=true`)).series.volume_fp, '7.00');
  t.false('volume_fp' in (await read(at)).series);
});

test.serial('A210, A211: an order fills, is shown as filled, and its money adds up', async (t) => {
  const trader = await newTrader(await server());
  const placed = await trader.orders.createOrderV2(order({ client_order_id: 'first' }));
  t.is(placed.status, 201, JSON.stringify(placed.data));
  t.like(placed.data, {
    ...{ client_order_id: 'first', fill_count: '10.00', remaining_count: '0.00' },
    average_fill_price: '0.4300',
  });
  const id = placed.data.order_id;
  t.like((await trader.orders.getOrder(id)).data.order, {
    ...{ order_id: id, client_order_id: 'first', ticker: AWAY, status: 'executed' },
    ...{ book_side: 'bid', outcome_side: 'yes', yes_price_dollars: '0.5000' },
    ...{ fill_count_fp: '10.00', remaining_count_fp: '0.00', taker_fill_cost_dollars: '4.3000' },
  });
  const { data: fills } = await trader.portfolio.getFills();
  t.is(fills.fills.length, 1);
  t.like(fills.fills[0], {
    ...{ order_id: id, count_fp: '10.00', yes_price_dollars: '0.4300', is_taker: true },
    ...{ book_side: 'bid', fee_cost: '0.0000' },
  });
  const { data: held } = await trader.portfolio.getPositions();
  t.like(held.market_positions[0], {
    ...{ ticker: AWAY, position_fp: '10.00', market_exposure_dollars: '4.3000' },
  });
  t.like(held.event_positions[0], { event_ticker: EVENT, event_exposure_dollars: '4.3000' });
  const { data: balance } = await trader.portfolio.getBalance();
  t.like(balance, {
    balance: 10_000_000 - 430,
    balance_dollars: '99995.7000',
    portfolio_value: 400,
  });
});

test.serial('A211: an order rests, is listed, has a place, and is canceled', async (t) => {
  const trader = await newTrader(await server());
  const { data: placed } = await trader.orders.createOrderV2(order({ price: '0.35', count: '7' }));
  t.like(placed, { fill_count: '0.00', remaining_count: '7.00' });
  const { data: listed } = await trader.orders.getOrders(
    AWAY,
    undefined,
    undefined,
    undefined,
    'resting',
  );
  t.deepEqual(
    listed.orders.map((one) => one.order_id),
    [placed.order_id],
  );
  t.like(listed.orders[0], { yes_price_dollars: '0.3500', no_price_dollars: '0.6500' });
  const { data: place } = await trader.orders.getOrderQueuePosition(placed.order_id);
  t.is(place.queue_position_fp, '0.00');
  const { data: places } = await trader.orders.getOrderQueuePositions(AWAY);
  t.is(places.queue_positions.length, 1);
  const { data: canceled } = await trader.orders.cancelOrderV2(placed.order_id);
  t.like(canceled, { order_id: placed.order_id, reduced_by: '7.00' });
  const again = await trader.call('DELETE', `/portfolio/events/orders/${placed.order_id}`);
  isRefused(t, again, 404, 'not_found');
  const { data: one } = await trader.orders.getOrder(placed.order_id);
  t.like(one.order, { status: 'canceled', remaining_count_fp: '0.00', initial_count_fp: '7.00' });
});

test.serial('A224: nothing is paid in, and there is one subaccount', async (t) => {
  const trader = await newTrader(await server());
  t.deepEqual((await trader.call('GET', '/portfolio/deposits?limit=5')).json, {
    ...{ deposits: [], cursor: '' },
  });
  const { json: out } = await trader.call('GET', '/portfolio/withdrawals');
  t.deepEqual(out, { withdrawals: [], cursor: '' });
  await trader.orders.createOrderV2(order({ count: '10' }));
  const { json } = await trader.call('GET', '/portfolio/subaccounts/balances');
  const [primary] = json.subaccount_balances;
  t.like(primary, { subaccount_number: 0, exchange_index: 0, balance: '99995.7000' });
  const { data: limits } = await trader.account.getAccountEndpointCosts();
  t.deepEqual(limits, { default_cost: 1, endpoint_costs: [] });
});

test.serial(
  'A226: null is as good as a field left out, and a required one must be there',
  async (t) => {
    const trader = await newTrader(await server());
    const nothing = {
      ...{ client_order_id: null, expiration_time: null, self_trade_prevention_type: null },
      ...{ post_only: null, reduce_only: null, cancel_order_on_pause: null, order_group_id: null },
      ...{ subaccount: null, exchange_index: null },
    };
    const path = '/portfolio/events/orders';
    const body = order({ ...nothing, price: '0.2000' });
    const { status, json } = await trader.call('POST', path, { body });
    t.is(status, 201, JSON.stringify(json));
    t.false('client_order_id' in json);
    const at = `${path}/${json.order_id}`;
    const changed = { ticker: AWAY, side: 'bid', price: '0.2100', count: '9' };
    const named = { client_order_id: null, updated_client_order_id: null };
    t.is(
      (await trader.call('POST', `${at}/amend`, { body: { ...changed, ...named } })).status,
      200,
    );
    const fewer = await trader.call('POST', `${at}/decrease`, {
      body: { reduce_by: null, reduce_to: '4' },
    });
    t.is(fewer.json.remaining_count, '4.00');
    const both = { body: { reduce_by: null, reduce_to: null } };
    isRefused(t, await trader.call('POST', `${at}/decrease`, both), 400, 'invalid_parameters');
    const group = { body: { contracts_limit: null, contracts_limit_fp: '5.00' } };
    t.is((await trader.call('POST', '/portfolio/order_groups/create', group)).status, 201);
    for (const over of [{ ticker: null }, { count: null }, { side: null }]) {
      const refused = await trader.call('POST', path, { body: order(over) });
      isRefused(t, refused, 400, 'invalid_parameters');
    }
  },
);

test.serial('A212: prices in whole cents and counts of whole contracts alone', async (t) => {
  const trader = await newTrader(await server());
  const place = (over: object) =>
    trader.call('POST', '/portfolio/events/orders', { body: order(over) });
  for (const price of ['0.4350', '0.00', '1.00', '-0.5', 'x', '.']) {
    isRefused(t, await place({ price }), 400, 'invalid_price');
  }
  for (const count of ['0', '2.50', '-1', '1e3', 'ten']) {
    isRefused(t, await place({ count }), 400, 'invalid_count');
  }
  for (const over of [
    { price: 0.5 },
    { side: 'yes' },
    { time_in_force: 'gtc' },
    { client_order_id: 'with space' },
    { subaccount: 3 },
    { expiration_time: 4_000_000_000, time_in_force: 'fill_or_kill' },
  ]) {
    isRefused(t, await place(over), 400, 'invalid_parameters');
  }
  isRefused(t, await place({ ticker: 'KXNONE-1' }), 404, 'not_found');
  isRefused(t, await place({ cancel_order_on_pause: true }), 400, 'invalid_order');
  t.deepEqual((await trader.orders.getOrders()).data.orders, []);
});

test.serial(
  'A213: the venue takes a client_order_id once; fill or kill is all or nothing',
  async (t) => {
    const trader = await newTrader(await server());
    const place = (over: object) =>
      trader.call('POST', '/portfolio/events/orders', { body: order(over) });
    t.is((await place({ client_order_id: 'once' })).status, 201);
    isRefused(t, await place({ client_order_id: 'once' }), 409, 'order_already_exists');
    const other = await place({ client_order_id: 'once', count: '3' });
    isRefused(t, other, 409, 'order_already_exists');
    const killed = await place({ price: '0.10', time_in_force: 'fill_or_kill' });
    isRefused(t, killed, 409, 'fill_or_kill_insufficient_resting_volume');
    const none = await place({ price: '0.10', time_in_force: 'immediate_or_cancel' });
    t.is(none.status, 201);
    t.like(none.json, { fill_count: '0.00', remaining_count: '0.00' });
    const dear = await place({ count: '900000000' });
    isRefused(t, dear, 400, 'insufficient_balance');
    const poor = await newTrader(await server(), 'none');
    const refused = await poor.call('POST', '/portfolio/events/orders', { body: order() });
    isRefused(t, refused, 403, 'permission_denied');
  },
);

test.serial('A214: batches answer for each order, and cancel each order', async (t) => {
  const trader = await newTrader(await server());
  const resting = order({ price: '0.30', count: '1', client_order_id: 'a' });
  const { data: placed } = await trader.orders.batchCreateOrdersV2({
    orders: [resting, order({ price: '0.305', client_order_id: 'b' }), order({ price: '0.31' })],
  });
  t.is(placed.orders.length, 3);
  const [first, second, third] = placed.orders;
  t.like(first, { client_order_id: 'a', remaining_count: '1.00' });
  t.like(second, { client_order_id: 'b', error: { code: 'invalid_price' } });
  t.is(third!.error, undefined);
  const ids = [first!.order_id!, 'nothing', third!.order_id!];
  const { data: canceled } = await trader.orders.batchCancelOrdersV2({
    orders: ids.map((order_id) => ({ order_id })),
  });
  t.like(canceled.orders[0], { order_id: ids[0]!, reduced_by: '1.00' });
  t.like(canceled.orders[1], { order_id: 'nothing', error: { code: 'not_found' } });
  await trader.orders.createOrderV2(order({ price: '0.30' }));
  await trader.orders.createOrderV2(order({ price: '0.31', ticker: HOME }));
  t.is((await trader.orders.cancelAllOrders()).status, 200);
  const { data: left } = await trader.orders.getOrders(
    undefined,
    undefined,
    undefined,
    undefined,
    'resting',
  );
  t.deepEqual(left.orders, []);
  const { data: all } = await trader.orders.getOrders();
  t.is(all.orders.length, 4);
});

test.serial('A209: what is dark stays dark, and trading off is refused', async (t) => {
  const { paperbook, adminToken } = await server();
  const trader = await newTrader(await server());
  await trader.orders.createOrderV2(order());
  const turn = async (name: 'venue-data' | 'trading', on: boolean) => {
    const response = await fetch(`${paperbook.adminUrl}/admin/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ on }),
    });
    t.is(response.status, 200, await response.text());
  };
  await turn('venue-data', false);
  try {
    for (const path of [
      '/markets',
      `/markets/${AWAY}`,
      '/portfolio/fills',
      '/portfolio/positions',
      '/portfolio/orders',
    ]) {
      isRefused(t, await trader.call('GET', path), 403, 'permission_denied');
    }
    t.is((await trader.call('GET', '/portfolio/balance')).status, 200);
  } finally {
    await turn('venue-data', true);
  }
  await turn('trading', false);
  try {
    const refused = await trader.call('POST', '/portfolio/events/orders', { body: order() });
    isRefused(t, refused, 403, 'permission_denied');
  } finally {
    await turn('trading', true);
  }
});

test.serial('A203: a hard trade limit is 429 with Retry-After', async (t) => {
  const { paperbook } = await server();
  const trader = await newTrader(await server(), 'enterprise');
  const one = { newPerMinute: 1, newPerDay: 100, closingPerMinute: 100 };
  await paperbook.identity.changeUser(trader.user.id, { tradeLimits: { key: one, account: one } });
  const body = order({ price: '0.30' });
  t.is((await trader.call('POST', '/portfolio/events/orders', { body })).status, 201);
  const refused = await trader.call('POST', '/portfolio/events/orders', { body });
  isRefused(t, refused, 429, 'too_many_requests');
  t.true(Number(refused.headers.get('retry-after')) >= 1);
});

test.serial("A210: another account's orders and fills are not found", async (t) => {
  const owner = await newTrader(await server());
  const other = await newTrader(await server());
  const { data: placed } = await owner.orders.createOrderV2(order({ price: '0.30' }));
  const id = placed.order_id;
  isRefused(t, await other.call('GET', `/portfolio/orders/${id}`), 404, 'not_found');
  isRefused(t, await other.call('DELETE', `/portfolio/events/orders/${id}`), 404, 'not_found');
  t.deepEqual((await other.portfolio.getFills()).data.fills, []);
  t.is((await owner.orders.getOrder(id)).data.order.status, 'resting');
});
