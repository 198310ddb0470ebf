/**
 * The account: balance, positions, fills, settlements, orders and their places. Rules A209, A210,
 * A224, A230 (api/RULES.md).
 */
import { type TUnknown, Type } from '@sinclair/typebox';
import {
  type Cents,
  PAYOUT_CENTS,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Switches } from '../../identity/switches.ts';
import type { VenueApiKeyTable } from '../../identity/venue-api-key-book.ts';
import type { RequestMeter } from '../../limits/request-meter.ts';
import type {
  Ledger,
  LedgerFill,
  LedgerOrder,
  LedgerPosition,
  LedgerSettlement,
} from './ledger.ts';
import type { Ledgers, PortfolioView } from './ledgers.ts';
import type { LiveMarkets } from './live-markets.ts';
import type { VenueMarkets } from './markets.ts';
import { invalidParameters, notFound } from './refusals.ts';
import { Asked, centsOf, dollars, fp, pageOf, seconds, timeText } from './words.ts';

export type PortfolioContext = {
  markets: VenueMarkets;
  live: LiveMarkets;
  ledgers: Ledgers;
  meter: Pick<RequestMeter, 'usage'>;
  identity: { venueApiKeys: VenueApiKeyTable };
  switches: Pick<Switches, 'requireVenueData'>;
  nowMs(): number;
};

type Account = { caller: Caller; ledger: Ledger };

/** It needs the switch, since it shows tickers. */
type Read<P> = {
  path: string;
  read: (asked: Asked) => P;
  run(call: Account & { param: string; query: P }): unknown | Promise<unknown>;
};

export function portfolioRoutes(context: PortfolioContext): Route<Caller>[] {
  const { ledgers, switches } = context;
  const shared = { method: 'GET', scope: 'portfolio:read', mayBeUnavailable: true } as const;
  const reads = <P>({ path, read, run }: Read<P>): Route<Caller> =>
    keyed<Caller, typeof NoQuery, TUnknown, P>({
      ...{ ...shared, path, needs: 'venueData', query: NoQuery, response: Type.Unknown() },
      readQuery: (text) => read(new Asked(text).requirePrimary()),
      run: async ({ caller, param, query }) => {
        const { ledger } = await ledgers.current(caller.user);
        switches.requireVenueData();
        return JSON.stringify(await run({ caller, ledger, param, query }));
      },
    });
  /** It shows no ticker and no price of a fill. */
  const dark: Dark = (path, view) =>
    keyed<Caller, typeof NoQuery, TUnknown, Asked>({
      ...{ ...shared, path, query: NoQuery, response: Type.Unknown() },
      readQuery: (text) => new Asked(text).requirePrimary(),
      run: async ({ caller }) => JSON.stringify(view(await ledgers.portfolio(caller.user))),
    });
  return [
    ...balanceRoutes(context, dark),
    ...positionRoutes(context, reads),
    ...orderReads(context, reads),
    ...accountRoutes(context),
  ];
}

type Reads = <P>(read: Read<P>) => Route<Caller>;
type Dark = (path: string, view: (portfolio: PortfolioView) => object) => Route<Caller>;
const nothing = () => null;

/** An account that has not traded yet has what it starts with. */
function centsIn(account: PortfolioView['account']) {
  if (account === null) {
    return { balance: START_BALANCE_CENTS, worth: START_BALANCE_CENTS, held: 0 };
  }
  const { balanceDollars, netWorthDollars, heldDollars } = account;
  return {
    ...{ balance: centsOf(balanceDollars), worth: centsOf(netWorthDollars) },
    held: centsOf(heldDollars),
  };
}

/** They come of the account as it is, so that no log is read for them. Rule A225. */
function balanceRoutes({ nowMs }: PortfolioContext, dark: Dark): Route<Caller>[] {
  return [
    dark('/v2/portfolio/balance', ({ account }) => {
      const { balance, worth, held } = centsIn(account);
      return {
        ...{ balance, balance_dollars: dollars(balance) },
        ...{ portfolio_value: worth - balance - held, updated_ts: seconds(nowMs()) },
        balance_breakdown: [{ exchange_index: 0, balance: dollars(balance) }],
      };
    }),
    dark('/v2/portfolio/summary/total_resting_order_value', ({ account }) => {
      const { held } = centsIn(account);
      return {
        total_resting_order_value: held,
        resting_order_value_breakdown: [{ exchange_index: 0, balance: dollars(held) }],
      };
    }),
    dark('/v2/portfolio/subaccounts/balances', ({ account }) => {
      const { balance } = centsIn(account);
      const updated_ts = seconds(nowMs());
      const primary = { subaccount_number: 0, exchange_index: 0, balance: dollars(balance) };
      return { subaccount_balances: [{ ...primary, updated_ts }] };
    }),
    // Paper money is neither paid in nor out.
    ...(['deposits', 'withdrawals'] as const).map((list) =>
      dark(`/v2/portfolio/${list}`, () => ({ [list]: [], cursor: '' })),
    ),
    dark('/v2/exchange/user_data_timestamp', () => ({ as_of_time: timeText(nowMs()) })),
  ];
}

