/**
 * Orders: place, cancel, amend, decrease, one by one and batched, and order groups. Rules A211 to
 * A214, A219 to A221 (api/RULES.md).
 */
import { randomUUID } from 'node:crypto';
import { type Static, type TSchema, type TUnknown, Type } from '@sinclair/typebox';
import {
  type Contracts,
  type EpochMs,
  PAYOUT_CENTS,
  type PriceCents,
  type Uuid,
} from '../../../engine/base/units.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import type {
  ChangeOrderGroup,
  PlaceOrder,
  Reply,
  TradingCommand,
} from '../../../engine/rules/messages.ts';
import type { ReplyHandler } from '../../../engine/shard/callers/send-queue.ts';
import { NoQuery, nullable, oneOf } from '../../base/common-schemas.ts';
import { Refusal } from '../../base/errors.ts';
import { newOrderId } from '../../base/uuid.ts';
import { type BodyReader, optionalBody } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import type { CallerReservation } from '../../dispatch/dispatch.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { countingOf, type PaperAccount, personalAccount } from '../../identity/accounts.ts';
import type { RealismTable } from '../../identity/realism-table.ts';
import { cancelAll } from '../../operations/cancel-all.ts';
import type { ServerContext } from '../../operations/server-context.ts';
import { UNNAMED_CHANGE } from './ledger.ts';
import type { Ledgers } from './ledgers.ts';
import { asked } from './live-markets.ts';
import type { VenueMarkets } from './markets.ts';
import {
  alreadyExists,
  errorOf,
  fokKilled,
  invalidCount,
  invalidOrder,
  invalidParameters,
  notFound,
  refusalOfEngine,
  type VenueErrorView,
} from './refusals.ts';
import { Asked, countIn, dollars, fieldsOf, fp, priceIn } from './words.ts';

export type OrderContext = Pick<ServerContext, 'engine' | 'switches'> & {
  markets: VenueMarkets;
  realism: Pick<RealismTable, 'of'>;
  keyed(caller: Caller): CallerReservation;
  ledgers: Pick<Ledgers, 'current'>;
};

const Text = Type.String({ minLength: 1, maxLength: 128 });
/** To the venue, null is as good as left out. Rule A226 (api/RULES.md). */
const optional = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));
const TIMES = {
  good_till_canceled: 'gtc',
  immediate_or_cancel: 'ioc',
  fill_or_kill: 'fok',
} as const;
const Subaccount = optional(Type.Integer());
const OrderFields = Type.Object({
  ticker: Text,
  side: oneOf(['bid', 'ask']),
  count: Text,
  price: Text,
  time_in_force: oneOf(['good_till_canceled', 'immediate_or_cancel', 'fill_or_kill']),
  client_order_id: optional(Type.String({ maxLength: 128 })),
  expiration_time: optional(Type.Integer({ minimum: 0 })),
  // Orders of one account never meet each other here.
  self_trade_prevention_type: optional(oneOf(['taker_at_cross', 'maker'])),
  post_only: optional(Type.Boolean()),
  reduce_only: optional(Type.Boolean()),
  cancel_order_on_pause: optional(Type.Boolean()),
  order_group_id: optional(Type.String()),
  subaccount: Subaccount,
  exchange_index: Subaccount,
});
type OrderFields = Static<typeof OrderFields>;

const readOrder = fieldsOf(OrderFields);
const BATCH_MAX = 20;
const readBatch = fieldsOf(
  Type.Object({ orders: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) }),
);
const CancelFields = Type.Object({
  order_id: Text,
  market_ticker: optional(Text),
  subaccount: Subaccount,
  exchange_index: Subaccount,
});
type CancelFields = Static<typeof CancelFields>;
const readCancels = fieldsOf(
  Type.Object({ orders: Type.Array(CancelFields, { minItems: 1, maxItems: BATCH_MAX }) }),
);

