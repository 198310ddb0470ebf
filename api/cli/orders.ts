/**
 * `paperbook buy`, `sell`, `amend` and `cancel`. Rules A30, A74, A75, A184, U8, U14, U71, U72, V10
 * (api/RULES.md).
 */
import { Argument, type Command, Option } from 'commander';
import {
  type OrderFields,
  type OrderPlacement,
  type OrderPreview,
  type OrderRequest,
  RefusedError,
} from 'paperbook/client';
import { plain } from '../base/shown-text.ts';
import { newUuid } from '../base/uuid.ts';
import {
  type AccountFlags,
  answerOf,
  byKey,
  given,
  headersOf,
  ofAccount,
} from './account-connection.ts';
import { wholeNumber } from './option-values.ts';
import { pagesOf } from './pages.ts';
import { limitText, money, show, wrapped } from './table.ts';
import { UsageError } from './usage.ts';

type TimeInForce = 'gtc' | 'ioc' | 'fok';
type OrderFlags = AccountFlags & {
  limit?: number;
  tif?: TimeInForce;
  expires?: string;
  routing?: 'venue_a' | 'best';
  idempotencyKey?: string;
  postOnly?: true;
  group?: string;
  preview?: true;
};
type AmendFlags = AccountFlags & { contracts?: number; limit?: number; idempotencyKey?: string };
type BuyFlags = OrderFlags & { ticker?: true; max?: number; prob?: number };
type SellFlags = OrderFlags & { min?: number; instrument?: string };
type Side = 'yes' | 'no';

const OPEN_TRADES_PAGE = 200;

const EXAMPLES = `
Examples:
  paperbook buy ins_4K7Q0R2M9XTB yes 10             at the live price
  paperbook buy ins_4K7Q0R2M9XTB no 10 --limit 38   at 38 cents or better
  paperbook buy --ticker KXEXAMPLE-26 yes 10 --max 45`;

export function addOrderCommands(program: Command): void {
  asOrder(program.command('buy').description('buy contracts, at the live price or by a limit'))
    .argument('<instrument>', 'instrument id, or a venue market with --ticker')
    .addArgument(new Argument('<side>', 'side to buy').choices(['yes', 'no']))
    .argument('<count>', 'contracts', wholeNumber)
    .option('--ticker', "<instrument> is a venue market's ticker; the side is in its terms")
    .option('--max <cents>', 'at the live price, but no higher than this', wholeNumber)
    .option('--prob <percent>', 'your probability of the side, for the record', wholeNumber)
    .addHelpText('after', EXAMPLES)
    .action(buy);
  asOrder(program.command('sell [tradeId]').description('sell a position, all of it'))
    .option('--instrument <id>', 'sell the open position on this instrument; needs no trade id')
    .option('--min <cents>', 'at the live price, but no lower than this', wholeNumber)
    .action(sell);
  ofAccount(
    program.command('amend <orderId>').description('change a resting order, which keeps its id'),
  )
    .option('--contracts <n>', 'contracts of the whole order; fewer keep its place', wholeNumber)
    .option('--limit <cents>', 'new limit price in cents', wholeNumber)
    .option('--idempotency-key <key>', 'key that lets you resend a change and make it once')
    .action(amend);
  ofAccount(program.command('cancel [orderId]').description('cancel a resting order, or all'))
    .option('--all', 'all resting orders of the account')
    .option('--instrument <id>', 'with --all: only orders on this instrument')
    .action(cancel);
}

function asOrder(command: Command): Command {
  return ofAccount(command)
    .option('--limit <cents>', 'limit price in cents; default: the live price', wholeNumber)
    .addOption(
      new Option('--tif <name>', 'lifetime of a limit order; default gtc').choices([
        'gtc',
        'ioc',
        'fok',
      ]),
    )
    .option('--expires <time>', 'end of a gtc order, such as 2026-11-21T05:00:00Z')
    .addOption(
      new Option(
        '--routing <name>',
        'best: use the price of another venue if it is better',
      ).choices(['venue_a', 'best']),
    )
    .option('--post-only', 'a gtc order that only rests; refused where it would take')
    .option('--group <id>', 'order group whose cap the fills count for')
    .option('--idempotency-key <key>', 'key that lets you resend an order and place it once')
    .option('--preview', 'place nothing; print the effect of the order now');
}

