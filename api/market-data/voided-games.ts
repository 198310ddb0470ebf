/**
 * What a game voids (S7, S14 of engine/RULES.md) the shards settle by themselves: no venue sends a
 * result of it. Whoever else follows results gets it from here. Rule S16 (engine/RULES.md).
 */

import { type EpochMs, HOME_VENUE, type MarketNumber } from '../../engine/base/units.ts';
import type { GameTick, ResultTick } from '../../engine/rules/messages.ts';
import { windowEndMs } from '../../engine/rules/postponements.ts';
import type { CatalogView, GameEntry } from '../catalog/catalog-view.ts';
import type { LiveCatalog } from '../catalog/live-catalog.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

/** Where no venue says anything, time goes on all the same. */
const LOOK_EVERY_MS = 1000;

export type VoidedGamesParts = {
  view: Pick<CatalogView, 'game' | 'games'>;
  catalog: Pick<LiveCatalog, 'marketNumber' | 'hasResult'>;
  /** The market is void since the time of the tick. */
  voided(tick: ResultTick): void;
};

export class VoidedGames {
  readonly #parts: VoidedGamesParts;
  /** When markets without a result void, where nothing comes between. */
  readonly #due = new Map<MarketNumber, EpochMs>();
  #nextMs: EpochMs = Number.POSITIVE_INFINITY;
  #nowMs: EpochMs = 0;

  constructor(parts: VoidedGamesParts) {
    this.#parts = parts;
  }

  /** There is a catalog, or another one, and the statuses of its games. */
  catalogChanged(nowMs: EpochMs): void {
    this.#nowMs = nowMs;
    this.#due.clear();
    for (const game of this.#parts.view.games()) this.#look(game);
    this.#findNext();
    this.advance(nowMs);
  }

  /** The view has its status already. */
  gameChanged({ game: slug, atMs }: Pick<GameTick, 'game' | 'atMs'>): void {
    const game = this.#parts.view.game(slug);
    if (game === undefined) return;
    for (const market of this.#marketsOf(game)) this.#due.delete(market.number);
    this.#look(game);
    this.#findNext();
    this.advance(atMs);
  }

  /** Time goes on, before anything of that time. */
  advance(nowMs: EpochMs): void {
    const beforeMs = this.#nowMs;
    this.#nowMs = nowMs;
    if (this.#nextMs > nowMs) return;
    const due = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs);
    due.sort(([, one], [, other]) => one - other);
    // Before any is said: who gets one may ask what comes next.
    for (const [market] of due) this.#due.delete(market);
    this.#findNext();
    for (const [market, dueMs] of due) {
      if (this.#parts.catalog.hasResult(market)) continue;
      const atMs = Math.min(Math.max(dueMs, beforeMs), nowMs);
      this.#parts.voided({ ...VOID, atMs, source: OPERATOR_SOURCE, market });
    }
  }

  #look(game: GameEntry): void {
    if (game.status !== 'cancelled' && game.status !== 'postponed') return;
    for (const { number, windowEndsMs } of this.#marketsOf(game)) {
      const dueMs = game.status === 'cancelled' ? 0 : windowEndsMs;
      if (dueMs === Number.POSITIVE_INFINITY) continue;
      // Of instruments of one market the first that voids it counts.
      this.#due.set(number, Math.min(dueMs, this.#due.get(number) ?? dueMs));
    }
  }

  *#marketsOf({ instruments }: GameEntry): Generator<{
    number: MarketNumber;
    /** The first moment past the window; infinite: it has none. */
    windowEndsMs: EpochMs;
  }> {
    for (const { instrument } of instruments) {
      const windowEndsMs = windowEndMs(instrument);
      for (const { venue, venueMarketId } of instrument.listings) {
        const number = this.#parts.catalog.marketNumber(venue, venueMarketId);
        if (venue === HOME_VENUE && number !== undefined) yield { number, windowEndsMs };
      }
    }
  }

  #findNext(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const dueMs of this.#due.values()) this.#nextMs = Math.min(this.#nextMs, dueMs);
  }
}

const VOID = { kind: 'result', outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 } as const;

type Followed = {
  engine: { nowMs(): EpochMs };
  catalog: Pick<LiveCatalog, 'onUse'>;
};

/** From when the catalog, the statuses of its games and earlier results are known. @returns what ends it */
export function followVoids(
  voids: VoidedGames,
  { engine, catalog }: Followed,
): () => Promise<void> {
  const { onUse } = catalog;
  catalog.onUse = (used) => {
    onUse(used);
    voids.catalogChanged(engine.nowMs());
  };
  voids.catalogChanged(engine.nowMs());
  const timer = setInterval(() => voids.advance(engine.nowMs()), LOOK_EVERY_MS);
  return async () => clearInterval(timer);
}
