/**
 * The entries of a board of `/eval`: for each trader the mean of its slate picks of a window, with
 * its interval. Entries are first made from all trades of the window. Later they are made again for
 * the traders whose slates may have changed. 48 bytes per trader. Rules Y28, Y40 to Y43, Y87
 * (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs } from '../../base/units.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import { END_MS, type Fills } from '../boards/windows.ts';
import { BRIER_UNITS } from '../maths/eval-scores.ts';
import { intervalOf, type Metric, meanOfGames } from '../maths/statistics.ts';
import type { Instruments } from '../projection/instruments.ts';
import type { Settled } from '../projection/settled.ts';
import { type Slate, SlatePicks } from '../projection/slate-picks.ts';
import type { ClosedTradeBlock, ClosedTradeReader } from '../store/closed-trade-blocks.ts';
import { LOST, WON } from '../store/tables.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import { METRIC_UNITS, rankedBy, skillOf } from './eval-values.ts';

export type EntriesParts = {
  closedTrades: ClosedTradeReader;
  settled: Settled;
  instruments: Instruments;
  /**
   * The limit of picks in memory. More picks are read in several rounds, each for some of the
   * traders.
   */
  picksAtOnce?: number;
};

/** NaN: no skill, no interval. */
const NUMBERS = ['value', 'low', 'high', 'effectiveGames', 'skill'] as const;
const COUNTS = ['picks', 'games'] as const;
type Columns = Record<(typeof NUMBERS)[number], Float64Array> &
  Record<(typeof COUNTS)[number], Uint32Array>;

/** 100 to 200 MB. */
const PICKS_AT_ONCE = 4_000_000;
/** Which traders, and since when. */
type Range = { afterMs: EpochMs; rounds: number; round: number };

export class EvalEntries {
  readonly #metric: Metric;
  readonly #parts: EntriesParts;
  readonly #fills: Fills;
  col = columnsOf(0);
  /** Whether picks were left out whose instrument no catalog had named so far. */
  lackInstruments = false;

  /** @param fills which picks count. Rule Y97 (engine/RULES.md) */
  constructor(metric: Metric, parts: EntriesParts, fills: Fills = 'all') {
    this.#metric = metric;
    this.#parts = parts;
    this.#fills = fills;
  }

  /** Of all traders. @param end one more than the highest number of a trader */
  make(afterMs: EpochMs, end: TraderNumber, fees: readonly FeeEntry[]): void {
    const { closedTrades, picksAtOnce = PICKS_AT_ONCE } = this.#parts;
    this.col = columnsOf(end);
    this.lackInstruments = false;
    const rounds = Math.max(1, Math.ceil(closedTrades.count(afterMs, END_MS) / picksAtOnce));
    invariant(Number.isFinite(rounds), 'picks are read in no number of rounds');
    for (let round = 0; round < rounds; round++) {
      this.#take(closedTrades.blocks(afterMs, END_MS), { afterMs, rounds, round }, fees);
    }
  }

  /** Of these traders. */
  update(
    traders: ReadonlySet<TraderNumber>,
    afterMs: EpochMs,
    end: TraderNumber,
    fees: readonly FeeEntry[],
  ): void {
    if (end > this.col.value.length) this.col = grownColumns(this.col, end);
    for (const trader of traders) this.col.picks[trader] = 0;
    const { settled } = this.#parts;
    const blocks = function* () {
      for (const trader of traders) yield settled.blockOf(trader, afterMs);
    };
    this.#take(blocks(), { afterMs, rounds: 1, round: 0 }, fees);
  }

  #take(blocks: Iterable<ClosedTradeBlock>, range: Range, fees: readonly FeeEntry[]): void {
    const { instruments } = this.#parts;
    const { clusters, startsAtMs } = instruments.columns();
    const of = rankedBy(this.#metric, instruments, fees);
    const picks = new SlatePicks();
    const isRealistic = this.#fills === 'realistic';
    for (const block of blocks) {
      for (let at = 0; at < block.count; at++) {
        const trader = block.trader[at]!;
        if (trader % range.rounds !== range.round) continue;
        if (block.isListed[at] === 0) continue;
        if (isRealistic && block.isRealistic[at] === 0) continue;
        const state = block.state[at]!;
        if (state !== WON && state !== LOST) continue;
        const instrument = block.instrument[at]!;
        const startMs = startsAtMs[instrument] ?? Number.NaN;
        if (Number.isNaN(startMs)) this.lackInstruments = true;
        if (!(block.openedAtMs[at]! < startMs) || block.closedAtMs[at]! <= range.afterMs) continue;
        picks.add(trader, instrument, block.trade[at]!, of(block, at), skillOf(block, at));
      }
    }
    picks.take(clusters, (slate) => this.#put(slate));
  }

  #put({ trader, games, skillSum, skills }: Slate): void {
    const { col } = this;
    const estimate = meanOfGames(games);
    if (estimate === null) return;
    invariant(trader < col.value.length, 'a trader is on a board that was never counted');
    const unit = METRIC_UNITS[this.#metric];
    const interval = intervalOf(this.#metric, games, estimate);
    col.value[trader] = estimate.mean / unit;
    col.low[trader] = interval === null ? Number.NaN : interval.low / unit;
    col.high[trader] = interval === null ? Number.NaN : interval.high / unit;
    col.effectiveGames[trader] = estimate.effectiveGames;
    col.skill[trader] = skills === 0 ? Number.NaN : skillSum / skills / BRIER_UNITS;
    col.picks[trader] = estimate.picks;
    col.games[trader] = estimate.games;
  }
}

function columnsOf(length: number): Columns {
  const numbers = NUMBERS.map((name) => [name, new Float64Array(length)]);
  const counts = COUNTS.map((name) => [name, new Uint32Array(length)]);
  return Object.fromEntries([...numbers, ...counts]);
}

function grownColumns(from: Columns, length: number): Columns {
  const grown = columnsOf(length);
  for (const name of NUMBERS) grown[name].set(from[name]);
  for (const name of COUNTS) grown[name].set(from[name]);
  return grown;
}