async function buy(what: string, side: Side, count: number, options: BuyFlags): Promise<void> {
  const { ticker, max: maxPriceCents, prob: statedProbPct } = options;
  const market = ticker === true ? { ticker: what } : { instrumentId: what };
  const own = given({ maxPriceCents, statedProbPct });
  await place({ action: 'buy', ...market, side, count, ...own, ...termsOf(options) }, options);
}

async function sell(named: string | undefined, options: SellFlags): Promise<void> {
  const { instrument } = options;
  if ((named === undefined) === (instrument === undefined)) {
    throw new UsageError('sell takes either a trade id or --instrument');
  }
  if (instrument !== undefined && options.idempotencyKey !== undefined) {
    throw new UsageError('--idempotency-key needs a trade id: a sold position is closed');
  }
  const terms = { ...given({ minPriceCents: options.min }), ...termsOf(options) };
  const tradeId = named ?? (await openTradeOn(instrument!, options));
  await place({ action: 'sell', tradeId, ...terms }, options);
}

/** The account's one open position on an instrument. */
async function openTradeOn(instrumentId: string, options: SellFlags): Promise<string> {
  const { server, client } = byKey(options);
  const asked = pagesOf('trades', { all: true }, OPEN_TRADES_PAGE, (query) =>
    client.listTrades({ query: { status: 'open', instrumentId, ...query }, ...headersOf(options) }),
  );
  const { trades: found } = await answerOf(server, asked);
  if (found.length === 1) return found[0]!.tradeId;
  if (found.length === 0) throw new Error(`no open position on ${instrumentId}`);
  const each = found.map(({ tradeId, contracts, instrumentSide }) => {
    return `\n  ${tradeId}  ${contracts} ${instrumentSide}`;
  });
  throw new Error(`${found.length} open positions on ${instrumentId}; name one:${each.join('')}`);
}

/** The fields that buying and selling share. */
function termsOf({ limit, tif, expires, routing, ...flags }: BuyFlags & SellFlags) {
  const isLimit = limit !== undefined;
  const { postOnly, group: orderGroupId } = flags;
  if (!isLimit && [tif, expires, postOnly].some((flag) => flag !== undefined)) {
    throw new UsageError('--tif, --expires and --post-only belong to an order with --limit');
  }
  if (isLimit && (flags.max !== undefined || flags.min !== undefined)) {
    throw new UsageError('--max and --min belong to an order at the live price, without --limit');
  }
  const terms = { limitPriceCents: limit, timeInForce: tif, expiresAt: expires, routing };
  const type = isLimit ? ('limit' as const) : ('market' as const);
  return { type, ...given({ ...terms, postOnly, orderGroupId }) };
}

/** Retries under one key while there is no answer, so that the order is placed once. */
async function place(fields: OrderFields, options: SellFlags): Promise<void> {
  // The options of a wrong kind are refused by `termsOf`, or by the server.
  const order = fields as OrderRequest;
  const { server, client } = byKey(options);
  if (options.preview === true) {
    const asked = client.previewOrder({ body: order, ...headersOf(options) });
    return show(options, await answerOf(server, asked), previewOf);
  }
  const idempotencyKey = options.idempotencyKey ?? newUuid(Date.now());
  // Written first, since the command can be interrupted before its answer arrives.
  if (options.json !== true) process.stderr.write(`idempotency key ${idempotencyKey}\n`);
  const asked = client.placeOrder({ body: { ...order, idempotencyKey }, ...headersOf(options) });
  const placed = await answerOf(server, asked).catch((error: Error) => {
    if (error.cause instanceof RefusedError && error.cause.status < 500) throw error;
    const trade = options.instrument && `${fields.tradeId} in place of --instrument and `;
    throw new Error(
      `${error.message}; it may have been placed. The same command with ${trade ?? ''}` +
        `--idempotency-key ${idempotencyKey} shows whether it was, and places it once`,
    );
  });
  show(options, placed, placementOf);
}

/** Rules A75, V10. */
function previewOf({ would, code, fills, costDollars, holdDollars }: OrderPreview): string {
  const hold = `hold ${money(holdDollars)}`;
  // While venue data is off no price-dependent field is shown.
  if (would === null) {
    return wrapped(code === undefined ? `${HIDDEN}, ${hold}` : `would refuse, ${code}, ${hold}`);
  }
  const filled = (fills ?? []).map(({ contracts, priceCents }) => {
    return `, ${contracts} filled at ${priceCents}¢`;
  });
  const cost = costDollars === null ? '' : `, cost ${money(costDollars)}`;
  const why = code === undefined ? '' : `, ${code}`;
  return wrapped(`would ${would}${why}${filled.join('')}${cost}, ${hold}`);
}

