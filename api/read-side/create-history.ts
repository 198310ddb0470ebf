/** The history by its settings: recorded here, asked of a service, or neither. Rule H20 (api/RULES.md). */
import path from 'node:path';
import type { EpochMs, MarketNumber, Venue } from '../../engine/base/units.ts';
import { History } from '../../engine/history/history.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { metaOf, writeMeta } from '../data-dir/data-dir.ts';
import { forwardedHistory } from './forwarded-history.ts';
import type { HistorySource } from './history-source.ts';

type Settings = Pick<
  Config,
  'dataDir' | 'history' | 'historyDays' | 'historyService' | 'quoteMaxAgeMs'
>;

export const historyDirectory = (dataDir: string): string => path.join(dataDir, 'history');

/** Null: nothing is recorded here. */
export function createHistory(
  { dataDir, history, historyDays, historyService, quoteMaxAgeMs }: Settings,
  engine: { nowMs(): EpochMs },
  log: Log,
): History | null {
  if (!history || historyService !== null) return null;
  return new History({
    directory: historyDirectory(dataDir),
    madeAtMs: metaOf(dataDir).historyMadeAtMs ?? null,
    made: (atMs) => noteHistory(dataDir, atMs),
    days: historyDays,
    quoteMaxAgeMs,
    nowMs: () => engine.nowMs(),
    log,
  });
}

/** From here on a history that is gone is missing. Rule D82 (engine/RULES.md). */
function noteHistory(dataDir: string, atMs: EpochMs): void {
  const meta = metaOf(dataDir);
  if (meta.historyMadeAtMs === undefined) writeMeta(dataDir, { ...meta, historyMadeAtMs: atMs });
}

/** What the routes ask. */
export function historySource(
  { historyService, history: isOn }: Settings,
  history: History | null,
  markets: { marketNumber(venue: Venue, ticker: string): MarketNumber | undefined },
  log: Log,
): HistorySource {
  if (!isOn) return { kind: 'off' };
  if (historyService !== null) return forwardedHistory({ service: historyService, log });
  if (history === null) return { kind: 'off' };
  return {
    kind: 'embedded',
    ask: (asker, question) => history.ask(asker, question),
    tops: (asker, question) => history.tops(asker, question),
    marketNumber: (venue, ticker) => markets.marketNumber(venue, ticker),
  };
}

export function historyProblems(history: History | null): string[] {
  return history?.problems() ?? [];
}
