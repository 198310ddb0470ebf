/**
 * Bounds that hold for orders of every market: the expiry, and the possible payout. They are
 * checked before the market is, so that an order beyond a bound is a bad request. Rules T44, M11
 * (engine/RULES.md).
 */

import { type AccountRow, dollarsOf, type EpochMs, NO_ROW, PAYOUT_CENTS } from '../base/units.ts';
import { FIRST_PAYOUT_ROOM_CENTS, payoutRoomCents } from './ledger.ts';
import type { PlaceOrder } from './messages.ts';
import type { ShardState } from './state.ts';

/** Rule T44 (engine/RULES.md). */
const EXPIRY_MAX_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * The message for a field that is out of bounds; null: none is. `account`: its row, or `NO_ROW`.
 */
export function checkBounds(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
): string | null {
  return checkExpiry(order.expiresAtMs, state.nowMs) ?? checkPayout(state, order, account);
}

function checkExpiry(expiresAtMs: EpochMs | null, nowMs: EpochMs): string | null {
  if (expiresAtMs === null) return null;
  if (expiresAtMs <= nowMs) return 'expiresAt must be in the future';
  if (expiresAtMs - nowMs > EXPIRY_MAX_MS) return 'expiresAt must be at most 365 days out';
  return null;
}

/** A buy whose payout cannot be counted would stop its shard when it wins. */
function checkPayout(
  state: ShardState,
  { contracts }: PlaceOrder,
  account: AccountRow,
): string | null {
  if (contracts === null) return null;
  const roomCents = account === NO_ROW ? FIRST_PAYOUT_ROOM_CENTS : payoutRoomCents(state, account);
  if (contracts * PAYOUT_CENTS <= roomCents) return null;
  const most = Math.max(0, Math.floor(roomCents / PAYOUT_CENTS));
  const limit = dollarsOf(Number.MAX_SAFE_INTEGER).toFixed(2);
  return `count must be at most ${most} now: an account cannot hold more than ${limit} dollars`;
}