const HIDDEN = 'prices are hidden while venue data is off; no other rule refuses the order';

/** Sides in the terms of the instrument, whose label is printed with them. */
function placementOf({ status, order, trade, fillPriceCents, replayed }: OrderPlacement): string {
  const again = replayed ? ' (placed before under this key)' : '';
  if (status !== 'executed') {
    const { orderId, action, contracts, instrumentSide, limitCents, cancelReason } = order!;
    const what = `${action} ${contracts} ${instrumentSide} ${limitText(limitCents)}`;
    const why = cancelReason === null ? '' : `, ${cancelReason}`;
    return wrapped(`${status}: ${what}${why}${again}\norder ${orderId}`);
  }
  const { tradeId, contracts, instrumentSide, instrumentLabel, costDollars, pnlDollars } = trade!;
  const price = fillPriceCents == null ? '' : ` at ${fillPriceCents}¢`;
  const isOpen = pnlDollars === null;
  const outcome = isOpen ? `cost ${money(costDollars)}` : `profit or loss ${money(pnlDollars)}`;
  const did = isOpen ? 'bought' : 'sold';
  const label = plain(instrumentLabel ?? '');
  return wrapped(
    `${did} ${contracts} ${instrumentSide}${price}, ${outcome}${again}  ${label}\ntrade ${tradeId}`,
  );
}

/** Under one key while there is no answer, as a placement. Rule U71. */
async function amend(orderId: string, options: AmendFlags): Promise<void> {
  const { contracts, limit: limitPriceCents } = options;
  if (contracts === undefined && limitPriceCents === undefined) {
    throw new UsageError('amend takes --contracts, --limit or both');
  }
  const { server, client } = byKey(options);
  const idempotencyKey = options.idempotencyKey ?? newUuid(Date.now());
  if (options.json !== true) process.stderr.write(`idempotency key ${idempotencyKey}\n`);
  const body = { idempotencyKey, ...given({ contracts, limitPriceCents }) };
  const asked = client.amendOrder({ path: { orderId }, body, ...headersOf(options) });
  const answer = await answerOf(server, asked).catch((error: Error) => {
    if (error.cause instanceof RefusedError && error.cause.status < 500) throw error;
    throw new Error(
      `${error.message}; it may have been changed. The same command with ` +
        `--idempotency-key ${idempotencyKey} shows whether it was, and changes it once`,
    );
  });
  show(options, answer, ({ order }) => {
    const { status, action, instrumentSide, limitCents, filledContracts } = order;
    const what = `${action} ${order.contracts} ${instrumentSide} ${limitText(limitCents)}`;
    return wrapped(`${status}: ${what}, ${filledContracts} filled\norder ${order.orderId}`);
  });
}

type CancelFlags = AccountFlags & { all?: true; instrument?: string };

async function cancel(orderId: string | undefined, options: CancelFlags): Promise<void> {
  if ((orderId === undefined) === (options.all === undefined)) {
    throw new UsageError('cancel takes an order id, or --all');
  }
  if (orderId === undefined) return cancelAll(options);
  if (options.instrument !== undefined) throw new UsageError('--instrument belongs to --all');
  const { server, client } = byKey(options);
  const asked = client.cancelOrder({ path: { orderId }, ...headersOf(options) });
  const answer = await answerOf(server, asked);
  show(options, answer, ({ order }) => {
    const { action, contracts, instrumentSide, limitCents } = order;
    return `canceled: ${action} ${contracts} ${instrumentSide} ${limitText(limitCents)}\n`;
  });
}

async function cancelAll(options: CancelFlags): Promise<void> {
  const { server, client } = byKey(options);
  const query = given({ instrumentId: options.instrument });
  const answer = await answerOf(server, client.cancelOrders({ query, ...headersOf(options) }));
  show(options, answer, ({ canceled, count }) => {
    const lines = canceled.map((orderId) => `order ${orderId}\n`).join('');
    return `canceled: ${count} ${count === 1 ? 'order' : 'orders'}\n${lines}`;
  });
}