/** An order as the engine answers it. */
type OrderView = {
  orderId: Uuid;
  tradeId: Uuid | null;
  marketTicker?: string;
  orderSide: 'yes' | 'no';
  action: 'buy' | 'sell';
  contracts: number;
  filledContracts: number;
  status: 'resting' | 'executed' | 'canceled' | 'expired';
  cancelReason: string | null;
  feesDollars: number | null;
  fillPriceCents?: number | null;
};
type PlacementView = {
  replayed: boolean;
  order: OrderView;
  trade: { contracts: number; costDollars: number; boughtSide: 'yes' | 'no' } | null;
};

export function orderRoutes(context: OrderContext): Route<Caller>[] {
  const desk = new OrderDesk(context);
  return [
    ...groupRoutes(context, desk),
    writes({
      ...{ method: 'POST', path: '/v2/portfolio/events/orders', status: 201, body: readOrder },
      run: (caller, body, _param, waiter) => desk.place(caller, body, waiter),
    }),
    writes({
      ...{ method: 'POST', path: '/v2/portfolio/events/orders/batched', status: 201 },
      body: readBatch,
      run: async (caller, { orders }) => ({ orders: await desk.placeAll(caller, orders) }),
    }),
    writes({
      ...{ method: 'DELETE', path: '/v2/portfolio/events/orders/batched', body: readCancels },
      run: async (caller, { orders }) => ({ orders: await desk.cancelThese(caller, orders) }),
    }),
    writes({
      ...{ method: 'POST', path: '/v2/portfolio/events/orders/{orderId}/amend', body: readAmend },
      run: (caller, body, param) => desk.amend(caller, param, body),
    }),
    writes({
      ...{ method: 'POST', path: '/v2/portfolio/events/orders/{orderId}/decrease' },
      body: readDecrease,
      run: (caller, body, param) => desk.decrease(caller, param, body),
    }),
    writes({
      ...{ method: 'DELETE', path: '/v2/portfolio/events/orders', body: null },
      run: (caller) => desk.cancelAll(caller),
    }),
    writes({
      ...{ method: 'DELETE', path: '/v2/portfolio/events/orders/{orderId}', body: null },
      run: (caller, _body, param, _waiter, query) => {
        return desk.cancel(caller, param, query.text('market_ticker'));
      },
    }),
  ];
}

const GroupFields = Type.Object({
  contracts_limit: optional(Type.Integer()),
  contracts_limit_fp: optional(Text),
  subaccount: Subaccount,
  exchange_index: Subaccount,
});
const readGroup = fieldsOf(GroupFields);
/** Clients may send an object, whatever it has. */
const readNothing = optionalBody(fieldsOf(Type.Object({})));

/** Rule T219. */
const GROUP_CONTRACTS_MAX = 1_000_000;

function limitIn(body: Static<typeof GroupFields>): Contracts {
  requirePrimary(body);
  const [limit, text] = [body.contracts_limit ?? null, body.contracts_limit_fp ?? null];
  if (limit === null && text === null) {
    throw invalidParameters('contracts_limit or contracts_limit_fp is required');
  }
  const ofText = text === null ? null : countIn(text, 'contracts_limit_fp');
  const count = ofText ?? countIn(String(limit), 'contracts_limit');
  if (limit !== null && limit !== count) {
    throw invalidParameters('contracts_limit and contracts_limit_fp must be the same');
  }
  if (count > GROUP_CONTRACTS_MAX) {
    throw invalidParameters(`contracts_limit must be at most ${GROUP_CONTRACTS_MAX}`);
  }
  return count;
}

