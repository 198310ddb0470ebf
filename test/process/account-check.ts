/**
 * One account, read over the API while its trader rests. It adds up, and has every acknowledged
 * order and trade once and nothing else. Rules M20 to M27 (engine/RULES.md).
 */
import { allRows, ask, centsOf, type Json } from './client.ts';
import type { Memory } from './memory.ts';
import type { Trader } from './trader.ts';

const START_CENTS = 10_000_000;
const READS_MAX = 50;

type Breach = (what: string) => void;
type Reading = { portfolio: Json; orders: Json[]; trades: Json[] };

/** Unanswered placements must have been resolved before. */
export async function checkAccount(trader: Trader, breach: Breach): Promise<void> {
  const report = (what: string) => breach(`${trader.name}: ${what}`);
  const reading = await readAtOneMoment(trader);
  checkLists(reading, trader.memory, report);
  checkMoney(reading, report);
}

/** Prices move on: read until nothing happened to the account from the first read to the last. */
async function readAtOneMoment({ token, baseUrl }: Trader): Promise<Reading> {
  for (let read = 0; read < READS_MAX; read++) {
    const portfolio = await ask(token, 'GET', `${baseUrl}/portfolio`);
    const orders = await allRows(token, `${baseUrl}/portfolio/orders`, 'orders');
    const trades = await allRows(token, `${baseUrl}/portfolio/trades`, 'trades');
    const after = await ask(token, 'GET', `${baseUrl}/portfolio`);
    if (cashOf(portfolio) === cashOf(after)) return { portfolio, orders, trades };
  }
  throw new Error(`the account did not rest for ${READS_MAX} reads`);
}

/** Differs after every fill, settlement, expiry and cancel. */
function cashOf({ account }: Json): string {
  const { balanceDollars, heldDollars, openStakeDollars, openPositions, restingOrders } =
    account ?? {};
  return [balanceDollars, heldDollars, openStakeDollars, openPositions, restingOrders].join();
}

function checkLists({ portfolio, orders, trades }: Reading, memory: Memory, report: Breach): void {
  const earlier = [...memory.orders.keys(), ...memory.trades.keys()];
  const openedByOrders = new Set<string>();
  for (const order of orders) {
    memory.sawOrder(order);
    if (order.action === 'buy' && order.filledContracts > 0) openedByOrders.add(order.tradeId);
  }
  for (const trade of trades) memory.sawTrade(trade);
  const orderIds = new Set(orders.map(({ orderId }) => orderId));
  const tradeIds = new Set(trades.map(({ tradeId }) => tradeId));
  if (orderIds.size !== orders.length) report('an order is listed twice');
  if (tradeIds.size !== trades.length) report('a trade is listed twice');
  for (const id of earlier) {
    if (!orderIds.has(id) && !tradeIds.has(id)) report(`acknowledged, and now gone: ${id}`);
  }

  const placed = new Set<string>();
  for (const { body, answer } of memory.placements.values()) {
    if (answer.order !== null) placed.add(answer.order.orderId);
    else if (body.action === 'buy') openedByOrders.add(answer.trade.tradeId);
  }
  reportDifference('an order that nobody placed', orderIds, placed, report);
  reportDifference('an acknowledged order is not listed', placed, orderIds, report);
  reportDifference('a trade of no order', tradeIds, openedByOrders, report);
  reportDifference('an executed buy without its trade', openedByOrders, tradeIds, report);
  checkPortfolioLists({ portfolio, orders, trades }, report);
}

function checkPortfolioLists({ portfolio, orders, trades }: Reading, report: Breach): void {
  const resting = orders.filter(({ status }) => status === 'resting');
  const open = trades.filter(({ status }) => status === 'open');
  if (portfolio.ordersCount !== resting.length) report('ordersCount is not the resting orders');
  if (portfolio.positionsCount !== open.length) report('positionsCount is not the open trades');
  const listed = (rows: Json[], id: string) => new Set(rows.map((row) => row[id]));
  const ids = listed(portfolio.orders, 'orderId');
  reportDifference('listed as resting', ids, listed(resting, 'orderId'), report);
  const positions = listed(portfolio.positions, 'tradeId');
  reportDifference('listed as a position', positions, listed(open, 'tradeId'), report);
}

function checkMoney({ portfolio: { account }, orders, trades }: Reading, report: Breach): void {
  if (account === null) {
    if (orders.length + trades.length > 0) report('orders of an account that is not there');
    return;
  }
  const cents = (field: string) => centsOf(account[field]);
  const sum = (rows: Json[], of: (row: Json) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const open = trades.filter(({ status }) => status === 'open');
  const closed = trades.filter(({ status }) => status !== 'open');
  const held = orders.filter(({ status, action }) => status === 'resting' && action === 'buy');

  const stakeCents = sum(open, ({ costDollars }) => centsOf(costDollars));
  const realizedCents = sum(closed, ({ pnlDollars }) => centsOf(pnlDollars));
  const heldCents = sum(held, ({ limitCents, remainingContracts }) => {
    return limitCents * remainingContracts;
  });
  const sold = openTradesSoldInPart(open, orders);
  const adjustedCents = cents('adjustmentsInRunDollars');
  const moneyCents = cents('balanceDollars') + cents('heldDollars') + cents('openStakeDollars');
  const equal = (what: string, found: number, wanted: number) => {
    if (found !== wanted) report(`${what} is ${found} cents, not ${wanted}`);
  };
  const earnedCents = moneyCents - START_CENTS - adjustedCents - realizedCents;
  const mayBe = earnedCents >= sold.leastCents && earnedCents <= sold.mostCents;
  if (!mayBe) report(`realized P&L is ${earnedCents} cents more than that of its closed trades`);
  equal('open stake', cents('openStakeDollars'), stakeCents);
  equal('held', cents('heldDollars'), heldCents);
  const pnlCents = cents('netWorthDollars') - START_CENTS - adjustedCents;
  equal('pnlSinceResetDollars', cents('pnlSinceResetDollars'), pnlCents);
  if (cents('balanceDollars') < 0) report('the balance is negative');
}

/**
 * What the sold parts of open trades have earned. Prices are shown rounded, against the trader, so
 * it lies between two bounds: both are 0 if nothing was sold in part. Rules T71, T72.
 */
function openTradesSoldInPart(
  open: Json[],
  orders: Json[],
): { leastCents: number; mostCents: number } {
  let [leastCents, mostCents] = [0, 0];
  for (const { tradeId, contracts, costDollars, entryCents } of open) {
    const sells = orders.filter((order) => order.action === 'sell' && order.tradeId === tradeId);
    const parts = sells.filter(({ filledContracts }) => filledContracts > 0);
    if (parts.length === 0) continue;
    const sold = parts.reduce((total, order) => total + order.filledContracts, 0);
    const proceeds = parts.reduce((total, order) => {
      return total + order.fillPriceCents * order.filledContracts;
    }, 0);
    const bought = sold + contracts;
    const leftCents = centsOf(costDollars);
    leastCents += proceeds - (entryCents * bought - leftCents);
    mostCents += proceeds + sold - ((entryCents - 1) * bought - leftCents);
  }
  return { leastCents, mostCents };
}

function reportDifference(
  what: string,
  found: Set<string>,
  allowed: Set<string>,
  report: Breach,
): void {
  for (const id of found) if (!allowed.has(id)) report(`${what}: ${id}`);
}
