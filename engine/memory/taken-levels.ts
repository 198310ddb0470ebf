/**
 * What a shard's facts have taken of displayed levels that accounts share, a row for each level: of
 * its last display that this shard took from. Checkpoints write it. Rule T233 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { Contracts, MarketNumber, PriceCents, Side } from '../base/units.ts';
import type { KeptLevel, LevelTaken } from './market-liquidity.ts';
import { Table } from './table.ts';

export const TAKEN_COLUMNS = {
  display: 'f64',
  market: 'i32',
  shown: 'u32',
  contracts: 'u32',
  /** The cents of the ask; of the side no 100 more. */
  level: 'u8',
} as const;

type TakenRow = number & { readonly __unit: 'TakenRow' };
type Units = { market: MarketNumber; shown: Contracts; contracts: Contracts };

const LEVELS = 200;

export class TakenLevels {
  readonly table: Table<typeof TAKEN_COLUMNS, Record<never, never>, TakenRow, Units> = new Table(
    'taken_levels',
    TAKEN_COLUMNS,
    {},
    'market',
  );
  /** By market and level. */
  readonly #rows = new Map<number, TakenRow>();

  /** A fact has taken of a level; a new display is as if nothing was taken before. */
  add({ market, side, askCents, contracts, shown, display }: LevelTaken): void {
    const level = levelOf(side, askCents);
    const key = market * LEVELS + level;
    const known = this.#rows.get(key);
    const row = known ?? this.table.claim();
    const to = this.table.change(row);
    if (known === undefined) {
      this.#rows.set(key, row);
      to.market.set(row, market);
      to.level.set(row, level);
    }
    if (known === undefined || to.display.get(row) !== display) {
      const isLater = known === undefined || to.display.get(row) < display;
      invariant(isLater, 'a level is taken of a display that is over');
      to.display.set(row, display);
      to.shown.set(row, shown);
      to.contracts.set(row, 0);
    }
    to.contracts.add(row, contracts);
    invariant(to.contracts.get(row) <= shown, 'a shard takes more of a level than it shows');
  }

  /** The market has a result. */
  drop(market: MarketNumber): void {
    if (this.#rows.size === 0) return;
    for (let level = 0; level < LEVELS; level++) {
      const row = this.#rows.get(market * LEVELS + level);
      if (row === undefined) continue;
      this.table.release(row);
      this.#rows.delete(market * LEVELS + level);
    }
  }

  *all(): Generator<KeptLevel> {
    const { market, level, display, shown, contracts } = this.table.col;
    for (const row of this.table.rows()) {
      const at = level.get(row);
      yield {
        market: market.get(row),
        side: at < 100 ? 'yes' : 'no',
        askCents: at % 100,
        ...{ contracts: contracts.get(row), shown: shown.get(row), display: display.get(row) },
      };
    }
  }

  /** After a load. */
  rebuild(): void {
    const { market, level } = this.table.col;
    for (const row of this.table.rows()) {
      this.#rows.set(market.get(row) * LEVELS + level.get(row), row);
    }
  }
}

function levelOf(side: Side, askCents: PriceCents): number {
  return side === 'yes' ? askCents : 100 + askCents;
}
