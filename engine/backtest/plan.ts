/**
 * The plan of a rule for one market: a buy at one look, and a sale at the first moment that the
 * rule names. Whether the account can pay is decided later. Rules Z2 to Z7 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Contracts,
  type EpochMs,
  type FillModelName,
  NO_PRICE,
  oppositeSide,
  PAYOUT_CENTS,
  type Side,
} from '../base/units.ts';
import type { StoredRows } from '../history/questions.ts';
import type { Columns } from '../history/record-columns.ts';
import { statesSizes } from '../rules/fill-models.ts';
import { askOf, bidContractsOf, bidOf, isTwoSided, looksFrom } from './looks.ts';
import type { BacktestMarket, BacktestTerms, Look, SkipReason } from './task.ts';

export type Plan =
  | { skip: SkipReason }
  | {
      skip: null;
      /** In the instrument's terms. */
      side: Side;
      contracts: Contracts;
      entry: Look;
      /** Null: it is held to the result. */
      exit: Look | null;
      resolvedAtMs: EpochMs;
    };

const MINUTE_MS = 60_000;

/** The moment of the single look at a market. */
export function entryAtMs(terms: BacktestTerms, { startsAtMs }: BacktestMarket): EpochMs {
  return startsAtMs - terms.rule.entryMinutesBeforeStart * MINUTE_MS;
}

/** The side of the venue's market that a side of the instrument means. */
export function marketSide({ polarity }: BacktestMarket, side: Side): Side {
  return polarity === 1 ? side : oppositeSide(side);
}

/** `parts`: the market's rows, from the block of the look on. */
export function planOf(
  terms: BacktestTerms,
  market: BacktestMarket,
  parts: Iterable<Columns>,
): Plan {
  const { result, rows } = market;
  if (result === null || rows === null) return { skip: 'not_settled' };
  const lookMs = entryAtMs(terms, market);
  // If the history has no mark of the end, the last row is the end.
  const resolvedAtMs = rows.resolvedAtMs ?? Number.POSITIVE_INFINITY;
  const looks = looksFrom(parts, lookMs, resolvedAtMs);
  const first = looks.next();
  if (first.done === true) return { skip: hasRows(rows) ? 'no_price' : 'no_history' };
  const seen: Look = first.value;
  const isOver = lookMs >= resolvedAtMs;
  if (seen.atMs > lookMs || isOver || !isTwoSided(seen)) return { skip: 'no_price' };
  const entry = { ...seen, atMs: lookMs };
  const side = sideOf(terms, market, entry);
  if (side === null) return { skip: 'no_favorite' };
  const ask = askOf(entry, marketSide(market, side));
  const { minPriceCents, maxPriceCents } = terms.rule;
  if (ask < minPriceCents || ask > maxPriceCents) return { skip: 'out_of_band' };
  const contracts =
    'contracts' in terms.stake ? terms.stake.contracts : Math.floor(terms.stake.cents / ask);
  if (contracts === 0) return { skip: 'no_cash' };
  const { exit, lastMs } = exitOf(terms, market, { side, contracts, seen }, looks);
  invariant(exit === null || exit.atMs > lookMs, 'a rule sells before it has bought');
  return {
    skip: null,
    side,
    contracts,
    entry,
    exit,
    resolvedAtMs: rows.resolvedAtMs ?? 1 + Math.max(lastMs, lookMs, market.startsAtMs),
  };
}

/** Whether the history has any record of the market. */
export function hasRows({ blocks, tail }: StoredRows): boolean {
  return blocks.length > 0 || tail.records > 0;
}

/** Null: the rule names no side of this market. Rule Z4 (engine/RULES.md). */
function sideOf({ rule }: BacktestTerms, market: BacktestMarket, entry: Look): Side | null {
  const { side } = rule;
  switch (side) {
    case 'yes':
    case 'no':
      return side;
    case 'home':
    case 'away':
      if (market.team === null) return null;
      return market.team === side ? 'yes' : 'no';
    case 'favorite':
    case 'underdog': {
      const twiceMid = entry.yesBidCents + entry.yesAskCents;
      if (twiceMid === PAYOUT_CENTS) return null;
      const favored: Side = twiceMid > PAYOUT_CENTS ? 'yes' : 'no';
      const own = market.polarity === 1 ? favored : oppositeSide(favored);
      return side === 'favorite' ? own : oppositeSide(own);
    }
    default:
      return side satisfies never;
  }
}

/** `seen`: the row of the entry. */
type Held = { side: Side; contracts: Contracts; seen: Look };

/** The first moment to sell, if there is one, and the time of the last row that was read. */
function exitOf(
  { rule, fillModel }: BacktestTerms,
  market: BacktestMarket,
  { side, contracts, seen }: Held,
  looks: Iterator<Look>,
): { exit: Look | null; lastMs: EpochMs } {
  const { takeProfitCents, stopLossCents, exitMinutesBeforeStart } = rule;
  const exitMs =
    exitMinutesBeforeStart === null
      ? Number.POSITIVE_INFINITY
      : market.startsAtMs - exitMinutesBeforeStart * MINUTE_MS;
  const held = marketSide(market, side);
  const isFillable = (look: Look) =>
    bidOf(look, held) !== NO_PRICE &&
    (!usesSizes(fillModel, look) || bidContractsOf(look, held) >= contracts);
  let before = seen;
  for (let next = looks.next(); next.done !== true; next = looks.next()) {
    const look: Look = next.value;
    if (look.atMs > exitMs) {
      if (isFillable(before)) return { exit: { ...before, atMs: exitMs }, lastMs: before.atMs };
      if (isFillable(look)) return { exit: look, lastMs: look.atMs };
    }
    const bid = bidOf(look, held);
    const isHit =
      (takeProfitCents !== null && bid >= takeProfitCents) ||
      (stopLossCents !== null && bid <= stopLossCents);
    if (isHit && isFillable(look)) return { exit: look, lastMs: look.atMs };
    before = look;
  }
  const isInTime = exitMs < (market.rows?.resolvedAtMs ?? 0) && isFillable(before);
  return { exit: isInTime ? { ...before, atMs: exitMs } : null, lastMs: before.atMs };
}

/** A market of the history has no queue. Rule T156 (engine/RULES.md). */
function usesSizes(fillModel: FillModelName, look: Look): boolean {
  return fillModel === 'book_depth' || (fillModel === 'queue' && statesSizes(look));
}