function pageIn(query: Asked, max: number) {
  return { limit: query.integer('limit', { min: 1, max }) ?? 100, cursor: query.text('cursor') };
}

/** `ticker` and `event_ticker`, which may name several events. */
function filterIn(query: Asked) {
  return { ticker: query.text('ticker'), events: query.list('event_ticker', 10) };
}

type Filter = ReturnType<typeof filterIn>;

function isNamed({ markets }: PortfolioContext, { ticker, events }: Filter, of: number): boolean {
  if (ticker !== null && markets.tickerOf(of) !== ticker) return false;
  return events === null || events.includes(eventOf(markets, of));
}

function eventOf(markets: VenueMarkets, market: number): string {
  const ticker = markets.tickerOf(market);
  return markets.ofNumber(market)?.event ?? ticker.slice(0, Math.max(0, ticker.lastIndexOf('-')));
}

function positionRoutes(context: PortfolioContext, reads: Reads): Route<Caller>[] {
  const { markets } = context;
  return [
    reads({
      path: '/v2/portfolio/positions',
      read: (query) => ({
        ...pageIn(query, 1000),
        ...filterIn(query),
        counts: query.list('count_filter', 4),
      }),
      run: ({ ledger, query }) => {
        const { counts } = query;
        for (const name of counts ?? []) {
          if (!['position', 'total_traded'].includes(name)) {
            throw invalidParameters('count_filter must be position or total_traded');
          }
        }
        const isWanted = (one: LedgerPosition) =>
          isNamed(context, query, one.market) &&
          (counts === null ||
            (counts.includes('position') && one.contracts !== 0) ||
            (counts.includes('total_traded') && one.tradedCents !== 0));
        const keyOf = ({ market }: LedgerPosition) => markets.tickerOf(market);
        const page = pageOf(ledger.positions(), keyOf, query, isWanted);
        return {
          cursor: page.cursor,
          market_positions: page.rows.map((one) => positionView(one, markets)),
          event_positions: eventPositions(page.rows, markets),
        };
      },
    }),
    reads({
      path: '/v2/portfolio/fills',
      read: (query) => ({ ...windowIn(query), order: query.text('order_id') }),
      run: ({ ledger, query }) => {
        const { order } = query;
        const isWanted = (fill: LedgerFill) =>
          isNamed(context, query, fill.market) &&
          isWithin(query, fill.atMs) &&
          (order === null || fill.order === order.toLowerCase());
        const page = pageOf(ledger.fills(), ({ id }) => id, query, isWanted);
        return { cursor: page.cursor, fills: page.rows.map((fill) => fillView(fill, markets)) };
      },
    }),
    reads({
      path: '/v2/portfolio/settlements',
      read: windowIn,
      run: async ({ caller, ledger, query }) => {
        const page = pageOf(
          ledger.settlements(),
          ({ market, atMs }) => `${market} ${atMs}`,
          query,
          ({ market, atMs }) => isNamed(context, query, market) && isWithin(query, atMs),
        );
        const values = await valuesOf(page.rows, context, caller.user.id);
        const settlements = page.rows.map((one, nth) => settlementView(one, values[nth]!, markets));
        return { cursor: page.cursor, settlements };
      },
    }),
  ];
}

/** The page, the market and the times of a list. */
function windowIn(query: Asked) {
  return {
    ...{ ...pageIn(query, 1000), ...filterIn(query) },
    minMs: query.time('min_ts') ?? 0,
    // Inclusive.
    endMs: (query.time('max_ts') ?? Number.POSITIVE_INFINITY) + 1000,
  };
}

function isWithin({ minMs, endMs }: { minMs: number; endMs: number }, atMs: number): boolean {
  return atMs >= minMs && atMs < endMs;
}

const STATUSES = ['resting', 'canceled', 'executed'];

