/**
 * The present rank of a single trader by P&L of all time. It uses an older ranking, and compares
 * each trader who has changed since. 16 bytes per trader. Rule Y25 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { Profiles } from '../store/profiles.ts';
import type { TraderNumber } from '../store/trader-ids.ts';
import type { Traders } from '../store/traders.ts';
import { type IdOrder, placeBehind, type Ranking, ranked } from './ranking.ts';

export type RankParts = {
  traders: Traders;
  ids: IdOrder;
  profiles: Profiles;
  /** More changes than these are not compared one by one: the board is ranked again. */
  changedMax?: number;
};

const CHANGED_MAX = 10_000;

type Ranked = {
  ranking: Ranking;
  /** By trader, one more than its place; 0: it has none. */
  places: Uint32Array;
};

export class RankIndex {
  readonly #parts: RankParts;
  readonly #changed = new Set<TraderNumber>();
  /** Null: no rank was asked for, or too much has changed. */
  #ranked: Ranked | null = null;

  constructor(parts: RankParts) {
    this.#parts = parts;
  }

  /** Notes a change that a rank depends on: P&L, or whether the trader is on boards. */
  note(trader: TraderNumber): void {
    if (this.#ranked === null) return;
    this.#changed.add(trader);
    const { changedMax = CHANGED_MAX } = this.#parts;
    if (this.#changed.size > changedMax) this.#ranked = null;
  }

  /** Null: the trader is on no board. */
  rankOf(trader: TraderNumber): number | null {
    if (!this.#isMember(trader)) return null;
    const { ranking, places } = this.#rankedNow();
    const { ids, col } = this.#parts.traders;
    const own = col.pnl_cents[trader]!;
    const before = placeBehind(ranking, own, (other) => ids.compare(other, trader) > 0);
    const wasBefore = (other: TraderNumber) => {
      const place = places[other] ?? 0;
      return place > 0 && place <= before;
    };
    let above = before - Number(wasBefore(trader));
    for (const other of this.#changed) {
      if (other === trader) continue;
      const value = col.pnl_cents[other]!;
      const isBefore = value > own || (value === own && ids.compare(other, trader) < 0);
      above += Number(isBefore && this.#isMember(other)) - Number(wasBefore(other));
    }
    invariant(above >= 0 && above < ids.count, 'a trader is ranked before the first');
    return above + 1;
  }

  #isMember(trader: TraderNumber): boolean {
    const { traders, profiles } = this.#parts;
    return traders.col.closed[trader]! > 0 && profiles.isListed(trader);
  }

  #rankedNow(): Ranked {
    if (this.#ranked !== null) return this.#ranked;
    const { traders, ids } = this.#parts;
    const ranking = ranked(ids, {
      end: traders.end,
      isMember: (trader) => this.#isMember(trader),
      rankedBy: (trader) => traders.col.pnl_cents[trader]!,
      isAscending: false,
    });
    const places = new Uint32Array(traders.end);
    for (let place = 0; place < ranking.order.length; place++) {
      places[ranking.order[place]!] = place + 1;
    }
    this.#changed.clear();
    this.#ranked = { ranking, places };
    return this.#ranked;
  }
}
