/** The WebSocket of the venue's own API. */
import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import { ApiError } from '../../../../api/base/errors.ts';
import { VenueApiKeyBook } from '../../../../api/identity/venue-api-key-book.ts';
import { NOON_MS, quoteTick } from '../../../engine/fixtures.ts';
import { startApi } from '../../support.ts';
import {
  AWAY,
  connected,
  HOME,
  newTrader,
  order,
  SOCKET_PATH,
  venueServer as server,
} from './venue-client.ts';

async function start(t: ExecutionContext) {
  const { origin, paperbook } = await server();
  const trader = await newTrader(await server());
  return { trader, paperbook, origin, socket: await connected(t, origin, trader) };
}

test.serial('A215: the handshake is signed; an ended key ends the connection', async (t) => {
  const { origin, paperbook, trader, socket } = await start(t);
  const status = await new Promise((resolve) => {
    const unsigned = new WebSocket(origin.replace('http', 'ws') + SOCKET_PATH);
    unsigned.on('unexpected-response', (_, response) => resolve(response.statusCode));
    unsigned.on('error', () => {});
  });
  t.is(status, 401);
  // A node of a cluster cannot know at times whether a key has ended.
  const { venueApiKeys } = paperbook.identity;
  const { get } = venueApiKeys;
  venueApiKeys.get = () => {
    throw new ApiError('not_leader', { leader: null });
  };
  const unsure = await socket.until(() => socket.code);
  venueApiKeys.get = get;
  t.is(unsure, 1001);
  const next = await connected(t, origin, trader);
  await new VenueApiKeyBook(paperbook.identity).revoke(trader.user.id, trader.keyId);
  t.is(await next.until(() => next.code), 4401);
});

test.serial(
  'A215: commands are acknowledged, and refused by the numbers of the venue',
  async (t) => {
    const { socket } = await start(t);
    const refused = async (id: number, code: number) => {
      const reply = await socket.reply(id);
      t.like(reply, { type: 'error', msg: { code } });
    };
    await refused(socket.send('subscribe'), 2);
    await refused(socket.send('subscribe', {}), 3);
    await refused(socket.send('unsubscribe', {}), 4);
    await refused(socket.send('dance'), 5);
    await refused(socket.send('unsubscribe', { sids: [99] }), 7);
    await refused(socket.send('subscribe', { channels: ['gossip'] }), 8);
    await refused(socket.send('subscribe', { channels: ['trade'], market_ticker: 'KXNONE' }), 11);
    await refused(socket.send('update_subscription', { sids: [1, 2], action: 'x' }), 12);
    await refused(socket.send('subscribe', { channels: ['orderbook_delta'] }), 14);
    socket.raw('no json');
    await socket.until(() => socket.of('error').find(({ msg }) => msg.code === 1));
    const id = socket.send('subscribe', { channels: ['trade', 'fill'] });
    await socket.until(() => socket.of('subscribed').length === 2);
    t.deepEqual(
      socket.of('subscribed').map(({ id: of, msg }) => [of, msg]),
      [
        [id, { channel: 'trade', sid: 1 }],
        [id, { channel: 'fill', sid: 2 }],
      ],
    );
    const listed = await socket.reply(socket.send('list_subscriptions'));
    t.deepEqual(listed.msg, [
      { channel: 'trade', sid: 1 },
      { channel: 'fill', sid: 2 },
    ]);
    await refused(socket.send('update_subscription', { sid: 1, market_tickers: [AWAY] }), 15);
    const update = { sid: 1, action: 'add_markets', market_tickers: [AWAY] };
    const updated = await socket.reply(socket.send('update_subscription', update));
    t.like(updated, { type: 'ok', sid: 1, msg: { market_tickers: [AWAY] } });
    const gone = await socket.reply(socket.send('unsubscribe', { sids: [1] }));
    t.like(gone, { type: 'unsubscribed', sid: 1 });
  },
);

