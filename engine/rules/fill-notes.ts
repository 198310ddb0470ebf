/**
 * What the log says of a fill beyond the fill's own fact. For its receipt: who took, how old the
 * quote was, and the levels that it walked. For the next start: what it took of levels that accounts
 * share. Rules T187, T231, T233 (engine/RULES.md).
 */

import { type Action, type EpochMs, PAYOUT_CENTS } from '../base/units.ts';
import type { LevelTaken } from '../memory/market-liquidity.ts';
import type { FillNoted } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import type { Consumption, Fill } from './fill-model.ts';
import type { ShardState } from './state.ts';

/** Of an order that takes as it meets the book. */
export function takerNote(fill: Fill, action: Action, nowMs: EpochMs): FillNoted {
  const { quote } = fill.market;
  const quoteAgeMs = quote === null ? 0 : Math.max(0, nowMs - quote.atMs);
  return noted(nowMs, 'taker', quoteAgeMs, walkedBy(fill, action));
}

/** Of a resting order that a quote of this moment has filled; null: its fill says all. */
export function makerNote(fill: Fill, action: Action, nowMs: EpochMs): FillNoted | null {
  const levels = walkedBy(fill, action);
  return levels.length === 0 ? null : noted(nowMs, 'maker', 0, levels);
}

function noted(
  atMs: EpochMs,
  role: FillNoted['role'],
  quoteAgeMs: number,
  levels: FillNoted['levels'],
): FillNoted {
  return { kind: 'fill_noted', atMs, role, quoteAgeMs, levels };
}

const NO_LEVELS: FillNoted['levels'] = [];

/** None: it has taken one level, or has no levels. */
function walkedBy({ levels }: Fill, action: Action): FillNoted['levels'] {
  if (levels === null || levels.length < 2) return NO_LEVELS;
  if (action === 'buy') return levels;
  return levels.map(([askCents, contracts]) => [PAYOUT_CENTS - askCents, contracts]);
}

/**
 * What `find` finds, with the displayed sizes taken that it uses up. It is asked again if another
 * shard has taken some of them meanwhile, so one of the two goes on. Rule T231.
 */
export function takeFound<Found>(
  state: ShardState,
  atMs: EpochMs,
  find: () => Found,
  consumptionOf: (found: Found) => Consumption | null,
): { found: Found; taken: readonly LevelTaken[] } {
  for (;;) {
    const found = find();
    const taken = takeConsumed(state, atMs, consumptionOf(found));
    if (taken !== null) return { found, taken };
  }
}

/** Takes what a fill uses up; null: another shard has taken some of it since the fill was found. */
export function takeConsumed(
  { fillModel }: ShardState,
  atMs: EpochMs,
  consumption: Consumption | null,
): readonly LevelTaken[] | null {
  return consumption === null ? NOTHING_TAKEN : fillModel.consume(consumption, atMs);
}

const NOTHING_TAKEN: readonly LevelTaken[] = [];

/** What a fill uses up; null: there is none, or it uses up nothing. */
export const consumedBy = (fill: Pick<Fill, 'consumption'> | null) => fill?.consumption ?? null;

/** What a fill has taken of levels that accounts share; its events are applied before. */
export function noteTaken(
  state: ShardState,
  facts: FactSink,
  atMs: EpochMs,
  taken: readonly LevelTaken[],
): void {
  for (const part of taken) emit(state, facts, { kind: 'liquidity_taken', atMs, ...part });
}
