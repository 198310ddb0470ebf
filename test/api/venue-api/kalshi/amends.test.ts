/** Post-only orders, changes and groups of orders, as the venue has them. */
import test, { type ExecutionContext } from 'ava';
import {
  AWAY,
  type Called,
  HOME,
  newTrader,
  order,
  venueServer as server,
} from './venue-client.ts';

function isRefused(t: ExecutionContext, called: Called, status: number, code: string): string {
  t.is(called.status, status, JSON.stringify(called.json));
  t.is(called.json.error.code, code, JSON.stringify(called.json));
  return called.json.error.details;
}

test.serial('A220: post_only never takes', async (t) => {
  const trader = await newTrader(await server());
  const body = order({ post_only: true, price: '0.43' });
  const taking = await trader.call('POST', '/portfolio/events/orders', { body });
  t.is(isRefused(t, taking, 400, 'invalid_order'), 'post only cross');
  const { data } = await trader.orders.createOrderV2(order({ post_only: true, price: '0.42' }));
  t.like(data, { fill_count: '0.00', remaining_count: '10.00' });
  const ioc = { ...body, time_in_force: 'immediate_or_cancel' };
  const refused = await trader.call('POST', '/portfolio/events/orders', { body: ioc });
  isRefused(t, refused, 400, 'invalid_parameters');
});

test.serial('A220: an order is amended and decreased, and keeps its id', async (t) => {
  const trader = await newTrader(await server());
  for (const [side, price, next] of [
    ['bid', '0.30', '0.31'],
    ['ask', '0.70', '0.69'],
  ] as const) {
    const { data: placed } = await trader.orders.createOrderV2(order({ side, price }));
    const id = placed.order_id;
    const change = {
      ticker: AWAY,
      side,
      price: next,
      count: '12',
      updated_client_order_id: `${side}-2`,
    };
    const { data: amended } = await trader.orders.amendOrderV2(id, change);
    t.like(amended, { order_id: id, remaining_count: '12.00', client_order_id: `${side}-2` });
    t.like((await trader.orders.getOrder(id)).data.order, {
      ...{
        yes_price_dollars: `${next}00`,
        initial_count_fp: '12.00',
        client_order_id: `${side}-2`,
      },
    });
    const { data: less } = await trader.orders.decreaseOrderV2(id, { reduce_by: '2.00' });
    t.like(less, { order_id: id, remaining_count: '10.00' });
    const { data: to } = await trader.orders.decreaseOrderV2(id, { reduce_to: '3' });
    t.like(to, { remaining_count: '3.00' });
    t.like((await trader.orders.getOrder(id)).data.order, { client_order_id: `${side}-2` });
    const path = `/portfolio/events/orders/${id}`;
    const other = { body: { ...change, ticker: HOME } };
    isRefused(t, await trader.call('POST', `${path}/amend`, other), 400, 'invalid_parameters');
    for (const body of [{}, { reduce_by: '1', reduce_to: '1' }]) {
      isRefused(
        t,
        await trader.call('POST', `${path}/decrease`, { body }),
        400,
        'invalid_parameters',
      );
    }
    const much = { body: { reduce_by: '4' } };
    isRefused(t, await trader.call('POST', `${path}/decrease`, much), 400, 'invalid_count');
    const { data: none } = await trader.orders.decreaseOrderV2(id, { reduce_to: '0' });
    t.like(none, { remaining_count: '0.00' });
    t.like((await trader.orders.getOrder(id)).data.order, { status: 'canceled' });
  }
});

test.serial('A227: an order that a request names otherwise is not changed', async (t) => {
  const trader = await newTrader(await server());
  const first = order({ price: '0.30', client_order_id: 'first' });
  const { data: placed } = await trader.orders.createOrderV2(first);
  await trader.orders.createOrderV2(order({ price: '0.30', client_order_id: 'other' }));
  const path = `/portfolio/events/orders/${placed.order_id}`;
  const change = { ticker: AWAY, side: 'bid', price: '0.31', count: '10' };
  const amend = (more: object) => {
    return trader.call('POST', `${path}/amend`, { body: { ...change, ...more } });
  };
  for (const client_order_id of ['other', 'nobody']) {
    isRefused(t, await amend({ client_order_id }), 400, 'invalid_parameters');
  }
  const renamed = await amend({ client_order_id: 'first', updated_client_order_id: 'second' });
  t.is(renamed.status, 200, JSON.stringify(renamed.json));
  for (const client_order_id of ['second', 'first']) {
    t.is((await amend({ client_order_id })).status, 200);
  }
  isRefused(t, await amend({ client_order_id: 'third' }), 400, 'invalid_parameters');
  isRefused(t, await amend({ exchange_index: 1 }), 400, 'invalid_parameters');
  for (const more of [{ market_ticker: HOME }, { exchange_index: 2 }]) {
    const body = { reduce_by: '1', ...more };
    isRefused(
      t,
      await trader.call('POST', `${path}/decrease`, { body }),
      400,
      'invalid_parameters',
    );
    const orders = [{ order_id: placed.order_id, ...more }];
    const batch = { body: { orders } };
    const { json } = await trader.call('DELETE', '/portfolio/events/orders/batched', batch);
    t.is(json.orders[0].error.code, 'invalid_parameters');
  }
  const body = { reduce_by: '1', market_ticker: AWAY };
  t.is((await trader.call('POST', `${path}/decrease`, { body })).status, 200);
  isRefused(
    t,
    await trader.call('DELETE', `${path}?market_ticker=${HOME}`),
    400,
    'invalid_parameters',
  );
  t.like((await trader.orders.getOrder(placed.order_id)).data.order, {
    ...{ status: 'resting', remaining_count_fp: '9.00', yes_price_dollars: '0.3100' },
  });
  t.is((await trader.call('DELETE', `${path}?market_ticker=${AWAY}`)).status, 200);
  for (const more of [{ subaccount: 1 }, { exchange_index: 1 }]) {
    const group = { body: { contracts_limit: 5, ...more } };
    const made = await trader.call('POST', '/portfolio/order_groups/create', group);
    isRefused(t, made, 400, 'invalid_parameters');
  }
});