function orderReads(context: PortfolioContext, reads: Reads): Route<Caller>[] {
  const { markets } = context;
  return [
    reads({
      path: '/v2/portfolio/orders',
      read: (query) => ({ ...windowIn(query), statuses: statusesIn(query) }),
      run: ({ caller, ledger, query }) => {
        const { statuses } = query;
        const isWanted = (order: LedgerOrder) =>
          isNamed(context, query, order.market) &&
          isWithin(query, order.placedAtMs) &&
          (statuses === null || statuses.includes(order.status));
        const page = pageOf(ledger.orders(), ({ id }) => id, query, isWanted);
        const orders = page.rows.map((order) => orderView(order, caller, markets));
        return { orders, cursor: page.cursor };
      },
    }),
    reads({
      path: '/v2/portfolio/orders/queue_positions',
      read: (query) => {
        const named = { tickers: query.list('market_tickers', 100), ...filterIn(query) };
        if (named.tickers === null && named.events === null) {
          throw invalidParameters('market_tickers or event_ticker is required');
        }
        return named;
      },
      run: ({ ledger, query: { tickers, ...filter } }) => {
        const resting = ledger.orders().filter(({ status, market }) => {
          const isAsked = tickers === null || tickers.includes(markets.tickerOf(market));
          return status === 'resting' && isAsked && isNamed(context, filter, market);
        });
        const queue_positions = resting.map((order) => ({
          order_id: order.id,
          market_ticker: markets.tickerOf(order.market),
          queue_position_fp: placeView(order),
        }));
        return { queue_positions };
      },
    }),
    reads({
      path: '/v2/portfolio/orders/{orderId}/queue_position',
      read: nothing,
      run: ({ ledger, param }) => {
        const order = orderNamed(ledger, param);
        if (order.status !== 'resting') throw notFound('the order does not rest');
        return { queue_position_fp: placeView(order) };
      },
    }),
    reads({
      path: '/v2/portfolio/orders/{orderId}',
      read: nothing,
      run: ({ caller, ledger, param }) => {
        return { order: orderView(orderNamed(ledger, param), caller, markets) };
      },
    }),
  ];
}

function statusesIn(query: Asked): string[] | null {
  const words = query.list('status', 3);
  for (const word of words ?? []) {
    if (STATUSES.includes(word)) continue;
    throw invalidParameters(`status must be one of ${STATUSES.join(', ')}`);
  }
  return words;
}

function orderNamed(ledger: Ledger, param: string): LedgerOrder {
  const order = ledger.order(param.toLowerCase());
  if (order === undefined) throw notFound('no such order');
  return order;
}

/** Contracts ahead of it, as the queue noted them last; a fill model without queues has none. */
const placeView = ({ aheadE2 }: LedgerOrder) => fp((aheadE2 ?? 0) / 100);

function accountRoutes({ meter, identity }: PortfolioContext): Route<Caller>[] {
  const reads = (path: string, view: (caller: Caller) => unknown): Route<Caller> =>
    keyed({
      ...{ method: 'GET', path, scope: null, query: NoQuery, response: Type.Unknown() },
      readQuery: () => null,
      run: ({ caller }) => JSON.stringify(view(caller)),
    });
  return [
    reads('/v2/account/limits', ({ user }) => {
      const { limit } = meter.usage(user).minute;
      const bucket = { refill_rate: Math.ceil(limit / 60), bucket_capacity: limit };
      return { usage_tier: user.plan, read: bucket, write: bucket, grants: [] };
    }),
    // Every request counts as one, a batch as its orders.
    reads('/v2/account/endpoint_costs', () => ({ default_cost: 1, endpoint_costs: [] })),
    reads('/v2/api_keys', ({ user }) => {
      const api_keys = identity.venueApiKeys.of(user.id).map(({ id, label }) => {
        return { api_key_id: id, name: label, scopes: ['read', 'write'] };
      });
      return { api_keys };
    }),
  ];
}

export function orderView(
  order: LedgerOrder,
  { user }: Pick<Caller, 'user'>,
  markets: VenueMarkets,
) {
  const { id, clientOrderId, side, action, outcome, yesCents, contracts, filled, status } = order;
  const left = status === 'resting' ? contracts - filled : 0;
  const price = yesCents ?? 0;
  return {
    ...{ order_id: id, user_id: user.id, client_order_id: clientOrderId },
    ...{ ticker: markets.tickerOf(order.market), side: outcome, action },
    ...{ outcome_side: side === 'bid' ? 'yes' : 'no', book_side: side },
    ...{ type: yesCents === null ? 'market' : 'limit', status },
    ...{ yes_price_dollars: dollars(price), no_price_dollars: dollars(100 - price) },
    ...{ fill_count_fp: fp(filled), remaining_count_fp: fp(left), initial_count_fp: fp(contracts) },
    ...{ taker_fill_cost_dollars: dollars(order.takerCents) },
    ...{ maker_fill_cost_dollars: dollars(order.makerCents) },
    ...{ taker_fees_dollars: dollars(order.takerFeeCents) },
    ...{ maker_fees_dollars: dollars(order.makerFeeCents) },
    expiration_time: order.expiresAtMs === null ? null : timeText(order.expiresAtMs),
    created_time: timeText(order.placedAtMs),
    last_update_time: timeText(order.updatedAtMs),
    ...{
      self_trade_prevention_type: null,
      order_group_id: order.group,
      cancel_order_on_pause: false,
    },
    ...{ subaccount_number: 0, exchange_index: 0 },
  };
}