function groupRoutes({ ledgers }: OrderContext, desk: OrderDesk): Route<Caller>[] {
  const path = '/v2/portfolio/order_groups';
  const shown = ({ orderGroupId: id, contractsLimit }: GroupView) => ({
    ...{ id, contracts_limit_fp: fp(contractsLimit), is_auto_cancel_enabled: true },
    exchange_index: 0,
  });
  const reads = (
    at: string,
    run: (caller: Caller, param: string) => Promise<object>,
  ): Route<Caller> =>
    keyed<Caller, typeof NoQuery, TUnknown, Asked>({
      ...{ method: 'GET', path: at, scope: 'portfolio:read', mayBeUnavailable: true },
      ...{ query: NoQuery, response: Type.Unknown() },
      readQuery: (text) => new Asked(text).requirePrimary(),
      run: async ({ caller, param }) => JSON.stringify(await run(caller, param)),
    });
  return [
    writes({
      ...{ method: 'POST', path: `${path}/create`, status: 201, body: readGroup },
      run: (caller, body) => desk.makeGroup(caller, limitIn(body)),
    }),
    writes({
      ...{ method: 'PUT', path: `${path}/{groupId}/limit`, body: readGroup },
      run: (caller, body, param) => {
        return desk.changeGroup(caller, param, { contractsLimit: limitIn(body) });
      },
    }),
    ...(['reset', 'trigger'] as const).map((change) =>
      writes({
        ...{ method: 'PUT', path: `${path}/{groupId}/${change}`, body: readNothing },
        run: (caller, _body, param) => desk.changeGroup(caller, param, change),
      }),
    ),
    reads(path, async (caller) => ({ order_groups: (await desk.groups(caller)).map(shown) })),
    reads(`${path}/{groupId}`, async (caller, param) => {
      const group = (await desk.groups(caller)).find(({ orderGroupId }) => {
        return orderGroupId === param.toLowerCase();
      });
      if (group === undefined) throw notFound('no such order group');
      const { ledger } = await ledgers.current(caller.user);
      const orders = ledger
        .orders()
        .filter(({ group: of, status }) => of === group.orderGroupId && status === 'resting');
      const { id: _, ...view } = shown(group);
      return { ...view, orders: orders.map(({ id }) => id) };
    }),
    writes({
      ...{ method: 'DELETE', path: `${path}/{groupId}`, body: null },
      run: (caller, _body, param) => desk.removeGroup(caller, param),
    }),
  ];
}

type Write<B> = {
  method: 'POST' | 'DELETE' | 'PUT';
  path: string;
  status?: 201;
  body: BodyReader<B> | null;
  /** Undefined: the waiter gets the answer instead. */
  run(
    caller: Caller,
    body: B,
    param: string,
    waiter: ReplyHandler<object>,
    query: Asked,
  ): Promise<object> | undefined;
};

const NOTHING_ASKED = new Asked('');

function writes<B>({ method, path, status, body, run }: Write<B>): Route<Caller> {
  return keyed<Caller, typeof NoQuery, TUnknown, Asked, B>({
    ...{ method, path, scope: 'trade:write', needs: 'venueData', mayBeUnavailable: true },
    ...{ query: NoQuery, response: Type.Unknown() },
    ...(status === undefined ? {} : { status }),
    ...(body === null ? {} : { readBody: body }),
    readQuery: (text) => (text === '' ? NOTHING_ASKED : new Asked(text).requirePrimary()),
    run: ({ caller, body: given, param, query }, waiter) => {
      const answer = {
        resolve: (view: object) => waiter.resolve(JSON.stringify(view)),
        reject: (error: Error) => waiter.reject(error),
      };
      return run(caller, given, param, answer, query)?.then((view) => JSON.stringify(view));
    },
  });
}

const AmendFields = Type.Object({
  ticker: Text,
  side: oneOf(['bid', 'ask']),
  price: Text,
  count: Text,
  client_order_id: optional(Type.String({ maxLength: 128 })),
  updated_client_order_id: optional(Type.String({ maxLength: 128 })),
  exchange_index: Subaccount,
});
type AmendFields = Static<typeof AmendFields>;
const readAmend = fieldsOf(AmendFields);
const DecreaseFields = Type.Object({
  reduce_by: optional(Text),
  reduce_to: optional(Text),
  market_ticker: optional(Text),
  exchange_index: Subaccount,
});
type DecreaseFields = Static<typeof DecreaseFields>;
const readDecrease = fieldsOf(DecreaseFields);

