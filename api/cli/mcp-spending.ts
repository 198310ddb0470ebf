/**
 * How much an assistant may spend: on one order, and in a day. The day's sum lies beside the session
 * file, so that a new process goes on with it. Rule A179 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AdmittedOrder, ApiAnswer, SpendingCaps } from '../mcp/mcp-server.ts';
import { lockedIn, replaceJson } from './session-file.ts';

export type Caps = {
  /** Cents, without fees; null: no cap. */
  orderCents: number | null;
  dayCents: number | null;
};

/** `cents`: by the prefix of a key. */
type Spent = { day: string; cents: Record<string, number> };

const NAME = 'mcp-spending.json';
/** The highest price of a contract. */
const PRICE_MAX = 99;

/**
 * Caps for the orders of one key.
 *
 * @param sessionFile whose directory has the day's sum
 * @param keyPrefix the part of the key that lists show
 */
export function spendingCaps(
  { orderCents, dayCents }: Caps,
  sessionFile: string,
  keyPrefix: string,
  nowMs: () => number = Date.now,
): SpendingCaps {
  const directory = path.dirname(sessionFile);
  const file = path.join(directory, NAME);
  /** Adds cents to the day's sum. `cents` is told what is left of the day, and may refuse. */
  const add = (cents: (leftCents: number) => number): Promise<number> =>
    lockedIn(directory, () => {
      const spent = readSpent(file, dayOf(nowMs()));
      const before = spent.cents[keyPrefix] ?? 0;
      const added = cents(dayCents === null ? Number.POSITIVE_INFINITY : dayCents - before);
      replaceJson(file, { ...spent, cents: { ...spent.cents, [keyPrefix]: before + added } });
      return added;
    });
  return {
    admit: async (order) => {
      if (!isBuy(order)) return { order, note: null, settle: async () => {} };
      let admitted: Record<string, unknown> = order;
      const noted = await add((leftCents) => {
        admitted = withinCaps(order, { orderCents, leftCents });
        return mostCents(admitted as Buy);
      });
      const { maxPriceCents } = admitted;
      const note =
        maxPriceCents === order.maxPriceCents
          ? null
          : `maxPriceCents was ${maxPriceCents}, so that the order costs ${dollars(noted)} at most`;
      return { order: admitted, note, settle: settled(noted, add) };
    },
  };
}

type Buy = Record<string, unknown> & { count: number };

/** What the API refuses anyway is no buy here, and costs nothing. */
function isBuy(order: Record<string, unknown>): order is Buy {
  const { action, count } = order;
  return action === 'buy' && Number.isSafeInteger(count) && (count as number) > 0;
}

/** The order, a market order with a price at most that keeps it within the caps. Throws. */
function withinCaps(order: Buy, caps: { orderCents: number | null; leftCents: number }): Buy {
  const { orderCents, leftCents } = caps;
  const allowed = Math.min(orderCents ?? Number.POSITIVE_INFINITY, leftCents);
  if (mostCents(order) <= allowed) return order;
  const price = Math.floor(allowed / order.count);
  if (order.type === 'market' && price >= 1) return { ...order, maxPriceCents: price };
  const most = dollars(mostCents(order));
  if (leftCents < (orderCents ?? Number.POSITIVE_INFINITY)) {
    throw new Error(
      `the order may cost ${most}, and --max-day-dollars leaves ${dollars(Math.max(0, leftCents))} today`,
    );
  }
  throw new Error(`the order may cost ${most}, and --max-order-dollars is ${dollars(orderCents!)}`);
}

/** The most that it can cost, without fees. */
function mostCents({ type, count, limitPriceCents, maxPriceCents }: Buy): number {
  const price = type === 'limit' ? limitPriceCents : maxPriceCents;
  return count * (typeof price === 'number' && price <= PRICE_MAX ? price : PRICE_MAX);
}

/** Replaces the most that it could cost by what it did. */
function settled(
  noted: number,
  add: (cents: () => number) => Promise<number>,
): AdmittedOrder['settle'] {
  return async (answer) => {
    const cost = answer === null ? noted : costOf(answer, noted);
    if (cost !== noted) await add(() => cost - noted);
  };
}

/** Cents; of an order that rests: what it holds. An order placed before costs nothing again. */
function costOf({ status, body }: ApiAnswer, noted: number): number {
  if (status >= 300) return 0;
  const { replayed, trade, order } = JSON.parse(body) as {
    replayed: boolean;
    trade: { costDollars: number } | null;
    order: { holdDollars: number } | null;
  };
  if (replayed) return 0;
  const held = order === null ? 0 : order.holdDollars;
  const spent = (trade === null ? 0 : trade.costDollars) + held;
  return Math.min(noted, Math.round(spent * 100));
}

/** The sums of a day; of another day, or without a readable file: none. */
function readSpent(file: string, day: string): Spent {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { day, cents: {} };
    throw error;
  }
  let spent: Partial<Spent>;
  try {
    spent = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not readable as JSON, so the day's spending is unknown: remove it`);
  }
  return spent.day === day && spent.cents !== undefined ? (spent as Spent) : { day, cents: {} };
}

/** A day in UTC. */
const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);
const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;