test.serial(
  'A220, T201: an amend that trades at once closes what is held, and opens the rest',
  async (t) => {
    const trader = await newTrader(await server());
    await trader.orders.createOrderV2(order({ count: '4' }));
    const ask = order({ side: 'ask', count: '10', price: '0.60' });
    const { data: placed } = await trader.orders.createOrderV2(ask);
    const change = { ticker: AWAY, side: 'ask' as const, price: '0.40', count: '10' };
    const { data: amended } = await trader.orders.amendOrderV2(placed.order_id, change);
    t.like(amended, { fill_count: '10.00', remaining_count: '0.00', average_fill_price: '0.4000' });
    const { data: fills } = await trader.portfolio.getFills(AWAY, placed.order_id);
    t.deepEqual(fills.fills.map(({ count_fp }) => count_fp).sort(), ['4.00', '6.00']);
    const { data: held } = await trader.portfolio.getPositions();
    t.like(held.market_positions[0], { position_fp: '-6.00', realized_pnl_dollars: '-0.1200' });
    // Four bought at 43 and sold at 40, and six no at 60.
    t.is((await trader.portfolio.getBalance()).data.balance, 10_000_000 - 4 * 43 + 4 * 40 - 6 * 60);
  },
);

test.serial(
  'A221: a group is triggered, limited and reset, and stays shut until then',
  async (t) => {
    const trader = await newTrader(await server());
    const { data: made } = await trader.groups.createOrderGroup({ contracts_limit: 5 });
    const id = made.order_group_id;
    const place = async (price: string, count: string) => {
      const body = order({ order_group_id: id, price, count });
      return trader.call('POST', '/portfolio/events/orders', { body });
    };
    const statusOf = async (called: Called) => {
      return (await trader.orders.getOrder(called.json.order_id)).data.order.status;
    };
    const first = await place('0.30', '2');
    t.is((await trader.groups.triggerOrderGroup(id)).status, 200);
    t.is(await statusOf(first), 'canceled');
    isRefused(t, await place('0.30', '2'), 400, 'invalid_order');
    t.is((await trader.groups.resetOrderGroup(id)).status, 200);
    const second = await place('0.30', '2');
    t.is(second.status, 201);
    t.is((await place('0.50', '4')).status, 201);
    const limit = { contracts_limit: 9, contracts_limit_fp: '9.00' };
    t.is((await trader.groups.updateOrderGroupLimit(id, limit)).status, 200);
    t.is((await trader.groups.getOrderGroup(id)).data.contracts_limit_fp, '9.00');
    t.is(await statusOf(second), 'resting');
    // Four have traded: less room ends the others.
    t.is((await trader.groups.updateOrderGroupLimit(id, { contracts_limit: 4 })).status, 200);
    t.is(await statusOf(second), 'canceled');
    isRefused(t, await place('0.30', '2'), 400, 'invalid_order');
    const path = `/portfolio/order_groups/${id}`;
    t.is((await trader.call('PUT', `${path}/reset`, { body: {} })).status, 200);
    t.is((await place('0.30', '2')).status, 201);
    for (const body of [{}, { contracts_limit: 3, contracts_limit_fp: '4' }]) {
      isRefused(t, await trader.call('PUT', `${path}/limit`, { body }), 400, 'invalid_parameters');
    }
    for (const count of [0, -1, 1_000_001]) {
      const called = await trader.call('PUT', `${path}/limit`, {
        body: { contracts_limit: count },
      });
      t.is(called.status, 400, JSON.stringify(called.json));
    }
    const other = await newTrader(await server());
    isRefused(t, await other.call('PUT', `${path}/reset`), 404, 'not_found');
    isRefused(t, await other.call('PUT', `${path}/trigger`), 404, 'not_found');
  },
);

test.serial('A221: a group cancels its orders once it has traded its contracts', async (t) => {
  const trader = await newTrader(await server());
  const { data: group } = await trader.groups.createOrderGroup({ contracts_limit: 5 });
  const order_group_id = group.order_group_id;
  const { data: resting } = await trader.orders.createOrderV2(
    order({ order_group_id, price: '0.30' }),
  );
  const { data: shown } = await trader.groups.getOrderGroup(order_group_id);
  t.like(shown, { contracts_limit_fp: '5.00', orders: [resting.order_id] });
  t.is((await trader.groups.getOrderGroups()).data.order_groups?.length, 1);
  await trader.orders.createOrderV2(order({ order_group_id, count: '5' }));
  const { data: one } = await trader.orders.getOrder(resting.order_id);
  t.like(one.order, { status: 'canceled', order_group_id });
  const body = order({ order_group_id });
  isRefused(
    t,
    await trader.call('POST', '/portfolio/events/orders', { body }),
    400,
    'invalid_order',
  );
  t.is((await trader.groups.deleteOrderGroup(order_group_id)).status, 200);
  isRefused(
    t,
    await trader.call('GET', `/portfolio/order_groups/${order_group_id}`),
    404,
    'not_found',
  );
});