test.serial('A216: a book is a snapshot and then deltas, numbered by subscription', async (t) => {
  const { socket, paperbook } = await start(t);
  socket.send('subscribe', { channels: ['orderbook_delta'], market_tickers: [AWAY, HOME] });
  await socket.until(() => socket.of('orderbook_snapshot').length === 2);
  const away = socket.of('orderbook_snapshot').find(({ msg }) => msg.market_ticker === AWAY);
  t.deepEqual(away.msg.yes_dollars_fp, [['0.4000', '100.00']]);
  t.deepEqual(away.msg.no_dollars_fp, [['0.5700', '100.00']]);
  paperbook.engine.tick(quoteTick({ atMs: NOON_MS, yesBidCents: 41, yesBidContracts: 30 }));
  t.teardown(() => paperbook.engine.tick(quoteTick({ atMs: NOON_MS })));
  await socket.until(() => socket.of('orderbook_delta').length === 2);
  const deltas = socket.of('orderbook_delta').map(({ msg }) => {
    return [msg.side, msg.price_dollars, msg.delta_fp];
  });
  t.deepEqual(deltas.sort(), [
    ['yes', '0.4000', '-100.00'],
    ['yes', '0.4100', '30.00'],
  ]);
  const numbered = socket.messages.filter(({ seq }) => seq !== undefined);
  t.deepEqual(
    numbered.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  const update = { sid: 1, action: 'get_snapshot', market_ticker: AWAY };
  const again = await socket.reply(socket.send('update_subscription', update));
  t.like(again, { type: 'orderbook_snapshot', seq: 5 });
  t.deepEqual(again.msg.yes_dollars_fp, [['0.4100', '30.00']]);
  const yes = { channels: ['orderbook_delta'], market_ticker: HOME, use_yes_price: true };
  socket.send('subscribe', yes);
  const shown = await socket.until(() => {
    return socket.of('orderbook_snapshot').find(({ sid }) => sid === 2);
  });
  t.deepEqual(shown.msg.no_dollars_fp, [['0.4300', '100.00']]);
});

test.serial('A216: a ticker is shown at first and when it changes', async (t) => {
  const { socket, paperbook } = await start(t);
  const ask = { channels: ['ticker'], market_ticker: HOME, send_initial_snapshot: true };
  socket.send('subscribe', ask);
  const first = await socket.first('ticker');
  t.like(first.msg, { market_ticker: HOME, yes_bid_dollars: '0.4000', yes_ask_dollars: '0.4300' });
  t.is(first.seq, undefined);
  paperbook.engine.tick(quoteTick({ market: 1, atMs: NOON_MS, yesAskCents: 44 }));
  t.teardown(() => paperbook.engine.tick(quoteTick({ market: 1, atMs: NOON_MS })));
  const next = await socket.until(() => socket.of('ticker')[1]);
  t.like(next.msg, { yes_ask_dollars: '0.4400' });
});

test.serial(
  'A216: a ticker reaches each of its subscriptions once, whatever its sid, and no other',
  async (t) => {
    const { paperbook, origin, trader, socket } = await start(t);
    const others = [await connected(t, origin, trader), await connected(t, origin, trader)];
    const [second, all] = others as [typeof socket, typeof socket];
    const home = { channels: ['ticker'], market_ticker: HOME, send_initial_snapshot: true };
    socket.send('subscribe', home);
    second.send('subscribe', { channels: ['trade'] });
    second.send('subscribe', home);
    all.send('subscribe', { channels: ['ticker'], send_initial_snapshot: true });
    const asks = (from: typeof socket, sid: number) =>
      from
        .of('ticker')
        .filter(({ sid: of, msg }) => of === sid && msg.market_ticker === HOME)
        .map(({ msg }) => msg.yes_ask_dollars);
    const has = (from: typeof socket, sid: number, count: number) =>
      from.until(() => asks(from, sid).length >= count);
    await Promise.all([has(socket, 1, 1), has(second, 2, 1), has(all, 1, 1)]);
    // The acknowledgement comes first, though a ticker is published.
    t.is(socket.messages[0].type, 'subscribed');
    const change = (yesAskCents: number) =>
      paperbook.engine.tick(quoteTick({ market: 1, atMs: NOON_MS, yesAskCents }));
    t.teardown(() => paperbook.engine.tick(quoteTick({ market: 1, atMs: NOON_MS })));
    change(45);
    await Promise.all([has(socket, 1, 2), has(second, 2, 2), has(all, 1, 2)]);
    for (const [from, sid] of [
      [socket, 1],
      [second, 2],
      [all, 1],
    ] as const) {
      t.deepEqual(asks(from, sid), ['0.4300', '0.4500']);
    }
    await socket.reply(socket.send('unsubscribe', { sids: [1] }));
    await all.reply(
      all.send('update_subscription', {
        ...{ sid: 1, action: 'add_markets', market_ticker: AWAY, skip_ticker_ack: true },
      }),
    );
    change(46);
    await has(second, 2, 3);
    t.deepEqual([asks(socket, 1).length, asks(all, 1).length], [2, 2]);
    t.is(socket.of('ticker').length, 2);
  },
);

test.serial('A228: an update obeys skip_ticker_ack and send_initial_snapshot', async (t) => {
  const { socket } = await start(t);
  socket.send('subscribe', { channels: ['ticker'], market_ticker: AWAY });
  await socket.first('subscribed');
  const add = { sid: 1, action: 'add_markets', market_ticker: HOME };
  const told = await socket.reply(
    socket.send('update_subscription', {
      ...add,
      ...{ skip_ticker_ack: true, send_initial_snapshot: true },
    }),
  );
  t.deepEqual(Object.keys(told).sort(), ['id', 'seq', 'sid', 'type']);
  const shown = await socket.first('ticker');
  t.like(shown.msg, { market_ticker: HOME, yes_bid_dollars: '0.4000' });
  const again = await socket.reply(socket.send('update_subscription', add));
  t.deepEqual(again.msg.market_tickers, [AWAY, HOME]);
});

test.serial(
  'A217: from the acknowledgement on an order, its fill and the position are told once',
  async (t) => {
    const { socket, trader } = await start(t);
    socket.send('subscribe', { channels: ['fill', 'user_orders', 'market_positions'] });
    await socket.until(() => socket.of('subscribed').length === 3);
    await trader.orders.createOrderV2(order({ client_order_id: 'told', count: '2' }));
    const fill = await socket.first('fill');
    const { data } = await trader.portfolio.getFills();
    const same = data.fills.find(({ trade_id: id }) => id === fill.msg.trade_id)!;
    t.like(fill.msg, {
      ...{ order_id: same.order_id, count_fp: '2.00', yes_price_dollars: '0.4300', is_taker: true },
      ...{ market_ticker: AWAY, book_side: 'bid', action: 'buy', purchased_side: 'yes' },
    });
    const done = await socket.until(() => {
      return socket.of('user_order').find(({ msg }) => msg.status === 'executed');
    });
    t.like(done.msg, { order_id: same.order_id, fill_count_fp: '2.00', ticker: AWAY });
    const position = await socket.first('market_position');
    t.like(position.msg, { market_ticker: AWAY, position_fp: fill.msg.post_position_fp });
    const ids = socket.of('fill').map(({ msg }) => msg.trade_id);
    t.is(new Set(ids).size, ids.length);
  },
);

test.serial(
  'A222: what becomes of order groups is told, numbered, and with its limit',
  async (t) => {
    const { socket, trader } = await start(t);
    socket.send('subscribe', { channels: ['order_group_updates'], market_ticker: AWAY });
    await socket.first('subscribed');
    const { data } = await trader.groups.createOrderGroup({ contracts_limit: 3 });
    const order_group_id = data.order_group_id;
    await trader.groups.updateOrderGroupLimit(order_group_id, { contracts_limit: 2 });
    await trader.orders.createOrderV2(order({ order_group_id, count: '2' }));
    await trader.groups.resetOrderGroup(order_group_id);
    await trader.groups.triggerOrderGroup(order_group_id);
    await trader.groups.deleteOrderGroup(order_group_id);
    const told = () => {
      const all = socket.of('order_group_updates');
      return all.filter(({ msg }) => msg.order_group_id === order_group_id);
    };
    await socket.until(() => told().length === 6);
    t.deepEqual(
      told().map(({ msg }) => [msg.event_type, msg.contracts_limit_fp]),
      [
        ['created', '3.00'],
        ['limit_updated', '2.00'],
        ['triggered', undefined],
        ['reset', undefined],
        ['triggered', undefined],
        ['deleted', undefined],
      ],
    );
    t.true(told().every(({ msg }) => Number.isInteger(msg.ts_ms)));
    const numbers = socket.of('order_group_updates').map(({ seq }) => seq);
    t.deepEqual(
      numbers,
      numbers.map((_, at) => at + 1),
    );
  },
);

test.serial(
  'A216, A218: trades and life cycles go to those who follow them, and nothing while dark',
  async (t) => {
    const api = await startApi(t, { env: { PAPERBOOK_VENUE_API: 'kalshi' } });
    const { origin } = new URL(api.baseUrl);
    const trader = await newTrader({ origin, paperbook: { identity: api.store } });
    const socket = await connected(t, origin, trader);
    socket.send('subscribe', { channels: ['trade'], market_tickers: ['T-LIONS'] });
    socket.send('subscribe', { channels: ['market_lifecycle_v2'] });
    await socket.until(() => socket.of('subscribed').length === 2);
    const market = api.context.catalog.instruments().find(({ homeMarkets }) => {
      return api.catalog.marketName(homeMarkets[0] ?? -1) === 'venue_a/T-LIONS';
    })!.homeMarkets[0]!;
    const tick = { source: 0, atMs: NOON_MS } as const;
    const trade = { kind: 'trade', ...tick, yesPriceCents: 41, contracts: 7 } as const;
    api.bus.publish({ ...trade, market, side: 'no' });
    api.bus.publish({ ...trade, market: market + 1, side: 'no' });
    const told = await socket.first('trade');
    t.like(told, { sid: 1, seq: 1 });
    t.like(told.msg, {
      ...{ market_ticker: 'T-LIONS', yes_price_dollars: '0.4100', no_price_dollars: '0.5900' },
      ...{ count_fp: '7.00', taker_outcome_side: 'no', taker_book_side: 'ask' },
    });
    const { data } = await trader.markets.getTrades(10);
    t.is(data.trades.find(({ ticker }) => ticker === 'T-LIONS')!.trade_id, told.msg.trade_id);
    const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
    // Venues repeat what they have said.
    for (let each = 0; each < 2; each++) {
      api.bus.publish({ kind: 'status', ...tick, market, status: each === 0 ? 'open' : 'paused' });
      api.bus.publish({ kind: 'status', ...tick, market, status: each === 0 ? 'open' : 'paused' });
    }
    const closing = { kind: 'closing', ...tick, market, closesAtMs: NOON_MS + 60_000 } as const;
    for (let each = 0; each < 2; each++) api.bus.publish(closing);
    for (let each = 0; each < 2; each++) {
      api.bus.publish({ kind: 'result', ...tick, market, outcome: 'yes', ...payouts });
    }
    await socket.until(() => socket.of('market_lifecycle_v2').at(-1)?.msg.event_type === 'settled');
    t.deepEqual(
      socket.of('market_lifecycle_v2').map(({ msg, seq }) => [msg.event_type, seq]),
      [
        ['deactivated', 1],
        ['close_date_updated', 2],
        ['determined', 3],
        ['settled', 4],
      ],
    );
    t.is(socket.of('trade').length, 1);
    await api.switches.set('venueData', false);
    t.is(await socket.until(() => socket.code), 4401);
  },
);