const GROUP_WINDOW_SECONDS = 15;
type GroupView = { orderGroupId: Uuid; contractsLimit: number };
type Change = {
  contracts: Contracts | null;
  limitPriceCents: PriceCents | null;
  /** Null: the caller gave none. */
  key: string | null;
};

class OrderDesk {
  readonly #context: OrderContext;

  constructor(context: OrderContext) {
    this.#context = context;
  }

  /** By a callback, because each order would pay for the promises. */
  place(caller: Caller, body: OrderFields, waiter: ReplyHandler<object>): undefined {
    this.#context.engine.trade(caller.user.id, this.#commandOf(caller, body), {
      resolve: (reply) => {
        try {
          waiter.resolve(this.#placed(reply, body));
        } catch (error) {
          waiter.reject(error as Error);
        }
      },
      reject: (error) => waiter.reject(error),
    });
  }

  #placed(reply: Reply, body: OrderFields): object {
    if (!reply.ok) throw refusalOfEngine(reply);
    const { replayed, order, trade } = JSON.parse(reply.body) as PlacementView;
    // The venue takes an id once, whatever the order.
    if (replayed) throw alreadyExists();
    if (order.cancelReason === 'fok_not_filled') throw fokKilled();
    const filled = order.filledContracts;
    return {
      order_id: order.orderId,
      ...(body.client_order_id ? { client_order_id: body.client_order_id } : {}),
      fill_count: fp(filled),
      remaining_count: fp(order.status === 'resting' ? order.contracts - filled : 0),
      ...(filled === 0 ? {} : averages(order, trade)),
      ts_ms: this.#context.engine.nowMs(),
    };
  }

  /** Each order is independent, and counts as one request. */
  placeAll(caller: Caller, orders: readonly unknown[]) {
    const place = (order: unknown) =>
      new Promise<object>((resolve, reject) => {
        this.place(caller, readOrder.ofValue(order), { resolve, reject });
      });
    return this.#each(caller, orders, place, {
      named: (order) => {
        const { client_order_id: id } = order as { client_order_id?: unknown };
        return { client_order_id: typeof id === 'string' ? id : null };
      },
    });
  }

  /** @param ticker that the caller says it has; null: it says none */
  async cancel(caller: Caller, id: string, ticker: string | null = null) {
    const { engine } = this.#context;
    if (ticker !== null) requireTicker(await this.#order(caller, id), ticker, 'market_ticker');
    const { account, counting } = this.#accountOf(caller);
    const reply = await this.#trade(caller, {
      ...{ kind: 'cancel', atMs: engine.nowMs(), account: account.id, orderId: orderId(id) },
      counting,
    }).catch((error: unknown) => {
      // An order that is over is none to the venue.
      const isOver = error instanceof Refusal && error.code === 'invalid_order';
      throw isOver ? notFound('the order does not rest') : error;
    });
    const { order } = reply as { order: OrderView };
    const reduced = order.contracts - order.filledContracts;
    return { order_id: order.orderId, reduced_by: fp(reduced), ts_ms: engine.nowMs() };
  }

  async amend(caller: Caller, id: string, body: AmendFields) {
    requirePrimary(body);
    const yesCents = priceIn(body.price, 'price');
    const contracts = countIn(body.count, 'count');
    const before = await this.#order(caller, id);
    const { action, orderSide, tradeId } = before;
    const isBid = (action === 'buy') === (orderSide === 'yes');
    requireTicker(before, this.#context.markets.get(body.ticker).ticker, 'ticker');
    if (isBid !== (body.side === 'bid')) throw invalidParameters('side is not that of the order');
    // A sale of a trade has its own side's price; every other order buys a side.
    const pricedIn = action === 'sell' && tradeId === null ? (isBid ? 'yes' : 'no') : orderSide;
    const limitPriceCents = pricedIn === 'yes' ? yesCents : PAYOUT_CENTS - yesCents;
    await this.#requireNamed(caller, before.orderId, body.client_order_id ?? '');
    const named = body.updated_client_order_id ?? '';
    const key = named === '' ? null : clientOrderId(named);
    const order = await this.#amend(caller, id, { contracts, limitPriceCents, key });
    const filled = order.filledContracts;
    return {
      order_id: order.orderId,
      ...(key === null ? {} : { client_order_id: key }),
      fill_count: fp(filled),
      remaining_count: fp(order.status === 'resting' ? order.contracts - filled : 0),
      ...(filled === 0 ? {} : averages(order, null)),
      ts_ms: this.#context.engine.nowMs(),
    };
  }

  /** To no contracts at all is a cancel. */
  async decrease(caller: Caller, id: string, body: DecreaseFields) {
    requirePrimary(body);
    const [by, to] = [body.reduce_by ?? null, body.reduce_to ?? null];
    if ((by === null) === (to === null)) {
      throw invalidParameters('exactly one of reduce_by and reduce_to must be given');
    }
    const before = await this.#order(caller, id);
    if (body.market_ticker) requireTicker(before, body.market_ticker, 'market_ticker');
    const filled = before.filledContracts;
    const left = before.contracts - filled;
    const wanted = to === null ? left - countIn(by!, 'reduce_by') : countIn(to, 'reduce_to', 0);
    if (wanted < 0 || wanted > left) throw invalidCount(`the order has ${fp(left)} left`);
    if (wanted === 0) {
      const { order_id, ts_ms } = await this.cancel(caller, id);
      return { order_id, remaining_count: fp(0), ts_ms };
    }
    const contracts = filled + wanted;
    const order = await this.#amend(caller, id, { contracts, limitPriceCents: null, key: null });
    const remaining_count = fp(order.contracts - order.filledContracts);
    return { order_id: order.orderId, remaining_count, ts_ms: this.#context.engine.nowMs() };
  }

  async #order(caller: Caller, id: string): Promise<OrderView> {
    const { engine } = this.#context;
    const account = caller.user.id;
    const { order } = await asked<{ order: OrderView }>(engine, account, {
      ...{ kind: 'order', atMs: engine.nowMs(), account, organizationSlug: null },
      orderId: orderId(id),
    });
    return order;
  }

  /** Throws if a client's id is neither the one that the order was placed with nor its present one. */
  async #requireNamed(caller: Caller, order: Uuid, clientId: string): Promise<void> {
    if (clientId === '') return;
    const { engine, ledgers } = this.#context;
    const account = caller.user.id;
    const only = { instrumentId: null, idempotencyKey: clientId, fromMs: null, toMs: null };
    const { orders } = await asked<{ orders: OrderView[] }>(engine, account, {
      ...{ kind: 'orders', atMs: engine.nowMs(), account, organizationSlug: null },
      ...{ status: null, limit: 1, before: null, only },
    });
    if (orders[0]?.orderId === order) return;
    // An amend may have named it.
    const { ledger } = await ledgers.current(caller.user);
    if (ledger.order(order)?.clientOrderId === clientId) return;
    throw invalidParameters('client_order_id is not that of the order');
  }

  async #amend(
    caller: Caller,
    id: string,
    { contracts, limitPriceCents, key }: Change,
  ): Promise<OrderView> {
    const { engine, switches } = this.#context;
    const { account, counting } = this.#accountOf(caller);
    const reply = await this.#trade(caller, {
      ...{ kind: 'amend', atMs: engine.nowMs(), account: account.id, orderId: orderId(id) },
      idempotencyKey: key ?? UNNAMED_CHANGE + randomUUID(),
      ...{ contracts, limitPriceCents, counting },
      ...{ mayOpen: caller.user.plan !== 'none', mayTrade: switches.trading },
    });
    return (reply as { order: OrderView }).order;
  }

  /** The venue's window is always 15 seconds. */
  async makeGroup(caller: Caller, contractsLimit: Contracts) {
    const { engine } = this.#context;
    const atMs = engine.nowMs();
    const group = newOrderId(atMs);
    await this.#trade(caller, {
      ...{ kind: 'make_order_group', atMs, account: caller.user.id, group, contractsLimit },
      ...{ windowSeconds: GROUP_WINDOW_SECONDS, latches: true, counting: null },
    });
    return { order_group_id: group, subaccount: 0, exchange_index: 0 };
  }

  async groups(caller: Caller): Promise<GroupView[]> {
    const { engine } = this.#context;
    const account = caller.user.id;
    const query = { kind: 'order_groups', atMs: engine.nowMs(), account } as const;
    return (await asked<{ orderGroups: GroupView[] }>(engine, account, query)).orderGroups;
  }

  async changeGroup(
    caller: Caller,
    id: string,
    change: ChangeOrderGroup['change'],
  ): Promise<object> {
    const { account, counting } = this.#accountOf(caller);
    const group = groupIn(id)!;
    const atMs = this.#context.engine.nowMs();
    const of = { atMs, account: account.id, group, counting } as const;
    await this.#trade(caller, { kind: 'change_order_group', ...of, change });
    return {};
  }

  async removeGroup(caller: Caller, id: string): Promise<object> {
    const { engine } = this.#context;
    const { account, counting } = this.#accountOf(caller);
    const group = groupIn(id)!;
    await this.#trade(caller, {
      ...{ kind: 'remove_order_group', atMs: engine.nowMs(), account: account.id, group, counting },
    });
    return {};
  }

  cancelThese(caller: Caller, orders: readonly CancelFields[]) {
    const cancel = async (order: CancelFields) => {
      requirePrimary(order);
      return await this.cancel(caller, order.order_id, order.market_ticker ?? null);
    };
    return this.#each(caller, orders, cancel, {
      named: ({ order_id }) => ({ order_id, reduced_by: fp(0) }),
    });
  }

  async cancelAll(caller: Caller): Promise<object> {
    const { engine } = this.#context;
    const { account, counting } = this.#accountOf(caller);
    const reply = await new Promise<Reply>((resolve, reject) =>
      cancelAll(
        engine,
        caller.user.id,
        {
          ...{ kind: 'cancel_all', atMs: engine.nowMs(), account: account.id, counting },
          instrumentId: null,
        },
        { resolve, reject },
      ),
    );
    if (!reply.ok) throw refusalOfEngine(reply);
    return {};
  }

  /** One after the other; a refusal of one stops no other. */
  async #each<T>(
    caller: Caller,
    rows: readonly T[],
    run: (row: T) => Promise<object>,
    { named }: { named: (row: T) => object },
  ): Promise<object[]> {
    const answers = rows.map(async (row, at): Promise<object> => {
      // The request has counted as one already.
      const counted = at === 0 ? null : this.#context.keyed(caller);
      try {
        counted?.count(1);
        counted?.refuseOver();
        return await run(row);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        counted?.commit(error.status);
        const { code, message, status } = error;
        return { ...named(row), error: errorOf(code, message, status) satisfies VenueErrorView };
      }
    });
    return Promise.all(answers);
  }

  #accountOf(caller: Caller) {
    const { user, credentialId } = caller;
    const account: PaperAccount = personalAccount(user, this.#context.realism.of(user.id));
    return { account, counting: countingOf(user, credentialId, account) };
  }

  #commandOf(caller: Caller, body: OrderFields): PlaceOrder {
    const { engine, markets, switches } = this.#context;
    requireSupported(body);
    const { ticker } = markets.get(body.ticker);
    const yesCents = priceIn(body.price, 'price');
    const contracts: Contracts = countIn(body.count, 'count');
    const atMs = engine.nowMs();
    const { account, counting } = this.#accountOf(caller);
    const timeInForce = TIMES[body.time_in_force];
    const isBid = body.side === 'bid';
    return {
      ...{ kind: 'place', atMs, account: account.id, orderId: newOrderId(atMs) },
      idempotencyKey: clientOrderId(body.client_order_id),
      ...{ action: 'buy', instrumentId: null, ticker, side: isBid ? 'yes' : 'no', contracts },
      tradeId: null,
      limitPriceCents: isBid ? yesCents : PAYOUT_CENTS - yesCents,
      ...{ boundPriceCents: null, timeInForce, expiresAtMs: expiryOf(body, atMs) },
      ...{ routing: 'venue_a', statedProbPct: null, placedVia: caller.placedVia },
      ...{ placedPrivate: account.isPrivate, connection: null },
      ...{ mayOpen: caller.user.plan !== 'none', mayTrade: switches.trading },
      ...{ netting: body.reduce_only === true ? 'close' : 'net' },
      ...{ postOnly: body.post_only ?? false, orderGroupId: groupIn(body.order_group_id) },
      ...{ rejectIfLaterThanMs: null, realism: account.realism, counting },
    };
  }

  async #trade(caller: Caller, command: TradingCommand): Promise<unknown> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      this.#context.engine.trade(caller.user.id, command, { resolve, reject });
    });
    if (!reply.ok) throw refusalOfEngine(reply);
    return JSON.parse(reply.body);
  }
}

