/**
 * A backtest: plans of all markets, then their orders and results in time order on one account.
 * Rules Z1 to Z9 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { Cents, EpochMs, Side, Uuid } from '../base/units.ts';
import type { Columns } from '../history/record-columns.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import type { RejectionCode } from '../rules/rejections.ts';
import { type Bought, PaperAccount } from './paper-account.ts';
import { entryAtMs, marketSide, type Plan, planOf } from './plan.ts';
import type {
  BacktestMarket,
  BacktestTask,
  BacktestTrade,
  SkipReason,
  TradeResult,
} from './task.ts';

export type BacktestRun = {
  /** In the order of their opening. */
  trades: BacktestTrade[];
  skipped: Partial<Record<SkipReason, number>>;
  /** Not after any later step. */
  beginsAtMs: EpochMs;
};

type Entered = Extract<Plan, { skip: null }>;
/** At one instant results are applied before sales, and sales before buys. */
const ORDER = { settle: 0, sell: 1, buy: 2 } as const;
type Step = { atMs: EpochMs; does: keyof typeof ORDER; index: number };
type Held = Bought & { index: number; plan: Entered; trade: BacktestTrade };

/** `partsOf` gives the rows of a market; it is called once for each. */
export function runBacktest(
  task: BacktestTask,
  partsOf: (market: BacktestMarket) => Iterable<Columns>,
): BacktestRun {
  return new Backtest(task, partsOf).run();
}

class Backtest {
  readonly #task: BacktestTask;
  readonly #plans: readonly Plan[];
  /** Open trades: by market, and by id. */
  readonly #held = new Map<number, Held>();
  readonly #byTrade = new Map<Uuid, Held>();
  readonly #trades: BacktestTrade[] = [];
  readonly #skipped: Partial<Record<SkipReason, number>> = {};

  constructor(task: BacktestTask, partsOf: (market: BacktestMarket) => Iterable<Columns>) {
    this.#task = task;
    this.#plans = task.markets.map((market) => planOf(task.terms, market, partsOf(market)));
  }

  run(): BacktestRun {
    const { terms, markets, nowMs } = this.#task;
    const steps = this.#steps();
    const beginsAtMs =
      steps[0]?.atMs ?? Math.min(nowMs, ...markets.map((market) => entryAtMs(terms, market)));
    const account = new PaperAccount(this.#task, beginsAtMs);
    for (const step of steps) this.#take(account, step);
    invariant(this.#held.size === 0, 'a trade of a backtest is left open');
    const pnlCents = this.#trades.reduce((sum, trade) => {
      return sum + trade.pnlCents - trade.entryFeeCents - trade.exitFeeCents;
    }, 0);
    const isBalanced = account.balanceCents === terms.startBalanceCents + pnlCents;
    invariant(isBalanced, 'the ledger of a backtest has another P&L than its trades');
    return { trades: this.#trades, skipped: this.#skipped, beginsAtMs };
  }

  #steps(): Step[] {
    const steps: Step[] = [];
    for (const [index, plan] of this.#plans.entries()) {
      if (plan.skip !== null) {
        this.#skip(plan.skip);
        continue;
      }
      const { entry, exit, resolvedAtMs } = plan;
      steps.push({ atMs: entry.atMs, does: 'buy', index });
      if (exit !== null) steps.push({ atMs: exit.atMs, does: 'sell', index });
      else steps.push({ atMs: resolvedAtMs, does: 'settle', index });
    }
    return steps.sort(
      (a, b) => a.atMs - b.atMs || ORDER[a.does] - ORDER[b.does] || a.index - b.index,
    );
  }

  #skip(reason: SkipReason): void {
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1;
  }

  #take(account: PaperAccount, { does, index, atMs }: Step): void {
    if (does === 'buy') return this.#buy(account, index);
    const held = this.#held.get(index);
    // It could not be bought.
    if (held === undefined) return;
    return does === 'sell' ? this.#sell(account, held) : this.#settle(account, index, atMs);
  }

  #buy(account: PaperAccount, index: number): void {
    const plan = this.#plans[index] as Entered;
    const market = this.#task.markets[index]!;
    const { side, contracts, entry } = plan;
    const bought = account.buy(index, side, contracts, entry);
    if (typeof bought === 'string') return this.#skip(skipFor(bought));
    const { entryCents, feeCents: entryFeeCents } = bought;
    const trade: BacktestTrade = {
      instrumentId: market.instrumentId,
      label: market.label,
      side,
      contracts,
      entryCents,
      exitCents: 0,
      openedAtMs: entry.atMs,
      closedAtMs: entry.atMs,
      result: 'void',
      costCents: entryCents * contracts,
      pnlCents: 0,
      entryFeeCents,
      exitFeeCents: 0,
    };
    this.#trades.push(trade);
    const held = { ...bought, index, plan, trade };
    this.#held.set(index, held);
    this.#byTrade.set(held.tradeId, held);
  }

  #sell(account: PaperAccount, held: Held): void {
    const { index, plan, trade, tradeId } = held;
    const { exit } = plan;
    invariant(exit !== null, 'a trade is sold that is held to the result');
    const { proceedsCents, feeCents } = account.sell(index, tradeId, exit);
    this.#close(held, 'sold', exit.atMs, proceedsCents);
    trade.exitFeeCents = feeCents;
  }

  /** Ends every trade on the market: instruments may share one. */
  #settle(account: PaperAccount, index: number, atMs: EpochMs): void {
    const { result } = this.#task.markets[index]!;
    invariant(result !== null, 'a market is settled without a result');
    for (const { tradeId, proceedsCents } of account.settle(index, result, atMs)) {
      const held = this.#byTrade.get(tradeId);
      invariant(held !== undefined, 'a trade is settled that is not open');
      const of = marketSide(this.#task.markets[held.index]!, held.trade.side);
      this.#close(held, tradeResult(result.outcome, of), atMs, proceedsCents);
    }
  }

  #close({ index, tradeId, trade }: Held, result: TradeResult, atMs: EpochMs, brought: Cents) {
    trade.result = result;
    trade.closedAtMs = atMs;
    trade.exitCents = Math.floor(brought / trade.contracts);
    trade.pnlCents = brought - trade.costCents;
    this.#held.delete(index);
    this.#byTrade.delete(tradeId);
  }
}

/** `held`: the side of the venue's market. */
function tradeResult(outcome: MarketOutcome, held: Side): TradeResult {
  if (outcome !== 'yes' && outcome !== 'no') return 'void';
  return outcome === held ? 'won' : 'lost';
}

/** The reason for a buy that the rules of trading refuse. Rule Z7 (engine/RULES.md). */
function skipFor(code: RejectionCode): SkipReason {
  switch (code) {
    case 'insufficient_balance':
    // The account cannot be paid more. Rule M11 (engine/RULES.md).
    case 'invalid_request':
      return 'no_cash';
    case 'no_liquidity':
    case 'market_not_open':
      return 'no_price';
    default:
      throw new Error(`a buy of a backtest was refused: ${code}`);
  }
}
