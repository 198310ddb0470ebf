/**
 * The options by which an operator sets an account's own hard trade limits. Rules L1 to L10
 * (engine/RULES.md).
 */
import { type Command, Option } from 'commander';
import { wholeNumber } from './option-values.ts';
import { UsageError } from './usage.ts';

export type LimitFlags = {
  ordersPerMinute?: number;
  ordersPerDay?: number;
  closingPerMinute?: number;
  standard?: true;
};

export function limitOption(flag: string, what: string): Option {
  return new Option(flag, what).argParser(wholeNumber);
}

export function withLimitFlags(command: Command): Command {
  return command
    .addOption(limitOption('--orders-per-minute <n>', 'new orders a minute'))
    .addOption(limitOption('--orders-per-day <n>', 'new orders a day'))
    .addOption(limitOption('--closing-per-minute <n>', 'sells and cancels a minute'))
    .option('--standard', 'return to the standard limits');
}

/**
 * The limits to change, the same for each key and for the account over all keys; null for the
 * default limits, undefined if no option was given.
 */
export function tradeLimitsOf(flags: LimitFlags) {
  const limits = sandboxLimitsOf(flags);
  return limits && { ...limits, key: limits.account };
}

/** `tradeLimitsOf` an organization; its keys have their owners' limits. */
export function sandboxLimitsOf(flags: LimitFlags) {
  if (flags.standard === true) return null;
  const account = given({
    newPerMinute: flags.ordersPerMinute,
    newPerDay: flags.ordersPerDay,
    closingPerMinute: flags.closingPerMinute,
  });
  return account && { account };
}

/** The limits set by options; undefined without any. */
export function given(limits: Record<string, number | undefined>) {
  return Object.values(limits).some((limit) => limit !== undefined) ? limits : undefined;
}

/** Throws if a command has none of its limit options. */
export function refuseNothing(change: Record<string, object | null | undefined>): void {
  if (Object.values(change).some((limits) => limits !== undefined)) return;
  throw new UsageError('name the limits to change, or --standard');
}
