/** The hard trade limits in a reply. Rule L13 (engine/RULES.md). */
import type { EpochMs } from '../base/units.ts';

/**
 * The remaining hard trade limits once a command is counted: the limits of new orders, or the
 * limits of sells and cancels. Rule L13 (engine/RULES.md).
 */
export type TradeLimitsLeft = {
  /** The engine's time, whose minute and day these are of. */
  atMs: EpochMs;
  /** 0 for sells and cancels, which have no daily limits. */
  closing: boolean;
  keyPerMinute: number;
  keyLeftInMinute: number;
  keyPerDay: number;
  keyLeftInDay: number;
  accountPerMinute: number;
  accountLeftInMinute: number;
  accountPerDay: number;
  accountLeftInDay: number;
};
