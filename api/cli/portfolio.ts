/**
 * `paperbook portfolio`, `positions`, `trades`, `orders`, `order` and `receipt`. Rules U12, U13, U64,
 * U48, A159 (api/RULES.md).
 */
import { type Command, Option } from 'commander';
import type {
  Order,
  OrderStatus,
  Portfolio,
  Position,
  RestingOrder,
  Trade,
} from 'paperbook/client';
import {
  type AccountFlags,
  answerOf,
  byKey,
  given,
  headersOf,
  ofAccount,
} from './account-connection.ts';
import { ofPages, type PageFlags, pagesOf, sayMore } from './pages.ts';
import { receiptText } from './receipt-text.ts';
import { type Column, limitText, listOf, money, show, showRows, tableOf } from './table.ts';

type ListFlags = AccountFlags & PageFlags & { instrument?: string; from?: string; to?: string };
type TradesFlags = ListFlags & { status?: 'open' | 'closed' | 'settled' | 'void' };
type OrdersFlags = ListFlags & { status?: OrderStatus; idempotencyKey?: string };

const PAGE_MAX = 200;
const TRADE_STATUSES = ['open', 'closed', 'settled', 'void'] as const;
const ORDER_STATUSES = ['resting', 'executed', 'canceled', 'expired'] as const;

export function addPortfolioCommands(program: Command): void {
  ofAccount(
    program.command('portfolio').description('show cash, positions and resting orders'),
  ).action(portfolio);
  ofAccount(
    program.command('positions').description('show open positions with their value and profit'),
  ).action(positions);
  asList(program.command('trades').description('list positions in any status, newest first'))
    .addOption(new Option('--status <status>', 'only these').choices(TRADE_STATUSES))
    .action(trades);
  asList(program.command('orders').description('list limit orders, newest first'))
    .addOption(new Option('--status <status>', 'only these').choices(ORDER_STATUSES))
    .option('--idempotency-key <key>', 'only the order that was placed with this key')
    .action(orders);
  ofAccount(program.command('order <orderId>').description('show one limit order')).action(order);
  ofAccount(
    program.command('receipt <id>').description('show how a trade or an order was filled, signed'),
  )
    .option('--order', "the id is an order's, not a trade's")
    .action(receipt);
}

function asList(command: Command): Command {
  return ofPages(ofAccount(command))
    .option('--instrument <id>', 'only on this instrument')
    .option('--from <time>', 'only at or after this time: a date, or 2026-11-21T05:00:00Z')
    .option('--to <time>', 'only before this time');
}

function filterOf<Status>({ status, instrument, from, to }: ListFlags & { status?: Status }) {
  return given({ status, instrumentId: instrument, from, to });
}

async function portfolio(options: AccountFlags): Promise<void> {
  const { server, client } = byKey(options);
  show(options, await answerOf(server, client.getPortfolio(headersOf(options))), overviewOf);
}

/** Rule U64 (api/RULES.md). */
async function positions(options: AccountFlags): Promise<void> {
  const { server, client } = byKey(options);
  const answer = await answerOf(server, client.getPortfolio(headersOf(options)));
  const { positions, positionsCount, positionsTruncated, venueData, asOf, mode } = answer;
  const listed = { positions, positionsCount, positionsTruncated, venueData, asOf, mode };
  show(options, listed, () => {
    const { length } = positions;
    const cost = centsOf(positions.map(({ costDollars }) => costDollars));
    const worth = positions.flatMap(({ valueDollars }) => valueDollars ?? []);
    const profit = positions.flatMap((one) => one.unrealizedPnlDollars ?? []);
    const totals: [string, string | number][] = [
      ['Open positions', positionsCount],
      ['Cost', money(cost / 100)],
    ];
    // While venue data is off, nothing that depends on prices is known.
    if (worth.length === length && length > 0) {
      totals.push(['Value', money(centsOf(worth) / 100)]);
      totals.push(['Profit or loss', money(centsOf(profit) / 100)]);
    }
    const sums = listOf(totals, 'right');
    if (length === 0) return sums;
    const shown = positionsTruncated ? `(${positionsCount - length} more are not shown)\n` : '';
    return `${tableOf(positions, [...VALUED_COLUMNS, ...fillColumns(positions)])}${shown}\n${sums}`;
  });
}

