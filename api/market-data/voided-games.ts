/**
 * The shards themselves settle the markets that a game voids (S7, S14 of engine/RULES.md), and no
 * venue sends a result for them. All other followers of results get it from here. Rule S16
 * (engine/RULES.md).
 */

import type { EpochMs, MarketNumber } from '../../engine/base/units.ts';
import type { GameTick, ResultTick } from '../../engine/rules/messages.ts';
import { windowEndMs } from '../../engine/rules/postponements.ts';
import type { CatalogView, GameEntry } from '../catalog/catalog-view.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { MarketStates } from '../catalog/market-states.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

/** Time moves even without ticks. */
const LOOK_EVERY_MS = 1000;

export type VoidedGamesParts = {
  view: Pick<CatalogView, 'game' | 'games'>;
  states: Pick<MarketStates, 'isOver'>;
  bus: Pick<MarketBus, 'subscribe'>;
  /** Takes each market that a game voids: it is void since the time of the result. */
  voided(result: ResultTick): void;
  /** The engine's time. */
  nowMs(): EpochMs;
};

export class VoidedGames {
  readonly #parts: VoidedGamesParts;
  /** When markets without a result void, if nothing happens before. */
  readonly #due = new Map<MarketNumber, EpochMs>();
  #nextMs: EpochMs = Number.POSITIVE_INFINITY;
  #nowMs: EpochMs = 0;

  constructor(parts: VoidedGamesParts) {
    this.#parts = parts;
  }

  /**
   * Called once the catalog, the statuses of its games and earlier results are known. The view
   * takes a venue's status of a game before this does. @returns the function that ends it
   */
  follow(): () => void {
    const { bus, nowMs } = this.#parts;
    const ends = [
      bus.subscribe(['game'], (tick) => this.gameChanged(tick)),
      bus.subscribe(['catalog'], () => this.catalogChanged(nowMs())),
    ];
    this.catalogChanged(nowMs());
    const timer = setInterval(() => this.advance(nowMs()), LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  }

  /** There is a new catalog, with the statuses of its games. */
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
    for (const { homeMarkets } of game.instruments) {
      for (const market of homeMarkets) this.#due.delete(market);
    }
    this.#look(game);
    this.#findNext();
    this.advance(atMs);
  }

  /** Time moves on, before any event of that time. */
  advance(nowMs: EpochMs): void {
    const beforeMs = this.#nowMs;
    this.#nowMs = nowMs;
    if (this.#nextMs > nowMs) return;
    const due = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs);
    due.sort(([, one], [, other]) => one - other);
    // Called before any is announced: a subscriber may ask for the next time.
    for (const [market] of due) this.#due.delete(market);
    this.#findNext();
    for (const [market, dueMs] of due) {
      if (this.#parts.states.isOver(market)) continue;
      const atMs = Math.min(Math.max(dueMs, beforeMs), nowMs);
      this.#parts.voided({ ...VOID, atMs, source: OPERATOR_SOURCE, market });
    }
  }

  #look(game: GameEntry): void {
    if (game.status !== 'cancelled' && game.status !== 'postponed') return;
    for (const { instrument, homeMarkets } of game.instruments) {
      const dueMs = game.status === 'cancelled' ? 0 : windowEndMs(instrument);
      if (dueMs === Number.POSITIVE_INFINITY) continue;
      // Among instruments of one market, the first that voids it counts.
      for (const market of homeMarkets) {
        this.#due.set(market, Math.min(dueMs, this.#due.get(market) ?? dueMs));
      }
    }
  }

  #findNext(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const dueMs of this.#due.values()) this.#nextMs = Math.min(this.#nextMs, dueMs);
  }
}

const VOID = { kind: 'result', outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 } as const;
