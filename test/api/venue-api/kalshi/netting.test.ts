/** Netting, reducing, changes and groups of orders, as the venue has them. */
import test, { type ExecutionContext } from 'ava';
import { startWhole } from '../../whole-server.ts';
import {
  AWAY,
  type Called,
  HOME,
  newTrader,
  order,
  venueServer as server,
  venueCatalog,
} from './venue-client.ts';

function isRefused(t: ExecutionContext, called: Called, status: number, code: string): string {
  t.is(called.status, status, JSON.stringify(called.json));
  t.is(called.json.error.code, code, JSON.stringify(called.json));
  return called.json.error.details;
}

test.serial('A211, A219: an ask sells the yes that is held, and opens no beyond it', async (t) => {
  const trader = await newTrader(await server());
  await trader.orders.createOrderV2(order({ count: '10' }));
  const { data: sold } = await trader.orders.createOrderV2(
    order({ side: 'ask', count: '15', price: '0.40', client_order_id: 'through' }),
  );
  t.like(sold, { fill_count: '15.00', remaining_count: '0.00', average_fill_price: '0.4000' });
  const { data } = await trader.portfolio.getFills(AWAY, sold.order_id);
  t.true(
    data.fills.every((fill) => fill.yes_price_dollars === '0.4000' && fill.book_side === 'ask'),
  );
  t.is(
    data.fills.reduce((sum, fill) => sum + Number(fill.count_fp), 0),
    15,
  );
  const { data: held } = await trader.portfolio.getPositions();
  t.like(held.market_positions[0], {
    ...{ position_fp: '-5.00', market_exposure_dollars: '3.0000', realized_pnl_dollars: '-0.3000' },
  });
  const { data: balance } = await trader.portfolio.getBalance();
  t.is(balance.balance, 10_000_000 - 430 + 400 - 300);
  await trader.orders.createOrderV2(order({ count: '5', price: '0.45' }));
  const { data: flat } = await trader.portfolio.getPositions();
  t.like(flat.market_positions[0], { position_fp: '0.00', market_exposure_dollars: '0.0000' });
  // No at 60 was closed by yes at 43: 3 cents less than a dollar for each of 5.
  t.like(flat.market_positions[0], { realized_pnl_dollars: '-0.4500' });
  t.is((await trader.portfolio.getBalance()).data.balance, 10_000_000 - 45);
});

test.serial('A219: a resting ask of what is held holds no money', async (t) => {
  const trader = await newTrader(await server());
  await trader.orders.createOrderV2(order({ count: '10' }));
  const { data: before } = await trader.portfolio.getBalance();
  const { data: resting } = await trader.orders.createOrderV2(
    order({ side: 'ask', count: '10', price: '0.60' }),
  );
  t.like(resting, { remaining_count: '10.00' });
  t.is((await trader.portfolio.getBalance()).data.balance, before.balance);
  t.like((await trader.orders.getOrder(resting.order_id)).data.order, {
    ...{ book_side: 'ask', outcome_side: 'no', yes_price_dollars: '0.6000', status: 'resting' },
  });
  t.like((await trader.orders.cancelOrderV2(resting.order_id)).data, { reduced_by: '10.00' });
});

test.serial('A219: reduce_only takes no more than is held, and nothing is refused', async (t) => {
  const trader = await newTrader(await server());
  await trader.orders.createOrderV2(order({ count: '4' }));
  const reduce = { side: 'ask' as const, price: '0.40', reduce_only: true };
  const { data: reduced } = await trader.orders.createOrderV2(order({ ...reduce, count: '9' }));
  t.like(reduced, { fill_count: '4.00', remaining_count: '0.00', average_fill_price: '0.4000' });
  t.like((await trader.orders.getOrder(reduced.order_id)).data.order, {
    ...{ book_side: 'ask', action: 'sell', side: 'yes', fill_count_fp: '4.00' },
  });
  const { data: held } = await trader.portfolio.getPositions();
  t.like(held.market_positions[0], { position_fp: '0.00', realized_pnl_dollars: '-0.1200' });
  const body = order({ ...reduce, count: '1' });
  isRefused(
    t,
    await trader.call('POST', '/portfolio/events/orders', { body }),
    400,
    'invalid_order',
  );
});

test.serial('A230: the value of a settlement is what yes was paid, a void has none', async (t) => {
  const own = await startWhole(t, { PAPERBOOK_VENUE_API: 'kalshi' }, venueCatalog());
  const trader = await newTrader(own);
  for (const ticker of [AWAY, HOME]) {
    await trader.orders.createOrderV2(order({ ticker, count: '3', client_order_id: ticker }));
  }
  const settle = async (market: string, result: string, correct?: true) => {
    const answer = await fetch(`${own.paperbook.adminUrl}/admin/settlements`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.adminToken}` },
      body: JSON.stringify({ market, result, ...(correct ? { correct } : {}) }),
    });
    t.is(answer.status, 200, await answer.text());
    const { data } = await trader.portfolio.getSettlements(1, undefined, market);
    const [{ market_result, value, revenue }] = data.settlements as [(typeof data.settlements)[0]];
    return [market_result, value, revenue];
  };
  t.deepEqual(await settle(AWAY, '0.3399'), ['scalar', 33, 99]);
  t.deepEqual(await settle(HOME, 'void'), ['scalar', null, 129]);
  t.deepEqual(await settle(HOME, '0.5', true), ['scalar', 50, 150]);
  t.deepEqual(await settle(HOME, 'no', true), ['no', 0, 0]);
  t.deepEqual(await settle(HOME, 'void', true), ['scalar', null, 129]);
});