const centsOf = (dollars: readonly number[]) =>
  dollars.reduce((sum, each) => sum + Math.round(each * 100), 0);

function overviewOf({ account, positions, orders, ...rest }: Portfolio): string {
  if (account === null) return 'Nothing traded yet.\n';
  const cash = [
    ['Net worth', account.netWorthDollars],
    ['Balance', account.balanceDollars],
    ['Held by orders', account.heldDollars],
    ['Open positions', account.openStakeDollars],
    ['Profit or loss', account.pnlSinceResetDollars],
  ] as const;
  const more = (count: number, shown: number) =>
    count > shown ? `(${count - shown} more are not shown)\n` : '';
  const amounts = cash.map(([name, dollars]) => [name, money(dollars)] as const);
  const parts = [listOf(amounts, 'right')];
  if (positions.length > 0) {
    const cut = more(rest.positionsCount, positions.length);
    parts.push(tableOf(positions, [...VALUED_COLUMNS, ...fillColumns(positions)]) + cut);
  }
  if (orders.length > 0) {
    parts.push(
      tableOf(orders, [...RESTING_COLUMNS, ...waitColumns(orders)]) +
        more(rest.ordersCount, orders.length),
    );
  }
  return parts.join('\n');
}

const POSITION_COLUMNS: Column<Position>[] = [
  ['trade', ({ tradeId }) => tradeId, 'apart'],
  ['label', ({ instrumentLabel }) => instrumentLabel],
  ['side', ({ instrumentSide }) => instrumentSide],
  ['contracts', ({ contracts }) => contracts],
  ['cost', ({ costDollars }) => money(costDollars)],
  ['opened', ({ openedAt }) => openedAt],
];

/** Columns that depend on prices are empty while venue data is off, and without a bid. */
const VALUED_COLUMNS: Column<Position>[] = [
  ...POSITION_COLUMNS.slice(0, -1),
  ['paid ¢', ({ entryCents }) => entryCents ?? null],
  ['bid ¢', ({ markCents }) => markCents ?? null],
  ['value', ({ valueDollars }) => (valueDollars === undefined ? null : money(valueDollars))],
  ['profit or loss', ({ unrealizedPnlDollars: pnl }) => (pnl === undefined ? null : money(pnl))],
  ...POSITION_COLUMNS.slice(-1),
];

type Filled = Pick<Order, 'fillModel' | 'feesDollars'>;

/** Of these rows: their fees and their models, where any has more than the simplest. Rule U48. */
function fillColumns<Row extends Filled>(rows: readonly Row[]): Column<Row>[] {
  const columns: Column<Row>[] = [];
  if (rows.some(({ feesDollars }) => feesDollars !== null)) {
    const fees = ({ feesDollars }: Row) => (feesDollars === null ? null : money(feesDollars));
    columns.push(['fees', fees]);
  }
  if (rows.some(({ fillModel }) => fillModel !== null && fillModel !== 'top_of_book')) {
    columns.push(['fill model', ({ fillModel }) => fillModel]);
  }
  return columns;
}

/** When orders under latency meet the book, if any of these waits for that. Rule U48. */
function waitColumns<Row extends Pick<Order, 'pendingUntil'>>(rows: readonly Row[]): Column<Row>[] {
  if (rows.every(({ pendingUntil }) => pendingUntil === null)) return [];
  return [['meets the book', ({ pendingUntil }) => pendingUntil]];
}

const RESTING_COLUMNS: Column<RestingOrder>[] = [
  ['order', ({ orderId }) => orderId, 'apart'],
  ['label', ({ instrumentLabel }) => instrumentLabel],
  ['action', ({ action }) => action],
  ['side', ({ instrumentSide }) => instrumentSide],
  ['left', ({ remainingContracts }) => remainingContracts],
  ['limit ¢', ({ limitCents }) => limitCents],
  ['expires', ({ expiresAt }) => expiresAt],
];

