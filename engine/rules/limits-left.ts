/** What a reply says about the hard trade limits. Rule L13 (engine/RULES.md). */
import type { EpochMs } from '../base/units.ts';

/**
 * The rest, once a command is counted, of the hard trade limits that it counts towards: the limits
 * of new orders, or the limits of sells and cancels. Rule L13 (engine/RULES.md).
 */
export type TradeLimitsLeft = {
  /** The engine's time, whose minute and day these are of. */
  atMs: EpochMs;
  /** Sells and cancels, which have no limits of a day: 0. */
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