/** There is no other part of an account, and no other shard of the exchange. */
function requirePrimary(body: {
  subaccount?: number | null;
  exchange_index?: number | null;
}): void {
  if ((body.subaccount ?? 0) !== 0) throw invalidParameters('subaccount must be 0');
  if ((body.exchange_index ?? 0) > 0) throw invalidParameters('exchange_index must be 0');
}

function requireTicker({ marketTicker }: OrderView, ticker: string, field: string): void {
  if (marketTicker !== ticker) throw invalidParameters(`${field} is not that of the order`);
}

function requireSupported(body: OrderFields): void {
  requirePrimary(body);
  if (body.cancel_order_on_pause === true) {
    throw invalidOrder('cancel_order_on_pause is not supported');
  }
  if (body.post_only === true && body.time_in_force !== 'good_till_canceled') {
    throw invalidParameters('post_only goes with good_till_canceled only');
  }
}

/** In seconds. Only an order that rests may have one. */
function expiryOf(
  { expiration_time: at, time_in_force: time }: OrderFields,
  nowMs: EpochMs,
): EpochMs | null {
  if (at === undefined || at === null) return null;
  if (time !== 'good_till_canceled') {
    throw invalidParameters('expiration_time goes with good_till_canceled only');
  }
  const atMs = at * 1000;
  if (atMs <= nowMs) throw invalidParameters('expiration_time must be in the future');
  if (!Number.isSafeInteger(atMs)) throw invalidParameters('expiration_time is too far away');
  return atMs;
}

