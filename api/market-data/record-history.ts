/** The history that this server records, by its settings. Rules H20 (api/RULES.md), D82 (engine/RULES.md). */
import path from 'node:path';
import type { EpochMs, MarketNumber } from '../../engine/base/units.ts';
import { closingsOf } from '../../engine/history/closings.ts';
import { History } from '../../engine/history/history.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/log.ts';
import { type MarketBus, TICK_KINDS } from '../catalog/market-bus.ts';
import type { Config } from '../config/settings.ts';
import { metaOf, writeMeta } from '../data-dir/data-dir.ts';

type Settings = Pick<
  Config,
  'dataDir' | 'history' | 'historyDays' | 'historyService' | 'quoteMaxAgeMs'
>;

type Recorded = {
  bus: MarketBus;
  /** Markets that had their result before this start. */
  over: readonly MarketNumber[];
  engine: { nowMs(): EpochMs };
  log: Log;
  stack: CleanupStack;
};

export const historyDirectory = (dataDir: string): string => path.join(dataDir, 'history');

/** Follows all events of markets from now on. Null: nothing is recorded here. */
export function recordHistory(
  { dataDir, history: isOn, historyDays, historyService, quoteMaxAgeMs }: Settings,
  { bus, over, engine, log, stack }: Recorded,
): History | null {
  if (!isOn || historyService !== null) return null;
  const history = new History({
    directory: historyDirectory(dataDir),
    madeAtMs: metaOf(dataDir).historyMadeAtMs ?? null,
    made: (atMs) => noteHistory(dataDir, atMs),
    days: historyDays,
    quoteMaxAgeMs,
    nowMs: () => engine.nowMs(),
    log,
  });
  history.setResolved(over);
  const ends = [
    bus.subscribe(TICK_KINDS, (tick) => history.tick(tick)),
    bus.subscribe(['catalog'], ({ catalog }) => history.setClosings(closingsOf(catalog))),
  ];
  stack.add(async () => {
    for (const end of ends) end();
    await history.close();
  });
  return history;
}

/** If the history is gone from here on, it is missing. Rule D82 (engine/RULES.md). */
function noteHistory(dataDir: string, atMs: EpochMs): void {
  const meta = metaOf(dataDir);
  if (meta.historyMadeAtMs === undefined) writeMeta(dataDir, { ...meta, historyMadeAtMs: atMs });
}
