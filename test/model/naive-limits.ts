/** Hard trade limits the slow way: every attempt is kept and counted again. */

import type { EpochMs, TradeUse, Uuid } from '../../engine/base/units.ts';
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type {
  PlaceOrder,
  Reply,
  TradeCounting,
  TradeLimits,
  TradingCommand,
} from '../../engine/rules/messages.ts';
import type { ModelState } from './naive-state.ts';

type Request = { account: Uuid; counting: TradeCounting | null };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Whether an order counts as a sell. */
export function isClosing({ action, netting }: PlaceOrder): boolean {
  return action === 'sell' || netting === 'close';
}

/** A refusal, or null with the attempt counted. */
export function countOrRefuse(state: ModelState, request: Request, closing: boolean): Reply | null {
  const { account, counting } = request;
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits, elsewhere } = counting;
  const { nowMs } = state;
  const made = (id: Uuid) => (windowMs: number) => countOf(state, id, nowMs, windowMs, closing);
  const byKey = (windowMs: number) =>
    made(keyId)(windowMs) + countElsewhere(elsewhere, nowMs, windowMs, closing);
  const refusal =
    refusalOf(nowMs, 'key', keyLimits, closing, byKey) ??
    refusalOf(nowMs, 'account', accountLimits, closing, made(account));
  if (refusal !== null) return refusal;
  for (const id of [keyId, account]) state.attempts.push({ id, atMs: nowMs, closing });
  return null;
}

/**
 * The limits of a reply that its command counts towards; null: it counts towards none. `closes`: for
 * an amend.
 */
export function limitsLeft(
  state: ModelState,
  command: TradingCommand,
  closes: boolean | null = null,
): TradeLimitsLeft | null {
  const { account, counting } = command;
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits, elsewhere } = counting;
  const { nowMs } = state;
  const closing = closes ?? (command.kind !== 'place' || isClosing(command));
  const limitsOf = ({ closingPerMinute, newPerMinute, newPerDay }: TradeLimits) =>
    closing ? [closingPerMinute, 0] : [newPerMinute, newPerDay];
  const madeOf = (id: Uuid) =>
    [MINUTE_MS, DAY_MS].map((windowMs) => countOf(state, id, nowMs, windowMs, closing));
  const away = [MINUTE_MS, DAY_MS].map((ms) => countElsewhere(elsewhere, nowMs, ms, closing));
  const left = (limits: number[], made: number[], at: number) =>
    closing && at === 1 ? 0 : Math.max(0, limits[at]! - made[at]!);
  const [ofKey, ofAccount] = [limitsOf(keyLimits), limitsOf(accountLimits)];
  const byKey = madeOf(keyId).map((count, at) => count + away[at]!);
  const byAccount = madeOf(account);
  return {
    atMs: nowMs,
    closing,
    keyPerMinute: ofKey[0]!,
    keyLeftInMinute: left(ofKey, byKey, 0),
    keyPerDay: ofKey[1]!,
    keyLeftInDay: left(ofKey, byKey, 1),
    accountPerMinute: ofAccount[0]!,
    accountLeftInMinute: left(ofAccount, byAccount, 0),
    accountPerDay: ofAccount[1]!,
    accountLeftInDay: left(ofAccount, byAccount, 1),
  };
}

/** How often a key has traded in the minute and the day of `nowMs`. */
export function keyUse(state: ModelState, keyId: Uuid, nowMs: EpochMs): TradeUse {
  return {
    atMs: nowMs,
    newInMinute: countOf(state, keyId, nowMs, MINUTE_MS, false),
    newInDay: countOf(state, keyId, nowMs, DAY_MS, false),
    closingInMinute: countOf(state, keyId, nowMs, MINUTE_MS, true),
  };
}

const isSameWindow = (a: EpochMs, b: EpochMs, windowMs: number) =>
  Math.floor(a / windowMs) === Math.floor(b / windowMs);

function countOf(
  state: ModelState,
  id: Uuid,
  nowMs: EpochMs,
  windowMs: number,
  closing: boolean,
): number {
  return state.attempts.filter(
    (attempt) =>
      attempt.id === id &&
      attempt.closing === closing &&
      isSameWindow(attempt.atMs, nowMs, windowMs),
  ).length;
}

function countElsewhere(
  use: TradeUse | null,
  nowMs: EpochMs,
  windowMs: number,
  closing: boolean,
): number {
  if (use === null || !isSameWindow(use.atMs, nowMs, windowMs)) return 0;
  if (closing) return use.closingInMinute;
  return windowMs === DAY_MS ? use.newInDay : use.newInMinute;
}

function refusalOf(
  nowMs: EpochMs,
  who: string,
  limits: TradeLimits,
  closing: boolean,
  used: (windowMs: number) => number,
): Reply | null {
  const refuse = (what: string, windowMs: number): Reply => ({
    ok: false,
    code: 'rate_limited',
    message: `The ${who} is at its limit of ${what}.`,
    retryAfterSeconds: Math.ceil((windowMs - (nowMs % windowMs)) / 1000),
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