const TRADE_COLUMNS: Column<Trade>[] = [
  ...(POSITION_COLUMNS as Column<Trade>[]),
  ['status', ({ status }) => status],
  // In the terms of the instrument, as the side is. If the two are equal, the trade won (T4).
  ['result', ({ resolvedOutcome }) => resolvedOutcome],
  ['profit or loss', ({ pnlDollars }) => money(pnlDollars)],
];

async function trades(options: TradesFlags): Promise<void> {
  const { server, client } = byKey(options);
  const filter = filterOf(options);
  const asked = pagesOf('trades', options, PAGE_MAX, (query) =>
    client.listTrades({ query: { ...filter, ...query }, ...headersOf(options) }),
  );
  const page = await answerOf(server, asked);
  const columns = [...TRADE_COLUMNS, ...fillColumns(page.trades)];
  showRows(options, page, 'trades', page.trades, columns);
  sayMore(page, options);
}

async function orders(options: OrdersFlags): Promise<void> {
  const { server, client } = byKey(options);
  const filter = { ...filterOf(options), ...given({ idempotencyKey: options.idempotencyKey }) };
  const asked = pagesOf('orders', options, PAGE_MAX, (query) =>
    client.listOrders({ query: { ...filter, ...query }, ...headersOf(options) }),
  );
  const page = await answerOf(server, asked);
  const { orders } = page;
  const columns = [...ORDER_COLUMNS, ...waitColumns(orders), ...fillColumns(orders)];
  showRows(options, page, 'limit orders', orders, columns);
  sayMore(page, options);
}

const ORDER_COLUMNS: Column<Order>[] = [
  ['order', ({ orderId }) => orderId, 'apart'],
  ['label', ({ instrumentLabel }) => instrumentLabel],
  ['action', ({ action }) => action],
  ['side', ({ instrumentSide }) => instrumentSide],
  ['contracts', ({ contracts }) => contracts],
  ['filled', ({ filledContracts }) => filledContracts],
  ['limit ¢', ({ limitCents }) => limitCents],
  ['status', ({ status }) => status],
  ['placed', ({ createdAt }) => createdAt],
];

async function order(orderId: string, options: AccountFlags): Promise<void> {
  const { server, client } = byKey(options);
  const asked = client.getOrder({ path: { orderId }, ...headersOf(options) });
  show(options, await answerOf(server, asked), ({ order }) => listOf(factsOf(order)));
}

type Fact = [name: string, value: string | number];

function factsOf(order: Order): Fact[] {
  const { status, cancelReason, contracts, filledContracts, fillPriceCents } = order;
  const { action, instrumentSide, limitCents, timeInForce, expiresAt, statedProbPct } = order;
  const price = fillPriceCents == null ? '' : ` at ${fillPriceCents}¢`;
  const lasts =
    expiresAt === null ? (timeInForce ?? 'at once') : `${timeInForce}, until ${expiresAt}`;
  return [
    ['Order', order.orderId],
    ['Instrument', `${order.instrumentLabel ?? '-'} (${order.instrumentId ?? '-'})`],
    ['What', `${action} ${contracts} ${instrumentSide} ${limitText(limitCents)}, ${lasts}`],
    ['Status', cancelReason === null ? status : `${status}, ${cancelReason}`],
    ['Filled', `${filledContracts} of ${contracts}${price}`],
    ...(order.pendingUntil === null ? [] : [['Meets the book', order.pendingUntil] as Fact]),
    ['Fill model', order.fillModel ?? '-'],
    ['Fees', order.feesDollars === null ? '-' : money(order.feesDollars)],
    ['Holds', money(order.holdDollars)],
    ['Probability', statedProbPct === null ? '-' : `${statedProbPct}%`],
    ['Placed', `${order.createdAt} by ${order.placedVia}`],
    ['Trade', order.tradeId ?? '-'],
  ];
}

async function receipt(id: string, options: AccountFlags & { order?: true }): Promise<void> {
  const { server, client } = byKey(options);
  const asked =
    options.order === true
      ? client.getOrderReceipt({ path: { orderId: id }, ...headersOf(options) })
      : client.getTradeReceipt({ path: { tradeId: id }, ...headersOf(options) });
  show(options, await answerOf(server, asked), receiptText);
}
