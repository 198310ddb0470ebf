/** The options by which an operator gives an account hard trade limits of its own. CONTRACT.md
 * section 5, Hard trade limits. */
import { type Command, Option } from 'commander';
import { wholeNumber } from './admin-connection.ts';

export type LimitFlags = {
  ordersPerMinute: number;
  ordersPerDay: number;
  closingPerMinute: number;
  standard?: true;
};

export function limitOption(flag: string, what: string): Option {
  return new Option(flag, what).argParser(wholeNumber);
}

export function withLimitFlags(command: Command): Command {
  return command
    .addOption(limitOption('--orders-per-minute <n>', 'new orders a minute').default(6000))
    .addOption(limitOption('--orders-per-day <n>', 'new orders a day').default(1_000_000))
    .addOption(limitOption('--closing-per-minute <n>', 'sells and cancels a minute').default(6000))
    .option('--standard', 'back to the limits of everybody');
}

/** The same limits for each key and for the account over all keys; null for everybody's. */
export function tradeLimitsOf(flags: LimitFlags) {
  if (flags.standard === true) return null;
  const limits = {
    newPerMinute: flags.ordersPerMinute,
    newPerDay: flags.ordersPerDay,
    closingPerMinute: flags.closingPerMinute,
  };
  return { key: limits, account: limits };
}