const CLIENT_ID = /^[!-~]{1,128}$/;

function clientOrderId(given: string | null | undefined): string {
  if (given === undefined || given === null || given === '') return randomUUID();
  if (CLIENT_ID.test(given)) return given;
  throw invalidParameters('client_order_id must be 1 to 128 visible ASCII characters');
}

/** The id of a group; null: none. */
function groupIn(given: string | null | undefined): Uuid | null {
  if (given === undefined || given === null || given === '') return null;
  if (!isUuid(given)) throw notFound('no such order group');
  return given.toLowerCase();
}

function orderId(param: string): Uuid {
  if (!isUuid(param)) throw notFound('no such order');
  return param.toLowerCase();
}

/** In the price of yes, and a contract's part of the fees. */
function averages(order: OrderView, trade: PlacementView['trade']) {
  const filled = order.filledContracts;
  // A trade of the other side is one that it has closed.
  const opened = trade !== null && trade.boughtSide === order.orderSide;
  const isWhole = opened && trade.contracts === filled && order.action === 'buy';
  const cents = isWhole ? (trade.costDollars * 100) / filled : (order.fillPriceCents ?? 0);
  const yesCents = order.orderSide === 'yes' ? cents : PAYOUT_CENTS - cents;
  return {
    average_fill_price: dollars(yesCents),
    average_fee_paid: dollars(((order.feesDollars ?? 0) * 100) / filled),
  };
}
