/**
 * The words of venues that keep orders from their markets: a pause, a closing, a closing time. They
 * are kept over a restart, because a book may arrive before the venue is asked. Rules T19, T143
 * (engine/RULES.md).
 */
import type { EpochMs, MarketNumber, MarketStatus } from '../../engine/base/units.ts';
import type { ClosingTick, StatusTick } from '../../engine/rules/messages.ts';
import type { Log } from '../base/logger.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { MarketStates } from '../catalog/market-states.ts';
import { KeptFile, readChecked } from '../data-dir/checked-file.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

const FILE = 'market-states.json';

/** `closesAtMs`: by the venue; null: no time is known. */
type Kept = { market: MarketNumber; status: MarketStatus; closesAtMs: EpochMs | null };

export type KeptMarketStatesParts = {
  /** Where they are kept. */
  dataDir: string;
  /** They follow the bus first. */
  states: Pick<MarketStates, 'status' | 'venueClosesAtMs' | 'isOver'>;
  log: Log;
};

export class KeptMarketStates {
  readonly #states: KeptMarketStatesParts['states'];
  readonly #kept = new Map<MarketNumber, Kept>();
  readonly #file: KeptFile;

  /** @throws DataDirError when the file of an earlier run is damaged */
  constructor({ dataDir, states, log }: KeptMarketStatesParts) {
    this.#states = states;
    const file = readChecked(dataDir, FILE) as { markets: Kept[] } | undefined;
    for (const kept of file?.markets ?? []) {
      // The stop came before the file was written.
      if (!states.isOver(kept.market)) this.#kept.set(kept.market, kept);
    }
    const content = () => ({ markets: [...this.#kept.values()] });
    this.#file = new KeptFile({ dataDir, name: FILE, content, log });
  }

  /** What waits to be written is. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  /** @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(['status', 'closing', 'result'], ({ market }) => this.#look(market));
  }

  /**
   * What was kept, as venues would say it at `atMs`. `hasFeed`: whether the venue of a market has a
   * feed; without one it could not take its word back.
   */
  ticks(hasFeed: (market: MarketNumber) => boolean, atMs: EpochMs): (StatusTick | ClosingTick)[] {
    return [...this.#kept.values()].flatMap(({ market, status, closesAtMs }) => {
      if (!hasFeed(market)) return [];
      const of = { atMs, source: OPERATOR_SOURCE, market };
      const closing = closesAtMs === null ? [] : [{ kind: 'closing' as const, ...of, closesAtMs }];
      return [
        ...closing,
        ...(status === 'open' ? [] : [{ kind: 'status' as const, ...of, status }]),
      ];
    });
  }

  #look(market: MarketNumber): void {
    const kept = this.#kept.get(market);
    const status = this.#states.status(market);
    const saidMs = this.#states.venueClosesAtMs(market);
    const closesAtMs = saidMs === null || !Number.isFinite(saidMs) ? null : saidMs;
    if (this.#states.isOver(market) || (status === 'open' && closesAtMs === null)) {
      if (this.#kept.delete(market)) this.#file.changed();
    } else if (kept?.status !== status || kept.closesAtMs !== closesAtMs) {
      const isStop = status !== 'open' && kept?.status !== status;
      const isEarlier = closesAtMs !== null && (kept?.closesAtMs ?? closesAtMs) > closesAtMs;
      this.#kept.set(market, { market, status, closesAtMs });
      this.#file.changed(isStop || isEarlier);
    }
  }
}
