/**
 * Cancels every resting order that matches. The engine cancels a bounded number at once, so an
 * account with more of them takes several commands. Only the first counts as a cancel. Rules A74,
 * T130, T131 (api/RULES.md, engine/RULES.md).
 */

import type { Uuid } from '../../engine/base/units.ts';
import { CANCEL_ALL_MAX } from '../../engine/rules/decide.ts';
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type { CancelAll, Reply } from '../../engine/rules/messages.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import type { Engine } from '../base/engine.ts';

/** Of the key's owner: `engine.trade`. */
export function cancelAll(
  engine: Engine,
  owner: Uuid,
  command: CancelAll,
  waiter: ReplyHandler<Reply>,
): undefined {
  const canceled: Uuid[] = [];
  /** Of the first command, which counts. */
  let limits: TradeLimitsLeft | undefined;
  const take = (reply: Reply): void => {
    limits ??= reply.limits;
    if (!reply.ok) return waiter.resolve(limits === undefined ? reply : { ...reply, limits });
    const some = (JSON.parse(reply.body) as { canceled: Uuid[] }).canceled;
    for (const orderId of some) canceled.push(orderId);
    if (some.length === CANCEL_ALL_MAX) return ask(null);
    const body = { canceled, count: canceled.length, mode: 'paper' };
    const answer = { ok: true, body: JSON.stringify(body) } as const;
    waiter.resolve(limits === undefined ? answer : { ...answer, limits });
  };
  const ask = (counting: CancelAll['counting']): undefined =>
    engine.trade(
      owner,
      { ...command, counting },
      { resolve: take, reject: (error) => waiter.reject(error) },
    );
  return ask(command.counting);
}
