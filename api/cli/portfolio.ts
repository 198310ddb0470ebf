/** `paperbook quote`, `portfolio` and `trades`. */
import { type Command, Option } from 'commander';
import type {
  Client,
  Portfolio,
  Position,
  Quote,
  RestingOrder,
  Trade,
  TradesPage,
  VenueQuote,
} from 'paperbook/client';
import {
  type AccountFlags,
  answerOf,
  byKey,
  given,
  headersOf,
  type KeyFlags,
  ofAccount,
  ofKey,
} from './account-connection.ts';
import { wholeNumber } from './admin-connection.ts';
import { type Column, listOf, money, show, tableOf } from './table.ts';

type TradesFlags = AccountFlags & {
  status?: 'open' | 'closed' | 'settled' | 'void';
  limit?: number;
  cursor?: string;
  all?: true;
};

const PAGE_MAX = 200;

export function addPortfolioCommands(program: Command): void {
  ofKey(program.command('quote <instrumentIds...>').description('live prices')).action(quote);
  ofAccount(program.command('portfolio').description('cash, positions, resting orders')).action(
    portfolio,
  );
  ofAccount(program.command('trades').description('positions, open or not, newest first'))
    .addOption(
      new Option('--status <status>', 'only these').choices(['open', 'closed', 'settled', 'void']),
    )
    .option('--limit <n>', 'how many at most; 50 without it', wholeNumber)
    .option('--cursor <cursor>', 'where the page before ended')
    .option('--all', 'every page')
    .action(trades);
}

async function quote(instrumentIds: string[], options: KeyFlags): Promise<void> {
  const { server, client } = byKey(options);
  const asked = client.listQuotes({ query: { ids: instrumentIds.join(',') } });
  const answer = await answerOf(server, asked);
  show(options, answer, ({ quotes }) => tableOf(quotes.flatMap(pricesOf), PRICE_COLUMNS));
  if (answer.notFound.length === 0) return;
  process.stderr.write(`not found: ${answer.notFound.join(' ')}\n`);
  process.exitCode = 1;
}

type Price = { quote: Quote; venue: string; price: VenueQuote | null; note: string | null };

/** A line per venue, also for one without a price. */
function pricesOf(quote: Quote): Price[] {
  return [
    ...quote.venues.map((price) => ({ quote, venue: price.venue, price, note: price.note })),
    ...quote.omitted.map(({ venue, note }) => ({ quote, venue, price: null, note })),
  ];
}

const PRICE_COLUMNS: Column<Price>[] = [
  ['instrument', ({ quote }) => quote.instrumentId, 'apart'],
  ['label', ({ quote }) => quote.label],
  ['venue', ({ venue }) => venue],
  ['bid ¢', ({ price }) => price?.yesBidCents ?? null],
  ['ask ¢', ({ price }) => price?.yesAskCents ?? null],
  ['bid size', ({ price }) => price?.yesBidContracts ?? null],
  ['ask size', ({ price }) => price?.yesAskContracts ?? null],
  ['last ¢', ({ price }) => price?.lastTradeCents ?? null],
  ['note', ({ note }) => note ?? ''],
];

async function portfolio(options: AccountFlags): Promise<void> {
  const { server, client } = byKey(options);
  show(options, await answerOf(server, client.getPortfolio(headersOf(options))), overviewOf);
}

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
    parts.push(tableOf(positions, POSITION_COLUMNS) + cut);
  }
  if (orders.length > 0) {
    parts.push(tableOf(orders, ORDER_COLUMNS) + more(rest.ordersCount, orders.length));
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

const ORDER_COLUMNS: Column<RestingOrder>[] = [
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
  ['profit or loss', ({ pnlDollars }) => money(pnlDollars)],
];

async function trades(options: TradesFlags): Promise<void> {
  const { server, client } = byKey(options);
  const page = await answerOf(server, pagesOf(client, options));
  show(options, page, () => tableOf(page.trades, TRADE_COLUMNS));
  if (page.nextCursor !== null && options.json !== true) {
    process.stderr.write(`more with --cursor ${page.nextCursor}, or --all\n`);
  }
}

/** The requested page, or with `--all` it and all that follow as one. */
async function pagesOf(client: Client, options: TradesFlags): Promise<TradesPage> {
  const { status, all } = options;
  const limit = options.limit ?? (all === true ? PAGE_MAX : undefined);
  const ask = async (cursor: string | undefined) => {
    const query = given({ status, limit, cursor });
    return await client.listTrades({ query, ...headersOf(options) });
  };
  const first = await ask(options.cursor);
  const rows = first.trades;
  let next = first.nextCursor;
  while (all === true && next !== null) {
    const page = await ask(next);
    rows.push(...page.trades);
    next = page.nextCursor;
  }
  return { ...first, trades: rows, nextCursor: next };
}
