/**
 * Hard trade limits the slow way: every attempt is kept and counted anew. SPEC.md section 8.
 */
import type { Reply, TradeCounting, TradeLimits } from '../../engine/core/messages.ts';
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import type { ModelState } from './naive-state.ts';

export type Attempt = { id: Uuid; atMs: EpochMs; closing: boolean };
type Request = { account: Uuid; counting: TradeCounting | null };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A refusal, or null with the attempt counted. */
export function countOrRefuse(state: ModelState, request: Request, closing: boolean): Reply | null {
  const { account, counting } = request;
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits } = counting;
  const refusal =
    refusalOf(state, keyId, 'key', keyLimits, closing) ??
    refusalOf(state, account, 'account', accountLimits, closing);
  if (refusal !== null) return refusal;
  for (const id of [keyId, account]) state.attempts.push({ id, atMs: state.nowMs, closing });
  return null;
}

function refusalOf(
  state: ModelState,
  id: Uuid,
  who: string,
  limits: TradeLimits,
  closing: boolean,
): Reply | null {
  const used = (windowMs: number) =>
    state.attempts.filter(
      (attempt) =>
        attempt.id === id &&
        attempt.closing === closing &&
        Math.floor(attempt.atMs / windowMs) === Math.floor(state.nowMs / windowMs),
    ).length;
  const refuse = (what: string, windowMs: number): Reply => ({
    ok: false,
    code: 'rate_limited',
    message: `The ${who} is at its limit of ${what}.`,
    retryAfterSeconds: Math.ceil((windowMs - (state.nowMs % windowMs)) / 1000),
  });
  if (closing) {
    const most = limits.closingPerMinute;
    return used(MINUTE_MS) >= most ? refuse(`${most} sells and cancels a minute`, MINUTE_MS) : null;
  }
  const { newPerDay, newPerMinute } = limits;
  if (used(DAY_MS) >= newPerDay) return refuse(`${newPerDay} new orders a day`, DAY_MS);
  if (used(MINUTE_MS) < newPerMinute) return null;
  return refuse(`${newPerMinute} new orders a minute`, MINUTE_MS);
}
