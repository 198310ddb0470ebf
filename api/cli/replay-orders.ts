/** Places the orders of a replay's orders file. Rules R3 to R8 (feeds/FORMATS.md). */

import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import type { Query } from '../../engine/rules/queries.ts';
import { PRESETS, type Realism } from '../../engine/rules/realism.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import { placeOrderOf, readOrderBody } from '../operations/order-request.ts';
import type { OrderBody } from '../schemas/order-body.ts';
import type { OrderLine } from './orders-file.ts';
import { accountIdOf, orderIdOf } from './replay-ids.ts';
import type { ReplayAccount } from './summary.ts';

type Options = {
  onRefused?: (account: string, code: string) => void;
  latencyMs?: number;
};

export class ReplayOrders {
  readonly #engine: Shards;
  readonly #onRefused: (account: string, code: string) => void;
  /** Of all orders. */
  readonly #realism: Realism | null;
  readonly #accounts = new Map<string, ReplayAccount>();
  /** Orders and cancels that were refused, by code. */
  readonly refused: Record<string, number> = {};
  /** Market orders that were executed. */
  marketOrders = 0;

  constructor(engine: Shards, { onRefused = () => {}, latencyMs: ms = 0 }: Options) {
    this.#engine = engine;
    this.#onRefused = onRefused;
    this.#realism = ms === 0 ? null : { ...PRESETS.simple, latencyMs: { min: ms, max: ms } };
  }

  /** By name. */
  accounts(): ReplayAccount[] {
    return [...this.#accounts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async step({ atMs, account: name, step }: OrderLine): Promise<void> {
    // Time for every shard: expiries and the age of quotes must not depend on the accounts of a
    // shard.
    this.#engine.tick({ kind: 'time', atMs });
    const account = this.#accountOf(name);
    const code =
      'cancel' in step
        ? await this.#cancel(account, atMs, step.cancel)
        : await this.#place(account, atMs, step.order);
    if (code === null) return;
    this.refused[code] = (this.refused[code] ?? 0) + 1;
    this.#onRefused(name, code);
  }

  /** The code of the refusal, or null. */
  async #place(
    account: ReplayAccount,
    atMs: EpochMs,
    order: Record<string, unknown>,
  ): Promise<string | null> {
    const { sellOf, ...rest } = order;
    const tradeId = typeof sellOf === 'string' ? await this.#tradeOf(account, sellOf) : undefined;
    if (typeof sellOf === 'string' && tradeId === undefined) return 'trade_not_found';
    let reply: Reply;
    let key: string;
    try {
      if (tradeId !== undefined && 'tradeId' in rest) {
        throw invalidRequest('sellOf is given in place of tradeId');
      }
      const body = readOrderBody(tradeId === undefined ? order : { ...rest, tradeId });
      refuseExecution(body.execution);
      key = (body.idempotencyKey ?? body.clientOrderId)!;
      const orderId = orderIdOf(account.id, key, atMs);
      const placed = { atMs, account: account.id, orderId, placedVia: 'api' as const };
      const command = placeOrderOf(body, {
        ...placed,
        placedPrivate: true,
        connection: null,
        mayOpen: true,
        mayTrade: true,
        realism: this.#realism,
        counting: null,
      });
      reply = await this.#engine.call(account.id, command);
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
    if (!reply.ok) return reply.code;
    const result = JSON.parse(reply.body);
    if (result.replayed) return null;
    if (result.type === 'market') this.marketOrders++;
    account.orders.set(key, {
      orderId: result.order?.orderId ?? null,
      tradeId: result.trade?.tradeId ?? null,
    });
    return null;
  }

  async #cancel(account: ReplayAccount, atMs: EpochMs, key: string): Promise<string | null> {
    const orderId = account.orders.get(key)?.orderId ?? null;
    if (orderId === null) return 'order_not_found';
    const reply = await this.#engine.call(account.id, {
      kind: 'cancel',
      atMs,
      account: account.id,
      orderId,
      counting: null,
    });
    return reply.ok ? null : reply.code;
  }

  /** The trade that the buy of this key opened; undefined while there is none. */
  async #tradeOf(account: ReplayAccount, key: string): Promise<Uuid | undefined> {
    const known = account.orders.get(key);
    if (known === undefined) return undefined;
    if (known.tradeId === null && known.orderId !== null) {
      const { orderId } = known;
      const query = { kind: 'order', account: account.id, organizationSlug: null } as const;
      const { order } = await ask(this.#engine, { ...query, orderId });
      known.tradeId = order.tradeId;
    }
    return known.tradeId ?? undefined;
  }

  #accountOf(name: string): ReplayAccount {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = { name, id: accountIdOf(name), orders: new Map() };
    this.#accounts.set(name, account);
    return account;
  }
}

/** The engine's answer to a query, as JSON. @throws Error if it is refused */
// biome-ignore lint/suspicious/noExplicitAny: wire JSON of the engine's own answers.
export async function ask(engine: Shards, query: AccountQuery): Promise<any> {
  const timed = { ...query, atMs: engine.nowMs() } as Query;
  const reply = await engine.call(query.account, timed);
  if (!reply.ok) throw new Error(`${query.kind}: ${reply.message}`);
  return JSON.parse(reply.body);
}

type AccountQuery = DistributiveOmit<Query, 'atMs'> & { account: Uuid };
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An account of an orders file holds no scope for an execution. Rule R6 (feeds/FORMATS.md). */
function refuseExecution(execution: OrderBody['execution']): void {
  if (execution === undefined || execution === 'paper') return;
  throw new ApiError(execution === 'venue_c' ? 'us_not_eligible' : 'insufficient_scope');
}