export function fillView(fill: LedgerFill, markets: VenueMarkets) {
  const ticker = markets.tickerOf(fill.market);
  return {
    ...{ fill_id: fill.id, trade_id: fill.id, order_id: fill.order, exchange_index: 0 },
    ...{ client_order_id: fill.clientOrderId, ticker, market_ticker: ticker },
    ...{ side: fill.outcome, action: fill.action },
    ...{ outcome_side: fill.side === 'bid' ? 'yes' : 'no', book_side: fill.side },
    ...{ count_fp: fp(fill.contracts), yes_price_dollars: dollars(fill.yesCents) },
    ...{ no_price_dollars: dollars(100 - fill.yesCents), is_taker: fill.isTaker },
    ...{ created_time: timeText(fill.atMs), fee_cost: dollars(fill.feeCents) },
    ...{ subaccount_number: 0, ts: seconds(fill.atMs) },
  };
}

export function positionView(position: LedgerPosition, markets: VenueMarkets) {
  return {
    ticker: markets.tickerOf(position.market),
    exchange_index: 0,
    total_traded_dollars: dollars(position.tradedCents),
    position_fp: fp(position.contracts),
    market_exposure_dollars: dollars(position.costCents),
    realized_pnl_dollars: dollars(position.realizedCents),
    fees_paid_dollars: dollars(position.feesCents),
    last_updated_ts: timeText(position.updatedAtMs),
  };
}

function eventPositions(rows: readonly LedgerPosition[], markets: VenueMarkets) {
  const byEvent = new Map<string, LedgerPosition[]>();
  for (const row of rows) {
    const event = eventOf(markets, row.market);
    const known = byEvent.get(event);
    if (known === undefined) byEvent.set(event, [row]);
    else known.push(row);
  }
  const sum = (of: readonly LedgerPosition[], value: (one: LedgerPosition) => number) =>
    of.reduce((total, one) => total + value(one), 0);
  return [...byEvent].map(([event_ticker, of]) => ({
    event_ticker,
    total_cost_dollars: dollars(sum(of, ({ tradedCents }) => tradedCents)),
    total_cost_shares_fp: fp(sum(of, ({ tradedContracts }) => tradedContracts)),
    event_exposure_dollars: dollars(sum(of, ({ costCents }) => costCents)),
    realized_pnl_dollars: dollars(sum(of, ({ realizedCents }) => realizedCents)),
    fees_paid_dollars: dollars(sum(of, ({ feesCents }) => feesCents)),
  }));
}

/** What a contract of yes was paid, in cents. A void pays cost back, so it has no such value. */
async function valuesOf(
  settlements: readonly LedgerSettlement[],
  { live }: Pick<PortfolioContext, 'live'>,
  asker: Uuid,
): Promise<(Cents | null)[]> {
  const scalars = settlements.filter(({ outcome }) => outcome === 'scalar');
  const results = await live.outcomes(asker, scalars);
  const paid = new Map(scalars.map(({ market }, nth) => [market, results[nth]]));
  return settlements.map(({ outcome, market }) => {
    if (outcome === 'yes') return PAYOUT_CENTS;
    if (outcome === 'no') return 0;
    const result = paid.get(market);
    // A correction may have come since the settlements were read.
    return result?.outcome === 'scalar' ? result.yesPayoutCents : null;
  });
}

/** A void pays cost back: the venue's word for it is a scalar result. */
function settlementView(settlement: LedgerSettlement, value: Cents | null, markets: VenueMarkets) {
  const { market, outcome, yes, no, revenueCents, feesCents, atMs } = settlement;
  const isSided = outcome === 'yes' || outcome === 'no';
  return {
    ...{ ticker: markets.tickerOf(market), exchange_index: 0 },
    event_ticker: eventOf(markets, market),
    market_result: isSided ? outcome : 'scalar',
    ...{ yes_count_fp: fp(yes.contracts), yes_total_cost_dollars: dollars(yes.costCents) },
    ...{ no_count_fp: fp(no.contracts), no_total_cost_dollars: dollars(no.costCents) },
    ...{ revenue: revenueCents, settled_time: timeText(atMs), fee_cost: dollars(feesCents), value },
  };
}
