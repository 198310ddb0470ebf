/**
 * The last levels of the books that are followed level by level, for whoever lacks their ticks: a
 * shard that starts again, or orders that are placed after a part of a feed file that is skipped.
 * Rules D11 (engine/RULES.md), R40, W97 (feeds/FORMATS.md).
 */
import type { MarketNumber, SourceNumber } from '../../base/units.ts';
import { FollowedLevels } from '../../rules/followed-levels.ts';
import type { LevelsTick, LevelTick } from '../../rules/messages.ts';

/** Books of a lost connection are dropped, so none is of an earlier epoch. */
const EPOCH = 0;

export class LastLevels {
  readonly #levels = new FollowedLevels();
  /** Markets whose levels are known. */
  readonly #known = new Set<MarketNumber>();

  take(tick: LevelTick | LevelsTick): void {
    if (tick.kind === 'level') {
      this.#levels.show(tick, EPOCH);
      return;
    }
    this.#levels.replace(tick, EPOCH);
    if (tick.levels !== null) this.#known.add(tick.market);
    else if (this.#levels.of(tick.market)?.isKnown === false) this.#known.delete(tick.market);
  }

  /** The connection is lost. */
  forget(source: SourceNumber): void {
    for (const market of this.#known) {
      if (this.#levels.of(market)!.source === source) this.#known.delete(market);
    }
  }

  /** The market is over. */
  drop(market: MarketNumber): void {
    this.#known.delete(market);
    this.#levels.drop(market);
  }

  /** Time was set back by so much. */
  setBack(byMs: number): void {
    for (const market of this.#known) this.#levels.of(market)!.atMs -= byMs;
  }

  /** A tick for each book that is known. */
  ticks(): LevelsTick[] {
    return Array.from(this.#known, (market): LevelsTick => {
      const book = this.#levels.of(market)!;
      const { source, atMs } = book;
      return { kind: 'levels', atMs, source, market, levels: book.levels(), repeats: false };
    });
  }

  clear(): void {
    this.#known.clear();
  }
}
