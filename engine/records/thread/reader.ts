/**
 * Answers from the records. An answer about one trader includes every fact of that account that was
 * on disk when it was asked. A board has the facts that were folded. Rules Y7, Y20 to Y28
 * (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { EpochMs, MarketNumber, Uuid } from '../../base/units.ts';
import { Leaderboard } from '../boards/leaderboard.ts';
import { RankIndex } from '../boards/rank-index.ts';
import { IdOrder } from '../boards/ranking.ts';
import { RefreshBudget } from '../boards/refresh-budget.ts';
import { startOf } from '../boards/windows.ts';
import type { EvalBoardParts } from '../eval/eval-board.ts';
import { EvalBoards } from '../eval/eval-rows.ts';
import type { Closing } from '../projection/closing-lines.ts';
import type { Instruments } from '../projection/instruments.ts';
import { Picks } from '../projection/picks.ts';
import { Settled } from '../projection/settled.ts';
import { ClosedTradeReader } from '../store/closed-trade-blocks.ts';
import type { Database, Statement } from '../store/database.ts';
import type { Profiles } from '../store/profiles.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Traders } from '../store/traders.ts';
import type { Change } from '../store/trades.ts';
import { Bids, type Worth } from '../store/worth.ts';
import type { AnswerOf, QuestionName, QuestionOf, TraderRecord } from './questions.ts';

export type ReaderParts = Pick<EvalBoardParts, 'picksAtOnce' | 'changedMax'> & {
  database: Database;
  traders: Traders;
  profiles: Profiles;
  worth: Worth;
  instruments: Instruments;
  /** In milliseconds, of this process. */
  clock?: () => number;
};

export class RecordsReader {
  readonly #parts: ReaderParts;
  readonly #leaderboard: Leaderboard;
  readonly #ranks: RankIndex;
  readonly #picks: Picks;
  readonly #settled: Settled;
  readonly #eval: EvalBoards;
  readonly #resets: Statement<[run: number, atMs: EpochMs]>;

  constructor(parts: ReaderParts) {
    const { database, traders, profiles, instruments, clock = () => performance.now() } = parts;
    this.#parts = parts;
    this.#picks = new Picks(database, instruments);
    this.#settled = new Settled(database, instruments);
    const ids = new IdOrder(traders.ids);
    // Made now, and not while a client waits for the first board.
    ids.places();
    const boards = {
      ...parts,
      closedTrades: new ClosedTradeReader(database),
      settled: this.#settled,
      ids,
      pace: new RefreshBudget(clock),
    };
    this.#leaderboard = new Leaderboard(boards);
    this.#ranks = new RankIndex(boards);
    profiles.onChanged = (trader) => this.#ranks.note(trader);
    this.#eval = new EvalBoards(boards);
    this.#resets = database
      .prepare('SELECT run, at_ms FROM resets WHERE trader = ? ORDER BY run')
      .raw() as never;
  }

  /** Boards follow the folded facts. */
  note(change: Change): void {
    this.#leaderboard.note(change);
    this.#eval.note(change);
    this.#ranks.note(change.trader);
  }

  /** A catalog was folded; `isOtherwise`: it changed instruments of markets with a result. */
  learned(isOtherwise: boolean): void {
    this.#parts.instruments.changed();
    this.#eval.instrumentsChanged(isOtherwise);
  }

  /** Live bids for net worths; null: from the next answer on none may be shown. */
  setBids(bids: Uint8Array | null): void {
    this.#parts.worth.setBids(bids);
    if (bids === null) this.#leaderboard.forgetWorths();
  }

  putClosing(closing: Closing): void {
    const { instruments } = this.#parts;
    const { market } = closing;
    instruments.put(closing);
    // If the result was not folded yet, no trade of the market is over.
    const { resolvedAtMs = null } = instruments.market(market) ?? {};
    if (resolvedAtMs !== null) this.#eval.closingAdded(market, resolvedAtMs);
  }

  answer<Name extends QuestionName>(name: Name, question: QuestionOf<Name>): AnswerOf<Name> {
    const answers: { [N in QuestionName]: (question: QuestionOf<N>) => AnswerOf<N> } = {
      trader: (asked) => this.#trader(asked),
      open_markets: ({ trader }) => this.#openMarkets(trader),
      picks: (asked) => {
        const trader = this.#find(asked.trader);
        const none = { picks: asked.after === null ? [] : null, next: null };
        return trader === undefined ? none : (this.#picks.page(trader, asked) ?? none);
      },
      leaderboard: (asked) => this.#leaderboard.page(asked),
      scored: ({ trader: id, seenBy, fills = 'all', days, nowMs, fees }) => {
        const trader = this.#find(id);
        if (trader === undefined) return [];
        const afterMs = startOf({ days }, nowMs);
        return this.#settled.of(trader, { afterMs, fees, seenBy, fills });
      },
      eval: (asked) => this.#eval.page(asked),
    };
    return answers[name](question);
  }

  #find(id: Uuid): TraderNumber | undefined {
    return this.#parts.traders.find(id);
  }

  #openMarkets(id: Uuid): MarketNumber[] {
    const trader = this.#find(id);
    return trader === undefined ? [] : this.#parts.worth.marketsOf(trader);
  }

  #trader({ trader: id, showsEarlier, markets, bids }: QuestionOf<'trader'>): TraderRecord | null {
    const trader = this.#find(id);
    if (trader === undefined) return null;
    const { col } = this.#parts.traders;
    const resets = this.#resets.all(trader).map(([run, atMs]) => ({ atMs, run }));
    invariant(resets.length === col.run[trader]! - 1, 'a run was opened by no reset');
    const [won, lost, voided] = [col.won[trader]!, col.lost[trader]!, col.void[trader]!];
    return {
      pnlCents: col.pnl_cents[trader]!,
      costCents: col.cost_cents[trader]!,
      worthCents: this.#parts.worth.of(trader, new Bids(markets, bids)),
      rank: this.#ranks.rankOf(trader),
      counts: showsEarlier ? { won, lost, void: voided } : this.#picks.publicCounts(trader),
      busts: col.busts[trader]!,
      resets,
      hasPrivateTrades: col.private_trades[trader]! > 0,
    };
  }
}
